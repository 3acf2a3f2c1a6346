"""What plots and the report read from a fitted model, by its public attributes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import unit_rows
from subspaces.flats.distances import distances_to
from subspaces.flats.flats import Flats
from subspaces.show.look import on_host

Table = Callable[[Any], NDArray[Any]]


def assigns_by_flats(model: Any) -> bool:
    """Whether `flats_` has one flat per cluster and `transform` gives the distances to them, as in `KFlats`.

    Spectral models have `flats_`, too, but these are landmarks, and `transform` gives an embedding.
    """
    return hasattr(model, "flats_") and hasattr(model, "transform") and not hasattr(model, "eigenvalues_")


def predicts_by_flats(model: Any) -> bool:
    """Whether `predict` takes the nearest of `cluster_bases_`, as in `SSC`."""
    return hasattr(model, "cluster_bases_") and hasattr(model, "codes_")


def cluster_flats(model: Any) -> Flats | None:
    """The flat of each cluster, or None if the model has none."""
    return getattr(model, "flats_" if assigns_by_flats(model) else "cluster_bases_", None)


def cluster_dims(model: Any) -> NDArray[np.int64] | None:
    """The dimension (K,) of each cluster, or that of its flat in `SSC`; None if the model has neither."""
    if hasattr(model, "cluster_dims_"):
        return np.asarray(model.cluster_dims_, np.int64)
    flats = cluster_flats(model)
    return None if flats is None else np.full(len(flats), flats.dim)


def flat_distances(model: Any) -> Table | None:
    """A function from rows (n, p) to distances (n, K) to the flats that label them; None for other models."""
    if assigns_by_flats(model):
        return lambda rows: on_host(model.transform(rows))
    if predicts_by_flats(model):
        return _distances_to_bases(model)
    return None


def _distances_to_bases(model: Any) -> Table:
    centers, bases = on_host(model.cluster_bases_.centers), on_host(model.cluster_bases_.bases)
    # Near the origin, squared distances lose no digits.
    origin = centers.mean(axis=0)
    squared = distances_to(Flats(centers - origin, bases))
    return lambda rows: np.sqrt(np.maximum(squared(_scaled(model, rows) - origin), 0))


def measures_unit_rows(model: Any) -> bool:
    """Whether `flat_distances` scales rows to length one first."""
    return bool(getattr(model, "normalize_", getattr(model, "normalize", False)))


def has_pairwise_graph(model: Any) -> bool:
    """Whether the model keeps a graph between all rows, so that its time grows with the square of their number."""
    graph, labels = getattr(model, "affinity_matrix_", None), getattr(model, "labels_", None)
    return graph is not None and labels is not None and graph.shape[0] == len(labels)


def _scaled(model: Any, rows: Any) -> NDArray[Any]:
    array = on_host(rows)
    array = array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    return unit_rows(array) if measures_unit_rows(model) else array
