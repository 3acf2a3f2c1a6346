"""Runs of commands with hostile inputs, options and machines.

Every case states its exit code, and for exit code 0 what it gives: `refused` expects code 2, `done` and `labels_of`
expect code 0. Both check what holds for every command: one line for an error, nothing on stdout then, no file changed
that is not the result, and results that are complete.
"""

import json
import os
import re
import tempfile
from pathlib import Path

import numpy as np

from subspaces import cli

RUN = {"labels.csv", "labels.npy", "model.subspaces", "report.html", "run.json"}
RNG = np.random.RandomState(0)
ROWS = RNG.standard_normal((30, 4))
QUICK = ["--method", "kasp", "-k", "2"]


def empty_folder(tmp_path, monkeypatch):
    """An empty current directory, and an empty one for temporary files, which must be empty at the end, too."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("SUBSPACES_DEBUG", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert list(temporary.iterdir()) == []


def refused(arguments, capsys, message="", *, may_keep=False):
    """Run a command that must end with exit code 2, one line with `message`, and no change; returns the line.

    With `may_keep`, complete results may be left in a folder that the line names.
    """
    before = snapshot(Path.cwd())
    capsys.readouterr()
    return check_refused(arguments, cli.main(arguments), before, capsys, message, may_keep=may_keep)


def check_refused(arguments, code, before, capsys, message, *, may_keep):
    """Check how a command ended that was refused; `before` is what the folder held."""
    captured = capsys.readouterr()
    case = f"{arguments}: {code}: {captured.err}"
    assert code == 2, case
    assert captured.out == "", case
    assert captured.err.startswith("subspaces"), case
    assert captured.err.endswith("\n"), case
    assert captured.err.count("\n") == 1, case
    assert len(captured.err.strip()) > len("subspaces: "), case
    assert message in captured.err, case
    after = snapshot(Path.cwd())
    kept = kept_folder(captured.err)
    if kept is not None:
        assert may_keep, case
        name = os.path.relpath(kept, Path.cwd())
        assert len(np.load(kept / "labels.npy")) == 30, case
        assert not any(path.name.startswith(".") for path in kept.iterdir()), case
        after = {path: content for path, content in after.items() if not path.startswith(name)}
    assert after == before, case
    return captured.err


def kept_folder(line):
    """The folder in which results are kept, as an error tells; None if there is none."""
    found = re.search(r"the results are kept in (.*)$", line.strip())
    return None if found is None else Path(found[1])


def done(arguments, capsys, *, out=None):
    """Run a command that must end with exit code 0 and write nothing but `out`; returns what it printed to stdout."""
    folder = Path.cwd()
    before = snapshot(folder)
    capsys.readouterr()
    code = cli.main(arguments)
    captured = capsys.readouterr()
    case = f"{arguments}: {code}: {captured.err}"
    assert code == 0, case
    assert all(line.startswith("subspaces: ") for line in captured.err.splitlines()), case
    after = snapshot(folder)
    assert {name: after[name] for name in after if not is_within(name, out)} == {
        name: content for name, content in before.items() if not is_within(name, out)
    }, case
    if out is not None:
        check_complete(folder / out)
    return captured.out


def labels_of(name, capsys, *options):
    """Labels that `subspaces fit` gives the rows of a file."""
    done(["fit", name, *options, "--out", "labels.npy"], capsys, out="labels.npy")
    labels = np.load("labels.npy")
    Path("labels.npy").unlink()
    return labels


def check_fit(name, capsys, *options, n_labels, labels=(0, 1)):
    """Fit a file: `n_labels` labels with exactly the values `labels`; refused if `n_labels` is None."""
    if n_labels is None:
        refused(["fit", name, *options, "--out", "labels.npy"], capsys)
        return
    found = labels_of(name, capsys, *options)
    assert found.shape == (n_labels,)
    assert set(found.tolist()) == set(labels)


def snapshot(folder):
    """Every file below a folder with its content."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            found[os.path.relpath(path, folder)] = Path(path).read_bytes() if os.path.isfile(path) else b""
        for name in folders:
            found[os.path.relpath(os.path.join(root, name), folder)] = None
    return found


def is_within(name, out):
    return out is not None and name.split(os.sep)[0] == Path(out).parts[0]


def check_complete(path):
    """Check that a result is complete: labels alone, or the folder of a run."""
    if path.is_file():
        if path.suffix.lower() == ".npy":
            assert np.load(path).ndim == 1
        return
    names = {entry.name for entry in path.iterdir()}
    assert names <= RUN
    assert names >= {"labels.csv", "labels.npy", "model.subspaces", "run.json"}
    run = json.loads((path / "run.json").read_text())
    assert set(run["files"]) == names
    labels = np.load(path / "labels.npy")
    assert len(labels) == run["rows"]["n_rows"]
    lines = (path / "labels.csv").read_text(errors="replace").splitlines()
    assert [int(line.split(",")[1]) for line in lines[1:]] == labels.tolist()


def words(*lines):
    return [line.split(" ") for line in lines]


def spoiled(value, at=(3, 1)):
    rows = ROWS.copy()
    rows[at] = value
    return rows


# Rows by name, with the labels that a fit with K=2 gives; None if it is refused.
VALUES = {
    "one NaN": (spoiled(np.nan), None),
    "one inf": (spoiled(np.inf), None),
    "one -inf": (spoiled(-np.inf), None),
    "all NaN": (np.full((30, 4), np.nan), None),
    "a column of NaN": (spoiled(np.nan, (slice(None), 1)), None),
    "a row of NaN": (spoiled(np.nan, 3), None),
    "all zero": (np.zeros((30, 4)), {0}),
    "all the same": (np.ones((30, 4)), {0}),
    "a constant column": (spoiled(7.0, (slice(None), 1)), {0, 1}),
    "a row of zeros": (spoiled(0.0, 3), {0, 1}),
    "one huge": (spoiled(1e300), None),
    "all huge": (ROWS * 1e300, None),
    "as large as can be": (np.sign(ROWS) * np.finfo(float).max, None),
    "all tiny": (ROWS * 1e-300, None),
    "all denormal": (ROWS * 5e-324 * 10, None),
    "huge and tiny": (np.where(ROWS > 0, 1e150, 1e-150), {0, 1}),
    "two rows over and over": (np.tile(ROWS[:2], (15, 1)), {0, 1}),
    "one direction": (np.outer(np.arange(30.0), [1, 2, 3, 4]), {0, 1}),
    "one distinct row and one other": (np.vstack([np.ones((29, 4)), np.zeros((1, 4))]), {0, 1}),
    "far from the origin": (ROWS * 1e-6 + 1e9, {0, 1}),
    "float32 at its end": ((np.sign(ROWS) * 3e38).astype(np.float32), None),
    "float16 with inf": (np.where(np.abs(ROWS) > 2, np.inf, ROWS).astype(np.float16), None),
    "largest integers": (np.where(ROWS > 0, 2**63 - 1, -(2**63)).astype(np.int64), {0, 1}),
}
