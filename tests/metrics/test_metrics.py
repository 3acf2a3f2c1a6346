"""Scores against brute force, scikit-learn and the laws they must obey."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from subspaces import metrics

SCORES = [metrics.clustering_accuracy, metrics.purity, metrics.adjusted_rand, metrics.normalized_mutual_info]
labellings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)
few = settings(max_examples=40, deadline=None)


def brute_force_accuracy(y_true, y_pred):
    """Try every way to name clusters, spare names included."""
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred))
    names = classes + [None] * len(clusters)
    best = 0
    for naming in permutations(names, len(clusters)):
        renamed = dict(zip(clusters, naming, strict=True))
        best = max(best, sum(renamed[p] == t for t, p in zip(y_true, y_pred, strict=True)))
    return best / len(y_true)


@few
@given(labellings)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    y_true, y_pred = zip(*pairs, strict=True)
    assert metrics.clustering_accuracy(y_true, y_pred) == pytest.approx(brute_force_accuracy(y_true, y_pred))


@few
@given(labellings)
def test_rand_and_information_agree_with_scikit_learn(pairs):
    y_true, y_pred = map(np.array, zip(*pairs, strict=True))
    assert metrics.adjusted_rand(y_true, y_pred) == pytest.approx(adjusted_rand_score(y_true, y_pred))
    expected = normalized_mutual_info_score(y_true, y_pred)
    assert metrics.normalized_mutual_info(y_true, y_pred) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@few
@given(labellings, st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_rows_without_a_cluster_are_singletons_for_rand_and_information(pairs, classes_of_rejected):
    y_true = np.array([t for t, _ in pairs] + classes_of_rejected)
    n_rejected = len(classes_of_rejected)
    assigned = [p for _, p in pairs]
    y_pred = np.array(assigned + [-1] * n_rejected)
    alone = np.array(assigned + list(range(100, 100 + n_rejected)))
    assert metrics.adjusted_rand(y_true, y_pred) == pytest.approx(adjusted_rand_score(y_true, alone))
    expected = normalized_mutual_info_score(y_true, alone)
    assert metrics.normalized_mutual_info(y_true, y_pred) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", SCORES)
@few
@given(pairs=labellings, names=st.permutations(range(10, 14)))
def test_scores_do_not_depend_on_names(score, pairs, names):
    y_true, y_pred = zip(*pairs, strict=True)
    letters = ["abcd"[t] for t in y_true]
    assert score(y_true, y_pred) == pytest.approx(score(letters, [names[p] for p in y_pred]))


@pytest.mark.parametrize("score", SCORES)
@few
@given(pairs=labellings, outlier_predictions=st.lists(st.integers(-1, 5), max_size=8))
def test_outliers_never_change_a_score(score, pairs, outlier_predictions):
    y_true, y_pred = map(list, zip(*pairs, strict=True))
    with_outliers = score(y_true + [-1] * len(outlier_predictions), y_pred + outlier_predictions)
    assert score(y_true, y_pred) == pytest.approx(with_outliers)


@pytest.mark.parametrize("score", [metrics.clustering_accuracy, metrics.purity])
@few
@given(pairs=labellings, row=st.integers(0, 1000))
def test_removing_a_row_from_its_cluster_never_helps(score, pairs, row):
    y_true, y_pred = map(list, zip(*pairs, strict=True))
    before = score(y_true, y_pred)
    y_pred[row % len(y_pred)] = -1
    assert score(y_true, y_pred) <= before


@pytest.mark.parametrize("score", SCORES)
def test_equal_partitions_score_one(score):
    assert score([0, 0, 1, 1, 2], [2, 2, 0, 0, 1]) == pytest.approx(1.0)
    assert score([3, 3], [0, 0]) == 1.0
    assert score([3], [0]) == 1.0


def test_no_cluster_scores_zero():
    y_true, y_pred = [0, 0, 1, 1], [-1, -1, -1, -1]
    assert metrics.clustering_accuracy(y_true, y_pred) == 0.0
    assert metrics.purity(y_true, y_pred) == 0.0
    assert metrics.adjusted_rand(y_true, y_pred) == 0.0


def test_purity_by_hand():
    assert metrics.purity([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, -1]) == pytest.approx(5 / 6)


def test_adjusted_rand_of_many_rows_does_not_overflow():
    y_true = np.repeat([0, 1], 200_000)
    assert metrics.adjusted_rand(y_true, 1 - y_true) == pytest.approx(1.0)


@few
@given(labellings)
def test_matched_labels_reach_the_accuracy_and_keep_the_partition(pairs):
    y_true, y_pred = map(np.array, zip(*pairs, strict=True))
    matched = metrics.match_labels(y_true, y_pred)
    assert np.mean(matched == y_true) == pytest.approx(metrics.clustering_accuracy(y_true, y_pred))
    assert len(set(zip(y_pred.tolist(), matched.tolist(), strict=True))) == len(set(y_pred.tolist()))
    assert len(set(matched.tolist())) == len(set(y_pred.tolist()))


@pytest.mark.parametrize(
    ("y_true", "y_pred", "expected"),
    [
        ([7, 7, 4, -1], [0, 0, -1, 0], [7, 7, -1, 7]),
        ([-3, -3, -2, -2], [0, 0, 1, 2], [-3, -3, -2, 0]),
        ([5, 5, -1, -1], [1, 1, 2, 3], [5, 5, 6, 7]),
        (["b", "b", "a", "a"], [1, 1, 0, -1], ["b", "b", "a", -1]),
        (["cluster 0", "cluster 0", "x"], [1, 1, 2], ["cluster 0", "cluster 0", "x"]),
        (["cluster 0", "cluster 0", "cluster 0"], [1, 1, 2], ["cluster 0", "cluster 0", "cluster 1"]),
        ([True, False, False], ["p", "q", "r"], [1, 0, 2]),
        ([0.5, 0.5, 2.5], [0, 0, 1], [0.5, 0.5, 2.5]),
    ],
)
def test_matched_names(y_true, y_pred, expected):
    matched = metrics.match_labels(y_true, y_pred)
    assert isinstance(matched, np.ndarray)
    assert matched.tolist() == expected


@pytest.mark.parametrize(
    ("y_true", "expected"),
    [
        ([-1, 1, 1, 2], 1.0),
        ((-1, 1, 1, 1), 2 / 3),
        ([-1, "a", "a", "b"], 1.0),
        (["a", "a", "a", "b"], 3 / 4),
        (np.array(["c", "a", "a", "b"]), 1.0),
        (np.array(["c", "a", "a", "b"], dtype=np.dtypes.StringDType()), 1.0),
        (np.array([255, 1, 1, 2], dtype=np.uint8), 1.0),
        (np.array([1.0, 1.0, 1.0, -1.0], dtype=np.float32), 2 / 3),
        (pd.Series([-1, 1, 1, 2], index=[4, 5, 6, 7]), 1.0),
        (pd.Series([3, 1, 1, 1], dtype="Int64"), 3 / 4),
        (pd.Series(["c", "a", "a", "b"]), 1.0),
        (pd.Series(["c", "a", "a", "b"], dtype="category"), 1.0),
        ([False, True, True, False], 3 / 4),
        (np.array([False, True, True, True]), 3 / 4),
    ],
)
def test_kinds_of_labels(y_true, expected):
    y_pred = [0, 1, 1, 2]
    assert metrics.clustering_accuracy(y_true, y_pred) == pytest.approx(expected)
    assert metrics.clustering_accuracy(y_true, pd.Series(y_pred).map(str)) == pytest.approx(expected)


def test_outliers_among_strings():
    assert metrics.clustering_accuracy(["a", "a", -1, "b"], [0, 0, 0, 1]) == 1.0


@pytest.mark.parametrize("function", [*SCORES, metrics.match_labels])
@pytest.mark.parametrize(
    ("y_true", "y_pred", "error", "message"),
    [
        ([0, 1], [0], ValueError, "2 labels and y_pred has 1"),
        ([], [], ValueError, "y_true is empty"),
        ([[0], [1]], [0, 1], ValueError, r"y_true has shape \(2, 1\)"),
        (3, [0, 1], ValueError, r"y_true has shape \(\)"),
        ([0, 1], [[0, 1], [1]], ValueError, "y_pred is a ragged list"),
        ([0.0, np.nan], [0, 1], ValueError, "y_true has a missing label in row 1"),
        ([0, 1], [None, 1], ValueError, "y_pred has a missing label in row 0"),
        (["a", None], [0, 1], ValueError, "y_true has a missing label in row 1"),
        (pd.Series([1, None], dtype="Int64"), [0, 1], ValueError, "missing label in row 1"),
        ([-1, -1], [0, 1], ValueError, "all 2 labels of y_true are -1"),
        (["a", 2], [0, 1], TypeError, "mixes strings with 2"),
        ([1j, 2j], [0, 1], TypeError, "complex"),
        ([b"a", b"b"], [0, 1], TypeError, "dtype"),
    ],
)
def test_bad_labels(function, y_true, y_pred, error, message):
    with pytest.raises(error, match=message):
        function(y_true, y_pred)
