"""What run.json records besides options and results: files, versions, machine, times."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from subspaces._core.errors import file_errors

FORMAT, VERSION = "subspaces run", 1
# Files up to this size are identified by their content, larger ones by size and time alone.
MOST_HASHED = 10**9
CHUNK = 2**20
OPTIONAL = (
    "matplotlib",
    "pandas",
    "h5py",
    "zarr",
    "torch",
    "cupy",
    "dask",
    "distributed",
)
CORE = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "array-api-compat", "click", "rich", "pillow", "pyarrow")


def described_files(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Size, time and checksum of each file or folder."""
    with file_errors():
        return [_described(path) for path in paths]


def _described(path: Path) -> dict[str, Any]:
    if path.is_dir():
        # A store of many small files, such as Zarr, is described as one.
        parts = sorted(part for part in path.rglob("*") if part.is_file())
        total = sum(part.stat().st_size for part in parts)
        newest = max((part.stat().st_mtime for part in parts), default=path.stat().st_mtime)
    else:
        parts, total, newest = [path], path.stat().st_size, path.stat().st_mtime
    entry: dict[str, Any] = {"path": str(path), "bytes": total, "modified": _moment(newest), "sha256": None}
    if total > MOST_HASHED:
        entry["note"] = "larger than 1 GB: identified by size and time, not by content"
    elif path.exists() and all(part.is_file() for part in parts):
        entry["sha256"] = _checksum(path, parts)
    return entry


def _checksum(path: Path, parts: list[Path]) -> str:
    found = hashlib.sha256()
    for part in parts:
        if part != path:
            found.update(str(part.relative_to(path)).encode(errors="surrogateescape"))
        with part.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                found.update(chunk)
    return found.hexdigest()


def changed_files(known: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    """Paths of files that have changed."""
    before = {str(entry.get("path")): entry for entry in known}
    changed = []
    for entry in now:
        old = before.get(entry["path"], {})
        keys = ("sha256",) if entry["sha256"] and old.get("sha256") else ("bytes", "modified")
        if any(entry[key] != old.get(key) for key in keys):
            changed.append(entry["path"])
    return changed


def environment() -> dict[str, Any]:
    """Versions of Python and of the packages that results depend on, BLAS and the platform."""
    import subspaces

    return {
        "subspaces": subspaces.__version__,
        "python": platform.python_version(),
        **{name: version_of(name) for name in ("numpy", "scipy", "scikit-learn")},
        "blas": thread_libraries(),
        "platform": platform.platform(),
    }


def thread_libraries() -> list[dict[str, Any]]:
    """BLAS and OpenMP libraries that are loaded, with their numbers of threads."""
    from threadpoolctl import threadpool_info

    return [
        {"api": each["internal_api"], "version": each.get("version"), "threads": each["num_threads"]}
        for each in threadpool_info()
    ]


def versions(known: Mapping[str, Any]) -> dict[str, str]:
    """The versions in an environment, for the report."""
    return {name: value for name, value in known.items() if isinstance(value, str)}


def version_of(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peak_memory() -> int | None:
    """Peak memory of this process in bytes; None if the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def rounded_stages(stages: Mapping[str, float]) -> list[dict[str, Any]]:
    """Stages and their seconds, in the order in which they began."""
    return [{"name": name, "seconds": round(seconds, 4)} for name, seconds in stages.items()]


def now() -> str:
    """The current time in UTC."""
    return _moment(time.time())


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # a time outside the calendar
        return str(seconds)


def absolute(path: str) -> str:
    """An absolute path; - for stdin is kept."""
    return path if path == "-" else os.path.abspath(os.path.expanduser(path))


def path_of(word: str) -> Path:
    """The path that a word names, with ~ expanded if the user exists."""
    return Path(os.path.expanduser(word))
