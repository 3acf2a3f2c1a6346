"""The record of a choice without labels: each decision, its candidates with their scores, and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from subspaces._core.errors import InputError
from subspaces._core.plain import plain, unboxed
from subspaces.selection.record_plot import add_title, draw, height_of, new_axes
from subspaces.selection.record_text import table_lines
from subspaces.selection.record_words import answer, summary_html, summary_lines

NOTHING = "Nothing was left to choose."
MORE = "print(choice_.details()) lists every candidate with all its figures."


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Decision:
    """One decision: the candidates, the winner and the reason.

    In a candidate, the keys before the score identify it; the score and the keys after it are its figures. Two
    decisions are equal if their `to_dict` are equal.
    """

    name: str  # what was decided: "n_clusters", "flats", "partition", ...
    winner: int  # index into candidates
    score: str  # key of the candidates' figure that decided
    reason: str  # one sentence: why the winner won
    candidates: tuple[Mapping[str, Any], ...]  # one mapping for each thing tried: what it was and every score of it
    larger_is_better: bool = True  # the winner need not have the best score

    def __post_init__(self) -> None:
        # Copy the candidates, so that later changes of a mapping do not change the record.
        candidates = tuple({key: unboxed(value) for key, value in each.items()} for each in self.candidates)
        if not 0 <= self.winner < len(candidates):
            raise InputError(
                f"winner={self.winner} of the decision {self.name!r} must be the index of one of its "
                f"{len(candidates)} candidates"
            )
        object.__setattr__(self, "candidates", candidates)
        object.__setattr__(self, "winner", int(self.winner))

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The winner with all its scores."""
        return self.candidates[self.winner]

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values for JSON; see `Choice.to_dict`."""
        return {
            "name": self.name,
            "winner": self.winner,
            "score": self.score,
            "larger_is_better": self.larger_is_better,
            "reason": self.reason,
            "candidates": [plain(candidate) for candidate in self.candidates],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the score of each candidate with the winner marked, and return the matplotlib Axes.

        Candidates that differ in one number are drawn as a line over it, others as dots, the best on top. Without `ax`
        a new figure is made.
        """
        return Choice((self,)).plot(ax)[0]

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Decision) else NotImplemented

    def __repr__(self) -> str:
        return "\n".join(table_lines(self))

    def _repr_html_(self) -> str:
        return summary_html((self,))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Choice:
    """All decisions of an estimator.

    Print it for the answer and its evidence, print `details()` for every candidate, `plot` it for a figure, or look up
    one decision by its name.

    >>> tried = ({"n_clusters": 2, "modularity": 0.31}, {"n_clusters": 3, "modularity": 0.52})
    >>> choice = Choice((Decision("n_clusters", 1, "modularity", "the largest modularity", tried),))
    >>> choice
    3 clusters were chosen.
    <BLANKLINE>
      clusters  distinctness (1 is best)
             2                      0.31
             3                      0.52  <- chosen
    <BLANKLINE>
    print(choice_.details()) lists every candidate with all its figures.
    >>> choice["n_clusters"].chosen["n_clusters"]
    3
    >>> print(choice.details())
    n_clusters: the largest modularity
        n_clusters  modularity
      *          3      0.5200
                 2      0.3100
    """

    decisions: tuple[Decision, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes even with `allow_nan=False`.

        `{"decisions": [...]}`, each with the keys `name`, `winner`, `score`, `larger_is_better`, `reason` and
        `candidates`. NumPy scalars and arrays become numbers and lists, NaN and infinities None, and anything that JSON
        does not have becomes its `str`.
        """
        return {"decisions": [decision.to_dict() for decision in self.decisions]}

    @property
    def answer(self) -> str:
        """What was chosen, in a sentence or two; empty if nothing was left to choose."""
        return answer(self.decisions)

    def details(self) -> str:
        """All decisions as text: the reason of each, and its best candidates with all their figures."""
        return "\n\n".join(map(repr, self.decisions)) or NOTHING

    def plot(self, ax: Any = None) -> Any:
        """Draw every decision below the one before, and return the matplotlib Axes as an array (n_decisions,).

        The figure is `choice.plot()[0].figure`. Give `ax` to draw a single decision into it.
        """
        if ax is not None and len(self) > 1:
            raise InputError(
                f"ax can show one decision, and there are {len(self)}: leave it out, or draw one of them by "
                f"choice[{self.decisions[0].name!r}].plot(ax)"
            )
        if ax is None:
            grid = new_axes([height_of(decision) for decision in self.decisions] or [1.0])
        else:
            grid = np.array([ax])
        for decision, axes in zip(self.decisions, grid, strict=False):
            draw(decision, axes)
        # Titles are wrapped to the width that labels leave, which is known after the layout; `figure.figure` is the
        # whole figure if this is a subfigure.
        grid[0].figure.figure.draw_without_rendering()
        for decision, axes in zip(self.decisions, grid, strict=False):
            add_title(decision, axes)
        if not self.decisions:
            grid[0].set_axis_off()
            grid[0].text(0.5, 0.5, NOTHING, ha="center", va="center", transform=grid[0].transAxes)
        return grid

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
        raise KeyError(f"unknown decision {name!r}; known: {names}")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Choice) else NotImplemented

    def __repr__(self) -> str:
        if not self.decisions:
            return NOTHING
        return "\n".join([*summary_lines(self.decisions), "", MORE])

    def _repr_html_(self) -> str:
        if not self.decisions:
            return f"<p>{NOTHING}</p>"
        return summary_html(self.decisions) + "<p><code>print(choice_.details())</code> lists every candidate.</p>"
