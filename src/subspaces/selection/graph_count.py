"""The number of clusters of rows that are not flat: how many parts their graph falls into.

Modularity grows with the number K of clusters, at most to 1 - 1/K, which K separate clusters of equal size reach.
Divided by that it falls where clusters are cut that are none. It is nearly level while clusters of clusters are told
apart, so that the largest K near the top is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Labels
from subspaces.metrics.labels import labels_agreement
from subspaces.selection.record import Decision
from subspaces.selection.search import FEW_ROWS_LANDMARKS, PILOT_ROWS, FlatSetting, draw_sample, setting_graph
from subspaces.spectral.joins import join_by_modularity, part_graphs
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import assign, partition_of_labels, settle
from subspaces.spectral.spectrum import embed

# Numbers of clusters whose relative modularity is this near to the largest are as good.
TIE = 0.01
# Agreement between partitions of as many settings says how sure a number is.
N_COMPARED = 4


def decide_by_graph(
    rows: Array, max_clusters: int, settings: Sequence[FlatSetting], rng: np.random.RandomState, *, flats: Decision
) -> Decision:
    """The number of clusters, 2 to `max_clusters`, of rows (n, p), centred but not scaled, over several settings.

    What `flats` say about each number is kept beside.
    """
    counts = range(2, min(max_clusters, len(rows)) + 1)
    found: dict[int, list[tuple[float, Labels]]] = {count: [] for count in counts}
    sample = draw_sample(rows, settings, rng, PILOT_ROWS, max_landmarks=FEW_ROWS_LANDMARKS)
    for setting in settings:
        psi, _, spectrum = setting_graph(setting, sample, counts[-1] + 4)
        graphs = part_graphs(psi, embed(psi, spectrum), counts[-1] // 2 + 1, rng)
        for count in counts:
            tried = []
            for graph in graphs:
                labels = join_by_modularity(graph, count)[graph.labels].astype(np.int32)
                partition = settle(partition_of_labels(psi, labels, count, spectrum, "parts"), psi, spectrum)
                labels = assign(psi, spectrum, partition)
                tried.append((modularity(cluster_shares(psi, labels, count)), labels))
            found[count].append(max(tried, key=lambda each: each[0]))
    nats = {each["n_clusters"]: each["nats_per_row"] for each in flats.candidates}
    candidates = tuple({**_evidence(count, found[count]), "nats_per_row": nats.get(count, np.nan)} for count in counts)
    largest = max(each["relative_modularity"] for each in candidates)
    winner = max(i for i, each in enumerate(candidates) if each["relative_modularity"] >= largest - TIE)
    reason = f"clusters are not flat; the most whose relative modularity is within {TIE} of the largest"
    return Decision("n_clusters", winner, "relative_modularity", reason, candidates)


def _evidence(count: int, found: list[tuple[float, Labels]]) -> dict[str, Any]:
    """What speaks for `count` clusters: the best modularity, and how far the best settings agree."""
    best = sorted(found, key=lambda each: -each[0])[:N_COMPARED]
    same = [labels_agreement(a, b) for (_, a), (_, b) in combinations(best, 2)]
    return {
        "n_clusters": count,
        "relative_modularity": best[0][0] / (1 - 1 / count),
        "agreement": float(np.mean(same)) if same else 1.0,
    }
