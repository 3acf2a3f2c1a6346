"""Files are opened only if they are what they seem."""

import os

import pytest

from subspaces._core.errors import UserFileError
from subspaces._core.files import open_locked, open_regular


class TestLocked:
    def test_a_link_is_not_followed(self, tmp_path):
        (tmp_path / "precious").write_text("thesis")
        (tmp_path / "partial").symlink_to("precious")
        with pytest.raises(FileExistsError, match="a link"):
            open_locked(tmp_path / "partial")
        (tmp_path / "partial").unlink()
        (tmp_path / "partial").symlink_to("missing")
        with pytest.raises(FileExistsError, match="a link"):
            open_locked(tmp_path / "partial")
        assert not (tmp_path / "missing").exists()

    def test_another_name_of_a_file(self, tmp_path):
        (tmp_path / "precious").write_text("thesis")
        os.link(tmp_path / "precious", tmp_path / "partial")
        handle = open_locked(tmp_path / "partial")
        os.write(handle, b"labels")
        os.close(handle)
        assert (tmp_path / "precious").read_text() == "thesis"
        assert (tmp_path / "partial").read_text() == "labels"

    def test_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "partial")
        with pytest.raises(FileExistsError, match="not a file of ours"):
            open_locked(tmp_path / "partial")

    def test_one_after_another(self, tmp_path):
        handle = open_locked(tmp_path / "partial")
        assert open_locked(tmp_path / "partial") is None
        os.close(handle)
        handle = open_locked(tmp_path / "partial")
        assert handle is not None
        os.close(handle)


def test_a_folder_is_named(tmp_path):
    with pytest.raises(UserFileError, match="not a regular file") as raised, open_regular(tmp_path):
        pass
    assert raised.value.filename == str(tmp_path)
