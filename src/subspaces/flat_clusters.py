"""Where every cluster is flat as a whole, the shortest description by flats knows better than any graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subspaces._array import Array, Labels
from subspaces.cluster_count import codes_by_count
from subspaces.description import Cell, Code, measure, shortest_code

# Flats of a larger share of the columns are no low-dimensional subspaces.
MAX_DIM_SHARE = 2 / 3
FIRST_STARTS = 2
MORE_FLATS = 5


def shortest_flat_code(x: Array, starts: Sequence[Labels], n_clusters: int, rng: np.random.RandomState) -> Code | None:
    """The shortest description of the rows of `x` (n, p) by `n_clusters` flats that begins at one of the labels (n,).

    More flats than clusters, joined one after another, are one more beginning. None where no description has flat
    clusters alone: a cluster that is curved, or a mixture, is no flat.
    """
    space = measure(x, affine=True)
    codes: list[Code] = []
    for labels in starts:
        codes += [shortest_code(space, labels, n_clusters, free=free) for free in (False, True)]
        # Most data are not flat at all, and a few starts show it.
        if len(codes) == 2 * FIRST_STARTS and not any(is_flat(cell) for code in codes for cell in code.cells):
            return None
    found = codes_by_count(x, n_clusters + MORE_FLATS, affine=True, rng=rng).get(n_clusters)
    codes += [found] if found is not None else []
    return min((code for code in codes if all(map(is_flat, code.cells))), key=lambda code: code.length, default=None)


def is_flat(cell: Cell | None) -> bool:
    """Whether a cluster has a few directions and the same noise in all others.

    Each direction that shortens its code then saves far more than it costs; where variances fall gently, as in curved
    clusters, there are many more that save a little.
    """
    if cell is None:
        return False
    p, n_directions = cell.basis.shape
    return 0 < cell.dim == n_directions <= MAX_DIM_SHARE * p


def labels_of(code: Code) -> Labels:
    """The cluster (n,) of each row, -1 for those that no flat reaches."""
    return np.where(code.chosen == len(code.cells), -1, code.chosen).astype(np.int32)
