"""Clusters that are flat as a whole: the shortest description by K flats labels them better than any graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import mapped
from subspaces.flats.description import Code, has_flat_clusters, is_flat, measure, shortest_code
from subspaces.flats.fitting import fit_flats
from subspaces.flats.flats import Flats
from subspaces.flats.least_noise import least_noise_flat
from subspaces.selection.clustering import Clustering
from subspaces.selection.flat_count import codes_by_count
from subspaces.selection.partition import PartitionChoice
from subspaces.selection.thresholds import FEW_FLAT_ROWS, FIRST_STARTS, MAX_STARTS, MORE_FLATS
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import Partition, assign, partition_of_labels
from subspaces.spectral.spectrum import Spectrum


def flat_partition(
    rows: Array,
    psi: csr_matrix,
    sample: Indices,
    spectrum: Spectrum,
    choice: PartitionChoice,
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    max_starts: int = MAX_STARTS,
) -> Partition | None:
    """The partition by the flats with the shortest description of some rows (m, p); None if clusters are not flat.

    psi (n, D) has all rows, of which `sample` (m,) are `rows`; the search starts from up to `max_starts` candidates of
    `choice`.
    """
    weights = psi[sample]
    ranked = sorted(choice.candidates, key=lambda each: (-each.separation, -each.modularity))
    starts: dict[bytes, Labels] = {}
    for candidate in (choice.winner, choice.density, choice.balanced, *ranked):
        labels = assign(weights, spectrum, candidate)
        starts.setdefault(labels.tobytes(), labels)
        if len(starts) == max_starts:
            break
    code = shortest_flat_code(rows, list(starts.values()), n_clusters, rng)
    if code is None:
        return None
    partition = partition_of_labels(weights, labels_of(code), n_clusters, spectrum, "flats")
    shares = cluster_shares(psi, assign(psi, spectrum, partition), n_clusters)
    # A flat may have no landmark of its own.
    if not shares.any(axis=1).all():
        return None
    return replace(partition, modularity=modularity(shares), flats=flats_of(rows, code))


def prefer_whole_flats(found: Clustering, rows: Array, sample: Indices, rng: np.random.RandomState) -> Clustering:
    """`found` with one flat for each cluster, if clusters of the rows (n, q), not scaled, are flat; else as it is.

    Flats are compared on the rows at `sample` (m,).
    """
    assert found.choice is not None
    partition = final_partition(rows, sample, found.psi, found.spectrum, found.choice, rng)
    if partition.flats is None:
        return found
    return replace(found, partition=partition, labels=least_noise_flat(rows, partition.flats))


def final_partition(
    rows: Array,
    sample: Indices,
    psi: csr_matrix,
    spectrum: Spectrum,
    choice: PartitionChoice,
    rng: np.random.RandomState,
    *,
    max_starts: int = MAX_STARTS,
) -> Partition:
    """The partition by whole flats if clusters of rows (n, q) are flat, otherwise the winner of `choice`."""
    k = choice.winner.n_clusters
    found = flat_partition(rows[sample], psi, sample, spectrum, choice, k, rng, max_starts=max_starts)
    return found or choice.winner


def flats_of(x: Array, code: Code) -> tuple[Flats, ...]:
    """The flat of each cluster, of its own dimension, fitted to the rows of `x` (n, p) that it encodes."""
    labels = labels_of(code)
    found = []
    for k, cell in enumerate(code.cells):
        assert cell is not None
        found.append(fit_flats(x, np.flatnonzero(labels == k)[None], cell.dim, affine=True)[0])
    return tuple(found)


def shortest_flat_code(x: Array, starts: Sequence[Labels], n_clusters: int, rng: np.random.RandomState) -> Code | None:
    """The shortest description of the rows of `x` (n, p) by `n_clusters` flats, starting from labels (n,).

    If no start leads to flat clusters, one more search starts from more flats than clusters and joins them. None if no
    description consists of flat clusters only.
    """
    space = measure(x, affine=True)

    def codes_from(some: Sequence[Labels]) -> list[Code]:
        tasks = [(labels, free) for labels in some for free in (False, True)]
        return mapped(lambda task: shortest_code(space, task[0], n_clusters, free=task[1]), tasks)

    # Most data are not flat, and with many rows a few starts are enough to see it.
    codes = codes_from(starts[:FIRST_STARTS])
    if any(is_flat(cell) for code in codes for cell in code.cells):
        codes += codes_from(starts[FIRST_STARTS:])
    elif len(x) > FEW_FLAT_ROWS and len(starts) >= FIRST_STARTS:
        return None
    flat = _shortest_flat(codes)
    if flat is None:
        found = codes_by_count(x, n_clusters + MORE_FLATS, affine=True, rng=rng).get(n_clusters)
        flat = _shortest_flat([] if found is None else [found])
    return flat


def _shortest_flat(codes: Sequence[Code]) -> Code | None:
    """The shortest code with flat clusters only; the check is slow, so codes are checked in order of length."""
    return next(filter(has_flat_clusters, sorted(codes, key=lambda code: code.length)), None)


def labels_of(code: Code) -> Labels:
    """Cluster (n,) of each row, -1 for rows of the background."""
    return np.where(code.chosen == len(code.cells), -1, code.chosen).astype(np.int32)
