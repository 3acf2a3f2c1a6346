"""Angles between the flats of clusters."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subspaces._core.drawing import new_axes
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer
from subspaces.flats.angles import principal_angles
from subspaces.flats.flats import Flats
from subspaces.show.look import check_has, cluster_names, label_array, on_host
from subspaces.show.models import assigns_by_flats

# With more clusters, numbers in the cells would be too small to read.
MOST_ANNOTATED = 12
RIGHT_ANGLE = 90.0


class AnglesDisplay:
    """Heat map of the smallest principal angle between the flats of each pair of clusters, in degrees.

    A small angle means that two clusters are hard to separate by their directions; flats that share a direction have
    angle zero. Two flats whose dimensions sum to more than p always share directions: those zero angles are ignored,
    and the smallest remaining angle is shown. Centres are not used. The diagonal shows the dimension of each flat.

    Use `from_estimator` or `from_flats` to create one.

    Parameters
    ----------
    angles : array-like of shape (K, K)
        Degrees, symmetric.
    names : sequence or None
        Names of the clusters. None numbers them.
    dims : array-like of shape (K,) or None
        Dimension of each flat, shown on the diagonal.

    Attributes
    ----------
    ax_, figure_, im_ :
        Matplotlib axes, figure and image.

    Examples
    --------
    >>> from subspaces.plots import AnglesDisplay
    >>> display = AnglesDisplay([[0.0, 45.0], [45.0, 0.0]], names=["horse", "cart"], dims=[3, 2])
    >>> display.names, display.angles[0].tolist()
    (['horse', 'cart'], [0.0, 45.0])
    """

    def __init__(self, angles: ArrayLike, names: Any = None, dims: ArrayLike | None = None) -> None:
        self.angles = np.asarray(angles, dtype=np.float64)
        if self.angles.ndim != 2 or len(set(self.angles.shape)) != 1 or not self.angles.size:
            raise InputError(f"angles have shape {self.angles.shape}: pass a square matrix (K, K), one row per cluster")
        self.names = list(range(len(self.angles)) if names is None else names)
        self.dims = None if dims is None else np.asarray(dims)
        for name, given in (("names", self.names), ("dims", self.dims)):
            if given is not None and len(given) != len(self.angles):
                raise InputError(f"{len(given)} {name} for {len(self.angles)} clusters: pass one for each cluster")

    @classmethod
    def from_estimator(cls, model: Any, *, max_dim: int | None = None, ax: Any = None, **kw: Any) -> Self:
        """Plot the angles of `model.cluster_bases_`, or of `flats_` if it has one flat per cluster, as in `KFlats`.

        The leading `cluster_dims_` directions of each flat are compared, but at most `max_dim`: flats of many
        dimensions share some directions, so comparing a few of them is more informative. The diagonal shows
        `cluster_dims_`. Empty clusters and clusters of dimension zero are left out. `kw` is passed to `Axes.imshow`.
        """
        names = ("cluster_bases_", "flats_") if assigns_by_flats(model) else ("cluster_bases_",)
        name = check_has(model, names, "pass a model with one flat per cluster, as FLS or KFlats, or use from_flats")
        flats: Flats = getattr(model, name)
        used = np.isin(np.arange(len(flats)), cluster_names(label_array(model.labels_)))
        dims = np.where(used, getattr(model, "cluster_dims_", flats.dim), 0)
        compared = np.minimum(dims, flats.dim)
        if max_dim is not None:
            compared = np.minimum(compared, check_integer("max_dim", max_dim, low=1))
        return cls._of_flats(flats, dims, compared).plot(ax, **kw)

    @classmethod
    def from_flats(cls, flats: Flats, *, dims: ArrayLike | None = None, ax: Any = None, **kw: Any) -> Self:
        """Plot the angles between `flats` (K), using the first `dims` (K,) columns of their bases, by default all.

        Flats of dimension zero are left out. `kw` is passed to `Axes.imshow`.
        """
        counts = np.full(len(flats), flats.dim) if dims is None else np.asarray(dims)
        if counts.shape != (len(flats),) or (counts > flats.dim).any():
            raise InputError(
                f"dims={counts.tolist()} do not fit {len(flats)} flats of dimension {flats.dim}: pass one number per "
                f"flat, at most {flats.dim}"
            )
        return cls._of_flats(flats, counts, counts).plot(ax, **kw)

    @classmethod
    def _of_flats(cls, flats: Flats, dims: NDArray[Any], compared: NDArray[Any]) -> Self:
        """A display of flats of dimensions `dims` (K,), of which the first `compared` (K,) directions are compared."""
        kept = np.flatnonzero(compared > 0)
        if not len(kept):
            raise InputError("all flats are points (dimension 0): angles need flats of dimension 1 or more")
        return cls(flat_angles(flats[kept], compared[kept]), kept.tolist(), dims[kept])

    def plot(self, ax: Any = None, **kw: Any) -> Self:
        """Draw into `ax`, or into a new figure; `kw` is passed to `Axes.imshow`."""
        count = len(self.angles)
        side = float(np.clip(1.6 + 0.34 * count, 3.2, 7.0))
        ax = new_axes(ax, width=side + 0.8, height=side)
        own = np.ma.masked_array(self.angles, np.eye(count, dtype=bool))
        ax.set_facecolor("0.93")
        self.im_ = ax.imshow(own, **({"cmap": "viridis", "vmin": 0.0, "vmax": RIGHT_ANGLE} | kw))
        ax.spines[:].set_visible(False)
        step = -(-count // 20)
        ticks, names = range(0, count, step), [str(name) for name in self.names[::step]]
        ax.set_xticks(ticks, names)
        ax.set_yticks(ticks, names)
        ax.tick_params(length=0, labelsize=8)
        ax.set_xlabel("cluster", fontsize=9)
        ax.set_ylabel("cluster", fontsize=9)
        if count <= MOST_ANNOTATED:
            self._annotate(ax)
        bar = ax.figure.colorbar(self.im_, ax=ax, shrink=0.8)
        bar.set_label("smallest angle (degrees)", fontsize=9)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _annotate(self, ax: Any) -> None:
        """Write degrees into the cells and dimensions onto the diagonal."""
        # Four letters, each about 0.6 times as wide as high, must fit into a cell.
        frame = ax.get_window_extent()
        cell = min(frame.width, frame.height) * 72 / ax.figure.figure.dpi / len(self.angles)
        size = min(7.5, cell / 2.6)
        style = {"ha": "center", "va": "center", "fontsize": size}
        for (i, j), angle in np.ndenumerate(self.angles):
            if i != j:
                ax.text(j, i, f"{angle:.0f}", color="black" if self.im_.norm(angle) > 0.55 else "white", **style)
        for k, dim in enumerate(self.dims if self.dims is not None else ()):
            ax.text(k, k, f"d={dim}", color="0.35", **style)


def flat_angles(flats: Flats, dims: ArrayLike) -> NDArray[np.float64]:
    """Smallest angle, in degrees, between the first `dims` (K,) directions of each pair of flats: (K, K).

    Angles that are zero only because the dimensions sum to more than p are ignored if others are left.
    """
    bases = [basis[:, :dim] for basis, dim in zip(on_host(flats.bases), np.asarray(dims), strict=True)]
    angles = np.zeros((len(bases), len(bases)))
    for i, first in enumerate(bases):
        for j in range(i):
            angles[i, j] = angles[j, i] = np.degrees(smallest_angle(first, bases[j]))
    return angles


def smallest_angle(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Smallest principal angle, in radians, between bases (p, d) and (p, e), beyond those that must be zero."""
    angles = principal_angles(first, second)
    shared = max(0, first.shape[1] + second.shape[1] - len(first))
    return float(angles[min(shared, len(angles) - 1)])
