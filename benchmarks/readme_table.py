"""Write the accuracy table of the README from benchmarks/results/accuracy.json.

python benchmarks/readme_table.py
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- accuracy: made by benchmarks/readme_table.py -->", "<!-- end of accuracy -->"

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


def table() -> str:
    """The table in Markdown."""
    results = json.loads((ROOT / "benchmarks" / "results" / "accuracy.json").read_text())["results"]
    lines = ["| data | FLS in the paper | `FLS(K)` here, mean (lowest) | draws |", "|---|---|---|---|"]
    for name, shown, paper in ROWS:
        row = results[name]
        lines.append(f"| {shown} | {paper} | **{row['mean']:.3f}** ({row['min']:.3f}) | {len(row['runs'])} |")
    return "\n".join(lines)


def with_table(text: str) -> str:
    """The README with its table renewed."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text()))
