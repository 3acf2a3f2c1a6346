"""Eigenvalues and the gap after the K-th."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.drawing import COLORS, GREY, new_axes
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer
from subspaces.show.look import check_has, on_host


class EigengapDisplay:
    """Eigenvalues in descending order, with the gap after the K-th marked.

    K well separated clusters give K eigenvalues near one, then a gap. Use it to check whether the number of clusters
    fits the graph. If clusters touch, gaps are small and not informative.

    Parameters
    ----------
    eigenvalues : array-like of shape (m,)
        Descending, the trivial one first.
    n_clusters : int
        The number K whose gap is marked.

    Attributes
    ----------
    ax_, figure_ :
        Matplotlib axes and figure.

    Examples
    --------
    >>> from subspaces.plots import EigengapDisplay
    >>> display = EigengapDisplay([1.0, 0.9, 0.2, 0.1], n_clusters=2)
    >>> round(display.gap, 2), display.largest_gap_at
    (0.7, 2)
    """

    def __init__(self, eigenvalues: ArrayLike, n_clusters: int) -> None:
        self.eigenvalues = np.asarray(eigenvalues, dtype=np.float64)
        if self.eigenvalues.ndim != 1 or not len(self.eigenvalues):
            raise InputError(f"eigenvalues have shape {self.eigenvalues.shape}: pass at least one, shape (m,)")
        self.n_clusters = check_integer("n_clusters", n_clusters, low=1)

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **kw: Any) -> Self:
        """Plot `model.eigenvalues_` and the gap at its number of clusters; `kw` is passed to `Axes.plot`."""
        check_has(
            model, ("eigenvalues_",), "pass a spectral model such as FLS, or EigengapDisplay(eigenvalues, n_clusters)"
        )
        n_clusters = getattr(model, "n_clusters_", None)
        return cls(on_host(model.eigenvalues_), model.n_clusters if n_clusters is None else n_clusters).plot(ax, **kw)

    @property
    def gap(self) -> float | None:
        """The K-th eigenvalue minus the next; None if only K are known."""
        values, k = self.eigenvalues, self.n_clusters
        return float(values[k - 1] - values[k]) if k < len(values) else None

    @property
    def largest_gap_at(self) -> int | None:
        """Number of eigenvalues before the largest gap; None if there is only one eigenvalue."""
        return int(np.argmax(-np.diff(self.eigenvalues))) + 1 if len(self.eigenvalues) > 1 else None

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.plot`."""
        ax = new_axes(ax, height=3.4)
        from matplotlib.ticker import MaxNLocator

        values, k = self.eigenvalues, self.n_clusters
        numbers = np.arange(1, len(values) + 1)
        ax.grid(axis="y", color="0.92", linewidth=0.7)
        style = {"color": GREY, "marker": "o", "markersize": 4, "linewidth": 1.0} | kw
        ax.plot(numbers, values, label="eigenvalues", **style)
        ax.plot(numbers[:k], values[:k], "o", color=COLORS[0], markersize=5.5, label=f"first {min(k, len(values))}")
        if self.gap is not None:
            ax.axvspan(k, k + 1, color=COLORS[1], alpha=0.3, linewidth=0, zorder=0, label=f"gap at K = {k}")
        ax.set_xlim(0.5, max(len(values), k) + 0.5)
        ax.margins(y=0.08)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=12))
        ax.set_xlabel("index of the eigenvalue", fontsize=9)
        ax.set_ylabel("eigenvalue", fontsize=9)
        ax.set_title(self._title(), loc="left", fontsize=9)
        # Eigenvalues are high before K and low after it: these corners are free.
        ax.legend(fontsize=7.5, frameon=False, loc="lower left" if 2 * k > len(values) else "upper right")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _title(self) -> str:
        k, at = self.n_clusters, self.largest_gap_at
        if self.gap is None or at is None:
            return f"no eigenvalues after K = {k}, so the gap is unknown"
        if at == k:
            return f"gap at K = {k}: {self.gap:.3g}, the largest"
        values = self.eigenvalues
        return f"gap at K = {k}: {self.gap:.3g}; the largest is at {at}: {values[at - 1] - values[at]:.3g}"
