"""`subspaces choose`: how many clusters, of what dimension, and what speaks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from subspaces.cli._console import Console
from subspaces.cli._methods import METHODS
from subspaces.cli._parser import Asked
from subspaces.cli._record import absolute
from subspaces.cli._results import dimension_text
from subspaces.cli._rows import fit_rows, preparation_of, prepare, read, real_paths
from subspaces.cli._values import LARGEST_SEED
from subspaces.cli._words import say, say_json, table
from subspaces.metrics import adjusted_rand
from subspaces.selection.record import plain

MOST_EIGENVALUES = 12


def run(asked: Asked) -> None:
    """Let FLS choose by several seeds, and tell what it chose and why."""
    options = asked.options()
    options["data"] = [absolute(path) for path in options["data"] or []]
    preparation = preparation_of(options)
    seeds = [(options["seed"] + i) % (LARGEST_SEED + 1) for i in range(options["repeats"])]
    given = {"max_clusters": options["max-clusters"]}
    models = [METHODS["fls"].build("auto", options["dim"], seed, given, verbose=options["verbose"]) for seed in seeds]
    with Console(quiet=options["quiet"], verbose=options["verbose"]) as console, real_paths(options["data"]) as paths:
        prepared = prepare(read(paths, options, console), preparation, console)
        for number, model in enumerate(models, start=1):
            console.prefix = f"seed {number} of {len(models)}: "
            console.stage("deciding")
            model.fit(fit_rows(prepared, console, memory_limit=options["memory-limit"]))
    document = _document(models, seeds)
    if options["json"]:
        say_json(document)
    else:
        say(_text(models, document))


def _document(models: Sequence[Any], seeds: Sequence[int]) -> dict[str, Any]:
    """What the seeds chose; the first is the one that `fit` uses."""
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
    dims = [dimension_text(dim, first.n_features_in_) for dim in document["dimensions"]]
    lines = [
        f"suggestion: -k {count}, in clusters of dimension {', '.join(dims)}; flats at landmarks of dimension "
        f"{first.subspace_dim_}, which --dim sets",
        *_sureness(document),
        "",
        "what was tried, and what won (*):",
        "",
        str(first.choice_),
        "",
        "eigenvalues of the graph, each with the gap to the next; a wide gap after number K speaks for K clusters:",
        "",
        _gaps(first.eigenvalues_, count),
    ]
    return "\n".join(lines)


def _sureness(document: dict[str, Any]) -> list[str]:
    """How sure it is, in sentences that claim no more than was seen."""
    lines = []
    votes, count = document["votes"], document["n_clusters"]
    asked = sum(votes.values())
    if asked > 1:
        told = ", ".join(f"K={number} by {times}" for number, times in votes.items())
        same = votes[str(count)]
        lines.append(
            f"{asked} seeds: all say K={count}"
            if same == asked
            else f"{asked} seeds do not agree: {told}; look at each"
        )
        lowest = document["same_labels_by_other_seeds"]
        lines.append(f"labels by other seeds: adjusted Rand index with the first at least {lowest:.2f}")
    if document["agreement"] is not None:
        lines.append(f"agreement of other landmarks: {document['agreement']:.2f} (1: the same clusters, 0: chance)")
    return lines


def _gaps(eigenvalues: Any, n_clusters: int) -> str:
    found = np.asarray(eigenvalues, np.float64)[:MOST_EIGENVALUES]
    gaps = [*(found[:-1] - found[1:]), np.nan]
    rows = [
        [f"{number}{' *' if number == n_clusters else ''}", f"{value:.4f}", "" if np.isnan(gap) else f"{gap:.4f}"]
        for number, (value, gap) in enumerate(zip(found, gaps, strict=True), start=1)
    ]
    return table(["number", "eigenvalue", "gap"], rows)
