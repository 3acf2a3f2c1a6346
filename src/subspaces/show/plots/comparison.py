"""Bar chart of the scores of several methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.drawing import AS_IT_IS, COLORS, new_axes
from subspaces._core.errors import InputError
from subspaces.metrics import adjusted_rand, clustering_accuracy, normalized_mutual_info, purity
from subspaces.show.look import label_array

SCORES: dict[str, Callable[[Any, Any], float]] = {
    "accuracy": clustering_accuracy,
    "ARI": adjusted_rand,
    "NMI": normalized_mutual_info,
    "purity": purity,
}
# Neighbouring bars differ in lightness, too, so that they can be distinguished in greyscale.
BARS = (COLORS[0], COLORS[1], COLORS[4], COLORS[3])


class ComparisonDisplay:
    """Bar chart of the scores of several methods, one method per line.

    Parameters
    ----------
    scores : mapping of str to mapping of str to float
        Scores of each method by name; all methods need the same scores: `{"FLS": {"accuracy": 0.9, "ARI": 0.8}, ...}`.

    Attributes
    ----------
    ax_, figure_ :
        Matplotlib axes and figure.

    Examples
    --------
    >>> from subspaces.plots import ComparisonDisplay
    >>> display = ComparisonDisplay({"a": {"accuracy": 0.9}, "b": {"accuracy": 0.7}})
    >>> display.metrics
    ['accuracy']
    """

    def __init__(self, scores: Mapping[str, Mapping[str, float]]) -> None:
        if not scores:
            raise InputError("scores is empty: pass the scores of at least one method")
        self.scores = {name: {key: float(value) for key, value in own.items()} for name, own in scores.items()}
        self.metrics = list(next(iter(self.scores.values())))
        for name, own in self.scores.items():
            if list(own) != self.metrics or not own:
                raise InputError(
                    f"{name!r} has the scores {list(own)}, the first method has {self.metrics}: pass the same for all"
                )
            if not np.isfinite(list(own.values())).all():
                raise InputError(f"the scores of {name!r}, {own}, must be finite: leave out methods without a result")

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        predictions: Mapping[str, ArrayLike],
        *,
        metrics: tuple[str, ...] = ("accuracy", "ARI", "NMI"),
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Plot how well the labels (n,) of each method agree with the classes `y_true` (n,).

        `metrics` may contain "accuracy", "ARI", "NMI" and "purity", see `subspaces.metrics`. `kw` is passed to
        `Axes.barh`.
        """
        for metric in metrics:
            if metric not in SCORES:
                raise InputError(f"metrics contains {metric!r}: the known scores are {', '.join(SCORES)}")
        scores = {
            name: {metric: SCORES[metric](y_true, label_array(labels)) for metric in metrics}
            for name, labels in predictions.items()
        }
        return cls(scores).plot(ax, **kw)

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.barh`."""
        names, count = list(self.scores), len(self.metrics)
        ax = new_axes(ax, height=float(np.clip(0.9 + (0.17 * count + 0.12) * len(names), 2.0, 12.0)))
        ax.grid(axis="x", color="0.92", linewidth=0.7)
        thick = 0.8 / count
        places = np.arange(len(names))
        for i, metric in enumerate(self.metrics):
            values = np.array([self.scores[name][metric] for name in names])
            style = {"height": 0.92 * thick, "color": BARS[i % len(BARS)]} | kw
            bars = ax.barh(places + (i - (count - 1) / 2) * thick, values, label=metric, **style)
            ax.bar_label(bars, labels=[f"{value:.3f}" for value in values], padding=2, fontsize=7)
        lowest = min(0.0, *(value for own in self.scores.values() for value in own.values()))
        # Leave space for the numbers at the ends of bars.
        ax.set_xlim(lowest - (0.1 if lowest < 0 else 0), 1.1)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_yticks(places, names, fontsize=8.5, **AS_IT_IS)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("score (1 is perfect)", fontsize=9)
        if lowest < 0:
            ax.axvline(0, color="0.4", linewidth=0.8)
        if count > 1:
            ax.legend(
                loc="lower left", bbox_to_anchor=(0, 1.0), ncols=count, fontsize=8, frameon=False, borderaxespad=0.2
            )
        else:
            ax.set_xlabel(f"{self.metrics[0]} (1 is perfect)", fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self
