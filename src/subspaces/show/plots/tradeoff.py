"""Accuracy against time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from subspaces._core.drawing import AS_IT_IS, COLORS, GREY, new_axes
from subspaces._core.errors import InputError
from subspaces.metrics import clustering_accuracy

# Offsets of a name from its mark, in points, and its alignment. The first position without overlap is used.
PLACES = (
    (4, 4, "left", "bottom"),
    (0, 6, "center", "bottom"),
    (6, 0, "left", "center"),
    (0, -6, "center", "top"),
    (-6, 0, "right", "center"),
    (5, -5, "left", "top"),
    (-5, 5, "right", "bottom"),
    (-5, -5, "right", "top"),
    (6, 14, "left", "bottom"),
    (6, -14, "left", "top"),
)


class TradeoffDisplay:
    """Accuracy against seconds, on a logarithmic axis, with the name of each method beside its mark.

    Methods that no other method beats in both time and accuracy are blue and joined by a line. `from_models` measures;
    the constructor takes existing measurements.

    Parameters
    ----------
    seconds : array-like of shape (m,)
        Time of each method, positive.
    accuracies : array-like of shape (m,)
        Accuracy of each method.
    names : sequence of str
        Name of each method.

    Attributes
    ----------
    ax_, figure_ :
        Matplotlib axes and figure.

    Examples
    --------
    >>> from subspaces.plots import TradeoffDisplay
    >>> display = TradeoffDisplay([1.0, 2.0, 10.0], [0.8, 0.7, 0.9], ["a", "b", "c"])
    >>> display.front
    [0, 2]
    """

    def __init__(self, seconds: ArrayLike, accuracies: ArrayLike, names: Sequence[str]) -> None:
        self.seconds = np.asarray(seconds, dtype=np.float64)
        self.accuracies = np.asarray(accuracies, dtype=np.float64)
        self.names = [str(name) for name in names]
        shapes = {self.seconds.shape, self.accuracies.shape, (len(self.names),)}
        if len(shapes) != 1 or not self.names:
            raise InputError(
                f"{self.seconds.size} seconds, {self.accuracies.size} accuracies and {len(self.names)} names: pass one "
                "of each per method, for at least one method"
            )
        if not (np.isfinite(self.seconds) & (self.seconds > 0)).all():
            raise InputError(f"seconds={self.seconds.tolist()} must all be positive, because the axis is logarithmic")
        if not np.isfinite(self.accuracies).all():
            raise InputError(
                f"accuracies={self.accuracies.tolist()} must be finite: leave out methods without a result"
            )

    @classmethod
    def from_models(cls, models: Mapping[str, Any], X: Any, y: ArrayLike, *, ax: Any = None, **kw: Any) -> Self:
        """Fit a copy of each named model to `X` (n, p) and plot its time and its accuracy on the classes `y` (n,).

        The time is that of one call of `fit_predict`; models run one after another. `kw` is passed to `Axes.scatter`.
        """
        found = [_measure(model, X, y) for model in models.values()]
        return cls([each[0] for each in found], [each[1] for each in found], list(models)).plot(ax, **kw)

    @property
    def front(self) -> list[int]:
        """Indices of the methods that no faster method matches in accuracy, fastest first."""
        order = np.lexsort((-self.accuracies, self.seconds))
        best = np.maximum.accumulate(self.accuracies[order])
        gains = np.concatenate([[True], best[1:] > best[:-1]])
        return [int(i) for i in order[gains]]

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.scatter`."""
        ax = new_axes(ax)
        ax.grid(color="0.92", linewidth=0.7)
        front = self.front
        ax.plot(
            self.seconds[front], self.accuracies[front], color=GREY, linewidth=0.9, drawstyle="steps-post", zorder=1
        )
        colors = [COLORS[0] if i in front else GREY for i in range(len(self.names))]
        ax.scatter(self.seconds, self.accuracies, **({"c": colors, "s": 34, "zorder": 3} | kw))
        ax.set_xscale("log")
        self._set_limits(ax)
        ax.set_xlabel("seconds", fontsize=9)
        ax.set_ylabel("accuracy", fontsize=9)
        if len(front) > 1:
            ax.set_title("line: best accuracy within each time", loc="left", fontsize=9, color="0.35")
        place_names(ax, np.column_stack([self.seconds, self.accuracies]), self.names)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _set_limits(self, ax: Any) -> None:
        """Leave space for names beside the marks, and write seconds as plain numbers."""
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        low, high = np.log10(self.seconds.min()), np.log10(self.seconds.max())
        pad = 0.15 * max(high - low, 1.0)
        ax.set_xlim(10 ** (low - pad), 10 ** (high + 1.4 * pad))
        bottom, top = float(self.accuracies.min()), float(self.accuracies.max())
        room = 0.12 * max(top - bottom, 0.05)
        ax.set_ylim(bottom - room, top + room)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high - low > 2.5 else (1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def _measure(model: Any, X: Any, y: ArrayLike) -> tuple[float, float]:
    """Seconds to fit a copy of `model`, and its accuracy."""
    copy = clone(model)
    start = time.perf_counter()
    labels = copy.fit_predict(X)
    return max(time.perf_counter() - start, 1e-6), clustering_accuracy(y, labels)


def place_names(ax: Any, points: NDArray[np.float64], names: list[str]) -> None:
    """Write each of the `names` (m) beside its point (m, 2), at the position with the least overlap."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    # Extents of texts are known after the layout.
    ax.figure.figure.draw_without_rendering()
    pixels = ax.transData.transform(points)
    # Half the size of a mark, plus a margin.
    radius = 5 * ax.figure.figure.dpi / 72
    taken = [Bbox([place - radius, place + radius]) for place in pixels]
    frame = ax.get_window_extent()
    for point, name in zip(points, names, strict=True):
        text = ax.annotate(name, tuple(point), textcoords="offset points", xytext=(0, 0), fontsize=8, **AS_IT_IS)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        costs = []
        for place in PLACES:
            _move(text, place)
            box = text.get_window_extent()
            outside = not (frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1)
            costs.append(box.count_overlaps(taken) + 2 * outside)
        _move(text, PLACES[int(np.argmin(costs))])
        taken.append(text.get_window_extent().padded(radius / 2))


def _move(text: Any, place: tuple[int, int, str, str]) -> None:
    across, up, horizontal, vertical = place
    text.set(position=(across, up), horizontalalignment=horizontal, verticalalignment=vertical)
