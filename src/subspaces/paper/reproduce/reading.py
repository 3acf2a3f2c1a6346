"""What the gaps of the paper do to its results: the paper's reading with one thing changed at a time.

The paper does not state sigma, the number of landmarks, how landmark points are chosen and whether flats are linear,
and "PCA" may or may not subtract the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from subspaces.features.thresholds import PAPER_SIGMA
from subspaces.paper.reproduce.methods import METHODS, rough_seconds
from subspaces.paper.reproduce.tables import TABLES, Cell
from subspaces.paper.reproduce.task import Task

READING_METHODS = ("fls-paper",)
DRAWS = 5
SIGMAS = (0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.3, 0.4, 0.6)
LANDMARKS = (125, 250, 500, 1000, 2000)
CELLS = {cell.name: cell for table in TABLES for cell in table.cells}
# Published results of FLS.
PRINTED = {cell.name: table.printed(METHODS["fls-paper"], cell) for table in TABLES for cell in table.cells}
# Curves over numbers, and their axes.
AXES = {"sigma": "sigma", "landmarks": "number of landmarks D"}
# Numbers of landmarks and the changes of CHANGES are tried on these data sets.
FEW_CELLS = (
    "(4,5,6) R^10 30%",
    "MNIST 4,9",
    "MNIST 2,5,7,8,9",
    "Extended Yale B, 8 persons",
    "penDigits",
)
# Title of a change, and its parameters; `vectors` is added to K - 1 eigenvectors.
CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "linear flats": {"affine": False},
    "random landmarks": {"landmarks": "random"},
    "images centred": {"centred": True},
    'sigma "auto"': {"sigma": "auto"},
    "K eigenvectors": {"vectors": 1},
    "K + 1 eigenvectors": {"vectors": 2},
}


def reading_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All curves and changes."""
    if not methods:
        return []
    tasks = []
    for seed in range(draws or DRAWS):
        for cell in CELLS.values():
            tasks += [_task(cell, "sigma", value, seed, sigma=value) for value in SIGMAS]
        for name in FEW_CELLS:
            tasks += [_task(CELLS[name], "landmarks", value, seed, n_landmarks=value) for value in LANDMARKS]
            for place, (title, changed) in enumerate(CHANGES.items()):
                tasks.append(_task(CELLS[name], title, place, seed, **changed))
    return tasks


def _task(
    cell: Cell, curve: str, value: float, seed: int, *, centred: bool = False, vectors: int = 0, **changed: Any
) -> Task:
    method = METHODS["fls-paper"]
    spec = method.spec(cell.dim)
    given = {**spec["given"], "sigma": PAPER_SIGMA, **changed}
    if vectors:
        given["n_components"] = cell.n_clusters - 1 + vectors
    return Task(
        cell=cell.name,
        method=f"{curve} {value:g}" if curve in AXES else curve,
        data=cell.data if centred else cell.data_for(method),
        estimator={**spec, "given": given},
        n_clusters=cell.n_clusters,
        seed=seed,
        weight=rough_seconds("fls-paper", *cell.shape) * given.get("n_landmarks", 1000) / 1000,
        tags={"curve": curve, "value": value, "series": cell.name},
    )
