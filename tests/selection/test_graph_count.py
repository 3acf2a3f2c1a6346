"""The number of clusters by their graph: what it finds, the rule beside a slow one, what must not change it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from subspaces.rows.preparation import RowOptions, prepare
from subspaces.selection import graph_count
from subspaces.selection.graph_count import decide_by_graph
from subspaces.selection.record import Decision
from subspaces.selection.search import FlatSetting, candidate_settings
from subspaces.selection.thresholds import COUNT_TIE

SETTINGS = [FlatSetting(2, 6, False, True), FlatSetting(2, 8, True, False)]


def flats(n=4):
    """What flats said about 1, ..., n clusters."""
    evidence = tuple({"n_clusters": k, "nats_per_row": 10.0 - k} for k in range(1, n + 1))
    return Decision("n_clusters", 0, "nats_per_row", "", evidence, larger_is_better=False)


def arcs(n_clusters=3, n=60, seed=0):
    """Separate arcs of circles in planes that share no direction: clusters, but no flats.

    Unit rows tell them apart as well.
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((n_clusters * n, 2 * n_clusters))
    for k in range(n_clusters):
        angles = rng.uniform(0, np.pi, n)
        X[k * n : (k + 1) * n, 2 * k : 2 * k + 2] = np.c_[np.cos(angles), np.sin(angles)]
    return X + 0.01 * rng.normal(size=X.shape), np.repeat(np.arange(n_clusters), n)


def decide(X, max_clusters=5, settings=SETTINGS, seed=0, evidence=None):
    rows = prepare(X, RowOptions(center=False, max_columns=None))
    return decide_by_graph(rows, max_clusters, settings, np.random.RandomState(seed), flats=evidence or flats())


class TestDecision:
    @pytest.mark.parametrize("n_clusters", [2, 3, 4])
    def test_separate_clusters(self, n_clusters):
        X, _ = arcs(n_clusters)
        found = decide(X, 6, [SETTINGS[0], replace(SETTINGS[0], neighborhood=8)])
        assert found.chosen["n_clusters"] == n_clusters
        # The largest modularity of this number of clusters; it is the same in every setting.
        assert found.chosen["relative_modularity"] == pytest.approx(1, abs=0.02)
        assert found.chosen["agreement"] == pytest.approx(1, abs=0.02)
        assert found.name == "n_clusters"
        assert found.score == "relative_modularity"

    def test_candidates(self):
        X, _ = arcs(3)
        found = decide(X, 6, evidence=flats(4))
        assert [each["n_clusters"] for each in found.candidates] == [2, 3, 4, 5, 6]
        nats = [each["nats_per_row"] for each in found.candidates]
        # One cluster is not a candidate here; flats have no value for more than four.
        np.testing.assert_equal(nats, [8.0, 7.0, 6.0, np.nan, np.nan])
        for each in found.candidates:
            assert -1 <= each["relative_modularity"] <= 1 + 1e-9
            assert -1 <= each["agreement"] <= 1

    def test_the_largest_number_near_the_top_equals_the_slow_rule(self, monkeypatch):
        for seed in range(20):
            scores = dict(zip(range(2, 7), np.random.default_rng(seed).uniform(0.9, 0.93, 5), strict=True))
            monkeypatch.setattr(
                graph_count,
                "_evidence",
                lambda count, found, scores=scores: {"n_clusters": count, "relative_modularity": scores[count]},
            )
            found = decide(arcs(2, 20)[0], 6, SETTINGS[:1]).chosen["n_clusters"]
            top = max(scores.values())
            assert found == max(count for count, score in scores.items() if score >= top - COUNT_TIE)

    def test_evidence_by_hand(self):
        labels = [np.array(each) for each in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1])]
        found = list(zip([0.30, 0.45, 0.40], labels, strict=True))
        evidence = graph_count._evidence(2, found)
        assert evidence["relative_modularity"] == pytest.approx(0.9)
        pairs = [adjusted_rand_score(labels[i], labels[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
        assert evidence["agreement"] == pytest.approx(np.mean(pairs))
        assert graph_count._evidence(4, found)["relative_modularity"] == pytest.approx(0.6)
        # One setting agrees with itself.
        assert graph_count._evidence(2, found[:1])["agreement"] == 1

    def test_only_the_best_settings_are_compared(self):
        agreed, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
        found = [(0.1, other)] + [(0.4, agreed)] * graph_count.N_COMPARED
        assert graph_count._evidence(2, found)["agreement"] == 1

    def test_scikit_learn_digits(self):
        X = load_digits(n_class=3).data[:250]
        X = X - X.mean(axis=0)
        settings = candidate_settings(*X.shape, 5, affine=True, unit=False)[:3]
        assert decide(X, 5, settings).chosen["n_clusters"] in (3, 4, 5)


class TestInvariance:
    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_the_count_does_not_depend_on(self, change):
        X, _ = arcs(3)
        rng = np.random.default_rng(0)
        moved = {
            "rotation": X @ np.linalg.qr(rng.normal(size=(6, 6)))[0],
            "scale": 1e4 * X,
            "order": X[rng.permutation(len(X))],
        }[change]
        plain, other = decide(X), decide(moved)
        assert plain.chosen["n_clusters"] == other.chosen["n_clusters"] == 3
        # Landmarks are drawn anew, so that figures are not the same to the last digit.
        assert other.chosen["relative_modularity"] == pytest.approx(plain.chosen["relative_modularity"], abs=0.02)

    def test_same_seed_same_decision(self):
        X, _ = arcs(3)
        assert decide(X, seed=3) == decide(X, seed=3)
        assert decide(X, seed=3) != decide(X, seed=4)

    def test_float32_rows_decide_alike(self):
        assert decide(arcs(3)[0].astype(np.float32)).chosen["n_clusters"] == 3

    @pytest.mark.parametrize("n", [4, 6, 9])
    def test_very_few_rows(self, n):
        X = np.random.default_rng(0).normal(size=(n, 5))
        found = decide(X, 10)
        assert [each["n_clusters"] for each in found.candidates] == list(range(2, n + 1 if n < 10 else 11))
        assert np.isfinite([each["relative_modularity"] for each in found.candidates]).all()

    def test_copies_of_few_rows(self):
        X = np.repeat(np.random.default_rng(0).normal(size=(3, 5)), 6, axis=0)
        assert 2 <= decide(X, 6).chosen["n_clusters"] <= 6
