"""Steps of K-flats: each equals a slow formula, and the energy never rises."""

import numpy as np
import pytest
import reference

from examples import slow_flats
from subspaces.datasets import make_subspaces
from subspaces.flats import kflats
from subspaces.flats.angles import principal_angles
from subspaces.flats.candidates import lbf_starts, random_starts
from subspaces.flats.dimension import choose_dim, knee
from subspaces.flats.kflats import assign_to_flats, fit_kflats
from subspaces.flats.per_cluster import flats_of_labels
from subspaces.metrics import clustering_accuracy


def test_nearest_flats_equal_the_reference(planes):
    X, y = planes
    flats = flats_of_labels(X, np.maximum(y, 0), 2, 2, affine=True)
    table = reference.squared_distances(X, slow_flats(flats))
    fit = assign_to_flats(X, flats, loss="squared")
    np.testing.assert_array_equal(fit.labels, table.argmin(axis=1))
    assert fit.energy == pytest.approx(table.min(axis=1).sum())
    assert assign_to_flats(X, flats).energy == pytest.approx(np.sqrt(table.min(axis=1)).sum())


@pytest.mark.parametrize("affine", [False, True])
def test_a_squared_step_is_the_best_fit_of_each_cluster(planes, affine):
    X, _ = planes
    start = random_starts(X, 2, 2, affine=affine, n_starts=1, rng=np.random.RandomState(0))[0]
    labels = assign_to_flats(X, start).labels
    step = fit_kflats(X, start, affine=affine, loss="squared", max_iter=1)
    for k in range(2):
        center, basis = reference.best_fit_flat(X[labels == k], 2, affine=affine)
        assert principal_angles(step.flats.bases[k], basis).max() < 1e-6
        np.testing.assert_allclose(step.flats.centers[k], center, atol=1e-10)


def test_a_median_step_is_the_weighted_fit(planes):
    X, _ = planes
    start = flats_of_labels(X, np.zeros(len(X), np.int32), 1, 2, affine=True)
    weights = 1 / np.sqrt(reference.squared_distances(X, slow_flats(start))[:, 0])
    step = fit_kflats(X, start, affine=True, loss="median", max_iter=1)
    center = weights @ X / weights.sum()
    np.testing.assert_allclose(step.flats.centers[0], center, atol=1e-8)
    basis = np.linalg.svd(np.sqrt(weights)[:, None] * (X - center), full_matrices=False)[2][:2].T
    assert principal_angles(step.flats.bases[0], basis).max() < 1e-6


@pytest.mark.parametrize("loss", ["squared", "median"])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("seed", "dtype"), [(0, np.float32), (1, np.float64)])
def test_the_energy_never_rises(loss, affine, seed, dtype):
    rng = np.random.default_rng(seed)
    X, _ = make_subspaces((1, 2, 3), 6, points_per_subspace=30, outliers=0.2, random_state=seed)
    X = (X + (seed % 2) * rng.normal(size=6)).astype(dtype)
    start = random_starts(X, 4, 2, affine=affine, n_starts=1, rng=np.random.RandomState(seed))[0]
    energies = [assign_to_flats(X, start, loss=loss).energy]
    energies += [fit_kflats(X, start, affine=affine, loss=loss, max_iter=i).energy for i in range(1, 10)]
    assert (np.diff(energies) <= 0).all()
    assert energies[-1] < energies[0]


@pytest.mark.parametrize("loss", ["squared", "median"])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("dim", [0, 2])
def test_flats_refitted_at_once_are_those_refitted_one_by_one(planes, monkeypatch, loss, affine, dim):
    X, _ = planes
    start = random_starts(X, 3, dim, affine=True, n_starts=1, rng=np.random.RandomState(0))[0]
    at_once = fit_kflats(X, start, affine=affine, loss=loss, max_iter=5)
    monkeypatch.setattr(kflats, "FEW_ENTRIES", 0)
    one_by_one = fit_kflats(X, start, affine=affine, loss=loss, max_iter=5)
    np.testing.assert_array_equal(at_once.labels, one_by_one.labels)
    assert at_once.energy == pytest.approx(one_by_one.energy)


def test_the_labels_are_those_of_the_nearest_flats_at_the_end(planes):
    X, _ = planes
    start = random_starts(X, 3, 2, affine=True, n_starts=1, rng=np.random.RandomState(1))[0]
    for max_iter in (1, 3, 100):
        fit = fit_kflats(X, start, affine=True, max_iter=max_iter)
        np.testing.assert_array_equal(fit.labels, assign_to_flats(X, fit.flats).labels)
        assert fit.n_iter <= max_iter


def test_an_empty_cluster_finds_rows(planes):
    X, _ = planes
    start = flats_of_labels(X, np.zeros(len(X), np.int32), 3, 2, affine=True)
    assert len(np.unique(assign_to_flats(X, start).labels)) == 1
    assert len(np.unique(fit_kflats(X, start, affine=True).labels)) == 3


def test_polishes_labels():
    X, y = make_subspaces((2, 2), 6, outliers=0, random_state=0)
    labels = np.where(np.random.default_rng(0).random(len(y)) < 0.25, 1 - y, y).astype(np.int32)
    fit = fit_kflats(X, flats_of_labels(X, labels, 2, 2, affine=False), affine=False)
    assert clustering_accuracy(y, fit.labels) > 0.98


def test_outliers_hardly_move_the_median():
    X, _, bases, _ = make_subspaces((2,), 6, noise=0.01, outliers=0.4, random_state=0, return_bases=True)
    start = flats_of_labels(X, np.zeros(len(X), np.int32), 1, 2, affine=False)
    angles = {
        loss: principal_angles(fit_kflats(X, start, affine=False, loss=loss).flats.bases[0], bases[0]).max()
        for loss in ("squared", "median")
    }
    assert angles["median"] < 0.03
    assert angles["median"] < angles["squared"] / 3


def test_lbf_starts_beat_random_ones(planes):
    X, _ = planes
    energies = [
        np.mean([assign_to_flats(X, s).energy for s in make(X, 2, 2, affine=True, n_starts=5, rng=rng)])
        for make, rng in ((lbf_starts, np.random.RandomState(0)), (random_starts, np.random.RandomState(0)))
    ]
    assert energies[0] < energies[1]


def test_knee():
    assert knee(np.array([5.0, 3.0, 1.0, 0.9, 0.8])) == 2
    assert knee(np.array([1.0])) == 0
    assert knee(np.array([0.0, 1.0, 0.0])) == 0


@pytest.mark.parametrize(("dims", "p", "dim"), [((2, 2), 6, 2), ((3, 3), 12, 3)])
def test_choose_dim(dims, p, dim):
    X, _ = make_subspaces(dims, p, points_per_subspace=100, random_state=0)
    assert choose_dim(X, 2, affine=True, rng=np.random.RandomState(0)) == dim
