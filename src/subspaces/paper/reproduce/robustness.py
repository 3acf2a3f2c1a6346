"""Accuracy under noise, outliers, small angles, unequal sizes and mixed dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from subspaces.paper.reproduce.methods import METHODS, rough_seconds
from subspaces.paper.reproduce.task import Spec, Task

ROBUSTNESS_METHODS = ("fls", "lbf", "kmeans", "nystroem", "spectral")
DRAWS = 5
LARGEST = 400
WIDTH = 20
BASE: dict[str, Any] = {"dims": [3, 4, 5], "ambient_dim": WIDTH, "noise": 0.05, "outliers": 0.05}

AXES = {
    "noise": "noise (standard deviation of each coordinate)",
    "outliers": "share of outliers",
    "angle": "angle between subspaces (degrees)",
    "sizes": "largest cluster : smallest",
    "dimensions": "largest dimension - smallest",
}


def curves() -> dict[str, dict[float, Spec]]:
    """Data by curve and value. Each curve varies one property of the base model."""
    tilted = {"dim": 4, "ambient_dim": WIDTH, "n_subspaces": 3, "noise": 0.05, "outliers": 0.05}
    return {
        "noise": {value: _model(noise=value) for value in (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)},
        "outliers": {value: _model(outliers=value) for value in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)},
        "angle": {value: {"set": "tilted", "angle": value, **tilted} for value in (10, 15, 20, 30, 45, 60, 90)},
        "sizes": {value: _model(points_per_subspace=_sizes(value)) for value in (1, 2, 5, 10, 20)},
        "dimensions": {2 * value: _model(dims=[5 - value, 5, 5 + value]) for value in (0, 1, 2, 3, 4)},
    }


def _model(**changed: Any) -> Spec:
    return {"set": "subspaces", **BASE, **changed}


def _sizes(ratio: int) -> list[int]:
    """Three sizes in geometric progression, from the largest to 1 / ratio of it."""
    return [LARGEST, round(LARGEST / ratio**0.5), LARGEST // ratio]


def robustness_tasks(methods: Sequence[str], draws: int | None) -> list[Task]:
    """All methods on the same draws of all points of all curves."""
    return [
        Task(
            cell=f"{curve} {value:g}",
            method=key,
            data=data,
            estimator=METHODS[key].spec(None),
            n_clusters=3,
            seed=seed,
            weight=rough_seconds(key, 900, WIDTH),
            tags={"curve": curve, "value": value, "series": key},
        )
        for curve, points in curves().items()
        for value, data in points.items()
        for key in methods
        for seed in range(draws or DRAWS)
    ]
