"""Whether clusters can be trusted, in a sentence or two, and the evidence for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.selection.confidence import COIN_TOSS
from subspaces.show.report._clusters import ClusterFacts
from subspaces.show.report._subject import Subject
from subspaces.spectral.partition import SURE_AGREEMENT

GOOD, FAIR, POOR, NEUTRAL = "good", "fair", "poor", "neutral"
# Rows below this confidence, or nearer to another flat, are doubtful; so many of them are few, and so many are many.
DOUBT = 0.5
FEW, MANY = 0.05, 0.25
# Clusters of fewer rows say little.
SMALL = 5
# Flats at a smaller angle, in degrees, can hardly be told apart by their directions.
SMALL_ANGLE = 10.0

OPENINGS = {
    GOOD: "These {clusters} look trustworthy",
    FAIR: "Use these {clusters} with some care",
    POOR: "Do not rely on these {clusters}",
    NEUTRAL: "Whether these {clusters} come out again with other seeds was not tested",
}


def verdict(
    subject: Subject,
    facts: ClusterFacts,
    *,
    eigenvalues: dict[str, Any] | None,
    stability: dict[str, Any] | None,
    truth: dict[str, Any] | None,
) -> dict[str, Any]:
    """The level, a sentence or two, and what each piece of evidence says.

    Agreement of landmarks and of seeds decides: whether a clustering comes out again is what no picture can tell. Where
    neither is known there is no verdict. A clustering can come out again and still be no more than a habit of the
    method: where many rows lie nearer to another flat, or known classes differ, it is not called good; nor where rows
    or clusters are too few to say anything.
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
    text = OPENINGS[level].format(clusters=f"{count} clusters" if count != 1 else "results, one cluster of all rows,")
    text += _because(reasons) + "."
    if truth is not None:
        accuracy = truth["scores"][0]["value"]
        only = "only " if _differs(truth) else ""
        text += f" They match the {truth['n_classes']} known classes in {only}{_percent(accuracy)} of the rows."
    return {"level": level, "text": text, "evidence": evidence}


def _too_little(subject: Subject) -> list[str]:
    """What there is too little of to call anything good."""
    filled = subject.sizes[subject.sizes > 0]
    if len(filled) < 2:
        return ["there is one cluster only, and nothing to tell it from"]
    found = []
    if len(filled) < subject.n_clusters:
        found.append(f"only {len(filled)} of {subject.n_clusters} clusters have rows")
    if filled.min() < SMALL:
        found.append(f"the smallest cluster has fewer than {SMALL} rows")
    return found


def _repeats(subject: Subject, stability: dict[str, Any] | None) -> bool:
    """Whether anything is known about how clusters come out again."""
    return hasattr(subject.model, "agreement_") or bool(stability and stability["mean"] is not None)


def _differs(truth: dict[str, Any] | None) -> bool:
    return truth is not None and truth["scores"][0]["value"] < SURE_AGREEMENT


def _because(reasons: list[tuple[str, str]]) -> str:
    """What speaks against the clusters, then what speaks for them."""
    against = ", and ".join(reason for vote, reason in reasons if reason and vote != GOOD)
    for_them = ", and ".join(reason for vote, reason in reasons if reason and vote == GOOD)
    if against and for_them:
        return f": {against}, although {for_them}"
    return f": {against or for_them}" if against or for_them else ""


def own_warnings(subject: Subject) -> list[str]:
    """What a reader must know before anything else."""
    found = []
    empty = np.flatnonzero(subject.sizes == 0)
    if len(empty):
        found.append(f"{_clusters(empty)} without rows: fewer clusters were found than were asked for.")
    small = np.flatnonzero((subject.sizes > 0) & (subject.sizes < SMALL))
    if len(small):
        found.append(f"{_clusters(small)} with fewer than {SMALL} rows: little can be said about them.")
    outliers = float((subject.labels < 0).mean())
    if outliers > MANY:
        found.append(f"{_percent(outliers)} of the rows are labelled as outliers and belong to no cluster.")
    return found


def _clusters(which: Any) -> str:
    names = ", ".join(str(k) for k in which[:8]) + (" and more" if len(which) > 8 else "")
    return f"Cluster {names} is" if len(which) == 1 else f"Clusters {names} are"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _evidence(name: str, value: str, level: str, text: str, *, vote: str = NEUTRAL, reason: str = "") -> dict[str, Any]:
    """A piece of evidence, its `vote` on the whole and the words for it."""
    return {"name": name, "value": value, "level": level, "text": text, "vote": vote, "reason": reason}


def _graded(score: float) -> str:
    return GOOD if score >= SURE_AGREEMENT else FAIR if score >= COIN_TOSS else POOR


def _agreement(subject: Subject, stability: dict[str, Any] | None) -> dict[str, Any] | None:
    score = getattr(subject.model, "agreement_", None)
    if score is None or subject.n_clusters < 2:
        return None
    level = vote = _graded(score)
    if stability and stability["mean"] is not None:
        # Halves of the landmarks do worse than all of them: where all were drawn again, that is the better test.
        vote = {GOOD: GOOD, FAIR: NEUTRAL, POOR: FAIR}[level]
    words = {
        GOOD: "other landmarks give the same clusters",
        FAIR: "other landmarks give partly other clusters",
        POOR: "other landmarks give other clusters",
    }[level]
    return _evidence(
        "Agreement of landmarks",
        f"{score:.2f}",
        level,
        "How far the same clusters come out from other landmarks, or from half of them: 1 is the same, 0 is chance.",
        vote=vote,
        reason=f"{words} (agreement {score:.2f})" if vote != NEUTRAL else "",
    )


def _stability(stability: dict[str, Any] | None) -> dict[str, Any] | None:
    if stability is None or stability["mean"] is None:
        return None
    mean, count = stability["mean"], len(stability["fits"])
    level = _graded(mean)
    fits = f"{count} fits with other seeds" if count > 1 else "a fit with another seed"
    words = {GOOD: "agree", FAIR: "agree in part", POOR: "disagree"}[level]
    if count == 1:
        words = {GOOD: "agrees", FAIR: "agrees in part", POOR: "disagrees"}[level]
    return _evidence(
        "Stability over seeds",
        f"{mean:.2f}",
        level,
        f"Mean adjusted Rand index of {fits} to most of the rows: 1 is the same clusters, 0 is chance. The lowest is "
        f"{stability['lowest']:.2f}.",
        vote=level,
        reason=f"{fits} {words} (adjusted Rand index {mean:.2f})",
    )


def _confidence(subject: Subject) -> dict[str, Any] | None:
    if subject.confidence is None or subject.n_clusters < 2:
        return None
    doubtful = float((subject.confidence[subject.labels >= 0] < DOUBT).mean()) if (subject.labels >= 0).any() else 0.0
    return _evidence(
        "Doubtful rows",
        _percent(doubtful),
        _share_level(doubtful),
        f"Rows whose label has a confidence below {DOUBT}: landmarks near them do not agree on their cluster.",
    )


def _separation(facts: ClusterFacts) -> dict[str, Any] | None:
    known = np.isfinite(facts.own) & np.isfinite(facts.other)
    if not known.any():
        return None
    share = float(facts.misplaced[known].mean())
    text = "Rows that are nearer to the flat of another cluster than to their own."
    if not facts.given:
        text += " This model does not cluster by flats: they describe its clusters, and only flat ones well."
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
    return GOOD if share <= FEW else FAIR if share <= MANY else POOR


def _gap(eigenvalues: dict[str, Any] | None) -> dict[str, Any] | None:
    if eigenvalues is None or eigenvalues["gap"] is None:
        return None
    k, at = eigenvalues["n_clusters"], eigenvalues["largest_gap_at"]
    level = GOOD if at == k else NEUTRAL
    text = f"The drop after eigenvalue {k} is the largest: it speaks for {k} clusters."
    if at != k:
        text = (
            f"The largest drop is after eigenvalue {at}, not {k}. Where clusters touch or are split further, gaps are "
            "small and say little."
        )
    return _evidence("Eigenvalue gap", f"{eigenvalues['gap']:.2g}", level, text)


def _angles(facts: ClusterFacts) -> dict[str, Any] | None:
    if not np.isfinite(facts.angles).any():
        return None
    i, j = np.unravel_index(int(np.nanargmin(facts.angles)), facts.angles.shape)
    angle = float(facts.angles[i, j])
    text = f"Between clusters {min(i, j)} and {max(i, j)}: the two most alike in direction."
    if angle < SMALL_ANGLE:
        text += " So small an angle means that only their positions, or few of their directions, tell them apart."
    return _evidence("Smallest angle", f"{angle:.0f}°", NEUTRAL, text)
