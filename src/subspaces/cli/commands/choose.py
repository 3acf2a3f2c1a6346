"""`subspaces choose`: suggest the number of clusters and their dimension, with the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from subspaces.cli import options as opt
from subspaces.cli import values
from subspaces.cli.configuration import ConfiguredCommand
from subspaces.cli.methods import METHODS
from subspaces.cli.output import print_json, print_text, table
from subspaces.cli.record import absolute
from subspaces.cli.values import LARGEST_SEED

# Eigenvalues that are printed.
SHOWN_EIGENVALUES = 12


@click.command(cls=ConfiguredCommand)
@opt.data()
@click.option(
    "--max-clusters",
    type=values.Whole(1, 10000),
    default=10,
    metavar="K",
    help="Largest number of clusters that is considered.",
)
@opt.dim
@click.option("--repeats", type=values.Whole(1, 100), default=3, metavar="N", help="Number of seeds to compare.")
@opt.reading()
@opt.preparing
@opt.seed
@opt.config
@opt.talk
def choose(**options: Any) -> None:
    """Suggest the number of clusters and their dimension.

    Prints the evidence, too: every number that was tried with its score, the gaps between eigenvalues, and whether
    other seeds give the same. DATA are files as for subspaces fit.
    """
    from subspaces.cli import rows
    from subspaces.cli.fitting import fit_model

    options["data"] = [absolute(path) for path in options["data"]]
    preparation = rows.preparation_of(options)
    seeds = [(options["seed"] + i) % (LARGEST_SEED + 1) for i in range(options["repeats"])]
    given = {"max_clusters": options["max_clusters"]}
    models = [METHODS["fls"].build("auto", options["dim"], seed, given) for seed in seeds]
    with rows.session(options) as (console, paths):
        prepared = rows.prepare(rows.read(paths, options, console), preparation, console)
        for number, model in enumerate(models, start=1):
            console.prefix = f"seed {number} of {len(models)}: "
            console.stage("fit")
            fit_model(model, rows.fit_rows(prepared, console, memory_limit=options["memory_limit"]))
    document = _document(models, seeds)
    if options["json"]:
        print_json(document)
    else:
        print_text(_text(models, document))


def _document(models: Sequence[Any], seeds: Sequence[int]) -> dict[str, Any]:
    """What the seeds chose; the first seed is the one that `fit` uses."""
    import numpy as np

    from subspaces._core.plain import plain
    from subspaces.metrics import adjusted_rand

    first = models[0]
    votes = Counter(int(model.n_clusters_) for model in models)
    others = [float(adjusted_rand(np.asarray(first.labels_), np.asarray(model.labels_))) for model in models[1:]]
    return {
        "n_clusters": int(first.n_clusters_),
        "dimensions": plain(first.cluster_dims_),
        "votes": {str(count): number for count, number in sorted(votes.items())},
        "seeds": list(seeds),
        "agreement": plain(getattr(first, "agreement_", None)),
        "same_labels_by_other_seeds": plain(min(others)) if others else None,
        "eigenvalues": plain(first.eigenvalues_),
        "choice": first.choice_.to_dict(),
    }


def _text(models: Sequence[Any], document: dict[str, Any]) -> str:
    first, count = models[0], document["n_clusters"]
    dims = map(str, document["dimensions"])
    lines = [
        f"suggestion: -k {count}, with clusters of dimension {', '.join(dims)}; the flats at landmarks have dimension "
        f"{first.subspace_dim_}, which --dim sets",
        *_reliability(document),
        "",
        "what was tried, and what was chosen (*):",
        "",
        str(first.choice_),
        "",
        "eigenvalues of the graph, each with the gap to the next; a wide gap after number K suggests K clusters:",
        "",
        _gaps(first.eigenvalues_, count),
    ]
    return "\n".join(lines)


def _reliability(document: dict[str, Any]) -> list[str]:
    """How far seeds and landmarks agree."""
    from subspaces.cli.results import agreement_text

    lines = []
    votes, count = document["votes"], document["n_clusters"]
    total = sum(votes.values())
    if total > 1:
        each = ", ".join(f"K={number} by {times}" for number, times in votes.items())
        lines.append(
            f"{total} seeds: all give K={count}"
            if votes[str(count)] == total
            else f"{total} seeds disagree: {each}; look at each of them"
        )
        lowest = document["same_labels_by_other_seeds"]
        lines.append(f"labels by other seeds: adjusted Rand index with the first at least {lowest:.2f}")
    if document["agreement"] is not None:
        lines.append(agreement_text(document["agreement"]))
    return lines


def _gaps(eigenvalues: Any, n_clusters: int) -> str:
    import numpy as np

    found = np.asarray(eigenvalues, np.float64)[:SHOWN_EIGENVALUES]
    gaps = [*(found[:-1] - found[1:]), np.nan]
    rows = [
        [f"{number}{' *' if number == n_clusters else ''}", f"{value:.4f}", "" if np.isnan(gap) else f"{gap:.4f}"]
        for number, (value, gap) in enumerate(zip(found, gaps, strict=True), start=1)
    ]
    return table(["number", "eigenvalue", "gap"], rows)
