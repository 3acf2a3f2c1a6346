"""Which evidence finds the right partition: the description length of K flats, or the graph?

    SUBSPACES_DATA=folder python benchmarks/study_evidence.py benchmarks/results/study_evidence.json --jobs 16

For many data sets and draws: candidate partitions from several methods (local flats, points, K whole flats, k-means, a
Gaussian mixture), the description length that each leads to, and figures that may separate flat from curved clusters:
the length with one flat, with more flats than clusters, and the noise that K flats leave. True labels are used only to
report accuracy. `--table` prints a summary of a stored result.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import numpy as np
from known_data import leading, load, motion_names

warnings.filterwarnings("ignore")


def tasks():
    """Names of data sets: (name, seeds)."""
    names = dict.fromkeys(motion_names(), 1)
    for digits in ("17", "49", "248", "368", "25789", "123456789", "0123456789"):
        names[f"mnist {digits}"] = 2
    names |= {"pendigits": 3, "faces 8 raw": 4, "faces 8 drop2": 4, "faces 38 raw": 1}
    names |= {f"{t} {p}": 1 for t in ("iris", "wine", "cancer") for p in ("raw", "std")} | {"digits": 2}
    for name in ("blobs2", "blobs10", "aniso", "moons", "circles", "gauss15", "gauss50", "rings3"):
        names[name] = 2
    for angle in (10, 20, 30, 60, 90):
        names[f"angle {angle}"] = 2
    for d in ("234", "456", "222", "111"):
        for o in (0, 30, 60):
            names[f"sub {d} outliers {o}"] = 2
    names |= {"sub affine": 3, "sub uneven20": 3, "sub noisy": 3, "make_motions": 3, "noise": 2, "uniform": 2}
    return [(name, seed) for name, seeds in names.items() for seed in range(seeds)]


def accuracy(truth, found):
    from subspaces.metrics import clustering_accuracy

    keep = truth >= 0
    return float(clustering_accuracy(truth[keep], np.asarray(found)[keep]))


def candidates(x, k, seed):
    """Labels of each member of the family, and the seconds it took."""
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    from subspaces import FLS, LBF, KFlats, LandmarkSpectralClustering

    makers = {
        "FLS": lambda: FLS(k, random_state=seed),
        "graph": lambda: FLS(k, assign="balanced", random_state=seed),
        "graph affine": lambda: FLS(k, affine=True, assign="balanced", random_state=seed),
        "graph density": lambda: FLS(k, affine=True, assign="density", random_state=seed),
        "points": lambda: LandmarkSpectralClustering(k, random_state=seed),
        "LBF": lambda: LBF(k, random_state=seed),
        "LBF3": lambda: LBF(k, subspace_dim=min(3, x.shape[1] - 1), random_state=seed),
        "KFlats": lambda: KFlats(k, random_state=seed),
        "kmeans": lambda: KMeans(k, n_init=10, random_state=seed),
        "gmm": lambda: GaussianMixture(k, random_state=seed, n_init=3, reg_covar=1e-4),
    }
    found = {}
    for name, make in makers.items():
        start = time.time()
        try:
            rows = leading(x, max(30, 4 * k)) if name in ("gmm", "LBF", "LBF3", "KFlats") else x
            model = make()
            labels = model.fit_predict(rows)
            extra = {}
            if name == "FLS":
                extra = {"agreement": model.agreement_, "affine": model.affine_, "dim": model.subspace_dim_}
            found[name] = (np.asarray(labels, np.int32), time.time() - start, extra)
        except Exception as error:
            found[name] = (None, time.time() - start, {"error": repr(error)[:200]})
    return found


def noise_length(cell):
    """Typical distance of the rows of a cluster from its flat, in units of the rows."""
    p, d = cell.basis.shape
    return np.sqrt(cell.noise * (p - d))


def study(task):
    """Everything measured for one draw of one data set."""
    from subspaces.flats.description import measure, shortest_code
    from subspaces.selection.flat_count import codes_by_count

    name, seed = task
    x, y = load(name, seed)
    y = np.asarray(y)
    k = len(np.unique(y[y >= 0]))
    rng = np.random.RandomState(seed)
    result = {"name": name, "seed": seed, "n": len(x), "p": x.shape[1], "k": k, "starts": {}}
    index = np.arange(len(x)) if len(x) <= 2000 else np.sort(rng.permutation(len(x))[:2000])
    rows = leading(x, max(20, 4 * k))[index]
    result["q"] = rows.shape[1]
    space = measure(rows, affine=True)
    one = shortest_code(space, np.zeros(len(rows), np.int32), 1, free=True)
    result["one"] = one.length / len(rows)
    for start, (labels, seconds, extra) in candidates(x, k, seed).items():
        entry = {"seconds": seconds, **extra}
        if labels is not None:
            entry["accuracy"] = accuracy(y, labels)
            own = labels[index]
            own = np.where(own < 0, 0, own)
            for free in (False, True):
                code = shortest_code(space, own, k, free=free)
                best = code.table[:, :k].argmin(axis=1)
                filled = [cell for cell in code.cells if cell]
                entry[f"free{int(free)}"] = {
                    "length": code.length / len(rows),
                    "rows": float(code.row_lengths.sum() / len(rows)),
                    "accuracy": accuracy(y[index], best),
                    "moved": float(np.mean(best != own)),
                    "background": float(np.mean(code.chosen == k)),
                    "dims": [int(cell.dim) for cell in filled],
                    "directions": [int(cell.basis.shape[1]) for cell in filled],
                    "noise": float(np.median([noise_length(cell) for cell in filled])) if filled else None,
                }
        result["starts"][start] = entry
    start = time.time()
    codes = codes_by_count(rows, k + 6, affine=True, rng=np.random.RandomState(seed))
    result["by_count"] = {int(c): code.length / len(rows) for c, code in codes.items()}
    if k in codes:
        best = codes[k].table[:, :k].argmin(axis=1)
        result["merge"] = {"length": codes[k].length / len(rows), "accuracy": accuracy(y[index], best)}
    result["merge_seconds"] = time.time() - start
    return result


def rounded(value):
    """Numbers with four digits after the point."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(float(value), 4) if isinstance(value, float) and np.isfinite(value) else value


def shortest(entry):
    """Length and accuracy of the shortest code by K flats over all starts."""
    codes = [
        each["free1"] for each in entry["starts"].values() if np.isfinite(each.get("free1", {}).get("length", np.inf))
    ]
    codes += [entry["merge"]] if "merge" in entry else []
    return min((code["length"], code["accuracy"], code.get("noise") or np.nan) for code in codes)


def print_table(results):
    """Mean accuracies and figures of each kind of data."""
    groups = {}
    for entry in results:
        word, *rest = entry["name"].split()
        kind = (
            f"motion {entry['k']}"
            if word == "motion"
            else " ".join([word, *rest[1:]])
            if word == "faces"
            else entry["name"]
        )
        groups.setdefault(kind, []).append(entry)
    print(f"{'data':24}{'draws':>6}{'FLS':>7}{'graph':>7}{'points':>7}{'LBF':>7}{'code':>7}{'saving':>8}{'noise':>7}")
    for kind, entries in groups.items():
        rows = []
        for entry in entries:
            length, own, noise = shortest(entry)
            more = min(each for count, each in entry["by_count"].items() if int(count) >= entry["k"])
            methods = [entry["starts"][name].get("accuracy", np.nan) for name in ("FLS", "graph", "points", "LBF")]
            rows.append([*methods, own, max(0.0, length - more), noise])
        means = np.nanmean(rows, axis=0)
        figures = "".join(f"{each:7.3f}" for each in means[:5]) + f"{means[5]:8.2f}{means[6]:7.3f}"
        print(f"{kind:24}{len(entries):6}{figures}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="part of the name of a data set")
    parser.add_argument("--table", action="store_true", help="print a summary of OUT and stop")
    options = parser.parse_args()
    if options.table:
        print_table(json.loads(options.out.read_text()))
        return
    # The slowest first.
    slow = ("faces 38", "mnist", "gauss50", "faces", "pendigits", "gauss15")
    todo = [task for task in tasks() if options.only in task[0]]
    todo.sort(key=lambda task: next((i for i, word in enumerate(slow) if task[0].startswith(word)), len(slow)))
    results = []
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(study, task): task for task in todo}
        for job in as_completed(jobs):
            try:
                results.append(rounded(job.result()))
            except Exception as error:
                print("failed:", jobs[job], repr(error)[:300], flush=True)
            options.out.write_text(json.dumps(results))
    print_table(results)


if __name__ == "__main__":
    main()
