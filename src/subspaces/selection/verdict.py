"""The verdict on a clustering: what structure was found, how far to trust it, and what to do.

`judge` is a pure function of `Evidence`. Its numbers are in `verdict_thresholds` and come from
benchmarks/study_verdict.py, where its answers are compared with known classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from html import escape
from typing import Any

from subspaces._core.plain import plain
from subspaces.selection.evidence import Difference, Evidence, are_separate
from subspaces.selection.structure import BLOBS as ROUND
from subspaces.selection.structure import FLAT as STRAIGHT
from subspaces.selection.thresholds import FLAT_SHARE, N_ERRORS, SURE_AGREEMENT
from subspaces.selection.verdict_thresholds import (
    COIN_TOSS,
    COUNT_GAIN,
    LEADING_COLUMNS,
    LEADING_SHARE,
    NO_CROSSINGS,
    SAME_AGREEMENT,
    SCALE_AGREEMENT,
    SHUFFLED_SHARE,
    SMALL_CLUSTER,
    TOP_COLUMN,
)

FLAT, BENT, BLOBS, NONE = "flat subspaces", "bent clusters", "blobs", "none"
STRUCTURES = (FLAT, BENT, BLOBS, NONE)
RELIABLE, UNCONFIRMED, DOUBTFUL, UNRELIABLE = "reliable", "stable, but unconfirmed", "doubtful", "unreliable"
TRUST = (RELIABLE, UNCONFIRMED, DOUBTFUL, UNRELIABLE)
MEANING = {
    RELIABLE: "You can use these clusters: they can be repeated, and another kind of evidence confirms them.",
    UNCONFIRMED: "Other random choices repeat these clusters, but no other evidence confirms them: read the reasons.",
    DOUBTFUL: "The evidence supports these clusters only in part. Look at borderline rows before you use the labels.",
    UNRELIABLE: "Do not rely on these clusters: chance may explain them.",
}
FOUND = {
    FLAT: "The clusters are flat subspaces.",
    BENT: "The clusters are bent: they are connected, but not flat.",
    BLOBS: "The clusters are blobs: rows around a centre.",
    NONE: "No separate clusters were found.",
}
# How an advice about the number of clusters ends.
COUNT = "clusters."
# What is left to try if no reason suggests anything.
OTHER_FITS = "another number of clusters or another method, and rely on the clusters that stay."
OTHER_COLUMNS = "other columns; or k-means, if you only need groups of similar rows."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What structure a clustering has found, and how far to trust it. Print it.

    `reasons` are sentences, those against the clusters first; `advice` are sentences about what to try.
    """

    structure: str  # one of STRUCTURES
    trust: str  # one of TRUST
    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    evidence: Evidence

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values for JSON."""
        found: dict[str, Any] = plain({field.name: getattr(self, field.name) for field in fields(self)[:-1]})
        return found | {"evidence": plain(asdict(self.evidence))}

    @property
    def headline(self) -> str:
        """Trust and structure in one sentence."""
        if self.evidence.n_clusters < 2:
            return "No clusters found: the rows form one group."
        return f"{self.trust[0].upper()}{self.trust[1:]}. {FOUND[self.structure]}"

    @property
    def meaning(self) -> str:
        """What the trust means for someone who wants to use the clusters."""
        return "" if self.evidence.n_clusters < 2 else MEANING[self.trust]

    @property
    def count_advice(self) -> str:
        """The advice about the number of clusters, such as "2 clusters."; empty if there is none."""
        return next((each for each in self.advice if each.endswith(COUNT) and len(each.split()) == 2), "")

    def __str__(self) -> str:
        lines = [self.headline, *(f"- {each}" for each in self.reasons)]
        return "\n".join([*lines, *(f"Try: {each}" for each in self.advice)])

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{escape(each)}</li>" for each in self.reasons)
        advice = "".join(f"<li>Try: {escape(each)}</li>" for each in self.advice)
        said = f"<p><strong>{escape(self.headline)}</strong></p><p>{escape(self.meaning)}</p>"
        return f"{said}<ul>{reasons}{advice}</ul>"


def verdict_of(saved: Mapping[str, Any]) -> Verdict:
    """The verdict that `to_dict` describes."""
    return Verdict(
        structure=saved["structure"],
        trust=saved["trust"],
        reasons=tuple(saved["reasons"]),
        advice=tuple(saved["advice"]),
        evidence=evidence_of(saved["evidence"]),
    )


def evidence_of(saved: Mapping[str, Any]) -> Evidence:
    """The evidence of a saved verdict; other versions may have measured other figures."""
    found: dict[str, Any] = {field.name: saved.get(field.name) for field in fields(Evidence)}
    found |= {name: Difference(**each) for name, each in found.items() if isinstance(each, Mapping)}
    return Evidence(**found)


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason not to rely on clusters, and what to try."""

    reason: str
    advice: str = ""


def judge(evidence: Evidence, *, chosen: bool = False) -> Verdict:
    """The verdict on a clustering, whose number of clusters was `chosen` from the rows or given.

    Clusters are reliable if there is structure beyond shuffled columns, and if one kind of evidence confirms them and
    their number: the description by flats, or graphs of the rows. Stability alone is never enough.
    """
    e, structure = evidence, structure_of(evidence)
    objections = _objections(e, structure, chosen=chosen)
    stable = _stability(e)
    if not objections:
        trust = RELIABLE
    elif structure == NONE or (stable is not None and stable < COIN_TOSS):
        trust = UNRELIABLE
    else:
        trust = UNCONFIRMED if stable is not None and stable >= SURE_AGREEMENT else DOUBTFUL
    reasons = [each.reason for each in objections]
    # What is a reason against the clusters is not one for them, whatever numbers the two compare with.
    against = {each.partition(" gives ")[0] for each in reasons}
    reasons += [each for each in _support(e, structure) if each.partition(" gives ")[0] not in against]
    advice = [each.advice for each in objections if each.advice]
    # One number of clusters is enough.
    counts = [each for each in advice if each.endswith(COUNT)]
    advice = [each for each in advice if each not in counts[1:]]
    if (trust == RELIABLE or structure == BLOBS) and _at_least(e.kmeans, SAME_AGREEMENT):
        advice.append("k-means, which is simpler and gives the same clusters.")
    if trust != RELIABLE and not advice:
        advice.append(OTHER_FITS)
    return Verdict(structure, trust, tuple(reasons), tuple(dict.fromkeys(advice)), evidence)


def structure_of(e: Evidence) -> str:
    """What kind of clusters there are: that of the description by K flats if it has the same clusters."""
    beyond = _gain_beyond_shuffled(e)
    gains = beyond is not None and beyond.mean > N_ERRORS * beyond.error
    if not gains and not _is_separate(e) and not _at_most(e.crossing, NO_CROSSINGS):
        return NONE
    if _at_least(e.flats, SAME_AGREEMENT) and e.kind in (STRAIGHT, ROUND):
        return FLAT if e.kind == STRAIGHT else BLOBS
    return BLOBS if _at_least(e.kmeans, SAME_AGREEMENT) else BENT


def _gain_beyond_shuffled(e: Evidence) -> Difference | None:
    """How much more K flats shorten the description of the rows than that of shuffled columns."""
    if e.gain is None or e.shuffled_gain is None:
        return None
    # Shuffled columns may be described worse by K flats than by one.
    mean = e.gain.mean - max(e.shuffled_gain.mean, 0.0)
    return Difference(mean, math.hypot(e.gain.error, e.shuffled_gain.error))


def _is_separate(e: Evidence) -> bool:
    return are_separate(e.crossing, e.shuffled_crossing, e.separation)


def is_described(e: Evidence) -> bool:
    """Whether K flats with the same clusters shorten the description clearly more than that of shuffled columns."""
    beyond = _gain_beyond_shuffled(e)
    if beyond is None or e.gain is None or not _at_least(e.flats, SAME_AGREEMENT) or not _at_least(e.share, FLAT_SHARE):
        return False
    return beyond.is_clear and beyond.mean >= SHUFFLED_SHARE * e.gain.mean


def _stability(e: Evidence) -> float | None:
    """The lowest agreement of clusterings with other landmarks, other seeds or halves of the rows."""
    return min((each for each in (e.landmarks, e.halves, e.seeds) if each is not None), default=None)


def _repeated(e: Evidence) -> str:
    """What was varied to measure stability."""
    names = {"other landmarks": e.landmarks, "halves of the rows": e.halves, "other seeds": e.seeds}
    return " or ".join(name for name, value in names.items() if value is not None).capitalize()


def _objections(e: Evidence, structure: str, *, chosen: bool) -> list[Objection]:
    """Reasons not to rely on the clusters: general ones, and those of the kind of evidence that suits the structure."""
    if e.kmeans is None:
        alone = "There is only one cluster, so there is nothing to compare it with."
        return [Objection("More clusters do not describe the rows better." if chosen else alone, OTHER_COLUMNS)]
    if structure == NONE:
        return [
            *filter(None, [_small(e)]),
            Objection(
                f"{e.n_clusters} clusters describe the rows hardly better than they describe columns shuffled "
                "independently.",
                OTHER_COLUMNS,
            ),
        ]
    by_flats = [_not_flat(e), _not_round(e), _rival(e), _more(e), _fewer(e), _unstable(e)]
    number = [_other_count(e), *([_fewer(e)] if structure == FLAT else [])]
    by_graphs = [_other_graphs(e), *number, _leading_components(e), _untested(e), _unstable(e)]
    against = by_graphs if structure == BENT else [*by_flats, _other_count(e)]
    confirmed = not any(by_flats) or not any(by_graphs)
    found = [_small(e), _as_shuffled(e), _dominant_column(e), *([] if confirmed else against)]
    return [each for each in found if each]


def _small(e: Evidence) -> Objection | None:
    if e.smallest >= SMALL_CLUSTER:
        return None
    text = "A cluster is empty" if not e.smallest else f"The smallest cluster has fewer than {SMALL_CLUSTER} rows"
    return Objection(f"{text}.", "fewer clusters.")


def _as_shuffled(e: Evidence) -> Objection | None:
    if _is_separate(e) or is_described(e) or _is_found_twice(e):
        return None
    return Objection("Columns shuffled independently have clusters that are about as clear.")


def _is_found_twice(e: Evidence) -> bool:
    """Whether K flats and neighbours find the same clusters, described clearly better than those of shuffled columns.

    Few columns keep much of their structure if they are shuffled: then these may have a large share of the gain.
    """
    beyond = _gain_beyond_shuffled(e)
    same = _at_least(e.flats, SAME_AGREEMENT) and _at_least(e.points, SAME_AGREEMENT)
    return same and _at_least(e.share, FLAT_SHARE) and beyond is not None and beyond.is_clear


def _dominant_column(e: Evidence) -> Objection | None:
    if e.n_columns < 3 or e.top_column < TOP_COLUMN or _at_least(e.standardised, SCALE_AGREEMENT):
        return None
    return Objection(
        f"One column has {e.top_column:.0%} of the variance, and standardised columns give other clusters.",
        "standardised columns, if their units differ.",
    )


def _not_flat(e: Evidence) -> Objection | None:
    if not _at_least(e.flats, SAME_AGREEMENT):
        return Objection(f"{e.n_clusters} flats do not describe the same clusters.")
    if e.share is None or e.fewer is None:
        return Objection("Whether another number of flats describes the rows better was not tested.")
    if e.gain is None or not e.gain.is_clear:
        return Objection(f"{e.n_clusters} flats hardly describe the rows better than one does.")
    if e.share < FLAT_SHARE:
        return Objection(f"{e.n_clusters} flats describe the rows, but another number of flats describes them better.")
    return None


def _not_round(e: Evidence) -> Objection | None:
    # K-means is nearly the same description, so only neighbours are other evidence, unless no search found a rival.
    if e.kind != ROUND or e.rival is None or _at_least(e.points, SURE_AGREEMENT):
        return None
    return Objection(f"Spectral clustering of nearest neighbours gives other clusters (agreement {e.points:.2f}).")


def _rival(e: Evidence) -> Objection | None:
    if e.rival is None or e.rival.mean > 0:
        return None
    return Objection("Other clusters describe the rows as well.")


def _more(e: Evidence) -> Objection | None:
    if e.more is None or not e.more.is_clear:
        return None
    return Objection(f"{e.more_count} flats describe the rows better.", f"{e.more_count} clusters.")


def _fewer(e: Evidence) -> Objection | None:
    if e.fewer is None or e.fewer.is_clear:
        return None
    count = e.n_clusters - 1
    flats = "One flat describes" if count == 1 else f"{count} flats describe"
    return Objection(f"{flats} the rows about as well.", "fewer clusters." if count == 1 else f"{count} clusters.")


def _other_graphs(e: Evidence) -> Objection | None:
    # Clusters that other graphs repeat must also be repeated by other landmarks: the mean of the two agreements counts.
    stable = 1.0 if _hardly_joined(e) else _stability(e)
    if stable is None or any(
        each is not None and (each + stable) / 2 >= SAME_AGREEMENT for each in (e.points, e.graphs)
    ):
        return None
    if _at_least(e.kmeans, SURE_AGREEMENT) and _at_least(e.points, SURE_AGREEMENT) and _is_best_described(e):
        return None
    return Objection(f"Spectral clustering of nearest neighbours gives other clusters (agreement {e.points:.2f}).")


def _is_best_described(e: Evidence) -> bool:
    """Whether no other number of flats, and no other clusters, have a better description, even if not clearly."""
    return e.fewer is not None and e.fewer.mean > 0 and not any((_not_flat(e), _rival(e), _more(e)))


def _other_count(e: Evidence) -> Objection | None:
    if e.modularity is None or e.other_modularity is None or e.other_modularity < e.modularity + COUNT_GAIN:
        return None
    return Objection(f"{e.other_count} clusters separate the nearest neighbours better.", f"{e.other_count} clusters.")


def _leading_components(e: Evidence) -> Objection | None:
    if e.n_columns < LEADING_COLUMNS or e.leading < LEADING_SHARE:
        return None
    return Objection(
        f"Two principal components have {e.leading:.0%} of the variance, which may be common to all clusters.",
        "rows without their leading principal components (Preparation(whiten_drop=2)).",
    )


def _untested(e: Evidence) -> Objection | None:
    if _stability(e) is not None:
        return None
    return Objection("Whether other random choices give the same clusters was not tested.")


def _unstable(e: Evidence) -> Objection | None:
    stable = _stability(e)
    if stable is None or stable >= SURE_AGREEMENT or _hardly_joined(e):
        return None
    return Objection(f"{_repeated(e)} give other clusters (agreement {stable:.2f}).")


def _hardly_joined(e: Evidence) -> bool:
    """Whether hardly an edge joins two clusters: then halves of the landmarks disagree only because they are few."""
    return _at_most(e.crossing, NO_CROSSINGS) and _at_least(e.points, SAME_AGREEMENT)


def _support(e: Evidence, structure: str) -> list[str]:
    """Reasons to rely on the clusters."""
    if structure == NONE:
        return []
    found = []
    stable = _stability(e)
    if stable is not None and stable >= SURE_AGREEMENT:
        found.append(f"{_repeated(e)} give the same clusters (agreement {stable:.2f}).")
    if e.gain is not None and e.shuffled_gain is not None and is_described(e):
        found.append(
            f"{e.n_clusters} flats describe the rows better than one, by {e.gain.mean:.2f} nats a row; shuffled "
            f"columns, which have no clusters, by {e.shuffled_gain.mean:.2f}."
        )
    if structure in (FLAT, BLOBS) and _at_least(e.flats, SAME_AGREEMENT):
        found.append(f"The best description by {e.n_clusters} flats has the same clusters.")
    others = {"k-means": e.kmeans, "Spectral clustering of nearest neighbours": e.points}
    found += [
        f"{name} gives the same clusters (agreement {value:.2f})."
        for name, value in others.items()
        if value is not None and value >= SAME_AGREEMENT
    ]
    if _at_least(e.graphs, SAME_AGREEMENT):
        found.append(f"Other kinds of flats give the same clusters (agreement {e.graphs:.2f}).")
    return found


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit


def _at_most(value: float | None, limit: float) -> bool:
    return value is not None and value <= limit
