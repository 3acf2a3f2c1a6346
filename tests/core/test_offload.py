"""Heavy products on a device: the same results as on the host. Torch on the CPU serves as the device."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from subspaces import FLS, LBF, KFlats
from subspaces._core import offload
from subspaces._core.arrays import to_host
from subspaces._core.offload import offloaded, on_device
from subspaces._core.threads import mapped
from subspaces.datasets import make_subspaces
from subspaces.flats import description
from subspaces.flats.coded import coded_clusters
from subspaces.flats.distances import nearest
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import fit_kflats
from subspaces.flats.neighborhoods import nearest_rows
from subspaces.metrics import clustering_accuracy
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.kmeans import move_centers
from subspaces.spectral.partition import plain_partition, refine
from subspaces.spectral.sparse import sparse_on_device
from subspaces.spectral.spectrum import embed

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)
X, Y = make_subspaces((2, 3, 4), 12, points_per_subspace=150, noise=0.02, random_state=0)


@pytest.fixture
def device(monkeypatch):
    """A context in which all work, however little, is done by torch; it lists what was moved there."""
    moved = []

    def fixed(values, pattern, *, own_dtype):
        moved.append(values)
        return torch.asarray(np.array(values))

    monkeypatch.setattr(offload, "has_own_memory", lambda x: True)
    monkeypatch.setattr(offload, "LEAST_WORK", 0)
    monkeypatch.setattr(offload, "fixed", fixed)
    with offloaded(torch.zeros(1)):
        yield moved


def on_host(function, *arguments, **options):
    with offloaded(None):
        return function(*arguments, **options)


def test_only_large_work_moves_and_only_to_memory_of_its_own(monkeypatch):
    rows = np.ones((3, 2), np.float32)
    assert on_device(rows, np.inf) is None
    with offloaded(torch.zeros(1)):
        assert on_device(rows, np.inf) is None
    monkeypatch.setattr(offload, "has_own_memory", lambda x: True)
    with offloaded(torch.zeros(1, dtype=torch.float64)):
        assert on_device(rows, offload.LEAST_WORK - 1) is None
        found = on_device(rows, offload.LEAST_WORK)
        assert found.dtype == torch.float32
        # One copy for all calls.
        assert on_device(rows, offload.LEAST_WORK) is found
        np.testing.assert_array_equal(to_host(found), rows)
        with offloaded(None):
            assert on_device(rows, np.inf) is None
    assert on_device(rows, np.inf) is None


def test_threads_of_a_fit_use_the_same_device(device):
    assert all(each is not None for each in mapped(lambda _: on_device(X, 1), range(20)))


@pytest.mark.parametrize("affine", [False, True])
def test_nearest_flats(device, affine):
    centers = RNG.normal(3, 1, (20, 12)) if affine else np.zeros((20, 12))
    flats = Flats(centers, np.linalg.qr(RNG.normal(size=(20, 12, 3)))[0])
    index, distances = nearest(X, flats, 4)
    assert device
    expected = on_host(nearest, X, flats, 4)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_allclose(distances, expected[1], atol=1e-12)


def test_nearest_rows(device):
    found = nearest_rows(X, X[:20] + 0.01, 7)
    assert device
    np.testing.assert_array_equal(found, on_host(nearest_rows, X, X[:20] + 0.01, 7))


def test_centers_of_kmeans(device):
    starts = X[RNG.integers(len(X), size=(2, 9))]
    # A centre that no row is nearest to.
    starts[1, 0] = 100
    found = move_centers(X, starts, max_iter=5)
    assert device
    np.testing.assert_allclose(found, on_host(move_centers, X, starts, max_iter=5), atol=1e-12)


def test_lengths_of_coded_clusters(device):
    code = description.shortest_code(description.measure(X, affine=True), Y, 3, free=False)
    clusters = coded_clusters(code, np.eye(12))
    found = clusters.lengths(X)
    assert device
    np.testing.assert_allclose(found, on_host(clusters.lengths, X), rtol=1e-9)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("loss", ["squared", "median"])
def test_kflats(device, affine, loss, monkeypatch):
    monkeypatch.setattr("subspaces.flats.kflats.FEW_ENTRIES", 0)
    start = Flats(np.zeros((4, 12)), np.linalg.qr(RNG.normal(size=(4, 12, 3)))[0])
    found = fit_kflats(X, start, affine=affine, loss=loss, max_iter=10)
    assert device
    expected = on_host(fit_kflats, X, start, affine=affine, loss=loss, max_iter=10)
    assert found.energy == pytest.approx(expected.energy, rel=1e-9)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.flats.centers, expected.flats.centers, atol=1e-9)


def test_refined_partitions(device):
    index = np.argsort(RNG.random((300, 40)) + (np.arange(300)[:, None] % 3 != np.arange(40) % 3), axis=1)[:, :5]
    weights = RNG.dirichlet(np.ones(5), 300)
    psi = csr_matrix((weights.ravel(), index.ravel(), np.arange(0, 1501, 5)), shape=(300, 40))
    spectrum = sparse_spectrum(psi, 3)
    start = plain_partition(embed(psi, spectrum), 3, n_starts=1, rng=np.random.RandomState(0))
    found = refine(start, psi, spectrum, n_rounds=5)
    assert device
    expected = on_host(refine, start, psi, spectrum, n_rounds=5)
    assert found.modularity == pytest.approx(expected.modularity)
    if expected.landmark_scores is not None:
        np.testing.assert_allclose(found.landmark_scores, expected.landmark_scores)


def test_rows_of_different_lengths_stay_on_the_host(device):
    assert sparse_on_device(csr_matrix(np.array([[1.0, 0, 0], [0.5, 0.5, 0]])), 100) is None
    assert sparse_on_device(csr_matrix((2, 3)), 100) is None


@pytest.mark.parametrize("model", [FLS(3, random_state=0), LBF(3, random_state=0), KFlats(3, random_state=0)])
def test_whole_fits(device, model, monkeypatch):
    """Rows of torch are computed with torch, and labels are those of the host."""
    monkeypatch.setattr("subspaces.flats.kflats.FEW_ENTRIES", 0)
    rows = X.astype(np.float32)
    expected = type(model)(3, random_state=0).fit(rows).labels_
    device.clear()
    found = to_host(model.fit(torch.asarray(rows)).labels_)
    assert device
    assert clustering_accuracy(expected, found) > 0.99
