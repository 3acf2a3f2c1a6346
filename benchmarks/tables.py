"""Write the tables of README and docs from the kept results, between the marks that name them.

python benchmarks/tables.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

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


def results(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())["results"]


def accuracy() -> list[str]:
    measured = results("accuracy")
    lines = ["| data | FLS in the paper | `FLS(K)` here, mean (lowest) | draws |", "|---|---|---|---|"]
    for name, shown, paper in ROWS:
        row = measured[name]
        lines.append(f"| {shown} | {paper} | **{row['mean']:.3f}** ({row['min']:.3f}) | {len(row['runs'])} |")
    return lines


def regime() -> list[str]:
    lines = ["| data | linear: accuracy (modularity) | affine | own choice | chose affine |", "|---|---|---|---|---|"]
    for name, row in results("study_regime").items():
        cells = [f"{row[f'{kind} accuracy']:.3f} ({row[f'{kind} modularity']:.3f})" for kind in ("linear", "affine")]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {row['auto accuracy']:.3f} | {row['chose affine']:.0%} |")
    return lines


def partition() -> list[str]:
    lines = ["| data | not refined | chosen, then refined | refined, then chosen | oracle |", "|---|---|---|---|---|"]
    for name, row in results("study_partition").items():
        means = [sum(row[key]) / len(row[key]) for key in ("a", "b", "c", "oracle")]
        shown = f"MNIST {', '.join(name)}" if name.isdigit() else name
        lines.append(f"| {shown} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")
    return lines


def paper() -> list[str]:
    lines = ["| data | affine flats | linear flats |", "|---|---|---|"]
    for name, row in results("study_paper").items():
        lines.append(f"| {name} | {row['affine']:.3f} | {row['linear']:.3f} |")
    return lines


TABLES: dict[str, list[Callable[[], list[str]]]] = {
    "README.md": [accuracy],
    "docs/choosing.md": [regime, partition, paper],
}


def with_tables(file: str) -> str:
    """The text of a file with its tables renewed."""
    text = (ROOT / file).read_text()
    for table in TABLES[file]:
        mark, end = f"<!-- {table.__name__}: made by benchmarks/tables.py -->", f"<!-- end of {table.__name__} -->"
        body = "\n".join([mark, *table(), end])
        text = re.sub(f"{re.escape(mark)}.*?{re.escape(end)}", lambda _, body=body: body, text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    for file in TABLES:
        (ROOT / file).write_text(with_tables(file))
