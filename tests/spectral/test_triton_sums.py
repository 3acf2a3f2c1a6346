"""Sums of sparse rows on CUDA beside those of any array library."""

import numpy as np
import pytest

from subspaces.spectral.sparse import SparseRows

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("n", "r", "size"), [(5000, 5, 300), (3, 1, 2), (257, 8, 8)])
def test_sums(n, r, size, counted):
    rng = np.random.default_rng(0)
    index = np.argsort(rng.random((n, size)), axis=1)[:, :r]
    weights, counts = rng.dirichlet(np.ones(r), n).astype(np.float32), rng.random(n).astype(np.float32)
    own = counts if counted else None
    expected = SparseRows(index, weights, size, own).sums()
    on_device = [None if each is None else torch.as_tensor(each, device="cuda") for each in (index, weights, own)]
    for found, exact in zip(SparseRows(*on_device[:2], size, on_device[2]).sums(), expected, strict=True):
        assert found.dtype == torch.float64
        np.testing.assert_allclose(found.cpu().numpy(), exact, rtol=1e-5, atol=1e-6)
