"""Distances to flats where rows are not NumPy arrays: one product and one elementwise kernel for each block of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from subspaces._array import Array, Constants, lowest, namespace
from subspaces._blocks import row_blocks
from subspaces.flats import Flats

# A device works best on large blocks: products of a block take about this many bytes.
DEVICE_BYTES = 2**30


class DeviceFlats:
    """Squared distances to `flats`, as a function of rows of any array library."""

    def __init__(self, flats: Flats) -> None:
        self.count, self.dim = len(flats), flats.dim
        self.linear = flats.dim > 0 and flats.is_linear
        # As in `flats.distances_to`: near the origin distances lose no digits, and a centre moved along its flat to
        # the point nearest to the origin is orthogonal to the basis.
        wide = Flats(flats.centers.astype(np.float64), flats.bases.astype(np.float64))
        origin = np.zeros(flats.centers.shape[1]) if self.linear else np.median(wide.centers, axis=0)
        centers = wide.centers - origin
        centers = centers - np.einsum("mpd,md->mp", wide.bases, np.einsum("mpd,mp->md", wide.bases, centers))
        slices = [wide.bases[:, :, k] for k in range(self.dim)]
        stacked = np.concatenate(slices if self.linear else [*slices, -2 * centers]).T
        self._constants = Constants(np.ascontiguousarray(stacked), origin, np.einsum("mp,mp->m", centers, centers))

    def table(self, x: Array) -> Array:
        """Squared distances (n, m) of rows (n, p)."""
        xp = namespace(x)
        stacked, origin, offsets = self._constants.like(x)
        rows = x if self.linear else x - origin
        products = rows @ stacked
        along = xp.reshape(products[:, : self.dim * self.count], (rows.shape[0], self.dim, self.count))
        result = xp.sum(rows * rows, axis=1, keepdims=True) - xp.sum(along * along, axis=1)
        if not self.linear:
            result = result + products[:, self.dim * self.count :] + offsets
        # Rounding can dip below zero.
        return xp.clip(result, 0.0, None)

    def nearest(self, x: Array, count: int) -> tuple[Array, Array]:
        """Squared distances (n, r) and indices (n, r) of the r = min(count, m) nearest flats, nearest first."""
        xp = namespace(x)
        found = [lowest(self.table(rows), min(count, self.count)) for rows in self.blocks(x)]
        values, index = zip(*found, strict=True)
        return xp.concat(values, axis=0), xp.concat(index, axis=0)

    def blocks(self, x: Array) -> Iterator[Array]:
        """Rows (n, p) in blocks whose products fit."""
        row_bytes = 2 * (self.dim + 2) * self.count * namespace(x).finfo(x.dtype).bits // 8
        for rows in row_blocks(x.shape[0], row_bytes, budget=DEVICE_BYTES):
            yield x[rows, :]
