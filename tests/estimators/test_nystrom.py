"""NystromSpectralClustering: comparison with the exact kernel matrix, the choice of sigma, refused parameters."""

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles

from subspaces import NystromSpectralClustering
from subspaces.flats.angles import principal_angles
from subspaces.kernels import exact
from subspaces.metrics import clustering_accuracy

CIRCLES = make_circles(90, noise=0.03, factor=0.4, random_state=0)[0]


def linear_kernel(X, Y):
    return X @ Y.T


def same_partition(first, second):
    return clustering_accuracy(first, second) == 1


def exact_spectrum(kernel, count):
    """Eigenvalues and eigenvectors v_2, ... of the normalised kernel matrix."""
    degrees = kernel.sum(axis=1)
    normalized = kernel / np.sqrt(np.outer(degrees, degrees))
    return reference.top_eigenvectors_without(normalized, np.sqrt(degrees), count)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "matern"])
def test_all_columns_give_the_kernel_itself(kernel):
    model = NystromSpectralClustering(2, kernel=kernel, sigma=0.5, n_landmarks=90, n_components=3, random_state=0)
    fitted = model.fit(CIRCLES)
    values, vectors = exact_spectrum(exact.named_kernel(kernel, CIRCLES, CIRCLES, sigma=0.5, nu=1.5), 3)
    np.testing.assert_allclose(fitted.eigenvalues_, [1, *values], atol=1e-6)
    ours = np.linalg.qr(fitted.transform(CIRCLES) * np.linalg.norm(vectors, axis=1)[:, None])[0]
    assert principal_angles(ours, np.linalg.qr(vectors)[0]).max() < 1e-3


def test_few_columns_come_near():
    X, _ = make_blobs(200, centers=3, n_features=3, random_state=1)
    values, _ = exact_spectrum(reference.gaussian_kernel(X, X, 3.0), 3)
    errors = []
    for count in (10, 40):
        model = NystromSpectralClustering(3, sigma=3.0, n_landmarks=count, n_components=3, random_state=0).fit(X)
        errors.append(np.abs(model.eigenvalues_[1:] - values).max())
    assert errors[1] < 0.01
    assert errors[1] < errors[0]


def test_circles(circles):
    X, y = circles
    for landmarks in ("kmeans", "random"):
        model = NystromSpectralClustering(2, n_landmarks=100, landmarks=landmarks, random_state=0)
        assert same_partition(y, model.fit_predict(X))


def test_a_kernel_given_as_a_function():
    X = np.abs(np.random.default_rng(0).normal(size=(60, 5)))
    X[:30, :2] *= 10
    X[30:, 3:] *= 10
    model = NystromSpectralClustering(2, kernel=linear_kernel, n_landmarks=40, random_state=0).fit(X)
    assert clustering_accuracy(np.repeat([0, 1], 30), model.labels_) > 0.95


def test_sigma_follows_the_gaps_between_rows():
    nearest = np.sort([[np.linalg.norm(x - y) for y in CIRCLES] for x in CIRCLES], axis=1)[:, 7]
    model = NystromSpectralClustering(2, random_state=0).fit(CIRCLES)
    assert model.sigma_ == pytest.approx(2 * np.median(nearest))
    assert clone(model).fit(10 * CIRCLES).sigma_ == pytest.approx(10 * model.sigma_)


def test_copies_of_rows_do_not_make_sigma_zero():
    copies = np.r_[np.zeros((20, 2)), CIRCLES]
    assert NystromSpectralClustering(2, n_landmarks=20, random_state=0).fit(copies).sigma_ > 0
    assert NystromSpectralClustering(1, n_landmarks=20).fit(np.ones((50, 2))).sigma_ == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("sigma", "dtype"), [(1e-3, np.float32), (0.1, np.float64), (10.0, np.float32), (1e6, np.float64)]
)
def test_any_sigma_gives_finite_results(blobs, sigma, dtype):
    X = blobs[0].astype(dtype)
    model = NystromSpectralClustering(3, n_landmarks=20, sigma=sigma, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score(X))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.isfinite(model.transform(X + 100)).all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_landmarks": 2.5}, TypeError, "n_landmarks=2.5"),
        ({"kernel": None}, ValueError, "kernel=None"),
        ({"sigma": float("nan")}, ValueError, "sigma=nan"),
        (
            {"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)},
            ValueError,
            "finite",
        ),
    ],
)
def test_parameters(blobs, changes, error, message):
    with pytest.raises(error, match=message):
        NystromSpectralClustering(3, **changes).fit(blobs[0])
