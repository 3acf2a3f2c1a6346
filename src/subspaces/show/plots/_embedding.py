"""Rows as a model sees them, in two coordinates."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.errors import InputError
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

# A legend of more lines needs another column.
LEGEND_LINES = 20


class EmbeddingDisplay:
    """A scatter of embedded rows, coloured by cluster, outliers grey.

    Use it to see whether clusters are apart, and which of them touch. `from_estimator` is the usual way to make one.

    Parameters
    ----------
    points : array-like of shape (n, 2) or (n, 1)
        Where rows are drawn; with one coordinate they are spread over the height so that they do not hide each other.
    labels : array-like of shape (n,)
        Cluster of each row; -1 for outliers.
    axis_labels : pair of str
        What the coordinates are.
    n_rows : int or None
        How many rows there are, if not all of them are drawn.

    Attributes
    ----------
    ax_, figure_ :
        Where it was drawn.

    Examples
    --------
    >>> from subspaces.show.plots import EmbeddingDisplay
    >>> display = EmbeddingDisplay([[0, 0], [1, 1], [1, 0]], [0, 1, -1])
    >>> display.sizes
    {0: 1, 1: 1, -1: 1}
    """

    def __init__(
        self,
        points: ArrayLike,
        labels: ArrayLike,
        *,
        axis_labels: tuple[str, str] = ("coordinate 1", "coordinate 2"),
        n_rows: int | None = None,
    ) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        if self.points.ndim != 2 or self.points.shape[1] not in (1, 2) or not len(self.points):
            raise InputError(f"points have shape {self.points.shape}: pass one or two coordinates of each row, (n, 2)")
        self.labels = label_array(labels, len(self.points))
        self.axis_labels = axis_labels
        self.n_rows = len(self.points) if n_rows is None else n_rows

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        labels: ArrayLike | None = None,
        components: tuple[int, int] = (0, 1),
        max_points: int = 5000,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Draw the rows of `X` (n, p) in two of the coordinates that `model.transform` gives.

        For models of one flat a cluster, as `KFlats`, these are principal components of the distances to the flats.
        Colours are those of `labels` (n,), or of `model.predict`. Of more than `max_points` rows some are drawn. `kw`
        goes to `Axes.scatter`.
        """
        from subspaces.estimators.kflats import FlatsClustering

        check_has(
            model,
            ("transform",),
            "pass coordinates of your own, EmbeddingDisplay(points, labels), or a model like FLS or KFlats",
        )
        rows, index = thin(X, max_points)
        found = model.predict(rows) if labels is None else label_array(labels, count_rows(X))[index]
        table = on_host(model.transform(rows)).astype(np.float64)
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        name = "spectral embedding, coordinate" if hasattr(last, "eigenvalues_") else "transformed rows, coordinate"
        if isinstance(last, FlatsClustering):
            table, name = principal_components(table), "distances to flats, principal component"
        chosen = chosen_components(components, table.shape[1])
        axis_labels = [f"{name} {c + 1}" for c in chosen] + [""]
        display = cls(
            table[:, chosen], on_host(found), axis_labels=(axis_labels[0], axis_labels[1]), n_rows=count_rows(X)
        )
        return display.plot(ax, **kw)

    @property
    def sizes(self) -> dict[Any, int]:
        """Number of drawn rows of each cluster that has any, outliers last."""
        names = cluster_names(self.labels)
        names += [OUTLIER] if (self.labels == OUTLIER).any() else []
        return {name: int((self.labels == name).sum()) for name in names}

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` goes to `Axes.scatter`."""
        sizes = self.sizes
        names = cluster_names(self.labels)
        n_columns = -(-len(sizes) // LEGEND_LINES)
        ax = new_axes(ax, width=5.3 + 0.9 * n_columns, height=4.2)
        points = with_height(self.points)
        # Many rows need small marks, few can have large ones.
        style = {"s": float(np.clip(24_000 / len(points), 8, 26)), "linewidths": 0.0, "alpha": 0.75} | kw
        if OUTLIER in sizes:
            own = self.labels == OUTLIER
            label = f"outliers ({sizes[OUTLIER]:,})"
            crosses = {"c": GREY, "marker": "x"} | style | {"linewidths": 0.7}
            ax.scatter(*points[own].T, label=label, **crosses)
        for name, (color, marker) in zip(names, looks(names), strict=True):
            own = self.labels == name
            ax.scatter(*points[own].T, label=f"{name} ({sizes[name]:,})", **({"c": color, "marker": marker} | style))
        ax.set_xlabel(self.axis_labels[0], fontsize=9)
        ax.set_ylabel(self.axis_labels[1], fontsize=9)
        ax.margins(0.04)
        if self.points.shape[1] == 1:
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)
        if len(self.points) < self.n_rows:
            ax.set_title(f"{len(self.points):,} of {self.n_rows:,} rows", loc="left", fontsize=9, color="0.35")
        add_legend(ax, n_columns)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def count_rows(X: Any) -> int:
    """Number of rows of an array, a table or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def principal_components(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Principal components (n, min(n, K)) of the columns of `table` (n, K)."""
    vectors, values, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    # The sign of a component is arbitrary; its largest entry is positive here, whatever the library says.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return vectors * values * np.where(signs == 0, 1, signs)


def chosen_components(components: tuple[int, int], count: int) -> list[int]:
    """The columns to draw of `count`: two, or the only one there is."""
    if count == 1 and tuple(components) == (0, 1):
        return [0]
    if len(components) != 2 or not all(0 <= c < count for c in components):
        raise InputError(
            f"components={tuple(components)} are not two of the {count} coordinates there are: give two numbers from 0 "
            f"to {count - 1}"
        )
    return list(components)


def with_height(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (n, 2); those on a line are spread over heights by the golden ratio, which repeats nowhere."""
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 0], np.arange(len(points)) * 0.6180339887498949 % 1])


def add_legend(ax: Any, n_columns: int) -> None:
    """Clusters and their sizes beside the axes, outliers last, with marks that can be seen."""
    handles, names = ax.get_legend_handles_labels()
    if names and names[0].startswith("outliers ("):
        handles, names = [*handles[1:], handles[0]], [*names[1:], names[0]]
    legend = ax.legend(
        handles, names, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, ncols=n_columns,
        fontsize=7.5, title="cluster (rows)", title_fontsize=7.5, frameon=False, handletextpad=0.2, columnspacing=0.8,
        labelspacing=0.35,
    )  # fmt: skip
    for handle in legend.legend_handles:
        handle.set(sizes=[22], alpha=1)
