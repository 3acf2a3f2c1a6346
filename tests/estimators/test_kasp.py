"""KASP: comparison with slow formulas, new rows, refused parameters."""

import numpy as np
import pytest
import reference
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons

from subspaces.estimators.kasp import KASP, choose_centroids, dense_spectrum, scaled_affinity
from subspaces.flats.angles import principal_angles
from subspaces.metrics import clustering_accuracy

BLOBS, BLOB_LABELS = make_blobs(200, centers=3, n_features=4, random_state=0)
MOONS, MOON_LABELS = make_moons(500, noise=0.05, random_state=0)


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


def slow_kasp(X, n_clusters, n_centroids, sigma):
    """k-means, the normalised Gaussian affinity of its centres, its top eigenvectors, k-means of their unit rows."""
    first = KMeans(n_centroids, n_init=1, random_state=0).fit(X)
    affinity = reference.gaussian_kernel(first.cluster_centers_, first.cluster_centers_, sigma)
    degrees = affinity.sum(axis=1)
    _, vectors = np.linalg.eigh(affinity / np.sqrt(np.outer(degrees, degrees)))
    rows = reference.unit_rows(vectors[:, -n_clusters:])
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(rows)[first.labels_]


def test_labels_are_those_of_the_slow_way():
    slow = slow_kasp(MOONS, 2, 60, 0.1)
    assert same_partition(slow, KASP(2, n_centroids=60, sigma=0.1, random_state=0).fit_predict(MOONS))
    assert same_partition(slow, MOON_LABELS)


@pytest.mark.parametrize("sigma", [0.3, "auto"])
def test_spectrum_is_that_of_a_dense_eigenproblem(sigma):
    points = MOONS[:40]
    if sigma == "auto":
        distances = np.array([[np.linalg.norm(x - y) for y in points] for x in points])
        scales = np.sort(distances, axis=1)[:, 7]
        affinity = np.exp(-(distances**2) / np.outer(scales, scales))
        np.testing.assert_allclose(scaled_affinity(points), affinity, rtol=1e-12)
    else:
        affinity = reference.gaussian_kernel(points, points, sigma)
    values, vectors, degrees = dense_spectrum(affinity, 4)
    tied = affinity + 1e-3 * affinity.mean()
    np.testing.assert_allclose(degrees, tied.sum(axis=1))
    normalized = tied / np.sqrt(np.outer(degrees, degrees))
    slow_values, slow_vectors = reference.top_eigenvectors_without(normalized, np.sqrt(degrees), 4)
    np.testing.assert_allclose(values, slow_values, atol=1e-10)
    assert principal_angles(vectors, slow_vectors).max() < 1e-6


def test_as_many_centroids_as_rows_are_the_rows():
    model = KASP(3, n_centroids=10_000, random_state=0).fit(BLOBS)
    np.testing.assert_allclose(np.sort(model.centroids_, axis=0), np.sort(BLOBS, axis=0))
    assert same_partition(BLOB_LABELS, model.labels_)


def test_centroids_are_distinct_means_of_rows():
    rows = np.repeat(BLOBS[:12], 5, axis=0)
    centroids = choose_centroids(rows, 30, np.random.RandomState(0))
    assert len(centroids) == len(np.unique(centroids, axis=0)) <= 30
    model = KASP(3, n_centroids=20, random_state=0).fit(BLOBS)
    nearest = np.array([np.argmin(((model.centroids_ - x) ** 2).sum(axis=1)) for x in BLOBS])
    np.testing.assert_array_equal(model.centroid_labels_[nearest], model.labels_)


def test_rows_share_the_place_of_their_centroid():
    model = KASP(3, n_centroids=20, random_state=0).fit(BLOBS)
    embedded = model.transform(BLOBS)
    assert embedded.shape == (200, model.n_components_)
    assert len(np.unique(embedded, axis=0)) <= 20
    np.testing.assert_allclose(np.linalg.norm(embedded, axis=1), 1)


def test_clusters_of_any_shape():
    assert clustering_accuracy(MOON_LABELS, KASP(2, random_state=0).fit_predict(MOONS)) > 0.99
    X, y = make_circles(1000, noise=0.05, factor=0.5, random_state=0)
    assert clustering_accuracy(y, KASP(2, random_state=0).fit_predict(X)) > 0.98
    X, y = load_digits(return_X_y=True)
    assert clustering_accuracy(y, KASP(10, random_state=0).fit_predict(X)) > 0.7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predict_on_the_rows_of_fit_gives_labels(dtype):
    X = BLOBS.astype(dtype)
    model = KASP(3, random_state=0).fit(X)
    assert model.labels_.dtype == np.int32
    assert model.transform(X).dtype == model.centroids_.dtype == dtype
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert same_partition(BLOB_LABELS, model.labels_)


def test_new_rows_and_far_offsets():
    model = KASP(3, random_state=0).fit(BLOBS[::2])
    assert clustering_accuracy(BLOB_LABELS[1::2], model.predict(BLOBS[1::2])) > 0.97
    assert same_partition(BLOB_LABELS, KASP(3, random_state=0).fit_predict(BLOBS + 1e7))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters=0"),
        ({"n_clusters": 1000}, ValueError, "n_clusters=1000 must be between 1 and"),
        ({"n_centroids": 2}, ValueError, "n_centroids=2 must be at least 3"),
        ({"n_centroids": 2.0}, TypeError, "n_centroids=2.0"),
        ({"sigma": 0}, ValueError, "sigma=0"),
        ({"sigma": "wide"}, TypeError, "sigma='wide'"),
        ({"n_components": 0}, ValueError, "n_components=0"),
        ({"n_components": "many"}, TypeError, "n_components='many'"),
    ],
)
def test_parameters(changes, error, message):
    with pytest.raises(error, match=message):
        KASP(**({"n_clusters": 3} | changes)).fit(BLOBS)
