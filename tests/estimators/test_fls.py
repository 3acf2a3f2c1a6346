"""FLS as an estimator: the algorithm of the paper step by step, invariances, fitted attributes."""

import numpy as np
import pytest
import reference
from sklearn.base import clone

from examples import slow_flats
from subspaces import FLS
from subspaces.datasets import make_subspaces
from subspaces.flats.angles import principal_angles
from subspaces.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def fitted(planes):
    return FLS(2, random_state=0).fit(planes[0])


@pytest.fixture(scope="module", params=[True, False], ids=["affine", "linear"])
def pair(request):
    """Rows, `FLS.paper` fitted to them, and the result of the reference."""
    X, _ = make_subspaces((1, 2), 5, points_per_subspace=40, noise=0.02, outliers=0.05, random_state=3)
    landmarks = X[np.random.default_rng(0).choice(len(X), 30, replace=False)]
    options = {"subspace_dim": 2, "sigma": 0.3, "start_size": 4, "step_size": 2, "affine": request.param}
    model = FLS.paper(2, landmarks=landmarks, random_state=0, **options).fit(X)
    unit, starts = reference.unit_rows(X), reference.unit_rows(landmarks)
    slow = reference.fls_paper(unit, starts, 2, 2, 0.3, 4, 2, [0, 45], affine=request.param)
    return X, model, slow


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


class TestPaper:
    """`FLS.paper` and the reference, which was written from the paper alone."""

    def test_flats(self, pair):
        _, model, slow = pair
        assert model.n_landmarks_ == 30
        for center, basis, (slow_center, slow_basis) in zip(
            model.flats_.centers, model.flats_.bases, slow["flats"], strict=True
        ):
            np.testing.assert_allclose(center, slow_center, atol=1e-12)
            assert reference.principal_angles(basis, slow_basis).max() < 1e-6

    def test_eigenvalues(self, pair):
        _, model, slow = pair
        np.testing.assert_allclose(model.eigenvalues_, [1, *slow["eigenvalues"]], atol=1e-10)

    def test_embedding(self, pair):
        X, model, slow = pair
        # One eigenvector for two clusters: equal up to a sign.
        rows = model.transform(X)
        np.testing.assert_allclose(np.abs(rows), np.abs(slow["rows"]), atol=1e-8)
        assert abs(rows[:, 0] @ slow["rows"][:, 0]) == pytest.approx(len(X))

    def test_labels(self, pair):
        _, model, slow = pair
        assert same_partition(slow["labels"], model.labels_)

    @pytest.mark.parametrize("n_clusters", [2, 5])
    def test_the_embedding_is_that_of_a_dense_svd(self, n_clusters):
        X, _ = make_subspaces((2,) * n_clusters, 8, points_per_subspace=40, random_state=n_clusters)
        model = FLS.paper(n_clusters, subspace_dim=2, sigma=0.4, n_landmarks=60, random_state=0).fit(X)
        psi = np.exp(-reference.squared_distances(reference.unit_rows(X), slow_flats(model.flats_)) / 0.4**2)
        trivial = np.sqrt(reference.degrees(psi))
        left = np.linalg.svd(psi / trivial[:, None], full_matrices=False)[0][:, :n_clusters]
        trivial /= np.linalg.norm(trivial)
        top = np.linalg.svd(left - np.outer(trivial, trivial @ left), full_matrices=False)[0][:, : n_clusters - 1]
        # `transform` gives rows of unit length.
        ours = model.transform(X) * np.linalg.norm(top, axis=1)[:, None]
        assert principal_angles(np.linalg.qr(ours)[0], top).max() < 1e-6

    def test_nothing_is_projected_or_merged(self):
        X = np.random.default_rng(0).normal(size=(60, 100))
        X[40:] = X[:20]
        model = FLS.paper(2, subspace_dim=2, n_landmarks=50, random_state=0).fit(X)
        # Nothing is lost in the span of the rows.
        assert model.n_columns_ == len(X)
        assert model.n_landmarks_ == 50

    def test_it_clusters(self):
        X, y = make_subspaces((2, 2), 6, random_state=1)
        assert clustering_accuracy(y, FLS.paper(2, subspace_dim=2, random_state=0).fit_predict(X)) > 0.95


class TestInvariance:
    def test_rotation(self, planes, fitted):
        X, _ = planes
        rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
        assert same_partition(fitted.labels_, FLS(2, random_state=0).fit_predict(X @ rotation))

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    def test_scale(self, planes, fitted, scale):
        assert same_partition(fitted.labels_, FLS(2, random_state=0).fit_predict(scale * planes[0]))

    def test_translation_of_affine_data(self):
        X, y = make_subspaces((2, 2), 6, affine=True, outliers=0, random_state=1)
        model = FLS(2, random_state=0).fit(X + 100)
        assert model.center_
        assert clustering_accuracy(y, model.labels_) > 0.99

    def test_order_of_rows(self, planes, fitted):
        X, _ = planes
        order = np.random.default_rng(0).permutation(len(X))
        agreement = clustering_accuracy(fitted.labels_[order], FLS(2, random_state=0).fit_predict(X[order]))
        assert agreement > 0.98

    @pytest.mark.parametrize(
        ("model", "dtype"),
        [
            (FLS(3, neighborhood=16, random_state=0), np.float32),
            (FLS(3, n_landmarks=50, subspace_dim=3, random_state=0), np.float64),
            (FLS(3, n_nearest=None, subspace_dim=3, neighborhood=16, random_state=0), np.float64),
            (FLS.paper(3, subspace_dim=3, random_state=0), np.float32),
        ],
        ids=["default", "few landmarks", "dense", "paper"],
    )
    def test_predict_on_the_rows_of_fit_gives_labels(self, model, dtype):
        X, _ = make_subspaces((3, 3, 3), 9, points_per_subspace=80, outliers=0.2, random_state=0)
        X = X.astype(dtype)
        fitted = clone(model).fit(X)
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)

    def test_new_rows(self):
        X, y = make_subspaces((2, 3), 8, points_per_subspace=300, outliers=0, shuffle=True, random_state=0)
        model = FLS(2, n_landmarks=100, random_state=0).fit(X[:300])
        assert clustering_accuracy(y[300:], model.predict(X[300:])) > 0.98


class TestAttributes:
    def test_shapes(self, planes, fitted):
        n, p = planes[0].shape
        assert fitted.labels_.shape == fitted.outlier_scores_.shape == (n,)
        assert fitted.flats_.bases.shape == (fitted.n_landmarks_, p, fitted.subspace_dim_)
        assert fitted.cluster_dims_.shape == (2,)
        assert fitted.cluster_bases_.bases.shape == (2, p, fitted.cluster_dims_.max())
        assert fitted.transform(planes[0]).shape == (n, fitted.n_components_)
        assert fitted.eigenvalues_[0] == 1
        assert (np.diff(fitted.eigenvalues_) <= 1e-12).all()

    @pytest.mark.parametrize("affine", [False, True])
    def test_cluster_bases_are_the_true_subspaces(self, affine):
        X, y, bases, centers = make_subspaces((2, 2), 6, noise=0.01, affine=affine, random_state=1, return_bases=True)
        model = FLS(2, subspace_dim=2, affine=affine, random_state=0).fit(X)
        for k, (basis, center) in enumerate(zip(bases, centers, strict=True)):
            cluster = np.bincount(model.labels_[y == k]).argmax()
            found, at = model.cluster_bases_.bases[cluster], model.cluster_bases_.centers[cluster]
            assert principal_angles(found, basis).max() < 0.05
            offset = at - center
            assert np.linalg.norm(offset - basis @ (basis.T @ offset)) < 0.05

    def test_flats_lie_in_the_coordinates_of_the_rows(self):
        rng = np.random.default_rng(0)
        plane = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 120)) + 5
        model = FLS(1, subspace_dim=2, random_state=0).fit(plane)
        offset = plane[:, None] - model.flats_.centers[:3]
        inside = np.einsum("nmp,mpd,mqd->nmq", offset, model.flats_.bases[:3], model.flats_.bases[:3])
        np.testing.assert_allclose(offset, inside, atol=1e-8)

    def test_outliers_do_not_lower_the_agreement(self):
        X, y = make_subspaces((2, 2, 2), 10, noise=0.05, outliers=0.6, random_state=0)
        fls = FLS(3, random_state=0).fit(X)
        assert clustering_accuracy(y[y >= 0], fls.labels_[y >= 0]) > 0.95
        assert fls.agreement_ > 0.9

    def test_outlier_scores_single_out_outliers(self):
        X, y = make_subspaces((5, 6, 7), 20, outliers=0.1, random_state=0)
        scores = FLS(3, subspace_dim=6, random_state=0).fit(X).outlier_scores_
        assert np.median(scores[y < 0]) > np.quantile(scores[y >= 0], 0.95)

    def test_the_search_is_recorded(self, planes):
        fitted = FLS(2, assign="balanced", random_state=0).fit(planes[0])
        tried = fitted.choice_["flats"]
        assert {trial["flats"] for trial in tried.candidates} == {"linear flats", "affine flats", "points"}
        kind = "affine flats" if fitted.affine_ else "linear flats"
        best = max((t for t in tried.candidates if t["flats"] == kind), key=lambda trial: trial["modularity"])
        assert tried.chosen == best
        assert (best["subspace_dim"], best["neighborhood"]) == (fitted.subspace_dim_, fitted.neighborhood_)

    def test_what_is_given_is_used(self, planes):
        model = FLS(
            2, subspace_dim=3, n_landmarks=50, sigma=0.5, n_nearest=4, neighborhood=9, n_components=3,
            affine=True, center=True, normalize=False, landmarks="random", random_state=0,
        ).fit(planes[0])  # fmt: skip
        assert (model.subspace_dim_, model.sigma_, model.n_nearest_, model.neighborhood_) == (3, 0.5, 4, 9)
        assert (model.n_components_, model.affine_, model.center_, model.normalize_) == (3, True, True, False)
        assert model.n_landmarks_ <= 50
        assert "flats" not in model.choice_
