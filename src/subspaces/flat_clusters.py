"""Where every cluster is flat as a whole, the shortest description by flats knows better than any graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subspaces._array import Array, Labels
from subspaces.cluster_count import codes_by_count
from subspaces.description import Code, has_flat_clusters, is_flat, measure, shortest_code

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
    return min(filter(has_flat_clusters, codes), key=lambda code: code.length, default=None)


def labels_of(code: Code) -> Labels:
    """The cluster (n,) of each row, -1 for those that no flat reaches."""
    return np.where(code.chosen == len(code.cells), -1, code.chosen).astype(np.int32)
