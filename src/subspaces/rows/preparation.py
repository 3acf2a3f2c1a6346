"""Preparation of rows inside an estimator: centring, projection on principal directions, scaling to unit norm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import Array, Labels, fixed, is_host, unit_rows
from subspaces._core.blocks import row_blocks
from subspaces._core.numbering import numbered
from subspaces._core.pca import WIDE_BYTES, n_used_directions, principal_directions, scatter
from subspaces._core.validation import is_auto
from subspaces.flats.flats import Flats
from subspaces.rows.moments import Moments
from subspaces.rows.thresholds import GRAIN_QUANTILE, GRAIN_SHAPE, LEAST_SPREAD, MAX_COLUMNS


@dataclass(frozen=True, slots=True)
class RowPreparation:
    """The map from rows (n, p) of a user to rows (n, q) that a method works on."""

    mean: Array  # (p,), zero if rows are not centred
    directions: Array | None  # (p, q) orthonormal, or None for no projection
    unit: bool  # whether rows are scaled to unit norm
    whitener: Array | None = None  # (q, q) symmetric, or None for no whitening
    scale: Array | None = None  # (p,), by which columns are divided, or None

    def __call__(self, x: Array) -> Array:
        """Prepared rows (n, q)."""
        if self.directions is None or not is_host(x):
            return self.shaped(self._projected(x))
        # In blocks, because wide rows would be copied whole to be centred.
        rows = np.empty((len(x), self.directions.shape[1]), x.dtype)
        for block in row_blocks(len(x), 3 * x.shape[1] * x.itemsize, budget=WIDE_BYTES):
            rows[block] = self._projected(x[block])
        return self.shaped(rows)

    def _projected(self, x: Array) -> Array:
        """Rows (n, q) centred, divided by their scales and projected."""
        rows = x - fixed(self.mean, x)
        if self.scale is not None:
            rows = rows / fixed(self.scale, x)
        return rows if self.directions is None else rows @ fixed(self.directions, x)

    def shaped(self, rows: Array) -> Array:
        """Centred and projected rows (n, q), whitened and scaled to unit norm."""
        if self.whitener is not None:
            rows = rows @ fixed(self.whitener, rows)
        return unit_rows(rows) if self.unit else rows

    @property
    def plain(self) -> RowPreparation:
        """The same without whitening and scaling."""
        return replace(self, unit=False, whitener=None)

    def restore(self, flats: Flats) -> Flats:
        """Flats of the prepared space as flats of the user's space.

        Exact except for affine flats of rows scaled to unit norm, which are not flats before scaling: these are given
        as the flats of the unscaled rows with the same centres and directions.
        """
        if self.whitener is not None:
            inverse = np.linalg.inv(self.whitener.astype(np.float64)).astype(flats.centers.dtype)
            bases = np.linalg.qr(np.einsum("pq,mqd->mpd", inverse, flats.bases))[0]
            flats = Flats(flats.centers @ inverse, bases)
        if self.directions is not None:
            bases = np.einsum("pq,mqd->mpd", self.directions, flats.bases)
            flats = Flats(flats.centers @ self.directions.T, bases)
        if self.scale is not None:
            flats = Flats(flats.centers * self.scale, np.linalg.qr(flats.bases * self.scale[:, None])[0])
        return Flats(flats.centers + self.mean, flats.bases)


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How rows are centred and projected."""

    center: bool = True
    max_columns: int | None = MAX_COLUMNS  # None projects only rows that are fewer than their columns
    min_columns: int = 2
    standardise: bool = False  # whether columns are divided by their standard deviations

    @classmethod
    def for_dimension(
        cls, dim: int | None, *, center: bool = True, max_columns: int | str | None = "auto"
    ) -> RowOptions:
        """Options for flats of a given dimension; None if it is still to be chosen."""
        if is_auto(max_columns):
            max_columns = max(MAX_COLUMNS, 2 * (dim or 0))
        return cls(center, max_columns, 1 + (dim or 1))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRows:
    """Rows centred and projected, but not scaled."""

    rows: Array  # (n, q)
    preparation: RowPreparation  # without whitening and scaling
    centered: bool  # whether the mean was subtracted
    grain: float = 0.0  # standard deviation per column by which values are rounded

    def shaped_by(self, *, unit: bool, whiten: float) -> RowPreparation:
        """The preparation followed by whitening to a power and scaling to unit norm."""
        return replace(self.preparation, unit=unit, whitener=whitener(self.rows, whiten) if whiten else None)


def prepare(x: Array, options: RowOptions, moments: Moments | None = None) -> PreparedRows:
    """Rows of `x` (n, p) centred and projected; if `x` is a sample, `moments` are those of all rows."""
    max_columns = options.max_columns
    if max_columns is None and len(x) < x.shape[1]:
        max_columns = max(len(x), options.min_columns)
    preparation = prepare_rows(
        x,
        center=options.center,
        unit=False,
        max_columns=max_columns,
        min_columns=options.min_columns,
        moments=moments,
        scale=column_scales(x, moments) if options.standardise else None,
    )
    return PreparedRows(preparation(x), preparation, options.center, value_grain(x, preparation.scale))


def value_grain(x: Array, scale: Array | None = None) -> float:
    """Standard deviation per column by which the values of `x` (n, p) are rounded, after division by `scale` (p,).

    Values on a grid, such as whole numbers, are known to within a step of it, a uniform error. The step is a low
    quantile of the gaps between neighbouring values: for measured numbers, which lie anywhere, nearly zero.
    """
    index, columns = (np.arange(0, size, -(-size // most)) for size, most in zip(x.shape, GRAIN_SHAPE, strict=True))
    some = x[np.ix_(index, columns)].astype(np.float64)
    if scale is not None:
        some /= scale[columns]
    gaps = (np.diff(np.unique(column)) for column in some.T)
    steps = [np.quantile(each, GRAIN_QUANTILE) if len(each) else 0.0 for each in gaps]
    return float(np.sqrt(np.mean(np.square(steps)) / 12))


def whitener(rows: Array, power: float) -> Array:
    """The symmetric matrix (q, q) that whitens centred rows (n, q): wholly with power 1, half with power 0.5.

    Half whitening replaces standard deviations by their roots. Directions of hardly any variance are not stretched to
    more than `LEAST_SPREAD` allows.
    """
    values, vectors = np.linalg.eigh(scatter(rows, np.zeros(rows.shape[1], rows.dtype)))
    spread = np.sqrt(np.maximum(values / values[-1], LEAST_SPREAD**2)) if values[-1] > 0 else np.ones_like(values)
    return ((vectors * spread**-power) @ vectors.T).astype(rows.dtype)


def prepare_rows(
    x: Array,
    *,
    center: bool,
    unit: bool,
    max_columns: int | None = MAX_COLUMNS,
    min_columns: int = 2,
    moments: Moments | None = None,
    scale: Array | None = None,
) -> RowPreparation:
    """The preparation of `x` (n, p) with the given choices.

    With `max_columns`, rows are projected if p exceeds it, if there are fewer rows than many columns, or if constant or
    dependent columns leave directions that no row uses; at least `min_columns` are kept. If `x` is a sample, `moments`
    are those of all rows. Columns are first divided by `scale` (p,).
    """
    n, p = x.shape
    mean = column_means(x, moments) if center else np.zeros(p, x.dtype)
    if max_columns is None:
        return RowPreparation(mean, None, unit, scale=scale)
    count = prepared_columns(n, p, max_columns)
    if n < p and p > MAX_COLUMNS:
        # Nothing is lost in the span of the rows, and matrices of p x p would be large.
        count = min(p, max(count if count < p else n, min_columns))
    known = None
    if n >= p:
        known = scatter(x, mean) if moments is None or moments.scatter is None else moments.about(mean)
        known = known if scale is None else known / np.outer(scale, scale)
        count = min(count, max(min_columns, n_used_directions(known, x.dtype)))
    directions = None
    if count < p:
        rows, middle = (x, mean) if scale is None else (x / scale, mean / scale)
        directions = principal_directions(rows, middle, count, known=known).astype(x.dtype)
    return RowPreparation(mean, directions, unit, scale=scale)


def drop_unused(rows: Array, *, center: bool, min_columns: int) -> tuple[Array, RowPreparation]:
    """Rows (n, p) in the directions that they use, and the projection to these; rows that use all stay as they are."""
    preparation = prepare_rows(rows, center=center, unit=False, max_columns=rows.shape[1], min_columns=min_columns)
    if preparation.directions is None:
        return rows, RowPreparation(np.zeros_like(preparation.mean), None, unit=False)
    return preparation(rows), preparation


def prepared_columns(n_rows: int, n_columns: int, max_columns: int | None = MAX_COLUMNS) -> int:
    """Number of columns of prepared rows: n rows span at most n directions, and a subspace needs two."""
    if max_columns is None or n_columns <= max_columns:
        return n_columns
    return min(max_columns, max(2, n_rows))


def mean_offset(x: Array) -> float:
    """Distance of the mean of the rows of `x` (n, p) from the origin, in standard errors.

    Rows drawn from subspaces through the origin give about one. Much more is an offset of the measurement. Nearly zero
    means that the rows were centred before.
    """
    n, mean = len(x), column_means(x).astype(np.float64)
    spread = sum(np.square(x[rows] - mean).sum() for rows in row_blocks(n, 8 * x.shape[1])) / n
    offset = float(np.linalg.norm(mean))
    return offset / float(np.sqrt(spread / n)) if spread > 0 else (np.inf if offset > 0 else 0.0)


def labels_of_copies(x: Array, n_clusters: int) -> Labels | None:
    """Labels (n,) in which only equal rows of `x` (n, p) share a cluster; None if there are more distinct rows."""
    # NumPy 2.0.0 returns the inverse as a column.
    copies = np.unique(x, axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    return numbered(copies) if copies.max() < n_clusters else None


def column_means(x: Array, moments: Moments | None = None) -> Array:
    """Means (p,) of the columns of `x`, summed in float64, or those of `moments`."""
    return (x.mean(axis=0, dtype=np.float64) if moments is None else moments.mean).astype(x.dtype)


def column_variances(x: Array, moments: Moments | None = None) -> NDArray[np.float64]:
    """Variances (p,) of the columns of `x`, or those of `moments`."""
    if moments is not None:
        return moments.spread / moments.n_rows
    return np.asarray(x.var(axis=0, dtype=np.float64))


def column_scales(x: Array, moments: Moments | None = None) -> Array:
    """Standard deviations (p,) of the columns of `x`, or those of `moments`; one for constant columns."""
    variances = column_variances(x, moments)
    return np.sqrt(np.where(variances > 0, variances, 1.0)).astype(x.dtype)
