"""SSC on the large data sets of the paper, including those without published results: accuracy, time and memory.

    SUBSPACES_DATA=folder python benchmarks/ssc_large.py --device cuda

On a device rows are torch tensors there. Writes benchmarks/results/ssc_large_<device>.json after every cell.
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from kept import store
from sklearn.exceptions import ConvergenceWarning

from subspaces import SSC, __version__
from subspaces.datasets import load_mnist, load_pendigits
from subspaces.metrics import clustering_accuracy

CELLS = ["17", "49", "248", "368", "pendigits", "25789", "123456789", "0123456789"]


def load(cell: str):
    """Rows and classes of one cell."""
    return load_pendigits() if cell == "pendigits" else load_mnist([int(digit) for digit in cell])


def run(cell: str, solver: str, device: str) -> dict:
    """One cell with one solver."""
    X, y = load(cell)
    n_clusters = len(np.unique(y))
    if device != "cpu":
        import torch

        X = torch.as_tensor(X, device=device)
        torch.cuda.reset_peak_memory_stats()
    model = SSC(n_clusters, solver=solver, random_state=0, verbose=1)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(X).labels_
    seconds = time.perf_counter() - started
    if device == "cpu":
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    else:
        peak, labels = torch.cuda.max_memory_allocated(), labels.cpu()
    return {
        "data": cell,
        "rows": len(y),
        "solver": solver,
        "accuracy": clustering_accuracy(y, np.asarray(labels)),
        "seconds": round(seconds, 2),
        "peak_bytes": peak,
        "n_iter": model.n_iter_,
        "nonzeros_per_row": model.codes_.nnz / len(y),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--cells", nargs="+", default=CELLS)
    parser.add_argument("--solvers", nargs="+", default=["admm", "elastic_net", "omp"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    out = arguments.out or Path(__file__).parent / "results" / f"ssc_large_{arguments.device}.json"
    machine = platform.processor() or platform.machine()
    if arguments.device != "cpu":
        import torch

        machine = torch.cuda.get_device_name()
    record = {
        "command": f"python benchmarks/ssc_large.py --device {arguments.device} --cells {' '.join(arguments.cells)}"
        f" --solvers {' '.join(arguments.solvers)}",
        "version": __version__,
        "machine": machine,
        "cells": [],
    }
    for cell in arguments.cells:
        for solver in arguments.solvers:
            record["cells"].append(run(cell, solver, arguments.device))
            print(record["cells"][-1], flush=True)
            store(out, record, None)
    store(out, record)


if __name__ == "__main__":
    main()
