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
