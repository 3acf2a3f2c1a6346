"""Labels of rows by the cluster that encodes them in the fewest nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from subspaces._core.arrays import (
    Array,
    Constants,
    Indices,
    Labels,
    concatenate,
    is_host,
    memory_of,
    namespace,
    to_host,
)
from subspaces._core.blocks import row_blocks
from subspaces._core.offload import on_device
from subspaces.flats.cells import Cell
from subspaces.flats.description import Code

# The length of a row in a cluster takes as long as this many multiplications of a product for each entry. Speed only.
LENGTH_WORK = 4


@dataclass(frozen=True, eq=False)
class CodedClusters:
    """A Gaussian around a flat for each cluster, in some principal columns of the rows."""

    directions: Array  # (q, c), rows are projected on these columns
    center: Array  # (c,), subtracted from projected rows
    unit: float  # then rows are divided by it
    cells: Sequence[Cell | None]  # (K,), None for a cluster without rows

    def reordered(self, order: Indices) -> CodedClusters:
        """The same clusters in another order (K,)."""
        return replace(self, cells=tuple(self.cells[k] for k in order))

    def labels(self, rows: Array) -> Labels:
        """The cluster (n,) that encodes each row (n, q) in the fewest nats, label included."""
        xp = namespace(rows)
        return xp.astype(xp.argmin(self.lengths(rows), axis=1), xp.int32)

    def shares(self, rows: Array) -> Array:
        """The probability (n, K) of each cluster for each row (n, q), from the nats it takes there."""
        lengths = self.lengths(rows)
        xp = namespace(lengths)
        weights = xp.exp(xp.min(lengths, axis=1, keepdims=True) - lengths)
        return weights / xp.sum(weights, axis=1, keepdims=True)

    def lengths(self, rows: Array) -> Array:
        """Nats (n, K) of each row (n, q) in each cluster, label included."""
        if not is_host(rows):
            return self._device_lengths(rows)
        moved = on_device(rows, LENGTH_WORK * rows.size * len(self.cells))
        if moved is not None:
            return to_host(self._device_lengths(moved))
        blocks = row_blocks(len(rows), 8 * (rows.shape[1] + 4 * len(self.center)))
        return concatenate([self._lengths(rows[block]) for block in blocks])

    def _lengths(self, rows: Array) -> Array:
        """The same for NumPy rows, one cluster after another."""
        dtype = rows.dtype
        measured = (rows @ self.directions.astype(dtype) - self.center.astype(dtype)) / self.unit
        table = np.full((len(rows), len(self.cells)), np.inf, dtype)
        for k, cell in enumerate(self.cells):
            if cell is None:
                continue
            offsets = measured - cell.center.astype(dtype)
            along = (offsets @ cell.basis.astype(dtype)) ** 2
            beside = np.maximum((offsets**2).sum(axis=1) - along.sum(axis=1), 0)
            squares = along @ (1 / cell.variances).astype(dtype) + beside / cell.noise
            table[:, k] = squares / 2 + self._level(cell)
        return table

    def _device_lengths(self, rows: Array) -> Array:
        """The same for rows of any array library, all clusters at once."""
        xp = namespace(rows)
        directions, origin, centers, bases, factors, noise, levels = self._stacked.like(rows)
        found = []
        for block in row_blocks(rows.shape[0], self._row_bytes(rows), budget=memory_of(rows) // 64):
            measured = (rows[block, :] @ directions - origin) / self.unit
            offsets = measured[None, :, :] - centers
            along = xp.matmul(offsets, bases) ** 2
            beside = xp.sum(offsets * offsets, axis=2) - xp.sum(along, axis=2)
            beside = xp.where(beside > 0, beside, xp.zeros_like(beside))
            # Clusters without rows have a level of infinity.
            found.append((xp.matmul(along, factors)[:, :, 0] + beside * noise) / 2 + levels)
        return xp.permute_dims(found[0] if len(found) == 1 else xp.concat(found, axis=1), (1, 0))

    def _row_bytes(self, rows: Array) -> int:
        """Bytes of one row on a device: its offsets from all clusters, and their squares."""
        return 4 * len(self.cells) * len(self.center) * namespace(rows).finfo(rows.dtype).bits // 8

    @cached_property
    def _stacked(self) -> Constants:
        """Everything that is needed of all clusters at once; bases are filled up with zeros."""
        k, c = len(self.cells), len(self.center)
        width = max([cell.basis.shape[1] for cell in self.cells if cell], default=0)
        centers, bases, factors = np.zeros((k, 1, c)), np.zeros((k, c, width)), np.zeros((k, width, 1))
        noise, levels = np.zeros((k, 1)), np.full((k, 1), np.inf)
        for i, cell in enumerate(self.cells):
            if cell is not None:
                dim = cell.basis.shape[1]
                centers[i, 0], bases[i, :, :dim], factors[i, :dim, 0] = cell.center, cell.basis, 1 / cell.variances
                noise[i], levels[i] = 1 / max(cell.noise, float(np.finfo(np.float32).tiny)), self._level(cell)
        return Constants(self.directions, self.center, centers, bases, factors, noise, levels)

    def _level(self, cell: Cell) -> float:
        """Nats of the centre of a cluster and of its label."""
        return cell.level + float(np.log(sum(each.size for each in self.cells if each) / cell.size))


def coded_clusters(code: Code, directions: Array) -> CodedClusters:
    """The clusters of a code whose rows are in the columns `directions` (q, c); one without rows takes no row."""
    return CodedClusters(directions, code.space.center, code.space.unit, tuple(code.cells))
