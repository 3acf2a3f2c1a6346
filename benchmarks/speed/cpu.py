"""Time of FLS compared with k-means and with its unavoidable matrix products, and for increasing numbers of rows.

    SUBSPACES_DATA=folder python benchmarks/speed/cpu.py [PART ...]

Parts: mnist, spectral, rows, small, landmarks, plans. `small` and `landmarks` count CPU seconds of one thread, so that
they can be measured on a busy machine.

All figures are ratios of times of one run on one machine, kept in benchmarks/results/speed.json; seconds are kept too,
but another machine, or the same one on a busy day, has others. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from kept import store
from known_data import load

from subspaces import FLS, LBF, LandmarkSpectralClustering
from subspaces._core.threads import n_threads
from subspaces.datasets import load_mnist
from subspaces.estimators.access import feature_map
from subspaces.flats.distances import nearest
from subspaces.metrics import clustering_accuracy
from subspaces.selection.limits import SAMPLE_LANDMARKS
from subspaces.spectral.landmarks import LLOYD_STEPS

OUT = Path(__file__).parents[1] / "results" / "speed.json"
# Rounds in which everything that is compared runs once, each with another seed; figures are ratios of medians.
ROUNDS = 5
# Rows of the curve of time against rows: near ten subspaces of R^80.
DIMS = (3, 4, 5, 6, 7, 3, 4, 5, 6, 7)
N_COLUMNS = 80
# Small data of benchmarks/known_data.py.
SMALL_DATA = ("iris", "wine std", "cancer", "blobs10", "moons", "gauss15", "gauss50", "digits")
# Rows before some clusters are left out, and landmarks; clusters and columns of the rows.
LANDMARKS = [(200_000, count) for count in (1000, 4000, 16_000, 32_000)] + [(1_000_000, 4000)]
LANDMARK_CLUSTERS = 5
LANDMARK_COLUMNS = 20
# Parts that use one thread, however many there are.
ONE_THREAD = ("small", "landmarks")


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def rounds(**functions: Callable[[int], Any]) -> tuple[dict[str, float], dict[str, list[Any]]]:
    """Median time of each function of a seed over some rounds of all of them, and what each gave in every round.

    So a slow minute is slow for all, and a start from which k-means is soon at its end is one of several.
    """
    times: dict[str, list[float]] = {name: [] for name in functions}
    results: dict[str, list[Any]] = {name: [] for name in functions}
    for seed in range(ROUNDS):
        for name, function in functions.items():
            spent, result = seconds(lambda function=function, seed=seed: function(seed))
            times[name].append(spent)
            results[name].append(result)
    return {name: float(np.median(each)) for name, each in times.items()}, results


def blas_floor(model: FLS, X: np.ndarray) -> Callable[[], None]:
    """The matrix products that a fit of MNIST cannot avoid, in blocks as large as suit BLAS.

    k-means steps of the landmarks, distances of landmarks to rows to find neighbours, rows times all basis vectors;
    and the same on the sample that the settings are tried on.
    """
    rng = np.random.RandomState(0)
    n, p = X.shape
    count, dim = model.n_landmarks_, model.subspace_dim_
    tries = [trial for trial in model.choice_["flats"].candidates if trial.get("subspace_dim")]

    def product(left: int, right: int) -> list[tuple[np.ndarray, np.ndarray]]:
        b = rng.standard_normal((p, right)).astype(np.float32)
        return [(X[start : start + 2048], b) for start in range(0, left, 2048)]

    work = product(min(n, 20 * count), count) * LLOYD_STEPS + product(n, count) + product(n, count * dim)
    for trial in tries:
        work += product(min(n, trial["n_rows"]), SAMPLE_LANDMARKS * trial["subspace_dim"])

    def run() -> None:
        for a, b in work:
            a @ b

    return run


def mnist() -> dict[str, Any]:
    X, y = load_mnist()
    fitted = FLS(10, random_state=0).fit(X)
    floor = blas_floor(fitted, X)
    spent, models = rounds(
        kmeans=lambda seed: KMeans(10, n_init=10, random_state=seed).fit(X),
        fls=lambda seed: FLS(10, random_state=seed).fit(X),
        paper=lambda seed: FLS.paper(10, subspace_dim=3, n_landmarks=1000, random_state=seed).fit(X),
        blas_floor=lambda _: floor(),
        predict=lambda _: fitted.predict(X),
        one_pass_of_distances=lambda _: nearest(X, feature_map(fitted).flats_, 5),
        landmark_spectral=lambda seed: LandmarkSpectralClustering(10, random_state=seed).fit(X),
        lbf=lambda seed: LBF(10, subspace_dim=3, random_state=seed).fit(X),
    )

    def accuracy(fits: list[Any]) -> float:
        return float(np.mean([clustering_accuracy(y, fit.labels_) for fit in fits]))

    over = {f"{name}_over_kmeans": time / spent["kmeans"] for name, time in spent.items() if name != "kmeans"}
    return {
        "rows": list(X.shape),
        **over,
        "fls_over_blas_floor": spent["fls"] / spent["blas_floor"],
        "kmeans_seconds": spent["kmeans"],
        **{f"{name}_accuracy": accuracy(models[name]) for name in ("fls", "paper", "kmeans")},
    }


def spectral() -> dict[str, Any]:
    """scikit-learn's spectral clustering of a graph of nearest neighbours, on MNIST."""
    X, y = load_mnist()
    found: dict[str, Any] = {}
    for n in (10_000, len(X)):
        rows = np.random.RandomState(0).permutation(len(X))[:n]
        peer = SpectralClustering(10, affinity="nearest_neighbors", n_jobs=n_threads(), random_state=0)
        slow, theirs = seconds(lambda peer=peer, rows=rows: peer.fit(X[rows]))
        fast, ours = seconds(lambda rows=rows: FLS(10, random_state=0).fit(X[rows]))
        found[str(n)] = {
            "fls_over_spectral_clustering": fast / slow,
            "fls_accuracy": clustering_accuracy(y[rows], ours.labels_),
            "spectral_clustering_accuracy": clustering_accuracy(y[rows], theirs.labels_),
        }
    return found


def union_block(number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows near ten subspaces and their labels, the same for the same number."""
    bases = np.random.RandomState(0).standard_normal((len(DIMS), N_COLUMNS, max(DIMS)))
    rng = np.random.default_rng(number)
    labels = rng.integers(len(DIMS), size=size)
    along = rng.standard_normal((size, max(DIMS)), dtype=np.float32)
    rows = 0.02 * rng.standard_normal((size, N_COLUMNS), dtype=np.float32)
    for k, dim in enumerate(DIMS):
        basis = np.linalg.qr(bases[k, :, :dim])[0].astype(np.float32)
        members = labels == k
        rows[members] += along[members, :dim] @ basis.T
    return rows, labels


def write_union(path: Path, n_rows: int, block: int = 100_000) -> np.ndarray:
    """Write an .npy file with this many rows; return their labels."""
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, N_COLUMNS))
    labels = np.empty(n_rows, np.int64)
    for start in range(0, n_rows, block):
        size = min(block, n_rows - start)
        file[start : start + size], labels[start : start + size] = union_block(start, size)
    file.flush()
    return labels


def rows(sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000, 10_000_000)) -> dict[str, Any]:
    """Time per row for increasing numbers of rows: in memory, and from disk with the memory used."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("SUBSPACES_SCRATCH")) as folder:
        for n in sizes:
            path = Path(folder) / f"{n}.npy"
            labels = write_union(path, n)
            np.save(Path(folder) / "truth.npy", labels)
            for how in ("memory", "disk"):
                command = [sys.executable, __file__, "--one", how, str(path)]
                found[f"{how} {n}"] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                print(json.dumps({f"{how} {n}": found[f"{how} {n}"]}), file=sys.stderr, flush=True)
            path.unlink()
    ratios: dict[str, Any] = {}
    large, base = max(sizes), 100_000
    for how in ("memory", "disk"):
        own, other = found[f"{how} {large}"], found[f"{how} {base}"]
        ratios[f"{how}: time per row at {large} over {base}"] = own["row_microseconds"] / other["row_microseconds"]
    before = found.get(f"disk {large // 10}")
    if before:
        ratios[f"disk: peak memory at {large} over {large // 10}"] = (
            found[f"disk {large}"]["peak_mb"] / before["peak_mb"]
        )
    return {"ratios": ratios, "runs": found}


def small() -> dict[str, Any]:
    """CPU seconds of FLS over those of scikit-learn's spectral clustering of nearest neighbours, on small data."""
    found: dict[str, Any] = {}
    with threadpool_limits(1):
        for name in SMALL_DATA:
            X, y = load(name, 0)
            k = len(np.unique(y[y >= 0]))
            fits = {
                "fls": partial(FLS, k),
                "spectral": partial(SpectralClustering, k, affinity="nearest_neighbors"),
            }
            times: dict[str, list[float]] = {each: [] for each in fits}
            for seed in range(ROUNDS):
                for each, make in fits.items():
                    spent, _ = cpu_seconds(partial(make(random_state=seed).fit, X))
                    times[each].append(spent)
            ours, theirs = (float(np.median(times[each])) for each in fits)
            found[name] = {
                "rows": list(X.shape),
                "clusters": k,
                "cpu_seconds": ours,
                "over_spectral_clustering": ours / theirs,
            }
    return found


def landmarks() -> dict[str, Any]:
    """CPU seconds and peak memory of a fit with many landmarks, and the time over rows times landmarks."""
    found: dict[str, Any] = {}
    for n, count in LANDMARKS:
        command = [sys.executable, __file__, "--landmarks", str(n), str(count)]
        found[f"{n} {count}"] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(json.dumps({f"{n} {count}": found[f"{n} {count}"]}), file=sys.stderr, flush=True)
    return found


def many_landmarks(n_rows: int, n_landmarks: int) -> dict[str, Any]:
    """One such fit, of some clusters and columns of `union_block`."""
    rows, labels = union_block(0, n_rows)
    keep = labels < LANDMARK_CLUSTERS
    rows, labels = np.ascontiguousarray(rows[keep, :LANDMARK_COLUMNS]), labels[keep]
    model = FLS(
        LANDMARK_CLUSTERS, n_landmarks=n_landmarks, subspace_dim=3, n_draws=1, assign="balanced", random_state=0
    )
    with threadpool_limits(1):
        spent, model = cpu_seconds(lambda: model.fit(rows))
    return {
        "rows": len(rows),
        "cpu_seconds": spent,
        "nanoseconds_per_row_and_landmark": 1e9 * spent / len(rows) / n_landmarks,
        "peak_mb": peak_memory(),
        "accuracy": clustering_accuracy(labels, np.asarray(model.labels_)),
    }


def plans() -> dict[str, Any]:
    """Time that `FLS.plan` estimates over the time that the fit takes."""
    found: dict[str, Any] = {}
    for n in (200, 1000, 5000, 20_000, 100_000, 400_000):
        rows, _ = union_block(0, n)
        spent, _ = seconds(lambda rows=rows: FLS(len(DIMS), random_state=0).fit(rows))
        # The rows are flat.
        planned = FLS(len(DIMS)).plan(*rows.shape).seconds_if_flat
        found[str(n)] = {"seconds": spent, "plan_over_fit": planned / spent}
    images, _ = load_mnist()
    for n in (2000, 10_000, len(images)):
        spent, _ = seconds(lambda n=n: FLS(10, random_state=0).fit(images[:n]))
        planned = FLS(10).plan(n, images.shape[1]).seconds
        found[f"images {n}"] = {"seconds": spent, "plan_over_fit": planned / spent}
    return found


def cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def peak_memory() -> float:
    """Peak memory of this process in MB; not by getrusage, which includes the process that started it."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1000


def one(how: str, path: Path) -> dict[str, Any]:
    """Run one fit in a separate process and measure its memory."""
    truth = np.load(path.parent / "truth.npy", mmap_mode="r")
    X: Any = np.load(path) if how == "memory" else str(path)
    start = time.perf_counter()
    if how == "disk":
        from subspaces import open_rows

        X = open_rows(X, memory_limit="1GB", labels=path.with_suffix(".labels.npy"))
    model = FLS(len(DIMS), random_state=0).fit(X)
    spent = time.perf_counter() - start
    accuracy = clustering_accuracy(np.asarray(truth), np.asarray(model.labels_))
    row = 1e6 * spent / len(truth)
    return {"seconds": spent, "row_microseconds": row, "peak_mb": peak_memory(), "accuracy": accuracy}


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "mnist": mnist,
    "spectral": spectral,
    "rows": rows,
    "small": small,
    "landmarks": landmarks,
    "plans": plans,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which of {', '.join(PARTS)}; all of them by default")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--landmarks", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.one:
        print(json.dumps(one(arguments.one[0], Path(arguments.one[1]))))
        return
    if arguments.landmarks:
        print(json.dumps(many_landmarks(*arguments.landmarks)))
        return
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}: give some of {', '.join(PARTS)}")
    known = json.loads(OUT.read_text()) if OUT.exists() else {}
    known["command"] = "python benchmarks/speed/cpu.py"
    for part in arguments.parts or PARTS:
        if part not in ONE_THREAD:
            known["threads"] = n_threads()
        known[part] = PARTS[part]()
        print(json.dumps({part: known[part]}, indent=1), flush=True)
        store(OUT, known, part)


if __name__ == "__main__":
    main()
