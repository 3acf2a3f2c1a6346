"""The number of flat clusters: the number of flats with the shortest description of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices
from subspaces.flats.candidates import LocalFlats, sample_rows
from subspaces.flats.cells import background_lengths, background_width, joined_lengths, squared_lengths
from subspaces.flats.description import Code, measure, shortest_codes
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import assign_to_flats
from subspaces.flats.neighborhoods import rows_to_fit
from subspaces.selection.coding import clearly_longer, code_directions, is_described
from subspaces.selection.comparison import standard_error
from subspaces.selection.limits import COUNT_STARTS, FLAT_ROWS, START_CANDIDATES, START_DIMS
from subspaces.selection.record import Decision
from subspaces.selection.thresholds import N_ERRORS


def decide_n_clusters(
    x: Array,
    max_clusters: int,
    *,
    affine: bool,
    rng: np.random.RandomState,
    max_dim: int | None = None,
) -> Decision:
    """The fewest clusters, 1 to `max_clusters`, whose description of the rows of `x` (n, p) is about the shortest.

    Flats have at most `max_dim` dimensions.
    """
    # Copies of a row are not independent evidence.
    sample = rows_to_fit(sample_rows(x, FLAT_ROWS, rng), 1)
    sample = sample @ code_directions(sample, affine=affine)
    codes = codes_by_count(sample, max_clusters, affine=affine, rng=rng, max_dim=max_dim)
    lengths = ", ".join(f"{codes[k].length:.0f} for {k}" for k in sorted(codes))
    progress.note(f"description length in nats by number of clusters: {lengths}")
    return _decision([codes[k] for k in sorted(codes)])


def codes_by_count(
    sample: Array,
    max_clusters: int,
    *,
    affine: bool,
    rng: np.random.RandomState,
    max_dim: int | None = None,
    min_clusters: int = 2,
    local: Sequence[LocalFlats] | None = None,
) -> dict[int, Code]:
    """The shortest codes found for the rows of `sample` (n, p): with 1 cluster, and `min_clusters` to `max_clusters`.

    Starting from `max_clusters` local best-fit flats, one cluster after another is joined to another or given to the
    background, whichever costs least, and all are fitted again. `local` are candidates for these flats, if known.
    """
    space = measure(sample, affine=affine, max_dim=max_dim)
    count = min(max_clusters, len(sample))
    starts = []
    if count > 1:
        local = local_candidates(sample, start_dims(space.high), affine, rng) if local is None else local
        flats = [best_local_flats(each, count, rng) for each in local]
        starts = [assign_to_flats(sample, each).labels.astype(np.intp) for each in flats]
    one, *found = shortest_codes(space, [np.zeros(len(sample), np.intp), *starts], count)
    codes = {1: without_empty_cells(one)}
    while found:
        # One cluster has its own start; here the background would take most of its rows.
        found = [code for code in map(without_empty_cells, dict.fromkeys(found)) if len(code.cells) > 1]
        for code in found:
            known = codes.setdefault(len(code.cells), code)
            codes[len(code.cells)] = min(known, code, key=lambda each: each.length)
        starts = [one_fewer(code) for code in found if len(code.cells) > max(min_clusters, 2)]
        found = shortest_codes(space, starts, max(int(each.max()) + 1 for each in starts)) if starts else []
    return codes


def start_dims(high: int) -> list[int]:
    """Dimensions of the local flats at which a search begins, if flats have at most `high` dimensions."""
    return [dim for dim in START_DIMS if dim <= high] or [high]


def without_empty_cells(code: Code) -> Code:
    """The same code without clusters that have no rows."""
    kept = [k for k, cell in enumerate(code.cells) if cell]
    # The background stays last.
    columns = [*kept, len(code.cells)]
    names = np.full(len(code.cells) + 1, -1)
    names[columns] = np.arange(len(columns))
    return replace(code, cells=[code.cells[k] for k in kept], chosen=names[code.chosen], table=code.table[:, columns])


def local_candidates(x: Array, dims: Sequence[int], affine: bool, rng: np.random.RandomState) -> list[LocalFlats]:
    """Local flats of each of these dimensions at rows of `x` (n, p)."""
    return [LocalFlats(x, dim, affine=affine, rng=rng) for dim in dims]


def best_local_flats(local: LocalFlats, count: int, rng: np.random.RandomState) -> Flats:
    """The `count` local flats that fit all rows best, as in LBF."""
    return local.best(count, START_CANDIDATES * count, n_starts=COUNT_STARTS, rng=rng)


def one_fewer(code: Code) -> Indices:
    """Labels (n,), 0 to K - 2 or -1 for the background, with one cell less than the K of `code`.

    Either two cells are joined, or the rows of one go where they cost least, whichever adds least to the length.
    """
    joined, pair = min(((cost, pair) for pair, cost in _join_costs(code).items()), default=(np.inf, (0, 0)))
    dropped, labels = min(_without(code), key=lambda option: option[0])
    if joined < dropped:
        labels = np.where(code.chosen == pair[1], pair[0], code.chosen)
    names = np.full(len(code.cells) + 1, -1)
    kept = np.unique(labels[labels < len(code.cells)])
    names[kept] = np.arange(len(kept))
    return names[labels]


def _without(code: Code) -> list[tuple[float, Indices]]:
    """For each cell with rows, the increase of the length without it, and the labels that its rows get."""
    n, p = code.space.rows.shape
    nats, overheads, squares = code.row_lengths, code.overheads, squared_lengths(code.space.rows)
    outliers = np.flatnonzero(code.chosen == len(code.cells))
    options = []
    for k, cell in enumerate(code.cells):
        if cell is None:
            continue
        own = np.flatnonzero(code.chosen == k)
        # Fit the background to these rows too; as it is, it may have no row at all.
        both = np.concatenate([own, outliers])
        apart = background_lengths([background_width(squares[both], p)], squares[both], p)[0] + np.log(n / len(both))
        table = code.table[own]
        table[:, k] = np.inf
        table[:, -1] = apart[: len(own)]
        after = table.min(axis=1).sum() + apart[len(own) :].sum()
        before = nats[own].sum() + nats[outliers].sum() + overheads[k]
        labels = code.chosen.copy()
        labels[own] = table.argmin(axis=1)
        options.append((float(after - before), labels))
    return options


def _join_costs(code: Code) -> dict[tuple[int, int], float]:
    """Increase of the length with any two cells joined."""
    n, count = len(code.chosen), len(code.cells)
    sizes = np.bincount(code.chosen, minlength=count + 1)
    before = np.bincount(code.chosen, weights=code.row_lengths, minlength=count + 1)[:count] + code.overheads
    found = joined_lengths(code.space, code.chosen, count)
    names = {size: size * np.log(n / size) for size in {int(sizes[j] + sizes[k]) for j, k in found}}
    return {(j, k): nats + names[int(sizes[j] + sizes[k])] - before[j] - before[k] for (j, k), nats in found.items()}


def _decision(codes: list[Code]) -> Decision:
    """The first of `codes` with ever more clusters that is not clearly longer than the shortest."""
    shortest = min(codes, key=lambda code: code.length)
    winner = next(i for i, code in enumerate(codes) if not clearly_longer(code, shortest))
    candidates = tuple(_evidence(code, codes[0], shortest) for code in codes)
    least = "which is the shortest" if codes[winner] is shortest else "while more clusters shorten it by less"
    reason = f"the fewest clusters whose description is within {N_ERRORS:g} standard errors of the shortest, {least}"
    return Decision("n_clusters", winner, "nats_per_row", reason, candidates, larger_is_better=False)


def _evidence(code: Code, one: Code, shortest: Code) -> dict[str, Any]:
    cells = [cell for cell in code.cells if cell]
    n = len(code.chosen)
    return {
        # If all rows are outliers, they are one cluster.
        "n_clusters": max(1, len(cells)),
        "nats_per_row": code.length / n,
        "standard_error": standard_error(code.row_lengths - shortest.row_lengths),
        "cluster_dims": [cell.dim for cell in cells],
        "outliers": 1 - sum(cell.size for cell in cells) / n,
        "flat": len(cells) < 2 or is_described(code, one.length, shortest.length),
    }
