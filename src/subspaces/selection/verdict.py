"""The verdict on a clustering: what structure was found, how far to trust it, and what to do.

`judge` is a pure function of `Evidence`. Its numbers are in `thresholds` and come from benchmarks/study_verdict.py,
where its answers are compared with known classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from html import escape
from typing import Any

from subspaces._core.plain import plain
from subspaces.selection.evidence import Evidence
from subspaces.selection.thresholds import N_ERRORS, SURE_AGREEMENT
from subspaces.selection.verdict_thresholds import (
    CLEAR_GAIN,
    COIN_TOSS,
    CONFIRMED,
    COUNT_GAIN,
    FEW_CROSSINGS,
    LEADING_COLUMNS,
    LEADING_SHARE,
    MAX_SPLIT,
    MIN_JOIN,
    SAME_AGREEMENT,
    SCALE_AGREEMENT,
    SMALL_CLUSTER,
    STABLE,
    TOP_COLUMN,
)

FLAT, BENT, BLOBS, NONE = "flat subspaces", "bent clusters", "blobs", "none"
STRUCTURES = (FLAT, BENT, BLOBS, NONE)
RELIABLE, UNCONFIRMED, DOUBTFUL, UNRELIABLE = "reliable", "stable, but unconfirmed", "doubtful", "unreliable"
TRUST = (RELIABLE, UNCONFIRMED, DOUBTFUL, UNRELIABLE)
FOUND = {
    FLAT: "The clusters are flat subspaces.",
    BENT: "The clusters are bent: they are connected, but not flat.",
    BLOBS: "The clusters are blobs: k-means finds the same.",
    NONE: "No separate clusters were found.",
}


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
        return f"{self.trust[0].upper()}{self.trust[1:]}. {FOUND[self.structure]}"

    def __str__(self) -> str:
        lines = [self.headline, *(f"- {each}" for each in self.reasons)]
        return "\n".join([*lines, *(f"Try: {each}" for each in self.advice)])

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{escape(each)}</li>" for each in self.reasons)
        advice = "".join(f"<li>Try: {escape(each)}</li>" for each in self.advice)
        return f"<p><strong>{escape(self.headline)}</strong></p><ul>{reasons}{advice}</ul>"


def verdict_of(saved: Mapping[str, Any]) -> Verdict:
    """The verdict that `to_dict` describes."""
    evidence = dict(saved["evidence"])
    evidence["dims"] = tuple(evidence["dims"])
    return Verdict(
        structure=saved["structure"],
        trust=saved["trust"],
        reasons=tuple(saved["reasons"]),
        advice=tuple(saved["advice"]),
        evidence=Evidence(**evidence),
    )


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason not to rely on clusters, and what to try."""

    reason: str
    advice: str = ""


def judge(evidence: Evidence) -> Verdict:
    """The verdict on a clustering.

    Clusters are reliable if there is structure beyond shuffled columns, if a second kind of evidence confirms them
    (K flats, k-means, or the graph of nearest neighbours), and if nothing contradicts them or their number. Stability
    alone is never enough.
    """
    e, structure = evidence, structure_of(evidence)
    objections = _objections(e, structure)
    stable = _stability(e)
    if not objections:
        trust = RELIABLE
    elif structure == NONE or (stable is not None and stable < COIN_TOSS):
        trust = UNRELIABLE
    else:
        trust = UNCONFIRMED if stable is not None and stable >= SURE_AGREEMENT else DOUBTFUL
    reasons = [each.reason for each in objections] + _support(e, structure)
    advice = [each.advice for each in objections if each.advice]
    # One number of clusters is enough.
    counts = [each for each in advice if each.endswith("clusters.")]
    advice = [each for each in advice if each not in counts[1:]]
    if structure == BLOBS and trust == RELIABLE:
        advice.append("k-means, which is simpler and gives the same clusters.")
    return Verdict(structure, trust, tuple(reasons), tuple(dict.fromkeys(advice)), evidence)


def structure_of(e: Evidence) -> str:
    """What kind of clusters there are."""
    round_ = _at_least(e.kmeans, SAME_AGREEMENT)
    if not _gains(e):
        return BENT if _is_connected(e) and not round_ else NONE
    if round_:
        return BLOBS
    return FLAT if _is_flat(e) else BENT


def _gains(e: Evidence) -> bool:
    """Whether K flats describe the rows clearly better than one, compared with shuffled columns."""
    return e.gain is not None and e.shuffled_gain is not None and e.gain >= max(0, e.shuffled_gain + CLEAR_GAIN)


def _is_connected(e: Evidence) -> bool:
    """Whether the graph of nearest neighbours has the same clusters, with few edges between them."""
    if e.crossing is None or e.shuffled_crossing is None:
        return False
    return _at_least(e.points, CONFIRMED) and e.crossing < FEW_CROSSINGS * e.shuffled_crossing


def _is_flat(e: Evidence) -> bool:
    """Whether K flats describe the same clusters, and no cluster is better described by two."""
    return _at_least(e.flats, CONFIRMED) and e.split is not None and e.split <= MAX_SPLIT


def _stability(e: Evidence) -> float | None:
    """Agreement of other landmarks and seeds, the lower of the two."""
    return min((each for each in (e.landmarks, e.seeds) if each is not None), default=None)


def _objections(e: Evidence, structure: str) -> list[Objection]:
    """Reasons not to rely on the clusters: general ones, and those of the kind of evidence that suits the structure.

    Either kind of evidence is enough: the description by K flats, or the graph of nearest neighbours.
    """
    if e.gain is None:
        return [Objection("There is only one cluster, so there is nothing to compare it with.")]
    if structure == NONE:
        return [
            *filter(None, [_small(e)]),
            Objection(
                f"{e.n_clusters} clusters describe the rows hardly better than they describe columns shuffled "
                "independently."
            ),
        ]
    by_flats = [_bent(e), _rival(e), _joinable(e), _other_count(e) if 0 in e.dims else None]
    by_graph = [_unlike_points(e), _other_count(e), _unstable(e)]
    against = by_flats if structure == FLAT else by_graph
    confirmed = not any(by_flats) or not any(by_graph)
    found = [_small(e), _dominant_column(e), _leading_components(e), *([] if confirmed else against)]
    return [each for each in found if each]


def _small(e: Evidence) -> Objection | None:
    if e.smallest >= SMALL_CLUSTER:
        return None
    text = "A cluster is empty" if not e.smallest else f"The smallest cluster has fewer than {SMALL_CLUSTER} rows"
    return Objection(f"{text}.", "fewer clusters.")


def _dominant_column(e: Evidence) -> Objection | None:
    if e.n_columns < 3 or e.top_column < TOP_COLUMN or _at_least(e.standardised, SCALE_AGREEMENT):
        return None
    return Objection(
        f"One column has {e.top_column:.0%} of the variance, and standardised columns give other clusters.",
        "standardised columns, if their units differ.",
    )


def _leading_components(e: Evidence) -> Objection | None:
    if e.n_columns < LEADING_COLUMNS or e.leading < LEADING_SHARE:
        return None
    return Objection(
        f"Two principal components have {e.leading:.0%} of the variance, which may be common to all clusters.",
        "rows without their leading principal components (Preparation(whiten_drop=2)).",
    )


def _bent(e: Evidence) -> Objection | None:
    return None if _is_flat(e) else Objection(f"{e.n_clusters} flats do not describe the same clusters.")


def _rival(e: Evidence) -> Objection | None:
    if e.rival is None or e.rival_error is None or e.rival > N_ERRORS * e.rival_error:
        return None
    return Objection("Other clusters describe the rows about as well.")


def _joinable(e: Evidence) -> Objection | None:
    if e.join is None or e.join <= -MIN_JOIN:
        return None
    return Objection("Two of the clusters are described as well by one flat.", f"{e.n_clusters - 1} clusters.")


def _other_count(e: Evidence) -> Objection | None:
    if e.modularity is None or e.other_modularity is None or e.other_modularity < e.modularity + COUNT_GAIN:
        return None
    return Objection(f"{e.other_count} clusters separate the nearest neighbours better.", f"{e.other_count} clusters.")


def _unlike_points(e: Evidence) -> Objection | None:
    if _at_least(e.points, CONFIRMED):
        return None
    return Objection(f"Spectral clustering of nearest neighbours gives other clusters (agreement {e.points:.2f}).")


def _unstable(e: Evidence) -> Objection | None:
    stable = _stability(e)
    if stable is None:
        return Objection("Whether other landmarks or seeds give the same clusters was not tested.")
    if stable >= STABLE:
        return None
    return Objection(f"Other landmarks or seeds give other clusters (agreement {stable:.2f}).")


def _support(e: Evidence, structure: str) -> list[str]:
    """Reasons to rely on the clusters."""
    if structure == NONE:
        return []
    assert e.gain is not None
    assert e.shuffled_gain is not None
    found = []
    stable = _stability(e)
    if stable is not None and stable >= SURE_AGREEMENT:
        found.append(f"Other landmarks or seeds give the same clusters (agreement {stable:.2f}).")
    if _gains(e):
        found.append(
            f"{e.n_clusters} flats save {e.gain:.2f} nats a row compared with one, and {e.shuffled_gain:.2f} if "
            "columns are shuffled."
        )
    if structure == FLAT:
        found.append(f"The shortest description by {e.n_clusters} flats has the same clusters.")
    elif _at_least(e.points, CONFIRMED):
        found.append(f"Spectral clustering of nearest neighbours gives the same clusters (agreement {e.points:.2f}).")
    return found


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit
