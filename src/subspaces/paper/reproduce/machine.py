"""Versions and hardware that results were measured with, without names of the machine."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def n_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment(jobs: int) -> dict[str, Any]:
    """Versions, processor, number of cores, and number of processes with one BLAS thread each."""
    import numpy
    import scipy
    import sklearn

    import subspaces

    return {
        "versions": {
            "subspaces": subspaces.__version__,
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "machine": {
            "processor": processor(),
            "architecture": platform.machine(),
            "system": platform.system(),
            "cores": n_cores(),
            "processes": jobs,
            "blas_threads_each": 1,
        },
    }


def processor() -> str:
    """The model of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
