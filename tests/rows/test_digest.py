"""Rows that change between passes are noticed, whatever changes in them."""

import numpy as np
import pytest

from subspaces import LandmarkSpectralClustering, open_rows
from subspaces.rows import feed as _engine
from subspaces.rows.digest import Digests, digest

X = np.random.default_rng(0).normal(size=(600, 4))
MODEL = LandmarkSpectralClustering(2, n_landmarks=20, n_components=1, random_state=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_change_gives_another_number(dtype):
    x = X[:50].astype(dtype)
    bit, swapped = x.copy(), x.copy()
    bit[7, 2] = np.nextafter(bit[7, 2], np.inf, dtype=dtype)
    swapped[[3, 4]] = swapped[[4, 3]]
    numbers = {digest(each) for each in (x, bit, swapped, x[:-1], x[::-1], -x)}
    assert len(numbers) == 6
    assert digest(np.asfortranarray(x)) == digest(x)


def test_blocks_are_numbered_from_the_first_of_the_pass():
    digests, blocks = Digests(), [X[:10], X[10:20], X[20:30]]
    assert len(list(digests.watch(blocks))) == 3
    list(digests.watch(blocks[1:], 1))
    with pytest.raises(ValueError, match="block 1 is not what it was"):
        list(digests.watch(blocks[2:], 1))


@pytest.mark.parametrize("changed", [2, 3])
def test_a_function_whose_later_blocks_change(changed, monkeypatch):
    """All blocks but the first are other ones from some pass on: in the sample, in the sums or in the labels."""
    monkeypatch.setattr(_engine, "FIT_ROWS", 100)
    passes = []

    def blocks():
        passes.append(None)
        yield X[:200]
        yield X[200:] + (len(passes) > changed + 2)

    # Two passes look at the first block only.
    with pytest.raises(ValueError, match="the rows have changed"):
        MODEL.fit(open_rows(blocks, block_rows=200))


def test_a_file_that_is_written_during_the_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(_engine, "FIT_ROWS", 100)
    np.save(tmp_path / "rows.npy", X)
    draw = _engine.SourceFeed.draw

    def drawn(self, *args):
        draw(self, *args)
        np.lib.format.open_memmap(tmp_path / "rows.npy", "r+")[450, 0] += 1e-9

    monkeypatch.setattr(_engine.SourceFeed, "draw", drawn)
    with pytest.raises(ValueError, match="block 4 is not what it was"):
        MODEL.fit(open_rows(tmp_path / "rows.npy", block_rows=100))
