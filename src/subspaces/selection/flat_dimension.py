"""The dimension of flats, as a recorded decision."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array
from subspaces.flats.dimension import level_knee, noise_levels
from subspaces.selection.record import Decision


def decide_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState) -> Decision:
    """Choose the dimension beyond which `n_clusters` flats fit the rows of `x` (n, p) hardly better.

    The choice is the knee of the logarithm of the noise level: the point farthest below the chord between its ends.
    """
    dims, levels = noise_levels(x, n_clusters, affine=affine, rng=rng)
    return Decision(
        "subspace_dim",
        level_knee(dims, levels),
        "log_noise",
        "the dimension after which the noise that rows seem to have falls no more",
        tuple({"subspace_dim": dim, "log_noise": float(level)} for dim, level in zip(dims, levels, strict=True)),
        larger_is_better=False,
    )
