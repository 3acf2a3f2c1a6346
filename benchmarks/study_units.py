"""Should columns be standardised? What one flat says about it, and what it does to the clusters.

    python benchmarks/fetch_tables.py tables.npz
    SUBSPACES_DATA=folder python benchmarks/study_units.py --tables tables.npz

For tables of at most 80 columns: the share of the variance in the column that varies most, by how many nats a row, and
how many standard errors, one flat describes standardised columns shorter, and the adjusted Rand index of FLS with
columns as they are, standardised, and as it chooses. `--table` prints a stored result.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
from known_data import load, table_sizes
from measuring import measure, parser
from sklearn.metrics import adjusted_rand_score

from subspaces import FLS
from subspaces.selection.comparison import standard_error
from subspaces.selection.units import row_lengths

warnings.filterwarnings("ignore")

RESULTS = Path(__file__).parent / "results" / "study_units.json"
KNOWN = (
    "iris raw",
    "wine raw",
    "cancer raw",
    "digits",
    "pendigits",
    "blobs2",
    "moons",
    "motion cars3",
    "motion truck2",
)
ROWS = 800
# Tables of more clusters take long and say little about units.
MOST_CLUSTERS = 15


def study(name):
    """Everything measured for one table; None if it is not one of this study."""
    x, y = load(name, 0)
    x, y = np.asarray(x, np.float64), np.asarray(y)
    if len(x) > ROWS:
        index = np.random.RandomState(0).permutation(len(x))[:ROWS]
        x, y = x[index], y[index]
    x = x[:, x.std(axis=0) > 0]
    k, (n, p) = len(np.unique(y)), x.shape
    if p > 80 or k > MOST_CLUSTERS or n <= p:
        return None
    scales = x.std(axis=0)
    as_is, flat = row_lengths(x)
    standard, standard_flat = row_lengths(x / scales)
    saved = as_is - standard - np.log(scales).sum()
    fits = {
        str(value): float(adjusted_rand_score(y, FLS(k, standardise=value, random_state=0).fit(x).labels_))
        for value in (False, True, "auto")
    }
    return {
        "name": name.split()[-1] if name.startswith("table") else name,
        "rows": n,
        "columns": p,
        "clusters": k,
        "top": round(float(np.square(scales).max() / np.square(scales).sum()), 4),
        "saved": round(float(saved.mean() + flat - standard_flat), 4),
        "errors": round(float((saved.mean() + flat - standard_flat) / standard_error(saved)), 2),
        "ari": {key: round(value, 4) for key, value in fits.items()},
    }


def print_table(results):
    """Each table, sorted by the share of its top column, and means."""
    names = ("rows", "columns", "top", "saved", "errors", "as is", "standard", "auto")
    print(f"{'table':20}" + "".join(f"{name:>9}" for name in names))
    for each in sorted(results, key=lambda each: each["top"]):
        found = "".join(f"{each['ari'][key]:9.2f}" for key in ("False", "True", "auto"))
        figures = f"{each['top']:9.2f}{each['saved']:9.2f}{each['errors']:9.1f}"
        print(f"{each['name'][:19]:20}{each['rows']:9}{each['columns']:9}{figures}{found}")
    means = [np.mean([each["ari"][key] for each in results]) for key in ("False", "True", "auto")]
    print(f"{f'mean of {len(results)}':65}" + "".join(f"{mean:9.3f}" for mean in means))


def build(results):
    return {"results": [each for each in results.values() if each]}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--tables", type=Path, help=".npz file of benchmarks/fetch_tables.py")
    arguments.add_argument("--table", action="store_true", help="print the stored results and stop")
    options = arguments.parse_args()
    if not options.table:
        names = [*KNOWN, *(table_sizes(options.tables) if options.tables else ())]
        measure(RESULTS, names, study, build, options)
    print_table(json.loads(RESULTS.read_text())["results"])


if __name__ == "__main__":
    main()
