"""Write the tables of README and docs, and docs/paper.md, from stored results.

Each table replaces the text between its marks.

python benchmarks/tables.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from default_table import FLAT_METHODS, TABLE_METHODS, joined
from kept import SCRIPTS, older

from subspaces.paper.reproduce.page import OLDER

ROOT = Path(__file__).parent.parent
# Result files that the current table has read.
READ: set[str] = set()

# Name in the results, name in the table, the accuracy of FLS that the paper prints.
ROWS = [
    ("synthetic (2,2) R^6 30%", "subspaces of dimension 2, 2 in R⁶, 30 % outliers", "0.99"),
    ("synthetic (4,5,6) R^10 30%", "4, 5, 6 in R¹⁰, 30 % outliers", "0.98"),
    ("synthetic (3,4,5,6,7) R^80 30%", "3, 4, 5, 6, 7 in R⁸⁰, 30 % outliers", "0.99"),
    ("mnist 49", "MNIST 4, 9", "0.93"),
    ("mnist 368", "MNIST 3, 6, 8", "0.95"),
    ("mnist 25789", "MNIST 2, 5, 7, 8, 9", "0.81"),
    ("mnist 123456789", "MNIST 1–9", "0.54"),
    ("mnist 0123456789", "MNIST, all ten digits, 60,000 images", "–"),
    ("pendigits", "penDigits", "0.68"),
    ("yale 8", "Extended Yale B, 8 persons", "0.68"),
    ("yale 38", "Extended Yale B, all 38 persons", "–"),
]


def kept(name: str) -> dict[str, Any]:
    READ.add(name)
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def results(name: str) -> dict[str, Any]:
    return kept(name)["results"]


def accuracy() -> list[str]:
    lines = ["| data | FLS in the paper | `FLS(K)` here, mean (lowest) | draws |", "|---|---|---|---|"]
    for name, shown, paper in ROWS:
        found = [run["accuracy"] for run in default_runs(name)]
        lines.append(f"| {shown} | {paper} | **{sum(found) / len(found):.3f}** ({min(found):.3f}) | {len(found)} |")
    return lines


def by_column(measured: dict[str, Any], columns: dict[str, str] | None = None) -> list[str]:
    """One row per data set; `columns` maps the names of results to column titles."""
    columns = columns or {name: name for name in next(iter(measured.values()))}
    lines = ["| data | " + " | ".join(columns.values()) + " |", "|---" * (1 + len(columns)) + "|"]
    for name, row in measured.items():
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:.3f}" for column in columns) + " |")
    return lines


def theory() -> list[str]:
    from subspaces.theory import table

    return table(json.loads((ROOT / "benchmarks" / "paper" / "results" / "theory.json").read_text())["curves"])


def bounds() -> list[str]:
    record = kept("study_bounds")
    row = record["results"]
    given = f"{record['sigma']} | {record['landmarks']} | {row['epsilon']:g}"
    shown = f"{row['probability']:.2f} | {row['bound of the paper']:.0e} | {row['Hoeffding']:.2g}"
    return [
        "| σ | D | ε | probability of an error of at least ε | 2 exp(-Dε²/4) | Hoeffding with B |",
        "|---|---|---|---|---|---|",
        f"| {given} | {shown} |",
    ]


def products() -> list[str]:
    lines = ["| ψ | D | passes | time, ψ kept | time, ψ computed again | memory, MB | memory of the matrix, MB |"]
    lines.append("|---" * 7 + "|")
    cells = {(cell["map"], cell["D"], cell["psi kept"]): cell for cell in kept("products")["cells"]}
    for (kind, width, is_kept), cell in cells.items():
        if not is_kept:
            continue
        again = cells.get((kind, width, False), cell)
        times = [cell.get("time over that of the matrix"), again.get("time over that of the matrix")]
        if again is cell:
            times[1] = None
        ratios = ["–" if ratio is None else f"{ratio:.2g}" for ratio in times]
        grams = [each["gram"]["mb"] for each in (again, cell) if "gram" in each]
        matrix = f"{grams[0]:,.0f}" if grams else "–"
        lines.append(
            f"| {'Fourier' if kind == 'fourier' else kind} | {width:,} | {cell['products']['passes'] - 1} | "
            f"{ratios[0]} | {ratios[1]} | {again['products']['mb']:.0f} | {matrix} |"
        )
    return lines


def sigma_rules() -> list[str]:
    found = kept("study_sigma")["results"]
    shown = {
        "(4,5,6) R^10 30%": "4, 5, 6 in R¹⁰, 30 %",
        "MNIST 4,9": "MNIST 4, 9",
        "MNIST 2,5,7,8,9": "MNIST 2, 5, 7, 8, 9",
        "Extended Yale B, 8 persons": "faces",
        "penDigits": "penDigits",
        "mean": "mean of 16",
    }
    lines = [f"| sigma | {' | '.join(shown.values())} |", "|---" * (1 + len(shown)) + "|"]
    for rule in found["affine"]["rules"]:
        pairs = [[each["rules"][rule][name] for each in found.values()] for name in shown]
        cells = ["; ".join(f"{score:.3f}" for score in pair) for pair in pairs]
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return lines


def partition() -> list[str]:
    lines = ["| data | not refined | chosen, then refined | refined, then chosen | oracle |", "|---|---|---|---|---|"]
    for name, row in results("study_partition").items():
        means = [sum(row[key]) / len(row[key]) for key in ("a", "b", "c", "oracle")]
        shown = f"MNIST {', '.join(name)}" if name.isdigit() else name
        lines.append(f"| {shown} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")
    return lines


# Data of the paper's tables, and what it prints for LBF, SSC and SSSC.
PAPER = {
    "synthetic (2,2) R^6 5%": ("2, 2 in R⁶, 5 % outliers", "0.99", "0.92", "0.89"),
    "synthetic (4,5,6) R^10 5%": ("4, 5, 6 in R¹⁰, 5 %", "0.97", "0.55", "0.62"),
    "synthetic (5,6,7) R^20 5%": ("5, 6, 7 in R²⁰, 5 %", "1.00", "0.98", "0.83"),
    "synthetic (3,4,5,6,7) R^80 5%": ("3–7 in R⁸⁰, 5 %", "0.98", "0.95", "0.73"),
    "synthetic (2,2) R^6 30%": ("2, 2 in R⁶, 30 %", "0.99", "0.91", "0.76"),
    "synthetic (4,5,6) R^10 30%": ("4, 5, 6 in R¹⁰, 30 %", "0.98", "0.59", "0.44"),
    "synthetic (5,6,7) R^20 30%": ("5, 6, 7 in R²⁰, 30 %", "1.00", "0.84", "0.47"),
    "synthetic (3,4,5,6,7) R^80 30%": ("3–7 in R⁸⁰, 30 %", "0.98", "0.73", "0.40"),
    "mnist 17": ("MNIST 1, 7", "0.65", "0.76", "0.89"),
    "mnist 49": ("MNIST 4, 9", "0.57", "0.66", "0.65"),
    "mnist 248": ("MNIST 2, 4, 8", "0.44", "0.94", "0.95"),
    "mnist 368": ("MNIST 3, 6, 8", "0.57", "0.86", "0.90"),
    "mnist 25789": ("MNIST 2, 5, 7, 8, 9", "0.36", "–", "0.77"),
    "mnist 123456789": ("MNIST 1–9", "0.25", "–", "0.50"),
    "yale 8": ("Extended Yale B, 8 persons", "0.63", "0.87", "0.57"),
    "pendigits": ("penDigits", "0.53", "–", "0.51"),
}
OTHERS = {
    "KFlats": "`KFlats`",
    "SLBF": "`SLBF`",
    "SSC elastic_net": "SSC, elastic net",
    "SSC omp": "SSC, OMP",
    "LandmarkSpectralClustering": "`Landmark…`",
    "FourierSpectralClustering": "`Fourier…`",
    "NystromSpectralClustering": "`Nystrom…`",
    "KASP": "`KASP`",
}
# Methods of scikit-learn beside ours.
ORDINARY = {
    "k-means": "k-means",
    "spectral": "spectral clustering",
    "mixture": "Gaussian mixture",
    "hdbscan": "HDBSCAN",
}


def large_ssc() -> dict[str, dict[str, dict[str, Any]]]:
    """Results of SSC on a device, by data set and solver."""
    record = kept("ssc_large_cuda")
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in record["cells"]:
        name = cell["data"] if cell["data"] == "pendigits" else f"mnist {cell['data']}"
        cells.setdefault(name, {})[cell["solver"]] = cell
    return cells


def method_scores(name: str, method: str) -> tuple[float, float] | None:
    """Mean and lowest accuracy of a method; None if it was not run."""
    if method == "FLS":
        scores = [run["accuracy"] for run in default_runs(name)]
        return sum(scores) / len(scores), min(scores)
    cell = results("methods").get(name, {}).get(method)
    if cell is not None:
        return float(cell["mean"]), float(cell["min"])
    solvers = {"SSC": "admm", "SSC elastic_net": "elastic_net", "SSC omp": "omp"}
    large = large_ssc().get(name, {}).get(solvers.get(method, ""))
    return None if large is None else (float(large["accuracy"]), float(large["accuracy"]))


def default_runs(name: str) -> list[dict[str, Any]]:
    """Draws of FLS on a data set."""
    return list(results("defaults")[name]["runs"]["FLS"].values())


def mean_and_lowest(scores: tuple[float, float] | None) -> str:
    return "–" if scores is None else f"{scores[0]:.3f} ({scores[1]:.3f})"


def methods() -> list[str]:
    lines = ["| data | FLS | LBF; paper | SSC; paper | SSSC; paper |", "|---|---|---|---|---|"]
    for name, (shown, *paper) in PAPER.items():
        scores = [method_scores(name, method) for method in ("LBF", "SSC", "SSSC")]
        cells = [f"{mean_and_lowest(each)}; {printed}" for each, printed in zip(scores, paper, strict=True)]
        lines.append(f"| {shown} | {mean_and_lowest(method_scores(name, 'FLS'))} | " + " | ".join(cells) + " |")
    return lines


def others() -> list[str]:
    lines = ["| data | " + " | ".join(OTHERS.values()) + " |", "|---" * (1 + len(OTHERS)) + "|"]
    for name, (shown, *_) in PAPER.items():
        scores = [method_scores(name, method) for method in OTHERS]
        lines.append(f"| {shown} | " + " | ".join(map(mean_and_lowest, scores)) + " |")
    return lines


def ordinary() -> list[str]:
    lines = [f"| data | FLS | {' | '.join(ORDINARY.values())} |", "|---" * (2 + len(ORDINARY)) + "|"]
    for name, (shown, *_) in PAPER.items():
        scores = [method_scores(name, method) for method in ("FLS", *ORDINARY)]
        lines.append(f"| {shown} | " + " | ".join(map(mean_and_lowest, scores)) + " |")
    return lines


def large() -> list[str]:
    lines = ["| data | rows | ADMM | elastic net | OMP | paper |", "|---|---|---|---|---|---|"]
    seconds = {"mnist 17": 18993, "mnist 49": 14358, "mnist 248": 45683, "mnist 368": 47448}
    for name, cells in large_ssc().items():
        shown, printed = "MNIST, all ten digits", "–"
        if name in PAPER:
            shown, printed = PAPER[name][0], PAPER[name][2]
        if name in seconds:
            printed += f" ({seconds[name]:,} s)"
        solved = [f"{cells[s]['accuracy']:.3f} ({cells[s]['seconds']:.1f} s)" for s in ("admm", "elastic_net", "omp")]
        lines.append(f"| {shown} | {cells['admm']['rows']:,} | " + " | ".join(solved) + f" | {printed} |")
    return lines


def graph() -> list[str]:
    keys = {
        "published": "published step",
        "largest entries": "largest entries",
        "chosen vectors": "chosen eigenvectors",
        "both": "both",
        "oracle": "oracle",
        "unscaled": "both, rows not scaled",
    }
    return by_column(results("study_graph"), keys)


def iteration() -> list[str]:
    record = kept("ssc_iteration")
    cell = kept("ssc_large_cpu")["cells"][0]
    low, high = min(record["ratios"]), max(record["ratios"])
    return [
        f"On two cores MNIST 1, 7 takes {cell['seconds']:.0f} s and {cell['peak_bytes'] / 1e6:.0f} MB "
        f"(`benchmarks/ssc_large.py --cells 17`); an iteration costs {low:.2f} to {high:.2f} times the two products "
        "that it cannot do without (`benchmarks/speed/ssc_iteration.py`)."
    ]


def flats() -> list[str]:
    return by_column(results("study_flats"))


def landmarks() -> list[str]:
    """Numbers of landmarks, nearest flats and dimensions, each given."""
    found = results("study_landmarks")
    columns = list(dict.fromkeys(variant for row in found.values() for variant in row))
    lines = ["| given | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
    for variant in columns:
        cells = [row.get(variant) for row in found.values()]
        shown = [f"{each['mean']:.3f} ({each['lowest']:.3f})" if each else "–" for each in cells]
        lines.append(f"| {'nothing' if variant == 'default' else variant} | " + " | ".join(shown) + " |")
    return lines


def rules() -> list[str]:
    """What changes if one rule of the choice is left out."""
    found = results("study_rules")
    found = {rule: runs for rule, runs in found.items() if all("accuracy" in run for run in runs.values())}
    every = found.pop("all rules")
    parts = {"draw": "data of this page", "table": "tables from registries"}
    lines = ["| rule left out | " + " | ".join(parts.values()) + " | draws that lose; gain | time |"]
    lines.append("|---" * 5 + "|")
    for rule, runs in found.items():
        change = {name: run["accuracy"] - every[name]["accuracy"] for name, run in runs.items()}
        means = [np.mean([value for name, value in change.items() if name.split()[0] == part]) for part in parts]
        lost, gained = (sum(sign * value > 0.01 for value in change.values()) for sign in (-1, 1))
        time = sum(run["seconds"] for run in runs.values()) / sum(run["seconds"] for run in every.values())
        shown = " | ".join(f"{mean:+.4f}" for mean in means)
        lines.append(f"| {rule} | {shown} | {lost}; {gained} | {time:.2f} |")
    return lines


def defaults() -> list[str]:
    """FLS and the best other method on all kinds of data."""
    lines = [
        "| data | draws | `FLS(K)`, mean (lowest) | best other method | its mean | difference, same draws |",
        "|---|---|---|---|---|---|",
    ]
    for name, line in joined(results("defaults"), results("defaults_relatives")).items():
        if line.part == "none":
            continue
        best, mean, more = line.best(TABLE_METHODS if line.part == "tables" else FLAT_METHODS)
        other = f"{best} | {mean:.3f} | {more:+.3f}" if mean == mean else "– | – | –"
        lines.append(f"| {name} | {len(line.runs['FLS'])} | {line.mean():.3f} ({line.lowest():.3f}) | {other} |")
    return lines


def verdicts() -> list[str]:
    """How often the words of a verdict are right."""
    from study_verdict import calibration

    found = calibration(kept("study_verdict")["runs"])
    lines = [
        "| data | called reliable: right | right: called reliable | no clusters: called reliable |",
        "|---|---|---|---|",
    ]
    for group, shares in found.items():
        lines.append(f"| {group} | " + " | ".join(f"{part} of {whole}" for part, whole in shares) + " |")
    return lines


def count() -> list[str]:
    lines = ["| data | `FLS` | `LBF` | `KFlats` |", "|---|---|---|---|"]
    flats = results("cluster_count_flats")
    real = []
    for name, row in results("choosing")["count"].items():
        if " R^" not in name or name.startswith("moons"):
            run = row["runs"][0]
            score, candidates = run["evidence"]["score"], run["evidence"]["candidates"]
            best = sorted(candidates, key=lambda each: -each.get(score, 0))
            shown = ", ".join(f"{each['n_clusters']} ({each.get('agreement', 1):.2f})" for each in best[:4])
            real.append(f"| {name} | {run['found']} | {shown} |")
            continue
        others = [flats_right(flats, name, method) for method in ("LBF", "KFlats")]
        lines.append(f"| {name} | {row['right']:.0%} right | " + " | ".join(others) + " |")
    return [*lines, "", "| data | found | best candidates (agreement) |", "|---|---|---|", *real]


def flats_right(flats: dict[str, Any], name: str, method: str) -> str:
    """How often LBF or KFlats finds the number of clusters; model names differ between the two files."""
    dims, space, share = re.fullmatch(r"\((.*)\) (\S+) (\S+)", name).groups()  # type: ignore[union-attr]
    dims = dims.replace("3, 4, 5, 6, 7", "3-7")
    return f"{flats[f'{dims} in {space}, {share} outliers'][method]['right']:.0%} right"


def outliers() -> list[str]:
    lines = ["| data | AUC of the scores | inliers lost | outliers found |", "|---|---|---|---|"]
    for name, row in results("choosing")["outliers"].items():
        lines.append(f"| {name} | {row['auc']:.4f} | {row['inliers_lost']:.2%} | {row['outliers_found']:.1%} |")
    return lines


def confidence() -> list[str]:
    lines = ["| data | AUC of `confidence_` | agreement | warned |", "|---|---|---|---|"]
    for name, row in results("choosing")["confidence"].items():
        same = [run["agreement"] for run in row["runs"]]
        auc = f"{row['confidence_auc']:.3f}" if "confidence_auc" in row else "–"
        warned = f"{row['warned']:.0%}" if "warned" in row else f"{sum(each < 0.5 for each in same) / len(same):.0%}"
        lines.append(f"| {name} | {auc} | {sum(same) / len(same):.2f} | {warned} |")
    return lines


def search() -> list[str]:
    lines = ["| data | search / fit |", "|---|---|"]
    for name, row in results("choosing")["search"].items():
        lines.append(f"| {name} | {row['search_over_final_fit']:.2f} |")
    return lines


def numbers() -> list[str]:
    """The numbers of selection/thresholds.py and the comments above them, whose last sentence names the studies."""
    lines = ["| number | value | what it decides | study |", "|---|---|---|---|"]
    text = (ROOT / "src" / "subspaces" / "selection" / "thresholds.py").read_text()
    for comment, assignments in re.findall(r"((?:^# (?!---).*\n)+)((?:^[A-Z_]+ = .*\n)+)", text, re.MULTILINE):
        words = " ".join(line.removeprefix("# ") for line in comment.splitlines())
        what, _, studies = words.removesuffix(".").rpartition(". ")
        names, values = zip(*(line.split(" = ") for line in assignments.splitlines()), strict=True)
        shown = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {shown} | {'; '.join(values)} | {what} | {studies} |")
    return lines


def speed() -> list[str]:
    row = kept("speed")["mnist"]
    lines = ["| MNIST, 60,000 x 80, on two cores | time over that of `KMeans(10, n_init=10)` |", "|---|---|"]
    for shown, name in {
        "`FLS(10)`, the search for dimension and neighbourhood included": "fls_over_kmeans",
        "`FLS.paper(10, subspace_dim=3, n_landmarks=1000)`": "paper_over_kmeans",
        "`predict` of all rows": "predict_over_kmeans",
        "`LandmarkSpectralClustering(10)`": "landmark_spectral_over_kmeans",
        "`LBF(10, subspace_dim=3)`": "lbf_over_kmeans",
    }.items():
        lines.append(f"| {shown} | {row[name]:.2f} |")
    lines.append("")
    lines.append(
        f"The products that `FLS` cannot avoid, alone, take 1 / {row['fls_over_blas_floor']:.1f} of its time. "
        f"Accuracy: FLS {row['fls_accuracy']:.3f}, k-means {row['kmeans_accuracy']:.3f}."
    )
    for n, peer in kept("speed").get("spectral", {}).items():
        lines.append(
            f'scikit-learn\'s `SpectralClustering(affinity="nearest_neighbors")` on {int(n):,} rows takes '
            f"{1 / peer['fls_over_spectral_clustering']:.1f} times as long as FLS "
            f"(accuracy {peer['spectral_clustering_accuracy']:.3f} against {peer['fls_accuracy']:.3f})."
        )
    return lines


def rows() -> list[str]:
    runs = kept("speed")["rows"]["runs"]
    names = ("rows near ten subspaces of R⁸⁰", "from", "microseconds a row", "peak memory, MB", "accuracy")
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for name, run in runs.items():
        where, n = name.split()
        lines.append(
            f"| {int(n):,} | {where} | {run['row_microseconds']:.1f} | {run['peak_mb']:.0f} | {run['accuracy']:.4f} |"
        )
    ratios = kept("speed")["rows"]["ratios"]
    lines += ["", "; ".join(f"{name}: {ratio:.2f}" for name, ratio in ratios.items()) + "."]
    return lines


def gpu() -> list[str]:
    row = kept("gpu")
    held, stream, digits = row["in_memory"], row["stream"], row["mnist"]
    lines = [f"| {row['device']} | rows x 80, float32 | seconds | accuracy | peak memory |", "|---|---|---|---|---|"]
    for each in (*row.get("fewer_rows", ()), held):
        shape, call = f"{each['rows']:,}, on the device", each.get("call", "FLS(10, n_landmarks=1000)")
        lines.append(
            f"| `{call}`: fit and labels | {shape} | {each['fit_seconds']:.1f} "
            f"(the first time, with compilation, {each['first_fit_seconds']:.1f}) | {each['accuracy']:.5f} | "
            f"{each['peak_gib']:.0f} GiB, of which rows {each['rows_gib']:.0f} |"
        )
    lines.append(f"| `predict` | {shape} | {held['predict_seconds']:.2f} | | |")
    lines.append(
        f"| the same fit of a stream, drawn anew in each pass | {stream['rows']:,} | {stream['fit_seconds']:.0f} | "
        f"{stream['accuracy']:.5f} | {stream['peak_gib']:.0f} GiB |"
    )
    sent = row["host_to_device"]
    lines.append(
        f"| `predict` of rows in host memory | {sent['rows']:,} | {sent['predict_seconds']:.2f} (plain copies alone "
        f"{sent['copy_alone_seconds']:.2f}) | | |"
    )
    lines += ["", *many_landmarks(row["landmarks"])]
    same = ", ".join(f"{name} {each['same_labels']:.4f}" for name, each in digits.items())
    lines += ["", f"Share of the 60,000 MNIST labels that are the same on the GPU and in NumPy: {same}."]
    return lines


def many_landmarks(runs: list[dict[str, Any]]) -> list[str]:
    """Seconds and memory by numbers of rows and landmarks."""
    widths = sorted({each["landmarks"] for each in runs})
    heads = " | ".join(f"{width:,} landmarks" for width in widths)
    lines = [f"| everything given, rows on the device | {heads} |", "|---|" + "---|" * len(widths)]
    for n_rows in sorted({each["rows"] for each in runs}):
        own = {each["landmarks"]: each for each in runs if each["rows"] == n_rows}
        cells = [
            f"{own[width]['fit_seconds']:.1f} s, {own[width]['peak_gib']:.0f} GiB" if width in own else "not measured"
            for width in widths
        ]
        lines.append(f"| {n_rows:,} rows | " + " | ".join(cells) + " |")
    return lines


def headline() -> list[str]:
    """The table on the first page of the site: complete data sets."""
    shown = {
        "MNIST, all images": "MNIST, all 70,000 images",
        "penDigits, all rows": "penDigits, 10,992 rows",
        "Extended Yale B, 38 persons": "Extended Yale B, 38 persons",
    }
    cells = paper_results("beyond")["cells"]
    lines = ["| | `FLS(K)` | spectral clustering | k-means |", "|---|---|---|---|"]
    for name, title in shown.items():
        means = [draw_mean(cells[name].get(method)) for method in ("fls", "spectral", "kmeans")]
        accuracies = ["too many rows" if mean is None else f"{mean:.3f}" for mean in means]
        lines.append(f"| {title} | **{accuracies[0]}** | {accuracies[1]} | {accuracies[2]} |")
    return lines


def paper_results(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "benchmarks" / "paper" / "results" / f"{name}.json").read_text())


def draw_mean(cell: dict[str, Any] | None, figure: str = "accuracy") -> float | None:
    """Mean over the draws of a cell; None if there are none."""
    draws = (cell or {}).get("draws") or []
    return sum(draw[figure] for draw in draws) / len(draws) if draws else None


# Groups of data sets whose means tell methods apart.
GROUPS = {
    "eight models of flat subspaces": [name for name in PAPER if name.startswith("synthetic")],
    "six choices of MNIST digits": [name for name in PAPER if name.startswith("mnist")],
    "faces, 8 persons": ["yale 8"],
    "penDigits": ["pendigits"],
}


def figures(name: str, method: str) -> tuple[float, float] | None:
    """Mean accuracy and mean seconds of a method; None if it was not run."""
    runs = default_runs(name) if method == "FLS" else results("methods").get(name, {}).get(method, {}).get("runs")
    if not runs:
        return None
    accuracy, seconds = (sum(run[key] for run in runs) / len(runs) for key in ("accuracy", "seconds"))
    return accuracy, seconds


def averages() -> list[str]:
    lines = ["| | " + " | ".join(GROUPS) + " |", "|---" * (1 + len(GROUPS)) + "|"]
    names = {
        "FLS": "`FLS`",
        "LBF": "`LBF`",
        "SSC": "`SSC`",
        "SSSC": "`SSSC`",
        **OTHERS,
        "LandmarkSpectralClustering": "`LandmarkSpectralClustering`",
        "FourierSpectralClustering": "`FourierSpectralClustering`",
        "NystromSpectralClustering": "`NystromSpectralClustering`",
    }
    for method, shown in names.items():
        cells = []
        for group in GROUPS.values():
            found = [figures(name, method) for name in group]
            if None in found:
                cells.append("–")
                continue
            accuracy, seconds = (sum(each) / len(found) for each in zip(*found, strict=True))  # type: ignore[arg-type]
            cells.append(f"{accuracy:.3f} ({seconds:.1f} s)")
        lines.append(f"| {shown} | " + " | ".join(cells) + " |")
    return lines


def solvers() -> list[str]:
    """Mean accuracies of solvers of SSC and of methods that are not part of the library."""
    found = {name: cells for name, cells in results("study_methods").items() if not name.startswith("motions")}
    lines = ["| | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
    for method in dict.fromkeys(method for cells in found.values() for method in cells):
        means = [cells[method]["mean"] if method in cells else None for cells in found.values()]
        lines.append(f"| {method} | " + " | ".join("–" if mean is None else f"{mean:.3f}" for mean in means) + " |")
    return lines


def motion_errors() -> list[str]:
    """Mean errors on motions, as they are published."""
    two, three = (results("study_methods")[f"motions, {count}"] for count in (2, 3))
    lines = [
        f"| error in % | two motions, {two['ssc']['draws']} sequences | three motions, {three['ssc']['draws']} |",
        "|---|---|---|",
    ]
    for method in two:
        if method in three:
            errors = [100 * (1 - cells[method]["mean"]) for cells in (two, three)]
            lines.append(f"| {method} | {errors[0]:.1f} | {errors[1]:.1f} |")
    return lines


def which() -> list[str]:
    """The decision table: a situation, a method, and the measurements for and against it."""

    def reached(name: str, method: str) -> str:
        accuracy, seconds = figures(name, method)  # type: ignore[misc]
        return f"{accuracy:.3f} in {seconds:.1f} s"

    def mean(group: str, method: str) -> str:
        found = [figures(name, method)[0] for name in GROUPS[group]]  # type: ignore[index]
        return f"{sum(found) / len(found):.3f}"

    beyond = paper_results("beyond")["cells"]["MNIST, all images"]
    flat, digits = list(GROUPS)[:2]
    large = large_ssc()["mnist 0123456789"]["admm"]
    others = ("LBF", "SSC", "SSSC", *OTHERS)
    best = sum(
        figures(name, "FLS")[0] >= max((method_scores(name, method) or (0,))[0] for method in others)  # type: ignore[index]
        for name in PAPER
    )
    lines = ["| if ... | use | time in n rows | measured |", "|---|---|---|---|"]
    rows = {
        ("you are not sure, or clusters are curved", "`FLS`", "linear"): (
            f"the most accurate on {best} of the {len(PAPER)} data sets below; all 70,000 images of MNIST "
            f"{draw_mean(beyond['fls']):.3f}, k-means {draw_mean(beyond['kmeans']):.3f}"
        ),
        ("every cluster is flat, and you want the flats", "`LBF`, `KFlats`", "linear"): (
            f"{flat}: LBF {mean(flat, 'LBF')}, FLS {mean(flat, 'FLS')}; {digits}, which are curved: LBF "
            f"{mean(digits, 'LBF')}, FLS {mean(digits, 'FLS')}"
        ),
        ("there are at most some thousand rows, and you want the graph of self-expression", "`SSC`", "n²"): (
            f"faces: SSC {reached('yale 8', 'SSC')}, FLS {reached('yale 8', 'FLS')}; MNIST, 60,000 rows on a GPU: "
            f"{large['accuracy']:.3f} in {large['seconds']:.0f} s"
        ),
        ("there are many columns, and you want a graph quickly", '`SSC(solver="omp")`', "n²"): (
            f"faces, 78 columns: {reached('yale 8', 'SSC omp')}; penDigits, 16 columns: "
            f"{reached('pendigits', 'SSC omp')}"
        ),
        ("speed matters more than accuracy", "`SSSC`", "linear"): (
            f"MNIST 1, 7: SSSC {reached('mnist 17', 'SSSC')}, FLS {reached('mnist 17', 'FLS')}; MNIST 1–9: SSSC "
            f"{reached('mnist 123456789', 'SSSC')}, FLS {reached('mnist 123456789', 'FLS')}"
        ),
        ("there are few rows, clusters are curved, and each row should have its own flat", "`SLBF`", "n²"): (
            f"penDigits: SLBF {reached('pendigits', 'SLBF')}, LBF {reached('pendigits', 'LBF')}"
        ),
        ("clusters are separated by distance, not by direction", "`LandmarkSpectralClustering`", "linear"): (
            f"penDigits: {reached('pendigits', 'LandmarkSpectralClustering')}, FLS {reached('pendigits', 'FLS')}; "
            f"planes with 30 % outliers: {reached('synthetic (2,2) R^6 30%', 'LandmarkSpectralClustering')}, FLS "
            f"{reached('synthetic (2,2) R^6 30%', 'FLS')}"
        ),
        (
            "the same, with a known kernel",
            "`NystromSpectralClustering`, `FourierSpectralClustering`",
            "linear",
        ): (
            f"penDigits: Nystrom {reached('pendigits', 'NystromSpectralClustering')}, Fourier "
            f"{reached('pendigits', 'FourierSpectralClustering')}; {flat}: "
            f"{mean(flat, 'NystromSpectralClustering')} and {mean(flat, 'FourierSpectralClustering')}, close to chance"
        ),
        ("the same, with very many rows", "`KASP`", "linear"): (
            f"penDigits: {reached('pendigits', 'KASP')}; {flat}: {mean(flat, 'KASP')}"
        ),
        ("the same, with your own kernel", "`KernelSpectralClustering`", "linear"): "depends on the kernel",
    }
    return lines + [f"| {' | '.join(key)} | {evidence} |" for key, evidence in rows.items()]


TABLES: dict[str, list[Callable[[], list[str]]]] = {
    "README.md": [accuracy],
    "docs/index.md": [headline],
    "docs/which-method.md": [which, averages, solvers, motion_errors],
    "docs/benchmarks.md": [accuracy, speed, gpu],
    "docs/studies.md": [
        numbers,
        defaults,
        verdicts,
        count,
        outliers,
        confidence,
        search,
        rules,
        landmarks,
        partition,
        sigma_rules,
    ],
    "docs/theory.md": [theory, products, bounds],
    "docs/scaling.md": [speed, rows, gpu],
    "docs/methods.md": [methods, others, ordinary, flats, large, iteration, graph],
}


def without_marks(text: str) -> str:
    """A page without the lines that name results of earlier code, which change with every change of the code."""
    return re.sub(rf"\n?\n[-*] ?{OLDER}[^\n]*", "", text)


def marked(lines: list[str]) -> list[str]:
    """A table, and below it which of the results that it shows come from earlier code."""
    names = [words for words in map(older, sorted(READ & set(SCRIPTS))) if words]
    return [*lines, "", f"*{OLDER} {', '.join(names)}.*"] if names else lines


def with_tables(file: str) -> str:
    """The text of a page with its tables updated."""
    text = (ROOT / file).read_text()
    for table in TABLES[file]:
        mark, end = f"<!-- {table.__name__}: made by benchmarks/tables.py -->", f"<!-- end of {table.__name__} -->"
        READ.clear()
        body = "\n".join([mark, *marked(table()), end])
        text = re.sub(f"{re.escape(mark)}.*?{re.escape(end)}", lambda _, body=body: body, text, flags=re.DOTALL)
    return text


def paper_page(folder: Path = ROOT / "benchmarks" / "paper" / "results") -> str | None:
    """docs/paper.md from the stored results of `subspaces reproduce`; None if there are none."""
    from subspaces.paper.reproduce.notes import PICTURES
    from subspaces.paper.reproduce.page import markdown, read_records

    records = read_records(folder)
    pictures = {
        name: f"../benchmarks/paper/results/{name}.png" for name in PICTURES if (folder / f"{name}.png").exists()
    }
    return markdown(records, pictures, "make reproduce") if records else None


if __name__ == "__main__":
    for file in TABLES:
        (ROOT / file).write_text(with_tables(file))
    page = paper_page()
    if page is not None:
        (ROOT / "docs" / "paper.md").write_text(page)
