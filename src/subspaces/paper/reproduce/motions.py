"""Published settings of other methods on motions: every sequence of Hopkins155 that is at hand is one draw."""

from __future__ import annotations

from collections.abc import Sequence

from subspaces.paper.reproduce.tables import Cell, cell_task
from subspaces.paper.reproduce.task import Task

MOTION_METHODS = ("fls", "ssc", "ssc-motions", "slbf-motions", "lbf-motions", "kflats-motions")
# One minus the mean error of Elhamifar and Vidal (2013) over all 120 sequences of two motions and 35 of three.
PUBLISHED_MOTIONS = {"ssc-motions": ("0.985", "0.956")}
MOTION_CELLS = tuple(
    Cell(
        name=f"{count} motions",
        title=f"{count} motions",
        data={"set": "motions", "n_motions": count},
        n_clusters=count,
        dim=3,
        draws=draws,
        shape=(300, 60),
    )
    for count, draws in ((2, 36), (3, 10))
)


def motion_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All methods on all sequences, or on the first `draws`."""
    return [
        cell_task(cell, key, seed)
        for cell in MOTION_CELLS
        for key in methods
        for seed in range(min(draws or cell.draws, cell.draws))
    ]
