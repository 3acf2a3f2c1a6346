"""`subspaces info`: what is installed, and what this machine has."""

from __future__ import annotations

import os
import platform
from importlib.util import find_spec
from typing import Any

from subspaces import __version__
from subspaces.cli import _record as record
from subspaces.cli._parser import Asked
from subspaces.cli._words import say, say_json


def run(asked: Asked) -> None:
    """Print it."""
    found = _found()
    if asked.options()["json"]:
        say_json(found)
        return
    blas = "; ".join(f"{each['api']} {each['version'] or ''}, {each['threads']} threads" for each in found["blas"])
    lines = {
        "subspaces": found["subspaces"],
        "Python": found["python"],
        "platform": found["platform"],
        "cores": str(found["cores"]),
        "threads": blas or "unknown",
        "installed": ", ".join(f"{name} {version}" for name, version in found["packages"].items() if version),
        "optional": ", ".join(f"{name} {version}" for name, version in found["optional"].items() if version) or "none",
        "not installed": ", ".join(name for name, version in found["optional"].items() if not version) or "none",
        "GPU": ", ".join(found["gpu"]) if found["gpu"] else found["gpu_note"],
        "data folder": found["data_folder"],
    }
    width = max(map(len, lines)) + 2
    say("\n".join(f"{name:{width}}{value}" for name, value in lines.items()))


def _found() -> dict[str, Any]:
    # Libraries of threads are known once they are loaded.
    import numpy  # noqa: F401

    from subspaces.datasets.archives import data_folder

    gpu, note = _gpus()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "subspaces": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": cores,
        "blas": record.thread_libraries(),
        "packages": {name: record.version_of(name) for name in record.CORE},
        "optional": {name: record.version_of(name) for name in record.OPTIONAL},
        "gpu": gpu,
        "gpu_note": note,
        "data_folder": str(data_folder()),
    }


def _gpus() -> tuple[list[str], str]:
    """Names of the GPUs that torch sees, and why there are none."""
    if find_spec("torch") is None:
        return [], "not looked for: torch is not installed"
    try:
        import torch

        if not torch.cuda.is_available():
            return [], "none that torch can use"
        return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())], ""
    except Exception as error:  # an installation that is broken is told, and is no reason to tell nothing else
        return [], f"torch cannot be loaded: {error}"
