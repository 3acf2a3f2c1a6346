"""Where every cluster is flat as a whole, the shortest description by flats knows better than any graph."""

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
from subspaces.selection.flat_count import codes_by_count
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import Partition, PartitionChoice, assign, partition_of_labels
from subspaces.spectral.spectrum import Spectrum

# From how many partitions flats begin, how many of them tell whether it is worth it, and with how many flats more than
# clusters the search for flats begins.
MAX_STARTS = 6
FIRST_STARTS = 2
MORE_FLATS = 5
# So few rows hardly cost time, and may mislead any start.
FEW_ROWS = 1000


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
    """The partition by the flats that describe some rows (m, p) best; None where clusters are not flat.

    psi (n, D) are all rows, of which `sample` (m,) are described; up to `max_starts` of the candidates of `choice`
    are where to begin.
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
    # A flat may have no landmarks of its own.
    if not shares.any(axis=1).all():
        return None
    return replace(partition, modularity=modularity(shares), flats=flats_of(rows, code))


def flats_of(x: Array, code: Code) -> tuple[Flats, ...]:
    """The flat of each cluster, of the dimension it needs, through the rows of `x` (n, p) that are coded by it."""
    labels = labels_of(code)
    found = []
    for k, cell in enumerate(code.cells):
        assert cell is not None
        found.append(fit_flats(x, np.flatnonzero(labels == k)[None], cell.dim, affine=True)[0])
    return tuple(found)


def shortest_flat_code(x: Array, starts: Sequence[Labels], n_clusters: int, rng: np.random.RandomState) -> Code | None:
    """The shortest description of the rows of `x` (n, p) by `n_clusters` flats that begins at one of the labels (n,).

    Where that leads to no flats, more flats than clusters, joined one after another, are one more beginning. None where
    no description has flat clusters alone: a cluster that is curved, or a mixture, is no flat.
    """
    space = measure(x, affine=True)

    def codes_from(some: Sequence[Labels]) -> list[Code]:
        tasks = [(labels, free) for labels in some for free in (False, True)]
        return mapped(lambda task: shortest_code(space, task[0], n_clusters, free=task[1]), tasks)

    # Most data are not flat at all, and a few starts show it where rows are many.
    codes = codes_from(starts[:FIRST_STARTS])
    if any(is_flat(cell) for code in codes for cell in code.cells):
        codes += codes_from(starts[FIRST_STARTS:])
    elif len(x) > FEW_ROWS and len(starts) >= FIRST_STARTS:
        return None
    flat = _shortest_flat(codes)
    if flat is None:
        found = codes_by_count(x, n_clusters + MORE_FLATS, affine=True, rng=rng).get(n_clusters)
        flat = _shortest_flat([] if found is None else [found])
    return flat


def _shortest_flat(codes: Sequence[Code]) -> Code | None:
    """The shortest of the codes that have flat clusters alone: it takes long to see, so the short ones come first."""
    return next(filter(has_flat_clusters, sorted(codes, key=lambda code: code.length)), None)


def labels_of(code: Code) -> Labels:
    """The cluster (n,) of each row, -1 for those that no flat reaches."""
    return np.where(code.chosen == len(code.cells), -1, code.chosen).astype(np.int32)
