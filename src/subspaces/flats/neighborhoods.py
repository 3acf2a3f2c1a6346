"""Neighbourhoods of rows, and the flats that fit them: local best-fit flats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from subspaces._core.arrays import Array, Indices, like, memory_of, namespace, smallest_in_order, to_host
from subspaces._core.blocks import row_blocks
from subspaces._core.copies import first_copies
from subspaces._core.offload import on_device
from subspaces._core.smallest import in_order, smallest
from subspaces._core.threads import in_threads
from subspaces._core.validation import check_integer, check_option
from subspaces.flats.fitting import fit_flats, smaller_gram
from subspaces.flats.flats import Flats
from subspaces.flats.thresholds import GROWTH_WORK, GROWTH_WORK_EACH, WIDE_COLUMNS


@dataclass(frozen=True, slots=True)
class Beta2:
    """Neighbourhoods that grow from `start_size` rows (None: twice the dimension) in steps of `step_size`.

    Each stops at the size at which a flat fits best relative to the radius; see `beta2_neighborhoods`.
    """

    start_size: int | None = None
    step_size: int = 2


def as_neighborhood(value: Any) -> Beta2 | int:
    """Check the parameter `neighborhood` of an estimator."""
    if isinstance(value, Beta2):
        if value.start_size is not None:
            check_integer("start_size", value.start_size, low=1)
        check_integer("step_size", value.step_size, low=1)
        return value
    if isinstance(value, str):
        check_option("neighborhood", value, ("beta2",))
        return Beta2()
    return check_integer("neighborhood", value, low=1, hint='give a size, "beta2" or Beta2(start_size, step_size)')


def local_flats(x: Array, centers: Array, dim: int, neighborhood: Beta2 | int, *, affine: bool) -> tuple[Flats, Array]:
    """The best flat of the neighbourhood in `x` (n, p) of each centre (m, p), and its mean squared residual (m,).

    A neighbourhood is a number of nearest rows, or one of `beta2_neighborhoods`.
    """
    rows: Sequence[Indices] | Indices
    if isinstance(neighborhood, Beta2):
        rows = beta2_neighborhoods(x, centers, dim, neighborhood, affine=affine)
    else:
        rows = nearest_rows(x, centers, min(neighborhood, len(x)))
    return fit_flats(x, rows, dim, affine=affine)


def nearest_rows(x: Array, centers: Array, count: int) -> Indices:
    """Indices (m, count) of the rows of `x` (n, p) nearest to each centre (m, p), nearest first."""
    # Distances near the origin lose no digits.
    origin = np.median(centers, axis=0).astype(x.dtype)
    rows = on_device(x, x.size * len(centers))
    if rows is not None:
        return _nearest_rows(rows, like(centers, rows), like(origin, rows), count)
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
            result[block] = in_order(found, smallest(found, count))[0]

        return work

    in_threads(make, blocks)
    return result


def _nearest_rows(x: Array, centers: Array, origin: Array, count: int) -> Indices:
    """The same for rows on a device."""
    xp = namespace(x)
    x, centers = x - origin, centers - origin
    squares, found = xp.sum(x * x, axis=1), []
    for block in row_blocks(centers.shape[0], 4 * x.shape[0] * x.itemsize, budget=memory_of(x) // 16):
        table = squares[None, :] - 2 * (centers[block, :] @ x.T)
        found.append(to_host(smallest_in_order(table, count)))
    return np.concatenate(found)


def rows_to_fit(x: Array, dim: int) -> Array:
    """The distinct rows of `x` (n, p), in their order, because copies of a row would fill its neighbourhood.

    All rows, if there are hardly more distinct rows than flats of dimension `dim` pass through: then only copies
    distinguish clusters.
    """
    first = first_copies(x)
    return x if first is None or len(first) < 4 * dim else x[first]


def beta2_neighborhoods(x: Array, centers: Array, dim: int, rule: Beta2, *, affine: bool = True) -> list[Indices]:
    """The neighbourhood of each centre (m, p) at which a flat of dimension `dim` fits best relative to the radius.

    Neighbourhoods are the nearest rows of `x`, in the sizes of `rule`; beta2 is the root mean squared residual of the
    best flat divided by the radius. The first interior local minimum is taken, or the smallest value if there is none
    (Algorithm 2 of Zhang, Szlam, Wang and Lerman, IJCV 2012). Rows of more than `WIDE_COLUMNS` columns, where noise
    alone gives no such minimum, stop to grow when all have taken `GROWTH_WORK`.
    """
    n, p = x.shape
    work, most = 0, max(GROWTH_WORK, GROWTH_WORK_EACH * len(centers))
    # Twice the dimension would be zero rows if flats are points.
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
        order_of_gram = min(size, p)
        work += len(active) * order_of_gram**2 * (size + p)
        if not len(active) or (p > WIDE_COLUMNS and work > most):
            break
    for j, rows, values in zip(active, order, history, strict=True):
        found[int(j)] = rows[: sizes[int(values.argmin())]]
    return [found[j] for j in range(len(centers))]


def _beta2(x: Array, centers: Array, order: Indices, dim: int, affine: bool) -> Array:
    size = order.shape[1]
    result = np.empty(len(order))

    def fit(block: slice) -> None:
        points = x[order[block]].astype(np.float64)
        # The last row is the farthest.
        offsets = points[:, -1] - centers[block]
        radius = np.sqrt(np.einsum("mp,mp->m", offsets, offsets))
        if affine:
            points = points - points.mean(axis=1, keepdims=True)
        values = np.linalg.eigvalsh(smaller_gram(points))
        tail = np.maximum(values[:, : max(0, values.shape[1] - dim)], 0).sum(axis=1)
        result[block] = np.sqrt(tail / size) / np.where(radius > 0, radius, 1)

    in_threads(lambda: fit, row_blocks(len(order), 6 * size * x.shape[1] * 8))
    return result
