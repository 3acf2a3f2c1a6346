"""The verdict of a report: how reliable the clusters are, and the evidence for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.subject import Subject
from subspaces.show.report.thresholds import (
    DOUBTFUL_CONFIDENCE,
    FEW_ROWS,
    GOOD_AGREEMENT,
    MANY_ROWS,
    POOR_AGREEMENT,
    SMALL_ANGLE,
    SMALL_CLUSTER,
)

GOOD, FAIR, POOR, NEUTRAL = "good", "fair", "poor", "neutral"

OPENINGS = {
    GOOD: "{clusters} look reliable",
    FAIR: "Use {clusters} with care",
    POOR: "Do not rely on {clusters}",
    NEUTRAL: "The stability of {clusters} with other seeds was not tested",
}


def verdict(
    subject: Subject,
    facts: ClusterFacts,
    *,
    eigenvalues: dict[str, Any] | None,
    stability: dict[str, Any] | None,
    truth: dict[str, Any] | None,
) -> dict[str, Any]:
    """The level, one or two sentences, and a list of evidence.

    The level depends mainly on reproducibility: the agreement between landmarks and between seeds. If neither is known,
    the level is neutral. Reproducible clusters can still be wrong, so the level is at most fair if many rows are nearer
    to another flat, if known classes differ, or if there are too few rows or clusters to judge.
    """
    evidence = [
        each
        for each in (
            _agreement(subject, stability),
            _stability(stability),
            _confidence(subject),
            _separation(facts),
            _gap(eigenvalues),
            _angles(facts),
        )
        if each is not None
    ]
    reasons = [(FAIR, each) for each in _too_little(subject)]
    reasons += [(each.pop("vote"), each.pop("reason")) for each in evidence]
    votes = [vote for vote, _ in reasons]
    level = NEUTRAL
    if _repeats(subject, stability):
        level = POOR if POOR in votes else FAIR if FAIR in votes or _differs(truth) else GOOD
    count = int((subject.sizes > 0).sum())
    text = OPENINGS[level].format(clusters=f"these {count} clusters" if count != 1 else "this single cluster")
    text = text[0].upper() + text[1:] + _because(reasons) + "."
    if truth is not None:
        accuracy = truth["scores"][0]["value"]
        only = "only " if _differs(truth) else ""
        text += f" They match the {truth['n_classes']} known classes for {only}{_percent(accuracy)} of the rows."
    return {"level": level, "text": text, "evidence": evidence}


def _too_little(subject: Subject) -> list[str]:
    """Reasons why there is too little data for a good verdict."""
    filled = subject.sizes[subject.sizes > 0]
    if len(filled) < 2:
        return ["there is only one cluster, so that there is nothing to compare it with"]
    found = []
    if len(filled) < subject.n_clusters:
        found.append(f"only {len(filled)} of {subject.n_clusters} clusters have rows")
    if filled.min() < SMALL_CLUSTER:
        found.append(f"the smallest cluster has fewer than {SMALL_CLUSTER} rows")
    return found


def _repeats(subject: Subject, stability: dict[str, Any] | None) -> bool:
    """Whether the agreement of landmarks or of seeds is known."""
    return hasattr(subject.model, "agreement_") or bool(stability and stability["mean"] is not None)


def _differs(truth: dict[str, Any] | None) -> bool:
    return truth is not None and truth["scores"][0]["value"] < GOOD_AGREEMENT


def _because(reasons: list[tuple[str, str]]) -> str:
    """Reasons against the clusters, then reasons for them."""
    against = ", and ".join(reason for vote, reason in reasons if reason and vote != GOOD)
    for_them = ", and ".join(reason for vote, reason in reasons if reason and vote == GOOD)
    if against and for_them:
        return f": {against}, although {for_them}"
    return f": {against or for_them}" if against or for_them else ""


def own_warnings(subject: Subject) -> list[str]:
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
        found.append(f"{_percent(outliers)} of the rows are labelled as outliers and are in no cluster.")
    return found


def _clusters(which: Any, verb: str = "is", verbs: str = "are") -> str:
    names = ", ".join(str(k) for k in which[:8]) + (" and more" if len(which) > 8 else "")
    return f"Cluster {names} {verb}" if len(which) == 1 else f"Clusters {names} {verbs}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _evidence(name: str, value: str, level: str, text: str, *, vote: str = NEUTRAL, reason: str = "") -> dict[str, Any]:
    """A piece of evidence, its `vote` on the level, and the reason quoted in the verdict."""
    return {"name": name, "value": value, "level": level, "text": text, "vote": vote, "reason": reason}


def _graded(score: float) -> str:
    return GOOD if score >= GOOD_AGREEMENT else FAIR if score >= POOR_AGREEMENT else POOR


def _agreement(subject: Subject, stability: dict[str, Any] | None) -> dict[str, Any] | None:
    score = getattr(subject.model, "agreement_", None)
    if score is None or subject.n_clusters < 2:
        return None
    level = vote = _graded(score)
    if stability and stability["mean"] is not None:
        # The agreement may come from halves of the landmarks, which do worse than all of them. Refits test all.
        vote = {GOOD: GOOD, FAIR: NEUTRAL, POOR: FAIR}[level]
    words = {
        GOOD: "other landmarks give the same clusters",
        FAIR: "other landmarks give partly different clusters",
        POOR: "other landmarks give different clusters",
    }[level]
    return _evidence(
        "Agreement of landmarks",
        f"{score:.2f}",
        level,
        "Agreement of the clusters found with other landmarks, or with half of them: 1 is equal, 0 is chance level.",
        vote=vote,
        reason=f"{words} (agreement {score:.2f})" if vote != NEUTRAL else "",
    )


def _stability(stability: dict[str, Any] | None) -> dict[str, Any] | None:
    if stability is None or stability["mean"] is None:
        return None
    mean, count = stability["mean"], len(stability["fits"])
    level = _graded(mean)
    fits = f"{count} fits with other seeds" if count > 1 else "a fit with another seed"
    words = {GOOD: "agree", FAIR: "agree partly", POOR: "disagree"}[level]
    if count == 1:
        words = {GOOD: "agrees", FAIR: "agrees partly", POOR: "disagrees"}[level]
    return _evidence(
        "Stability over seeds",
        f"{mean:.2f}",
        level,
        f"Mean adjusted Rand index of {fits} on random subsets of the rows: 1 is equal, 0 is chance level. The lowest "
        f"is {stability['lowest']:.2f}.",
        vote=level,
        reason=f"{fits} {words} (adjusted Rand index {mean:.2f})",
    )


def _confidence(subject: Subject) -> dict[str, Any] | None:
    if subject.confidence is None or subject.n_clusters < 2:
        return None
    doubtful = (
        float((subject.confidence[subject.labels >= 0] < DOUBTFUL_CONFIDENCE).mean())
        if (subject.labels >= 0).any()
        else 0.0
    )
    return _evidence(
        "Doubtful rows",
        _percent(doubtful),
        _share_level(doubtful),
        f"Rows with a confidence below {DOUBTFUL_CONFIDENCE}: the landmarks near them disagree about their cluster.",
    )


def _separation(facts: ClusterFacts) -> dict[str, Any] | None:
    known = np.isfinite(facts.own) & np.isfinite(facts.other)
    if not known.any():
        return None
    share = float(facts.misplaced[known].mean())
    text = "Rows that are nearer to the flat of another cluster than to their own."
    if not facts.given:
        text += " This model does not use flats: they are fitted to its clusters and describe only flat clusters well."
    level = _share_level(share)
    return _evidence(
        "Rows nearer to another flat",
        _percent(share),
        level if facts.given else NEUTRAL,
        text,
        vote=FAIR if level == POOR else NEUTRAL,
        reason=f"{_percent(share)} of the rows are nearer to the flat of another cluster" if level == POOR else "",
    )


def _share_level(share: float) -> str:
    return GOOD if share <= FEW_ROWS else FAIR if share <= MANY_ROWS else POOR


def _gap(eigenvalues: dict[str, Any] | None) -> dict[str, Any] | None:
    if eigenvalues is None or eigenvalues["gap"] is None:
        return None
    k, at = eigenvalues["n_clusters"], eigenvalues["largest_gap_at"]
    level = GOOD if at == k else NEUTRAL
    text = f"The drop after eigenvalue {k} is the largest, which supports {k} clusters."
    if at != k:
        text = (
            f"The largest drop is after eigenvalue {at}, not {k}. If clusters touch or have several parts, gaps are "
            "small and not informative."
        )
    return _evidence("Eigenvalue gap", f"{eigenvalues['gap']:.2g}", level, text)


def _angles(facts: ClusterFacts) -> dict[str, Any] | None:
    if not np.isfinite(facts.angles).any():
        return None
    i, j = np.unravel_index(int(np.nanargmin(facts.angles)), facts.angles.shape)
    angle = float(facts.angles[i, j])
    text = f"Between clusters {min(i, j)} and {max(i, j)}, the pair with the most similar directions."
    if angle < SMALL_ANGLE:
        text += " They are separated only by their positions, or by few of their directions."
    return _evidence("Smallest angle", f"{angle:.0f}°", NEUTRAL, text)
