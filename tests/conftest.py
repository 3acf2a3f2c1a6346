"""Data and settings that tests of several rooms share."""

import pytest

from subspaces._core import blocks
from subspaces.rows import feed


@pytest.fixture
def few_fit_rows(monkeypatch):
    """Decisions are made on a sample of at most this many rows, so that tests with more rows are quick."""
    count = 600
    monkeypatch.setattr(feed, "FIT_ROWS", count)
    return count


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Blocks of one row, or as few as a computation allows: results must not depend on the size of blocks."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
