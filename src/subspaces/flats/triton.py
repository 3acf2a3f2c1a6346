"""Distances to flats and the nearest of them on CUDA, without storing the products of rows and basis vectors.

One kernel multiplies a tile of rows by the basis vectors of a tile of flats, accumulates their squares, and writes the
distances and the smallest of each group of flats; a second one finds the few smallest distances of each row in the
groups with the smallest minima. Tensor cores do not support single precision, so each number is split into two bfloat16
numbers; three of their four products give nearly single precision.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import triton
import triton.language as tl

# Rows and flats of a tile, warps and stages of the kernel of distances. Speed only.
ROW_TILE, FLAT_TILE, WARPS, STAGES = 64, 128, 4, 2
# Flats whose smallest distance is found first, and rows for which one program finds the nearest flats. Speed only.
GROUP, FEW_ROWS = 32, 4
# Up to this many nearest flats are found in groups. Speed only.
MOST_NEAREST = 32
# Columns start at multiples of this, for wide loads.
ALIGNMENT = 128
# A kernel is compiled when it is first used: by one thread, not by several at once.
LAUNCHING = Lock()
# Columns are multiplied in two parts, the first of at most this many: both are powers of two.
FIRST_COLUMNS = 64


@triton.jit
def _split(x, row, column, n, p):
    """A tile of rows, and its high and low bits."""
    tile = tl.load(x + row[:, None] * p + column, mask=(row[:, None] < n) & (column < p), other=0.0)
    high = tile.to(tl.bfloat16)
    return tile, high, (tile - high.to(tl.float32)).to(tl.bfloat16)


@triton.jit
def _times(product, x_high, x_low, high, low, place, inside):
    """product + x @ y, for a tile y of columns and flats."""
    first = tl.load(high + place, mask=inside, other=0.0)
    second = tl.load(low + place, mask=inside, other=0.0)
    product = tl.dot(x_low, first, product)
    product = tl.dot(x_high, second, product)
    return tl.dot(x_high, first, product)


# Do not compile again for other values of these numbers, which differ between blocks and fits.
@triton.jit(do_not_specialize=["n", "dim", "affine"])  # type: ignore[untyped-decorator]
def _distances(
    x, high, low, offsets, out, minima, n, stride, p, dim, affine,
    rows_in: tl.constexpr, flats_in: tl.constexpr, first_in: tl.constexpr, rest_in: tl.constexpr, group: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(1).to(tl.int64) * rows_in + tl.arange(0, rows_in)
    flat = tl.program_id(0) * flats_in + tl.arange(0, flats_in)
    column = tl.arange(0, first_in)
    tile, tile_high, tile_low = _split(x, row, column, n, p)
    squares = tl.sum(tile * tile, 1)
    width = (dim + affine) * stride
    place = column[:, None] * width + flat
    inside = (column[:, None] < p) & (flat < stride)
    if rest_in > 0:
        further = first_in + tl.arange(0, rest_in)
        rest, rest_high, rest_low = _split(x, row, further, n, p)
        squares += tl.sum(rest * rest, 1)
        rest_place = further[:, None] * width + flat
        rest_inside = (further[:, None] < p) & (flat < stride)
    result = tl.zeros((rows_in, flats_in), tl.float32) + squares[:, None]
    for k in range(dim):
        product = tl.zeros((rows_in, flats_in), tl.float32)
        product = _times(product, tile_high, tile_low, high, low, place + k * stride, inside)
        if rest_in > 0:
            product = _times(product, rest_high, rest_low, high, low, rest_place + k * stride, rest_inside)
        result -= product * product
    if affine == 1:
        result += tl.load(offsets + flat, mask=flat < stride, other=0.0)
        result = _times(result, tile_high, tile_low, high, low, place + dim * stride, inside)
        if rest_in > 0:
            result = _times(result, rest_high, rest_low, high, low, rest_place + dim * stride, rest_inside)
    result = tl.maximum(result, 0.0)
    tl.store(out + row[:, None] * stride + flat, result, mask=(row[:, None] < n) & (flat < stride))
    n_groups: tl.constexpr = flats_in // group
    least = tl.min(tl.reshape(result, (rows_in, n_groups, group)), 2)
    place_of = tl.program_id(0) * n_groups + tl.arange(0, n_groups)
    tl.store(minima + row[:, None] * (stride // group) + place_of, least, mask=row[:, None] < n)


@triton.jit(do_not_specialize=["n", "count", "few"])  # type: ignore[untyped-decorator]
def _few_smallest(
    table, minima, values, index, n, count, stride, few,
    few_in: tl.constexpr, groups_in: tl.constexpr, group: tl.constexpr, rows_in: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * rows_in + tl.arange(0, rows_in)
    own = tl.arange(0, groups_in)
    within = (row[:, None] < n) & (own * group < count)
    least = tl.load(minima + row[:, None] * (stride // group) + own, mask=within, other=float("inf"))
    # The few smallest entries lie in the groups with the few smallest minima; ties go to the lower index.
    place = tl.arange(0, few_in)
    chosen = tl.zeros((rows_in, few_in), tl.int32) + groups_in
    for j in range(few):
        smallest, where = tl.min(least, 1, return_indices=True)
        found = tl.where(smallest < float("inf"), where, groups_in)
        chosen = tl.where(place == j, found[:, None], chosen)
        least = tl.where(own == where[:, None], float("inf"), least)
    flat = chosen[:, :, None] * group + tl.arange(0, group)
    flat = tl.reshape(flat, (rows_in, few_in * group))
    inside = (row[:, None] < n) & (flat < count)
    entries = tl.load(table + row[:, None] * stride + flat, mask=inside, other=float("inf"))
    for j in range(few):
        smallest = tl.min(entries, 1)
        # Rows that are not finite have no smallest entry; an index beyond the last would crash what follows.
        where = tl.minimum(tl.min(tl.where(entries == smallest[:, None], flat, 2147483647), 1), count - 1)
        tl.store(values + row * few + j, smallest, mask=row < n)
        tl.store(index + row * few + j, where.to(tl.int64), mask=row < n)
        entries = tl.where(flat == where[:, None], float("inf"), entries)


class SplitFlats:
    """Flats split into high and low bits, in the layout of the kernel.

    `stacked` is (p, (d + 1) m), or (p, d m) for linear flats: the first basis vectors of all flats, then the second
    ones, and so on, then -2 times the centres. `offsets` (m,) are the squared norms of the centres.
    """

    def __init__(self, stacked: Any, offsets: Any, count: int, dim: int) -> None:
        p = stacked.shape[0]
        self.count, self.dim, self.affine = count, dim, stacked.shape[1] > dim * count
        self.stride = -(-count // ALIGNMENT) * ALIGNMENT
        padded = stacked.new_zeros((p, dim + self.affine, self.stride))
        padded[:, :, :count] = stacked.reshape(p, dim + self.affine, count)
        self.high = padded.bfloat16()
        self.low = (padded - self.high.float()).bfloat16()
        # Flats that only fill the last tile are infinitely far.
        self.offsets = stacked.new_full((self.stride,), float("inf"))
        self.offsets[:count] = offsets

    @property
    def row_bytes(self) -> int:
        """Bytes that one row needs while its nearest flats are found."""
        return 4 * (self.stride + self.stride // GROUP)

    def table(self, rows: Any) -> Any:
        """Squared distances (n, m) of float32 `rows` (n, p)."""
        return self._padded_table(rows)[0][:, : self.count]

    def nearest(self, rows: Any, few: int) -> tuple[Any, Any]:
        """The `few` smallest squared distances of each row, ascending, and the indices of the flats: (n, few) each."""
        import torch

        table, minima = self._padded_table(rows)
        if few > MOST_NEAREST:
            found = table[:, : self.count].topk(few, dim=1, largest=False, sorted=True)
            return found.values, found.indices
        values = rows.new_empty((len(rows), few))
        index = rows.new_empty((len(rows), few), dtype=torch.int64)
        with LAUNCHING, torch.cuda.device(rows.device):
            _few_smallest[(triton.cdiv(len(rows), FEW_ROWS),)](
                table, minima, values, index, len(rows), self.count, self.stride,
                few, max(8, triton.next_power_of_2(few)), max(64, triton.next_power_of_2(self.stride // GROUP)),
                GROUP, FEW_ROWS,
                num_warps=1,
            )  # fmt: skip
        return values, index

    def _padded_table(self, rows: Any) -> tuple[Any, Any]:
        """Squared distances (n, stride) and the smallest of each group (n, stride / GROUP)."""
        import torch

        rows = rows.contiguous()
        n, p = rows.shape
        out, minima = rows.new_empty((n, self.stride)), rows.new_empty((n, self.stride // GROUP))
        first = min(FIRST_COLUMNS, max(16, triton.next_power_of_2(p)))
        rest = max(16, triton.next_power_of_2(p - first)) if p > first else 0
        grid = (triton.cdiv(self.stride, FLAT_TILE), triton.cdiv(n, ROW_TILE))
        with LAUNCHING, torch.cuda.device(rows.device):
            _distances[grid](
                rows, self.high, self.low, self.offsets, out, minima,
                n, self.stride, p, self.dim, int(self.affine),
                ROW_TILE, FLAT_TILE, first, rest, GROUP, num_warps=WARPS, num_stages=STAGES,
            )  # fmt: skip
        return out, minima
