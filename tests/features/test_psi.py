"""psi of all rows in blocks: memory, and equality with psi computed at once."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import reference

from subspaces.features import psi as psi_module
from subspaces.features.psi import compute_psi, leading_vectors
from subspaces.kernels import FourierFeatures, SubspaceFeatures
from subspaces.spectral.kernel_graph import with_constant

ALL_ROWS = SimpleNamespace(is_sampled=False)


@pytest.mark.parametrize(
    "features",
    [FourierFeatures(60, sigma=0.5, random_state=0), SubspaceFeatures(30, subspace_dim=2, random_state=0)],
    ids=["signed", "positive"],
)
def test_eigenvalues_do_not_depend_on_groups_or_cache(features, monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 5))
    features.fit(X)
    found = []
    for rows, kept in ((8192, 2**28), (100, 10_000), (7, 0)):
        monkeypatch.setattr(psi_module, "GROUP_ROWS", rows)
        monkeypatch.setattr(psi_module, "KEPT_BYTES", kept)
        found.append(leading_vectors(compute_psi(features, X), 3, feed=ALL_ROWS, prepare=lambda x: x).eigenvalues)
    np.testing.assert_allclose(found[1], found[0])
    np.testing.assert_allclose(found[2], found[0])
    psi = with_constant(features.transform(X), compute_psi(features, X).tie)
    assert (psi @ psi.sum(axis=0) > 0).all()
    np.testing.assert_allclose(found[0], reference.embedding(psi, 3)[0])


def test_dense_psi_is_kept_up_to_a_limit(monkeypatch):
    X = np.random.default_rng(0).normal(size=(15_000, 10)).astype(np.float32)
    monkeypatch.setattr(psi_module, "KEPT_BYTES", 10**7)
    monkeypatch.setattr(psi_module, "GROUP_ROWS", 1000)
    features = FourierFeatures(1000, sigma=2.0, random_state=0).fit(X)
    tracemalloc.start()
    try:
        leading_vectors(compute_psi(features, X), 2, feed=ALL_ROWS, prepare=lambda x: x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # All of psi is 60 MB.
    assert 10e6 < peak < 60e6


class TestBlockProducts:
    """The route for many landmarks gives the spectrum of the D x D matrix, which it never makes."""

    @pytest.fixture
    def rows(self):
        return np.random.default_rng(0).normal(size=(400, 6))

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("name", ["signed", "positive"])
    @pytest.mark.parametrize("is_sampled", [False, True], ids=["in memory", "in blocks"])
    def test_same_spectrum(self, rows, name, dtype, is_sampled, monkeypatch):
        rows = rows.astype(dtype)
        features = {
            "signed": FourierFeatures(90, sigma=2.0, random_state=0),
            "positive": SubspaceFeatures(90, subspace_dim=2, random_state=0),
        }[name].fit(rows)

        def halves(function, name):
            return tuple(
                np.sum(parts, axis=0) for parts in zip(function(rows[:150]), function(rows[150:]), strict=True)
            )

        feed = SimpleNamespace(is_sampled=is_sampled, sum=halves)
        expected = leading_vectors(compute_psi(features, rows), 3, feed=feed, prepare=lambda x: x)
        monkeypatch.setattr(psi_module, "LEAST_WIDTH", 0)
        monkeypatch.setattr(psi_module, "LEAST_WIDTH_AGAIN", 0)
        monkeypatch.setattr(psi_module, "degree_sums", None)
        monkeypatch.setattr(psi_module, "degree_sums_of", None)
        found = leading_vectors(compute_psi(features, rows), 3, feed=feed, prepare=lambda x: x)
        error = 1e-5 if dtype == np.float32 else 1e-10
        np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, atol=error)
        np.testing.assert_allclose(np.linalg.svd(found.vectors.T @ expected.vectors)[1], 1, atol=100 * error)
        np.testing.assert_allclose(found.degree, expected.degree, rtol=1e-5)

    def test_the_matrix_is_the_way_out(self, rows, monkeypatch):
        features = SubspaceFeatures(90, subspace_dim=2, random_state=0).fit(rows)
        expected = leading_vectors(compute_psi(features, rows), 3, feed=ALL_ROWS, prepare=lambda x: x)
        monkeypatch.setattr(psi_module, "LEAST_WIDTH", 0)
        monkeypatch.setattr(psi_module, "spectrum_of_products", lambda *arguments, **options: None)
        found = leading_vectors(compute_psi(features, rows), 3, feed=ALL_ROWS, prepare=lambda x: x)
        np.testing.assert_array_equal(found.eigenvalues, expected.eigenvalues)

    def test_the_choice_depends_on_what_is_kept(self, rows, monkeypatch):
        features = SubspaceFeatures(90, subspace_dim=2, random_state=0).fit(rows)
        chosen = []
        monkeypatch.setattr(psi_module, "spectrum_of_products", lambda *arguments, **options: chosen.append(1))
        monkeypatch.setattr(psi_module, "LEAST_WIDTH", 60)
        leading_vectors(compute_psi(features, rows), 3, feed=ALL_ROWS, prepare=lambda x: x)
        assert chosen == [1]
        monkeypatch.setattr(psi_module, "KEPT_BYTES", 1000)
        leading_vectors(compute_psi(features, rows), 3, feed=ALL_ROWS, prepare=lambda x: x)
        leading_vectors(compute_psi(features, rows), 5, feed=ALL_ROWS, prepare=lambda x: x)
        assert chosen == [1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_psi_of_many_landmarks_is_kept_instead_of_sums(dtype, monkeypatch):
    X = np.random.default_rng(0).normal(size=(900, 4)).astype(dtype)
    features = SubspaceFeatures(500, subspace_dim=1, n_nearest=4, random_state=0).fit(X)
    passes = []

    def mapped(function):
        passes.append("map")
        return np.concatenate([function(X[:400]), function(X[400:400]), function(X[400:])])

    def summed(function, name):
        passes.append("sum")
        return function(X)

    feed = SimpleNamespace(is_sampled=True, n_rows=len(X), copies=None, map=mapped, sum=summed)
    sample = compute_psi(features, X[:300])
    by_sums = leading_vectors(sample, 4, feed=feed, prepare=lambda x: x)
    monkeypatch.setattr(psi_module, "MANY_LANDMARKS", 400)
    by_psi = leading_vectors(sample, 4, feed=feed, prepare=lambda x: x)
    assert passes == ["sum", "map"]
    np.testing.assert_allclose(by_psi.eigenvalues, by_sums.eigenvalues, rtol=1e-5)
    np.testing.assert_allclose(by_psi.degree, by_sums.degree, rtol=1e-5)
    # With few landmarks the sums are smaller.
    feed.n_rows = 10**6
    leading_vectors(sample, 4, feed=feed, prepare=lambda x: x)
    assert passes[-1] == "sum"
