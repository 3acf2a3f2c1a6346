"""The verdict of FLS on its own clusters."""

from __future__ import annotations

from dataclasses import replace

from subspaces._core.arrays import Array, Labels
from subspaces.estimators._models import SubspaceModel
from subspaces.rows.feed import Feed
from subspaces.selection.consensus import Consensus
from subspaces.selection.evidence import gather
from subspaces.selection.setting import Setting
from subspaces.selection.verdict import Verdict, judge


def verdict_of(
    labels: Labels, found: Consensus, setting: Setting, model: SubspaceModel, plain: Array, feed: Feed
) -> Verdict:
    """The verdict on labels (n,) of rows `plain` (n, q) that are prepared but not scaled."""
    # Whole flats are fitted to plain rows, a graph to whitened ones.
    by_graph = found.best.partition.flats is None
    clustered = replace(model.preparation, unit=False).shaped(plain) if by_graph else plain
    scale = model.preparation.scale
    return judge(
        gather(
            feed.rows if scale is None else feed.rows / scale,
            labels,
            setting.n_clusters,
            rng=feed.rng,
            clustered=clustered,
            structure=found.structure,
            sample=setting.flat_sample,
            trials=setting.trials,
            landmarks=None if found.confidence is None else found.confidence.overall,
        )
    )
