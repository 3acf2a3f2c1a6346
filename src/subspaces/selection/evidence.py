"""Evidence about a clustering, measured without true labels on a sample of the rows.

Three questions: do other methods find the same clusters, do K clusters describe the rows better than one cluster does,
compared with rows whose columns are shuffled independently, and would another number of clusters do better? Lengths are
description lengths by flats in nats a row; a crossing is a nearest neighbour in another cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels, unit_rows
from subspaces._core.copies import first_copies
from subspaces._core.pca import principal_directions
from subspaces._core.threads import one_thread
from subspaces.flats.description import Code, measure, shortest_code, shortest_codes
from subspaces.metrics.labels import adjusted_rand
from subspaces.rows.preparation import value_grain
from subspaces.selection.coding import code_directions, is_sound
from subspaces.selection.comparison import standard_error
from subspaces.selection.limits import (
    VERDICT_COLUMNS,
    VERDICT_NEIGHBORS,
    VERDICT_RAW_COLUMNS,
    VERDICT_ROWS,
    VERDICT_ROWS_PER_CLUSTER,
    VERDICT_SHUFFLES,
    VERDICT_STARTS,
)
from subspaces.selection.search import Trial
from subspaces.selection.structure import Structure, find_structure
from subspaces.selection.thresholds import FLAT_SHARE, LEAST_ROWS
from subspaces.selection.verdict_thresholds import (
    CLEAR_ERRORS,
    DISTINCT_SHARE,
    SAME_AGREEMENT,
    SHUFFLED_SHARE,
    TOP_COLUMN,
)
from subspaces.spectral.graph import spectral_vectors
from subspaces.spectral.kmeans import kmeans
from subspaces.spectral.partition import at_most

Floats = NDArray[np.floating[Any]]
Prepare: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two means over rows, and its standard error: of nats a row, or of shares of neighbours."""

    mean: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether it exceeds zero by more than chance explains."""
        return self.mean > CLEAR_ERRORS * self.error


@dataclass(frozen=True, slots=True)
class Evidence:
    """Figures about a clustering; None if something was not measured.

    Agreements are adjusted Rand indices: 1 for equal clusters, 0 for chance.
    """

    n_rows: int
    n_columns: int
    n_clusters: int
    smallest: int  # rows of the smallest cluster
    outliers: float  # share of rows in no cluster
    landmarks: float | None  # agreement of other landmarks
    halves: float | None  # agreement of flats of halves of the rows
    seeds: float | None  # agreement of fits with other seeds
    kmeans: float | None  # agreement with k-means
    points: float | None  # agreement with spectral clustering of the graph of nearest neighbours
    graphs: float | None  # median agreement with the clusters of other graphs that were tried, whitened alike
    flats: float | None  # agreement with the best description by K flats
    kind: str | None  # "flat", "blobs" or "bent", as in `Structure`
    share: float | None  # of the shortening by the best number of flats that K reach; None if none but K was tried
    gain: Difference | None  # how much shorter K flats describe the rows than one
    shuffled_gain: Difference | None  # the same for shuffled columns
    rival: Difference | None  # how much longer the best description by other clusters is; None if there is none
    more: Difference | None  # how much shorter more flats describe the rows
    more_count: int | None  # that number of flats
    fewer: Difference | None  # how much longer K - 1 flats describe the rows
    crossing: float | None  # share of nearest neighbours in another cluster, 1 for random clusters of these sizes
    shuffled_crossing: float | None  # the same for clusters of shuffled columns
    separation: Difference | None  # how much larger the latter is
    modularity: float | None  # on the graph of nearest neighbours, of the clusters or of K by spectral clustering
    other_modularity: float | None  # the largest of spectral clustering with one cluster fewer or more
    other_count: int | None  # that number of clusters
    top_column: float  # share of the variance in the column that varies most
    standardised: float | None  # agreement of k-means with itself on standardised columns, if one column dominates
    leading: float  # share of the variance in the two leading principal components


def are_separate(crossing: float | None, shuffled_crossing: float | None, separation: Difference | None) -> bool:
    """Whether clusters have clearly fewer crossings than those of shuffled columns, and at most half as many."""
    if crossing is None or shuffled_crossing is None or separation is None:
        return False
    return separation.is_clear and crossing <= SHUFFLED_SHARE * shuffled_crossing


def gather(
    x: Array,
    labels: Labels,
    n_clusters: int,
    *,
    rng: np.random.RandomState,
    clustered: Array | None = None,
    structure: Structure | None = None,
    sample: Indices | None = None,
    prepare: Prepare | None = None,
    graphs: float | None = None,
    landmarks: float | None = None,
    halves: float | None = None,
    seeds: float | None = None,
) -> Evidence:
    """Evidence about the clusters `labels` (n,), -1 for none, of the rows of `x` (n, p).

    `clustered` (n, q) are the prepared rows, if it was not `x` that was clustered. `structure`, found at the rows
    `sample` (m,), is that of the fit, if it has any, and `prepare` prepares rows as those were. `graphs`, `landmarks`,
    `halves` and `seeds` are fields of `Evidence`.
    """
    labels = np.asarray(labels)
    most = max(VERDICT_ROWS, VERDICT_ROWS_PER_CLUSTER * n_clusters)
    if sample is None:
        sample = np.sort(at_most(np.arange(len(x)), most, rng))
    distinct = _without_copies(x, sample, n_clusters)
    if len(distinct) < len(sample):
        sample, structure, prepare = distinct, None, None
    few = sample[:: -(-len(sample) // most)]
    raw, own = _some(x, few), labels[few]
    variances = raw.var(axis=0)
    known: dict[str, Any] = {
        **sizes_of(labels, n_clusters),
        "n_columns": x.shape[1],
        "n_clusters": n_clusters,
        "graphs": graphs,
        "landmarks": landmarks,
        "halves": halves,
        "seeds": seeds,
        "top_column": float(variances.max() / variances.sum()) if variances.any() else 1.0,
    }
    if n_clusters < 2 or not variances.any() or len(np.unique(own[own >= 0])) < 2:
        return Evidence(**{**dict.fromkeys(Evidence.__dataclass_fields__), "leading": 1.0, **known})
    prepared = raw if clustered is None else clustered[few].astype(np.float64)
    with one_thread():
        rows = _leading(prepared, n_clusters)
        if structure is None:
            structure, sample = find_structure(rows, [own], n_clusters, rng), few
        near = _neighbors(rows)
        by_points = _spectral_clusters(near, [n_clusters - 1, n_clusters, n_clusters + 1], rng)
        flat = _flat_figures(structure, labels[sample], rng)
        crossings = _crossing_figures(_crossings(near, own), _shuffled_crossings(raw, n_clusters, rng))
        by_flats = flat["flats"] >= SAME_AGREEMENT and (flat["share"] or 0.0) >= FLAT_SHARE
        # A full search takes as long as that of the rows. It is not needed if neighbours show enough.
        full = by_flats and not are_separate(**crossings)
        return Evidence(
            **known,
            **flat,
            **_graph_figures(near, own, by_points, n_clusters),
            **crossings,
            shuffled_gain=_shuffled_gain(
                _some(x, sample) if full else raw, n_clusters, rng, structure if full else None, prepare
            ),
            **_kmeans_figures(rows, own, raw if known["top_column"] >= TOP_COLUMN else None, n_clusters, rng),
            points=adjusted_rand(by_points[n_clusters], own),
            leading=float(rows[:, :2].var(axis=0).sum() / prepared.var(axis=0).sum()),
        )


def _without_copies(x: Array, sample: Indices, n_clusters: int) -> Indices:
    """The rows of `x` at `sample` (m,); one of each if most are copies, which make noise dense, and enough are left."""
    first = first_copies(_some(x, sample))
    if first is None or not LEAST_ROWS * n_clusters <= len(first) <= DISTINCT_SHARE * len(sample):
        return sample
    return sample[first]


def sizes_of(labels: Labels, n_clusters: int) -> dict[str, Any]:
    """Fields of `Evidence` about the number of rows with labels (n,), -1 for none."""
    return {
        "n_rows": len(labels),
        "smallest": int(np.bincount(labels[labels >= 0], minlength=n_clusters).min()),
        "outliers": float(np.mean(labels < 0)),
    }


def agreement_of_trials(labels: Labels, trials: Sequence[Trial], whiten: float) -> float | None:
    """Median agreement of labels (n,) with the clusters of graphs that were tried; None if there are none.

    Only graphs of rows whitened to the same power count: whitening is chosen if the others are clearly worse.
    """
    found = [adjusted_rand(labels[each.index], each.labels) for each in trials if each.setting.whiten == whiten]
    return float(np.median(found)) if found else None


def evenly_spaced_columns(n_columns: int) -> Indices:
    """Columns of wide rows that are looked at."""
    return np.arange(0, n_columns, -(-n_columns // VERDICT_RAW_COLUMNS))


def _some(x: Array, index: Indices) -> Floats:
    """Rows (m, q) of `x` (n, p) at `index` (m,); of wide ones evenly spaced columns."""
    return x[np.ix_(index, evenly_spaced_columns(x.shape[1]))].astype(np.float64)


def _leading(raw: Floats, n_clusters: int) -> Floats:
    """Rows (n, p) centred, in their leading principal coordinates."""
    mean = raw.mean(axis=0)
    count = min(max(VERDICT_COLUMNS[0], 4 * n_clusters), VERDICT_COLUMNS[1], raw.shape[1])
    return (raw - mean) @ principal_directions(raw, mean, count)


def _kmeans(rows: Floats, n_clusters: int, rng: np.random.RandomState) -> Labels:
    runs = kmeans(rows, n_clusters, n_starts=VERDICT_STARTS, rng=rng, max_iter=30)
    return runs.labels[runs.best]


def _kmeans_figures(
    rows: Floats, own: Labels, raw: Floats | None, k: int, rng: np.random.RandomState
) -> dict[str, Any]:
    """Agreement of k-means with the clusters (n,), and with itself on standardised columns of `raw` (n, p)."""
    labels = _kmeans(rows, k, rng)
    standardised = None
    if raw is not None:
        scales = raw.std(axis=0)
        scaled = _leading(raw / np.where(scales > 0, scales, 1), k)
        standardised = adjusted_rand(labels, _kmeans(scaled, k, rng))
    return {"kmeans": adjusted_rand(labels, own), "standardised": standardised}


def _neighbors(rows: Floats) -> Indices:
    """Nearest other rows (n, r) of each row (n, p)."""
    squares = np.einsum("np,np->n", rows, rows)
    table = squares - 2 * (rows @ rows.T)
    np.fill_diagonal(table, np.inf)
    count = min(VERDICT_NEIGHBORS, len(rows) - 1)
    return np.argpartition(table, count - 1, axis=1)[:, :count]


def _shares(labels: Labels) -> Floats:
    """Shares (K,) of the rows in each cluster."""
    return np.bincount(labels[labels >= 0]) / len(labels)


def _crossings(near: Indices, labels: Labels) -> Floats:
    """Share (n,) of nearest neighbours (n, r) in another cluster, relative to random clusters of the same sizes.

    A small cluster beside a large one has few crossings anyway.
    """
    by_chance = 1 - float(np.square(_shares(labels)).sum())
    found: Floats = (labels[near] != labels[:, None]).mean(axis=1) / max(by_chance, np.finfo(float).tiny)
    return found


def _crossing_figures(own: Floats, shuffled: Floats) -> dict[str, Any]:
    """Crossings (n,) of the clusters and of shuffled columns, and how much larger the latter are."""
    error = math.hypot(*(standard_error(each.astype(np.float64)) for each in (own, shuffled)))
    return {
        "crossing": float(own.mean()),
        "shuffled_crossing": float(shuffled.mean()),
        "separation": Difference(float(shuffled.mean() - own.mean()), error),
    }


def _modularity(near: Indices, labels: Labels, n_clusters: int) -> float:
    """Modularity of labels (n,) on the graph of nearest neighbours (n, r), 1 for K equal parts without edges."""
    crossing = float((labels[near] != labels[:, None]).mean())
    return (1 - crossing - float(np.square(_shares(labels)).sum())) / (1 - 1 / n_clusters)


def _graph_figures(near: Indices, own: Labels, found: dict[int, Labels], k: int) -> dict[str, Any]:
    """Whether another number of clusters has a larger modularity; `found` are spectral clusters by their number."""
    others = {c: _modularity(near, labels, c) for c, labels in found.items() if c != k}
    best = max(others, key=lambda c: others[c], default=None)
    return {
        # Spectral clustering fits its clusters to this graph, so other numbers are compared with its K clusters.
        "modularity": max(_modularity(near, labels, k) for labels in (own, found[k])),
        "other_modularity": None if best is None else others[best],
        "other_count": best,
    }


def _spectral_clusters(near: Indices, counts: Sequence[int], rng: np.random.RandomState) -> dict[int, Labels]:
    """Clusters (n,) on the graph of nearest neighbours (n, r) by their number, for each of the possible `counts`."""
    n, r = near.shape
    directed = csr_matrix((np.ones(n * r), near.ravel(), np.arange(0, n * r + 1, r)), shape=(n, n))
    vectors = spectral_vectors(directed.maximum(directed.T), min(max(counts) + 1, n), rng=rng)
    return {c: _spectral_labels(vectors, near, c, rng) for c in counts if 1 < c <= n}


def _spectral_labels(vectors: Floats, near: Indices, k: int, rng: np.random.RandomState) -> Labels:
    """K clusters by K or K + 1 of the eigenvectors (n, c), whichever has the larger modularity."""
    found = [_kmeans(unit_rows(vectors[:, :count]), k, rng) for count in (k, k + 1)]
    return max(found, key=lambda labels: _modularity(near, labels, k))


def _flat_figures(structure: Structure, own: Labels, rng: np.random.RandomState) -> dict[str, Any]:
    """Descriptions by K flats with the same clusters `own` (m,) and with others, and by other numbers of flats."""
    k = len(structure.code.cells)
    same = [_same(code, own) >= SAME_AGREEMENT for code in structure.codes]
    code = next((code for code, yes in zip(structure.codes, same, strict=True) if yes), structure.codes[0])
    rival = next((code for code, yes in zip(structure.codes, same, strict=True) if not yes), None)
    by_count = _by_count(structure, k, rng)
    more = min((by_count[count] for count in by_count if count > k), key=lambda each: each.length, default=None)
    return {
        "flats": _same(structure.code, own),
        "kind": structure.kind,
        "share": structure.share if structure.by_count else None,
        "gain": _difference(structure.one, code),
        "rival": _difference(rival, code),
        "more": _difference(code, more),
        "more_count": None if more is None else len(more.cells),
        "fewer": _difference(by_count.get(k - 1), code),
    }


def _by_count(structure: Structure, k: int, rng: np.random.RandomState) -> dict[int, Code]:
    """Descriptions by other numbers of flats than K; those by K - 1 and K + 1 also start at k-means."""
    found = {**structure.by_count, 1: structure.one}
    space = structure.code.space
    for count in (k - 1, k + 1):
        if 1 < count <= len(space.rows) and structure.by_count:
            code = shortest_code(space, _kmeans(space.rows, count, rng), count, free=True)
            if is_sound(code) and (count not in found or code.length < found[count].length):
                found[count] = code
    return found


def _same(code: Code, labels: Labels) -> float:
    """Agreement of labels (n,) with a code, over the rows that its flats encode and that have a label."""
    inside = (code.chosen < len(code.cells)) & (labels >= 0)
    return adjusted_rand(code.chosen[inside], labels[inside]) if inside.any() else 0.0


def _difference(longer: Code | None, shorter: Code | None) -> Difference | None:
    """How much longer one code is than another."""
    # A code without flats has no finite length.
    if longer is None or shorter is None or not np.isfinite(longer.length - shorter.length):
        return None
    mean = (longer.length - shorter.length) / len(longer.chosen)
    return Difference(mean, standard_error(longer.row_lengths - shorter.row_lengths))


def _shuffled_crossings(raw: Floats, k: int, rng: np.random.RandomState) -> Floats:
    """Crossings (n,) of K clusters after each column of rows (n, p) is shuffled, in the draw that has the fewest.

    The clusters are those of k-means or of spectral clustering.
    """
    drawn = []
    for _ in range(VERDICT_SHUFFLES):
        mixed = _leading(_shuffled(raw, rng), k)
        near = _neighbors(mixed)
        found = [_kmeans(mixed, k, rng), _spectral_clusters(near, [k], rng)[k]]
        drawn.append(_crossings(near, max(found, key=lambda labels: _modularity(near, labels, k))))
    return min(drawn, key=lambda each: float(each.mean()))


def _shuffled_gain(
    raw: Floats, k: int, rng: np.random.RandomState, structure: Structure | None, prepare: Prepare | None
) -> Difference | None:
    """How much shorter K flats describe rows (n, p) than one does after each column is shuffled.

    With the `structure` of the rows before, the search is a full one and, if it is known how to `prepare` rows for it,
    begins at its flats, too: rows with independent columns then have the same gain as their shuffled columns, up to
    chance. Otherwise it begins at k-means only, and finds less.
    """
    mixed, grain = _shuffled(raw, rng), value_grain(raw)
    if structure is None:
        mixed = _leading(mixed, k)
        space = measure(mixed @ code_directions(mixed), affine=True, grain=grain)
        code, one = shortest_codes(space, [_kmeans(mixed, k, rng), np.zeros(len(mixed), np.int32)], k)
        return _difference(one, code)
    mixed = _leading(mixed, k) if prepare is None else prepare(mixed)
    starts = [_kmeans(mixed, k, rng)]
    if prepare is not None:
        starts.append(structure.clusters.labels(mixed))
    space = structure.code.space
    found = find_structure(mixed, starts, k, rng, affine=space.affine, max_dim=space.high, grain=grain)
    return _difference(found.one, min(found.codes, key=lambda code: code.length))


def _shuffled(raw: Floats, rng: np.random.RandomState) -> Floats:
    """Rows (n, p) with each column in a random order of its own, which leaves no relation between columns."""
    return np.column_stack([rng.permutation(column) for column in raw.T])
