"""`subspaces info`: versions, threads, optional packages and GPUs."""

from __future__ import annotations

import os
import platform
from importlib.util import find_spec
from typing import Any

import click

from subspaces import __version__
from subspaces.cli import options as opt
from subspaces.cli import record
from subspaces.cli.command import Command
from subspaces.cli.output import print_json, print_text


@click.command(cls=Command)
@opt.json
def info(**options: Any) -> None:
    """Print versions, threads, optional packages and GPUs."""
    found = _found()
    if options["json"]:
        print_json(found)
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
    print_text("\n".join(f"{name:{width}}{value}" for name, value in lines.items()))


def _found() -> dict[str, Any]:
    # Thread libraries are listed once they are loaded.
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
    """Names of the GPUs that torch can use, and the reason if there are none."""
    if find_spec("torch") is None:
        return [], "unknown: torch is not installed"
    try:
        import torch

        if not torch.cuda.is_available():
            return [], "none that torch can use"
        return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())], ""
    except Exception as error:  # a broken installation is reported and does not prevent the rest
        return [], f"torch cannot be loaded: {error}"
