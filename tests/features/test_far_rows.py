"""Weights of rows so far away that powers of their distances overflow."""

import numpy as np
import pytest

from subspaces import FLS
from subspaces.features import SubspaceFeatures
from subspaces.features.weights import row_weights

NEAR = np.array([[1.0, 2.0, 4.0]])


@pytest.mark.parametrize("power", [1.0, 4.0, 50.0])
def test_only_ratios_count_if_rows_have_their_own_width(power):
    expected = row_weights(NEAR, power=power)
    np.testing.assert_allclose(row_weights(1e280 * NEAR, power=power), expected)
    np.testing.assert_allclose(row_weights(1e-280 * NEAR, power=power), expected)
    np.testing.assert_allclose(row_weights(0 * NEAR, power=power), 1 / 3)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("power", [2.0, 4.0])
def test_far_rows_have_equal_weights_if_the_width_is_given(power):
    found = row_weights(np.concatenate([NEAR, 1e280 * NEAR]), width=1e-40, power=power)
    np.testing.assert_allclose(found, [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{"power": 4}, {"power": 50}, {"sigma": 1e-30}])
def test_one_row_far_away(options):
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[7] = 1e140
    model = FLS(2, random_state=0, **options).fit(X)
    assert set(model.labels_) <= {0, 1}
    assert np.isfinite(model.transform(X)).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_features_below_normal_numbers_are_zero(dtype):
    """Products of such numbers are slow."""
    X = np.linspace(0, 40, 200)[:, None].repeat(2, axis=1).astype(dtype)
    psi = SubspaceFeatures(20, subspace_dim=0, sigma=1.0, random_state=0).fit(X).transform(X)
    tiny = np.finfo(dtype).tiny
    assert (psi == 0).any()
    assert not ((psi > 0) & (psi < tiny)).any()
    assert psi[psi > 0].min() < 1e4 * tiny
