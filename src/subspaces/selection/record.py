"""What an estimator chose without labels: every question, the answers it tried, and why one won."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subspaces._core.errors import InputError, MissingPackageError

# A table fits a terminal of this many columns, none of its cells is wider than that, and it has no more rows.
TABLE_WIDTH = 96
CELL_WIDTH = 40
TABLE_ROWS = 8
# A picture shows no more candidates than this, and is this many inches wide.
PICTURE_ROWS = 40
PICTURE_WIDTH = 8.0
# Blue and grey differ in lightness too, so that every eye and every printer tells the winner from the rest.
WINNER_COLOR = "#0072B2"
OTHER_COLOR = "#9A9A9A"
# Names and reasons are drawn as they are: a dollar sign or an underscore in them is no formula.
AS_IT_IS = {"parse_math": False, "usetex": False}
NOTHING = "Nothing was left to choose."


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Decision:
    """One question, the answers that were tried, and why one won.

    In a candidate, the keys before the score tell what it was; the score and what follows are its figures. Two
    decisions are equal where `to_dict` tells the same of both.
    """

    name: str  # what was decided: "n_clusters", "flats", "partition", ...
    winner: int  # index into candidates
    score: str  # key of the candidates' figure that decided
    reason: str  # one sentence: why the winner won
    candidates: tuple[Mapping[str, Any], ...]  # one mapping for each thing tried: what it was and every score of it
    larger_is_better: bool = True  # False where small scores are good; the winner need not have the best

    def __post_init__(self) -> None:
        # Copies: a mapping that its maker goes on writing into must not change what was decided.
        candidates = tuple({key: _unboxed(value) for key, value in each.items()} for each in self.candidates)
        if not 0 <= self.winner < len(candidates):
            raise InputError(
                f"winner={self.winner} of the decision {self.name!r} must be the index of one of its "
                f"{len(candidates)} candidates"
            )
        object.__setattr__(self, "candidates", candidates)
        object.__setattr__(self, "winner", int(self.winner))

    @property
    def chosen(self) -> Mapping[str, Any]:
        """What won, with every score of it."""
        return self.candidates[self.winner]

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values that JSON can hold; see `Choice.to_dict`."""
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

        Candidates that differ in one number become a line over it, others a row of dots each with the best on top.
        Without `ax` a new figure is made, as high as the candidates need.
        """
        return Choice((self,)).plot(ax)[0]

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Decision) else NotImplemented

    def __repr__(self) -> str:
        return "\n".join(_table(self))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Choice:
    """Everything an estimator decided from the rows.

    Print it for a table, `plot` it for a picture, ask it for one decision by name.

    >>> tried = ({"n_clusters": 2, "modularity": 0.31}, {"n_clusters": 3, "modularity": 0.52})
    >>> choice = Choice((Decision("n_clusters", 1, "modularity", "the largest modularity", tried),))
    >>> choice
    n_clusters: the largest modularity
        n_clusters  modularity
      *          3      0.5200
                 2      0.3100
    >>> choice["n_clusters"].chosen["n_clusters"]
    3
    """

    decisions: tuple[Decision, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes even with `allow_nan=False`.

        `{"decisions": [...]}`, each with the keys `name`, `winner`, `score`, `larger_is_better`, `reason` and
        `candidates`. NumPy scalars and arrays become Python's numbers and lists, NaN and the infinities None, and what
        JSON has no word for becomes its `str`.
        """
        return {"decisions": [decision.to_dict() for decision in self.decisions]}

    def plot(self, ax: Any = None) -> Any:
        """Draw every decision below the one before, and return the matplotlib Axes as an array (n_decisions,).

        The figure is that of `choice.plot()[0].figure`. Give `ax` to draw a single decision into it.
        """
        if ax is not None and len(self) > 1:
            raise InputError(
                f"ax has room for one decision, and there are {len(self)}: leave it out, or draw one of them by "
                f"choice[{self.decisions[0].name!r}].plot(ax)"
            )
        if ax is None:
            grid = _new_axes([_height(decision) for decision in self.decisions] or [1.0])
        else:
            grid = np.array([ax])
        for decision, axes in zip(self.decisions, grid, strict=False):
            _draw(decision, axes)
        # Titles are wrapped to the width that the longest label leaves, known once all is laid out; the figure of a
        # part of a figure is the whole.
        grid[0].figure.figure.draw_without_rendering()
        for decision, axes in zip(self.decisions, grid, strict=False):
            _entitle(decision, axes)
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
        raise KeyError(f"no decision is called {name!r}; those there are: {names}")

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Choice) else NotImplemented

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.decisions)) or NOTHING


def _unboxed(value: Any) -> Any:
    """A NumPy scalar, or an array of one, as the Python value in it."""
    return value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value


def plain(value: Any) -> Any:
    """`value` from what JSON knows."""
    value = _unboxed(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    return str(value)


def _number(value: Any) -> float:
    """A score to sort and draw by; NaN for what is not a number."""
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # an integer beyond floats
        return math.inf if value > 0 else -math.inf


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(text: Any) -> str:
    """One line of printable characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(str(text).split()))


def _cell(value: Any) -> str:
    """A value as short as a table wants it."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        # Four digits, and none after the point where there are four before it.
        return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:#.4g}"
    text = _words(value)
    return text if len(text) <= CELL_WIDTH else text[: CELL_WIDTH - 3] + "..."


def _keys(decision: Decision) -> list[str]:
    """The keys of all candidates, in order of first appearance."""
    return list(dict.fromkeys(key for candidate in decision.candidates for key in candidate))


def _best(decision: Decision, count: int) -> list[int]:
    """Indices of the winner and the candidates of the best scores, `count` in all, best first."""
    sign = -1 if decision.larger_is_better else 1
    scores = [sign * _number(candidate.get(decision.score)) for candidate in decision.candidates]
    order = sorted(range(len(scores)), key=lambda i: (math.isnan(scores[i]), scores[i]))
    # Sorting is stable, so the winner is taken first and then goes back to its place.
    kept = sorted(order, key=lambda i: i != decision.winner)[:count]
    return [i for i in order if i in kept]


def _table(decision: Decision) -> list[str]:
    """The lines that tell of a decision: what and why, then the best candidates."""
    rows = _best(decision, TABLE_ROWS)
    columns = {key: _column(decision, key, rows) for key in _keys(decision)}
    # The marks take four columns, the gaps two each, and there is one gap less than cells.
    shown, room = [], TABLE_WIDTH - 4 + 2
    # The score is shown whatever else finds no room.
    for key in sorted(columns, key=lambda key: key != decision.score):
        width = len(columns[key][0]) + 2
        if width <= room:
            shown.append(key)
            room -= width
    lines = textwrap.wrap(f"{_words(decision.name)}: {_words(decision.reason)}", TABLE_WIDTH, subsequent_indent="  ")
    cells = zip(*(column for key, column in columns.items() if key in shown), strict=True)
    marks = ["    ", *("  * " if i == decision.winner else "    " for i in rows)]
    lines += [(mark + "  ".join(row)).rstrip() for mark, row in zip(marks, cells, strict=False)]
    if len(rows) < len(decision.candidates):
        lines.append(f"    ... and {len(decision.candidates) - len(rows)} more")
    if len(shown) < len(columns):
        hidden = ", ".join(_cell(key) for key in columns if key not in shown)
        lines += textwrap.wrap(f"not shown: {hidden}", TABLE_WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines


def _column(decision: Decision, key: str, rows: Sequence[int]) -> list[str]:
    """A heading and cells of equal width: numbers to the right, words to the left."""
    values = [decision.candidates[i][key] for i in rows if key in decision.candidates[i]]
    cells = [_cell(key), *(_cell(each[key]) if key in each else "" for each in (decision.candidates[i] for i in rows))]
    width = max(map(len, cells))
    return [cell.rjust(width) if all(map(_is_number, values)) else cell.ljust(width) for cell in cells]


def _what(decision: Decision) -> list[str]:
    """The keys that tell candidates apart: those before the score, fractions among them only where they are needed."""
    keys = _keys(decision)
    before = keys[: keys.index(decision.score)] if decision.score in keys else keys
    whole = [key for key in before if not any(isinstance(each.get(key), float) for each in decision.candidates)]
    for some in (whole, before, [key for key in keys if key != decision.score]):
        # What all candidates share says nothing about one of them.
        telling = [key for key in some if len({_cell(each.get(key, "")) for each in decision.candidates}) > 1]
        labels = {tuple(_cell(each.get(key, "")) for key in telling) for each in decision.candidates}
        if len(labels) == len(decision.candidates) > 1:
            return telling
    return whole or before


def _is_numbered(decision: Decision) -> bool:
    """Whether candidates are one number each, as n_clusters = 2, ..., 10 are: then a line says more than dots."""
    what = _what(decision)
    if len(what) != 1:
        return False
    numbers = [each.get(what[0]) for each in decision.candidates]
    return (
        len(set(map(_number, numbers))) == len(numbers) > 2
        and all(map(_is_number, numbers))
        and all(math.isfinite(_number(each)) for each in numbers)
    )


def _label(decision: Decision, index: int, what: Sequence[str]) -> str:
    """What a candidate is, in words: values that are words speak for themselves, others need their name."""
    candidate = decision.candidates[index]
    if len(what) == 1 and what[0] in candidate:
        return _cell(candidate[what[0]])
    parts = [
        _cell(candidate[key]) if isinstance(candidate[key], str) else f"{_cell(key)} {_cell(candidate[key])}"
        for key in what
        if key in candidate
    ]
    return textwrap.shorten(", ".join(parts), 56, placeholder=" ...") or f"candidate {index}"


def _new_axes(heights: Sequence[float]) -> Any:
    """Axes (n,) of a new figure, one below the other, with so many inches for each."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingPackageError("the picture needs matplotlib: pip install matplotlib") from None

    figsize = (PICTURE_WIDTH, sum(heights))
    figure, grid = pyplot.subplots(len(heights), 1, figsize=figsize, height_ratios=heights, squeeze=False)
    # The padding is the room between one decision and the title of the next.
    figure.set_layout_engine("constrained", h_pad=0.12)
    return grid[:, 0]


def _height(decision: Decision) -> float:
    """Inches that the picture of a decision needs, its title included."""
    return 3.2 if _is_numbered(decision) else 1.25 + 0.22 * min(len(decision.candidates), PICTURE_ROWS)


def _draw(decision: Decision, ax: Any) -> None:
    """All of a decision's picture but the title."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    if _is_numbered(decision):
        _draw_line(decision, ax)
    else:
        _draw_dots(decision, ax)


def _score_label(decision: Decision) -> str:
    return f"{_cell(decision.score)} ({'larger' if decision.larger_is_better else 'smaller'} is better)"


def _draw_line(decision: Decision, ax: Any) -> None:
    """The score over the one number that candidates differ in."""
    from matplotlib.ticker import MaxNLocator

    (key,) = _what(decision)
    points = sorted((_number(each[key]), _number(each.get(decision.score))) for each in decision.candidates)
    ax.plot(*zip(*points, strict=True), "o-", color=OTHER_COLOR, markersize=5, linewidth=1.2)
    number, score = decision.chosen[key], _number(decision.chosen.get(decision.score))
    ax.axvline(number, color=WINNER_COLOR, linewidth=0.8, linestyle=":", zorder=1)
    ax.plot([number], [score], "D", color=WINNER_COLOR, markersize=8, zorder=3)
    if all(isinstance(each[key], int) for each in decision.candidates):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0.04, y=0.12)
    ax.set_xlabel(f"{_cell(key)} (chosen: {_cell(number)})", fontsize=9, **AS_IT_IS)
    ax.set_ylabel(_score_label(decision).replace(" (", "\n("), fontsize=9, **AS_IT_IS)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _draw_dots(decision: Decision, ax: Any) -> None:
    """One row for each candidate, the best on top, with a dot at its score."""
    # Points from top to bottom, a quarter of them left to the title; labels below 5 points cannot be read.
    height = 0.75 * ax.get_window_extent().height * 72 / ax.figure.dpi
    rows = _best(decision, max(1, min(PICTURE_ROWS, int(height / 7))))
    what = _what(decision)
    for place, i in enumerate(rows):
        value = decision.candidates[i].get(decision.score)
        won = i == decision.winner
        color = WINNER_COLOR if won else OTHER_COLOR
        if math.isfinite(_number(value)):
            ax.plot([_number(value)], [place], "D" if won else "o", color=color, markersize=8 if won else 6, zorder=3)
        else:
            text = "no score" if value is None else _cell(value)
            ax.text(
                0.01, place, text, color=color, fontsize=8, va="center", transform=ax.get_yaxis_transform(), **AS_IT_IS
            )
    size = min(9.0, 0.75 * height / len(rows))
    ax.set_yticks(range(len(rows)), [_label(decision, i, what) for i in rows], fontsize=size, **AS_IT_IS)
    for tick, i in zip(ax.get_yticklabels(), rows, strict=True):
        if i == decision.winner:
            tick.set(fontweight="bold", color=WINNER_COLOR)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.margins(x=0.04)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    if len(what) == 1 and what[0] != decision.name:
        ax.set_ylabel(_cell(what[0]), fontsize=9, **AS_IT_IS)
    more = len(decision.candidates) - len(rows)
    ax.set_xlabel(_score_label(decision) + (f"; {more} more not shown" if more else ""), fontsize=9, **AS_IT_IS)


def _entitle(decision: Decision, ax: Any) -> None:
    """The name in bold and the reason below it, wrapped to the width of the axes."""
    # A letter of 9 points is about 5 points wide.
    columns = max(20, int(ax.get_window_extent().width * 72 / ax.figure.dpi / 4.9))
    reason = textwrap.wrap(_words(decision.reason), columns)
    ax.annotate(
        "\n".join(reason), (0, 1), xytext=(0, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize=9, color="0.35", va="bottom", **AS_IT_IS,
    )  # fmt: skip
    ax.set_title(
        _words(decision.name), loc="left", fontsize=11, fontweight="bold", pad=9 + 12 * len(reason), **AS_IT_IS
    )
