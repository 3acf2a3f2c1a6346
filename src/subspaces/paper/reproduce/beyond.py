"""Beyond the paper: whole data sets, FLS beside the methods that everyone has."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.paper_tables import Cell, cell_task
from subspaces.paper.reproduce.task import Spec, Task

BEYOND_METHODS = ("fls", "kmeans", "nystroem", "spectral")
# Spectral clustering of a neighbour graph is not for more rows than this.
SPECTRAL_ROWS = 20_000

_MNIST: Spec = {"set": "mnist", "digits": list(range(10)), "n_components": 80, "subset": "all"}
_FACES: Spec = {"set": "faces", "n_persons": None, "n_components": 80, "drop_components": 2}
CELLS = (
    Cell("MNIST, all images", "MNIST, all ten digits", _MNIST, 10, 3, 3, (70_000, 80)),
    Cell("Extended Yale B, 38 persons", "Extended Yale B, 38 persons", _FACES, 38, 3, 3, (2414, 78)),
    Cell("penDigits, all rows", "penDigits, all rows", {"set": "pendigits", "subset": "all"}, 10, 3, 3, (10_992, 16)),
)


def feasible(key: str, cell: Cell) -> bool:
    """Whether the method is for so many rows."""
    return key != "spectral" or cell.shape[0] <= SPECTRAL_ROWS


def beyond_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """Every method on every data set that it is for."""
    return [
        cell_task(cell, key, seed)
        for cell in CELLS
        for key in methods
        if feasible(key, cell)
        for seed in range(draws or cell.draws)
    ]
