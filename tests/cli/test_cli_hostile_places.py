"""Data in any place, and results to any place."""

import errno
import os
import socket
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, ROWS, done, labels_of, refused

from subspaces import cli

here = pytest.fixture(autouse=True)(hostile.empty_folder)


@pytest.fixture(autouse=True)
def rows(here):
    np.save("rows.npy", ROWS)
    (here / "empty").mkdir()
    (here / "others").mkdir()
    (here / "others" / "letter.txt").write_text("dear reader")
    return here


@pytest.mark.parametrize(
    "name",
    [
        "",
        "..",
        "empty",
        "missing.csv",
        "rows.npy/below.npy",
        "/dev/null",
        "missing/*.csv",
        "[",
        "rows.npy\n",
        "http://example.org/rows.csv",
        "x" * 300 + ".csv",
        "no\0thing.csv",
        "~nobody-of-this-name/rows.csv",
        "rows",
        "-k",
        "--",
    ],
)
def test_data_that_is_not_a_file(name, capsys):
    refused(["fit", name, *QUICK, "--out", "labels.npy"], capsys)


def test_pipes_sockets_and_links(capsys):
    os.mkfifo("pipe.csv")
    os.symlink("loop.csv", "loop.csv")
    os.symlink("nowhere.csv", "dangling.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.csv")
        for name in ("pipe.csv", "loop.csv", "dangling.csv", "socket.csv"):
            refused(["fit", name, *QUICK, "--out", "labels.npy"], capsys)


@pytest.fixture
def pipes(here):
    """Pipes that nobody writes to, under names of files that commands read, and a device without an end."""
    done_run = ["fit", "rows.npy", *QUICK, "--no-report", "--out", "run", "-q"]
    assert cli.main(done_run) == 0
    for name in ("model.subspaces", "run.json", "labels.npy"):
        (here / f"with-{name}").mkdir()
        for file in (here / "run").iterdir():
            (here / f"with-{name}" / file.name).write_bytes(file.read_bytes())
        (here / f"with-{name}" / name).unlink()
        os.mkfifo(here / f"with-{name}" / name)
    for name in ("x.subspaces", "x.toml", "x.json", "x.npy"):
        os.mkfifo(here / name)
    os.symlink("/dev/zero", "zero.toml")
    os.symlink("/dev/zero", "zero.subspaces")


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "x.subspaces", "rows.npy"],
        ["predict", "zero.subspaces", "rows.npy"],
        ["predict", "with-model.subspaces", "rows.npy"],
        ["predict", "with-run.json", "rows.npy"],
        ["report", "with-labels.npy", "--force"],
        ["report", "with-run.json", "--force"],
        ["fit", "rows.npy", "--config", "x.toml"],
        ["fit", "rows.npy", "--config", "x.json"],
        ["fit", "rows.npy", "--config", "zero.toml"],
        ["fit", "rows.npy", "--again", "with-run.json"],
        ["fit", "rows.npy", "-k", "2", "--truth", "x.npy"],
    ],
)
def test_pipes_and_devices_are_never_opened(arguments, pipes, capsys):
    refused(arguments, capsys)


def test_names_that_are_not_text(capsys):
    name = os.fsdecode(b"rows-\xff.npy")
    os.rename("rows.npy", name)
    assert len(labels_of(name, capsys, *QUICK)) == 30
    done(["fit", name, *QUICK, "--out", "run"], capsys, out="run")
    refused(["fit", os.fsdecode(b"no-\xff.npy"), *QUICK], capsys)


def test_a_file_that_cannot_be_read(capsys, monkeypatch):
    # root may read everything, so opening the file is made to fail, for the command only.
    real, run = open, cli.main

    def opened(file, *given, **options):
        if str(file).endswith("rows.npy"):
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return real(file, *given, **options)

    def main(arguments):
        with monkeypatch.context() as patch:
            patch.setattr("builtins.open", opened)
            patch.setattr("io.open", opened)
            patch.setattr(Path, "open", lambda path, *given, **options: opened(path, *given, **options))
            return run(arguments)

    monkeypatch.setattr(cli, "main", main)
    assert "permission denied" in refused(["fit", "rows.npy", *QUICK], capsys).lower()


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize(
    "out",
    [
        "",
        ".",
        "..",
        "/",
        "others",
        "rows.npy",
        "rows.npy/run",
        "rows.npy/below/labels.npy",
        "x" * 300,
        "no\0thing",
        "others/letter.txt",
        "~nobody-of-this-name/run",
    ],
)
def test_results_that_cannot_be_put_there(out, force, capsys):
    refused(["fit", "rows.npy", *QUICK, "--out", out, *force], capsys, "--out")


@pytest.mark.parametrize("out", ["empty.npy", "empty.csv"])
def test_a_folder_where_a_file_should_be(out, capsys):
    Path(out).mkdir()
    refused(["fit", "rows.npy", *QUICK, "--out", out, "--force"], capsys, "is a folder")


@pytest.mark.parametrize("out", ["empty", "new", "new/", "Ünï cödé", "-dash", "labels.CSV"])
def test_results_that_can_be_put_there(out, capsys):
    done(["fit", "rows.npy", *QUICK, f"--out={out}", "--no-report"], capsys, out=out)


def test_stdin_that_is_closed(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    refused(["fit", "-", *QUICK, "--out", "labels.npy"], capsys, "standard input, which is closed")


@pytest.mark.parametrize("value", [10**12, -2, 2])
def test_labels_that_are_not_clusters_of_the_model(value, capsys):
    done(["fit", "rows.npy", *QUICK, "--no-report", "--out", "run"], capsys, out="run")
    np.save("run/labels.npy", np.full(30, value, np.int64))
    refused(["report", "run"], capsys, "labels outside of the 2 clusters")
    np.save("run/labels.npy", np.zeros(30))
    refused(["report", "run"], capsys, "which are not labels")


def test_a_folder_that_cannot_be_written_to(capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *given, **options: False)
    refused(["fit", "rows.npy", *QUICK, "--out", "run"], capsys, "not writable")
