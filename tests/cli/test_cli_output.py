"""Text for people, and files of labels."""

import numpy as np

from subspaces.cli import results
from subspaces.cli.output import one_line, table


def test_one_line():
    assert one_line("two\nlines\tand \x1b[31mred") == "two lines and ?[31mred"
    assert len(one_line("x" * 5000)) == 1000


def test_tables():
    assert table(["a", "b"], [["long name", "1"], ["x", "200"]]) == "a            b\nlong name    1\nx          200"


def test_labels_are_written_as_npy(tmp_path):
    labels = np.arange(1_000_000, dtype=np.int32)
    results.write_labels(tmp_path / "labels.npy", labels)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), labels)
