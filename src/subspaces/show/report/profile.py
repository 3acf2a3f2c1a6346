"""The profile of each cluster: the columns that make it different, or its mean image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces.show.report.columns import ColumnFacts
from subspaces.show.report.plain import name_text, number, numbers
from subspaces.show.report.subject import Subject
from subspaces.show.report.thresholds import (
    CLEAR_RELATION,
    FAR_SHIFT,
    RELATION_GAIN,
    SHIFT,
    STEADY_RATIO,
    STRONG_RELATION,
    VARIED_RATIO,
)
from subspaces.spectral.partition import at_most

# Columns of a profile and of its words, and letters of a name in them.
PROFILE_COLUMNS = 6
NAMED_COLUMNS = 3
NAME_LETTERS = 28
# Relations of two columns shown, and the most columns and rows among which they are searched.
RELATIONS = 2
RELATED_COLUMNS = 200
RELATED_ROWS = 5000
# Percentiles of the bars.
BAR = (10, 25, 50, 75, 90)
# Rows of which the mean image of a cluster is made.
MEAN_ROWS = 2000


def profiles(subject: Subject, columns: ColumnFacts | None) -> list[dict[str, Any]]:
    """What makes each non-empty cluster different from all rows; empty if there is only one cluster."""
    used = np.flatnonzero(subject.sizes)
    if subject.pictures is not None:
        side = subject.pictures.example_side(24 * len(used))
        mean = subject.pictures.mean_uri
        return [{"cluster": int(k), "mean": mean(subject.members(int(k))[:MEAN_ROWS], side)} for k in used]
    if columns is None or len(used) < 2:
        return []
    every = at_most(np.arange(subject.n_rows), RELATED_ROWS, np.random.RandomState(0))
    return [_profile(subject, columns, int(k), every) for k in used]


def _profile(subject: Subject, columns: ColumnFacts, cluster: int, every: NDArray[np.intp]) -> dict[str, Any]:
    members = at_most(subject.members(cluster), RELATED_ROWS, np.random.RandomState(0))
    shown = columns.telling(cluster, PROFILE_COLUMNS)
    here = np.percentile(subject.values[np.ix_(members, shown)], BAR, axis=0).T
    overall = np.percentile(subject.values[np.ix_(every, shown)], BAR, axis=0).T
    lines = [
        {
            "name": subject.columns[j],
            "word": column_word(float(columns.shifts[cluster, j]), float(columns.ratios[cluster, j])),
            "mean": number(columns.means[cluster, j], 4),
            "all": number(columns.mean[j], 4),
            "bar": numbers(own, 4),
            "all_bar": numbers(whole, 4),
        }
        for j, own, whole in zip(shown, here, overall, strict=True)
    ]
    # Columns that differ by neither mean nor spread are shown only if there are few others.
    lines = [line for i, line in enumerate(lines) if line["word"] or i < NAMED_COLUMNS]
    related = relations(subject, columns, members, every, cluster)
    return {"cluster": cluster, "words": profile_words(lines, related), "columns": lines, "relations": related}


def column_word(shift: float, ratio: float) -> str:
    """A word for a column in a cluster: its mean in standard deviations of all rows, then its spread."""
    if abs(shift) >= SHIFT:
        return ("very " if abs(shift) >= FAR_SHIFT else "") + ("high" if shift > 0 else "low")
    return "steady" if ratio <= STEADY_RATIO else "varied" if ratio >= VARIED_RATIO else ""


def profile_words(lines: list[dict[str, Any]], related: list[dict[str, Any]]) -> str:
    """The profile in a few words: "high alcohol, proline; low hue"."""
    named = [line for line in lines if line["word"]][:NAMED_COLUMNS]
    groups: dict[str, list[str]] = {}
    for line in named:
        groups.setdefault(line["word"], []).append(short_name(line["name"]))
    found = [f"{word} {', '.join(names)}" for word, names in groups.items()]
    if len(named) < NAMED_COLUMNS and related:
        pair = " and ".join(short_name(related[0][key]) for key in ("first", "second"))
        found.append(f"{pair} {'rise together' if related[0]['here'] > 0 else 'move in opposite directions'}")
    return "; ".join(found) or "no single column stands out"


def short_name(name: str) -> str:
    """The beginning of the name of a column; in quotes if it has signs that separate names in a list."""
    text = name_text(name, NAME_LETTERS)
    return f'"{text}"' if any(sign in text for sign in ",;") else text


def relations(
    subject: Subject, columns: ColumnFacts, members: NDArray[np.intp], every: NDArray[np.intp], cluster: int
) -> list[dict[str, Any]]:
    """Pairs of columns with a much stronger correlation in the cluster than in all rows, strongest first.

    In a flat cluster, columns depend on each other; their means and spreads alone do not show it.
    """
    usable = np.flatnonzero((columns.spread > 0) & (columns.spreads[cluster] > 1e-9 * columns.spread))
    if len(usable) > RELATED_COLUMNS:
        usable = usable[np.argsort(-columns.spread[usable], kind="stable")[:RELATED_COLUMNS]]
    if len(usable) < 2 or len(members) < 4:
        return []
    here, overall = (_correlations(subject.values[np.ix_(rows, usable)]) for rows in (members, every))
    first, second = np.triu_indices(len(usable), 1)
    here, overall = here[first, second], overall[first, second]
    # The strongest of many correlations of few rows can be large by chance.
    scores = np.arctanh(np.clip(np.abs(here), 0, 1 - 1e-9)) * np.sqrt(len(members) - 3)
    clear = (np.abs(here) >= STRONG_RELATION) & (scores >= CLEAR_RELATION)
    clear &= np.abs(here) - np.abs(overall) >= RELATION_GAIN
    order = [i for i in np.argsort(-np.abs(here), kind="stable") if clear[i]][:RELATIONS]
    return [
        {
            "first": subject.columns[usable[first[i]]],
            "second": subject.columns[usable[second[i]]],
            "here": number(here[i], 3),
            "all": number(overall[i], 3),
        }
        for i in order
    ]


def _correlations(rows: NDArray[Any]) -> NDArray[np.float64]:
    centered = rows.astype(np.float64) - rows.mean(axis=0, dtype=np.float64)
    lengths = np.sqrt(np.square(centered).sum(axis=0))
    scaled = centered / np.where(lengths > 0, lengths, 1)
    return scaled.T @ scaled
