"""Leading eigenvectors of A^T A from products with A alone: block Lanczos, without a D x D matrix.

A pass over the rows multiplies A^T A with a block of b vectors in 4 n D b operations, so that q passes cost O(q b n D),
where the matrix of inner products costs n D^2 and its eigenvectors D^3. Memory is that of the q b basis vectors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# The numbers below affect the last digits and the speed of eigenvectors only.
# Further vectors in a block, beside those that are wanted: the more, the fewer passes.
SPARE_VECTORS = 8
# Passes after which the iteration is given up.
MOST_PASSES = 40

Floats = NDArray[np.float64]


def block_lanczos(
    times: Callable[[Floats], Floats], trivial: Floats, count: int, *, tolerance: float
) -> tuple[Floats, Floats] | None:
    """The `count` largest eigenvalues of A^T A, descending, and their vectors (D, count); None if not converged.

    `times` returns the product of A^T A with vectors (D, b). Eigenvalues are between zero and one; `trivial` (D,), a
    unit eigenvector of eigenvalue one, is left out. Residuals of the result are below `tolerance`.
    """
    width = len(trivial)
    block = min(count + SPARE_VECTORS, width - 1)
    # A generator of its own: the draws of the fit must not move.
    start = np.random.RandomState(0).standard_normal((width, block))
    known = trivial[:, None]
    basis = np.linalg.qr(_beside(start, known))[0]
    small = np.zeros((0, 0))
    for _ in range(MOST_PASSES):
        image = _beside(times(basis[:, -block:]), known)
        # Columns of the projected matrix; those of earlier blocks are known.
        within = basis.T @ image
        small = np.pad(small, ((0, block), (0, block)))
        small[:, -block:] = within
        small[-block:, :] = within.T
        rest = _beside(image, basis)
        following, residual = np.linalg.qr(rest)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        errors = np.linalg.norm(residual @ turn[-block:, -count:], axis=0)
        if errors.max() < tolerance or basis.shape[1] >= width - 1:
            return values[: -count - 1 : -1], basis @ turn[:, : -count - 1 : -1]
        following = following[:, : min(block, width - 1 - basis.shape[1])]
        # A remainder near zero has lost its direction, so it is made orthogonal again.
        following = np.linalg.qr(_beside(_beside(following, known), basis))[0]
        block = following.shape[1]
        basis = np.hstack([basis, following])
    return None


def _beside(vectors: Floats, basis: Floats) -> Floats:
    """Vectors (D, b) without their part in the span of an orthonormal `basis` (D, m); twice, because of rounding."""
    for _ in range(2):
        vectors = vectors - basis @ (basis.T @ vectors)
    return vectors
