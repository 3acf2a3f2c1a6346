"""Scatter plot of embedded rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.drawing import GREY, new_axes
from subspaces._core.errors import InputError
from subspaces.show.look import OUTLIER, check_has, cluster_names, label_array, looks, on_host, thin
from subspaces.show.models import assigns_by_flats

# Eigenvectors shown if an embedding has one coordinate only.
MOST_EIGENVECTORS = 4
# Longer legends get another column.
LEGEND_LINES = 20


class EmbeddingDisplay:
    """Scatter plot of embedded rows, coloured by cluster; outliers are grey.

    Use it to see whether clusters are separated, and which of them touch. Use `from_estimator` to create one.

    Parameters
    ----------
    points : array-like of shape (n, 2) or (n, 1)
        Coordinates of the rows. With one coordinate, points are spread vertically so that they do not overlap.
    labels : array-like of shape (n,)
        Cluster of each row; -1 for outliers.
    axis_labels : pair of str
        Labels of the two axes.
    n_rows : int or None
        Total number of rows, if only some of them are drawn.

    Attributes
    ----------
    ax_, figure_ :
        Matplotlib axes and figure.

    Examples
    --------
    >>> from subspaces.plots import EmbeddingDisplay
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
            raise InputError(
                f"points have shape {self.points.shape}: pass one or two coordinates per row, shape (n, 1) or (n, 2)"
            )
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
        """Plot the rows of `X` (n, p) in two of the coordinates that `model.transform` returns.

        For models with one flat per cluster, as `KFlats`, these are principal components of the distances to the
        flats. Colours show `labels` (n,), by default `model.predict(X)`. At most `max_points` rows are drawn. `kw` is
        passed to `Axes.scatter`.
        """
        check_has(
            model,
            ("transform",),
            "pass a model such as FLS or KFlats, or your own coordinates: EmbeddingDisplay(points, labels)",
        )
        rows, index = thin(X, max_points)
        found = model.predict(rows) if labels is None else label_array(labels, count_rows(X))[index]
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        if hasattr(model, "steps") and len(model.steps) > 1:
            rows = model[:-1].transform(rows)
        table, name, axis = model_coordinates(last, rows)
        chosen = chosen_components(components, table.shape[1])
        axis_labels = [f"{name.lower()}, {axis} {c + 1}" for c in chosen] + [""]
        display = cls(
            table[:, chosen], on_host(found), axis_labels=(axis_labels[0], axis_labels[1]), n_rows=count_rows(X)
        )
        return display.plot(ax, **kw)

    @property
    def sizes(self) -> dict[Any, int]:
        """Number of drawn rows of each non-empty cluster, outliers last."""
        names = cluster_names(self.labels)
        names += [OUTLIER] if (self.labels == OUTLIER).any() else []
        return {name: int((self.labels == name).sum()) for name in names}

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.scatter`."""
        sizes = self.sizes
        names = cluster_names(self.labels)
        n_columns = -(-len(sizes) // LEGEND_LINES)
        ax = new_axes(ax, width=5.3 + 0.9 * n_columns, height=4.2)
        points = with_height(self.points)
        # Marks shrink as the number of rows grows.
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
    """Number of rows of an array, table or list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def model_coordinates(model: Any, rows: Any) -> tuple[NDArray[np.float64], str, str]:
    """Rows (n, p) in the coordinates of a model with `transform`: (n, c), their name, and the name of an axis.

    If the embedding has one coordinate, as with two clusters, the eigenvectors themselves are used: two or more.
    """
    from subspaces.estimators.access import eigenvector_coordinates

    table = on_host(model.transform(rows)).astype(np.float64)
    if assigns_by_flats(model):
        return principal_components(table), "Distances to flats", "principal component"
    if table.shape[1] == 1:
        vectors = eigenvector_coordinates(model, rows, MOST_EIGENVECTORS)
        if vectors is not None and vectors.shape[1] > 1:
            return on_host(vectors).astype(np.float64), "Spectral embedding", "eigenvector"
    return table, "Spectral embedding" if hasattr(model, "eigenvalues_") else "Transformed rows", "coordinate"


def principal_components(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Principal components (n, min(n, K)) of the columns of `table` (n, K)."""
    vectors, values, _ = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    # Make signs deterministic: the largest entry of each component is positive.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return vectors * values * np.where(signs == 0, 1, signs)


def chosen_components(components: tuple[int, int], count: int) -> list[int]:
    """The columns to draw, out of `count`: two, or the only one."""
    if count == 1 and tuple(components) == (0, 1):
        return [0]
    if len(components) != 2 or not all(0 <= c < count for c in components):
        raise InputError(
            f"components={tuple(components)} must be two numbers from 0 to {count - 1}, the coordinates of the model"
        )
    return list(components)


def with_height(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (n, 2); one-dimensional points get heights from multiples of the golden ratio, which never repeat."""
    if points.shape[1] == 2:
        return points
    return np.column_stack([points[:, 0], np.arange(len(points)) * 0.6180339887498949 % 1])


def add_legend(ax: Any, n_columns: int) -> None:
    """Add a legend of clusters and their sizes beside the axes, outliers last, with larger marks."""
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
