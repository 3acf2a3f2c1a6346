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
@click.option("--details", is_flag=True, help="List every candidate with its figures, and the eigenvalues.")
@opt.reading()
@opt.preparing
@opt.seed
@opt.config
@opt.talk
def choose(**options: Any) -> None:
    """Suggest the number of clusters and their dimension.

    Prints the answer, then the evidence: whether other seeds give the same, and the numbers that were tried. DATA are
    files as for subspaces fit.
    """
    from subspaces.cli import rows
    from subspaces.cli.fitting import fit_model

    options["data"] = [absolute(path) for path in options["data"]]
    preparation = rows.preparation_of(options)
    seeds = [(options["seed"] + i) % (LARGEST_SEED + 1) for i in range(options["repeats"])]
    given = {"max_clusters": options["max_clusters"]}
    models = [METHODS["fls"].build("auto", options["dim"], seed, given) for seed in seeds]
    with rows.session(options) as (console, paths):
        table = rows.read(paths, options, console)
        prepared = rows.prepare(table, preparation, console, standardise=options["standardise"])
        for number, model in enumerate(models, start=1):
            console.prefix = f"seed {number} of {len(models)}: "
            console.stage("fit")
            fit_model(model, rows.fit_rows(prepared, console, memory_limit=options["memory_limit"]))
    document = _document(models, seeds)
    if options["json"]:
        print_json(document)
    else:
        print_text(_text(models, document, details=options["details"]))


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
        "verdict": first.verdict_.to_dict(),
        "eigenvalues": plain(first.eigenvalues_),
        "choice": first.choice_.to_dict(),
    }


def _text(models: Sequence[Any], document: dict[str, Any], *, details: bool) -> str:
    """The answer in a sentence, the evidence as small tables, and everything else if `details`."""
    from subspaces.selection.record_words import evidence_lines

    first = models[0]
    questions = _questions(document)
    lines = [_answer(first), ""]
    lines += [table(["question", "answer"], questions, left=True), ""] if questions else []
    lines += [*(f"Try: {each}" for each in first.verdict_.advice), ""] if first.verdict_.advice else []
    lines += ["Numbers of clusters that were tried:", "", *evidence_lines(first.choice_.decisions)]
    if not details:
        return "\n".join([*lines, "", "--details lists every candidate with all its figures."])
    return "\n".join(
        [
            *lines,
            "",
            "All candidates, the chosen with a star; --dim sets the dimension of landmark flats (0: points), "
            f"{first.subspace_dim_} here:",
            "",
            first.choice_.details(),
            "",
            "Eigenvalues of the graph, each with the gap to the next; a wide gap after number K suggests K clusters:",
            "",
            _gaps(first.eigenvalues_, document["n_clusters"]),
        ]
    )


def _answer(model: Any) -> str:
    """The number of clusters and their kind, in a sentence, and what to do next."""
    from subspaces.selection.verdict import FOUND, NONE

    count, verdict = int(model.n_clusters_), model.verdict_
    if count == 1:
        return "No clusters found: the rows form one group, and more clusters do not describe them better."
    if verdict.structure == NONE:
        return f"Probably none: {count} clusters separate the rows best, but shuffled columns about as well."
    found = FOUND[verdict.structure].replace("The clusters", "They", 1)
    low, high = int(min(model.cluster_dims_)), int(max(model.cluster_dims_))
    dims = (
        "" if high == 0 else f" Their dimension is {low}." if low == high else f" Their dimensions are {low} to {high}."
    )
    return f"{count} clusters: use -k {count}. {found}{dims}"


def _questions(document: dict[str, Any]) -> list[list[str]]:
    """What people ask about a number of clusters, and the answers."""
    votes, count = document["votes"], document["n_clusters"]
    total = sum(votes.values())
    found = []
    if total > 1:
        each = ", ".join(f"{number} clusters by {times}" for number, times in votes.items())
        agreed = f"yes, all {total}" if votes[str(count)] == total else f"no: {each}"
        found.append(["Do other seeds give the same number?", agreed])
        found.append(["Do other seeds give the same clusters?", _graded(document["same_labels_by_other_seeds"])])
    if count == 1:
        return found[:1]
    if document["agreement"] is not None:
        found.append(["Do other landmarks give the same clusters?", _graded(document["agreement"])])
    return [*found, ["How far to trust them?", document["verdict"]["trust"]]]


def _graded(agreement: float) -> str:
    """An agreement in words; the limits are those of the verdict."""
    from subspaces.selection.thresholds import SURE_AGREEMENT
    from subspaces.selection.verdict_thresholds import COIN_TOSS

    word = "yes" if agreement >= SURE_AGREEMENT else "in part" if agreement >= COIN_TOSS else "no"
    return f"{word} (agreement {agreement:.2f}; 1 is equal, 0 is chance)"


def _gaps(eigenvalues: Any, n_clusters: int) -> str:
    import numpy as np

    found = np.asarray(eigenvalues, np.float64)[:SHOWN_EIGENVALUES]
    gaps = [*(found[:-1] - found[1:]), np.nan]
    rows = [
        [f"{number}{' *' if number == n_clusters else ''}", f"{value:.4f}", "" if np.isnan(gap) else f"{gap:.4f}"]
        for number, (value, gap) in enumerate(zip(found, gaps, strict=True), start=1)
    ]
    return table(["number", "eigenvalue", "gap"], rows)
