"""Eigenvectors of dense psi: block products with psi, or the D x D matrix of inner products.

    python benchmarks/speed/products.py [--most 32000] [--gram-most 8000] [--rows 4000] [--again]

For each D, both routes run on the same psi in processes of their own, in turn: once with psi kept between passes, and
once with psi computed again in every pass. Finished cells are not measured again. benchmarks/results/products.json has
the ratios of their times, the number of passes, and the peak memory of each process less that before the route. Rows
are MNIST digits 2, 5, 7, 8 and 9, on the unit sphere, described by flats at random rows, of which there are at most as
many as rows, and by random Fourier features, of which there are as many as wanted. Other machines have other seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from kept import store

from subspaces._core.arrays import unit_rows
from subspaces._core.threads import n_threads
from subspaces.datasets import load_mnist
from subspaces.features import psi as psi_room
from subspaces.features.psi import compute_psi, leading_vectors
from subspaces.features.thresholds import PAPER_SIGMA
from subspaces.flats.neighborhoods import Beta2
from subspaces.kernels import FourierFeatures, SubspaceFeatures

OUT = Path(__file__).parents[1] / "results" / "products.json"
DIGITS = [2, 5, 7, 8, 9]
N_VECTORS = len(DIGITS) - 1
WIDTHS = (500, 1000, 2000, 4000, 8000, 16_000, 32_000)
NEVER = 10**9


def peak_mb() -> float:
    """Largest memory of this process so far, in MB."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1000


def one(kind: str, width: int, n_rows: int, route: str, kept: bool) -> dict[str, Any]:
    """Seconds, passes and memory of one route."""
    rows = unit_rows(load_mnist(DIGITS, 80, center=False)[0])
    rows = rows[np.random.RandomState(0).permutation(len(rows))[:n_rows]]
    psi_room.KEPT_BYTES = NEVER * 100 if kept else 0
    psi_room.LEAST_WIDTH = psi_room.LEAST_WIDTH_AGAIN = 0 if route == "products" else NEVER
    features: Any = FourierFeatures(width, sigma=0.6, random_state=0)
    if kind == "flats":
        features = SubspaceFeatures(
            width, subspace_dim=3, sigma=PAPER_SIGMA, neighborhood=Beta2(None, 2), landmarks="random", random_state=0
        )
    passes = [0]
    groups = psi_room.DenseBlocks.map_groups

    def counted(self: Any, function: Any) -> Any:
        passes[0] += 1
        return groups(self, function)

    psi_room.DenseBlocks.map_groups = counted  # type: ignore[method-assign]
    found = compute_psi(features.fit(rows), rows)
    if kept:
        found.psi.map(lambda block, _: None)
    passes[0], before = 0, peak_mb()
    started = time.perf_counter()
    spectrum = leading_vectors(found, N_VECTORS, feed=SimpleNamespace(is_sampled=False), prepare=lambda x: x)
    seconds = time.perf_counter() - started
    return {
        "seconds": round(seconds, 3),
        "passes": passes[0],
        "mb": round(peak_mb() - before, 1),
        "eigenvalues": [float(value) for value in spectrum.eigenvalues],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=max(WIDTHS), help="largest D")
    parser.add_argument("--gram-most", type=int, default=8000, help="largest D for the D x D matrix")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--again", action="store_true", help="measure stored cells again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(one(**json.loads(arguments.one))))
        return
    cells = [] if arguments.again or not OUT.exists() else json.loads(OUT.read_text())["cells"]
    record = {
        "command": "python benchmarks/speed/products.py",
        "threads": n_threads(),
        "rows": arguments.rows,
        "vectors": N_VECTORS,
        "cells": cells,
    }
    known = {(cell["map"], cell["D"], cell["psi kept"]) for cell in cells}
    for kind in ("flats", "fourier"):
        for width in WIDTHS:
            if width > arguments.most or (kind == "flats" and width > arguments.rows):
                continue
            for kept in (True, False):
                if (kind, width, kept) in known:
                    continue
                cells.append(compared(kind, width, arguments.rows, kept, width <= arguments.gram_most))
                print(json.dumps(cells[-1]), flush=True)
                store(OUT, record, None)
    store(OUT, record)


def compared(kind: str, width: int, n_rows: int, kept: bool, with_gram: bool) -> dict[str, Any]:
    """Both routes on the same psi."""
    found = {}
    for route in ("products", "gram") if with_gram else ("products",):
        given = {"kind": kind, "width": width, "n_rows": n_rows, "route": route, "kept": kept}
        command = [sys.executable, __file__, "--one", json.dumps(given)]
        found[route] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    values = [each.pop("eigenvalues") for each in found.values()]
    cell = {"map": kind, "D": width, "psi kept": kept, **found}
    if with_gram:
        cell["time over that of the matrix"] = found["products"]["seconds"] / found["gram"]["seconds"]
        cell["largest difference of eigenvalues"] = float(np.abs(np.subtract(*values)).max())
    return cell


if __name__ == "__main__":
    main()
