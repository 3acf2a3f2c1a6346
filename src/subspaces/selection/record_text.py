"""Decisions as text: tables for a terminal, labels and cells."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subspaces.selection.record import Decision

# Width of a table, largest width of a cell, and largest number of rows.
TABLE_WIDTH = 96
CELL_WIDTH = 40
TABLE_ROWS = 8


def number_of(value: Any) -> float:
    """A score to sort and draw by; NaN if it is not a number."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # an integer beyond floats
        return math.inf if value > 0 else -math.inf


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_line(text: Any) -> str:
    """One line of printable characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(text).split()))


def cell(value: Any) -> str:
    """A value as short text for a table."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        # Four digits; none after the point if there are four before it.
        return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:#.4g}"
    text = one_line(value)
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 3] + "..."


def _keys(decision: Decision) -> list[str]:
    """The keys of all candidates, in order of first appearance."""
    return list(dict.fromkeys(key for candidate in decision.candidates for key in candidate))


def best_candidates(decision: Decision, count: int) -> list[int]:
    """Indices of the winner and the candidates of the best scores, `count` in all, best first."""
    sign = -1 if decision.larger_is_better else 1
    scores = [sign * number_of(candidate.get(decision.score)) for candidate in decision.candidates]
    order = sorted(range(len(scores)), key=lambda i: (math.isnan(scores[i]), scores[i]))
    # Make sure that the winner is kept, then restore the order.
    kept = sorted(order, key=lambda i: i != decision.winner)[:count]
    return [i for i in order if i in kept]


def table_lines(decision: Decision) -> list[str]:
    """Lines that show a decision: its name and reason, then the best candidates."""
    rows = best_candidates(decision, TABLE_ROWS)
    columns = {key: _column(decision, key, rows) for key in _keys(decision)}
    # Marks take four columns and gaps two; there is one gap less than cells.
    shown, room = [], TABLE_WIDTH - 4 + 2
    # The score comes first, so that it is always shown.
    for key in sorted(columns, key=lambda key: key != decision.score):
        width = len(columns[key][0]) + 2
        if width <= room:
            shown.append(key)
            room -= width
    lines = textwrap.wrap(
        f"{one_line(decision.name)}: {one_line(decision.reason)}", TABLE_WIDTH, subsequent_indent="  "
    )
    cells = zip(*(column for key, column in columns.items() if key in shown), strict=True)
    marks = ["    ", *("  * " if i == decision.winner else "    " for i in rows)]
    lines += [(mark + "  ".join(row)).rstrip() for mark, row in zip(marks, cells, strict=False)]
    if len(rows) < len(decision.candidates):
        lines.append(f"    ... and {len(decision.candidates) - len(rows)} more")
    if len(shown) < len(columns):
        hidden = ", ".join(cell(key) for key in columns if key not in shown)
        lines += textwrap.wrap(f"not shown: {hidden}", TABLE_WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines


def _column(decision: Decision, key: str, rows: Sequence[int]) -> list[str]:
    """A heading and cells of equal width: numbers to the right, words to the left."""
    values = [decision.candidates[i][key] for i in rows if key in decision.candidates[i]]
    cells = [cell(key), *(cell(each[key]) if key in each else "" for each in (decision.candidates[i] for i in rows))]
    width = max(map(len, cells))
    return [cell.rjust(width) if all(map(is_number, values)) else cell.ljust(width) for cell in cells]


def naming_keys(decision: Decision) -> list[str]:
    """Keys that distinguish candidates: those before the score, fractions only if they are needed."""
    keys = _keys(decision)
    before = keys[: keys.index(decision.score)] if decision.score in keys else keys
    whole = [key for key in before if not any(isinstance(each.get(key), float) for each in decision.candidates)]
    for some in (whole, before, [key for key in keys if key != decision.score]):
        # Leave out keys that have the same value for all candidates.
        telling = [key for key in some if len({cell(each.get(key, "")) for each in decision.candidates}) > 1]
        labels = {tuple(cell(each.get(key, "")) for key in telling) for each in decision.candidates}
        if len(labels) == len(decision.candidates) > 1:
            return telling
    return whole or before


def is_numbered(decision: Decision) -> bool:
    """Whether candidates differ in one number, such as n_clusters = 2, ..., 10: then they are drawn as a line."""
    what = naming_keys(decision)
    if len(what) != 1:
        return False
    numbers = [each.get(what[0]) for each in decision.candidates]
    return (
        len(set(map(number_of, numbers))) == len(numbers) > 2
        and all(map(is_number, numbers))
        and all(math.isfinite(number_of(each)) for each in numbers)
    )


def candidate_label(decision: Decision, index: int, what: Sequence[str]) -> str:
    """Label of a candidate: text values alone, other values with their names."""
    candidate = decision.candidates[index]
    if len(what) == 1 and what[0] in candidate:
        return cell(candidate[what[0]])
    parts = [
        cell(candidate[key]) if isinstance(candidate[key], str) else f"{cell(key)} {cell(candidate[key])}"
        for key in what
        if key in candidate
    ]
    return textwrap.shorten(", ".join(parts), 56, placeholder=" ...") or f"candidate {index}"
