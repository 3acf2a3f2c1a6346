"""Estimators that cut the embedding of a feature map: accuracy, predictions, eigenvalues, scores."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomTreesEmbedding

from subspaces import (
    FourierSpectralClustering,
    KernelSpectralClustering,
    LandmarkSpectralClustering,
    NystromSpectralClustering,
)
from subspaces.kernels import CustomFeatures, SubspaceFeatures, exact
from subspaces.metrics import clustering_accuracy

BLOBS, BLOB_LABELS = make_blobs(120, centers=3, n_features=4, random_state=0)


def bump(X, points):
    """A Gaussian of the distance to each point."""
    return exact.gaussian_kernel(X, points, sigma=3.0)


def some_rows(X, size, rng):
    return X[rng.choice(len(X), size)]


FAMILY = {
    "landmarks": LandmarkSpectralClustering(3, n_landmarks=30, random_state=0),
    "every row a landmark": LandmarkSpectralClustering(3, random_state=0),
    "plain": LandmarkSpectralClustering(3, n_landmarks=30, n_components=3, random_state=0),
    "all landmarks": LandmarkSpectralClustering(3, n_landmarks=30, n_nearest=None, random_state=0),
    "waves": FourierSpectralClustering(3, n_features=150, random_state=0),
    "columns": NystromSpectralClustering(3, n_landmarks=30, random_state=0),
    "custom": KernelSpectralClustering(3, feature_map=CustomFeatures(bump, some_rows, 40), random_state=0),
    "flats": KernelSpectralClustering(
        3, feature_map=SubspaceFeatures(30, subspace_dim=1, n_nearest=4, neighborhood=5), random_state=0
    ),
    "trees": KernelSpectralClustering(3, feature_map=RandomTreesEmbedding(5, max_depth=3), random_state=0),
}


@pytest.fixture(scope="module", params=FAMILY)
def model(request):
    """A member of the family, fitted."""
    return clone(FAMILY[request.param]).fit(BLOBS)


def test_it_clusters(model):
    assert clustering_accuracy(BLOB_LABELS, model.labels_) > 0.97


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predict_on_the_rows_of_fit_gives_labels(model, dtype):
    X = BLOBS.astype(dtype)
    fitted = clone(model).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    embedded = fitted.transform(X)
    assert embedded.dtype == dtype
    assert embedded.shape == (len(X), fitted.n_components_)
    np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1, rtol=1e-4)


def test_the_size_of_blocks_does_not_matter(model, tiny_blocks):
    tiny_blocks()
    small = clone(model).fit(BLOBS)
    np.testing.assert_array_equal(model.labels_, small.labels_)
    assert model.score(BLOBS) == pytest.approx(small.score(BLOBS))


def test_new_rows(model):
    fitted = clone(model).fit(BLOBS[::2])
    assert clustering_accuracy(BLOB_LABELS[1::2], fitted.predict(BLOBS[1::2])) > 0.95


def test_new_rows_far_from_all_others(model):
    assert np.isfinite(model.transform(1e3 * np.ones((2, 4)))).all()


def test_eigenvalues(model):
    assert model.eigenvalues_[0] == 1
    assert (np.diff(model.eigenvalues_[1:]) <= 1e-12).all()
    # Estimates of small weights can be negative, and lift an eigenvalue a little above one.
    assert model.eigenvalues_[1] < (1.1 if isinstance(model, FourierSpectralClustering) else 1 + 1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_score_prefers_clusters_to_noise(model):
    shuffled = np.random.default_rng(0).permutation(BLOBS.ravel()).reshape(BLOBS.shape)
    assert model.score(BLOBS) > clone(model).fit(shuffled).score(shuffled)


def test_names_of_coordinates(model):
    names = model.get_feature_names_out()
    assert names[0] == type(model).__name__.lower() + "0"
    assert len(names) == model.n_components_
