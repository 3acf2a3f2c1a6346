"""The paper's theorems, measured: kept and drawn like the other experiments."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from subspaces.reproduce.kept import Kept
from subspaces.reproduce.machine import environment
from subspaces.reproduce.runner import Progress
from subspaces.reproduce.task import fingerprint

ARGUMENTS = {"small": False, "random_state": 0}


def reproduce_theory(out: Path, *, again: bool, progress: Progress) -> None:
    """Compute the curves, unless they are kept, and draw them."""
    theory: Any = import_module("subspaces.theory")
    kept = Kept(out, "theory")
    record = kept.read()
    mark = fingerprint(ARGUMENTS)
    if again or record.get("fingerprint") != mark or not isinstance(record.get("curves"), dict):
        with threadpool_limits(limits=1):
            curves = theory.curves(**ARGUMENTS, progress=progress)
        record |= {"arguments": ARGUMENTS, "fingerprint": mark, "environments": [environment(1)]}
        record["curves"] = _plain(curves)
        kept.write(record)
    else:
        progress("theory: curves are kept from before")
    # Beside the target and then into place, as every file here.
    unfinished = out / ".theory.png"
    try:
        theory.draw(record["curves"], unfinished)
        unfinished.replace(out / "theory.png")
    finally:
        unfinished.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """The same with lists and numbers that JSON knows."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value
