"""What a run remembers: what it was asked for, what it read, where it ran and what came of it."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FORMAT, VERSION = "subspaces run", 1
# Files up to this size are told apart by their content, larger ones by size and time alone.
MOST_HASHED = 10**9
CHUNK = 2**20
OPTIONAL = (
    "matplotlib",
    "pandas",
    "pyarrow",
    "h5py",
    "zarr",
    "torch",
    "cupy",
    "dask",
    "distributed",
)
CORE = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "array-api-compat", "rich", "pillow")


def described_files(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """What tells files from others of the same name; those of folders, one by one."""
    return [_described(path) for path in paths]


def _described(path: Path) -> dict[str, Any]:
    if path.is_dir():
        # A store of many small files, such as Zarr: its content is that of all of them.
        parts = sorted(part for part in path.rglob("*") if part.is_file())
        total = sum(part.stat().st_size for part in parts)
        newest = max((part.stat().st_mtime for part in parts), default=path.stat().st_mtime)
    else:
        parts, total, newest = [path], path.stat().st_size, path.stat().st_mtime
    entry: dict[str, Any] = {"path": str(path), "bytes": total, "modified": _moment(newest), "sha256": None}
    if total > MOST_HASHED:
        entry["note"] = "larger than 1 GB: known by size and time, not by content"
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
    """Paths of files that are not what they were."""
    before = {str(entry.get("path")): entry for entry in known}
    changed = []
    for entry in now:
        old = before.get(entry["path"], {})
        keys = ("sha256",) if entry["sha256"] and old.get("sha256") else ("bytes", "modified")
        if any(entry[key] != old.get(key) for key in keys):
            changed.append(entry["path"])
    return changed


def environment() -> dict[str, Any]:
    """Python, the packages that take part in results, BLAS and the kind of machine."""
    import subspaces

    return {
        "subspaces": subspaces.__version__,
        "python": platform.python_version(),
        **{name: version_of(name) for name in ("numpy", "scipy", "scikit-learn")},
        "blas": thread_libraries(),
        "platform": platform.platform(),
    }


def thread_libraries() -> list[dict[str, Any]]:
    """BLAS and its like, as far as they are loaded, and the threads that they use."""
    from threadpoolctl import threadpool_info

    return [
        {"api": each["internal_api"], "version": each.get("version"), "threads": each["num_threads"]}
        for each in threadpool_info()
    ]


def versions(known: Mapping[str, Any]) -> dict[str, str]:
    """The versions in an environment, as a report shows them."""
    return {name: value for name, value in known.items() if isinstance(value, str)}


def version_of(package: str) -> str | None:
    """The version of an installed package; None where it is not there."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peak_memory() -> int | None:
    """The most bytes that this process has held; None where the system does not tell."""
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
    """The moment, in the time of the world."""
    return _moment(time.time())


def _moment(seconds: float) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # a time that no calendar has
        return str(seconds)


def absolute(path: str) -> str:
    """A path as it is found from anywhere; stdin stays what it is."""
    return path if path == "-" else os.path.abspath(os.path.expanduser(path))


def path_of(word: str) -> Path:
    """The path that a word stands for; ~ of nobody we know stays what it is."""
    return Path(os.path.expanduser(word))
