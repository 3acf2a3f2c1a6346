"""The kernels of `_triton.py`, where there is a CUDA device to run them."""

import numpy as np
import pytest

from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import nearest, squared_distances
from subspaces.flats.flats import Flats

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(
    ("n", "p", "count", "dim"), [(1000, 80, 1000, 9), (77, 5, 33, 2), (300, 128, 65, 3), (1, 16, 7, 1)]
)
def test_distances_and_nearest(n, p, count, dim, affine):
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((count, p)) if affine else np.zeros((count, p))
    flats = Flats(centers.astype(np.float32), np.linalg.qr(rng.standard_normal((count, p, dim)))[0].astype(np.float32))
    x = rng.standard_normal((n, p)).astype(np.float32)
    on_device = DeviceFlats(flats)
    rows = torch.as_tensor(x, device="cuda")
    exact = squared_distances(x.astype(float), Flats(flats.centers.astype(float), flats.bases.astype(float)))
    np.testing.assert_allclose(on_device.table(rows).cpu().numpy(), exact, atol=2e-5 * exact.max())
    # Few are found in groups, many by a partial sort.
    for few in (5, 40):
        values, index = (each.cpu().numpy() for each in on_device.nearest(rows, few))
        expected = nearest(x, flats, few)
        np.testing.assert_allclose(values, expected[1], atol=2e-5 * exact.max())
        assert (index == expected[0]).mean() > 0.99


def test_ties_go_to_the_lower_index():
    """Copies of the same flats, in different groups."""
    bases = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 16, 2)))[0].astype(np.float32)
    flats = Flats(np.zeros((300, 16), np.float32), np.tile(bases, (15, 1, 1)))
    rows = torch.randn(50, 16, device="cuda")
    index = DeviceFlats(flats).nearest(rows, 7)[1].cpu().numpy()
    assert (index == index[:, :1] + 20 * np.arange(7)).all()


def test_rows_that_are_not_finite_do_not_crash():
    flats = Flats(np.zeros((33, 4), np.float32), np.tile(np.eye(4, 1, dtype=np.float32), (33, 1, 1)))
    rows = torch.full((5, 4), float("nan"), device="cuda")
    assert (DeviceFlats(flats).nearest(rows, 5)[1] < 33).all()
