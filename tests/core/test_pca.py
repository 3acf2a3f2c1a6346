"""Principal components from blocks of rows equal those of a singular value decomposition."""

import numpy as np
import pytest

from subspaces._core import blocks
from subspaces._core.pca import principal_scores


class TestPrincipalScores:
    @pytest.mark.parametrize("shape", [(60, 20), (20, 60), (30, 30)])
    @pytest.mark.parametrize("drop", [0, 2])
    def test_equal_to_the_singular_value_decomposition(self, shape, drop, monkeypatch):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 7 * shape[1])
        x = np.random.default_rng(0).integers(0, 256, size=shape, dtype=np.uint8)
        centered = x / 255 - (x / 255).mean(axis=0)
        left, values, right = np.linalg.svd(centered, full_matrices=False)
        signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
        expected = (left * values * signs)[:, drop:10]
        scores = principal_scores(x, 10, drop=drop, scale=1 / 255)
        assert scores.dtype == np.float32
        np.testing.assert_allclose(scores, expected, atol=1e-6)

    @pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
    def test_rows_that_are_not_centred(self, shape):
        x = np.random.default_rng(0).integers(0, 256, size=shape, dtype=np.uint8)
        left, values, right = np.linalg.svd(x / 255, full_matrices=False)
        signs = np.sign(right[np.arange(len(right)), np.abs(right).argmax(axis=1)])
        found = principal_scores(x, 5, scale=1 / 255, center=False)
        np.testing.assert_allclose(found, (left * values * signs)[:, :5], atol=1e-5)

    def test_components_without_variance_are_zero(self):
        x = np.outer(np.arange(5), np.ones(9, dtype=int)).astype(np.uint8)
        scores = principal_scores(x, 4)
        np.testing.assert_allclose(scores[:, 0], 3 * np.arange(-2, 3), atol=1e-6)
        np.testing.assert_allclose(scores[:, 1:], 0, atol=1e-6)
