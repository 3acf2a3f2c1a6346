"""Distances to flats and the nearest of them on CUDA, without storing the products of rows and basis vectors.

One kernel multiplies a tile of rows by the basis vectors of a tile of flats, accumulates their squares, and writes the
distances only; a second one finds the few smallest distances of each row. Tensor cores do not support single precision,
so each number is split into two bfloat16 numbers; three of their four products give nearly single precision.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

ROW_TILE, FLAT_TILE = 128, 128
# Columns start at multiples of this, for wide loads.
ALIGNMENT = 64


# Do not compile again for other values of these numbers, which differ between blocks and fits.
@triton.jit(do_not_specialize=["n", "dim", "affine"])  # type: ignore[untyped-decorator]
def _distances(
    x, high, low, offsets, out, n, stride, p, dim, affine,
    rows_in: tl.constexpr, flats_in: tl.constexpr, columns_in: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(1).to(tl.int64) * rows_in + tl.arange(0, rows_in)
    flat = tl.program_id(0) * flats_in + tl.arange(0, flats_in)
    column = tl.arange(0, columns_in)
    tile = tl.load(x + row[:, None] * p + column, mask=(row[:, None] < n) & (column < p), other=0.0)
    tile_high = tile.to(tl.bfloat16)
    tile_low = (tile - tile_high.to(tl.float32)).to(tl.bfloat16)
    result = tl.zeros((rows_in, flats_in), tl.float32) + tl.sum(tile * tile, 1)[:, None]
    place = column[:, None] * ((dim + affine) * stride) + flat
    inside = (column[:, None] < p) & (flat < stride)
    for k in range(dim):
        first = tl.load(high + place + k * stride, mask=inside, other=0.0)
        second = tl.load(low + place + k * stride, mask=inside, other=0.0)
        product = tl.dot(tile_low, first)
        product = tl.dot(tile_high, second, product)
        product = tl.dot(tile_high, first, product)
        result -= product * product
    if affine == 1:
        first = tl.load(high + place + dim * stride, mask=inside, other=0.0)
        second = tl.load(low + place + dim * stride, mask=inside, other=0.0)
        product = tl.dot(tile_low, first)
        product = tl.dot(tile_high, second, product)
        product = tl.dot(tile_high, first, product)
        result += product + tl.load(offsets + flat, mask=flat < stride, other=0.0)
    mask = (row[:, None] < n) & (flat < stride)
    tl.store(out + row[:, None] * stride + flat, tl.maximum(result, 0.0), mask=mask)


@triton.jit(do_not_specialize=["count"])  # type: ignore[untyped-decorator]
def _few_smallest(table, values, index, count, stride, few: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, width)
    entries = tl.load(table + row * stride + column, mask=column < count, other=float("inf"))
    for j in tl.static_range(few):
        smallest, where = tl.min(entries, 0, return_indices=True)
        tl.store(values + row * few + j, smallest)
        tl.store(index + row * few + j, where.to(tl.int64))
        entries = tl.where(column == where, float("inf"), entries)


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
        self.offsets = stacked.new_zeros(self.stride)
        self.offsets[:count] = offsets

    def table(self, rows: Any) -> Any:
        """Squared distances (n, m) of float32 `rows` (n, p)."""
        return self._padded_table(rows)[:, : self.count]

    def nearest(self, rows: Any, few: int) -> tuple[Any, Any]:
        """The `few` smallest squared distances of each row, ascending, and the indices of the flats: (n, few) each."""
        import torch

        table = self._padded_table(rows)
        values = rows.new_empty((len(rows), few))
        index = rows.new_empty((len(rows), few), dtype=torch.int64)
        with torch.cuda.device(rows.device):
            width = triton.next_power_of_2(self.count)
            _few_smallest[(len(rows),)](table, values, index, self.count, self.stride, few, width, num_warps=4)
        return values, index

    def _padded_table(self, rows: Any) -> Any:
        import torch

        rows = rows.contiguous()
        n, p = rows.shape
        out = rows.new_empty((n, self.stride))
        grid = (triton.cdiv(self.stride, FLAT_TILE), triton.cdiv(n, ROW_TILE))
        with torch.cuda.device(rows.device):
            _distances[grid](
                rows, self.high, self.low, self.offsets, out, n, self.stride, p, self.dim, int(self.affine),
                ROW_TILE, FLAT_TILE, max(16, triton.next_power_of_2(p)), num_warps=8, num_stages=2,
            )  # fmt: skip
        return out
