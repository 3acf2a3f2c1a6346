"""One fit to be measured: plain data, so that it can be sent to a process, kept as JSON and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A method on one draw of one data set."""

    cell: str
    method: str
    data: Spec  # what `data.load` takes
    estimator: Spec  # what `estimators.build` takes
    n_clusters: int
    seed: int
    weight: float  # seconds that it takes, roughly
    device: str = "cpu"
    tags: Spec = field(default_factory=dict)  # what tables and pictures need to know of it

    def describe(self) -> dict[str, Any]:
        """All that decides the result but the seed, as JSON can hold it."""
        from subspaces.paper.reproduce.estimators import parameters

        return {
            "data": dict(self.data),
            "n_clusters": self.n_clusters,
            "estimator": self.estimator["name"],
            "parameters": parameters(self.estimator, self.n_clusters),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task."""

    accuracy: float
    seconds: float
    shape: tuple[int, int]
    device: str | None  # name of the accelerator, None for the CPU


def fingerprint(description: Spec) -> str:
    """Equal for equal descriptions: results of one can stand for those of the other."""
    text = json.dumps(description, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
