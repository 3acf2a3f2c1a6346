"""Where results go."""

import os
from pathlib import Path

import pytest

from subspaces._core.errors import InputError, UserFileError
from subspaces.cli.targets import check_target, put_folder, working_folder

FILES = ("a.txt", "b.txt")


def test_results_are_replaced_only_by_force(tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    check_target(out, force=False, ours=FILES)
    (out / "a.txt").write_text("old")
    with pytest.raises(InputError, match="by --force"):
        check_target(out, force=False, ours=FILES)
    check_target(out, force=True, ours=FILES)


def test_a_folder_of_other_things_is_never_replaced(tmp_path):
    out = tmp_path / "home"
    out.mkdir()
    (out / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match=r"other files in it, such as thesis\.tex"):
        check_target(out, force=True, ours=FILES)


def test_data_is_never_replaced(tmp_path):
    data = tmp_path / "rows.csv"
    data.write_text("1,2\n")
    with pytest.raises(InputError, match="the data itself"):
        check_target(data, force=True, inputs=[str(data)])


@pytest.mark.parametrize("ours", [FILES, ()])
@pytest.mark.parametrize("source", ["data", "data/", "linked", "data/*", "data/r*"])
def test_nothing_is_put_into_data(source, ours, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "linked").symlink_to("data")
    given = os.path.join(str(tmp_path), source)
    with pytest.raises(InputError, match="which is read"):
        check_target(Path("data/run"), force=False, ours=ours, inputs=[given])
    for other in ("data-run", "run"):
        check_target(Path(other), force=False, ours=ours, inputs=[given])


def test_beside_files_of_a_folder_is_a_good_place(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2\n")
    inputs = [str(tmp_path / "rows.csv"), str(tmp_path / "*.csv")]
    check_target(tmp_path / "run", force=False, ours=FILES, inputs=inputs)
    with pytest.raises(InputError, match="would be part of"):
        check_target(tmp_path / "labels.csv", force=False, inputs=inputs)


@pytest.mark.parametrize("name", ["missing/run", ".", "/", "x" * 250])
def test_places_that_cannot_be_used(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--out"):
        check_target(Path(name), force=True, ours=FILES)


def test_the_old_is_replaced_as_a_whole(tmp_path):
    out = tmp_path / "run"
    for content in ("old", "new"):
        with working_folder(out) as folder:
            (folder / "a.txt").write_text(content)
            put_folder(folder, out)
        assert (out / "a.txt").read_text() == content
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_old_comes_back_if_the_new_cannot_be_put(tmp_path, monkeypatch):
    out = tmp_path / "run"
    out.mkdir()
    (out / "a.txt").write_text("old")
    real, calls = os.replace, []

    def second_fails(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", second_fails)
    with working_folder(out) as folder:
        (folder / "a.txt").write_text("new")
        with pytest.raises(UserFileError, match="disk is full"):
            put_folder(folder, out)
    assert (out / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
