"""A task is one fit to measure, described by plain values that can be sent to a process and stored as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from subspaces.paper.reproduce.provenance import estimator_source

Spec = Mapping[str, Any]
# Modules that every result depends on, beside its estimator.
MEASURING = ("subspaces.paper.reproduce.data", "subspaces.metrics.labels")


@dataclass(frozen=True, slots=True)
class Task:
    """A method on one draw of one data set."""

    cell: str
    method: str
    data: Spec  # for `data.load`
    estimator: Spec  # for `estimators.build`
    n_clusters: int
    seed: int
    weight: float  # approximate seconds
    device: str = "cpu"
    tags: Spec = field(default_factory=dict)  # for tables and figures

    def describe(self) -> dict[str, Any]:
        """Everything that determines the result except the seed, as plain values."""
        from subspaces.paper.reproduce.estimators import parameters

        return {
            "data": dict(self.data),
            "n_clusters": self.n_clusters,
            "estimator": self.estimator["name"],
            "parameters": parameters(self.estimator, self.n_clusters),
        }

    def source(self) -> str:
        """Hash of the code that the result depends on."""
        return estimator_source(self.estimator["name"], MEASURING)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a task."""

    accuracy: float
    seconds: float
    shape: tuple[int, int]
    device: str | None  # name of the accelerator, None for the CPU


def fingerprint(description: Spec) -> str:
    """Hash of a description, to decide whether stored results are still valid."""
    text = json.dumps(description, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
