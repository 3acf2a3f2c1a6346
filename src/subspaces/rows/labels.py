"""Write labels to disk while they are computed."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from subspaces._core.arrays import to_host
from subspaces._core.errors import (
    FileInTheWayError,
    FolderInTheWayError,
    InputError,
    MissingFileError,
    UserFileError,
    file_errors,
)
from subspaces._core.files import move_new, open_locked


class LabelWriter:
    """Write int32 labels (n_rows,) to an .npy file `path`, in order; the file appears when it is complete.

    Until `close` the labels are in a hidden file beside it, which is removed after an error and locked against other
    writers. With `resumable` that file stays, and `resume` continues it: rows before the first one that is written then
    count as written. As a context manager it closes at the end, or aborts after an error.
    """

    def __init__(
        self,
        path: str | Path,
        n_rows: int,
        *,
        overwrite: bool = False,
        resumable: bool = False,
        resume: bool = False,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.partial = partial_path(self.path)
        self._n_rows, self._dtype = int(n_rows), np.dtype(np.int32)
        self._overwrite, self._resumable = overwrite, resumable or resume
        # The next row; None if a resumed file is continued at any row.
        self._next: int | None = None if resume else 0
        check_label_path(self.path, overwrite=overwrite)
        self._header = _header(self._n_rows, self._dtype)
        self._file = self._open_partial() if resume else self._new_partial()

    def write(self, start: int, values: Any) -> None:
        """Write `values` (m,), of any array library, as the labels of the rows from `start` on."""
        labels = np.asarray(values) if isinstance(values, list | tuple) else to_host(values)
        if not labels.size:
            return
        labels = self._check_values(start, labels)
        with self._failing():
            self._file.seek(len(self._header) + start * self._dtype.itemsize)
            self._file.write(labels.tobytes())
        self._next = start + len(labels)

    def flush(self) -> None:
        """Make sure that what was written is on the disk."""
        with self._failing():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> Path:
        """Move the complete file to its place and return its path."""
        if self._file.closed:
            return self.path
        if (self._next or 0) < self._n_rows:
            self.abort()
            raise InputError(f"{self.path}: row {self._next or 0} of {self._n_rows} has no label; write all of them.")
        self.flush()
        try:
            check_label_path(self.path, overwrite=self._overwrite)
            if self._overwrite:
                os.replace(self.partial, self.path)
            else:
                move_new(self.partial, self.path)
        except OSError as error:
            raise self._kept(error) from error
        finally:
            # The lock ends here, after the partial file has gone.
            self._file.close()
        return self.path

    def _kept(self, error: OSError) -> UserFileError:
        """The error for complete labels that cannot be moved to their place; they stay in a file of their own."""
        handle, name = tempfile.mkstemp(prefix=f"{self.path.stem}.kept-", suffix=self.path.suffix, dir=self.path.parent)
        os.close(handle)
        os.replace(self.partial, name)
        kind = FileInTheWayError if isinstance(error, FileExistsError) else UserFileError
        reason = "somebody else has written this file" if kind is FileInTheWayError else error.strerror
        return kind(error.errno, f"{reason}; the labels are kept in {name}", str(self.path))

    def abort(self) -> None:
        """Stop without a result; the partial file is kept only if it can be resumed."""
        if self._file.closed:
            return
        # The lock ends with the file, so what is unlinked here is ours.
        if not self._resumable:
            self.partial.unlink(missing_ok=True)
        # A full disk fails again when the buffer is written out.
        with contextlib.suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self._file.closed:
            self.abort()

    def _locked(self) -> Any:
        """The partial file, locked: two writers would mix their labels."""
        with file_errors():
            handle = open_locked(self.partial)
        if handle is None:
            raise FileInTheWayError(
                errno.EEXIST, "labels are being written here by another fit: name another file", str(self.path)
            )
        return os.fdopen(handle, "r+b")

    def _new_partial(self) -> Any:
        self._file = self._locked()
        with self._failing():
            self._file.truncate(0)
            self._file.write(self._header)
            self._file.flush()
            _reserve(self._file.fileno(), len(self._header) + self._n_rows * self._dtype.itemsize)
        return self._file

    def _open_partial(self) -> Any:
        if not self.partial.is_file():
            raise MissingFileError(f"{self.partial} does not exist: there is nothing to resume; begin again.")
        file = self._locked()
        size = len(self._header) + self._n_rows * self._dtype.itemsize
        if file.read(len(self._header)) != self._header or self.partial.stat().st_size != size:
            file.close()
            raise InputError(
                f"{self.partial} is not of {self._n_rows} labels of {self._dtype}: remove it, begin again."
            )
        return file

    def _check_values(self, start: int, values: Any) -> Any:
        if values.ndim != 1 or values.dtype.kind not in "iu":
            raise InputError(f"labels are an array of {values.dtype} and shape {values.shape}: pass integers (m,).")
        if self._next not in (None, start):
            raise InputError(
                f"labels from row {start} on do not continue those before row {self._next}: write in order."
            )
        if not 0 <= start <= self._n_rows - len(values):
            raise InputError(f"labels of rows {start} to {start + len(values)} are outside of the {self._n_rows} rows.")
        number = np.iinfo(self._dtype)
        if not number.min <= values.min() <= values.max() <= number.max:
            raise InputError(f"labels from {values.min()} to {values.max()} do not fit into {self._dtype}.")
        return values.astype(self._dtype, copy=False)

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn errors of the system into one line about the file."""
        try:
            yield
        except OSError as error:
            self.abort()
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            remedy = "the disk is full; free some space or name a file elsewhere" if full else error.strerror
            raise UserFileError(error.errno, f"labels cannot be written, {remedy}", str(self.path)) from error


def partial_path(path: Path) -> Path:
    """The hidden file that holds labels until all are known."""
    return path.with_name(f".{path.name}.partial")


def check_label_path(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a file that labels cannot be written to, before they are computed."""
    if path.is_dir():
        raise FolderInTheWayError(f"labels={str(path)!r} is a folder: name a file in it.")
    if path.exists() and not overwrite:
        raise FileInTheWayError(f"labels={str(path)!r} exists: name another file, or remove it.")
    if not path.parent.is_dir():
        raise MissingFileError(f"labels={str(path)!r} is in a folder that does not exist: make it first.")


def _header(n_rows: int, dtype: np.dtype[Any]) -> bytes:
    """The header of an .npy file of (n_rows,) numbers."""
    content = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (n_rows,)}
    np.lib.format.write_array_header_1_0(content, described)
    return content.getvalue()


def _reserve(handle: int, size: int) -> None:
    """Make a file `size` bytes long, with space reserved on disk if possible: a full disk is noticed at the start."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, size)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise
    os.truncate(handle, size)
