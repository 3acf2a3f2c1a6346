"""What an estimator chose without labels: every question, the answers it tried, and why one won."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Decision:
    """One question, the answers that were tried, and why one won."""

    name: str  # what was decided: "n_clusters", "flats", "partition", ...
    winner: int  # index into candidates
    score: str  # key of the candidates' figure that decided
    reason: str  # one sentence: why the winner won
    candidates: tuple[Mapping[str, Any], ...]  # one mapping for each thing tried: what it was and every score of it
    larger_is_better: bool = True  # False where the smallest score wins

    @property
    def chosen(self) -> Mapping[str, Any]:
        """What won, with every score of it."""
        return self.candidates[self.winner]


@dataclass(frozen=True, slots=True)
class Choice:
    """Everything an estimator decided from the rows."""

    decisions: tuple[Decision, ...]

    def __len__(self) -> int:
        return len(self.decisions)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.decisions)

    def __contains__(self, name: object) -> bool:
        return any(decision.name == name for decision in self.decisions)

    def __getitem__(self, name: str) -> Decision:
        for decision in self.decisions:
            if decision.name == name:
                return decision
        names = ", ".join(repr(decision.name) for decision in self.decisions) or "none"
        raise KeyError(f"no decision is called {name!r}; those there are: {names}")
