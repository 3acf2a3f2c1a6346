"""Rows that change between passes are noticed, whatever changes in them."""

import tracemalloc

import numpy as np
import pytest
import reference

from subspaces import LandmarkSpectralClustering, open_rows
from subspaces.rows import digest as digest_module
from subspaces.rows import feed as _engine
from subspaces.rows.digest import (
    MOST_SUMS,
    WEIGHTS,
    WIDTH,
    Digests,
    _sums_on_device,
    _sums_on_host,
    digest,
    fingerprint,
    is_same,
)

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


class TestFingerprints:
    """Blocks on a device and chunks of Dask may differ in their last digits, but not by more."""

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_changes_beyond_rounding(self, dtype):
        x = X[:50].astype(dtype)
        one, swapped, columns, last = x.copy(), x.copy(), x[:, ::-1], np.nextafter(x, np.inf, dtype=dtype)
        one[7, 2] += 0.5
        swapped[[3, 4]] = swapped[[4, 3]]
        known = fingerprint(x)
        assert not [each for each in (one, swapped, columns, x[:-1], x[::-1], -x) if is_same(known, fingerprint(each))]
        assert is_same(known, fingerprint(last))
        assert is_same(known, fingerprint(np.asfortranarray(x)))

    @pytest.mark.parametrize("size", [WIDTH - 1, WIDTH, 3 * WIDTH + 7])
    @pytest.mark.parametrize("most", [2, 1024])
    def test_slow_twin(self, size, most, monkeypatch):
        monkeypatch.setattr(digest_module, "MOST_SUMS", most)
        x = np.random.default_rng(size).normal(size=(size, 1))
        sums, peaks = reference.fingerprint(x, WEIGHTS, most)
        found = fingerprint(x)
        np.testing.assert_allclose(found.sums, sums, rtol=1e-10)
        np.testing.assert_array_equal(found.peaks, peaks)

    def test_in_any_library(self, xp):
        assert is_same(fingerprint(X), fingerprint(xp.asarray(X)))

    def test_on_a_device(self, xp):
        """What a device computes is what the host computes."""
        x = np.random.default_rng(0).normal(size=(5, WIDTH))
        for width in (WIDTH, 17):
            sums, peaks = _sums_on_device(xp.asarray(x[:, :width].copy()))
            expected = _sums_on_host(x[:, :width])
            np.testing.assert_allclose(sums, expected[0], rtol=1e-10)
            np.testing.assert_array_equal(peaks, expected[1])

    @pytest.mark.parametrize("place", [0, 1_234_567, -1])
    @pytest.mark.parametrize("mean", [0.0, 1000.0])
    def test_one_value_of_millions(self, place, mean):
        """In single precision; it changes by a part of the largest value near it."""
        x = np.random.default_rng(0).standard_normal((100_000, 50), dtype=np.float32) + np.float32(mean)
        known = fingerprint(x)
        last = np.nextafter(x, np.float32(np.inf))
        assert is_same(known, fingerprint(last))
        x.reshape(-1)[place] += 0.3 * np.abs(x).max()
        assert not is_same(known, fingerprint(x))

    @pytest.mark.parametrize("size", [1e-30, 1e15])
    def test_sizes_of_values_do_not_matter(self, size):
        x = (size * X).astype(np.float32)
        swapped = x.copy()
        swapped[[3, 4]] = swapped[[4, 3]]
        assert is_same(fingerprint(x), fingerprint(np.nextafter(x, np.float32(np.inf))))
        assert not is_same(fingerprint(x), fingerprint(swapped))

    def test_one_hot_rows_that_change_places(self):
        """Sums of rows and of columns stay the same."""
        x = np.eye(40)[np.random.default_rng(0).integers(40, size=3000)]
        assert not any(is_same(fingerprint(x), fingerprint(np.roll(x, shift, axis=0))) for shift in range(1, 40))

    def test_needs_no_array_of_the_size_of_the_block(self):
        x = np.ones((50_000, 40), np.float32)
        fingerprint(x)
        tracemalloc.start()
        fingerprint(x)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < x.nbytes / 10

    def test_what_is_kept_of_a_block_is_bounded(self):
        found = fingerprint(np.ones((2 * MOST_SUMS + 1, WIDTH), np.float32))
        assert MOST_SUMS // 2 < len(found.sums) == len(found.peaks) <= MOST_SUMS

    @pytest.mark.parametrize("kind", ["an array", "a function"])
    def test_rows_on_a_device(self, xp, kind, monkeypatch):
        """Rows are changed after the sample was taken: in place, or by the function."""
        monkeypatch.setattr(_engine, "FIT_ROWS", 100)
        rows, draw = xp.asarray(X.copy()), _engine.SourceFeed.draw

        def drawn(self, *args):
            draw(self, *args)
            rows[450, 0] += 1.0

        monkeypatch.setattr(_engine.SourceFeed, "draw", drawn)
        source = rows if kind == "an array" else lambda: iter([rows[:300, :], rows[300:, :]])
        with pytest.raises(ValueError, match="block 4 is not what it was"):
            MODEL.fit(open_rows(source, block_rows=100))

    def test_last_digits_may_differ(self, xp, monkeypatch):
        monkeypatch.setattr(_engine, "FIT_ROWS", 100)
        rows, passes = xp.asarray(X), []

        def blocks():
            passes.append(None)
            yield rows[:300, :]
            yield rows[300:, :] * (1 + 1e-15 * len(passes))

        assert MODEL.fit(open_rows(blocks, block_rows=100)).labels_.shape == (600,)
