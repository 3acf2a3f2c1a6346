"""Labels by the fewest nats: lengths beside a slow loop, shares, empty clusters, other array libraries."""

from dataclasses import replace

import numpy as np
import pytest
import reference

from subspaces._core.pca import principal_directions
from subspaces.datasets import make_subspaces
from subspaces.flats.coded import CodedClusters, coded_clusters
from subspaces.flats.description import Cell, measure, shortest_code
from subspaces.metrics import clustering_accuracy


def clusters_of(X, labels, n_clusters, directions=None):
    """The clusters of labels, in the columns `directions`; by default in those of `X`."""
    directions = np.eye(X.shape[1], dtype=X.dtype) if directions is None else directions
    code = shortest_code(measure(X @ directions, affine=True), labels, n_clusters, free=False)
    return code, coded_clusters(code, directions)


@pytest.fixture(scope="module")
def flats():
    return make_subspaces((1, 2, 3), 6, points_per_subspace=[60, 90, 40], outliers=0, affine=True, random_state=0)


def cell(center, basis, variances, noise, size=10):
    """A Gaussian in the plane or in space."""
    center, basis = np.array(center, float), np.array(basis, float).reshape(len(center), -1)
    return Cell(
        size, center, np.eye(len(center)), basis, np.array(variances, float), noise, 0, 0, basis.shape[1], noise
    )


class TestLengths:
    @pytest.mark.parametrize("n_columns", [3, 6])
    def test_equal_a_slow_loop(self, flats, n_columns):
        X, y = flats
        directions = principal_directions(X, X.mean(axis=0), n_columns)
        _, clusters = clusters_of(X, y, 3, directions)
        np.testing.assert_allclose(clusters.lengths(X), reference.coded_lengths(X, clusters), rtol=1e-9, atol=1e-9)

    def test_are_those_of_the_code(self, flats):
        """Up to the background, whose rows count in the total of the code."""
        X, y = flats
        code, clusters = clusters_of(X, y, 3)
        inside = code.chosen < 3
        found = clusters.lengths(X)[inside, y[inside]] + np.log(len(X) / inside.sum())
        np.testing.assert_allclose(found, code.row_lengths[inside])

    def test_by_hand(self):
        """A narrow and a wide blob: the wide one takes rows between them, although its centre is farther."""
        narrow, wide = cell([0, 0], [], [], 0.01), cell([2, 0], [], [], 1.0)
        clusters = CodedClusters(np.eye(2), np.zeros(2), 1.0, (narrow, wide))
        np.testing.assert_array_equal(clusters.labels(np.array([[0.1, 0], [0.5, 0], [3, 0]])), [0, 1, 1])
        # The larger of two equal clusters takes the row in the middle.
        even = CodedClusters(np.eye(2), np.zeros(2), 1.0, (cell([-1, 0], [], [], 1), cell([1, 0], [], [], 1, size=20)))
        np.testing.assert_array_equal(even.labels(np.array([[-0.01, 0], [-0.5, 0]])), [1, 0])

    def test_center_and_unit_are_those_of_projected_rows(self, flats):
        X, y = flats
        _, clusters = clusters_of(X, y, 3)
        moved = replace(clusters, center=clusters.center + 5, unit=clusters.unit)
        np.testing.assert_allclose(moved.lengths(X + 5), clusters.lengths(X), atol=1e-8)
        scaled = replace(clusters, center=10 * clusters.center, unit=10 * clusters.unit)
        np.testing.assert_allclose(scaled.lengths(10 * X), clusters.lengths(X), atol=1e-8)

    def test_blocks_of_rows_change_nothing(self, flats, tiny_blocks):
        X, y = flats
        _, clusters = clusters_of(X, y, 3)
        expected = clusters.lengths(X)
        tiny_blocks(1000)
        np.testing.assert_allclose(clusters.lengths(X), expected)
        np.testing.assert_allclose([clusters.lengths(row[None])[0] for row in X[:5]], expected[:5])


class TestLabels:
    def test_flats_of_several_dimensions(self, flats):
        X, y = flats
        _, clusters = clusters_of(X, y, 3)
        labels = clusters.labels(X)
        assert labels.dtype == np.int32
        assert clustering_accuracy(y, labels) > 0.97
        np.testing.assert_array_equal(labels, clusters.lengths(X).argmin(axis=1))

    def test_shares_are_probabilities(self, flats):
        X, y = flats
        _, clusters = clusters_of(X, y, 3)
        shares = clusters.shares(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(shares.argmax(axis=1), clusters.labels(X))
        weights = np.exp(-clusters.lengths(X))
        np.testing.assert_allclose(shares, weights / weights.sum(axis=1, keepdims=True), atol=1e-12)

    def test_far_rows_have_shares_too(self, flats):
        X, y = flats
        _, clusters = clusters_of(X, y, 3)
        assert np.isfinite(clusters.shares(1e6 * X)).all()

    def test_a_cluster_without_rows_takes_none(self, flats):
        X, y = flats
        code, clusters = clusters_of(X, 2 * y, 5)
        assert [each is None for each in code.cells] == [False, True, False, True, False]
        assert set(clusters.labels(X)) == {0, 2, 4}
        np.testing.assert_array_equal(clusters.shares(X)[:, [1, 3]], 0)

    def test_float32_rows(self, flats):
        X, y = flats
        narrow = X.astype(np.float32)
        _, clusters = clusters_of(narrow, y, 3)
        assert clusters.lengths(narrow).dtype == np.float32
        np.testing.assert_allclose(clusters.lengths(narrow), clusters.lengths(X), rtol=1e-3, atol=1e-2)
        assert (clusters.labels(narrow) == clusters.labels(X)).mean() > 0.99

    @pytest.mark.parametrize("name", ["array_api_strict", "torch"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_other_array_libraries(self, flats, name, dtype):
        library = pytest.importorskip(name)
        X, y = flats[0].astype(dtype), flats[1]
        _, clusters = clusters_of(X, 2 * y, 5)
        labels = clusters.labels(library.asarray(X))
        assert isinstance(labels, type(library.asarray(X)))
        assert labels.dtype == library.int32
        np.testing.assert_array_equal(np.from_dlpack(labels), clusters.labels(X))
        np.testing.assert_allclose(np.from_dlpack(clusters.shares(library.asarray(X))), clusters.shares(X), atol=1e-4)
