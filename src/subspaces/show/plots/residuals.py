"""Box plots of how well rows fit their clusters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.drawing import GREY, new_axes
from subspaces._core.errors import InputError
from subspaces.show.look import OUTLIER, check_has, cluster_names, label_array, looks, on_host, thin
from subspaces.show.models import flat_distances

# If the largest residual exceeds the median by this factor, the axis is logarithmic.
FAR = 8.0
WHISKERS = (5, 95)


class ResidualsDisplay:
    """Box plot of the distances of rows to their clusters, one box per cluster, whiskers from 5 to 95 percent.

    Use it to find clusters that fit badly and rows that fit no cluster. Use `from_estimator` to create one.

    Parameters
    ----------
    residuals : array-like of shape (n,)
        One number for each row; larger means a worse fit.
    labels : array-like of shape (n,)
        Cluster of each row; -1 for outliers.
    name : str
        Label of the vertical axis.

    Attributes
    ----------
    ax_, figure_ :
        Matplotlib axes and figure.

    Examples
    --------
    >>> from subspaces.plots import ResidualsDisplay
    >>> display = ResidualsDisplay([0.1, 0.3, 0.2, 4.0], [0, 0, 2, -1])
    >>> [(name, values.tolist()) for name, values in display.groups]
    [(0, [0.1, 0.3]), (2, [0.2]), (-1, [4.0])]
    """

    def __init__(self, residuals: ArrayLike, labels: ArrayLike, *, name: str = "distance to own flat") -> None:
        self.residuals = np.asarray(residuals, dtype=np.float64)
        if self.residuals.ndim != 1 or not len(self.residuals):
            raise InputError(f"residuals have shape {self.residuals.shape}: pass one number per row, shape (n,)")
        if not np.isfinite(self.residuals).all():
            raise InputError(f"{(~np.isfinite(self.residuals)).sum()} residuals are not finite: drop those rows")
        self.labels = label_array(labels, len(self.residuals))
        self.name = name

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, max_points: int = 100_000, ax: Any = None, **kw: Any) -> Self:
        """Plot how far the rows of `X` (n, p) are from the clusters that `model.predict` assigns them to.

        The residual is the distance to the flat of the cluster for models such as `KFlats` and `SSC`, and
        `model.outlier_scores` for models such as `FLS`. At most `max_points` rows are used. `kw` is passed to
        `Axes.boxplot`.
        """
        residuals, name = _measure(model)
        rows, _ = thin(X, max_points)
        labels = label_array(on_host(model.predict(rows)))
        return cls(residuals(rows, labels), labels, name=name).plot(ax, **kw)

    @property
    def groups(self) -> list[tuple[Any, NDArray[np.float64]]]:
        """The residuals of each non-empty cluster, those of outliers last."""
        names = cluster_names(self.labels)
        names += [OUTLIER] if (self.labels == OUTLIER).any() else []
        return [(name, self.residuals[self.labels == name]) for name in names]

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.boxplot`."""
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
    """Make the vertical axis logarithmic, with ticks written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_yscale("log")
    # A row that lies exactly on its flat would stretch the axis.
    low, high = 0.3 * float(np.percentile(residuals, 1)), ax.get_ylim()[1]
    low = max(low, ax.get_ylim()[0])
    ax.set_ylim(low, high)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 1000 else (1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _measure(model: Any) -> tuple[Any, str]:
    """A function from rows (n, p) and labels (n,) to residuals (n,), and its name for the axis."""
    distances = flat_distances(model)
    needed = "outlier_scores" if distances is None else "predict"
    check_has(model, (needed,), "pass a model such as FLS, KFlats or SSC, or ResidualsDisplay(residuals, labels)")
    if distances is None:
        return lambda rows, labels: on_host(model.outlier_scores(rows)), "outlier score"
    return lambda rows, labels: own_distances(distances(rows), labels), "distance to own flat"


def own_distances(table: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Distance (n,) of each row to the flat of its cluster, from distances (n, K) to all flats and labels (n,).

    Outliers have no cluster: theirs is the distance to the nearest flat.
    """
    own = np.take_along_axis(table, np.maximum(labels, 0)[:, None].astype(np.int64), axis=1)[:, 0]
    return np.where(labels == OUTLIER, table.min(axis=1), own)
