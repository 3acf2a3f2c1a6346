"""The content of tables as text, from stored results, independent of the output format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subspaces.paper.reproduce import beyond
from subspaces.paper.reproduce.methods import METHODS, PAPER_METHODS, Method
from subspaces.paper.reproduce.paper_tables import TABLES, Cell, Table, cell_task
from subspaces.paper.reproduce.published import Printed
from subspaces.paper.reproduce.task import fingerprint

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell: our result and the published one. Empty strings if there is nothing to show."""

    accuracy: str = ""
    seconds: str = ""
    spread: str = ""  # lowest and highest accuracy
    notes: tuple[str, ...] = ()  # differences from the other cells
    paper: str = ""
    best: bool = False
    fastest: bool = False
    device: bool = False  # computed on an accelerator, so that times are not comparable
    stale: bool = False  # measured with other parameters than the current ones


@dataclass(frozen=True, slots=True)
class Row:
    """One method. Methods that are given the dimension are compared with each other only."""

    title: str
    given_dim: bool
    cells: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """One table."""

    number: int | None  # of the paper's table
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        return self.caption if self.number is None else f"Table {self.number}. {self.caption}"


def grids(records: Mapping[str, Record]) -> list[Grid]:
    """The tables of the paper and beyond it for which results are stored."""
    found: list[Grid] = []
    for table in TABLES:
        if _any_draw(records.get(table.experiment)):
            grid = _paper_grid(table, records[table.experiment])
            joined = bool(found) and found[-1].number == table.number
            found[-1:] = [_beside(found[-1], grid)] if joined else [*found[-1:], grid]
    if _any_draw(records.get("beyond")):
        found.append(_beyond_grid(records["beyond"]))
    return found


def _any_draw(record: Record | None) -> bool:
    return record is not None and any(
        entry["draws"] for methods in record["cells"].values() for entry in methods.values()
    )


def _paper_grid(table: Table, record: Record) -> Grid:
    rows = []
    for key in PAPER_METHODS:
        method = METHODS[key]
        shown = [
            replace(_shown(record, cell, key), paper=printed_text(table.printed(method, cell))) for cell in table.cells
        ]
        rows.append(_row(method, shown))
    caption = f"{table.caption}, {table.cells[0].draws} draws"
    return _with_best(Grid(table.number, caption, tuple(cell.title for cell in table.cells), tuple(rows)))


def _beside(left: Grid, right: Grid) -> Grid:
    """Join two parts of one table of the paper."""
    rows = [replace(row, cells=row.cells + more.cells) for row, more in zip(left.rows, right.rows, strict=True)]
    return Grid(left.number, f"{left.caption}; {right.caption}", left.columns + right.columns, tuple(rows))


def _beyond_grid(record: Record) -> Grid:
    rows = []
    for key in beyond.BEYOND_METHODS:
        shown = [
            _shown(record, cell, key) if beyond.feasible(key, cell) else Shown(notes=("not run: too many rows",))
            for cell in beyond.CELLS
        ]
        rows.append(_row(METHODS[key], shown))
    columns = tuple(f"{cell.title} ({cell.shape[0]:,})" for cell in beyond.CELLS)
    caption = f"Beyond the paper: whole data sets (number of rows), {beyond.CELLS[0].draws} draws"
    return _with_best(Grid(None, caption, columns, tuple(rows)))


def _row(method: Method, shown: Sequence[Shown]) -> Row:
    return Row(method.title, method.given_dim, tuple(shown))


def _shown(record: Record, cell: Cell, key: str) -> Shown:
    entry = record["cells"].get(cell.name, {}).get(key)
    if entry is None or not entry["draws"]:
        return Shown()
    draws = entry["draws"]
    scores = [draw["accuracy"] for draw in draws]
    seconds = [draw["seconds"] for draw in draws]
    devices = sorted({draw["device"] for draw in draws if "device" in draw})
    notes = [f"on {device}" for device in devices]
    if len(draws) != cell.draws:
        notes.append(f"{len(draws)} draws" if len(draws) > cell.draws else f"{len(draws)} of {cell.draws} draws")
    stale = entry["fingerprint"] != fingerprint(cell_task(cell, key).describe())
    if stale:
        notes.append("other parameters")
    return Shown(
        accuracy=f"{sum(scores) / len(scores):.3f}",
        seconds=seconds_text(sum(seconds) / len(seconds)),
        spread=f"{min(scores):.3f}–{max(scores):.3f}",
        notes=tuple(notes),
        device=bool(devices),
        stale=stale,
    )


def _with_best(grid: Grid) -> Grid:
    """Mark the best accuracy and the shortest time of each column, after rounding; all ties are marked.

    Methods that are given the dimension are compared with each other only. Times on a device and results with other
    parameters are not compared.
    """
    rows = [list(row.cells) for row in grid.rows]
    for column in range(len(grid.columns)):
        for given in (False, True):
            alike = [i for i, row in enumerate(grid.rows) if row.given_dim is given]
            group = [i for i in alike if rows[i][column].accuracy and not rows[i][column].stale]
            if not group:
                continue
            most = max(float(rows[i][column].accuracy) for i in group)
            times = {i: _number(rows[i][column].seconds) for i in group if not rows[i][column].device}
            least = min(times.values(), default=-1.0)
            for i in group:
                cell = rows[i][column]
                rows[i][column] = replace(cell, best=float(cell.accuracy) == most, fastest=times.get(i) == least)
    changed = tuple(replace(row, cells=tuple(cells)) for row, cells in zip(grid.rows, rows, strict=True))
    return replace(grid, rows=changed)


def _number(text: str) -> float:
    return float(text.removesuffix(" s").replace(",", ""))


def seconds_text(seconds: float) -> str:
    """Seconds with about two significant digits."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:,.0f} s"


def printed_text(printed: Printed | None) -> str:
    """Published accuracy and time as text."""
    return "N/A" if printed is None else f"{printed.accuracy:.2f} ({printed.seconds:,} s)"
