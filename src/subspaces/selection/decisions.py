"""The decisions of FLS as records: candidates, scores and reasons."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from subspaces.selection.coding import spread
from subspaces.selection.joint import Joint
from subspaces.selection.partition import PartitionChoice
from subspaces.selection.record import Decision
from subspaces.selection.search import Search, kind_name
from subspaces.selection.structure import BENT, BLOBS, FLAT, Structure
from subspaces.spectral.partition import Partition


def flats_decision(search: Search) -> Decision:
    """How the graph is made: of points or flats, linear or affine, of which dimension, fitted to how many rows."""
    chosen, trials = search.setting, [trial.setting for trial in search.trials]
    candidates = tuple(
        {
            "flats": kind_name(trial),
            "rows": "scaled" if trial.unit else "as they are",
            "subspace_dim": trial.dim,
            "neighborhood": trial.neighborhood,
            "n_rows": trial.n_rows,
            "modularity": trial.modularity,
        }
        for trial in trials
    )
    reason = "the largest modularity"
    if any(trial.kind != chosen.kind for trial in trials):
        reason = f"{kind_name(chosen)}, by a pilot in which later kinds must be clearly better; among these {reason}"
    return Decision("flats", trials.index(chosen), "modularity", reason, candidates)


def structure_decision(structure: Structure, *, is_settled: bool = False) -> Decision:
    """What the clusters are: flat, blobs or bent; whether that was settled before a graph was tried."""
    reason = {
        FLAT: "K flats of few directions describe the rows about as well as any number of flats",
        BLOBS: "K clusters without directions describe the rows about as well as any number of flats",
        BENT: "K flats describe the rows clearly worse than more flats, or need many directions",
    }[structure.kind]
    if structure.kind == FLAT and not structure.share:
        reason = "no number of flats describes the rows better than one, but K flats differ"
    if is_settled:
        reason += "; two searches lead to the same flats, so no graph was tried"
    figures = {
        "share": structure.share,
        "spread": spread(structure.code),
        "one_flat": structure.one.length / len(structure.one.chosen),
        "k_flats": structure.nats,
    }
    return Decision("structure", 0, "share", reason, ({"clusters": structure.kind, **figures},))


def partition_decision(choice: PartitionChoice, chosen: Partition) -> Decision:
    """Which partition of the rows: the best of each origin and number of eigenvectors."""
    reason = "the largest modularity, or a simpler partition within two standard errors of it"
    if chosen.origin == "flats":
        reason = "whole flats, which have about the shortest description of the rows"
    elif choice.kind == "density":
        reason = "better separated than the partition of the largest modularity"
    ranked = sorted(choice.candidates, key=lambda each: (each.origin, each.n_vectors, -each.modularity))
    best = [next(group) for _, group in groupby(ranked, key=lambda each: (each.origin, each.n_vectors))]
    shown = [chosen] + [each for each in best if (each.origin, each.n_vectors) != (chosen.origin, chosen.n_vectors)]
    candidates = tuple(
        {
            "origin": each.origin,
            "n_components": each.n_vectors,
            "modularity": each.modularity,
            "separation": each.separation,
        }
        for each in shown
    )
    return Decision("partition", 0, "modularity", reason, candidates)


def sets_decision(joint: Joint) -> Decision:
    """The landmark sets whose graphs were joined; the first named is the one that `flats_` shows."""
    candidates = tuple(
        {
            "draw": i + 1,
            "subspace_dim": each.features.subspace_dim,
            "neighborhood": each.features.neighborhood,
            "agreement": agreement,
            "separation": float(each.partition.separation),
        }
        for i, (each, agreement) in enumerate(zip(joint.sets, joint.agreements, strict=True))
    )
    reason = "the landmarks of all sets give the labels together; this set alone comes nearest to them"
    return Decision("draw", int(np.argmax(joint.agreements)), "agreement", reason, candidates)
