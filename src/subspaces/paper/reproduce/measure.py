"""Measure one task: load, fit, time, score."""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from subspaces._core.errors import InputError, MissingPackageError
from subspaces.metrics import clustering_accuracy
from subspaces.paper.reproduce.data import load
from subspaces.paper.reproduce.estimators import build
from subspaces.paper.reproduce.task import Outcome, Task


def measure(task: Task) -> Outcome:
    """Accuracy without outliers, and seconds of `fit` with one BLAS thread; loading is not timed.

    On the CPU these are seconds of this process, so that other processes do not count; on a device those of the clock.
    """
    rows, classes = load(task.data, task.seed)
    shape = (int(rows.shape[0]), int(rows.shape[1]))
    model = build(task.estimator, task.n_clusters, task.seed)
    moved: Any = rows
    device = None
    clock = time.process_time if task.device == "cpu" else time.perf_counter
    if task.device != "cpu":
        moved, device = on_device(rows, task.device)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Warnings about poor labels are not needed, because the accuracy is measured.
        warnings.simplefilter("ignore")
        started = clock()
        labels = model.fit_predict(moved)
        seconds = clock() - started
    if device is not None:
        labels = labels.cpu()
    accuracy = clustering_accuracy(classes, np.asarray(labels))
    return Outcome(round(float(accuracy), 4), round(seconds, 3), shape, device)


def on_device(rows: Any, device: str) -> tuple[Any, str]:
    """Rows as a torch tensor on the device, and the name of the device."""
    torch = import_module("torch")
    return torch.as_tensor(rows, device=device), str(torch.cuda.get_device_name())


def check_device(device: str) -> None:
    """Raise an error if the device is not available."""
    if device == "cpu":
        return
    try:
        torch = import_module("torch")
    except ImportError:
        raise MissingPackageError(f"device={device} needs torch: pip install torch", parameter="device") from None
    if not torch.cuda.is_available():
        raise InputError(f"device={device}: torch finds no CUDA device; choose cpu.", parameter="device")
