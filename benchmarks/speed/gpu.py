"""FLS on a GPU: rows generated on the device, a stream larger than memory, and methods compared with NumPy on MNIST.

    python benchmarks/speed/gpu.py [--rows 1000000 10000000 100000000] [--stream 1000000000] [--out ...]

Needs torch and a CUDA device. Seconds are absolute: this is what a user waits for, drawing of the rows not counted
where they lie on the device before `fit`, and counted in each pass of the stream, which draws them again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

sys.path.insert(0, str(Path(__file__).parents[1]))
from kept import store

from subspaces import FLS, LBF, SSC, SSSC, open_rows
from subspaces.datasets import load_mnist
from subspaces.metrics import clustering_accuracy

DIMS = (3, 4, 5, 6, 7, 3, 4, 5, 6, 7)
N_COLUMNS = 80
NOISE = 0.02
BLOCK = 1_000_000
SSC_ROWS = 4000
PARTS = ["fewer_rows", "in_memory", "mnist", "host_to_device", "landmarks", "stream"]
LANDMARKS = (1000, 4000, 16_000, 32_000)
LANDMARK_ROWS = (10**5, 10**6, 10**7)
# Larger tables of rows and landmarks are not measured: their weights are summed block by block.
MOST_ENTRIES = 10**11


class Union:
    """Rows near ten subspaces of R^80, drawn on the device, the same for the same block."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.RandomState(seed)
        bases = [np.linalg.qr(rng.standard_normal((N_COLUMNS, dim)))[0] for dim in DIMS]
        padded = np.stack([np.pad(basis, ((0, 0), (0, max(DIMS) - basis.shape[1]))) for basis in bases])
        self.bases = torch.as_tensor(padded, dtype=torch.float32, device="cuda")

    def block(self, number: int, size: int = BLOCK) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows (size, 80) and labels (size,)."""
        generator = torch.Generator("cuda").manual_seed(number)
        labels = torch.randint(len(DIMS), (size,), generator=generator, device="cuda")
        along = torch.randn(size, max(DIMS), generator=generator, device="cuda")
        rows = torch.empty(size, N_COLUMNS, device="cuda")
        for k in range(len(DIMS)):
            members = labels == k
            rows[members] = along[members] @ self.bases[k].T
        rows += NOISE * torch.randn(size, N_COLUMNS, generator=generator, device="cuda")
        return rows, labels


def accuracy(pairs: Iterator[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Accuracy with the best matching of clusters, from blocks of (truth, found)."""
    k = len(DIMS)
    table = sum(torch.bincount(truth * k + found, minlength=k * k) for truth, found in pairs)
    counts = table.cpu().numpy().reshape(k, k)
    return float(counts[linear_sum_assignment(-counts)].sum() / counts.sum())


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def in_memory(n_rows: int) -> dict[str, Any]:
    """Default fits of rows on the device, the first of which compiles kernels, and their plan."""
    union = Union()
    rows = torch.empty(n_rows, N_COLUMNS, device="cuda")
    truth = torch.empty(n_rows, dtype=torch.int64, device="cuda")
    for number in range(n_rows // BLOCK):
        part = slice(number * BLOCK, (number + 1) * BLOCK)
        rows[part], truth[part] = union.block(number)
    torch.cuda.reset_peak_memory_stats()
    fits = [timed(lambda: FLS(len(DIMS), random_state=0).fit(rows)) for _ in range(3)]
    model = fits[-1][1]
    predict, found = timed(lambda: model.predict(rows))
    parts = [slice(i, i + BLOCK) for i in range(0, n_rows, BLOCK)]
    return {
        "call": f"FLS({len(DIMS)})",
        "rows": n_rows,
        "first_fit_seconds": fits[0][0],
        "fit_seconds": min(spent for spent, _ in fits[1:]),
        "planned_seconds": FLS(len(DIMS)).plan(n_rows, N_COLUMNS, device="cuda").seconds_if_flat,
        "predict_seconds": predict,
        "accuracy": accuracy((truth[part], model.labels_[part].long()) for part in parts),
        "same_labels_from_predict": float((found == model.labels_).double().mean()),
        "rows_gib": rows.nbytes / 2**30,
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
        "subspace_dim": model.subspace_dim_,
        "labels_on": str(model.labels_.device),
    }


def stream(n_rows: int) -> dict[str, Any]:
    union = Union()
    n_blocks = n_rows // BLOCK

    def blocks() -> Iterator[torch.Tensor]:
        return (union.block(number)[0] for number in range(n_blocks))

    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    draw, _ = timed(lambda: [union.block(number)[0] for number in range(min(50, n_blocks))] and None)
    spent, model = timed(lambda: FLS(len(DIMS), random_state=0).fit(open_rows(blocks, block_rows=BLOCK)))
    labels = model.labels_
    pairs = (
        (union.block(number)[1], labels[number * BLOCK : (number + 1) * BLOCK].long()) for number in range(n_blocks)
    )
    return {
        "rows": n_rows,
        "fit_seconds": spent,
        "drawing_seconds_of_one_pass": draw * n_blocks / min(50, n_blocks),
        "accuracy": accuracy(pairs),
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
    }


def mnist() -> dict[str, Any]:
    """Seconds of methods on the host and on the device, on MNIST-60k; SSC on its first rows."""
    X, y = load_mnist()
    result: dict[str, Any] = {}
    for name, make in {
        "FLS": lambda: FLS(10, random_state=0),
        "FLS.paper": lambda: FLS.paper(10, subspace_dim=3, random_state=0),
        "LBF": lambda: LBF(10, subspace_dim=3, random_state=0),
        "SSSC": lambda: SSSC(10, random_state=0),
        "SSC": lambda: SSC(10, random_state=0),
    }.items():
        x = X[:SSC_ROWS] if name == "SSC" else X
        rows = torch.as_tensor(x, device="cuda")
        host, on_host = timed(lambda make=make, x=x: make().fit(x))
        make().fit(rows)
        device, on_device = timed(lambda make=make, rows=rows: make().fit(rows))
        found = on_device.labels_.cpu().numpy()
        result[name] = {
            "rows": len(x),
            "host_seconds": host,
            "device_seconds": device,
            "accuracy": clustering_accuracy(y[: len(x)], found),
            "same_labels": clustering_accuracy(on_host.labels_, found),
            "same_predicted": clustering_accuracy(on_host.predict(x), on_device.predict(rows).cpu().numpy()),
        }
    return result


def landmarks() -> list[dict[str, Any]]:
    """Fits with many landmarks, everything given; the first is not measured, because it compiles kernels."""
    union, found = Union(), []
    for n_rows in LANDMARK_ROWS:
        rows = torch.cat([union.block(number, min(n_rows, BLOCK))[0] for number in range(max(1, n_rows // BLOCK))])
        for count in LANDMARKS:
            if n_rows * count > MOST_ENTRIES:
                continue
            options: dict[str, Any] = {"n_landmarks": count, "subspace_dim": 4, "neighborhood": 12, "affine": False}
            options |= {"center": False, "whiten": 0.0, "standardise": False, "assign": "balanced", "n_draws": 1}
            model = FLS(len(DIMS), **options, random_state=0)
            if not found:
                model.fit(rows)
            torch.cuda.reset_peak_memory_stats()
            spent, _ = timed(lambda model=model, rows=rows: model.fit(rows))
            peak = torch.cuda.max_memory_allocated() / 2**30
            found.append({"rows": n_rows, "landmarks": count, "fit_seconds": spent, "peak_gib": peak})
            print(json.dumps(found[-1]), flush=True)
    return found


def host_to_device(n_rows: int = 20_000_000) -> dict[str, Any]:
    """Rows in host memory, sent to the device block by block."""
    union = Union()
    rows = np.concatenate([union.block(number)[0].cpu().numpy() for number in range(n_rows // BLOCK)])
    model = FLS(len(DIMS), n_landmarks=1000, random_state=0).fit(open_rows(rows, device="cuda"))
    spent, found = timed(lambda: model.predict(open_rows(rows, device="cuda")))
    copied, _ = timed(lambda: [torch.from_numpy(rows[i : i + BLOCK]).cuda() for i in range(0, n_rows, BLOCK)] and None)
    return {"rows": n_rows, "predict_seconds": spent, "copy_alone_seconds": copied, "labels": type(found).__name__}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--stream", type=int, default=1_000_000_000)
    parser.add_argument("--parts", nargs="*", default=PARTS)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/gpu.json"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = " ".join(map(str, arguments.rows))
    found: dict[str, Any] = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
    found |= {
        "command": f"python benchmarks/speed/gpu.py --rows {rows} --stream {arguments.stream}",
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
    }
    runs: dict[str, Callable[[], Any]] = {
        "fewer_rows": lambda: [in_memory(count) for count in sorted(arguments.rows)[:-1]],
        "in_memory": lambda: in_memory(max(arguments.rows)),
        "mnist": mnist,
        "host_to_device": host_to_device,
        "landmarks": landmarks,
        "stream": lambda: stream(arguments.stream),
    }
    for part in arguments.parts:
        found[part] = runs[part]()
        print(json.dumps({part: found[part]}), flush=True)
        store(arguments.out, found, part)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
