"""Labels of rows by the cluster that encodes them in the fewest nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subspaces._core.arrays import Array, Indices, Labels, concatenate, device, is_host, like, namespace
from subspaces._core.blocks import row_blocks
from subspaces.flats.cells import Cell
from subspaces.flats.description import Code


@dataclass(frozen=True, slots=True, eq=False)
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
            return self._lengths(rows)
        blocks = row_blocks(len(rows), 8 * (rows.shape[1] + 4 * len(self.center)))
        return concatenate([self._lengths(rows[block]) for block in blocks])

    def _lengths(self, rows: Array) -> Array:
        xp = namespace(rows)
        measured = (rows @ like(self.directions, rows) - like(self.center, rows)) / self.unit
        total = sum(cell.size for cell in self.cells if cell)
        table = []
        for cell in self.cells:
            if cell is None:
                table.append(xp.full((rows.shape[0],), xp.inf, dtype=rows.dtype, device=device(rows)))
                continue
            offsets = measured - like(cell.center, rows)
            along = (offsets @ like(cell.basis, rows)) ** 2
            beside = xp.sum(offsets**2, axis=1) - xp.sum(along, axis=1)
            beside = xp.where(beside > 0, beside, xp.zeros_like(beside))
            squares = along @ like(1 / cell.variances, rows) + beside / cell.noise
            table.append(squares / 2 + (cell.level + float(np.log(total / cell.size))))
        return xp.stack(table, axis=1)


def coded_clusters(code: Code, directions: Array) -> CodedClusters:
    """The clusters of a code whose rows are in the columns `directions` (q, c); one without rows takes no row."""
    return CodedClusters(directions, code.space.center, code.space.unit, tuple(code.cells))
