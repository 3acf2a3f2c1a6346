"""Scores of labels against known classes.

Rows with the true label -1 are outliers and are ignored by all scores. Rows with the predicted label -1 belong to no
cluster; they are counted, but never as correct.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError, UserTypeError


@dataclass(frozen=True, slots=True)
class _Agreement:
    """Counts of inliers, from which all scores are computed."""

    table: NDArray[np.int64]  # (n_clusters, n_classes)
    unassigned: NDArray[np.int64]  # (n_classes,), rows without a cluster

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        sizes: NDArray[np.int64] = self.table.sum(axis=0) + self.unassigned
        return sizes

    @property
    def n_inliers(self) -> int:
        return int(self.class_sizes.sum())


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of inliers whose cluster is matched to their class.

    Clusters are matched to classes one to one, so that the most rows are correct (the Hungarian method). Papers on
    subspace clustering report this rate.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes: numbers, strings or booleans. Rows with the number -1 are outliers and are ignored.
    y_pred : array-like of shape (n,)
        Clusters, with any names. Rows with the number -1 belong to no cluster and count as wrong.

    Returns
    -------
    accuracy : float
        Between 0 and 1.

    Examples
    --------
    >>> from subspaces.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    >>> clustering_accuracy([0, 0, 1, 1, -1], [5, 5, 3, -1, 5])
    0.75
    """
    agreement = _agreement(y_true, y_pred)
    clusters, classes = _best_matching(agreement.table)
    return float(agreement.table[clusters, classes].sum() / agreement.n_inliers)


def purity(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of inliers that belong to the most frequent class of their cluster.

    Several clusters may have the same class, so purity never falls if clusters are split. Use it to see whether
    clusters are pure, and `clustering_accuracy` to see whether they are the classes.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are ignored.
    y_pred : array-like of shape (n,)
        Clusters; rows with the number -1 belong to none and count as wrong.

    Returns
    -------
    purity : float
        Between 0 and 1.

    Examples
    --------
    >>> from subspaces.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """
    agreement = _agreement(y_true, y_pred)
    largest = agreement.table.max(axis=1, initial=0)
    return float(largest.sum() / agreement.n_inliers)


def adjusted_rand(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Agreement of two partitions over pairs of inliers, corrected for chance (Hubert and Arabie, 1985).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are ignored.
    y_pred : array-like of shape (n,)
        Clusters; each row with the number -1 counts as a cluster of one row.

    Returns
    -------
    score : float
        1 for equal partitions, about 0 for unrelated ones, at least -0.5.

    References
    ----------
    L. Hubert and P. Arabie, Comparing partitions, Journal of Classification 2 (1985),
    https://doi.org/10.1007/BF01908075

    Examples
    --------
    >>> from subspaces.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return _rand_index(_agreement(y_true, y_pred))


def labels_agreement(first: NDArray[np.integer], second: NDArray[np.integer]) -> float:
    """The adjusted Rand index of two clusterings (n,) with labels 0, 1, ...; faster than `adjusted_rand`."""
    shape = int(second.max(initial=0)) + 1, int(first.max(initial=0)) + 1
    return _rand_index(_tabulate(first.astype(np.int64), second.astype(np.int64), shape=shape))


def _rand_index(agreement: _Agreement) -> float:
    together = _pairs(agreement.table)
    in_class = _pairs(agreement.class_sizes)
    in_cluster = _pairs(agreement.table.sum(axis=1))
    all_pairs = _pairs(np.array([agreement.n_inliers]))
    expected = in_class * in_cluster / all_pairs if all_pairs else 0.0
    largest = (in_class + in_cluster) / 2
    # Equal only if both partitions are one block, or both are all singletons: then they agree.
    return 1.0 if largest == expected else float((together - expected) / (largest - expected))


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information of classes and clusters, divided by the mean of their entropies.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are ignored.
    y_pred : array-like of shape (n,)
        Clusters; each row with the number -1 counts as a cluster of one row.

    Returns
    -------
    score : float
        Between 0 and 1.

    Examples
    --------
    >>> from subspaces.metrics import normalized_mutual_info
    >>> normalized_mutual_info(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    """
    agreement = _agreement(y_true, y_pred)
    n = agreement.n_inliers
    singletons = np.ones(int(agreement.unassigned.sum()), dtype=np.int64)
    class_entropy = _entropy(agreement.class_sizes / n)
    cluster_entropy = _entropy(np.concatenate([agreement.table.sum(axis=1), singletons]) / n)
    # A singleton has one row, so its term in the joint entropy equals that of its cluster.
    joint_entropy = _entropy(np.concatenate([agreement.table.ravel(), singletons]) / n)
    mean_entropy = (class_entropy + cluster_entropy) / 2
    if mean_entropy == 0:
        return 1.0
    information = class_entropy + cluster_entropy - joint_entropy
    return float(np.clip(information / mean_entropy, 0.0, 1.0))


def match_labels(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[Any]:
    """Rename clusters to the classes that they match, to compare the two in tables and plots.

    The matching is that of `clustering_accuracy`: one to one, with as many correct inliers as possible. If there are
    more clusters than classes, the other clusters get new names that no class has.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Classes; rows with the number -1 are not used for the matching.
    y_pred : array-like of shape (n,)
        Clusters; rows with the number -1 keep it.

    Returns
    -------
    labels : ndarray of shape (n,)
        `y_pred` in the names of `y_true`: whole numbers (also for booleans), floats or strings; an object array if the
        number -1 occurs besides strings.

    Examples
    --------
    >>> from subspaces.metrics import match_labels
    >>> match_labels([7, 7, 4, 4, -1], [0, 0, 1, 2, 0])
    array([7, 7, 4, 8, 7])
    >>> match_labels(["cat", "cat", "dog"], [0, 0, 1]).tolist()
    ['cat', 'cat', 'dog']
    """
    true_codes, classes, pred_codes, clusters = _encoded_pair(y_true, y_pred)
    table = _tabulate(true_codes, pred_codes, shape=(len(clusters), len(classes))).table
    matched = dict(zip(*_best_matching(table), strict=True))
    fresh = _fresh_labels(classes)
    names = [classes[matched[k]] if k in matched else next(fresh) for k in range(len(clusters))]
    if not isinstance(classes[0], str):
        # The code -1, no cluster, indexes the last entry.
        return np.array([*names, -1])[pred_codes]
    if (pred_codes >= 0).all():
        return np.array(names)[pred_codes]
    return np.array([*names, -1], dtype=object)[pred_codes]


def _fresh_labels(classes: list[Any]) -> Iterator[Any]:
    """Labels other than -1 and the `classes`, of the same type as these."""
    if isinstance(classes[0], str):
        return (name for name in map("cluster {}".format, count()) if name not in classes)
    return count(max(0, int(np.floor(max(classes))) + 1))


def _best_matching(table: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Clusters and their classes, two arrays (min(n_clusters, n_classes),)."""
    from scipy.optimize import linear_sum_assignment

    clusters, classes = linear_sum_assignment(table, maximize=True)
    return clusters, classes


def _pairs(sizes: NDArray[np.int64]) -> float:
    """Number of pairs of rows within blocks of the given sizes."""
    # Floats, because squares of counts can overflow 64-bit integers.
    blocks = sizes.astype(np.float64)
    return float((blocks * (blocks - 1)).sum() / 2)


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def _agreement(y_true: ArrayLike, y_pred: ArrayLike) -> _Agreement:
    true_codes, classes, pred_codes, clusters = _encoded_pair(y_true, y_pred)
    return _tabulate(true_codes, pred_codes, shape=(len(clusters), len(classes)))


def _tabulate(true_codes: NDArray[np.int64], pred_codes: NDArray[np.int64], *, shape: tuple[int, int]) -> _Agreement:
    n_clusters, n_classes = shape
    assigned = (true_codes >= 0) & (pred_codes >= 0)
    cells = pred_codes[assigned] * n_classes + true_codes[assigned]
    left_over = true_codes[(true_codes >= 0) & (pred_codes < 0)]
    return _Agreement(
        table=np.bincount(cells, minlength=n_clusters * n_classes).reshape(shape),
        unassigned=np.bincount(left_over, minlength=n_classes),
    )


def _encoded_pair(
    y_true: ArrayLike, y_pred: ArrayLike
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.int64], list[Any]]:
    """Class codes (n,), classes, cluster codes (n,), clusters; the label -1 has the code -1."""
    true_labels = _label_array(y_true, name="y_true")
    pred_labels = _label_array(y_pred, name="y_pred")
    if len(true_labels) != len(pred_labels):
        raise InputError(
            f"y_true has {len(true_labels)} labels and y_pred has {len(pred_labels)}: "
            "pass one true and one predicted label for every row."
        )
    return *_true_codes(true_labels), *_encode(pred_labels)


def encoded_classes(y_true: ArrayLike) -> tuple[NDArray[np.int64], list[Any]]:
    """Class codes (n,), -1 for outliers, and the classes in ascending order, at least one."""
    return _true_codes(_label_array(y_true, name="y_true"))


def _true_codes(labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    codes, classes = _encode(labels)
    if not classes:
        raise InputError(
            f"all {len(labels)} labels of y_true are -1, which marks outliers, and no row is left to score: "
            "give classes another number, or pass rows that are not outliers."
        )
    return codes, classes


def _encode(labels: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    named = labels != -1
    classes, codes = np.unique(labels[named], return_inverse=True)
    all_codes = np.full(len(labels), -1, dtype=np.int64)
    all_codes[named] = codes
    return all_codes, classes.tolist()


def _label_array(labels: ArrayLike, *, name: str) -> NDArray[Any]:
    """The labels as one array of numbers, of strings, or of strings and the number -1."""
    try:
        array = np.asarray(labels)
        # NumPy converts [-1, "cat"] to two strings, and -1 would become a class.
        if array.dtype.kind in "UT" and not isinstance(labels, np.ndarray):
            array = np.asarray(labels, dtype=object)
    except ValueError as error:
        raise InputError(f"{name} is a ragged list: pass one label for every row.") from error
    if array.ndim != 1:
        raise InputError(
            f"{name} has shape {array.shape}, but labels have one dimension: pass {name}.ravel() or a list."
        )
    if not array.size:
        raise InputError(f"{name} is empty: pass at least one label.")
    if array.dtype.kind == "O":
        array = _from_objects(array, name=name)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError(_missing_label(name, int((~np.isfinite(array)).argmax())))
    if array.dtype.kind not in "biufUTO":
        raise UserTypeError(f"{name} has dtype {array.dtype}: pass labels that are numbers, strings or booleans.")
    return array


def _from_objects(array: NDArray[np.object_], *, name: str) -> NDArray[Any]:
    values = array.tolist()
    for row, value in enumerate(values):
        if _is_missing(value):
            raise InputError(_missing_label(name, row))
    is_string = [isinstance(value, str) for value in values]
    if not any(is_string):
        numbers = np.array(values)
        if numbers.ndim != 1 or numbers.dtype.kind not in "biuf":
            raise UserTypeError(f"{name} contains {values[0]!r}: pass labels that are numbers, strings or booleans.")
        return numbers
    for value, string in zip(values, is_string, strict=True):
        if not string and not (isinstance(value, int | float | np.number) and value == -1):
            raise UserTypeError(
                f"{name} mixes strings with {value!r}: make all labels strings, or all of them numbers."
            )
    return array


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:
        # pandas.NA has no truth value.
        return True


def _missing_label(name: str, row: int) -> str:
    return f"{name} has a missing label in row {row}: drop such rows, or use -1 for rows that have no label."
