"""Where results go."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import QUICK, ROWS, done, kept_folder, refused

from subspaces import KASP, cli
from subspaces._core.errors import FileInTheWayError, InputError, UserFileError
from subspaces.cli.targets import check_target, claimed

FILES = ("a.txt", "b.txt")
FIT = ["fit", "rows.npy", *QUICK, "--no-report", "--out"]
OUT = ["run", "labels.npy", "labels.csv"]

here = pytest.fixture(hostile.empty_folder)


def put(out, content, *, force=True):
    with claimed(out, force=force, ours=FILES) as target:
        (target.folder / "a.txt").write_text(content)
        target.put()


class TestCheck:
    def test_results_are_replaced_only_by_force(self, tmp_path):
        out = tmp_path / "run"
        out.mkdir()
        check_target(out, force=False, ours=FILES)
        (out / "a.txt").write_text("old")
        with pytest.raises(InputError, match="by --force"):
            check_target(out, force=False, ours=FILES)
        check_target(out, force=True, ours=FILES)

    def test_a_folder_of_other_things_is_never_replaced(self, tmp_path):
        out = tmp_path / "home"
        out.mkdir()
        (out / "thesis.tex").write_text("precious")
        with pytest.raises(InputError, match=r"other files in it, such as thesis\.tex"):
            check_target(out, force=True, ours=FILES)

    def test_data_is_never_replaced(self, tmp_path):
        data = tmp_path / "rows.csv"
        data.write_text("1,2\n")
        with pytest.raises(InputError, match="the data itself"):
            check_target(data, force=True, inputs=[str(data)])

    @pytest.mark.parametrize("ours", [FILES, ()])
    @pytest.mark.parametrize("source", ["data", "data/", "linked", "data/*", "data/r*"])
    def test_nothing_is_put_into_data(self, source, ours, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "data").mkdir()
        (tmp_path / "linked").symlink_to("data")
        given = os.path.join(str(tmp_path), source)
        with pytest.raises(InputError, match="which is read"):
            check_target(Path("data/run"), force=False, ours=ours, inputs=[given])
        for other in ("data-run", "run"):
            check_target(Path(other), force=False, ours=ours, inputs=[given])

    def test_beside_files_of_a_folder_is_a_good_place(self, tmp_path):
        (tmp_path / "rows.csv").write_text("1,2\n")
        inputs = [str(tmp_path / "rows.csv"), str(tmp_path / "*.csv")]
        check_target(tmp_path / "run", force=False, ours=FILES, inputs=inputs)
        with pytest.raises(InputError, match="would be part of"):
            check_target(tmp_path / "labels.csv", force=False, inputs=inputs)

    @pytest.mark.parametrize("name", ["~nobody-of-this-name/run", ".", "/", "x" * 250])
    def test_places_that_cannot_be_used(self, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InputError, match="--out"):
            check_target(Path(name), force=True, ours=FILES)


class TestParents:
    def test_folders_on_the_way_are_made(self, tmp_path):
        out = tmp_path / "a" / "b" / "run"
        with claimed(out, force=False, ours=FILES) as target:
            (target.folder / "labels.npy").write_text("new")
            target.put()
        assert (out / "labels.npy").read_text() == "new"

    def test_they_are_removed_if_nothing_is_put_there(self, tmp_path):
        (tmp_path / "a").mkdir()
        with pytest.raises(ZeroDivisionError), claimed(tmp_path / "a" / "b" / "c.npy", force=False):
            raise ZeroDivisionError
        assert list((tmp_path / "a").iterdir()) == []


class TestPut:
    @pytest.mark.parametrize("kind", ["missing", "empty", "link"])
    def test_old_results_are_replaced(self, tmp_path, kind):
        out = tmp_path / "run"
        if kind == "link":
            (tmp_path / "elsewhere").mkdir()
            out.symlink_to("elsewhere")
        elif kind == "empty":
            out.mkdir()
        for content in ("old", "new"):
            put(out, content)
            assert (out / "a.txt").read_text() == content
            assert [path.name for path in out.iterdir()] == ["a.txt"]
        assert {path.name for path in tmp_path.iterdir()} == {"run"} | ({"elsewhere"} if kind == "link" else set())
        assert out.is_symlink() == (kind == "link")

    def test_a_folder_that_cannot_be_moved(self, tmp_path, monkeypatch):
        """As a mount point, whose parent may not be writable either."""
        out, real = tmp_path / "volume", os.replace
        out.mkdir()

        def busy(source, target):
            if out in (Path(source), Path(target)):
                raise OSError(16, "Device or resource busy")
            real(source, target)

        monkeypatch.setattr(os, "replace", busy)
        monkeypatch.setattr(os, "rename", busy)
        access = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path and access(path, mode))
        put(out, "new")
        assert (out / "a.txt").read_text() == "new"

    @pytest.mark.parametrize("call", ["link", "unlink", "mkdir"])
    @pytest.mark.parametrize("at", range(1, 4))
    def test_the_old_comes_back_if_the_new_cannot_be_put(self, tmp_path, monkeypatch, call, at):
        out = tmp_path / "run"
        put(out, "old")
        (out / "b.txt").write_text("old")
        real, calls = getattr(os, call), []

        def fails(*given, **options):
            calls.append(given)
            if len(calls) == at:
                raise OSError(28, "No space left on device")
            return real(*given, **options)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, fails)
            try:
                put(out, "new")
            except UserFileError as error:
                if (call, at) != ("mkdir", 1):
                    kept = kept_folder(error.__notes__[0])
                    assert (kept / "a.txt").read_text() == "new"
                assert [(out / name).read_text() for name in FILES] == ["old", "old"]
            else:
                assert [path.name for path in out.iterdir()] == ["a.txt"]

    @pytest.mark.parametrize("ours", [FILES, ()])
    @pytest.mark.parametrize("other", ["file", "folder", "empty folder"])
    def test_what_appears_meanwhile_is_never_touched(self, tmp_path, ours, other):
        out = tmp_path / "run"

        def work():
            with claimed(out, force=True, ours=ours) as target:
                (target.folder / "a.txt").write_text("ours")
                if other == "file":
                    out.write_text("theirs")
                else:
                    out.mkdir()
                    if other == "folder":
                        (out / "a.txt").write_text("theirs")
                target.put(None if ours else "a.txt")

        with pytest.raises(FileInTheWayError) as raised:
            work()
        kept = kept_folder(raised.value.__notes__[0])
        assert (kept / "a.txt").read_text() == "ours"
        if other == "file":
            assert out.read_text() == "theirs"
        else:
            assert [path.read_text() for path in out.iterdir()] == ["theirs"] * (other == "folder")

    def test_results_that_change_meanwhile_are_never_replaced(self, tmp_path):
        for out, ours in ((tmp_path / "run", FILES), (tmp_path / "a.txt", ())):
            file = out / "a.txt" if ours else out
            if ours:
                out.mkdir()
            file.write_text("old")

            def work(out=out, ours=ours, file=file):
                with claimed(out, force=True, ours=ours) as target:
                    (target.folder / "a.txt").write_text("ours")
                    file.write_text("theirs, newer")
                    target.put(None if ours else "a.txt")

            with pytest.raises(FileInTheWayError, match="somebody else has written here"):
                work()
            assert file.read_text() == "theirs, newer"


@pytest.fixture
def rows(here):
    np.save("rows.npy", ROWS)
    return here


class TestRuns:
    @pytest.mark.parametrize("out", OUT)
    @pytest.mark.parametrize("force", [[], ["--force"]])
    def test_two_at_once(self, rows, out, force, capsys, monkeypatch):
        """The run that began first has the place, also if both may replace what is there."""
        if force:
            done([*FIT, out], capsys, out=out)
        fit, codes = KASP.fit, []
        begun, finish = threading.Event(), threading.Event()

        def waits(model, X):
            begun.set()
            assert finish.wait(60)
            return fit(model, X)

        monkeypatch.setattr(KASP, "fit", waits)
        first = threading.Thread(target=lambda: codes.append(cli.main([*FIT, out, *force])))
        first.start()
        assert begun.wait(60)
        code = cli.main([*FIT, out, *force])
        finish.set()
        first.join()
        assert (code, codes) == (2, [0])
        assert "is being written by another run" in capsys.readouterr().err
        hostile.check_complete(rows / out)
        assert {path.name for path in rows.iterdir()} == {"rows.npy", out}

    @pytest.mark.parametrize("out", OUT)
    def test_one_after_another(self, rows, out, capsys):
        done([*FIT, out], capsys, out=out)
        refused([*FIT, out], capsys, "--force")
        done([*FIT, out, "--force"], capsys, out=out)

    @pytest.mark.parametrize("out", OUT)
    @pytest.mark.parametrize("call", ["fit", "save"])
    def test_something_appears_meanwhile(self, rows, out, call, capsys, monkeypatch):
        real = getattr(KASP, call)
        if call == "save" and out != "run":
            pytest.skip("labels alone: no model is saved")

        def appears(model, *given):
            (rows / out).mkdir()
            (rows / out / "letter.txt").write_text("dear reader")
            return real(model, *given)

        monkeypatch.setattr(KASP, call, appears)
        assert cli.main([*FIT, out, "--force"]) == 2
        assert [path.name for path in (rows / out).iterdir()] == ["letter.txt"]
        kept = kept_folder(capsys.readouterr().err)
        assert len(np.load(kept / "labels.npy")) == len(ROWS)

    def test_a_killed_run_does_not_block_the_next(self, rows, capsys):
        code = (
            "import os, signal; from subspaces import KASP, cli\n"
            "KASP.fit = lambda model, X: os.kill(os.getpid(), signal.SIGKILL)\n"
            f"cli.main({[*FIT, 'run']!r})"
        )
        assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == -9
        assert not (rows / "run").exists()
        assert cli.main([*FIT, "run"]) == 0
        hostile.check_complete(rows / "run")

    def test_a_bug_after_the_fit_keeps_the_results(self, rows, capsys, monkeypatch):
        monkeypatch.setattr(KASP, "save", lambda *given: 1 / 0)
        assert cli.main([*FIT, "run"]) == 70
        line = capsys.readouterr().err
        kept, traceback = line.strip().split("; the traceback is in ")
        assert len(np.load(kept_folder(kept) / "labels.npy")) == len(ROWS)
        Path(traceback).unlink()
