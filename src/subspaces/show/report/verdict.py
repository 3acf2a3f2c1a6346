"""The verdict at the top of a report: `verdict_` of the model, or one that is made from rows and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.rows.unusual import dominant_columns, row_numbers
from subspaces.selection import Verdict, gather, judge
from subspaces.selection.verdict import DOUBTFUL, RELIABLE, UNCONFIRMED, UNRELIABLE
from subspaces.selection.verdict_thresholds import SMALL_CLUSTER
from subspaces.show.look import label_array, on_host
from subspaces.show.report.subject import Subject
from subspaces.show.report.thresholds import GOOD_AGREEMENT, MANY_ROWS, POOR_AGREEMENT

# Colours of the page.
LEVELS = {RELIABLE: "good", UNCONFIRMED: "fair", DOUBTFUL: "fair", UNRELIABLE: "poor"}

# What the trust means if refits of the report with other seeds give other clusters.
MEANING_IF_SEEDS_DIFFER = {
    RELIABLE: "Another kind of evidence confirms these clusters, but fits with other seeds and fewer rows differ.",
    UNCONFIRMED: "Other landmarks repeat these clusters, but fits with other seeds do not: read the reasons.",
}


def verdict_on(subject: Subject, stability: dict[str, Any] | None, seed: int) -> Verdict:
    """`verdict_`, if the model has one and the labels are those of its fit.

    Otherwise a verdict from rows, labels and the refits of the report, `stability`.
    """
    if hasattr(subject.model, "verdict_") and _are_own(subject):
        found: Verdict = subject.model.verdict_
        return found
    evidence = gather(
        subject.x,
        subject.labels.astype(np.int32),
        subject.n_clusters,
        rng=np.random.RandomState(seed),
        landmarks=getattr(subject.model, "agreement_", None),
        seeds=stability["mean"] if stability else None,
    )
    return judge(evidence)


def _are_own(subject: Subject) -> bool:
    """Whether the labels may be those of the fit: the same ones, or those of some of its rows."""
    fitted = label_array(on_host(getattr(subject.model, "labels_", np.empty(0, np.int64))))
    return len(fitted) != subject.n_rows or bool((fitted == subject.labels).all())


def verdict_data(
    verdict: Verdict, truth: dict[str, Any] | None, stability: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The verdict for the page; known classes and refits with other seeds change sentences, but not the trust."""
    text = verdict.headline
    if truth is not None and verdict.evidence.n_clusters > 1:
        accuracy = truth["scores"][0]["value"]
        only = "only " if accuracy < GOOD_AGREEMENT else ""
        text += f" They match the {truth['n_classes']} known classes for {only}{percent(accuracy)} of the rows."
    alone = verdict.evidence.n_clusters < 2
    badge = "no clusters" if alone else verdict.trust
    shown = {"level": "fair" if alone else LEVELS[verdict.trust], "badge": badge, "text": text}
    meaning = MEANING_IF_SEEDS_DIFFER.get(verdict.trust) if not alone and other_seeds_differ(stability) else None
    return {**verdict.to_dict(), **shown, "meaning": meaning or verdict.meaning}


def other_seeds_differ(stability: dict[str, Any] | None) -> bool:
    """Whether refits of the report with other seeds give other clusters."""
    return bool(stability and stability["mean"] is not None and stability["mean"] < GOOD_AGREEMENT)


def own_warnings(subject: Subject, stability: dict[str, Any] | None) -> list[str]:
    """Warnings shown below the verdict."""
    found = []
    empty = np.flatnonzero(subject.sizes == 0)
    if len(empty):
        found.append(f"{_clusters(empty)} empty: fewer clusters were found than requested.")
    small = np.flatnonzero((subject.sizes > 0) & (subject.sizes < SMALL_CLUSTER))
    if len(small):
        found.append(f"{_clusters(small, 'has', 'have')} fewer than {SMALL_CLUSTER} rows, too few to judge.")
    outliers = float((subject.labels < 0).mean())
    if outliers > MANY_ROWS:
        found.append(f"{percent(outliers)} of the rows are labelled as outliers and are in no cluster.")
    found += _unusual(subject)
    if stability and other_seeds_differ(stability):
        how = "partly other" if stability["mean"] >= POOR_AGREEMENT else "other"
        found.append(f"Fits with other seeds give {how} clusters (adjusted Rand index {stability['mean']:.2f}).")
    return found


def _unusual(subject: Subject) -> list[str]:
    """Columns that number the rows, and those that dominate distances unless the model was to decide on that."""
    if subject.pictures is not None or subject.values is not subject.x:
        return []
    found = [f"column {name!r} numbers the rows: leave it out" for name in row_numbers(subject.x, subject.columns)]
    decided = getattr(subject.model, "standardise_", False) or getattr(subject.model, "standardise", None) is False
    dominant = dominant_columns(subject.x.var(axis=0, dtype=np.float64))
    if dominant is not None and not decided:
        found.append(f"{dominant.sentence(subject.columns)}: standardise the columns, unless all have the same unit")
    return [f"{each[0].upper()}{each[1:]}." for each in found]


def _clusters(which: Any, verb: str = "is", verbs: str = "are") -> str:
    names = ", ".join(str(k) for k in which[:8]) + (" and more" if len(which) > 8 else "")
    return f"Cluster {names} {verb}" if len(which) == 1 else f"Clusters {names} {verbs}"


def percent(share: float) -> str:
    """A share in percent with one digit."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"
