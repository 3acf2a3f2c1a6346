"""What tests of hostile inputs, options and machines share.

Whatever a user gives, a command ends with exit code 0 or 2, one clear line, and nothing half-written: every case goes
through `attempt`, which checks all of that.
"""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from subspaces import cli

RUN = {"labels.csv", "labels.npy", "model.subspaces", "report.html", "run.json", "preparation.subspaces"}
RNG = np.random.RandomState(0)
ROWS = RNG.standard_normal((30, 4))
QUICK = ["--method", "kasp", "-k", "2"]


def empty_folder(tmp_path, monkeypatch):
    """An empty folder that is the current one, with folders of its own for what is temporary."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.delenv("SUBSPACES_DEBUG", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert list(temporary.iterdir()) == []


def attempt(arguments, capsys, *, out=None, code=None):
    """Run a command in the current folder and check everything that is promised; returns exit code, stdout, stderr."""
    folder = Path.cwd()
    before = snapshot(folder)
    capsys.readouterr()
    try:
        ended = cli.main(arguments)
    except SystemExit as stop:
        ended = stop.code
    captured = capsys.readouterr()
    told = f"{arguments}: {ended}: {captured.err}"
    assert ended in (0, 2), told
    assert "Traceback" not in captured.err, told
    if ended == 2:
        assert captured.out == "", told
        assert captured.err.startswith("subspaces"), told
        assert captured.err.endswith("\n"), told
        assert captured.err.count("\n") == 1, told
        assert len(captured.err.strip()) > len("subspaces: "), told
    else:
        for line in captured.err.splitlines():
            assert line.startswith("subspaces: "), told
    if code is not None:
        assert ended == code, told
    after = snapshot(folder)
    new = {name for name in after if name.split(os.sep)[0] not in {old.split(os.sep)[0] for old in before}}
    assert {name: after[name] for name in before if name in after and not is_within(name, out)} == {
        name: content for name, content in before.items() if not is_within(name, out)
    }, told
    if ended == 2:
        assert after == before, told
    else:
        assert all(is_within(name, out) for name in new), told
        if out is not None and "--dry-run" not in arguments:
            check_whole(folder / out)
    return ended, captured.out, captured.err


def snapshot(folder):
    """Every file below, and what it holds."""
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


def check_whole(path):
    """A result is all there."""
    if path.is_file():
        if path.suffix.lower() == ".npy":
            assert np.load(path).ndim == 1
        return
    names = {entry.name for entry in path.iterdir()}
    assert names <= RUN
    assert names >= {"labels.csv", "labels.npy", "model.subspaces", "run.json"}
    run = json.loads((path / "run.json").read_text())
    assert set(run["files"]) == names
    assert len(np.load(path / "labels.npy")) == run["rows"]["n_rows"]
    assert len((path / "labels.csv").read_text(errors="replace").splitlines()) >= run["rows"]["n_rows"] + 1


def fit(name, capsys, *more, **options):
    return attempt(["fit", name, *more, "--out", "labels.npy"], capsys, out="labels.npy", **options)


def words(*lines):
    return [line.split(" ") for line in lines]


def spoiled(value, at=(3, 1)):
    rows = ROWS.copy()
    rows[at] = value
    return rows


VALUES = {
    "one NaN": spoiled(np.nan),
    "one inf": spoiled(np.inf),
    "one -inf": spoiled(-np.inf),
    "all NaN": np.full((30, 4), np.nan),
    "a column of NaN": spoiled(np.nan, (slice(None), 1)),
    "a row of NaN": spoiled(np.nan, 3),
    "all zero": np.zeros((30, 4)),
    "all the same": np.ones((30, 4)),
    "a constant column": spoiled(7.0, (slice(None), 1)),
    "a row of zeros": spoiled(0.0, 3),
    "one huge": spoiled(1e300),
    "all huge": ROWS * 1e300,
    "as large as can be": np.sign(ROWS) * np.finfo(float).max,
    "all tiny": ROWS * 1e-300,
    "all denormal": ROWS * 5e-324 * 10,
    "huge and tiny": np.where(ROWS > 0, 1e150, 1e-150),
    "two rows over and over": np.tile(ROWS[:2], (15, 1)),
    "one direction": np.outer(np.arange(30.0), [1, 2, 3, 4]),
    "one distinct row and one other": np.vstack([np.ones((29, 4)), np.zeros((1, 4))]),
    "far from the origin": ROWS * 1e-6 + 1e9,
    "float32 at its end": (np.sign(ROWS) * 3e38).astype(np.float32),
    "float16 with inf": np.where(np.abs(ROWS) > 2, np.inf, ROWS).astype(np.float16),
    "largest integers": np.where(ROWS > 0, 2**63 - 1, -(2**63)).astype(np.int64),
}
