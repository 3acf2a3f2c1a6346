"""Text for people, and files of labels."""

import numpy as np

from subspaces.cli import results
from subspaces.cli.output import one_line, seconds_text, table


def test_one_line():
    assert one_line("two\nlines\tand \x1b[31mred") == "two lines and ?[31mred"
    assert len(one_line("x" * 5000)) == 1000


def test_times():
    assert [seconds_text(x) for x in (0.123, 5.06, 42, 300, 7200, 9000)] == [
        "0.12 s",
        "5.1 s",
        "42 s",
        "5 min",
        "2.0 h",
        "2.5 h",
    ]


def test_tables():
    assert table(["a", "b"], [["long name", "1"], ["x", "200"]]) == "a            b\nlong name    1\nx          200"


def test_labels_are_written_as_npy(tmp_path):
    labels = np.arange(1_000_000, dtype=np.int32)
    results.write_labels(tmp_path / "labels.npy", labels)
    assert np.array_equal(np.load(tmp_path / "labels.npy"), labels)
