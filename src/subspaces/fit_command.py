"""`subspaces fit`: cluster the rows of files and write their labels, or tell what that would take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from subspaces._blocks import row_blocks
from subspaces.fls import FLS
from subspaces.sources import open_rows


def fit_files(
    data: Sequence[str],
    *,
    n_clusters: int | str,
    subspace_dim: int | str,
    out: Path,
    key: str | None,
    memory_limit: str,
    checkpoint: Path | None,
    device: str | None,
    seed: int,
    dry_run: bool,
    verbose: bool,
    say: Callable[[str], Any],
) -> None:
    """Fit FLS to the rows of `data`, paths to .npy, Parquet, Zarr or HDF5, and write their labels to `out`.

    With `dry_run` nothing is fitted: the plan is told.
    """
    source = open_rows(list(data), key=key, memory_limit=memory_limit)
    model = FLS(n_clusters, subspace_dim=subspace_dim, random_state=seed, verbose=int(verbose))
    if dry_run:
        assert source.n_rows is not None
        plan = model.plan(source.n_rows, source.n_columns, dtype=source.dtype, memory_limit=memory_limit)
        say(str(plan))
        return
    model.fit(open_rows(source, labels=out, checkpoint=checkpoint, device=device))
    say(_summary(model, out))


def _summary(model: FLS, out: Path) -> str:
    """Sizes and dimensions of clusters, and where the labels are."""
    blocks = row_blocks(len(model.labels_), 8)
    sizes = np.sum([np.bincount(model.labels_[block], minlength=model.n_clusters_) for block in blocks], axis=0)
    lines = [f"{'cluster':>7}{'rows':>14}{'dimension':>11}"]
    lines += [
        f"{k:>7}{size:>14,}{dim:>11}" for k, (size, dim) in enumerate(zip(sizes, model.cluster_dims_, strict=True))
    ]
    return "\n".join([*lines, "", f"labels: {out.resolve()}"])
