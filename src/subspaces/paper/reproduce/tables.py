"""The tables: data, preprocessing, draws, and the dimension of the subspaces.

The four tables of the paper, and one beyond it: FLS and the clustering methods of scikit-learn on complete data sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from subspaces._core.errors import InputError
from subspaces.paper.reproduce.methods import METHODS, Method, rough_seconds
from subspaces.paper.reproduce.published import DIGITS, PUBLISHED, SYNTHETIC, Printed
from subspaces.paper.reproduce.task import Spec, Task

# Above this number of rows, SSC runs on the device, if one is given, and once: draws differ in the seed of k-means.
LARGE = 8000
BEYOND_METHODS = ("fls", "kmeans", "nystroem", "spectral")
# Spectral clustering of a neighbour graph, and SSC as published, are skipped above this number of rows: they take too
# long.
MOST_ROWS = {"spectral": 20_000, "ssc-paper": 20_000}


@dataclass(frozen=True, slots=True)
class Cell:
    """One data set of a table."""

    name: str
    title: str
    data: Spec
    n_clusters: int
    dim: int
    draws: int
    shape: tuple[int, int]
    codes_data: Spec | None = None  # data for SSC and SSSC, if different
    reading_data: Spec | None = None  # data for the paper's reading, if different

    def data_for(self, method: Method) -> Spec:
        """The data that the paper uses for this method."""
        if method.reading and self.reading_data is not None:
            return self.reading_data
        return self.codes_data if method.codes and self.codes_data is not None else self.data


@dataclass(frozen=True, slots=True)
class Table:
    """One table of the paper, or the part of it that belongs to one experiment."""

    number: int
    caption: str
    experiment: str
    published: str  # key of PUBLISHED
    cells: tuple[Cell, ...]

    def printed(self, method: Method, cell: Cell) -> Printed | None:
        """Published result of the method; None for N/A."""
        if method.paper is None:
            raise InputError(f"the paper has no results of {method.title}.")
        return PUBLISHED[self.published][method.paper][self.cells.index(cell)]


def _synthetic(outliers: float) -> tuple[Cell, ...]:
    models = (((2, 2), 6, 2), ((4, 5, 6), 10, 5), ((5, 6, 7), 20, 6), ((3, 4, 5, 6, 7), 80, 5))
    titles = ("(2, 2) in R⁶", "(4, 5, 6) in R¹⁰", "(5, 6, 7) in R²⁰", "(3, 4, 5, 6, 7) in R⁸⁰")
    return tuple(
        Cell(
            name=f"{name} {outliers:.0%}",
            title=title,
            data={"set": "subspaces", "dims": list(dims), "ambient_dim": width, "outliers": outliers},
            n_clusters=len(dims),
            dim=dim,
            draws=10,
            shape=(int(250 * len(dims) / (1 - outliers)), width),
        )
        for name, title, (dims, width, dim) in zip(SYNTHETIC, titles, models, strict=True)
    )


def _mnist() -> tuple[Cell, ...]:
    rows = (13007, 11791, 17651, 17900, 29444, 54077)
    return tuple(
        Cell(
            name=f"MNIST {name}",
            title=f"[{name.replace('-', '–').replace(',', ', ')}]",
            data={"set": "mnist", "digits": digits, "n_components": 80},
            n_clusters=len(digits),
            dim=3,
            draws=10,
            shape=(n_rows, 80),
            reading_data={"set": "mnist", "digits": digits, "n_components": 80, "center": False},
        )
        for name, digits, n_rows in zip(DIGITS, map(_digits, DIGITS), rows, strict=True)
    )


def _digits(name: str) -> list[int]:
    return list(range(1, 10)) if name == "1-9" else [int(digit) for digit in name.split(",")]


def _faces(drop: int) -> Spec:
    return {"set": "faces", "n_persons": 8, "n_components": 80, "drop_components": drop}


FACES = Cell(
    name="Extended Yale B, 8 persons",
    title="Extended Yale B, 8 persons",
    data=_faces(2),
    n_clusters=8,
    dim=3,
    draws=10,
    shape=(510, 78),
    codes_data=_faces(0),
    reading_data={**_faces(2), "center": False},
)
PEN_DIGITS = Cell("penDigits", "penDigits", {"set": "pendigits"}, 10, 3, 10, (7494, 16))

TABLES = (
    Table(1, "Synthetic data, 5 % outliers", "synthetic", "synthetic 5%", _synthetic(0.05)),
    Table(2, "Synthetic data, 30 % outliers", "synthetic", "synthetic 30%", _synthetic(0.3)),
    Table(3, "MNIST, training images", "mnist", "mnist", _mnist()),
    Table(4, "Extended Yale B", "faces", "faces", (FACES,)),
    Table(4, "penDigits", "pendigits", "pendigits", (PEN_DIGITS,)),
)

_ALL_DIGITS: Spec = {"set": "mnist", "digits": list(range(10)), "n_components": 80, "subset": "all"}
_ALL_FACES: Spec = {"set": "faces", "n_persons": None, "n_components": 80, "drop_components": 2}
_ALL_PEN_DIGITS: Spec = {"set": "pendigits", "subset": "all"}
BEYOND_CELLS = (
    Cell("MNIST, all images", "MNIST, all ten digits", _ALL_DIGITS, 10, 3, 3, (70_000, 80)),
    Cell("Extended Yale B, 38 persons", "Extended Yale B, 38 persons", _ALL_FACES, 38, 3, 3, (2414, 78)),
    Cell("penDigits, all rows", "penDigits, all rows", _ALL_PEN_DIGITS, 10, 3, 3, (10_992, 16)),
)


def cell_task(cell: Cell, key: str, seed: int = 0, device: str = "cpu") -> Task:
    """One draw of one method on one data set."""
    return Task(
        cell=cell.name,
        method=key,
        data=cell.data_for(METHODS[key]),
        estimator=METHODS[key].spec(cell.dim),
        n_clusters=cell.n_clusters,
        seed=seed,
        weight=rough_seconds(key, *cell.shape),
        device=device if key == "ssc" and cell.shape[0] > LARGE else "cpu",
    )


def table_tasks(experiment: str, methods: Sequence[str], draws: int | None, device: str) -> list[Task]:
    """All tasks of the tables of one experiment."""
    return [
        cell_task(cell, key, seed, device)
        for table in TABLES
        if table.experiment == experiment
        for cell in table.cells
        for key in methods
        if feasible(key, cell)
        for seed in range(draws or n_draws(key, cell))
    ]


def n_draws(key: str, cell: Cell) -> int:
    """Number of draws of a method on a data set."""
    return 1 if key in ("ssc", "ssc-paper") and cell.shape[0] > LARGE else cell.draws


def feasible(key: str, cell: Cell) -> bool:
    """Whether the method can be run on the data set in reasonable time."""
    return cell.shape[0] <= MOST_ROWS.get(key, cell.shape[0])


def beyond_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All draws of each method on each data set on which it is feasible."""
    return [
        cell_task(cell, key, seed)
        for cell in BEYOND_CELLS
        for key in methods
        if feasible(key, cell)
        for seed in range(draws or cell.draws)
    ]
