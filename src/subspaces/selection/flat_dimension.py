"""The dimension of flats, as a recorded decision."""

from __future__ import annotations

import numpy as np

from subspaces._core.arrays import Array
from subspaces.flats.dimension import search_dimension
from subspaces.selection.record import Decision


def decide_dim(x: Array, n_clusters: int, *, affine: bool, rng: np.random.RandomState) -> Decision:
    """Choose the dimension beyond which `n_clusters` flats fit the rows of `x` (n, p) hardly better.

    The choice is the knee of the logarithm of the noise level: the point farthest below the chord between its ends.
    With few columns, points are taken instead unless flats have a shorter description.
    """
    search = search_dimension(x, n_clusters, affine=affine, rng=rng)
    candidates: list[dict[str, float]] = [
        {"subspace_dim": dim, "log_noise": float(level)} for dim, level in zip(search.dims, search.levels, strict=True)
    ]
    reason = "the dimension after which the noise that rows seem to have falls no more"
    if search.nats is not None:
        candidates = [{**each, "nats_per_row": float(n)} for each, n in zip(candidates, search.nats, strict=True)]
        if search.best == 0:
            reason = "the description of the rows by points is not longer than that by flats"
    return Decision(
        "subspace_dim",
        search.best,
        "log_noise",
        reason,
        tuple(candidates),
        larger_is_better=False,
    )
