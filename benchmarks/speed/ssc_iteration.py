"""Cost of an iteration of SSC compared with its two unavoidable matrix products.

    SUBSPACES_DATA=folder python benchmarks/speed/ssc_iteration.py

Both are measured in one run, on the same rows and all cores: the method as `self_codes` runs it, with a fixed number
of iterations, and the products alone, timed where BLAS is fastest (large blocks, its own threads). Writes
benchmarks/results/ssc_iteration.json.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from kept import store

from subspaces import __version__
from subspaces._core.arrays import unit_rows
from subspaces._core.threads import n_threads
from subspaces.datasets import load_mnist
from subspaces.self_expression import ADMM, self_codes

ITERATIONS = 50
REPEATS = 3
BLOCK = 2048


def product_seconds(x: np.ndarray) -> float:
    """Seconds of K X and R X' for all n rows: K (n, n), R (n, p)."""
    n, p = x.shape
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(BLOCK, n)).astype(x.dtype)
    small = rng.normal(size=(BLOCK, p)).astype(x.dtype)
    started = time.perf_counter()
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        np.matmul(wide[:size], x)
        np.matmul(small[:size], x.T, out=wide[:size])
    return time.perf_counter() - started


def iteration_seconds(x: np.ndarray) -> float:
    """Seconds of one iteration for all rows, everything around it included."""
    started = time.perf_counter()
    self_codes(x, ADMM(tol=1e-12, max_iter=ITERATIONS), affine=False)
    return (time.perf_counter() - started) / ITERATIONS


def main() -> None:
    x = unit_rows(load_mnist([1, 7])[0])
    product_seconds(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    runs = [(iteration_seconds(x), statistics.median(product_seconds(x) for _ in range(5))) for _ in range(REPEATS)]
    record = {
        "command": "python benchmarks/speed/ssc_iteration.py",
        "version": __version__,
        "rows": len(x),
        "columns": x.shape[1],
        "dtype": str(x.dtype),
        "blas_threads": n_threads(),
        "iterations": ITERATIONS,
        "ratios": [round(iteration / products, 3) for iteration, products in runs],
        "iteration_seconds": [round(iteration, 4) for iteration, _ in runs],
        "product_seconds": [round(products, 4) for _, products in runs],
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "peak_bytes_before": before,
    }
    print(json.dumps(record, indent=1))
    path = Path(__file__).parents[1] / "results" / "ssc_iteration.json"
    store(path, record)


if __name__ == "__main__":
    main()
