"""Distances to flats for rows of any array library: equal to those of NumPy."""

import numpy as np
import pytest

from subspaces._core.arrays import to_host
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distances_to
from subspaces.flats.flats import Flats


@pytest.mark.parametrize("dim", [0, 1, 3])
@pytest.mark.parametrize("linear", [True, False])
def test_distances(xp, dim, linear):
    rng = np.random.default_rng(0)
    centers = np.zeros((7, 5)) if linear else rng.normal(10, 1, size=(7, 5))
    flats = Flats(centers, np.linalg.qr(rng.normal(size=(7, 5, dim)))[0])
    x = rng.normal(10, 1, size=(50, 5))
    expected = distances_to(flats)(x)
    device = DeviceFlats(flats)
    np.testing.assert_allclose(to_host(device.table(xp.asarray(x))), expected, atol=1e-9)
    values, index = device.nearest(xp.asarray(x), 3)
    np.testing.assert_allclose(to_host(values), np.sort(expected, axis=1)[:, :3], atol=1e-9)
    chosen = np.take_along_axis(expected, to_host(index), axis=1)
    np.testing.assert_allclose(chosen, to_host(values), atol=1e-9)


def test_blocks_hold_all_rows_in_order(xp, monkeypatch):
    monkeypatch.setattr("subspaces.flats.device.DEVICE_BYTES", 5000)
    flats = Flats(np.zeros((7, 5)), np.linalg.qr(np.random.default_rng(0).normal(size=(7, 5, 2)))[0])
    x = xp.asarray(np.arange(200.0).reshape(40, 5))
    blocks = list(DeviceFlats(flats).blocks(x))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate([to_host(block) for block in blocks]), to_host(x))
    assert DeviceFlats(flats).nearest(x, 2)[1].shape == (40, 2)
