"""How well rows fit into their clusters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError
from subspaces._core.validation import check_rows
from subspaces.show.plots._look import (
    GREY,
    OUTLIER,
    check_has,
    cluster_names,
    label_array,
    looks,
    new_axes,
    on_host,
    thin,
)

# Where the farthest row is so many times as far as the middle one, only a logarithmic axis shows both.
FAR = 8.0
WHISKERS = (5, 95)


class ResidualsDisplay:
    """Boxes of how far rows are from their clusters, a box for each cluster, whiskers from 5 to 95 percent.

    Use it to find clusters that fit badly and rows that fit nowhere. `from_estimator` is the usual way to make one.

    Parameters
    ----------
    residuals : array-like of shape (n,)
        One number for each row, the larger the worse it fits.
    labels : array-like of shape (n,)
        Cluster of each row; -1 for outliers.
    name : str
        What the numbers are.

    Attributes
    ----------
    ax_, figure_ :
        Where it was drawn.

    Examples
    --------
    >>> from subspaces.show.plots import ResidualsDisplay
    >>> display = ResidualsDisplay([0.1, 0.3, 0.2, 4.0], [0, 0, 2, -1])
    >>> [(name, values.tolist()) for name, values in display.groups]
    [(0, [0.1, 0.3]), (2, [0.2]), (-1, [4.0])]
    """

    def __init__(self, residuals: ArrayLike, labels: ArrayLike, *, name: str = "distance to the own flat") -> None:
        self.residuals = np.asarray(residuals, dtype=np.float64)
        if self.residuals.ndim != 1 or not len(self.residuals):
            raise InputError(f"residuals have shape {self.residuals.shape}: pass one number for each row, shape (n,)")
        if not np.isfinite(self.residuals).all():
            raise InputError(
                f"{(~np.isfinite(self.residuals)).sum()} residuals are not finite, and boxes need numbers: drop those "
                "rows"
            )
        self.labels = label_array(labels, len(self.residuals))
        self.name = name

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, max_points: int = 100_000, ax: Any = None, **kw: Any) -> Self:
        """Draw how far the rows of `X` (n, p) are from the clusters that `model.predict` gives them.

        That is `model.outlier_scores` where there is one, as in `FLS`, and the distance to the flat of the cluster in
        others, as `KFlats` and `SSC`. Of more than `max_points` rows some are drawn. `kw` goes to `Axes.boxplot`.
        """
        residuals, name = _measure(model)
        rows, _ = thin(X, max_points)
        labels = label_array(on_host(model.predict(rows)))
        return cls(residuals(rows, labels), labels, name=name).plot(ax, **kw)

    @property
    def groups(self) -> list[tuple[Any, NDArray[np.float64]]]:
        """The residuals of each cluster that has rows, those of outliers last."""
        names = cluster_names(self.labels)
        names += [OUTLIER] if (self.labels == OUTLIER).any() else []
        return [(name, self.residuals[self.labels == name]) for name in names]

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` goes to `Axes.boxplot`."""
        groups = self.groups
        names = cluster_names(self.labels)
        ax = new_axes(ax, width=float(np.clip(2.5 + 0.3 * len(groups), 4.5, 10.0)), height=3.6)
        ax.grid(axis="y", color="0.92", linewidth=0.7)
        style: dict[str, Any] = {
            "whis": WHISKERS,
            "widths": 0.6,
            "patch_artist": True,
            "medianprops": {"color": "black", "linewidth": 1.4},
            "flierprops": {"marker": ".", "markersize": 4, "alpha": 0.6, "markeredgewidth": 0},
        }
        boxes = ax.boxplot([values for _, values in groups], **(style | kw))
        colors = [color for color, _ in looks(names)] + [GREY] * (len(groups) - len(names))
        for box, fliers, color in zip(boxes["boxes"], boxes["fliers"], colors, strict=True):
            fliers.set_markerfacecolor(color)
            box.set(facecolor=(color, 0.45), edgecolor=color)
        if self.residuals.min() > 0 and self.residuals.max() > FAR * np.median(self.residuals):
            _set_log(ax, self.residuals)
        else:
            ax.set_ylim(bottom=min(0.0, float(self.residuals.min())))
        words = [f"{name}" for name in names] + ["out"] * (len(groups) - len(names))
        ax.set_xticks(range(1, len(groups) + 1), words, fontsize=8 if len(groups) <= 25 else 7)
        ax.tick_params(axis="x", length=0)
        ax.set_xlabel("cluster" if len(names) == len(groups) else "cluster (out: outliers)", fontsize=9)
        ax.set_ylabel(self.name, fontsize=9)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _set_log(ax: Any, residuals: NDArray[np.float64]) -> None:
    """A logarithmic axis whose marks are plain numbers, some of them between powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_yscale("log")
    # A row that happens to lie on its flat would take most of the axis.
    low, high = 0.3 * float(np.percentile(residuals, 1)), ax.get_ylim()[1]
    low = max(low, ax.get_ylim()[0])
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 1000 else (1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _measure(model: Any) -> tuple[Any, str]:
    """A function from rows (n, p) and labels (n,) to residuals (n,), and what they are."""
    from subspaces.estimators.kflats import FlatsClustering
    from subspaces.estimators.ssc import SSC

    flat = isinstance(model, FlatsClustering | SSC)
    names = ("predict",) if flat else ("outlier_scores",)
    check_has(model, names, "pass a model like FLS, KFlats or SSC, or ResidualsDisplay(residuals, labels)")
    if not flat:
        return lambda rows, labels: on_host(model.outlier_scores(rows)), "outlier score"
    distances = model.transform if isinstance(model, FlatsClustering) else lambda rows: _ssc_distances(model, rows)
    return lambda rows, labels: own_distances(on_host(distances(rows)), labels), "distance to the own flat"


def own_distances(table: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Of the distances (n, K) of rows to flats those to the flats of their clusters (n,): (n,); of outliers the least.

    A row in no cluster has no flat of its own.
    """
    own = np.take_along_axis(table, np.maximum(labels, 0)[:, None].astype(np.int64), axis=1)[:, 0]
    return np.where(labels == OUTLIER, table.min(axis=1), own)


def _ssc_distances(model: Any, rows: Any) -> NDArray[Any]:
    """Distances (n, K) of rows (n, p) to the flats of clusters, as the model scales rows."""
    from subspaces.flats.distances import distances_to

    prepared = on_host(model._preparation(check_rows(model, rows, reset=False, device=True)))
    return np.sqrt(np.maximum(distances_to(model._flats)(prepared), 0))
