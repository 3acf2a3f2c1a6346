"""Checkpoints of long passes over rows: a run that was killed resumes and gives the same result.

A folder holds `run.json` with the parameters of the run and, for each pass, the sums so far and the number of blocks
they cover. Every file is replaced atomically. Decisions between passes are not saved: the same sums, sample and seed
give the same decisions.
"""

from __future__ import annotations

import errno
import io
import json
import re
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from subspaces._core.arrays import to_host
from subspaces._core.errors import InputError, UserFileError
from subspaces._core.files import open_regular, write_whole
from subspaces._core.validation import check_integer
from subspaces.rows.digest import digest
from subspaces.rows.formats import npz
from subspaces.rows.source import RowSource

# Seconds between writes of sums; they are also written after every pass.
SECONDS = 5.0
RUN_FILE = "run.json"
# Its largest size; parameters are a few lines.
MOST_TEXT = 2**20
# Number of rows, besides the first block, that identify the rows of a run.
PROBES = 16

# Memory that sums of a pass may take when they are read: two matrices of the largest number of features.
MOST_BYTES = 4 * 2**30


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a pass has come."""

    done: int  # number of finished blocks
    sums: tuple[Any, ...] | None  # over these
    over: bool  # whether the pass is finished
    digests: list[int]  # of the blocks that were read so far, in any pass


def has_begun(folder: Path) -> bool:
    """Whether `folder` holds a run that can be resumed."""
    return (folder / RUN_FILE).is_file()


class Checkpoint:
    """The state of one fit in a folder; `rng` is the generator of its draws."""

    def __init__(self, folder: Path, estimator: BaseEstimator, source: RowSource, rng: np.random.RandomState) -> None:
        self.folder = folder
        self._written = time.monotonic()
        self._most_blocks = np.inf if source.n_blocks is None else source.n_blocks
        asked = {"estimator": type(estimator).__name__, **_parameters(estimator), **_of_source(source)}
        if has_begun(folder):
            run = self._open(asked)
        else:
            # Without a seed, another process would make other draws: draw a seed and keep it.
            given = isinstance(estimator.random_state, int | np.integer)
            run = self._begin({"asked": asked, "seed": None if given else int(rng.randint(2**31 - 1))})
        self.rng = rng if run["seed"] is None else np.random.RandomState(run["seed"])
        # Marks the sums of this run.
        self._run = zlib.crc32(json.dumps(run, sort_keys=True).encode())

    def _begin(self, run: dict[str, Any]) -> dict[str, Any]:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"checkpoint={str(self.folder)!r} is a file: name a folder.", parameter="checkpoint")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserFileError(
                f"checkpoint={str(self.folder)!r} cannot be made: {error.strerror}.", parameter="checkpoint"
            ) from error
        # A run that was killed at its start may leave a temporary file of this name.
        if any(not each.name.startswith(f".{RUN_FILE}.") for each in self.folder.iterdir()):
            raise InputError(
                f"checkpoint={str(self.folder)!r} is a folder with other files: name an empty one.",
                parameter="checkpoint",
            )
        _write(self.folder / RUN_FILE, json.dumps(run, indent=1).encode())
        return run

    def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        path = self.folder / RUN_FILE
        try:
            with open_regular(path) as stream:
                run: dict[str, Any] = json.loads(stream.read(MOST_TEXT))
            known, seed = run["asked"], run["seed"]
            changed = [name for name in known.keys() | asked.keys() if known.get(name) != asked.get(name)]
            if seed is not None:
                check_integer("seed", seed, low=0, high=2**32 - 1)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{path} is damaged: remove the folder and begin again.") from None
        if changed:
            name = min(changed)
            raise InputError(
                f"checkpoint={str(self.folder)!r} belongs to another run: {name} was {known.get(name)!r:.200} and is "
                f"{asked.get(name)!r}; name another folder, or remove this one."
            )
        return run

    def load(self, name: str) -> Reached:
        """State of the pass `name`."""
        path = self._path(name)
        if not path.exists():
            return Reached(0, None, False, [])
        try:
            kept = {key: array.read(MOST_BYTES) for key, array in npz.arrays_in(path).items()}
            run, done, over = (int(kept.pop(key)) for key in ("run", "done", "over"))
            digests = kept.pop("digests")
            sums = tuple(kept.pop(f"sum{i}") for i in range(len(kept)))
        except (ValueError, KeyError, TypeError) as error:
            raise self.damaged(name, str(error)) from None
        if run != self._run:
            raise InputError(f"{path} belongs to another run: remove it, and its pass begins again.")
        whole = digests.dtype == np.uint32 and digests.ndim == 1 and all(each.dtype.kind in "fiu" for each in sums)
        if not whole or not 0 <= done <= self._most_blocks or not all(np.isfinite(each).all() for each in sums):
            raise self.damaged(name, "its values are not sums over blocks")
        return Reached(done, sums, bool(over), digests.tolist())

    def damaged(self, name: str, reason: str) -> InputError:
        """The error about a file whose content is not the state of the pass `name`."""
        return InputError(f"{self._path(name)} is damaged ({reason}): remove it, and its pass begins again.")

    def save(
        self,
        name: str,
        done: int,
        sums: tuple[Any, ...],
        digests: list[int],
        *,
        over: bool = False,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Write the sums of the first `done` blocks, if enough time has passed or the pass is finished.

        `digests` are those of the blocks that were read so far, in this pass or an earlier one.
        `before` is called first, for example to flush labels that the number of blocks promises.
        """
        if not over and time.monotonic() - self._written < SECONDS:
            return
        if before is not None:
            before()
        values: dict[str, Any] = {f"sum{i}": to_host(value) for i, value in enumerate(sums)}
        values["digests"] = np.asarray(digests, np.uint32)
        content = io.BytesIO()
        # NumPy before 2.1 would store `allow_pickle` as an array.
        np.savez(content, run=self._run, done=done, over=over, **values)
        _write(self._path(name), content.getvalue())
        self._written = time.monotonic()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"


def _write(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "the disk is full; free some space and run it again" if full else error.strerror
        raise UserFileError(error.errno, f"the checkpoint cannot be written, {remedy}", str(path)) from error


def _parameters(estimator: BaseEstimator) -> dict[str, str]:
    """Parameters of the estimator as text that is the same in another process."""
    free = ("verbose", "n_jobs")
    return {name: _text(value) for name, value in estimator.get_params().items() if name not in free}


def _text(value: Any) -> str:
    if isinstance(value, BaseEstimator):
        # Its parameters are listed separately by get_params.
        return type(value).__name__
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__name__)}"
    if isinstance(value, np.ndarray | list | tuple):
        return f"{type(value).__name__} of shape {np.shape(value)}, checksum {digest(np.asarray(value))}"
    # Memory addresses differ between processes.
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value.item() if isinstance(value, np.generic) else value))


def _of_source(source: RowSource) -> dict[str, Any]:
    """What identifies the rows of a source without reading all of them, and how they are read."""
    first = to_host(next(iter(source.blocks())))
    checksum = digest(first)
    if source.n_rows is not None:
        probes = source.take(np.linspace(0, source.n_rows - 1, PROBES).astype(np.intp))
        checksum = digest(to_host(probes), checksum)
    return {
        "n_columns": source.n_columns,
        "n_rows": source.n_rows,
        "block_rows": source.block_rows,
        "memory_limit": source.options.memory_limit,
        "labels": None if source.options.labels is None else str(source.options.labels),
        "the checksum of some rows": checksum,
    }
