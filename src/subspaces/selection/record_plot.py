"""Decisions as figures: the scores of all candidates, with the winner marked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from subspaces._core.drawing import AS_IT_IS, COLORS, check_matplotlib
from subspaces.selection.record_text import (
    best_candidates,
    candidate_label,
    cell,
    is_numbered,
    naming_keys,
    number_of,
    one_line,
)

if TYPE_CHECKING:
    from subspaces.selection.record import Decision

# Largest number of candidates in a figure, and its width in inches.
FIGURE_ROWS = 40
FIGURE_WIDTH = 8.0
# Blue and grey also differ in lightness, so the winner stands out in greyscale.
WINNER_COLOR = COLORS[0]
OTHER_COLOR = "#9A9A9A"


def new_axes(heights: Sequence[float]) -> Any:
    """Axes (n,) of a new figure, one below the other, of the given heights in inches."""
    check_matplotlib()
    from matplotlib import pyplot

    figsize = (FIGURE_WIDTH, sum(heights))
    figure, grid = pyplot.subplots(len(heights), 1, figsize=figsize, height_ratios=heights, squeeze=False)
    # Space between one decision and the title of the next.
    figure.set_layout_engine("constrained", h_pad=0.12)
    return grid[:, 0]


def height_of(decision: Decision) -> float:
    """Height in inches of the plot of a decision, with its title."""
    return 3.2 if is_numbered(decision) else 1.25 + 0.22 * min(len(decision.candidates), FIGURE_ROWS)


def draw(decision: Decision, ax: Any) -> None:
    """Draw a decision without its title."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=9)
    if is_numbered(decision):
        _draw_line(decision, ax)
    else:
        _draw_dots(decision, ax)


def _score_label(decision: Decision) -> str:
    return f"{cell(decision.score)} ({'larger' if decision.larger_is_better else 'smaller'} is better)"


def _draw_line(decision: Decision, ax: Any) -> None:
    """Draw the score over the number in which candidates differ."""
    from matplotlib.ticker import MaxNLocator

    (key,) = naming_keys(decision)
    points = sorted((number_of(each[key]), number_of(each.get(decision.score))) for each in decision.candidates)
    ax.plot(*zip(*points, strict=True), "o-", color=OTHER_COLOR, markersize=5, linewidth=1.2)
    number, score = decision.chosen[key], number_of(decision.chosen.get(decision.score))
    ax.axvline(number, color=WINNER_COLOR, linewidth=0.8, linestyle=":", zorder=1)
    ax.plot([number], [score], "D", color=WINNER_COLOR, markersize=8, zorder=3)
    _name_winner(ax, number, score)
    if all(isinstance(each[key], int) for each in decision.candidates):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0.04, y=0.12)
    ax.set_xlabel(f"{cell(key)} (chosen: {cell(number)})", fontsize=9, **AS_IT_IS)
    ax.set_ylabel(_score_label(decision).replace(" (", "\n("), fontsize=9, **AS_IT_IS)
    ax.grid(axis="y", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)


def _draw_dots(decision: Decision, ax: Any) -> None:
    """Draw one row for each candidate, the best on top, with a dot at its score."""
    # Height in points, a quarter of it for the title; labels below 5 points cannot be read.
    height = 0.75 * ax.get_window_extent().height * 72 / ax.figure.dpi
    rows = best_candidates(decision, max(1, min(FIGURE_ROWS, int(height / 7))))
    what = naming_keys(decision)
    for place, i in enumerate(rows):
        value = decision.candidates[i].get(decision.score)
        won = i == decision.winner
        color = WINNER_COLOR if won else OTHER_COLOR
        if math.isfinite(number_of(value)):
            ax.plot([number_of(value)], [place], "D" if won else "o", color=color, markersize=8 if won else 6, zorder=3)
            if won:
                _name_winner(ax, number_of(value), place)
        else:
            text = "no score" if value is None else cell(value)
            ax.text(
                0.01, place, text, color=color, fontsize=8, va="center", transform=ax.get_yaxis_transform(), **AS_IT_IS
            )
    size = min(9.0, 0.75 * height / len(rows))
    ax.set_yticks(range(len(rows)), [candidate_label(decision, i, what) for i in rows], fontsize=size, **AS_IT_IS)
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
        ax.set_ylabel(cell(what[0]), fontsize=9, **AS_IT_IS)
    more = len(decision.candidates) - len(rows)
    ax.set_xlabel(_score_label(decision) + (f"; {more} more not shown" if more else ""), fontsize=9, **AS_IT_IS)


def _name_winner(ax: Any, x: float, y: float) -> None:
    """Write beside the mark of the winner that it was chosen."""
    ax.annotate(
        "chosen",
        (x, y),
        xytext=(8, 5),
        textcoords="offset points",
        fontsize=8,
        color=WINNER_COLOR,
        zorder=4,
        **AS_IT_IS,
    )


def add_title(decision: Decision, ax: Any) -> None:
    """Add the name in bold and the reason below it, wrapped to the width of the axes."""
    # A letter of 9 points is about 5 points wide.
    columns = max(20, int(ax.get_window_extent().width * 72 / ax.figure.dpi / 4.9))
    reason = textwrap.wrap(one_line(decision.reason), columns)
    ax.annotate(
        "\n".join(reason), (0, 1), xytext=(0, 6), xycoords="axes fraction", textcoords="offset points",
        fontsize=9, color="0.35", va="bottom", **AS_IT_IS,
    )  # fmt: skip
    ax.set_title(
        one_line(decision.name), loc="left", fontsize=11, fontweight="bold", pad=9 + 12 * len(reason), **AS_IT_IS
    )
