"""Published settings of SSC on pixels of faces: every choice of eight persons of the publication is one draw."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.data import N_CHOICES
from subspaces.paper.reproduce.tables import Cell, cell_task
from subspaces.paper.reproduce.task import Task

PIXEL_METHODS = ("fls", "ssc", "ssc-paper", "ssc-omp")
# One minus the mean error of Elhamifar and Vidal (2013) over the same choices.
PUBLISHED_PIXELS = {"ssc-paper": ("0.94",)}
PIXEL_CELLS = (Cell("8 persons, pixels", "8 persons, 48 x 42 pixels", {"set": "pixels"}, 8, 9, N_CHOICES, (510, 2016)),)


def pixel_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All methods on all choices of persons, or on some."""
    return [
        cell_task(cell, key, seed)
        for cell in PIXEL_CELLS
        for key in methods
        for seed in range(min(draws or cell.draws, cell.draws))
    ]
