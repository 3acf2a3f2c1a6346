"""FourierSpectralClustering: convergence to the exact kernel, features with signs, refused parameters."""

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles

from subspaces import FourierSpectralClustering
from subspaces.flats.angles import principal_angles

CIRCLES = make_circles(90, noise=0.03, factor=0.4, random_state=0)[0]


def exact_spectrum(kernel, count):
    """Eigenvalues and eigenvectors v_2, ... of the normalised kernel matrix."""
    degrees = kernel.sum(axis=1)
    normalized = kernel / np.sqrt(np.outer(degrees, degrees))
    return reference.top_eigenvectors_without(normalized, np.sqrt(degrees), count)


def test_random_features_converge_to_the_kernel():
    X, _ = make_blobs(150, centers=3, n_features=3, random_state=1)
    values, vectors = exact_spectrum(reference.gaussian_kernel(X, X, 4.0), 2)
    errors, angles = [], []
    for count in (20, 160, 1280):
        fits = [
            FourierSpectralClustering(3, sigma=4.0, n_features=count, n_components=2, random_state=seed).fit(X)
            for seed in range(4)
        ]
        errors.append(np.mean([np.abs(model.eigenvalues_[1:] - values).max() for model in fits]))
        rows = fits[0].transform(X) * np.linalg.norm(vectors, axis=1)[:, None]
        angles.append(principal_angles(np.linalg.qr(rows)[0], vectors).max())
    # An eighth of the error for 64 times as many features, and room for luck.
    assert errors[2] < errors[0] / 3
    assert angles[2] < angles[0] / 3


@pytest.mark.parametrize(("kernel", "order"), [("gaussian", 2), ("laplacian", 1)])
def test_sigma_follows_the_gaps_between_rows(kernel, order):
    nearest = np.sort([[np.linalg.norm(x - y, order) for y in CIRCLES] for x in CIRCLES], axis=1)[:, 7]
    model = FourierSpectralClustering(2, kernel=kernel, n_features=50, random_state=0).fit(CIRCLES)
    assert model.sigma_ == pytest.approx(2 * np.median(nearest))
    assert clone(model).fit(10 * CIRCLES).sigma_ == pytest.approx(10 * model.sigma_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_negative_degrees_do_no_harm():
    """A narrow kernel and few features: estimated degrees of rows without neighbours are below zero."""
    X = np.random.default_rng(0).normal(size=(200, 6))
    model = FourierSpectralClustering(3, sigma=0.5, n_features=60, random_state=0).fit(X)
    assert np.isfinite(model.eigenvalues_).all()
    assert np.isfinite(model.transform(X)).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("sigma", "dtype"), [(1e-3, np.float32), (0.1, np.float64), (10.0, np.float32), (1e6, np.float64)]
)
def test_any_sigma_gives_finite_results(blobs, sigma, dtype):
    X = blobs[0].astype(dtype)
    model = FourierSpectralClustering(3, n_features=50, sigma=sigma, random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score(X))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.isfinite(model.transform(X + 100)).all()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n_components": "many"}, TypeError, "n_components='many'"),
        ({"n_features": 0}, ValueError, "n_features=0"),
        ({"kernel": "cosine"}, ValueError, "kernel='cosine'"),
        ({"sigma": "wide"}, TypeError, "sigma='wide'"),
        ({"nu": 0}, ValueError, "nu=0"),
        ({"kernel": lambda shape, rng: np.ones(3)}, ValueError, "must return"),
    ],
)
def test_parameters(blobs, changes, error, message):
    with pytest.raises(error, match=message):
        FourierSpectralClustering(3, **changes).fit(blobs[0])
