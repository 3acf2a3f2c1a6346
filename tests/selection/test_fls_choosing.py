"""Choices of FLS without labels: number of clusters, outliers, confidence, votes, and their record in `choice_`."""

import json
import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from subspaces import FLS, load
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.selection import consensus, search
from subspaces.selection.confidence import half_opinions
from subspaces.selection.joint import join_sets
from subspaces.selection.limits import UNSURE_DRAWS
from subspaces.selection.record import Choice
from subspaces.selection.thresholds import SURE_AGREEMENT
from subspaces.selection.voting import named_opinion, named_scores, opinion

# Given, so that only what a test is about is chosen.
PLANES = {"subspace_dim": 2, "neighborhood": 10, "affine": False, "assign": "balanced"}


@pytest.fixture(scope="module")
def planes():
    return make_subspaces((2, 2), 6, points_per_subspace=50, outliers=0.1, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def fitted(planes):
    return FLS(2, random_state=0, **PLANES).fit(planes[0])


@pytest.fixture(scope="module")
def counted():
    """Subspaces of several dimensions, and a model that chooses everything."""
    X, y = make_subspaces((4, 5, 6), 10, points_per_subspace=70, random_state=0)
    return X, y, FLS("auto", max_clusters=4, affine=False, random_state=0).fit(X)


@pytest.fixture(scope="module")
def bent():
    """Two curves in ten columns, and a model that chooses everything but their number."""
    rng = np.random.default_rng(0)
    X, y = make_moons(400, noise=0.05, random_state=0)
    X = np.sin(X @ rng.normal(size=(2, 10)) + rng.uniform(0, 6, 10))
    return X, y, FLS(2, random_state=0).fit(X)


def quiet(model, X):
    """Fitted, even if other landmarks give other labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def changed(X, change, scale=1e3):
    """Rows that are rotated, scaled or in another order, and their order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X)) if change == "order" else np.arange(len(X))
    moved = {"rotation": X @ np.linalg.qr(rng.normal(size=(6, 6)))[0], "scale": scale * X, "order": X[order]}[change]
    return moved, order


def noise(n=100, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


class TestNewRows:
    @pytest.mark.parametrize(
        ("options", "dtype"),
        [
            ({"assign": "auto"}, np.float32),
            ({"assign": "balanced"}, np.float64),
            ({"assign": "density"}, np.float64),
            ({"n_draws": 3}, np.float32),
            ({"detect_outliers": True}, np.float32),
            ({"detect_outliers": 0.1}, np.float64),
            ({"detect_outliers": 0.1, "n_draws": 3, "n_landmarks": 50, "assign": "density"}, np.float64),
            ({"detect_outliers": True, "n_nearest": None}, np.float32),
            ({"detect_outliers": True, "normalize": False}, np.float64),
            ({"n_clusters": "auto", "max_clusters": 3}, np.float64),
        ],
        ids=str,
    )
    def test_rows_of_fit_get_their_labels_and_scores(self, planes, options, dtype):
        X = planes[0].astype(dtype)
        model = FLS(**{"n_clusters": 2, "random_state": 0} | PLANES | options).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.outlier_scores(X), model.outlier_scores_)
        assert model.labels_.dtype == np.int32
        assert model.outlier_scores_.dtype == dtype
        assert clustering_accuracy(planes[1], model.labels_) > 0.94
        # One row at a time, too.
        np.testing.assert_array_equal([model.predict(row[None])[0] for row in X[:5]], model.labels_[:5])

    @pytest.mark.parametrize("share", [True, 0.1])
    def test_new_outliers_are_labelled(self, planes, share):
        X, y = planes
        model = FLS(2, detect_outliers=share, random_state=0, **PLANES).fit(X)
        near = X[y == 0][:5] + 1e-3
        far = 3 * np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        assert (model.predict(near) == np.bincount(model.labels_[y == 0] + 1).argmax() - 1).all()
        assert (model.predict(far) == -1).all()
        assert model.outlier_scores(far).min() > np.quantile(model.outlier_scores_, 0.9)

    def test_a_boolean_of_numpy_is_a_boolean(self, planes):
        for plain in (True, False):
            first, second = (
                FLS(2, detect_outliers=given, random_state=0, **PLANES).fit(planes[0]).labels_
                for given in (plain, np.bool_(plain))
            )
            np.testing.assert_array_equal(first, second)


class TestOutliers:
    def test_none_unless_asked_for(self, fitted):
        assert fitted.labels_.min() == 0
        assert (fitted.outlier_scores_ > 1.5).any()

    def test_they_are_found(self, planes):
        X, y = planes
        labels = FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(X).labels_
        assert ((labels < 0) == (y < 0)).mean() > 0.98
        assert (labels[y < 0] < 0).mean() > 0.8

    def test_other_rows_keep_their_labels(self, planes, fitted):
        labels = FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(planes[0]).labels_
        np.testing.assert_array_equal(labels[labels >= 0], fitted.labels_[labels >= 0])

    @pytest.mark.parametrize("share", [0.05, 0.5])
    def test_a_given_share_of_rows(self, planes, share):
        X, _ = planes
        model = FLS(2, detect_outliers=share, random_state=0, **PLANES).fit(X)
        assert (model.labels_ < 0).mean() == pytest.approx(share, abs=1 / len(X))
        # The rows with the largest scores.
        assert model.outlier_scores_[model.labels_ < 0].min() > model.outlier_scores_[model.labels_ >= 0].max()

    def test_parameters_set_after_fit_do_not_change_predictions(self, planes):
        X, _ = planes
        for before, after in ((False, 0.1), (True, False), (0.1, True)):
            model = FLS(2, detect_outliers=before, random_state=0, **PLANES).fit(X)
            np.testing.assert_array_equal(model.set_params(detect_outliers=after).predict(X), model.labels_)

    def test_the_label_of_a_row_does_not_depend_on_other_rows(self):
        X = make_subspaces((2, 2), 6, outliers=0.1, random_state=0)[0][::2][:101]
        model = quiet(FLS(2, detect_outliers=0.1, random_state=0), X)
        assert (model.labels_ < 0).sum() == 10
        np.testing.assert_array_equal([model.predict(row[None])[0] for row in X], model.labels_)

    def test_clean_rows_have_none(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0, random_state=0)
        assert (FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(X).labels_ < 0).mean() < 0.02

    def test_outliers_do_not_count_as_a_cluster(self):
        X = np.r_[np.ones((30, 4)), [[9.0, -3, 2, 5]]]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            labels = FLS(3, detect_outliers=0.05, center=False, random_state=0).fit(X).labels_
        found = len(set(labels) - {-1})
        assert found < 3
        assert any(f"Only {found} of n_clusters=3" in str(each.message) for each in said)

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_scores_do_not_depend_on(self, planes, fitted, change):
        moved, order = changed(planes[0], change)
        other = FLS(2, random_state=0, **PLANES).fit(moved)
        same = reference.accuracy_by_permutation(fitted.labels_[order], other.labels_)
        # A row that changes its cluster moves the scores of others a little.
        assert same > 0.98
        rtol = 1e-6 if same == 1 else 0.05
        ratios = other.outlier_scores_ / fitted.outlier_scores_[order]
        assert np.quantile(np.abs(ratios - 1), 0.95) < rtol


class TestNumberOfClusters:
    @pytest.mark.parametrize(
        ("dims", "p", "options"),
        [
            ((2, 2), 6, {"points_per_subspace": 50}),
            ((2, 2, 2), 6, {"points_per_subspace": 50, "affine": True}),
            ((2, 3), 8, {"points_per_subspace": [120, 40]}),
            ((3,), 8, {"points_per_subspace": 50}),
        ],
        ids=["planes", "affine", "unequal", "one"],
    )
    def test_known_models(self, dims, p, options):
        X, y = make_subspaces(dims, p, random_state=0, **options)
        # Linear flats would need a dimension more for affine ones.
        affine = options.get("affine", False)
        model = FLS("auto", max_clusters=4, affine=affine, neighborhood=10, random_state=0).fit(X)
        assert model.n_clusters_ == len(dims)
        assert clustering_accuracy(y, model.labels_) > 0.97
        assert sorted(model.cluster_dims_) == sorted(dims)
        assert model.choice_["n_clusters"].chosen["n_clusters"] == len(dims)

    def test_several_dimensions(self, counted):
        _, y, model = counted
        assert model.n_clusters_ == 3
        assert clustering_accuracy(y, model.labels_) > 0.97

    @pytest.mark.parametrize("p", [2, 5])
    def test_noise_is_one_cluster(self, p):
        model = FLS("auto", random_state=0).fit(noise(150, p))
        assert model.n_clusters_ == 1
        assert not model.labels_.any()
        # All landmarks agree on a single cluster.
        assert model.agreement_ == 1
        np.testing.assert_array_equal(model.confidence_, 1)

    def test_clusters_that_are_not_flat_are_counted_by_their_graph(self):
        X = load_digits().data[:600]
        model = quiet(FLS("auto", max_clusters=6, random_state=0, **PLANES | {"subspace_dim": "auto"}), X)
        decision = model.choice_["n_clusters"]
        assert "not flat" in decision.reason
        assert [each["n_clusters"] for each in decision.candidates] == [2, 3, 4, 5, 6]
        for each in decision.candidates:
            assert 0 < each["relative_modularity"] <= 1
            assert -1 <= each["agreement"] <= 1
        assert model.n_clusters_ == decision.chosen["n_clusters"]
        assert set(model.labels_) == set(range(model.n_clusters_))

    def test_at_most_max_clusters(self, planes):
        X, _ = planes
        assert FLS("auto", max_clusters=1, random_state=0, **PLANES).fit(X).n_clusters_ == 1
        X, _ = make_subspaces((2, 2, 2), 8, points_per_subspace=60, random_state=0)
        assert quiet(FLS("auto", max_clusters=2, random_state=0, **PLANES), X).n_clusters_ == 2

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_it_does_not_depend_on(self, planes, change):
        moved, _ = changed(planes[0], change, scale=1e-3)
        assert FLS("auto", max_clusters=4, random_state=0, **PLANES).fit(moved).n_clusters_ == 2

    @pytest.mark.parametrize(
        "X", [np.zeros((6, 3)), np.eye(2), np.ones((1, 3)), np.repeat(np.eye(3), 4, axis=0)], ids=lambda X: str(X.shape)
    )
    def test_odd_rows(self, X):
        model = quiet(FLS("auto", random_state=0), X)
        assert 1 <= model.n_clusters_ <= len(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


class TestDimensions:
    def test_they_are_the_true_ones(self, counted):
        _, y, model = counted
        for k, dim in enumerate((4, 5, 6)):
            cluster = np.bincount(model.labels_[y == k]).argmax()
            assert model.cluster_dims_[cluster] == dim
        assert model.cluster_bases_.bases.shape == (3, 10, 6)

    @pytest.mark.parametrize("dim", [1, 3])
    def test_they_are_estimated_whatever_the_landmark_flats(self, planes, dim):
        model = quiet(FLS(2, random_state=0, **PLANES | {"subspace_dim": dim}), planes[0])
        assert model.subspace_dim_ == dim
        np.testing.assert_array_equal(model.cluster_dims_, [2, 2])
        assert model.cluster_bases_.bases.shape == (2, 6, 2)

    def test_a_row_is_near_the_flat_of_its_cluster(self, planes, fitted):
        X, y = planes
        for k in range(2):
            own = X[(fitted.labels_ == k) & (y >= 0)]
            basis, center = fitted.cluster_bases_.bases[k], fitted.cluster_bases_.centers[k]
            offsets = own - center
            outside = offsets - offsets @ basis @ basis.T
            assert np.sqrt((outside**2).mean() / (own**2).mean()) < 0.15


class TestConfidence:
    def test_it_is_high_for_known_models(self, planes, fitted):
        _, y = planes
        # It was fitted without a warning: warnings are errors here.
        assert fitted.agreement_ > 0.8
        assert fitted.confidence_.shape == y.shape
        assert fitted.confidence_.min() >= 0
        assert fitted.confidence_.max() <= 1 + 1e-12
        assert np.median(fitted.confidence_[y >= 0]) > 0.95
        assert fitted.confidence_[y >= 0].mean() > fitted.confidence_[y < 0].mean()

    @pytest.mark.parametrize("n_draws", [1, 2, "auto"])
    def test_noise_warns(self, n_draws):
        with pytest.warns(ConvergenceWarning, match="Other landmarks give other clusters") as warned:
            model = FLS(3, n_draws=n_draws, neighborhood=16, random_state=0).fit(noise(400, 10))
        assert model.agreement_ < 0.5
        # The warning names the line that calls fit.
        assert warned[0].filename == __file__

    def test_further_sets_may_be_of_another_kind(self, monkeypatch, tmp_path):
        """Points describe blobs best; further sets are of linear flats, for which rows are scaled to unit norm."""
        monkeypatch.setattr(consensus, "SURE_AGREEMENT", 2.0)
        X, _ = make_blobs(300, n_features=8, centers=3, cluster_std=2.0, random_state=0)
        model = quiet(FLS(3, n_landmarks=80, assign="balanced", random_state=0), X)
        assert [voter.unit for voter in model._model.voters] == [True] * UNSURE_DRAWS
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        again = load(model.save(tmp_path / "model.subspaces"))
        np.testing.assert_array_equal(again.predict(X), model.labels_)

    @pytest.mark.parametrize("n_draws", [1, 3])
    def test_it_is_the_mean_share_of_agreeing_landmarks(self, planes, n_draws, monkeypatch):
        """The agreement of all rows is the mean adjusted Rand index of inliers."""
        halves, joined = [], []

        def spy_on_halves(clustering, *arguments, **options):
            halves.append((clustering, half_opinions(clustering, *arguments, **options)))
            return halves[-1][1]

        def spy_on_joined(*arguments):
            joined.append(named_opinion(*arguments))
            return joined[-1]

        monkeypatch.setattr("subspaces.selection.confidence.half_opinions", spy_on_halves)
        monkeypatch.setattr("subspaces.selection.joint.named_opinion", spy_on_joined)
        X, _ = planes
        model = FLS(2, n_draws=n_draws, random_state=0, **PLANES).fit(X)
        if n_draws == 1:
            first, opinions = halves[0][0], [each for _, found in halves for each in found]
            # One split of the landmarks.
            assert len(opinions) == 2
            inliers = first.inliers
            counted = [*opinions, opinion(first.psi, named_scores(first, first.labels, 2))]
        else:
            assert not halves
            # Two halves of the sets, and all together.
            assert len(joined) == 3
            inliers, opinions, counted = np.arange(len(X)), joined[:2], joined
        own = np.mean([[each[i, k] for i, k in enumerate(model.labels_)] for each in counted], axis=0)
        np.testing.assert_allclose(model.confidence_, own)
        # Rows without landmarks in a half do not count.
        kept = inliers[np.all([np.ptp(each[inliers], axis=1) > 0 for each in opinions], axis=0)]
        found = [each.argmax(axis=1)[kept] for each in opinions]
        pairs = [(model.labels_[kept], each) for each in found] if n_draws == 1 else [found]
        overall = np.mean([adjusted_rand_score(*pair) for pair in pairs])
        assert model.agreement_ == pytest.approx(overall, abs=1e-12 if n_draws == 1 else 0.1)

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_it_does_not_depend_on(self, planes, fitted, change):
        moved, _ = changed(planes[0], change)
        other = FLS(2, random_state=0, **PLANES).fit(moved)
        assert other.agreement_ == pytest.approx(fitted.agreement_, abs=1e-9 if change == "scale" else 0.1)
        assert other.confidence_.mean() == pytest.approx(fitted.confidence_.mean(), abs=0.03)

    def test_float32_stays_float32(self, planes):
        assert FLS(2, random_state=0, **PLANES).fit(planes[0].astype("f4")).confidence_.dtype == np.float32

    def test_dense_features_have_none(self, planes):
        X, _ = planes
        model = FLS(2, random_state=0, **PLANES).fit(X)
        model.set_params(n_nearest=None).fit(X)
        # The values of an earlier fit are gone, too.
        assert not hasattr(model, "confidence_")
        assert not hasattr(model, "agreement_")


class TestSeveralLandmarkSets:
    def test_flats_are_those_of_the_best(self, planes, fitted):
        model = FLS(2, n_draws=3, random_state=0, **PLANES).fit(planes[0])
        best = model.choice_["draw"].chosen["draw"]
        assert np.array_equal(model.flats_.bases, fitted.flats_.bases) == (best == 1)
        assert model.n_landmarks_ == len(model.flats_)
        assert model.n_nearest_ == fitted.n_nearest_

    def test_there_are_several_only_if_halves_of_the_landmarks_disagree(self, planes, fitted):
        assert fitted.agreement_ > SURE_AGREEMENT
        assert "draw" not in fitted.choice_
        X = noise(200, 10)
        for n_draws, count in (("auto", UNSURE_DRAWS), (2, 2)):
            model = quiet(FLS(2, n_draws=n_draws, n_landmarks=80, neighborhood=16, random_state=0), X)
            assert len(model.choice_["draw"].candidates) == count
        # One was asked for, or every row is a landmark.
        for options in ({"n_draws": 1, "n_landmarks": 80}, {}):
            assert "draw" not in quiet(FLS(2, neighborhood=16, random_state=0, **options), X).choice_

    def test_they_differ(self, planes):
        model = FLS(2, n_draws=3, n_landmarks=40, random_state=0, **PLANES).fit(planes[0])
        bases = [voter.features.flats_.bases for voter in model._model.voters]
        assert len(bases) > 1
        assert not any(np.array_equal(first, second) for first, second in combinations(bases, 2))

    def test_a_vote_is_the_largest_mean_share(self):
        X, _ = make_subspaces((3, 3, 3), 7, points_per_subspace=60, noise=0.15, outliers=0, random_state=0)
        model = FLS(3, n_draws=3, n_landmarks=40, random_state=1, **PLANES | {"subspace_dim": 3}).fit(X)
        votes = [voter.shares(reference.unit_rows(X - X.mean(axis=0))) for voter in model._model.voters]
        # No voter decides alone.
        assert all((vote.argmax(axis=1) != model.labels_).any() for vote in votes)
        np.testing.assert_array_equal(model.labels_, sum(votes).argmax(axis=1))
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_votes_are_more_accurate_than_one_landmark_set(self):
        X, y = make_subspaces((3, 3, 3), 7, points_per_subspace=60, noise=0.1, outliers=0, random_state=0)
        options = {"n_landmarks": 40, "subspace_dim": 3, "neighborhood": 10, "assign": "balanced", "affine": False}
        one, many = (
            np.mean(
                [
                    clustering_accuracy(y, quiet(FLS(3, n_draws=n_draws, random_state=seed, **options), X).labels_)
                    for seed in range(3)
                ]
            )
            for n_draws in (1, 5)
        )
        assert many > one

    def test_given_landmarks_are_divided(self):
        X = noise(200, 10)
        graph = {"neighborhood": 16, "assign": "balanced"}
        model = quiet(FLS(4, landmarks=X[:50], n_draws=3, random_state=0, **graph), X)
        whole, *parts = (voter.features.landmarks for voter in model._model.voters)
        assert len(whole) == 50
        assert [len(part) for part in parts] == [25, 25]
        assert not np.array_equal(*parts)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_a_vote_keeps_all_clusters(self):
        X = np.random.RandomState(31).normal(size=(40, 4))
        assert len(np.unique(FLS(2, n_draws=2, random_state=0).fit(X).labels_)) == 2

    def test_the_score_is_that_of_the_vote(self):
        X, _ = make_subspaces((3, 3, 3), 7, points_per_subspace=60, noise=0.1, outliers=0, random_state=0)
        options = PLANES | {"subspace_dim": 3, "n_landmarks": 40, "random_state": 1}
        one, three = (FLS(3, n_draws=n_draws, **options).fit(X) for n_draws in (1, 3))
        assert (one.labels_ != three.labels_).any()
        assert one.score(X) != three.score(X)

    def test_all_sets_are_in_the_record(self, planes):
        X, _ = planes
        model = FLS(2, n_draws=3, n_landmarks=40, random_state=0, **PLANES).fit(X)
        assert [each["draw"] for each in model.choice_["draw"].candidates] == [1, 2, 3]
        assert model.choice_["draw"].chosen["agreement"] == max(
            each["agreement"] for each in model.choice_["draw"].candidates
        )

    @pytest.mark.parametrize("assign", ["balanced", "density", "auto"])
    def test_a_given_rule_for_partitions_is_kept(self, assign, monkeypatch):
        seen = []

        def spy(sets, setting, rng):
            seen.append((len(sets), setting.kind))
            return join_sets(sets, setting, rng)

        monkeypatch.setattr("subspaces.selection.consensus.join_sets", spy)
        quiet(FLS(2, n_draws=2, neighborhood=16, assign=assign, random_state=0), noise(200, 10))
        assert seen == [(2, assign)]


class TestWhitening:
    @pytest.fixture(scope="class")
    @classmethod
    def shaded(cls):
        """Subspaces with two directions of larger variance in common."""
        X, y = make_subspaces((3, 3, 3), 24, points_per_subspace=100, noise=0.02, outliers=0, random_state=0)
        rng = np.random.default_rng(0)
        return X + rng.normal(size=(300, 2)) @ np.linalg.qr(rng.normal(size=(24, 2)))[0].T, y

    @pytest.mark.parametrize("power", [0, 0.5, np.float32(0.25), 1])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_given_power_is_used(self, shaded, power, dtype):
        X = shaded[0].astype(dtype)
        model = quiet(FLS(3, whiten=power, subspace_dim=3, assign="balanced", random_state=0), X)
        assert model.whiten_ == power
        assert (model._model.preparation.whitener is None) == (power == 0)
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.outlier_scores(X), model.outlier_scores_)
        assert model.transform(X).dtype == dtype

    def test_it_is_chosen_if_it_separates_clusters(self, shaded):
        X, y = shaded
        model = FLS(3, assign="balanced", random_state=0).fit(X)
        assert model.whiten_ == 0.5
        assert "whitened" in model.choice_["flats"].chosen["flats"]
        assert clustering_accuracy(y, model.labels_) > 0.98
        assert FLS(3, whiten=0, assign="balanced", random_state=0).fit(X).whiten_ == 0

    def test_it_is_not_chosen_for_subspaces(self, counted):
        assert counted[2].whiten_ == 0

    def test_flats_are_those_of_the_rows_before(self, shaded):
        """A landmark flat in the coordinates of X becomes one of the whitened rows."""
        X, _ = shaded
        model = FLS(3, whiten=0.5, affine=True, subspace_dim=2, assign="balanced", random_state=0).fit(X)
        flats, own = model.flats_, model._model.spectral.features.flats_
        points = flats.centers[:, None] + np.einsum("mpd,kd->mkp", flats.bases, noise(5, 2))
        for j in range(0, len(flats), 40):
            offsets = model._model.preparation(points[j]) - own.centers[j]
            outside = offsets - offsets @ own.bases[j] @ own.bases[j].T
            assert np.abs(outside).max() < 1e-8 * np.abs(offsets).max()

    def test_constant_and_equal_columns(self, planes):
        X = np.c_[planes[0], np.ones(len(planes[0])), planes[0][:, :2]]
        model = FLS(2, whiten=1, assign="balanced", random_state=0).fit(X)
        assert np.isfinite(model.transform(X)).all()
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("power", [-0.1, 1.5, np.nan, "half", True, None, [0.5]])
    def test_other_values_are_refused(self, planes, power):
        with pytest.raises(ValueError, match=r"whiten=.* must be a number from 0 to 1"):
            FLS(2, whiten=power).fit(planes[0])


class TestUnits:
    @pytest.fixture(scope="class")
    @classmethod
    def table(cls):
        """Blobs whose last column has another unit and says nothing."""
        X, y = make_blobs(300, n_features=4, centers=3, random_state=0)
        return np.c_[X, 1e4 * noise(300, 1)], y

    def test_columns_of_different_units_are_standardised(self, table):
        X, y = table
        model = FLS(3, random_state=0).fit(X)
        assert model.standardise_
        assert clustering_accuracy(y, model.labels_) > 0.95
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        # A given value is used.
        assert not quiet(FLS(3, standardise=False, random_state=0), X).standardise_

    def test_subspaces_are_not(self, fitted, counted):
        assert not fitted.standardise_
        assert not counted[2].standardise_

    def test_labels_are_those_of_standardised_columns(self, table):
        X, _ = table
        model = FLS(3, standardise=True, center=True, random_state=0).fit(X)
        before = FLS(3, standardise=False, center=True, random_state=0).fit((X - X.mean(axis=0)) / X.std(axis=0))
        assert clustering_accuracy(before.labels_, model.labels_) > 0.99
        # Flats are in the coordinates of X.
        assert np.abs(model.flats_.centers[:, -1]).max() > 1e3

    def test_constant_columns(self, planes):
        X = np.c_[planes[0], np.full(len(planes[0]), 7.0)]
        model = FLS(2, standardise=True, random_state=0).fit(X)
        assert np.isfinite(model.transform(X)).all()
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    @pytest.mark.parametrize("value", [None, "yes", 0.5])
    def test_other_values_are_refused(self, planes, value):
        with pytest.raises((ValueError, TypeError), match="standardise="):
            FLS(2, standardise=value).fit(planes[0])


class TestPoints:
    def test_they_are_landmarks_without_directions(self, planes):
        X, _ = planes
        model = quiet(FLS(2, subspace_dim=0, assign="balanced", random_state=0), X)
        assert (model.subspace_dim_, model.affine_, model.normalize_) == (0, True, False)
        assert model.flats_.bases.shape == (model.n_landmarks_, 6, 0)
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_a_graph_of_points_separates_moons(self):
        X, y = make_moons(400, noise=0.05, random_state=0)
        for model in (FLS(2, random_state=0), FLS(2, subspace_dim=0, n_landmarks=100, random_state=0)):
            assert clustering_accuracy(y, model.fit(X).labels_) > 0.99
            assert model.subspace_dim_ == 0

    def test_a_neighbourhood_makes_them_means(self, planes):
        model = quiet(FLS(2, subspace_dim=0, neighborhood=5, assign="balanced", random_state=0), planes[0])
        assert model.neighborhood_ == 5
        means = model.flats_.centers
        assert np.linalg.norm(planes[0][:, None] - means, axis=2).min(axis=1).mean() > 0.01

    def test_they_have_no_origin(self, planes):
        with pytest.raises(ValueError, match="subspace_dim=0 and affine=False contradict each other"):
            FLS(2, subspace_dim=0, affine=False).fit(planes[0])
        with pytest.raises(ValueError, match="subspace_dim=-1"):
            FLS(2, subspace_dim=-1).fit(planes[0])

    def test_plans(self):
        assert FLS(2, subspace_dim=0).plan(10**6, 20).subspace_dim == 0
        with pytest.raises(ValueError, match="subspace_dim=-1"):
            FLS(2, subspace_dim=-1).plan(10**6, 20)


class TestUnequalSizes:
    @pytest.mark.parametrize(("assign", "finds"), [("auto", True), ("density", True), ("balanced", False)])
    def test_a_small_and_a_large_cluster(self, assign, finds):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=[400, 40], outliers=0, random_state=0)
        labels = quiet(FLS(2, random_state=0, **PLANES | {"assign": assign}), X).labels_
        # Modularity cuts the large cluster.
        assert (clustering_accuracy(y, labels) > 0.98) is finds


class TestChoice:
    def test_it_has_a_decision_for_each_open_parameter(self, counted, bent, planes, fitted):
        X, _ = planes
        assert [each.name for each in bent[2].choice_] == ["flats", "structure", "partition"]
        # Flats that are found without a graph need none.
        assert [each.name for each in counted[2].choice_] == ["n_clusters", "structure"]
        assert [each.name for each in fitted.choice_] == ["partition"]
        model = FLS(2, affine=False, assign="balanced", random_state=0).fit(X)
        assert [each.name for each in model.choice_] == ["flats", "partition"]
        assert {each["flats"] for each in model.choice_["flats"].candidates} == {"linear flats"}
        assert [each.name for each in FLS("auto", max_clusters=2, random_state=0, **PLANES).fit(X).choice_] == [
            "n_clusters",
            "partition",
        ]

    def test_it_is_empty_if_all_is_given(self, planes):
        X, _ = planes
        for model in (FLS(1, random_state=0, **PLANES), FLS.paper(2, subspace_dim=2, random_state=0)):
            choice = model.fit(X).choice_
            assert isinstance(choice, Choice)
            assert len(choice) == 0
            assert "Nothing" in repr(choice)

    def test_prints_and_dumps(self, counted, bent):
        model = counted[2]
        printed = f"{bent[2].choice_.details()}\n{model.choice_.details()}"
        for word in ("n_clusters", "flats", "partition", "modularity", "nats_per_row"):
            assert word in printed
        assert max(map(len, printed.splitlines())) <= 100
        loaded = json.loads(json.dumps(model.choice_.to_dict(), allow_nan=False))
        assert [each["name"] for each in loaded["decisions"]] == ["n_clusters", "structure"]
        assert loaded["decisions"][0]["candidates"][loaded["decisions"][0]["winner"]]["n_clusters"] == 3

    def test_it_agrees_with_fitted_attributes(self, bent):
        model = bent[2]
        flats = model.choice_["flats"].chosen
        assert flats["subspace_dim"] == model.subspace_dim_
        assert flats["neighborhood"] == model.neighborhood_
        assert (flats["flats"] == "affine flats") == model.affine_
        assert (flats["rows"] == "scaled") == model.normalize_
        assert model.choice_["partition"].chosen["n_components"] == model.n_components_

    def test_reasons(self, planes):
        X, _ = planes
        settled = FLS(2, random_state=0, **PLANES | {"assign": "auto"}).fit(X).choice_["structure"]
        assert settled.chosen["clusters"] == "flat"
        # Five clusters in the rows of two: searches do not agree, and the graph is compared.
        flat = quiet(FLS(5, random_state=0, **PLANES | {"assign": "auto", "affine": True}), X).choice_["partition"]
        assert flat.chosen["origin"] == "flats"
        assert "shortest description" in flat.reason
        balanced = FLS(2, random_state=0, **PLANES).fit(X).choice_["partition"]
        assert balanced.chosen["origin"] != "flats"
        assert "separated" not in balanced.reason


class TestRepeats:
    ATTRIBUTES = (
        "labels_",
        "confidence_",
        "agreement_",
        "outlier_scores_",
        "cluster_dims_",
        "eigenvalues_",
        "n_clusters_",
        "choice_",
    )
    OPTIONS = {
        "n_clusters": "auto",
        "max_clusters": 3,
        "n_draws": 2,
        "detect_outliers": True,
        "n_landmarks": 60,
    } | PLANES

    def test_same_seed_same_everything(self, planes):
        X, _ = planes
        model = FLS(random_state=3, **self.OPTIONS).fit(X)
        for other in (clone(model).fit(X), pickle.loads(pickle.dumps(model))):
            for name in self.ATTRIBUTES:
                first, second = getattr(model, name), getattr(other, name)
                assert first == second if name == "choice_" else np.array_equal(first, second), name
            np.testing.assert_array_equal(other.cluster_bases_.bases, model.cluster_bases_.bases)
            new = X[:20] + 0.1
            np.testing.assert_array_equal(other.predict(new), model.predict(new))
            np.testing.assert_array_equal(other.outlier_scores(new), model.outlier_scores(new))

    def test_another_seed_draws_other_landmarks(self, planes):
        first, second = (FLS(random_state=seed, **self.OPTIONS).fit(planes[0]) for seed in (3, 4))
        assert not np.array_equal(first.flats_.bases, second.flats_.bases)
        assert clustering_accuracy(first.labels_ + 1, second.labels_ + 1) > 0.95


@pytest.fixture(scope="module")
def paper(planes):
    return FLS.paper(2, subspace_dim=2, sigma=0.3, n_landmarks=60, random_state=0).fit(planes[0])


class TestPaper:
    """The published algorithm chooses nothing, but describes its clusters."""

    def test_nothing_is_chosen(self, planes, paper, monkeypatch):
        def refuse(*arguments, **options):
            raise AssertionError("not part of the algorithm box")

        for name in (
            "consensus.half_confidence",
            "consensus.join_sets",
            "structure.structure_of",
            "choosing.search_flats",
            "choosing.decide_n_clusters",
        ):
            monkeypatch.setattr(f"subspaces.selection.{name}", refuse)
        monkeypatch.setattr(search, "try_setting", refuse)
        np.testing.assert_array_equal(clone(paper).fit(planes[0]).labels_, paper.labels_)
        np.testing.assert_array_equal(paper.predict(planes[0]), paper.labels_)

    def test_fitted_attributes(self, planes, paper):
        assert paper.labels_.min() == 0
        assert not hasattr(paper, "confidence_")
        np.testing.assert_array_equal(paper.cluster_dims_, [2, 2])
        np.testing.assert_array_equal(paper.outlier_scores(planes[0]), paper.outlier_scores_)
