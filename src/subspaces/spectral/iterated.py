"""Leading eigenvectors of sparse psi in memory, from products of sparse matrices and without a D x D matrix.

Every connected piece of the graph has an eigenvector of eigenvalue one, which is known by its formula. Lanczos' method
finds the others. Rows in few dimensions make a graph with few edges, whose eigenvalues crowd near one and which is
cheap to factorise: then the inverse of 1 + SHIFT - A^T A is iterated, in which these eigenvalues lie far apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from subspaces._core.arrays import inverse, with_fixed_signs
from subspaces.spectral.spectrum import ROUNDING, Spectrum, compute_spectrum

# The numbers below affect the last digits and the speed of eigenvectors only.
# Iterate if the D x D matrix is at least this wide, this many times as wide as eigenvectors are wanted, and has this
# many times as many entries as psi.
LEAST_WIDTH = 400
LEAST_SHARE = 4
LEAST_SPARSITY = 8
# Factorise if it is at most this wide and has at most this many entries other than zero per row.
MOST_FACTORISED = 4000
MOST_ENTRIES = 30
SHIFT = 1e-3
# Relative error of eigenvalues at which the iteration stops, in units in the last place of psi.
TOLERANCE = 30.0
LEAST_TOLERANCE = 1e-10
# Up to this many pieces their vectors are kept dense.
FEW_PIECES = 8

Floats = NDArray[np.float64]


def sparse_spectrum(psi: csr_matrix, n_vectors: int) -> Spectrum:
    """`compute_spectrum` with balanced weights for psi (n, D) that is in memory as a whole."""
    width = psi.shape[1]
    if width >= max(LEAST_WIDTH, LEAST_SHARE * n_vectors) and LEAST_SPARSITY * psi.nnz <= width**2:
        found = _iterated_spectrum(psi, n_vectors)
        if found is not None:
            return found
    return compute_spectrum(lambda: iter((psi,)), n_vectors, balanced=True)


def _iterated_spectrum(psi: csr_matrix, n_vectors: int) -> Spectrum | None:
    """The same by iteration; None if it did not converge."""
    wide = psi.astype(np.float64)
    total, sums = (np.asarray(wide.sum(axis=axis)).ravel() for axis in (0, 1))
    weights = inverse(total)
    scales = np.repeat(inverse(sums, 0.5), np.diff(wide.indptr)) * np.sqrt(weights)[wide.indices]
    scaled = csr_matrix((wide.data * scales, wide.indices, wide.indptr), shape=wide.shape)
    back = scaled.T.tocsr()
    gram = back @ scaled
    trivial = np.sqrt(total)
    pieces = _pieces(gram, trivial)
    known = _contrasts(pieces, trivial, n_vectors)
    values, vectors = np.ones(known.shape[1]), known
    if known.shape[1] < n_vectors:
        tolerance = max(LEAST_TOLERANCE, TOLERANCE * float(np.finfo(psi.dtype).eps))
        others = _lanczos(_iteration(gram, scaled, back), pieces, n_vectors - known.shape[1], tolerance)
        if others is None:
            return None
        # The products are exact in the space that was found.
        exact, turn = np.linalg.eigh(-(others.T @ (back @ (scaled @ others))))
        values, vectors = np.concatenate([values, -exact]), np.hstack([known, others @ turn])
    values = np.where(values > ROUNDING * float(np.finfo(psi.dtype).eps), values, 0)
    return Spectrum(weights, weights * total, values, with_fixed_signs(vectors))


def _pieces(gram: csr_matrix, trivial: Floats) -> csr_matrix:
    """Orthonormal eigenvectors (D, m) of eigenvalue one: `trivial` (D,) on each connected piece, the largest first."""
    piece = connected_components(gram, directed=False)[1]
    sizes = np.bincount(piece, weights=np.square(trivial))
    place = np.argsort(np.argsort(-sizes, kind="stable"))
    # Landmarks without rows are pieces of size zero.
    used = np.flatnonzero(trivial)
    entries = trivial[used] / np.sqrt(sizes[piece[used]])
    shape = (len(trivial), int(np.count_nonzero(sizes)))
    return csr_matrix((entries, (used, place[piece[used]])), shape=shape)


def _contrasts(pieces: csr_matrix, trivial: Floats, count: int) -> Floats:
    """At most `count` orthonormal combinations (D, .) of the `pieces` (D, m), orthogonal to `trivial` (D,).

    Each separates one piece from all later ones.
    """
    sizes = np.square(pieces.T @ trivial)
    later = sizes[::-1].cumsum()[::-1] - sizes
    count = min(count, len(sizes) - 1)
    one, rest = sizes[:count], later[:count]
    table = -np.sqrt(np.outer(sizes, one / (rest * (one + rest))))
    table[np.triu_indices_from(table)] = 0
    table[np.arange(count), np.arange(count)] = np.sqrt(rest / (one + rest))
    return np.asarray(pieces @ table)


def _iteration(gram: csr_matrix, scaled: csr_matrix, back: csr_matrix) -> Callable[[Floats], Floats]:
    """The product with the matrix to iterate, A^T A or the inverse, from A (n, D), its transpose and A^T A."""
    width = len(gram.indptr) - 1
    if width > MOST_FACTORISED or gram.nnz > MOST_ENTRIES * width:
        # With many rows per landmark, A^T A has the fewer entries.
        return gram.__matmul__ if gram.nnz < 2 * scaled.nnz else lambda vector: back @ (scaled @ vector)
    shifted = (1 + SHIFT) * eye_array(width, format="csc") - gram.tocsc()
    # Options for symmetric positive definite matrices.
    options = {"SymmetricMode": True}
    return splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve


def _lanczos(times: Callable[[Floats], Floats], pieces: csr_matrix, count: int, tolerance: float) -> Floats | None:
    """Leading eigenvectors (D, count), orthogonal to the `pieces` (D, m); None if Lanczos' method did not converge."""
    known: Any = pieces.toarray() if pieces.shape[1] <= FEW_PIECES else pieces
    across = known.T

    def beside(vectors: Floats) -> Floats:
        return np.asarray(vectors - known @ (across @ vectors))

    width = pieces.shape[0]
    # The pieces are eigenvectors, so they stay out of the product however often they are removed.
    operator = LinearOperator((width, width), matvec=lambda vector: beside(times(vector)), dtype=np.float64)
    # A generator of its own: the draws of the fit must not move.
    start = np.random.RandomState(0).uniform(-1, 1, width)
    try:
        vectors = eigsh(operator, count, which="LA", v0=start, ncv=max(2 * count + 1, 20), tol=tolerance)[1]
    except ArpackError:
        # It did not converge, or the pieces are all there is and leave no vector to start with.
        return None
    return np.asarray(np.linalg.qr(beside(vectors[:, ::-1]))[0])
