"""LandmarkSpectralClustering: comparison with n x n formulas, winding clusters, refused parameters."""

import numpy as np
import pytest
import reference
from sklearn.datasets import make_circles, make_moons

from subspaces import LandmarkSpectralClustering
from subspaces.flats.angles import principal_angles
from subspaces.metrics import clustering_accuracy


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


class TestFormulas:
    """Results equal those of n x n matrices."""

    X, y = make_moons(80, noise=0.06, random_state=0)
    landmarks = X[::4] + 0.01

    @pytest.fixture(scope="class")
    @classmethod
    def sparse(cls):
        table = np.array([[np.sum((x - z) ** 2) for z in cls.landmarks] for x in cls.X])
        weights = reference.nearest_weights(table, 5)
        model = LandmarkSpectralClustering(2, landmarks=cls.landmarks, n_components=2, random_state=0).fit(cls.X)
        return model, *reference.balanced_embedding(weights, 2)

    def test_eigenvalues_are_those_of_the_whole_graph(self, sparse):
        model, values, _ = sparse
        np.testing.assert_allclose(model.eigenvalues_, [1, *values], atol=1e-9)

    def test_embedding_spans_their_eigenvectors(self, sparse):
        model, _, vectors = sparse
        # `transform` gives rows of unit length.
        ours = model.transform(self.X) * np.linalg.norm(vectors, axis=1)[:, None]
        assert principal_angles(np.linalg.qr(ours)[0], np.linalg.qr(vectors)[0]).max() < 1e-6

    def test_labels_are_k_means_of_their_unit_rows(self, sparse):
        model, _, vectors = sparse
        rows = reference.unit_rows(vectors)
        labels = min(
            (reference.lloyd(rows, rows[[i, j]], n_iter=100) for i in range(0, 80, 20) for j in range(10, 80, 20)),
            key=lambda run: run[2],
        )[0]
        assert same_partition(labels, model.labels_)

    def test_dense_is_the_kernel_of_example_two(self):
        model = LandmarkSpectralClustering(
            2, landmarks=self.landmarks, n_nearest=None, sigma=0.3, n_components=3, random_state=0
        ).fit(self.X)
        psi = reference.gaussian_kernel(self.X, self.landmarks, 0.3)
        values, vectors = reference.embedding(psi, 3)
        np.testing.assert_allclose(model.eigenvalues_, [1, *values], atol=1e-9)
        ours, slow = model.transform(self.X), reference.unit_rows(vectors)
        np.testing.assert_allclose(np.abs(ours), np.abs(slow), atol=1e-6)

    def test_landmarks_are_points_of_the_data(self):
        model = LandmarkSpectralClustering(2, landmarks=self.landmarks + 100, random_state=0).fit(self.X + 100)
        np.testing.assert_allclose(model.landmarks_, self.landmarks + 100)
        plain = LandmarkSpectralClustering(2, landmarks=self.landmarks, random_state=0).fit(self.X)
        np.testing.assert_array_equal(model.labels_, plain.labels_)

    def test_outlier_scores_are_distances_to_the_nearest_landmark(self):
        model = LandmarkSpectralClustering(2, landmarks=self.landmarks, random_state=0).fit(self.X)
        expected = np.sqrt([min(np.sum((x - z) ** 2) for z in self.landmarks) for x in self.X])
        np.testing.assert_allclose(model.outlier_scores_, expected, atol=1e-9)

    def test_winding_clusters(self):
        for X, y in (
            make_moons(600, noise=0.06, random_state=1),
            make_circles(600, noise=0.05, factor=0.5, random_state=1),
        ):
            for landmarks in ("kmeans", "random"):
                model = LandmarkSpectralClustering(2, n_landmarks=200, landmarks=landmarks, random_state=0)
                assert clustering_accuracy(y, model.fit_predict(X)) > 0.98

    def test_digits(self, small_digits):
        X, y = small_digits
        assert clustering_accuracy(y, LandmarkSpectralClustering(10, random_state=0).fit_predict(X)) > 0.8


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_landmarks": 0}, ValueError, "n_landmarks=0"),
        ({"n_nearest": "all"}, TypeError, "n_nearest='all'"),
        ({"n_nearest": 0}, ValueError, "n_nearest=0"),
        ({"sigma": -1}, ValueError, "sigma=-1"),
        ({"landmarks": "grid"}, ValueError, "landmarks='grid'"),
        ({"landmarks": np.zeros((5, 3))}, ValueError, "landmarks of shape"),
        ({"n_components": 0}, ValueError, "n_components=0"),
    ],
)
def test_parameters(blobs, changes, error, message):
    with pytest.raises(error, match=message):
        LandmarkSpectralClustering(3, **changes).fit(blobs[0])
