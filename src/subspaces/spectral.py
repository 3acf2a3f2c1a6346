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
from typing import TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._array import Array, inverse
from subspaces._threads import one_thread

# Eigenvalues below this many units in the last place of psi are rounding.
ROUNDING = 10.0

Psi: TypeAlias = Array | csr_matrix
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
        total, gram, precision = _sums((psi, _row_sums(psi)) for psi in blocks())
        weights = inverse(total)
    else:
        total = np.sum([_column_sums(psi) for psi in blocks()], axis=0)
        _, gram, precision = _sums((psi, _degrees(psi, total)) for psi in blocks())
        weights = np.ones_like(total)
    root = np.sqrt(weights)
    gram *= root[:, None] * root
    # G t = t for t = sqrt(w) s: known, and arbitrary among its equals when clusters separate, so it is
    # removed by formula and not by position.
    trivial = root * total
    trivial /= np.linalg.norm(trivial) or 1.0
    # Twice, so that it ends at -1: at zero it would mix with the null space.
    gram -= 2 * np.outer(trivial, trivial)
    count = min(n_vectors, len(gram))
    with one_thread():
        values, vectors = scipy.linalg.eigh(gram, subset_by_index=[len(gram) - count, len(gram) - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    values = np.where(values > ROUNDING * precision, values, 0)
    return Spectrum(weights, weights * total, values, vectors)


def embed(psi: Psi, spectrum: Spectrum, n_vectors: int | None = None) -> Array:
    """Coordinates (n, n_vectors) of rows, seen or new, on the eigenvectors v_2, v_3, ...

    Over the rows that made the spectrum the columns are orthonormal.
    """
    values, vectors = spectrum.eigenvalues[:n_vectors], spectrum.vectors[:, :n_vectors]
    vectors = vectors * np.sqrt(spectrum.weights)[:, None] * inverse(values, 0.5)
    scale = inverse(_degrees(psi, spectrum.degree), 0.5)
    return np.asarray(psi @ vectors.astype(psi.dtype)) * scale[:, None]


def _sums(blocks: Iterable[tuple[Psi, Array]]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Sum of psi (D,) and of psi psi^T / degree (D, D) over blocks of (psi, degrees), and the precision of psi."""
    total, gram, precision = np.zeros(()), np.zeros(()), 0.0
    for psi, degrees in blocks:
        total = total + _column_sums(psi)
        gram = gram + _gram(psi, degrees)
        precision = float(np.finfo(psi.dtype).eps)
    return total, gram, precision


def _row_sums(psi: Psi) -> Array:
    return np.asarray(psi.sum(axis=1)).ravel()


def _column_sums(psi: Psi) -> NDArray[np.float64]:
    return np.asarray(psi.sum(axis=0, dtype=np.float64)).ravel()


def _degrees(psi: Psi, degree: Array) -> Array:
    return np.asarray(psi @ degree.astype(psi.dtype))


def _gram(psi: Psi, degrees: Array) -> NDArray[np.float64]:
    """psi^T diag(1/degrees) psi, summed in float64 over blocks: (D, D)."""
    scale = inverse(degrees, 0.5)
    if isinstance(psi, np.ndarray):
        scaled = psi * scale[:, None]
        return np.asarray(scaled.T @ scaled, np.float64)
    scaled = psi.multiply(scale[:, None]).tocsr()
    return np.asarray((scaled.T @ scaled).toarray(), np.float64)
