"""Results that scripts store between runs, with the version of the code that made them.

A result file has `sources`: for each part of it, or for "all", a hash of the code that the script uses, directly or
not. `older` compares them with the code of today, `benchmarks/remeasure.py` runs what is older again. Parts of files
that scripts in `BY_ESTIMATOR` make are estimators, those in `OF_ONE` measure one: only code that the estimator or the
script itself uses counts.
"""

from __future__ import annotations

import json
import platform
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import subspaces
from subspaces.paper.reproduce.provenance import estimator_source, source_hash

BENCHMARKS = Path(__file__).parent
ALL = "all"
# Script of each result file that pages show; those on a device are not run by `remeasure.py`.
SCRIPTS = {
    "methods": "methods.py",
    "choosing": "choosing.py",
    "cluster_count_flats": "cluster_count.py",
    "defaults": "defaults.py",
    "defaults_relatives": "defaults.py",
    "study_bounds": "study_bounds.py",
    "study_flats": "study_flats.py",
    "study_grain": "study_grain.py",
    "study_parts": "study_parts.py",
    "study_graph": "study_graph.py",
    "study_kinds": "study_kinds.py",
    "study_landmarks": "study_landmarks.py",
    "study_methods": "study_methods.py",
    "study_offsets": "study_offsets.py",
    "study_partition": "study_partition.py",
    "study_rules": "study_rules.py",
    "study_score": "study_score.py",
    "study_search": "study_search.py",
    "study_sigma": "study_sigma.py",
    "study_structure": "study_structure.py",
    "study_units": "study_units.py",
    "study_verdict": "study_verdict.py",
    "products": "speed/products.py",
    "speed": "speed/cpu.py",
    "ssc_iteration": "speed/ssc_iteration.py",
    "ssc_large_cpu": "ssc_large.py",
    "ssc_large_cuda": "ssc_large.py",
    "gpu": "speed/gpu.py",
}
ON_DEVICE = ("ssc_large_cuda", "gpu")
BY_ESTIMATOR = ("methods.py", "defaults.py")
# Parts that measure this estimator alone, though their script measures others, too.
OF_ONE = {"gpu.py": dict.fromkeys(("fewer_rows", "in_memory", "host_to_device", "landmarks", "stream"), "FLS")}


def opened(path: Path, command: str) -> dict[str, Any]:
    """Stored results at `path`, with the current command and versions."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    kept["command"] = command
    kept["versions"] = {
        "subspaces": subspaces.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    return kept


@lru_cache(maxsize=64)
def script_source(script: Path) -> str:
    """Hash of the code that a script depends on."""
    return source_hash([], [script.resolve()])


def part_source(script: Path, part: str) -> str:
    """Hash of the code that a part of the results of a script depends on."""
    estimator = part if part != ALL and script.name in BY_ESTIMATOR else OF_ONE.get(script.name, {}).get(part)
    return estimator_source(estimator, (), (script.resolve(),)) if estimator else script_source(script)


def store(path: Path, record: dict[str, Any], part: str | None = ALL, *, indent: int | None = 1) -> None:
    """Write results of the running script; `part` of them, or all, come from the code of today. None: not finished."""
    if part is not None:
        script = Path(str(sys.modules["__main__"].__file__))
        record.setdefault("sources", {})[part] = part_source(script, part)
    path.write_text(json.dumps(record, indent=indent) + "\n")


def is_fresh(record: dict[str, Any], script: str, part: str = ALL) -> bool:
    """Whether a part of the results, or all, comes from the code of today."""
    return record.get("sources", {}).get(part) == part_source(BENCHMARKS / script, part)


def older(name: str) -> str | None:
    """Which results of a file come from earlier code, in words; None if there are none."""
    path = BENCHMARKS / "results" / f"{name}.json"
    if not path.exists():
        return f"{name} (not measured)"
    record, script = json.loads(path.read_text()), SCRIPTS[name]
    parts = [part for part in record.get("sources", {}) if part != ALL]
    if not parts:
        return None if is_fresh(record, script) else name
    fresh = sum(is_fresh(record, script, part) for part in parts)
    total = len(parts) if script in BY_ESTIMATOR else max(len(parts), len(record.get("results", {})))
    return None if fresh == total else name if not fresh else f"{name} ({total - fresh} of {total})"
