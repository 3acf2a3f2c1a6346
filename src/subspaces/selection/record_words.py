"""Decisions for people: the answer in a sentence, and the evidence as a small table with ordinary words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from subspaces.selection.record_text import (
    TABLE_WIDTH,
    best_candidates,
    candidate_label,
    cell,
    naming_keys,
    one_line,
)

if TYPE_CHECKING:
    from subspaces.selection.record import Decision

# Candidates in the table of the evidence.
EVIDENCE_ROWS = 5
KINDS = {
    "flat": "They are flat: each is near a line, a plane or a flat of higher dimension.",
    "blobs": "They are blobs: rows around a centre.",
    "bent": "They are bent: connected, but not flat.",
}
# Ordinary words for the figures of candidates; figures without words are left to the details.
WORDS = {
    "n_clusters": "clusters",
    "relative_modularity": "distinctness (1 is best)",
    "modularity": "distinctness (1 is best)",
    "agreement": "agreement (1 is best)",
    "nats_per_row": "description length (less is better)",
    "cluster_dims": "dimensions",
    "outliers": "outliers",
    "flats": "rows are compared by",
    "subspace_dim": "dimension",
    "log_noise": "noise (logarithm)",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The candidates of one decision, those next to the winner."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    winner: int  # index into rows


def answer(decisions: Sequence[Decision]) -> str:
    """What was chosen, in a sentence or two; empty if there is nothing to say in ordinary words."""
    found = {decision.name: decision for decision in decisions}
    sentences = []
    if "n_clusters" in found:
        count = found["n_clusters"].chosen.get("n_clusters")
        if count == 1:
            return "One cluster was chosen: more clusters do not describe the rows better."
        sentences.append(f"{cell(count)} clusters were chosen.")
    if "structure" in found:
        kind = KINDS.get(str(found["structure"].chosen.get("clusters")), "")
        sentences.append(kind if sentences else kind.replace("They", "The clusters", 1))
    if "subspace_dim" in found:
        sentences.append(f"Their flats have dimension {cell(found['subspace_dim'].chosen.get('subspace_dim'))}.")
    sentences += [text for name, say in _OTHERS.items() if name in found and (text := say(found[name].chosen))]
    return " ".join(filter(None, sentences))


def _compared_by(chosen: Mapping[str, Any]) -> str:
    kind, dim = cell(chosen.get("flats")), chosen.get("subspace_dim")
    return f"Rows were compared by {kind}" + (f" of dimension {cell(dim)}." if dim else ".")


def _labelled_by(chosen: Mapping[str, Any]) -> str:
    origin = "whole flats" if chosen.get("origin") == "flats" else "a cut of the graph of similar rows"
    return f"Labels come from {origin}."


_OTHERS: dict[str, Callable[[Mapping[str, Any]], str]] = {"flats": _compared_by, "partition": _labelled_by}


def evidence(decisions: Sequence[Decision]) -> Evidence | None:
    """The candidates for the number of clusters, or of the first decision that has several; None if none has."""
    several = [decision for decision in decisions if len(decision.candidates) > 1]
    if not several:
        return None
    decision = next((each for each in several if each.name == "n_clusters"), several[0])
    names = naming_keys(decision)
    keys = [key for key in WORDS if any(key in each for each in decision.candidates)]
    keys = [*(key for key in keys if key in names), *(key for key in keys if key not in names)]
    if not set(keys) & set(names):
        return _by_label(decision)
    shown = _near_winner(decision)
    rows = [tuple(_written(key, decision.candidates[i].get(key)) for key in keys) for i in shown]
    # Candidates that differ only in details are the same here.
    won = shown.index(decision.winner)
    kept = [i for i, row in enumerate(rows) if i == won or (row not in rows[:i] and row != rows[won])]
    return Evidence(tuple(WORDS[key] for key in keys), tuple(rows[i] for i in kept), kept.index(won))


def _by_label(decision: Decision) -> Evidence:
    """The best candidates of a decision without ordinary words, by their labels and scores."""
    shown, names = best_candidates(decision, EVIDENCE_ROWS), naming_keys(decision)
    rows = tuple((candidate_label(decision, i, names), cell(decision.candidates[i].get(decision.score))) for i in shown)
    heads = (one_line(decision.name).replace("_", " "), one_line(decision.score).replace("_", " "))
    return Evidence(heads, rows, shown.index(decision.winner))


def _near_winner(decision: Decision) -> list[int]:
    """For numbers of clusters those around the winner, in order; otherwise the best candidates."""
    if decision.name != "n_clusters":
        return best_candidates(decision, EVIDENCE_ROWS)
    first = max(0, min(decision.winner - EVIDENCE_ROWS // 2, len(decision.candidates) - EVIDENCE_ROWS))
    return list(range(first, min(len(decision.candidates), first + EVIDENCE_ROWS)))


def _written(key: str, value: Any) -> str:
    if key == "outliers" and isinstance(value, float):
        return f"{value:.0%}"
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    return "" if value is None else f"{value:.2f}" if isinstance(value, float) else cell(value)


def summary_lines(decisions: Sequence[Decision]) -> list[str]:
    """The answer and the evidence as lines for a terminal."""
    said, table = textwrap.wrap(answer(decisions), TABLE_WIDTH), evidence_lines(decisions)
    return [*said, *([""] if said and table else []), *table]


def evidence_lines(decisions: Sequence[Decision]) -> list[str]:
    """The evidence as a table for a terminal; empty if there is none."""
    found = evidence(decisions)
    if found is None:
        return []
    widths = [max(map(len, column)) for column in zip(found.heads, *found.rows, strict=True)]
    table = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in found.rows]
    heads = "  ".join(text.rjust(width) for text, width in zip(found.heads, widths, strict=True))
    marked = [f"{line}  <- chosen" if i == found.winner else line for i, line in enumerate(table)]
    return [f"  {line}" for line in (heads, *marked)]


def summary_html(decisions: Sequence[Decision]) -> str:
    """The answer and the evidence for a notebook, as HTML in which all text is escaped."""
    said = answer(decisions)
    parts = [f"<p><strong>{escape(one_line(said))}</strong></p>"] if said else []
    found = evidence(decisions)
    return "".join([*parts, "" if found is None else table_html(found.heads, found.rows, found.winner)])


def table_html(heads: Sequence[str], rows: Sequence[Sequence[str]], winner: int | None = None) -> str:
    """A table for a notebook, the winner in bold; all text is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{each}</{tag}>" for each in cells) + "</tr>"

    texts = [[escape(one_line(each)) for each in row] for row in rows]
    if winner is not None:
        texts[winner] = [f"<strong>{each}</strong>" for each in texts[winner]]
    body = "".join(line(row, "td") for row in texts)
    return (
        f"<table><thead>{line([escape(one_line(each)) for each in heads], 'th')}</thead><tbody>{body}</tbody></table>"
    )
