"""Tables as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.grid import Grid, Row, Shown

LEGEND = (
    "Mean accuracy over the draws (seconds on one core); lowest–highest; published numbers. * best, separately for "
    "methods given\nonly the number of clusters and for methods also given d, the dimension. - not run."
)


def text_table(grid: Grid) -> str:
    """One table, with several lines per method."""
    lines = [["", *grid.columns]]
    for row in grid.rows:
        if any(cell.accuracy or cell.notes for cell in row.cells):
            lines += _row_lines(row)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    body = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([grid.title, *body])


def text_page(grids: Sequence[Grid]) -> str:
    """All tables and a legend."""
    return "\n\n".join([*map(text_table, grids), LEGEND])


def _row_lines(row: Row) -> list[list[str]]:
    lines = [[row.title, *map(_first, row.cells)]]
    n_notes = max(len(cell.notes) for cell in row.cells)
    for title, words in (
        ("  lowest–highest", [cell.spread for cell in row.cells]),
        *(("", ["".join(cell.notes[i : i + 1]) for cell in row.cells]) for i in range(n_notes)),
        ("  paper", [cell.paper for cell in row.cells]),
    ):
        if any(words):
            lines.append([title, *words])
    return lines


def _first(cell: Shown) -> str:
    if not cell.accuracy:
        return "-"
    return f"{cell.accuracy}{'*' if cell.best else ''} ({cell.seconds}{'*' if cell.fastest else ''})"
