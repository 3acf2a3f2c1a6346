"""Numbers of clusters: in the order of their first rows, so that neither chance nor rounding exchanges them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from subspaces._core.arrays import Indices, Labels

T = TypeVar("T")


def order_of_clusters(labels: Labels, n_clusters: int) -> Indices:
    """The clusters (K,) of labels (n,) in the order of their first rows; those without rows come last."""
    first = np.full(n_clusters, len(labels))
    numbers, rows = np.unique(labels, return_index=True)
    first[numbers] = rows
    return np.argsort(first, kind="stable")


def numbered(labels: Labels) -> Labels:
    """The same clusters (n,), numbered from 0 in the order of their first rows."""
    _, first, own = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[own].astype(labels.dtype)


def number_clusters(
    made: T, label: Callable[[T], Labels], reorder: Callable[[T, Indices], T], labels: Labels, n_clusters: int
) -> tuple[T, Labels]:
    """What labels rows, with clusters in the order of their first rows, and its labels (n,).

    Parameters
    ----------
    made : object
        It has numbered the clusters in any order: k-means does so by chance.
    label : callable
        `label(made)` returns the labels (n,) of all rows.
    reorder : callable
        `reorder(made, order)` returns the same with the clusters `order` (K,) of `made`.
    labels : ndarray of shape (n,)
        `label(made)`, which the caller knows already.
    n_clusters : int
    """
    # A row that is equally near to two clusters gets the smaller number, and may change its cluster with the order.
    # Every round settles the cluster of at least one more number.
    for _ in range(n_clusters):
        order = order_of_clusters(labels, n_clusters)
        if (order == np.arange(n_clusters)).all():
            break
        made = reorder(made, order)
        labels = label(made)
    return made, labels
