"""The spectral step: sums over blocks of psi, a D x D matrix, its eigenvectors, the embedding of any row.

With psi (n x D), landmark weights w and deg(x) = psi(x) . (w * s), s the sum of psi over the rows, the
normalised kernel matrix is A A^T, A = diag(deg)^(-1/2) psi diag(w)^(1/2). Its eigenvectors are those of the
D x D matrix A^T A, a sum over rows, which is why everything here streams.

The paper has w = 1. "Balanced" weights w = 1/s give every landmark the same weight: then deg(x) is the row sum of
psi, so rows that sum to one have degree one, and one pass is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, fixed, follow, inverse, is_host, namespace, to_host, with_fixed_signs
from subspaces._core.eigen import largest_eigenpairs
from subspaces._core.offload import on_device
from subspaces._core.threads import one_thread
from subspaces.spectral.block_iteration import block_lanczos
from subspaces.spectral.sparse import SparseRows

# The numbers below affect the last digits and the speed of eigenvectors only.
# Eigenvalues below this many units in the last place of psi are set to zero.
ROUNDING = 10.0
# Eigenvectors of float32 psi are computed in float32 if the matrix is at least LARGE_MATRIX wide, LARGE_SHARE times
# more than eigenvectors are wanted, and their eigenvalues exceed LARGE_EIGENVALUE.
LARGE_MATRIX = 500
LARGE_SHARE = 10
LARGE_EIGENVALUE = 0.01
# Chebyshev filters: degree, largest number of them, eigenvalues below which the first one damps, and the residual at
# which vectors have converged.
FILTER_DEGREE = 8
MAX_FILTERS = 8
FIRST_FLOOR = 0.7
SMALL_ERROR = 1e-5
# Residual at which block products stop, in units in the last place of psi.
PRODUCT_ERROR = 30.0

Psi: TypeAlias = Array | csr_matrix
# Including devices.
AnyPsi: TypeAlias = Psi | SparseRows
PsiBlocks: TypeAlias = Callable[[], Iterator[Psi]]


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Everything needed to embed a row: sums over the rows of the fit, and eigenvectors without the trivial one."""

    weights: Array  # (D,), of the landmarks
    degree: Array  # (D,): deg(x) = psi(x) . degree
    eigenvalues: Array  # (q,), descending, of v_2, v_3, ...
    vectors: Array  # (D, q), eigenvectors of A^T A


def compute_spectrum(blocks: PsiBlocks, n_vectors: int, *, balanced: bool) -> Spectrum:
    """Top `n_vectors` eigenvectors after the trivial one, from psi given as blocks of rows.

    `blocks()` starts a new pass over psi; the blocks are dense arrays or CSR matrices (rows, D). If the rank of psi is
    lower, the remaining eigenvalues and columns of the embedding are zero; there are never more than D.
    """
    if balanced:
        total, gram = added(map(balanced_sums, blocks()))
    else:
        (total,) = added((column_sums(psi),) for psi in blocks())
        (gram,) = added((degree_sums(psi, total),) for psi in blocks())
    return spectrum_of_sums(total, gram, n_vectors, balanced=balanced, dtype=next(blocks()).dtype)


def balanced_sums(psi: AnyPsi) -> tuple[Any, Any]:
    """Sums over a block for balanced weights: of psi (D,) and of psi psi^T over the row sum (D, D), in float64."""
    if isinstance(psi, SparseRows):
        # Its rows sum to one.
        return psi.sums()
    return column_sums(psi), degree_sums(psi, np.ones(psi.shape[1]))


def column_sums(psi: Psi) -> Any:
    """Sum (D,) of the rows of psi, in float64."""
    if isinstance(psi, csr_matrix) or is_host(psi):
        return np.asarray(psi.sum(axis=0, dtype=np.float64)).ravel()
    xp = namespace(psi)
    return xp.sum(psi, axis=0, dtype=xp.float64)


def degree_sums(psi: Psi, degree: NDArray[np.float64]) -> Any:
    """Sum (D, D) of psi psi^T / deg over rows, with deg(x) = psi(x) . degree; added up over blocks in float64."""
    scale = inverse(product(psi, degree), 0.5)
    if isinstance(psi, csr_matrix):
        scaled = psi.multiply(scale[:, None]).tocsr()
        return np.asarray((scaled.T @ scaled).toarray(), np.float64)
    scaled = psi * scale[:, None]
    xp = namespace(scaled)
    return xp.astype(scaled.T @ scaled, xp.float64)


def product_sums(psi: Psi, degree: NDArray[np.float64], vectors: NDArray[np.float64]) -> Any:
    """Sum (D, b) of psi (psi . v) / deg over rows for `vectors` (D, b): `degree_sums` times them, in O(n D b)."""
    scale = inverse(product(psi, degree))
    image = product(psi, vectors) * scale[:, None]
    if isinstance(psi, csr_matrix) or is_host(psi):
        return np.asarray(psi.T @ image, np.float64)
    xp = namespace(psi)
    return xp.astype(psi.T @ image, xp.float64)


def spectrum_of_products(
    total: NDArray[np.float64],
    times: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    n_vectors: int,
    *,
    dtype: Any,
) -> Spectrum | None:
    """The spectrum of unweighted landmarks from `product_sums` over all rows; None if it did not converge."""
    precision = float(np.finfo(dtype).eps)
    trivial = total / (np.linalg.norm(total) or 1.0)
    found = block_lanczos(times, trivial, n_vectors, tolerance=PRODUCT_ERROR * precision)
    if found is None:
        return None
    values = np.where(found[0] > ROUNDING * precision, found[0], 0)
    return Spectrum(np.ones_like(total), total, values, with_fixed_signs(found[1]))


def spectrum_of_sums(
    total: NDArray[np.float64], gram: NDArray[np.float64], n_vectors: int, *, balanced: bool, dtype: Any
) -> Spectrum:
    """The spectrum from sums over all rows of psi, which is of `dtype`."""
    weights = inverse(total) if balanced else np.ones_like(total)
    precision = float(np.finfo(dtype).eps)
    root = np.sqrt(weights)
    gram = gram * root[:, None]
    gram *= root
    # G t = t for t = sqrt(w) s. If clusters separate, t is one of several eigenvectors of eigenvalue one, so it is
    # removed by its formula and not by its position.
    trivial = root * total
    trivial /= np.linalg.norm(trivial) or 1.0
    values, vectors = top_eigenvectors(gram, trivial, min(n_vectors, len(gram)), narrow=np.dtype(dtype) == np.float32)
    values = np.where(values > ROUNDING * precision, values, 0)
    return Spectrum(weights, weights * total, values, with_fixed_signs(vectors))


def top_eigenvectors(
    matrix: NDArray[np.float64], trivial: NDArray[np.float64], count: int, *, narrow: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The `count` largest eigenvalues of a symmetric `matrix` (D, D), descending, and their vectors (D, count).

    They are between zero and one; `trivial` (D,), an eigenvector of eigenvalue one, is left out. If `narrow`, entries
    are known in single precision only, and the vectors of a large matrix are computed in single precision; eigenvalues
    and angles between the vectors are still exact.
    """
    if narrow and len(matrix) >= LARGE_MATRIX and LARGE_SHARE * count <= len(matrix):
        found = _filtered_eigenvectors(matrix, trivial, count)
        if found is not None:
            return found
    # Subtracted twice, so that its eigenvalue becomes -1: at zero it would mix with the null space.
    matrix = matrix - 2 * np.outer(trivial, trivial)
    with one_thread():
        values, vectors = largest_eigenpairs(matrix, count)
    return values[::-1], vectors[:, ::-1]


def _filtered_eigenvectors(
    matrix: NDArray[np.float64], trivial: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The same by subspace iteration with Chebyshev filters; None if it did not converge.

    It consists of products, which use all threads and release the interpreter, unlike SciPy's solvers. A few more
    vectors than asked for are iterated; eigenvalues below the smallest of them are filtered out (Zhou, Saad, Tiago and
    Chelikowsky, Journal of Computational Physics 2006).
    """
    times, times_exactly = _products(matrix, trivial)
    width = count + max(8, count // 2)
    # A generator of its own: the draws of the fit must not move.
    vectors = np.random.RandomState(0).standard_normal((len(matrix), width)).astype(np.float32)
    floor = FIRST_FLOOR
    for _ in range(MAX_FILTERS):
        vectors = np.linalg.qr(times(vectors, floor))[0]
        image = times(vectors)
        values, turn = np.linalg.eigh(vectors.T @ image)
        vectors, image = vectors @ turn, image @ turn
        errors = np.linalg.norm(image[:, -count:] - vectors[:, -count:] * values[-count:], axis=0)
        if not values[-count] > LARGE_EIGENVALUE:
            return None
        if errors.max() < SMALL_ERROR:
            basis = np.linalg.qr(vectors.astype(np.float64))[0]
            exact, turn = np.linalg.eigh(basis.T @ times_exactly(basis))
            return exact[: -count - 1 : -1], (basis @ turn)[:, : -count - 1 : -1]
        floor = max(float(values[0]), LARGE_EIGENVALUE)
    return None


class Product(Protocol):
    """The product of a matrix with vectors (D, m), or these after a filter that damps eigenvalues below `floor`."""

    def __call__(self, vectors: Array, floor: float | None = None) -> Array: ...


def _products(matrix: NDArray[np.float64], trivial: NDArray[np.float64]) -> tuple[Product, Product]:
    """Products with `matrix` (D, D) less its eigenvector `trivial` (D,) of one, in single and in double precision.

    If a device is in use, they are computed there, and only vectors are copied.
    """
    moved = on_device(matrix, matrix.size * FILTER_DEGREE)

    def product_in(dtype: str) -> Product:
        given: list[Any] = [matrix if moved is None else moved, trivial if moved is None else follow(trivial, moved)]
        xp = namespace(given[0])
        own, without = (xp.astype(each, getattr(xp, dtype), copy=False) for each in given)

        def times(vectors: Any) -> Any:
            return own @ vectors - without[:, None] * (without @ vectors)

        def product(vectors: Array, floor: float | None = None) -> Array:
            start = follow(vectors, own)
            return to_host(times(start) if floor is None else _chebyshev(times, start, floor))

        return product

    return product_in("float32"), product_in("float64")


def _chebyshev(times: Callable[[Array], Array], vectors: Array, floor: float) -> Array:
    """Vectors (D, m) after a filter that damps eigenvalues from zero to `floor`; `times` multiplies by the matrix."""
    half = floor / 2
    step = first = half / (half - 1)
    before, after = vectors, (times(vectors) - half * vectors) * (first / half)
    for _ in range(FILTER_DEGREE - 1):
        following = 1 / (2 / first - step)
        turned = (times(after) - half * after) * (2 * following / half)
        before, after, step = after, turned - step * following * before, following
    return after


def embed(psi: AnyPsi, spectrum: Spectrum, n_vectors: int | None = None) -> Array:
    """Coordinates (n, n_vectors) of rows, of the fit or new, on the eigenvectors v_2, v_3, ...

    Over the rows of the fit the columns are orthonormal.
    """
    values, vectors = spectrum.eigenvalues[:n_vectors], spectrum.vectors[:, :n_vectors]
    vectors = vectors * np.sqrt(spectrum.weights)[:, None] * inverse(values, 0.5)
    scale = inverse(product(psi, spectrum.degree), 0.5)
    return product(psi, vectors) * scale[:, None]


def product(psi: AnyPsi, table: NDArray[Any]) -> Array:
    """psi (n, D) times a NumPy `table` (D, ...), in the dtype and on the device of psi."""
    if isinstance(psi, SparseRows):
        return psi @ table
    if isinstance(psi, csr_matrix) or is_host(psi):
        return np.asarray(psi @ table.astype(psi.dtype, copy=False))
    return psi @ fixed(table, psi)


def added(sums: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums over blocks of arrays of the same shapes, on their device; the arrays of the first block are overwritten."""
    totals: list[Any] = []
    for found in sums:
        if not totals:
            totals = list(found)
            continue
        for i, new in enumerate(found):
            totals[i] += new
    return tuple(totals)
