"""Measure the theorems of the paper; results are stored and drawn like those of the other experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from subspaces._core import progress
from subspaces._core.errors import InputError
from subspaces.paper import theory
from subspaces.paper.reproduce.kept import REMEDY, Kept
from subspaces.paper.reproduce.machine import environment
from subspaces.paper.reproduce.provenance import source_hash
from subspaces.paper.reproduce.task import fingerprint

ARGUMENTS: dict[str, Any] = {"small": False, "random_state": 0}


def theory_source() -> str:
    """Hash of the code that the curves depend on."""
    return source_hash(["subspaces.paper.theory"])


def reproduce_theory(out: Path, *, again: bool, stale: bool = False, picture: bool = True) -> None:
    """Compute the curves, unless they are stored; with `stale` also if other code computed them. Draw the `picture`."""
    kept = Kept(out, "theory")
    record = kept.read()
    mark = fingerprint(ARGUMENTS)
    source = theory_source()
    other = record.get("fingerprint") != mark or (stale and record.get("source") != source)
    fresh = again or other or not isinstance(record.get("curves"), dict)
    if fresh:
        with threadpool_limits(limits=1):
            curves = theory.curves(**ARGUMENTS)
        record |= {"arguments": ARGUMENTS, "fingerprint": mark, "environments": [environment(1)]}
        record["curves"], record["source"] = curves, source
        kept.write(record)
    else:
        progress.stage("theory", "theory: curves are already stored")
    if not picture:
        return
    # Write to a temporary file, then rename.
    unfinished = out / ".theory.png"
    try:
        theory.draw(record["curves"], unfinished)
        unfinished.replace(out / "theory.png")
    except (OSError, ImportError):
        raise
    except Exception as error:
        # Stored curves that cannot be drawn are damaged.
        if fresh:
            raise
        raise InputError(f"{kept.path} is damaged: {REMEDY}") from error
    finally:
        unfinished.unlink(missing_ok=True)
