"""The content of tables, from stored results, independent of the output format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subspaces.paper.reproduce.methods import METHODS, PAPER_METHODS, Method
from subspaces.paper.reproduce.motions import MOTION_CELLS, MOTION_METHODS, PUBLISHED_MOTIONS
from subspaces.paper.reproduce.pixels import PIXEL_CELLS, PIXEL_METHODS, PUBLISHED_PIXELS
from subspaces.paper.reproduce.published import Printed
from subspaces.paper.reproduce.reading import CELLS, CHANGES, DRAWS, FEW_CELLS, PRINTED, reading_tasks
from subspaces.paper.reproduce.tables import (
    BEYOND_CELLS,
    BEYOND_METHODS,
    TABLES,
    Cell,
    Table,
    cell_task,
    feasible,
    n_draws,
)
from subspaces.paper.reproduce.task import fingerprint

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell: our result and the published one. Numbers are rounded to the digits that are shown."""

    accuracy: float | None = None  # mean over the draws; None without draws
    seconds: float | None = None  # mean over the draws
    lowest: float | None = None  # accuracy
    highest: float | None = None
    notes: tuple[str, ...] = ()  # differences from the other cells
    paper: str = ""  # empty if the paper has no such cell
    best: bool = False
    fastest: bool = False
    device: bool = False  # computed on an accelerator, so that times are not comparable
    stale: bool = False  # measured with other parameters than the current ones

    @property
    def accuracy_text(self) -> str:
        """Mean accuracy with three digits; empty without draws."""
        return "" if self.accuracy is None else f"{self.accuracy:.3f}"

    @property
    def seconds_text(self) -> str:
        """Mean seconds with about two significant digits, always in seconds, as the paper gives them."""
        return "" if self.seconds is None else f"{self.seconds:,.{_decimals(self.seconds)}f} s"

    @property
    def spread(self) -> str:
        """Lowest and highest accuracy."""
        return "" if self.lowest is None else f"{self.lowest:.3f}–{self.highest:.3f}"


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
    if _any_draw(records.get("motions")):
        title = "Motions: sequences of Hopkins155"
        found.append(_own_grid(records["motions"], title, MOTION_CELLS, MOTION_METHODS, PUBLISHED_MOTIONS))
    if _any_draw(records.get("pixels")):
        title = "Pixels of faces: Extended Yale B"
        found.append(_own_grid(records["pixels"], title, PIXEL_CELLS, PIXEL_METHODS, PUBLISHED_PIXELS))
    if _any_draw(records.get("reading")):
        found.append(_reading_grid(records["reading"]))
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
            replace(_feasible_shown(record, cell, key), paper=printed_text(table.printed(method, cell)))
            for cell in table.cells
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
    for key in BEYOND_METHODS:
        shown = [_feasible_shown(record, cell, key) for cell in BEYOND_CELLS]
        rows.append(_row(METHODS[key], shown))
    columns = tuple(f"{cell.title} ({cell.shape[0]:,})" for cell in BEYOND_CELLS)
    caption = f"Beyond the paper: whole data sets (number of rows), {BEYOND_CELLS[0].draws} draws"
    return _with_best(Grid(None, caption, columns, tuple(rows)))


def _own_grid(
    record: Record, title: str, cells: Sequence[Cell], methods: Sequence[str], published: Mapping[str, tuple[str, ...]]
) -> Grid:
    """Data that the paper does not use, with numbers of the publications of the methods."""
    rows = []
    for key in methods:
        printed = published.get(key, ("",) * len(cells))
        shown = [replace(_shown(record, cell, key), paper=text) for cell, text in zip(cells, printed, strict=True)]
        rows.append(_row(METHODS[key], shown))
    return _with_best(Grid(None, title, tuple(cell.title for cell in cells), tuple(rows)))


def _reading_grid(record: Record) -> Grid:
    expected = {
        (task.cell, task.method): fingerprint(task.describe())
        for task in reading_tasks(("fls-paper",), 1)
        if task.method in CHANGES
    }
    rows = []
    for change in CHANGES:
        shown = []
        for name in FEW_CELLS:
            entry = record["cells"].get(name, {}).get(change)
            cell = _shown_entry(entry, DRAWS, expected[name, change])
            shown.append(replace(cell, paper=printed_text(PRINTED[name])) if change == "as it is" else cell)
        rows.append(Row(change, True, tuple(shown)))
    columns = tuple(CELLS[name].title if "R^" not in name else name for name in FEW_CELLS)
    return Grid(None, f"The paper's reading with one thing changed, {DRAWS} draws", columns, tuple(rows))


def _row(method: Method, shown: Sequence[Shown]) -> Row:
    return Row(method.title, method.given_dim, tuple(shown))


def _feasible_shown(record: Record, cell: Cell, key: str) -> Shown:
    return _shown(record, cell, key) if feasible(key, cell) else Shown(notes=("not run: too many rows",))


def _shown(record: Record, cell: Cell, key: str) -> Shown:
    entry = record["cells"].get(cell.name, {}).get(key)
    return _shown_entry(entry, n_draws(key, cell), fingerprint(cell_task(cell, key).describe()))


def _shown_entry(entry: Record | None, total: int, expected: str) -> Shown:
    """The draws of one stored entry, `total` of them if complete, measured as the fingerprint says or not."""
    if entry is None or not entry["draws"]:
        return Shown()
    draws = entry["draws"]
    scores = [draw["accuracy"] for draw in draws]
    seconds = [draw["seconds"] for draw in draws]
    devices = sorted({draw["device"] for draw in draws if "device" in draw})
    notes = [f"on {device}" for device in devices]
    if len(draws) != total:
        notes.append(f"{len(draws)} draws" if len(draws) > total else f"{len(draws)} of {total} draws")
    stale = entry["fingerprint"] != expected
    if stale:
        notes.append("other parameters")
    return Shown(
        accuracy=round(sum(scores) / len(scores), 3),
        seconds=rounded_seconds(sum(seconds) / len(seconds)),
        lowest=min(scores),
        highest=max(scores),
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
            group = {i: rows[i][column] for i in alike if not rows[i][column].stale}
            most = max((cell.accuracy for cell in group.values() if cell.accuracy is not None), default=None)
            times = {i: cell.seconds for i, cell in group.items() if cell.seconds is not None and not cell.device}
            least = min(times.values(), default=None)
            for i, cell in group.items():
                if cell.accuracy is not None:
                    rows[i][column] = replace(
                        cell, best=cell.accuracy == most, fastest=i in times and times[i] == least
                    )
    changed = tuple(replace(row, cells=tuple(cells)) for row, cells in zip(grid.rows, rows, strict=True))
    return replace(grid, rows=changed)


def rounded_seconds(seconds: float) -> float:
    """Seconds rounded to the digits that tables show, so that times that look equal are equal."""
    return round(seconds, _decimals(seconds))


def _decimals(seconds: float) -> int:
    return 2 if seconds < 1 else 1 if seconds < 10 else 0


def printed_text(printed: Printed | None) -> str:
    """Published accuracy and time as text."""
    return "N/A" if printed is None else f"{printed.accuracy:.2f} ({printed.seconds:,} s)"
