"""The spectral step: sums over blocks of psi, a D x D matrix, its eigenvectors, the embedding of any row.

With psi (n x D), landmark weights w and deg(x) = psi(x) . (w * s), s the sum of psi over the rows, the
normalised kernel matrix is A A^T, A = diag(deg)^(-1/2) psi diag(w)^(1/2). Its eigenvectors are those of the
D x D matrix A^T A, a sum over rows, which is why everything here streams.

The paper has w = 1. "Balanced" weights w = 1/s give every landmark the same say: then deg(x) is the row sum of
psi, so rows that sum to one have degree one, and one pass is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._array import Array, inverse, is_host, like, namespace
from subspaces._threads import one_thread
from subspaces.sparse_rows import SparseRows

# Eigenvalues below this many units in the last place of psi are rounding.
ROUNDING = 10.0
# From this size on, and for eigenvalues above the second number, eigenvectors of float32 psi are found in float32.
LARGE_MATRIX = 500
LARGE_EIGENVALUE = 0.01

Psi: TypeAlias = Array | csr_matrix
# On devices too.
AnyPsi: TypeAlias = Psi | SparseRows
PsiBlocks: TypeAlias = Callable[[], Iterator[Psi]]


@dataclass(frozen=True, slots=True)
class Spectrum:
    """What embeds a row: the sums over the rows that were seen, and the eigenvectors without the trivial one."""

    weights: Array  # (D,), of the landmarks
    degree: Array  # (D,): deg(x) = psi(x) . degree
    eigenvalues: Array  # (q,), descending, of v_2, v_3, ...
    vectors: Array  # (D, q), eigenvectors of A^T A


def compute_spectrum(blocks: PsiBlocks, n_vectors: int, *, balanced: bool) -> Spectrum:
    """Top `n_vectors` eigenvectors after the trivial one, from psi given as blocks of rows.

    `blocks()` starts a fresh pass over psi; the blocks are dense arrays or CSR matrices (rows, D). Where the
    rank of psi allows no more, the remaining eigenvalues are zero, and so are those columns of the embedding; there
    are never more than D.
    """
    if balanced:
        total, gram = added(map(balanced_sums, blocks()))
    else:
        (total,) = added((column_sums(psi),) for psi in blocks())
        (gram,) = added((degree_sums(psi, total),) for psi in blocks())
    return spectrum_of_sums(total, gram, n_vectors, balanced=balanced, dtype=next(blocks()).dtype)


def balanced_sums(psi: AnyPsi) -> tuple[Any, Any]:
    """What the spectrum with balanced weights needs of a block: the sums of psi (D,) and of psi psi^T over the row sum
    (D, D), in float64.
    """
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


def spectrum_of_sums(
    total: NDArray[np.float64], gram: NDArray[np.float64], n_vectors: int, *, balanced: bool, dtype: Any
) -> Spectrum:
    """The spectrum from sums over all rows of psi, which is of `dtype`."""
    weights = inverse(total) if balanced else np.ones_like(total)
    precision = float(np.finfo(dtype).eps)
    root = np.sqrt(weights)
    gram = gram * root[:, None]
    gram *= root
    # G t = t for t = sqrt(w) s: known, and arbitrary among its equals when clusters separate, so it is
    # removed by formula and not by position.
    trivial = root * total
    trivial /= np.linalg.norm(trivial) or 1.0
    # Twice, so that it ends at -1: at zero it would mix with the null space.
    gram -= np.outer(2 * trivial, trivial)
    with one_thread():
        values, vectors = top_eigenvectors(gram, min(n_vectors, len(gram)), narrow=np.dtype(dtype) == np.float32)
    values = np.where(values > ROUNDING * precision, values, 0)
    # A sign is nobody's choice: the largest entry is positive, on every machine.
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return Spectrum(weights, weights * total, values, vectors * np.where(largest < 0, -1.0, 1.0))


def top_eigenvectors(
    matrix: NDArray[np.float64], count: int, *, narrow: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The `count` largest eigenvalues of a symmetric `matrix` (D, D) of norm one, descending, and vectors (D, count).

    Where `narrow` says that its entries are known in single precision only, so may be the vectors; values and angles
    between the vectors are exact then too.
    """
    which = [len(matrix) - count, len(matrix) - 1]
    if narrow and len(matrix) >= LARGE_MATRIX:
        rough = scipy.linalg.eigh(matrix.astype(np.float32), subset_by_index=which)[1]
        basis = np.linalg.qr(rough.astype(np.float64))[0]
        values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
        # Small ones need all the digits.
        if values[0] > LARGE_EIGENVALUE:
            return values[::-1], (basis @ turn)[:, ::-1]
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=which)
    return values[::-1], vectors[:, ::-1]


def embed(psi: AnyPsi, spectrum: Spectrum, n_vectors: int | None = None) -> Array:
    """Coordinates (n, n_vectors) of rows, seen or new, on the eigenvectors v_2, v_3, ...

    Over the rows that made the spectrum the columns are orthonormal.
    """
    values, vectors = spectrum.eigenvalues[:n_vectors], spectrum.vectors[:, :n_vectors]
    vectors = vectors * np.sqrt(spectrum.weights)[:, None] * inverse(values, 0.5)
    scale = inverse(product(psi, spectrum.degree), 0.5)
    return product(psi, vectors) * scale[:, None]


def product(psi: AnyPsi, table: NDArray[Any]) -> Array:
    """psi (n, D) times a NumPy `table` (D, ...), in the dtype of psi and where it is."""
    if isinstance(psi, SparseRows):
        return psi @ table
    if isinstance(psi, csr_matrix) or is_host(psi):
        return np.asarray(psi @ table.astype(psi.dtype, copy=False))
    return psi @ like(table, psi)


def added(sums: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Sums over blocks of arrays of the same shapes, where they are."""
    totals: tuple[Any, ...] = ()
    for found in sums:
        totals = tuple(old + new for old, new in zip(totals, found, strict=True)) if totals else found
    return totals
