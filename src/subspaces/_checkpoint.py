"""Where a long pass over rows has got to, kept on disk: a run that was killed goes on from there to the same result.

A folder holds `run.json`, what the run was asked for, and for each pass the sums so far and how many blocks they are
of. Every file is replaced as a whole. Decisions between passes are not kept: from the same sums, sample and seed they
come out the same.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from subspaces._array import to_host
from subspaces._files import write_whole
from subspaces.sources import RowSource

# Sums are written this often, and after every pass.
SECONDS = 5.0
RUN_FILE = "run.json"


class Checkpoint:
    """The state of one fit in a folder."""

    def __init__(self, folder: Path, estimator: BaseEstimator, source: RowSource) -> None:
        self.folder = folder
        self._given = isinstance(estimator.random_state, int | np.integer)
        self._written = time.monotonic()
        self._run = self._open({**_asked(estimator), **_of_source(source)})

    def _open(self, asked: dict[str, Any]) -> dict[str, Any]:
        path = self.folder / RUN_FILE
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(self.folder.iterdir()):
                raise ValueError(f"checkpoint={str(self.folder)!r} is a folder with other files: name an empty one.")
            run = {**asked, "seed": int(np.random.RandomState().randint(2**31 - 1))}
            write_whole(path, json.dumps(run, indent=1).encode())
            return run
        try:
            run = json.loads(path.read_text())
            changed = [name for name in asked if run[name] != asked[name]]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}): remove the folder and begin again.") from None
        if changed:
            name = changed[0]
            raise ValueError(
                f"checkpoint={str(self.folder)!r} belongs to another run: {name} was {run[name]!r} and is "
                f"{asked[name]!r}; name another folder, or remove this one."
            )
        return run

    def generator(self, rng: np.random.RandomState) -> np.random.RandomState:
        """The generator of the run: that of a seed the user gave, or else of one that is kept."""
        return rng if self._given else np.random.RandomState(self._run["seed"])

    def load(self, name: str) -> tuple[int, tuple[Any, ...] | None, bool]:
        """How many blocks of a pass are done, their sums, and whether the pass is over."""
        path = self._path(name)
        if not path.exists():
            return 0, None, False
        try:
            with np.load(path, allow_pickle=False) as kept:
                sums = tuple(kept[f"sum{i}"] for i in range(len(kept.files) - 2))
                return int(kept["done"]), sums or None, bool(kept["over"])
        except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path} is damaged ({error}): remove it and go on without it.") from None

    def save(
        self,
        name: str,
        done: int,
        sums: tuple[Any, ...] = (),
        *,
        over: bool = False,
        before: Callable[[], None] | None = None,
    ) -> None:
        """Keep the sums of the first `done` blocks, if it is time to; at the end of a pass it always is.

        `before` makes sure of what the number of blocks promises.
        """
        if not over and time.monotonic() - self._written < SECONDS:
            return
        if before is not None:
            before()
        values: dict[str, NDArray[Any]] = {f"sum{i}": to_host(value) for i, value in enumerate(sums)}
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, done=done, over=over, **values)
        write_whole(self._path(name), content.getvalue())
        self._written = time.monotonic()

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"


def _asked(estimator: BaseEstimator) -> dict[str, Any]:
    """What the estimator was asked for, as text."""
    parameters = {name: repr(value) for name, value in sorted(estimator.get_params().items()) if name != "verbose"}
    return {"estimator": type(estimator).__name__, "parameters": parameters}


def _of_source(source: RowSource) -> dict[str, Any]:
    """What tells the rows of a source from others, without reading them all."""
    first = to_host(next(iter(source.blocks())))
    return {
        "n_columns": source.n_columns,
        "n_rows": source.n_rows,
        "block_rows": len(first),
        "first_block": zlib.crc32(np.ascontiguousarray(first).tobytes()),
    }
