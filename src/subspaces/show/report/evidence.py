"""The evidence of a report, one box for each question: its answer, what was measured, and whether it is good."""

from __future__ import annotations

from typing import Any

import numpy as np

from subspaces.selection import Evidence, Verdict
from subspaces.selection.verdict import FLAT, is_described
from subspaces.selection.verdict_thresholds import COUNT_GAIN, SAME_AGREEMENT
from subspaces.show.report.clusters import ClusterFacts
from subspaces.show.report.subject import Subject
from subspaces.show.report.thresholds import (
    DOUBTFUL_CONFIDENCE,
    FEW_ROWS,
    GOOD_AGREEMENT,
    MANY_ROWS,
    POOR_AGREEMENT,
)
from subspaces.show.report.verdict import percent

GOOD, FAIR, POOR, NEUTRAL = "good", "fair", "poor", "neutral"
Box = dict[str, Any]


def evidence_boxes(
    subject: Subject, facts: ClusterFacts, verdict: Verdict, stability: dict[str, Any] | None
) -> list[Box]:
    """The figures of the verdict first, then those about rows."""
    if verdict.evidence.n_clusters < 2:
        return []
    boxes = [
        _agreement(verdict.evidence),
        _stability(stability),
        _gain(verdict.evidence),
        _rival(verdict),
        _points(verdict),
        _count(verdict),
        _confidence(subject),
        _separation(facts),
    ]
    return [box for box in boxes if box is not None]


def _box(name: str, value: str, level: str, text: str) -> Box:
    return {"name": name, "value": value, "level": level, "text": text}


def _graded(score: float) -> str:
    return GOOD if score >= GOOD_AGREEMENT else FAIR if score >= POOR_AGREEMENT else POOR


def _agreement(e: Evidence) -> Box | None:
    if e.n_clusters < 2:
        return None
    if e.halves is not None:
        text = "Agreement of the clusters with flats fitted to half of the rows: 1 is equal, 0 is chance level."
        return _box("Do halves of the rows give the same clusters?", f"{e.halves:.2f}", _graded(e.halves), text)
    if e.landmarks is None:
        return None
    text = (
        "Landmarks are random pieces of the data that rows are compared with. Agreement of the clusters found with "
        "others, or with half of them: 1 is equal, 0 is chance level."
    )
    return _box("Do other landmarks give the same clusters?", f"{e.landmarks:.2f}", _graded(e.landmarks), text)


def _stability(stability: dict[str, Any] | None) -> Box | None:
    if stability is None or stability["mean"] is None:
        return None
    mean, count = stability["mean"], len(stability["fits"])
    fits = f"{count} fits with other seeds" if count > 1 else "a fit with another seed"
    text = (
        f"Mean adjusted Rand index of {fits} on random subsets of the rows: 1 is equal, 0 is chance level. The lowest "
        f"is {stability['lowest']:.2f}."
    )
    return _box("Do other seeds give the same clusters?", f"{mean:.2f}", _graded(mean), text)


def _gain(e: Evidence) -> Box | None:
    if e.gain is None or e.shuffled_gain is None:
        return None
    text = (
        f"Nats a row (1 nat is 1.44 bits) by which {e.n_clusters} flats describe the rows more shortly than one. If "
        f"columns are shuffled independently, it is {e.shuffled_gain.mean:.2f}."
    )
    return _box("Are the clusters better than none?", f"{e.gain.mean:.2f}", GOOD if is_described(e) else NEUTRAL, text)


def _rival(verdict: Verdict) -> Box | None:
    e = verdict.evidence
    if e.flats is None:
        return None
    text = f"Agreement of the clusters with the best description by {e.n_clusters} flats."
    if e.rival is not None:
        text += f" The shortest description by other clusters is {e.rival.mean:.2f} nats a row longer."
    decides = verdict.structure == FLAT or e.flats >= SAME_AGREEMENT
    return _box(
        "Do flats describe the same clusters?", f"{e.flats:.2f}", _graded(e.flats) if decides else NEUTRAL, text
    )


def _points(verdict: Verdict) -> Box | None:
    e = verdict.evidence
    if e.points is None:
        return None
    text = "Agreement with spectral clustering of the graph of nearest neighbours, which finds connected clusters."
    decides = verdict.structure != FLAT or e.points >= SAME_AGREEMENT
    return _box(
        "Do nearest neighbours give the same clusters?",
        f"{e.points:.2f}",
        _graded(e.points) if decides else NEUTRAL,
        text,
    )


def _count(verdict: Verdict) -> Box | None:
    e = verdict.evidence
    if e.modularity is None or e.other_modularity is None:
        return None
    text = (
        f"Modularity of the clusters on the graph of nearest neighbours; {e.other_count} clusters have "
        f"{e.other_modularity:.2f}."
    )
    better = e.other_modularity >= e.modularity + COUNT_GAIN
    level = NEUTRAL if verdict.structure == FLAT else FAIR if better else GOOD
    # The description by flats may suggest another number than modularity does.
    if verdict.count_advice:
        level, text = FAIR, f"The verdict suggests {verdict.count_advice} {text}"
    return _box("Is the number of clusters right?", f"{e.modularity:.2f}", level, text)


def _confidence(subject: Subject) -> Box | None:
    if subject.confidence is None or subject.n_clusters < 2:
        return None
    inside = subject.labels >= 0
    doubtful = float((subject.confidence[inside] < DOUBTFUL_CONFIDENCE).mean()) if inside.any() else 0.0
    text = f"Rows with a confidence below {DOUBTFUL_CONFIDENCE}: the landmarks near them disagree about their cluster."
    return _box("How many rows are in doubt?", percent(doubtful), _share_level(doubtful), text)


def _separation(facts: ClusterFacts) -> Box | None:
    known = np.isfinite(facts.own) & np.isfinite(facts.other)
    if not known.any():
        return None
    share = float(facts.misplaced[known].mean())
    text = "Rows that are nearer to the flat of another cluster than to their own."
    level = _share_level(share) if facts.given else NEUTRAL
    if not facts.given:
        text += " This model does not use flats: they are fitted to its clusters and describe only flat clusters well."
    elif level != GOOD and len(np.unique(facts.dims)) > 1:
        level = NEUTRAL
        text += " Here that says little: flats of more dimensions are nearer to all rows, and clusters differ in this."
    return _box("How many rows are nearer to another cluster?", percent(share), level, text)


def _share_level(share: float) -> str:
    return GOOD if share <= FEW_ROWS else FAIR if share <= MANY_ROWS else POOR
