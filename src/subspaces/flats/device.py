"""Distances to flats for rows of any array library: one product and one elementwise pass for each block of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Constants, device, has_fused_kernel, lowest, memory_of, namespace
from subspaces._core.blocks import row_blocks
from subspaces.flats.flats import Flats

# Devices work best on large blocks; the products of a block take about this many bytes, or the memory of the device
# divided by this number if that is less. Does not change results.
DEVICE_BYTES = 2**32
DEVICE_SHARE = 16


class DeviceFlats:
    """Squared distances to `flats`, as a function of rows of any array library."""

    def __init__(self, flats: Flats) -> None:
        self.count, self.dim = len(flats), flats.dim
        self.linear = flats.dim > 0 and flats.is_linear
        # As in `distances.distances_to`: near the origin distances lose no digits, and a centre moved along its flat to
        # the point nearest to the origin is orthogonal to the basis.
        stacked = flats.bases.transpose(1, 2, 0).reshape(flats.bases.shape[1], -1)
        origin = np.zeros(flats.centers.shape[1])
        offsets = np.zeros(self.count)
        if not self.linear:
            bases = flats.bases.astype(np.float64)
            origin = np.median(flats.centers.astype(np.float64), axis=0)
            centers = flats.centers - origin
            along = np.matmul(centers[:, None, :], bases)
            centers = centers - np.matmul(bases, along.transpose(0, 2, 1))[:, :, 0]
            stacked = np.concatenate([stacked, -2 * centers.T], axis=1)
            offsets = np.einsum("mp,mp->m", centers, centers)
        self._constants = Constants(np.ascontiguousarray(stacked), origin, offsets)
        self._split: dict[str, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_split": {}}

    def table(self, x: Array) -> Array:
        """Squared distances (n, m) of rows (n, p)."""
        xp = namespace(x)
        stacked, origin, offsets = self._constants.like(x)
        rows = x if self.linear else x - origin
        if has_fused_kernel(x):
            return self._fused(x).table(rows)
        products = rows @ stacked
        along = xp.reshape(products[:, : self.dim * self.count], (rows.shape[0], self.dim, self.count))
        result = xp.sum(rows * rows, axis=1, keepdims=True) - xp.sum(along * along, axis=1)
        if not self.linear:
            result = result + products[:, self.dim * self.count :] + offsets
        # Rounding can make them slightly negative.
        return xp.clip(result, 0.0, None)

    def nearest(self, x: Array, count: int) -> tuple[Array, Array]:
        """Squared distances (n, r) and indices (n, r) of the r = min(count, m) nearest flats, nearest first."""
        xp = namespace(x)
        count = min(count, self.count)
        values, index = zip(*(self._nearest(rows, count) for rows in self.blocks(x)), strict=True)
        return xp.concat(values, axis=0), xp.concat(index, axis=0)

    def _nearest(self, x: Array, count: int) -> tuple[Array, Array]:
        if not has_fused_kernel(x):
            return lowest(self.table(x), count)
        rows = x if self.linear else x - self._constants.like(x)[1]
        return self._fused(x).nearest(rows, count)

    def _fused(self, x: Array) -> Any:
        """The flats in the layout of the CUDA kernel, on the device of `x`."""
        from subspaces.flats.triton import SplitFlats

        key = str(device(x))
        if key not in self._split:
            stacked, _, offsets = self._constants.like(x)
            self._split[key] = SplitFlats(stacked, offsets, self.count, self.dim)
        return self._split[key]

    def blocks(self, x: Array) -> Iterator[Array]:
        """Rows (n, p) in blocks whose products fit into memory."""
        row_bytes = 2 * (self.dim + 2) * self.count * namespace(x).finfo(x.dtype).bits // 8
        if has_fused_kernel(x):
            row_bytes = self._fused(x).row_bytes
        for rows in row_blocks(x.shape[0], row_bytes, budget=min(DEVICE_BYTES, memory_of(x) // DEVICE_SHARE)):
            yield x[rows, :]
