"""Sums of outer products of sparse rows on CUDA, added where they belong without storing them."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

# Rows of a program. Speed only.
ROW_TILE = 256


@triton.jit(do_not_specialize=["n"])  # type: ignore[untyped-decorator]
def _sums(index, weights, counts, total, gram, n, size, r: tl.constexpr, counted: tl.constexpr, rows_in: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * rows_in + tl.arange(0, rows_in)
    inside = row < n
    for i in range(r):
        first = tl.load(index + row * r + i, mask=inside, other=0)
        weight = tl.load(weights + row * r + i, mask=inside, other=0.0)
        if counted:
            weight *= tl.load(counts + row, mask=inside, other=0.0)
        tl.atomic_add(total + first, weight.to(tl.float64), mask=inside, sem="relaxed")
        for j in range(i, r):
            second = tl.load(index + row * r + j, mask=inside, other=0)
            product = weight * tl.load(weights + row * r + j, mask=inside, other=0.0)
            # The matrix is symmetric: half of it is enough.
            place = tl.minimum(first, second) * size + tl.maximum(first, second)
            tl.atomic_add(gram + place, product.to(tl.float64), mask=inside, sem="relaxed")


def sparse_sums(index: Any, weights: Any, counts: Any | None, size: int) -> tuple[Any, Any]:
    """Sum (D,) of rows of the columns `index` (n, r) and float32 `weights` (n, r), and of their outer products (D, D).

    Rows count as often as `counts` (n,) says, if given. Sums are in float64. The columns of a row differ.
    """
    import torch

    n, r = weights.shape
    total = weights.new_zeros(size, dtype=torch.float64)
    gram = weights.new_zeros((size, size), dtype=torch.float64)
    index, weights = index.contiguous(), weights.contiguous()
    with torch.cuda.device(weights.device):
        grid = (triton.cdiv(n, ROW_TILE),)
        own = weights if counts is None else counts.contiguous()
        _sums[grid](index, weights, own, total, gram, n, size, r, counts is not None, ROW_TILE, num_warps=4)
    return total, gram + gram.triu(1).T
