"""What FLS chooses without labels, as its user sees it: number of clusters, outliers, confidence, votes, `choice_`."""

import json
import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.metrics import clustering_accuracy
from subspaces.selection import search
from subspaces.selection.confidence import half_opinions
from subspaces.selection.record import Choice
from subspaces.selection.thresholds import SURE_AGREEMENT, UNSURE_DRAWS
from subspaces.selection.voting import named_scores, opinion

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
    """Subspaces of several dimensions, and a model to which nothing was said about them."""
    X, y = make_subspaces((4, 5, 6), 10, points_per_subspace=70, random_state=0)
    return X, y, FLS("auto", max_clusters=4, affine=False, random_state=0).fit(X)


def quiet(model, X):
    """Fitted, where labels may be a coin toss."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def noise(n=100, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


class TestNewRows:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize(
        "options",
        [
            {"assign": "auto"},
            {"assign": "balanced"},
            {"assign": "density"},
            {"n_draws": 3},
            {"detect_outliers": True},
            {"detect_outliers": 0.1},
            {"detect_outliers": 0.1, "n_draws": 3, "n_landmarks": 50, "assign": "density"},
            {"detect_outliers": True, "n_nearest": None},
            {"detect_outliers": True, "normalize": False},
            {"n_clusters": "auto", "max_clusters": 3},
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

    def test_outliers_of_numpy_are_outliers(self, planes):
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

    def test_are_found(self, planes):
        X, y = planes
        labels = FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(X).labels_
        assert ((labels < 0) == (y < 0)).mean() > 0.98
        assert (labels[y < 0] < 0).mean() > 0.8

    def test_labels_of_others_stay(self, planes, fitted):
        labels = FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(planes[0]).labels_
        np.testing.assert_array_equal(labels[labels >= 0], fitted.labels_[labels >= 0])

    @pytest.mark.parametrize("share", [0.05, 0.25, 0.5])
    def test_a_share_is_that_share(self, planes, share):
        X, _ = planes
        model = FLS(2, detect_outliers=share, random_state=0, **PLANES).fit(X)
        assert (model.labels_ < 0).mean() == pytest.approx(share, abs=1 / len(X))
        # Those of the largest scores.
        assert model.outlier_scores_[model.labels_ < 0].min() > model.outlier_scores_[model.labels_ >= 0].max()

    def test_a_parameter_that_changes_after_fit_changes_nothing(self, planes):
        X, _ = planes
        for before, after in ((False, 0.1), (True, False), (0.1, True)):
            model = FLS(2, detect_outliers=before, random_state=0).fit(X)
            np.testing.assert_array_equal(model.set_params(detect_outliers=after).predict(X), model.labels_)

    def test_a_row_by_itself_is_what_it_is_among_others(self):
        X = make_subspaces((2, 2), 6, outliers=0.1, random_state=0)[0][::2][:101]
        model = FLS(2, detect_outliers=0.1, random_state=0).fit(X)
        assert (model.labels_ < 0).sum() == 10
        np.testing.assert_array_equal([model.predict(row[None])[0] for row in X], model.labels_)

    def test_clean_rows_have_none(self):
        X, _ = make_subspaces((2, 2), 6, points_per_subspace=60, outliers=0, random_state=0)
        assert (FLS(2, detect_outliers=True, random_state=0, **PLANES).fit(X).labels_ < 0).mean() < 0.02

    def test_outliers_do_not_stand_for_an_empty_cluster(self):
        X = np.r_[np.ones((30, 4)), [[9.0, -3, 2, 5]]]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            labels = FLS(3, detect_outliers=0.05, center=False, random_state=0).fit(X).labels_
        found = len(set(labels) - {-1})
        assert found < 3
        assert any(f"Only {found} of n_clusters=3" in str(each.message) for each in said)

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_what_does_not_matter(self, planes, fitted, change):
        X, _ = planes
        rng = np.random.default_rng(0)
        order, moved = np.arange(len(X)), X
        if change == "rotation":
            moved = X @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
        elif change == "scale":
            moved = 1e3 * X
        else:
            order = rng.permutation(len(X))
        other = FLS(2, random_state=0, **PLANES).fit(moved[order])
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
        # Who has one cluster is sure of it.
        assert model.agreement_ == 1
        np.testing.assert_array_equal(model.confidence_, 1)

    def test_clusters_that_are_not_flat_are_counted_by_their_graph(self):
        X = load_digits().data[:200]
        model = quiet(FLS("auto", max_clusters=6, random_state=0, **PLANES), X)
        decision = model.choice_["n_clusters"]
        assert "not flat" in decision.reason
        assert [each["n_clusters"] for each in decision.candidates] == [2, 3, 4, 5, 6]
        for each in decision.candidates:
            assert 0 < each["relative_modularity"] <= 1
            assert -1 <= each["agreement"] <= 1
        assert model.n_clusters_ == decision.chosen["n_clusters"]
        assert set(model.labels_) == set(range(model.n_clusters_))

    def test_no_more_than_asked_for(self, planes):
        X, _ = planes
        assert FLS("auto", max_clusters=1, random_state=0, **PLANES).fit(X).n_clusters_ == 1
        X, _ = make_subspaces((2, 2, 2), 8, points_per_subspace=60, random_state=0)
        assert quiet(FLS("auto", max_clusters=2, random_state=0, **PLANES), X).n_clusters_ == 2

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_what_does_not_matter(self, planes, change):
        X, _ = planes
        rng = np.random.default_rng(0)
        moved = {
            "rotation": X @ np.linalg.qr(rng.normal(size=(6, 6)))[0],
            "scale": 1e-3 * X,
            "order": X[rng.permutation(len(X))],
        }[change]
        assert FLS("auto", max_clusters=4, random_state=0, **PLANES).fit(moved).n_clusters_ == 2

    @pytest.mark.parametrize(
        "X", [np.zeros((6, 3)), np.eye(2), np.ones((1, 3)), np.repeat(np.eye(3), 4, axis=0)], ids=lambda X: str(X.shape)
    )
    def test_odd_rows(self, X):
        model = quiet(FLS("auto", random_state=0), X)
        assert 1 <= model.n_clusters_ <= len(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


class TestDimensions:
    def test_are_the_true_ones(self, counted):
        _, y, model = counted
        for k, dim in enumerate((4, 5, 6)):
            cluster = np.bincount(model.labels_[y == k]).argmax()
            assert model.cluster_dims_[cluster] == dim
        assert model.cluster_bases_.bases.shape == (3, 10, 6)

    @pytest.mark.parametrize("dim", [1, 3])
    def test_a_given_one_is_kept(self, planes, dim):
        model = quiet(FLS(2, random_state=0, **PLANES | {"subspace_dim": dim}), planes[0])
        np.testing.assert_array_equal(model.cluster_dims_, [dim, dim])
        assert model.cluster_bases_.bases.shape == (2, 6, dim)

    def test_a_row_is_near_the_flat_of_its_cluster(self, planes, fitted):
        X, y = planes
        for k in range(2):
            own = X[(fitted.labels_ == k) & (y >= 0)]
            basis, center = fitted.cluster_bases_.bases[k], fitted.cluster_bases_.centers[k]
            offsets = own - center
            beside = offsets - offsets @ basis @ basis.T
            assert np.sqrt((beside**2).mean() / (own**2).mean()) < 0.15


class TestConfidence:
    def test_known_models_are_sure(self, planes, fitted):
        _, y = planes
        # Fitted without a warning, for warnings are errors here.
        assert fitted.agreement_ > 0.8
        assert fitted.confidence_.shape == y.shape
        assert fitted.confidence_.min() >= 0
        assert fitted.confidence_.max() <= 1 + 1e-12
        assert np.median(fitted.confidence_[y >= 0]) > 0.95
        assert fitted.confidence_[y >= 0].mean() > fitted.confidence_[y < 0].mean()

    @pytest.mark.parametrize("seed", range(3))
    def test_noise_is_a_coin_toss_and_that_is_said(self, seed):
        with pytest.warns(ConvergenceWarning, match="Other landmarks give other clusters") as said:
            model = FLS(3, random_state=0).fit(noise(300, 10, seed=seed))
        assert model.agreement_ < 0.5
        # It points at the call of fit.
        assert said[0].filename == __file__

    @pytest.mark.parametrize("n_draws", [1, 3])
    def test_what_it_is(self, planes, n_draws, monkeypatch):
        """The mean share of a row's landmarks that agree with its label; over all, the mean Rand index of inliers."""
        seen = []

        def spy(*arguments, **options):
            seen.append((arguments[0], half_opinions(*arguments, **options)))
            return seen[-1][1]

        monkeypatch.setattr("subspaces.selection.confidence.half_opinions", spy)
        X, _ = planes
        model = FLS(2, n_draws=n_draws, random_state=0, **PLANES).fit(X)
        if n_draws == 1:
            draw, opinions = seen[0][0], [each for _, found in seen for each in found]
            # Two cuts where most rows are landmarks.
            assert len(opinions) == (4 if 2 * draw.psi.shape[1] > len(X) else 2)
            inliers = draw.inliers
            heard = [*opinions, opinion(draw.psi, named_scores(draw, draw.labels, 2))]
        else:
            assert not seen
            assert len(model._model.voters) == n_draws
            rows = reference.unit_rows(X)
            opinions = [voter.shares(rows) for voter in model._model.voters]
            inliers = np.arange(len(X))
            heard = opinions
        own = np.mean([[each[i, k] for i, k in enumerate(model.labels_)] for each in heard], axis=0)
        np.testing.assert_allclose(model.confidence_, own)
        # A row without landmarks in a half says nothing.
        told = inliers[np.all([np.ptp(each[inliers], axis=1) > 0 for each in opinions], axis=0)]
        overall = np.mean([adjusted_rand_score(model.labels_[told], each.argmax(axis=1)[told]) for each in opinions])
        assert model.agreement_ == pytest.approx(overall, abs=1e-12 if n_draws == 1 else 0.1)

    @pytest.mark.parametrize("change", ["rotation", "scale", "order"])
    def test_what_does_not_matter(self, planes, fitted, change):
        X, _ = planes
        rng = np.random.default_rng(0)
        moved = {
            "rotation": X @ np.linalg.qr(rng.normal(size=(6, 6)))[0],
            "scale": 1e3 * X,
            "order": X[rng.permutation(len(X))],
        }[change]
        other = FLS(2, random_state=0, **PLANES).fit(moved)
        assert other.agreement_ == pytest.approx(fitted.agreement_, abs=1e-9 if change == "scale" else 0.1)
        assert other.confidence_.mean() == pytest.approx(fitted.confidence_.mean(), abs=0.03)

    def test_float32_stays_float32(self, planes):
        assert FLS(2, random_state=0, **PLANES).fit(planes[0].astype("f4")).confidence_.dtype == np.float32

    def test_dense_features_have_none(self, planes):
        X, _ = planes
        model = FLS(2, random_state=0, **PLANES).fit(X)
        model.set_params(n_nearest=None).fit(X)
        # Nor that of an earlier fit.
        assert not hasattr(model, "confidence_")
        assert not hasattr(model, "agreement_")


class TestDraws:
    def test_what_is_reported_belongs_to_the_flats(self, planes, fitted):
        model = FLS(2, n_draws=3, random_state=0, **PLANES).fit(planes[0])
        best = model.choice_["draw"].chosen["draw"]
        flats = model._model.voters[0].features.flats_.bases
        np.testing.assert_array_equal(model.flats_.bases, flats)
        assert model.n_landmarks_ == len(flats)
        assert np.array_equal(flats, fitted.flats_.bases) == (best == 1)
        assert model.sigma_ == model._model.spectral.features.sigma_
        assert model.n_nearest_ == fitted.n_nearest_

    def test_several_only_where_halves_of_the_landmarks_do_not_agree(self, planes, fitted):
        assert fitted.agreement_ > SURE_AGREEMENT
        assert "draw" not in fitted.choice_
        for n_draws, count in (("auto", UNSURE_DRAWS), (2, 2)):
            model = quiet(FLS(2, n_draws=n_draws, n_landmarks=100, random_state=0), noise(300, 10))
            assert len(model.choice_["draw"].candidates) == count
        # One was asked for, or every row is a landmark.
        for options in ({"n_draws": 1, "n_landmarks": 100}, {}):
            assert "draw" not in quiet(FLS(2, random_state=0, **options), noise(300, 10)).choice_

    def test_draws_differ(self, planes):
        model = FLS(2, n_draws=3, n_landmarks=40, random_state=0, **PLANES).fit(planes[0])
        bases = [voter.features.flats_.bases for voter in model._model.voters]
        assert not any(np.array_equal(first, second) for first, second in combinations(bases, 2))

    def test_a_vote_is_the_largest_mean_share(self):
        X, _ = make_subspaces((3, 3, 3), 7, points_per_subspace=60, noise=0.1, outliers=0, random_state=0)
        model = FLS(3, n_draws=3, n_landmarks=40, random_state=1, **PLANES | {"subspace_dim": 3}).fit(X)
        votes = [voter.shares(reference.unit_rows(X)) for voter in model._model.voters]
        # No draw has its way everywhere.
        assert all((vote.argmax(axis=1) != model.labels_).any() for vote in votes)
        np.testing.assert_array_equal(model.labels_, sum(votes).argmax(axis=1))
        np.testing.assert_array_equal(model.predict(X), model.labels_)

    def test_it_removes_bad_draws(self):
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

    @pytest.mark.parametrize("n_draws", [1, 2, 3])
    def test_noise_is_a_coin_toss_however_often_it_is_drawn(self, n_draws):
        """Draws that voted for labels agree with these; what counts is whether they agree with each other."""
        X = np.random.RandomState(0).normal(size=(300, 10))
        with pytest.warns(ConvergenceWarning, match="Other landmarks"):
            assert FLS(2, n_draws=n_draws, random_state=0).fit(X).agreement_ < 0.5

    def test_given_landmarks_are_not_drawn_twice(self):
        X = np.random.RandomState(0).normal(size=(300, 10))
        with pytest.warns(ConvergenceWarning, match="Other landmarks"):
            model = FLS(4, landmarks=X[:50], n_draws=3, random_state=0).fit(X)
        assert model.agreement_ < 0.5

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_a_vote_loses_no_cluster(self):
        X = np.random.RandomState(31).normal(size=(40, 4))
        assert len(np.unique(FLS(2, n_draws=2, random_state=0).fit(X).labels_)) == 2

    def test_score_is_that_of_the_vote(self):
        X, _ = make_subspaces((3, 3, 3), 7, points_per_subspace=60, noise=0.1, outliers=0, random_state=0)
        options = PLANES | {"subspace_dim": 3, "n_landmarks": 40, "random_state": 1}
        one, three = (FLS(3, n_draws=n_draws, **options).fit(X) for n_draws in (1, 3))
        assert (one.labels_ != three.labels_).any()
        assert one.score(X) != three.score(X)

    def test_draws_that_disagree_with_the_best_do_not_vote(self):
        X = np.random.RandomState(0).normal(size=(300, 10))
        with pytest.warns(ConvergenceWarning):
            model = FLS(2, n_draws=3, random_state=0).fit(X)
        assert not any(each["votes"] for each in model.choice_["draw"].candidates)
        assert "alone" in model.choice_["draw"].reason
        assert model._model.voters == ()
        np.testing.assert_array_equal(model.predict(X), model.labels_)


class TestUnequalSizes:
    @pytest.mark.parametrize(("assign", "finds"), [("auto", True), ("density", True), ("balanced", False)])
    def test_a_small_cluster_beside_a_large_one(self, assign, finds):
        X, y = make_subspaces((2, 2), 6, points_per_subspace=[400, 40], outliers=0, random_state=0)
        labels = quiet(FLS(2, random_state=0, **PLANES | {"assign": assign}), X).labels_
        # Modularity would rather cut the large one.
        assert (clustering_accuracy(y, labels) > 0.98) is finds


class TestChoice:
    def test_names_what_was_left_open(self, counted, planes, fitted):
        X, _ = planes
        assert [each.name for each in counted[2].choice_] == ["n_clusters", "flats", "partition"]
        assert [each.name for each in fitted.choice_] == ["partition"]
        model = FLS(2, affine=False, assign="balanced", random_state=0).fit(X)
        assert [each.name for each in model.choice_] == ["flats", "partition"]
        assert {each["flats"] for each in model.choice_["flats"].candidates} == {"linear"}
        assert [each.name for each in FLS("auto", max_clusters=2, random_state=0, **PLANES).fit(X).choice_] == [
            "n_clusters",
            "partition",
        ]

    def test_nothing_where_nothing_was(self, planes):
        X, _ = planes
        for model in (FLS(1, random_state=0, **PLANES), FLS.paper(2, subspace_dim=2, random_state=0)):
            choice = model.fit(X).choice_
            assert isinstance(choice, Choice)
            assert len(choice) == 0
            assert "Nothing" in repr(choice)

    def test_prints_and_dumps(self, counted):
        model = counted[2]
        printed = repr(model.choice_)
        for word in ("n_clusters", "flats", "partition", "modularity", "nats_per_row"):
            assert word in printed
        assert max(map(len, printed.splitlines())) <= 100
        told = json.loads(json.dumps(model.choice_.to_dict(), allow_nan=False))
        assert [each["name"] for each in told["decisions"]] == ["n_clusters", "flats", "partition"]
        assert told["decisions"][0]["candidates"][told["decisions"][0]["winner"]]["n_clusters"] == 3

    def test_tells_what_is_used(self, counted):
        model = counted[2]
        flats = model.choice_["flats"].chosen
        assert flats["subspace_dim"] == model.subspace_dim_
        assert flats["neighborhood"] == model.neighborhood_
        assert (flats["flats"] == "affine") == model.affine_
        assert (flats["rows"] == "scaled") == model.normalize_
        assert model.choice_["partition"].chosen["n_components"] == model.n_components_

    def test_reasons_are_true(self, planes):
        X, _ = planes
        flat = FLS(2, random_state=0, **PLANES | {"assign": "auto"}).fit(X).choice_["partition"]
        assert flat.chosen["origin"] == "flats"
        assert "clusters are flat" in flat.reason
        balanced = FLS(2, random_state=0, **PLANES).fit(X).choice_["partition"]
        assert balanced.chosen["origin"] != "flats"
        assert "separated" not in balanced.reason

    def test_the_old_name_is_gone(self, fitted):
        assert not hasattr(fitted, "search_")


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

    def test_parameters_are_left_alone(self, planes):
        model = FLS(random_state=3, **self.OPTIONS)
        before = model.get_params()
        model.fit(planes[0])
        assert model.get_params() == before
        assert clone(model).get_params() == before

    def test_nothing_is_left_behind(self, planes, fitted):
        kept = len(pickle.dumps(fitted))
        wide = FLS(2, random_state=0, **PLANES).fit(planes[0])
        assert not {"_plain", "_sample", "_decisions"} & set(vars(wide))
        assert kept == len(pickle.dumps(wide))


@pytest.fixture(scope="module")
def paper(planes):
    return FLS.paper(2, subspace_dim=2, sigma=0.3, n_landmarks=60, random_state=0).fit(planes[0])


class TestPaper:
    """The published algorithm has none of this, but tells what its clusters look like."""

    def test_labels_come_from_its_box_alone(self, planes, paper, monkeypatch):
        def refuse(*arguments, **options):
            raise AssertionError("no part of the box")

        for name in (
            "consensus.half_confidence",
            "consensus.elect",
            "whole_flats.flat_partition",
            "choosing.decide_n_clusters",
        ):
            monkeypatch.setattr(f"subspaces.selection.{name}", refuse)
        monkeypatch.setattr(search, "try_setting", refuse)
        np.testing.assert_array_equal(clone(paper).fit(planes[0]).labels_, paper.labels_)
        np.testing.assert_array_equal(paper.predict(planes[0]), paper.labels_)

    def test_what_it_reports(self, planes, paper):
        assert paper.labels_.min() == 0
        assert not hasattr(paper, "confidence_")
        np.testing.assert_array_equal(paper.cluster_dims_, [2, 2])
        np.testing.assert_array_equal(paper.outlier_scores(planes[0]), paper.outlier_scores_)
