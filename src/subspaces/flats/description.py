"""Description length of rows under a union of flats: dimensions of clusters, outliers, evidence about K.

A cluster is encoded as a Gaussian with a variance for each direction of its flat and one level of noise in all other
directions. Rows that no flat reaches are encoded by a background, an isotropic Gaussian that is at least as wide as the
data and reaches their centre. The length, in nats, counts the rows, the labels of their clusters, and the parameters of
the flats, each to the precision that the rows determine. Descriptions of the same rows can be compared for any numbers
of clusters and dimensions: the shortest is the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import one_thread
from subspaces.flats.cells import (
    Background,
    Cell,
    Cells,
    Floats,
    Space,
    background_lengths,
    cell_lengths,
    chi2_quantile,
    fit_backgrounds,
    fit_each,
    in_places,
    middle,
    spatial_medians,
    squared_lengths,
)
from subspaces.flats.thresholds import MAX_CODE_ROUNDS, REACH


@dataclass(frozen=True, slots=True, eq=False)
class Description:
    """Result of encoding rows with flats. Lengths are in nats, for rows divided by `unit`."""

    length: float  # of rows, labels and flats together
    row_lengths: Floats  # (n,), of each row with its label; large for rows that fit badly
    outliers: NDArray[np.bool_]  # (n,), rows encoded by the background
    dims: NDArray[np.int64]  # (K,), dimension of each cluster, `cluster_dim`; 0 for a cluster without rows
    noise: Floats  # (K,), standard deviation of rows around flats of these dimensions, in the unit of X
    unit: float  # half of the rows lie within unit * sqrt(p) of the centre


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Rows encoded by cells and a background."""

    space: Space
    cells: Sequence[Cell | None]  # (K,), None for a cluster without rows
    background: Background
    chosen: Indices  # (n,), the cell of each row, K for the background
    table: Floats  # (n, K + 1), nats of each row in each cell and in the background, label included

    @property
    def row_lengths(self) -> Floats:
        """Nats (n,) of each row in its cell."""
        return self.table[np.arange(len(self.table)), self.chosen]

    @property
    def mixed_lengths(self) -> Floats:
        """Nats (n,) of each row by the mixture of all cells, which does not encode to which of them it belongs."""
        least = self.table.min(axis=1)
        return np.asarray(least - np.log(np.exp(least[:, None] - self.table).sum(axis=1)))

    @property
    def overheads(self) -> Floats:
        """Nats (K,) of each flat."""
        return np.array([cell.overhead if cell else 0.0 for cell in self.cells])

    @property
    def length(self) -> float:
        """Nats of rows and flats together."""
        return float(self.row_lengths.sum() + self.overheads.sum())


def describe(x: Array, labels: Labels, n_clusters: int, *, affine: bool, max_dim: int | None = None) -> Description:
    """The shortest description of the rows of `x` (n, p), given the cluster (n,) of each row, -1 for none.

    Each row is encoded by the flat of its cluster or by the background. Flats have at most `max_dim` dimensions, p - 1
    by default. A round computes a covariance and a p x p eigendecomposition for each cluster; few rounds are needed.
    Rotations and scales of `x`, and translations if flats are affine, change nothing but `noise` and `unit`.
    """
    space = measure(x, affine=affine, max_dim=max_dim)
    code = shortest_code(space, labels, n_clusters, free=False)
    return Description(
        length=code.length,
        row_lengths=code.row_lengths,
        outliers=code.chosen == n_clusters,
        dims=np.array([cell.dim if cell else 0 for cell in code.cells], np.int64),
        noise=space.unit * np.sqrt([cell.dim_noise if cell else 0.0 for cell in code.cells]),
        unit=space.unit,
    )


def measure(x: Array, *, affine: bool, max_dim: int | None = None, grain: float = 0.0) -> Space:
    """The rows of `x` (n, p) centred and divided by their unit; if fewer than columns, in coordinates of their span.

    If values are rounded, `grain` is the standard deviation per column of that: a finer description would encode the
    grid and not the clusters.
    """
    rows = x.astype(np.float64)
    center = spatial_medians(rows, np.array([len(rows)]))[0] if affine else np.zeros(rows.shape[1])
    rows = rows - center
    if len(rows) < rows.shape[1]:
        with one_thread():
            values, vectors = np.linalg.eigh(rows @ rows.T)
        rows = vectors * np.sqrt(np.maximum(values, 0))
        center = np.zeros(rows.shape[1])
    p = rows.shape[1]
    squares = squared_lengths(rows)
    # The median, because outliers may be far; the mean if most rows are at the centre.
    unit = float(np.sqrt((middle(squares) or squares.mean()) / p)) or 1.0
    low = 0 if affine else min(1, p - 1)
    high = max(low, p - 1 if max_dim is None else min(max_dim, p - 1))
    return Space(rows / unit, center, unit, affine, low, high, grain)


def shortest_code(space: Space, labels: Labels | Indices, n_clusters: int, *, free: bool) -> Code:
    """Shorten the code that starts at the cluster (n,) of each row, -1 for none, until rows stay where they are.

    Rows stay in their cluster or move to the background; if `free`, they may also move to another cluster.
    """
    return shortest_codes(space, [labels], n_clusters, free=free)[0]


def shortest_codes(
    space: Space, starts: Sequence[Labels | Indices], n_clusters: int, *, free: bool = True
) -> list[Code]:
    """The `shortest_code` from each of several starts, all shortened together.

    Starts whose rows meet in the same clusters go the same way from there on, so one of them goes for all.
    """
    # Clusters are small, so several threads would mostly wait for each other.
    with one_thread():
        labels = np.array(starts, np.intp)
        coder = _Coder(space, n_clusters, None if free else labels)
        chosen = np.full(labels.shape, -1)
        active = into = np.arange(len(labels))
        tables = coder.encode(active, np.where(labels < 0, n_clusters, labels), robust=True)
        met: dict[bytes, int] = {}
        for _ in range(MAX_CODE_ROUNDS):
            before, chosen[active] = chosen[active], tables[active].argmin(axis=1)
            active = active[(chosen[active] != before).any(axis=1)]
            if free:
                active, into = _unmet(active, chosen, n_clusters, met, into)
            if not len(active):
                break
            tables[active] = coder.encode(active, chosen[active])
    codes = {i: Code(space, *coder.parts(i), chosen[i], tables[i].T) for i in into.tolist()}
    return [codes[i] for i in into.tolist()]


class _Coder:
    """Cells and backgrounds fitted to clusters of the rows of a space; the last ones of each start are kept."""

    def __init__(self, space: Space, n_clusters: int, allowed: Indices | None) -> None:
        self._space, self._n_clusters = space, n_clusters
        self._allowed = allowed  # (m, n), the only cell of each row, if it has but one
        self._reach = chi2_quantile(REACH, space.rows.shape[1]) / 2
        self._parts: dict[int, tuple[Cells, Indices, Background]] = {}

    def parts(self, start: int) -> tuple[list[Cell | None], Background]:
        """The last cells and background of a start."""
        cells, places, background = self._parts[start]
        return in_places(cells, places, self._n_clusters), background

    def encode(self, starts: Indices, labels: Indices, *, robust: bool = False) -> Floats:
        """Nats (m, K + 1, n) of each row in the cells and backgrounds of clusters `labels` (m, n), K for outliers."""
        k, n = self._n_clusters, len(self._space.rows)
        cells, places = fit_each(self._space, labels, k, robust=robust)
        lengths, levels = cell_lengths(cells, self._space.rows)
        lengths += np.log(n / cells.sizes)[:, None]
        codes, names = np.divmod(places, k)
        if self._allowed is not None:
            lengths[self._allowed[starts[codes]] != names[:, None]] = np.inf
        tables = np.full((len(labels), k + 1, n), np.inf)
        tables[codes, names] = lengths
        ends = np.searchsorted(codes, np.arange(len(labels) + 1))
        # A cell that loses its tail to the background gets narrower, loses more, and would shrink to nothing.
        lengths -= (levels + np.log(n / cells.sizes) + self._reach)[:, None]
        backgrounds = self._backgrounds(labels == k, robust)
        apart = background_lengths(backgrounds, self._space.rows)
        for i, start in enumerate(starts.tolist()):
            own = slice(ends[i], ends[i + 1])
            self._parts[start] = cells[own], names[own], backgrounds[i]
            tables[i, k] = apart[i] + np.log(n / backgrounds[i].size)
            tables[i, k, (lengths[own] <= 0).any(axis=0)] = np.inf
        return tables

    def _backgrounds(self, outliers: NDArray[np.bool_], robust: bool) -> list[Background]:
        """The background of the outliers (m, n) of each labelling; if `robust` and there are none, of all rows."""
        counts = outliers.sum(axis=1)
        if robust:
            outliers = outliers | (counts == 0)[:, None]
        found = fit_backgrounds(self._space, outliers)
        return [replace(each, size=max(1, int(count))) for each, count in zip(found, counts, strict=True)]


def _unmet(
    active: Indices, chosen: Indices, n_clusters: int, met: dict[bytes, int], into: Indices
) -> tuple[Indices, Indices]:
    """Which of the `active` starts have clusters (m, n) that no other start has had, and whose way each start goes.

    `met` keeps the start that first had the clusters, up to their names.
    """
    into = into.copy()
    for i in active:
        first = met.setdefault(renamed(chosen[i], n_clusters).tobytes(), i)
        while into[first] != first:
            first = into[first]
        into[i] = first
    # Starts that had joined one of these go on with it.
    while (into[into] != into).any():
        into = into[into]
    return active[into[active] == active], into


def renamed(chosen: Indices, n_clusters: int) -> Indices:
    """Clusters (n,) numbered in the order of their first rows; the background K stays K."""
    first = np.full(n_clusters + 1, len(chosen))
    first[chosen[::-1]] = np.arange(len(chosen))[::-1]
    names = np.full(n_clusters + 1, n_clusters)
    names[np.argsort(first[:n_clusters])] = np.arange(n_clusters)
    return names[chosen]
