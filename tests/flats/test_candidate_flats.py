"""Candidate flats, and the greedy choice of K of them compared with brute force."""

from itertools import combinations

import numpy as np
import pytest
import reference
import reference_codes

from examples import slow_flats
from subspaces.flats import candidates as candidate_flats
from subspaces.flats.candidates import choose_flats, distance_table


def slow_energy(table, chosen):
    return sum(min(row[list(chosen)]) for row in table)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_descent_is_the_slow_one(seed, count):
    table = np.random.default_rng(seed).random((40, 9))
    choice = choose_flats(table, count, n_starts=1, rng=np.random.RandomState(seed))
    start = np.random.RandomState(seed).choice(9, count, replace=False)
    chosen, energy = reference_codes.greedy_flats(table, count, start, 50)
    assert choice.index.tolist() == list(chosen)
    assert choice.energy == pytest.approx(energy)


@pytest.mark.parametrize("seed", range(3))
def test_many_starts_find_the_best(seed):
    table = np.random.default_rng(seed).random((30, 10))
    choice = choose_flats(table, 3, n_starts=30, rng=np.random.RandomState(0))
    best = min(slow_energy(table, chosen) for chosen in combinations(range(10), 3))
    assert choice.energy == pytest.approx(best)


def test_equal_columns():
    choice = choose_flats(np.ones((20, 6)), 3, n_starts=2, rng=np.random.RandomState(0))
    assert len(set(choice.index)) == 3
    assert choice.energy == 20


def test_fewer_columns_than_flats():
    choice = choose_flats(np.eye(4)[:, :2], 3, n_starts=1, rng=np.random.RandomState(0))
    assert set(choice.index) == {0, 1}


def test_more_starts_are_never_worse():
    table = np.random.default_rng(0).random((60, 30))
    few, many = (choose_flats(table, 5, n_starts=s, rng=np.random.RandomState(0)).energy for s in (1, 10))
    assert many <= few


def test_block_size_and_memory_order_do_not_matter(tiny_blocks):
    table = np.random.default_rng(0).random((50, 40))
    large = choose_flats(table, 4, n_starts=3, rng=np.random.RandomState(0))
    tiny_blocks()
    tiny = choose_flats(np.asfortranarray(table), 4, n_starts=3, rng=np.random.RandomState(0))
    assert large.index.tolist() == tiny.index.tolist()


def test_table_of_distances(planes, monkeypatch):
    X, _ = planes
    flats = candidate_flats.candidate_flats(X, 15, 2, affine=True, rng=np.random.RandomState(0))
    table = distance_table(X, flats, 2, np.random.RandomState(0))
    np.testing.assert_allclose(table, np.sqrt(reference.squared_distances(X, slow_flats(flats))), atol=1e-7)
    monkeypatch.setattr(candidate_flats, "TABLE_ENTRIES", 15)
    monkeypatch.setattr(candidate_flats, "ROWS_PER_FLAT", 20)
    assert distance_table(X, flats, 2, np.random.RandomState(0)).shape == (40, 15)


def test_candidates_are_the_flats_of_the_reference(planes):
    X, _ = planes
    flats = candidate_flats.candidate_flats(X, len(X), 2, affine=True, rng=np.random.RandomState(0))
    for i in (0, 7, 31):
        rows = reference.beta2_neighborhood(X, X[i], 2, 4, 2)
        center, basis = reference.best_fit_flat(X[rows], 2)
        np.testing.assert_allclose(flats.centers[i], center, atol=1e-10)
        assert reference.principal_angles(flats.bases[i], basis).max() < 1e-6
