"""Beyond the paper: FLS and the clustering methods of scikit-learn on complete data sets."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.paper_tables import Cell, cell_task
from subspaces.paper.reproduce.task import Spec, Task

BEYOND_METHODS = ("fls", "kmeans", "nystroem", "spectral")
# Spectral clustering of a neighbour graph is skipped above this number of rows: it takes too long.
SPECTRAL_ROWS = 20_000

_MNIST: Spec = {"set": "mnist", "digits": list(range(10)), "n_components": 80, "subset": "all"}
_FACES: Spec = {"set": "faces", "n_persons": None, "n_components": 80, "drop_components": 2}
CELLS = (
    Cell("MNIST, all images", "MNIST, all ten digits", _MNIST, 10, 3, 3, (70_000, 80)),
    Cell("Extended Yale B, 38 persons", "Extended Yale B, 38 persons", _FACES, 38, 3, 3, (2414, 78)),
    Cell("penDigits, all rows", "penDigits, all rows", {"set": "pendigits", "subset": "all"}, 10, 3, 3, (10_992, 16)),
)


def feasible(key: str, cell: Cell) -> bool:
    """Whether the method can be run on the data set in reasonable time."""
    return key != "spectral" or cell.shape[0] <= SPECTRAL_ROWS


def beyond_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All draws of each method on each data set on which it is feasible."""
    return [
        cell_task(cell, key, seed)
        for cell in CELLS
        for key in methods
        if feasible(key, cell)
        for seed in range(draws or cell.draws)
    ]
