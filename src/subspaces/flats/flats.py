"""Flats: batches of affine or linear subspaces, fitted to neighbourhoods, and distances to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces._core.threads import in_threads, one_thread
from subspaces._core.validation import check_integer, check_option

# The smallest entries of a row are found one by one up to this many.
FEW_SMALLEST = 16
# Of more, the minima of groups of columns are looked at first where there are this many columns for each of them.
COLUMNS_PER_SMALLEST = 32
# Rows are multiplied by about this many vectors of flats at a time: then blocks of hundreds of rows, which suit BLAS,
# have products that stay in cache.
TILE_VECTORS = 4500


@dataclass(frozen=True, slots=True, eq=False)
class Flats:
    """A batch of m affine subspaces of R^p, all of dimension d.

    A flat is the set `centers[j] + bases[j] @ t`. A linear subspace has centre zero.
    """

    centers: Array  # (m, p)
    bases: Array  # (m, p, d), orthonormal columns

    def __len__(self) -> int:
        return len(self.centers)

    def __getitem__(self, index: int | slice | Indices) -> Flats:
        """Some of the flats; one of them is a batch of one."""
        if isinstance(index, int | np.integer):
            index = np.arange(len(self))[[index]]
        return Flats(self.centers[index], self.bases[index])

    def __iter__(self) -> Iterator[Flats]:
        return (self[j] for j in range(len(self)))

    @property
    def dim(self) -> int:
        """Dimension d of every flat."""
        return int(self.bases.shape[2])

    @property
    def is_linear(self) -> bool:
        """Whether every flat passes through the origin as its centre."""
        return not self.centers.any()


@dataclass(frozen=True, slots=True)
class Beta2:
    """Neighbourhoods that grow from `start_size` rows (None: twice the dimension) in steps of `step_size`.

    Each stops where a flat fits best for its radius; see `beta2_neighborhoods`.
    """

    start_size: int | None = None
    step_size: int = 2


def as_neighborhood(value: Any) -> Beta2 | int:
    """A user's choice of neighbourhood, checked."""
    if isinstance(value, Beta2):
        if value.start_size is not None:
            check_integer("start_size", value.start_size, low=1)
        check_integer("step_size", value.step_size, low=1)
        return value
    if isinstance(value, str):
        check_option("neighborhood", value, ("beta2",))
        return Beta2()
    return check_integer("neighborhood", value, low=1, hint='give a size, "beta2" or Beta2(start_size, step_size)')


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """m flats as a few matrices: their products with a row hold all that the distances of the row need."""

    origin: Array  # (p,), from where rows are measured
    offsets: Array  # (m,), squared norms of the centres
    tiles: list[Array]  # of (p, s, t): the centres times -2, if they matter, then the d basis vectors of every flat
    linear: bool

    @property
    def n_vectors(self) -> int:
        """Most vectors in a tile."""
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
            # Rounding can dip below zero.
            np.maximum(found, 0, out=found)
            first += t
        return out


def _stack(flats: Flats, dtype: np.dtype[Any]) -> _Stack:
    """What distances of rows of this dtype need, and depends on the flats alone."""
    linear = flats.dim > 0 and flats.is_linear
    # Distances do not change when everything moves, and near the origin they lose no digits.
    # The median, for one far centre must not decide what near means.
    origin = np.zeros_like(flats.centers[0]) if linear else np.median(flats.centers, axis=0).astype(flats.centers.dtype)
    # A centre moved along its flat to the point nearest the origin is orthogonal to the basis:
    # |x - c|^2 - |B'(x - c)|^2 = |x|^2 - 2 x.c + |c|^2 - |B'x|^2, and one product gives all of it.
    centers = flats.centers - origin
    centers = centers - np.einsum("mpd,md->mp", flats.bases, np.einsum("mpd,mp->md", flats.bases, centers))
    # Slice by slice, so that sums over the basis vectors add contiguous rows.
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
    """How many flats of so many vectors rows are multiplied by at a time."""
    return max(1, TILE_VECTORS // n_vectors)


def _distance_blocks(x: Array, stack: _Stack, finish: Callable[[slice, Array], None], out: Array | None = None) -> None:
    """Call `finish` on blocks of rows of `x` (n, p) and their squared distances (b, m), in several threads.

    The distances are rows of `out` (n, m) where it is given, and else lie in an array that is used again.
    """
    n_vectors, count = stack.n_vectors, len(stack.offsets)
    # Half of what a block may have: of several threads each has its own.
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

    Everything that depends on the flats alone is done once; the function then costs products of n x p by
    p x m(d+1) in all and a sum, and serves any number of blocks of rows.
    """
    stack_for = cache(lambda dtype: _stack(flats, dtype))

    def squared_distances(x: Array) -> Array:
        result = np.empty((len(x), len(flats)), x.dtype)
        _distance_blocks(x, stack_for(x.dtype), lambda rows, table: None, result)
        return result

    return squared_distances


def nearest(x: Array, flats: Flats, count: int) -> tuple[Indices, Array]:
    """Indices (n, r) of the r = min(count, m) flats nearest to each row of `x` (n, p), and squared distances (n, r).

    Nearest first; of a few, equal ones by their index. Use it where few of the distances are needed: the table of all
    of them is never held, and all of the work is done in as many threads as BLAS has.
    """
    count = min(count, len(flats))
    index = np.empty((len(x), count), np.intp)
    distances = np.empty((len(x), count), x.dtype)

    def finish(rows: slice, table: Array) -> None:
        index[rows], distances[rows] = _in_order(table, smallest(table, count))

    _distance_blocks(x, _stack(flats, x.dtype), finish)
    return index, distances


def _in_order(table: Array, index: Indices) -> tuple[Indices, Array]:
    """Column indices (n, r) of entries of each row, from the smallest entry on, and the entries (n, r)."""
    values = np.take_along_axis(table, index, 1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(index, order, 1), np.take_along_axis(values, order, 1)


def squared_distances(x: Array, flats: Flats) -> Array:
    """Squared distance of each row of `x` (n, p) to each flat: (n, m)."""
    return distances_to(flats)(x)


def distance_row_bytes(flats: Flats, dtype: np.dtype[np.floating]) -> int:
    """Bytes that one row needs while its distances to all flats are computed."""
    n_vectors = flats.dim + 1
    return (min(len(flats), _flats_in_tile(n_vectors)) * n_vectors + len(flats)) * dtype.itemsize


def smallest(table: Array, count: int) -> Indices:
    """Column indices (n, count) of the `count` smallest entries of each row: a few in ascending order, many in none.

    A few are found one after another, which is faster than to partition the row, with ties to the lower index; `table`
    is used for that, and left as it was.
    """
    if count >= table.shape[1]:
        return np.broadcast_to(np.arange(table.shape[1]), table.shape)
    if count > FEW_SMALLEST:
        if table.shape[1] >= COLUMNS_PER_SMALLEST * count:
            return _smallest_by_groups(table, count)
        return np.argpartition(table, count - 1, axis=1)[:, :count]
    rows = np.arange(len(table))
    index = np.empty((len(table), count), np.intp)
    values = np.empty((len(table), count), table.dtype)
    for j in range(count):
        index[:, j] = table.argmin(axis=1)
        values[:, j] = table[rows, index[:, j]]
        table[rows, index[:, j]] = np.inf
    table[rows[:, None], index] = values
    return index


def _smallest_by_groups(table: Array, count: int) -> Indices:
    """The same of tables with many columns: the smallest entries lie in the groups with the smallest minima."""
    n_columns = table.shape[1]
    height = int(np.sqrt(n_columns // count))
    n_groups = n_columns // height
    # Column j is in group j mod n_groups, so that minima are taken of contiguous rows; the last few are in none.
    whole = table[:, : height * n_groups].reshape(len(table), height, n_groups)
    groups = smallest(whole.min(axis=1), count)
    members = (groups[:, None, :] + n_groups * np.arange(height)[:, None]).reshape(len(table), -1)
    last = np.broadcast_to(np.arange(height * n_groups, n_columns), (len(table), n_columns - height * n_groups))
    members = np.concatenate([members, last], axis=1)
    return np.take_along_axis(members, smallest(np.take_along_axis(table, members, 1), count), 1)


def nearest_rows(x: Array, centers: Array, count: int) -> Indices:
    """Indices (m, count) of the rows of `x` (n, p) nearest to each centre (m, p), nearest first."""
    # Near the origin distances lose no digits.
    origin = np.median(centers, axis=0).astype(x.dtype)
    x, centers = x - origin, centers - origin
    # |x|^2 - 2 x.c as one product.
    columns = np.concatenate([x.T, np.einsum("np,np->n", x, x)[None]])
    targets = np.column_stack([-2 * centers, np.ones(len(centers), centers.dtype)]).astype(x.dtype, copy=False)
    result = np.empty((len(centers), count), np.intp)
    blocks = list(row_blocks(len(centers), len(x) * x.itemsize))

    def make() -> Callable[[slice], None]:
        table = np.empty((blocks[0].stop, len(x)), x.dtype)

        def work(block: slice) -> None:
            found = np.matmul(targets[block], columns, out=table[: block.stop - block.start])
            result[block] = _in_order(found, smallest(found, count))[0]

        return work

    in_threads(make, blocks)
    return result


def rows_to_fit(x: Array, dim: int) -> Array:
    """The distinct rows of `x` (n, p), in their order: copies of a row would fill its neighbourhood.

    Where hardly more distinct rows are left than flats of dimension `dim` pass through, copies are all there is to tell
    clusters apart, and all rows come back.
    """
    rows = np.ascontiguousarray(x)
    # Equal rows have equal sums of their bits times odd numbers; where all sums differ, no row is a copy.
    bits = rows.view(np.uint32 if rows.itemsize == 4 else np.uint64).astype(np.uint64, copy=False)
    factors = np.random.default_rng(0).integers(2**62, size=rows.shape[1], dtype=np.uint64) * 2 + 1
    if len(np.unique(bits @ factors)) == len(rows):
        return x
    first = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_index=True)[1]
    return x if len(first) == len(x) or len(first) < 4 * dim else x[np.sort(first)]


def fit_flats(x: Array, neighborhoods: Sequence[Indices] | Indices, dim: int, *, affine: bool) -> tuple[Flats, Array]:
    """Least-squares flat of dimension `dim` through each neighbourhood of rows of `x` (n, p).

    `neighborhoods` holds row indices, as an (m, size) array or a sequence of m arrays of any lengths.
    Returns the flats and the mean squared residual (m,) of their own rows.
    """
    p = x.shape[1]
    count = len(neighborhoods)
    centers = np.zeros((count, p), x.dtype)
    bases = np.empty((count, p, dim), x.dtype)
    residuals = np.empty(count, x.dtype)
    sizes = np.array([len(rows) for rows in neighborhoods])

    def fit(chosen: Indices) -> None:
        rows = neighborhoods[chosen] if isinstance(neighborhoods, np.ndarray) else [neighborhoods[j] for j in chosen]
        # Equal sets of rows give equal bits, so that tied flats stay tied in every later step.
        points = x[np.sort(rows, axis=1)]
        if affine:
            centers[chosen] = points.mean(axis=1)
            points -= centers[chosen][:, None, :]
        bases[chosen], tails = principal_bases(points, dim)
        residuals[chosen] = tails / points.shape[1]

    of_size = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
    blocks = [
        members[block] for members in of_size for block in row_blocks(len(members), 6 * sizes[members[0]] * p * 8)
    ]
    in_threads(lambda: fit, blocks)
    return Flats(centers, bases), residuals


def local_flats(x: Array, centers: Array, dim: int, neighborhood: Beta2 | int, *, affine: bool) -> tuple[Flats, Array]:
    """The flat that fits the neighbourhood in `x` (n, p) of each centre (m, p), and its mean squared residual (m,).

    A neighbourhood is a number of nearest rows, or grows as `beta2_neighborhoods` says.
    """
    rows: Sequence[Indices] | Indices
    if isinstance(neighborhood, Beta2):
        rows = beta2_neighborhoods(x, centers, dim, neighborhood, affine=affine)
    else:
        rows = nearest_rows(x, centers, min(neighborhood, len(x)))
    return fit_flats(x, rows, dim, affine=affine)


def principal_bases(points: Array, dim: int) -> tuple[Array, Array]:
    """Top `dim` right singular vectors of each stack of rows, and the squared mass they leave.

    Takes (m, size, p), returns bases (m, p, dim) and tails (m,).
    """
    _, size, p = points.shape
    # float64, because a Gram matrix squares the condition number.
    wide = points.astype(np.float64)
    with one_thread():
        values, vectors = np.linalg.eigh(_smaller_gram(wide))
        bases = vectors[:, :, ::-1][:, :, :dim]
        if size < p:
            columns = np.matmul(wide.transpose(0, 2, 1), bases)
            # Householder's Q is orthonormal whatever the rank, so too few rows or duplicates get arbitrary
            # directions to complete their basis.
            bases = np.linalg.qr(np.pad(columns, ((0, 0), (0, 0), (0, dim - columns.shape[2]))))[0]
    tails = np.maximum(values[:, : max(0, values.shape[1] - dim)], 0).sum(axis=1)
    return bases.astype(points.dtype), tails.astype(points.dtype)


def _smaller_gram(points: Array) -> Array:
    """Inner products of the rows or of the columns of each (size, p) of a stack, whichever are fewer."""
    flipped = points.transpose(0, 2, 1)
    return np.matmul(points, flipped) if points.shape[1] < points.shape[2] else np.matmul(flipped, points)


def beta2_neighborhoods(x: Array, centers: Array, dim: int, rule: Beta2, *, affine: bool = True) -> list[Indices]:
    """The neighbourhood of each centre (m, p) at which a flat of dimension `dim` fits best for its radius.

    Neighbourhoods are the nearest rows of `x`, in the sizes of `rule`; beta2 is the root mean squared
    residual of the best flat over the radius. The first interior local minimum is taken, or the smallest value
    where there is none (Algorithm 2 of Zhang, Szlam, Wang and Lerman, IJCV 2012).
    """
    n = len(x)
    # Twice the dimension would be no row where flats are points.
    start_size = max(2, 2 * dim) if rule.start_size is None else rule.start_size
    sizes = range(min(start_size, n), n + 1, rule.step_size)
    found: dict[int, Indices] = {}
    active = np.arange(len(centers))
    reach = min(n, 8 * (sizes[0] + rule.step_size))
    order = nearest_rows(x, centers, reach)
    history = np.empty((len(centers), 0))
    for step, size in enumerate(sizes):
        if size > reach:
            reach = min(n, 4 * reach)
            order = nearest_rows(x, centers[active], reach)
        history = np.column_stack([history, _beta2(x, centers[active], order[:, :size], dim, affine)])
        if step > 1:
            before, middle, after = history[:, -3:].T
            done = middle < np.minimum(before, after)
            for j, rows in zip(active[done], order[done], strict=True):
                found[int(j)] = rows[: sizes[step - 1]]
            active, order, history = active[~done], order[~done], history[~done]
        if not len(active):
            break
    for j, rows, values in zip(active, order, history, strict=True):
        found[int(j)] = rows[: sizes[int(values.argmin())]]
    return [found[j] for j in range(len(centers))]


def _beta2(x: Array, centers: Array, order: Indices, dim: int, affine: bool) -> Array:
    size = order.shape[1]
    result = np.empty(len(order))

    def fit(block: slice) -> None:
        points = x[order[block]].astype(np.float64)
        radius = np.linalg.norm(points - centers[block][:, None, :], axis=2).max(axis=1)
        if affine:
            points = points - points.mean(axis=1, keepdims=True)
        values = np.linalg.eigvalsh(_smaller_gram(points))
        tail = np.maximum(values[:, : max(0, values.shape[1] - dim)], 0).sum(axis=1)
        result[block] = np.sqrt(tail / size) / np.where(radius > 0, radius, 1)

    in_threads(lambda: fit, row_blocks(len(order), 6 * size * x.shape[1] * 8))
    return result


def principal_angles(first: Array, second: Array) -> Array:
    """Principal angles between two bases (p, d) and (p, e), in radians, ascending: (min(d, e),).

    Columns must be orthonormal. Small angles come from sines and large ones from cosines, so that both are
    accurate to rounding (Bjorck and Golub, 1973).
    """
    if second.shape[1] > first.shape[1]:
        first, second = second, first
    cosines = np.linalg.svd(first.T @ second, compute_uv=False)
    sines = np.linalg.svd(second - first @ (first.T @ second), compute_uv=False)[::-1]
    return np.where(cosines**2 < 0.5, np.arccos(np.clip(cosines, 0, 1)), np.arcsin(np.clip(sines, 0, 1)))
