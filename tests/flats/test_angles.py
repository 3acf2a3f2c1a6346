"""Principal angles against the slow version and invariances."""

import numpy as np
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from subspaces.flats.angles import principal_angles

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10_000)


def random_rotation(rng, p):
    return np.linalg.qr(rng.standard_normal((p, p)))[0]


class TestPrincipalAngles:
    @few
    @given(seed=seeds, p=st.integers(2, 12))
    def test_match_the_reference(self, seed, p):
        rng = np.random.default_rng(seed)
        first, second = (np.linalg.qr(rng.standard_normal((p, rng.integers(1, p + 1))))[0] for _ in range(2))
        found = principal_angles(first, second)
        assert found.shape == (min(first.shape[1], second.shape[1]),)
        np.testing.assert_allclose(found, reference.principal_angles(first, second), atol=1e-12)
        np.testing.assert_allclose(principal_angles(second, first), found, atol=1e-12)

    def test_are_accurate_at_both_ends(self):
        known = np.array([0, 1e-9, 1e-4, 0.5, np.pi / 4, 1.2, np.pi / 2 - 1e-9, np.pi / 2])
        rotation = random_rotation(np.random.default_rng(0), 16)
        first = rotation @ np.eye(16)[:, :8]
        second = rotation @ np.concatenate([np.diag(np.cos(known)), np.diag(np.sin(known))])
        np.testing.assert_allclose(principal_angles(first, second), known, rtol=1e-6, atol=1e-15)

    def test_vanish_for_any_basis_of_the_same_space(self):
        rng = np.random.default_rng(1)
        basis = np.linalg.qr(rng.standard_normal((9, 4)))[0]
        assert principal_angles(basis, basis @ random_rotation(rng, 4)).max() < 1e-15
        assert principal_angles(basis, basis[:, :2]).max() < 1e-15
