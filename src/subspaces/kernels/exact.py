"""Exact kernels: the public name of `subspaces.features.exact`."""

from subspaces.features.exact import (
    gaussian_kernel,
    landmark_kernel,
    laplacian_kernel,
    matern_kernel,
    uniform_subspace_kernel,
)

__all__ = ["gaussian_kernel", "landmark_kernel", "laplacian_kernel", "matern_kernel", "uniform_subspace_kernel"]
