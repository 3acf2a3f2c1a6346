"""The verdict of FLS on its own clusters, which is measured when it is first read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from subspaces._core.arrays import Array, Indices, Labels
from subspaces.estimators._models import SubspaceModel
from subspaces.rows.feed import Feed
from subspaces.rows.preparation import RowPreparation
from subspaces.saving import State
from subspaces.selection.consensus import Consensus
from subspaces.selection.evidence import agreement_of_trials, evenly_spaced_columns, gather, sizes_of
from subspaces.selection.setting import Setting
from subspaces.selection.structure import Structure
from subspaces.selection.verdict import Verdict, judge


@dataclass(frozen=True, slots=True, eq=False)
class PendingVerdict:
    """What a verdict is made from: a sample of the rows, and figures about all of them.

    Its evidence can take longer than the fit of a small table, and many fits are never judged.
    """

    rows: Array  # (m, p), of wide rows evenly spaced columns
    clustered: Array  # (m, q)
    preparation: RowPreparation | None  # of rows (m, p) for `structure`; None if some columns are not looked at
    labels: Labels  # (m,)
    n_clusters: int
    structure: Structure | None
    of_all: dict[str, Any]  # fields of `Evidence`
    seed: int
    chosen: bool  # whether the number of clusters was chosen from the rows

    def judged(self) -> Verdict:
        """Measure the evidence and judge it."""
        found = gather(
            self.rows,
            self.labels,
            self.n_clusters,
            rng=np.random.RandomState(self.seed),
            clustered=self.clustered,
            structure=self.structure,
            sample=np.arange(len(self.rows)),
            prepare=self.preparation,
        )
        return judge(replace(found, **self.of_all), chosen=self.chosen)


def pending_verdict(
    labels: Labels, found: Consensus, setting: Setting, model: SubspaceModel, plain: Array, feed: Feed
) -> PendingVerdict:
    """The verdict on labels (n,) of rows `plain` (n, q) that are prepared but not scaled, before it is measured."""
    sample: Indices = setting.flat_sample
    # Whole flats are fitted to plain rows, a graph to whitened ones.
    by_graph = found.best.partition.flats is None
    clustered = replace(model.preparation, unit=False).shaped(plain[sample]) if by_graph else plain[sample]
    columns, scale = evenly_spaced_columns(feed.rows.shape[1]), model.preparation.scale
    rows = feed.rows[np.ix_(sample, columns)]
    plain_of = None
    if len(columns) == feed.rows.shape[1]:
        mean = model.preparation.mean
        plain_of = replace(model.preparation.plain, mean=mean if scale is None else mean / scale, scale=None)
    agreement = None if found.confidence is None else found.confidence.overall
    return PendingVerdict(
        rows if scale is None else rows / scale[columns],
        clustered,
        plain_of,
        labels[sample],
        setting.n_clusters,
        found.structure,
        {
            **sizes_of(labels, setting.n_clusters),
            "n_columns": feed.rows.shape[1],
            "landmarks" if by_graph else "halves": agreement,
            "graphs": agreement_of_trials(labels, setting.trials, setting.landmarks.flats.whiten),
        },
        int(feed.rng.randint(2**31)),
        any(decision.name == "n_clusters" for decision in setting.choice.decisions),
    )


class JudgedMixin:
    """Mixin: the verdict is made when it is first read; models that are saved or pickled are judged first."""

    _pending_verdict: PendingVerdict

    @cached_property
    def verdict_(self) -> Verdict:
        """What kind of clusters were found, how far to trust them, and what to try."""
        check_is_fitted(self)
        return self._pending_verdict.judged()

    def to_state(self) -> State:
        """What `save` writes: a mapping of documented names to arrays, numbers and text."""
        self._judge()
        found: State = super().to_state()  # type: ignore[misc]
        return found

    def __getstate__(self) -> Any:
        self._judge()
        return super().__getstate__()

    def __copy__(self) -> Self:
        # Not by `__getstate__`: a copy in memory needs no verdict.
        found = type(self).__new__(type(self))
        found.__dict__.update(vars(self))
        return found

    def _judge(self) -> None:
        """Make the verdict if there is one to make: a stored model should not carry a sample of the rows."""
        if "_pending_verdict" in vars(self):
            self.verdict_  # noqa: B018
            del self._pending_verdict
