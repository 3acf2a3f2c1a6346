"""The number of clusters that are not flat: the number of parts into which their graph falls.

Modularity is at most 1 - 1/K, reached by K separate clusters of equal size. Divided by that bound, it falls if K cuts
through clusters. It is nearly constant while groups of clusters are separated, so the largest K near the maximum wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from subspaces._core.arrays import Labels
from subspaces.metrics.labels import labels_agreement
from subspaces.rows.preparation import PreparedRows
from subspaces.selection.limits import N_COMPARED, PILOT_LANDMARKS, PILOT_ROWS
from subspaces.selection.record import Decision
from subspaces.selection.search import FlatSetting, draw_sample, setting_graph
from subspaces.selection.thresholds import COUNT_TIE
from subspaces.spectral.joins import join_by_modularity, part_graphs
from subspaces.spectral.modularity import cluster_shares, modularity
from subspaces.spectral.partition import assign, partition_of_labels, settle
from subspaces.spectral.spectrum import embed


def decide_by_graph(
    rows: PreparedRows,
    max_clusters: int,
    settings: Sequence[FlatSetting],
    rng: np.random.RandomState,
    *,
    flats: Decision,
) -> Decision:
    """The number of clusters, 2 to `max_clusters`, of prepared rows, over several settings.

    The description lengths of the decision `flats` are reported beside.
    """
    counts = range(2, min(max_clusters, len(rows.rows)) + 1)
    found: dict[int, list[tuple[float, Labels]]] = {count: [] for count in counts}
    sample = draw_sample(rows, settings, rng, PILOT_ROWS, max_landmarks=PILOT_LANDMARKS)
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
    winner = max(i for i, each in enumerate(candidates) if each["relative_modularity"] >= largest - COUNT_TIE)
    reason = f"clusters are not flat; the most whose relative modularity is within {COUNT_TIE} of the largest"
    return Decision("n_clusters", winner, "relative_modularity", reason, candidates)


def _evidence(count: int, found: list[tuple[float, Labels]]) -> dict[str, Any]:
    """Evidence for `count` clusters: the best modularity, and how far the best settings agree."""
    best = sorted(found, key=lambda each: -each[0])[:N_COMPARED]
    same = [labels_agreement(a, b) for (_, a), (_, b) in combinations(best, 2)]
    return {
        "n_clusters": count,
        "relative_modularity": best[0][0] / (1 - 1 / count),
        "agreement": float(np.mean(same)) if same else 1.0,
    }
