"""Distances of NumPy rows to flats, and the nearest flats of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Indices, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.offload import on_device
from subspaces._core.smallest import in_order, smallest
from subspaces._core.threads import in_threads
from subspaces.flats.device import DeviceFlats
from subspaces.flats.flats import Flats

# Rows are multiplied by about this many vectors of flats at a time, so that the products of a few hundred rows, a good
# size for BLAS, stay in cache. Does not change results beyond rounding.
TILE_VECTORS = 4500


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """m flats as a few matrices, whose products with a row give its distances to all flats."""

    origin: Array  # (p,), subtracted from rows
    offsets: Array  # (m,), squared norms of the centres
    tiles: list[Array]  # of (p, s, t): -2 times the centres unless linear, then the d basis vectors of each flat
    linear: bool

    @property
    def n_vectors(self) -> int:
        """Number of vectors in the largest tile."""
        return max(tile[0].size for tile in self.tiles)

    def squared_distances(self, x: Array, products: Array, out: Array) -> Array:
        """Squared distances (b, m) of rows (b, p), written to `out`; `products` (b * n_vectors,) is overwritten."""
        if not self.linear:
            x = x - self.origin
        squared_norms = np.einsum("np,np->n", x, x)[:, None]
        first = 0
        for tile in self.tiles:
            p, s, t = tile.shape
            product = products[: len(x) * s * t].reshape(len(x), s, t)
            np.matmul(x, tile.reshape(p, -1), out=product.reshape(len(x), -1))
            found = out[:, first : first + t]
            along = product if self.linear else product[:, 1:]
            np.einsum("bkm,bkm->bm", along, along, out=found)
            np.subtract(squared_norms, found, out=found)
            if not self.linear:
                found += product[:, 0]
                found += self.offsets[first : first + t]
            # Rounding can make them slightly negative.
            np.maximum(found, 0, out=found)
            first += t
        return out


def _stack(flats: Flats, dtype: np.dtype[Any]) -> _Stack:
    """Everything that distances of rows of this dtype need and that depends on the flats alone."""
    linear = flats.dim > 0 and flats.is_linear
    # Distances are the same after a translation, and near the origin they lose no digits. The median, because a single
    # far centre must not move the origin.
    origin = np.zeros_like(flats.centers[0]) if linear else np.median(flats.centers, axis=0).astype(flats.centers.dtype)
    # A centre moved along its flat to the point nearest the origin is orthogonal to the basis:
    # |x - c|^2 - |B'(x - c)|^2 = |x|^2 - 2 x.c + |c|^2 - |B'x|^2, and one product gives all of it.
    centers = flats.centers - origin
    centers = centers - np.einsum("mpd,md->mp", flats.bases, np.einsum("mpd,mp->md", flats.bases, centers))
    # One slice per basis vector, so that sums over the basis add contiguous rows.
    slices = flats.bases.transpose(1, 2, 0)
    columns = slices if linear else np.concatenate([-2 * centers.T[:, None], slices], axis=1)
    tiles = row_blocks(len(flats), 1, block_rows=_flats_in_tile(columns.shape[1]))
    return _Stack(
        origin.astype(dtype, copy=False),
        np.einsum("mp,mp->m", centers, centers).astype(dtype, copy=False),
        [np.ascontiguousarray(columns[:, :, tile], dtype) for tile in tiles],
        linear,
    )


def _flats_in_tile(n_vectors: int) -> int:
    """Number of flats, of `n_vectors` vectors each, in a tile."""
    return max(1, TILE_VECTORS // n_vectors)


def _distance_blocks(x: Array, stack: _Stack, finish: Callable[[slice, Array], None], out: Array | None = None) -> None:
    """Call `finish` on blocks of rows of `x` (n, p) and their squared distances (b, m), in several threads.

    The distances are rows of `out` (n, m) if it is given; otherwise their array is reused for the next block.
    """
    n_vectors, count = stack.n_vectors, len(stack.offsets)
    # Half of the usual block size, because each of several threads has its own.
    blocks = list(row_blocks(len(x), 2 * (n_vectors + count) * x.itemsize))
    most = blocks[0].stop if blocks else 0

    def make() -> Callable[[slice], None]:
        products = np.empty(most * n_vectors, x.dtype)
        table = np.empty((most, count), x.dtype) if out is None else None

        def work(rows: slice) -> None:
            size = rows.stop - rows.start
            target = table[:size] if table is not None else out[rows]  # type: ignore[index]
            finish(rows, stack.squared_distances(x[rows], products, target))

        return work

    in_threads(make, blocks)


def distances_to(flats: Flats) -> Callable[[Array], Array]:
    """A function from rows (n, p) to their squared distances (n, m) to `flats`.

    Everything that depends on the flats alone is computed once. Use the function for any number of blocks of rows; its
    cost is that of products of n x p by p x m (d + 1).
    """
    stack_for = cache(lambda dtype: _stack(flats, dtype))

    def squared_distances(x: Array) -> Array:
        result = np.empty((len(x), len(flats)), x.dtype)
        _distance_blocks(x, stack_for(x.dtype), lambda rows, table: None, result)
        return result

    return squared_distances


def nearest(x: Array, flats: Flats, count: int) -> tuple[Indices, Array]:
    """Indices (n, r) of the r = min(count, m) flats nearest to each row of `x` (n, p), and squared distances (n, r).

    Nearest first; for small r, ties are in the order of the index. Use it if few of the distances are needed: the full
    table is never in memory, and the work runs in as many threads as BLAS uses.
    """
    count = min(count, len(flats))
    rows = on_device(x, x.size * len(flats) * (flats.dim + 1))
    if rows is not None:
        return tuple(map(to_host, DeviceFlats(flats).nearest(rows, count)[::-1]))  # type: ignore[return-value]
    index = np.empty((len(x), count), np.intp)
    distances = np.empty((len(x), count), x.dtype)

    def finish(rows: slice, table: Array) -> None:
        index[rows], distances[rows] = in_order(table, smallest(table, count))

    _distance_blocks(x, _stack(flats, x.dtype), finish)
    return index, distances


def squared_distances(x: Array, flats: Flats) -> Array:
    """Squared distance of each row of `x` (n, p) to each flat: (n, m)."""
    return distances_to(flats)(x)


def distance_row_bytes(flats: Flats, dtype: np.dtype[np.floating]) -> int:
    """Bytes that one row needs while its distances to all flats are computed."""
    n_vectors = flats.dim + 1
    return (min(len(flats), _flats_in_tile(n_vectors)) * n_vectors + len(flats)) * dtype.itemsize
