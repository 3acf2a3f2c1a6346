"""Images as rows: pixels in [0, 1], or their principal components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces._core.pca import principal_scores
from subspaces._core.validation import check_integer, check_option
from subspaces.datasets.archives import Bytes


def image_rows(
    images: Bytes,
    labels: Bytes,
    kept: Sequence[int],
    n_components: int | None,
    *,
    drop: int = 0,
    center: bool = True,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Rows and labels of the images (n, n_pixels) whose label (n,) is in `kept`.

    Rows are pixels in [0, 1] if `n_components` is None, else the principal components of the images kept, without the
    first `drop`; those of images that are not centred if `center` is False.
    """
    check_option("center", center, (True, False))
    chosen = np.isin(labels, kept)
    rows, row_labels = images[chosen], labels[chosen].astype(np.int64)
    if n_components is None:
        return rows.astype(np.float32) / np.float32(255), row_labels
    count = check_integer(
        "n_components",
        n_components,
        low=1,
        high=min(rows.shape),
        hint=f"there are {rows.shape[0]} images of {rows.shape[1]} pixels; None returns the pixels",
    )
    if drop >= count:
        raise InputError(
            f"drop_components={drop} must be below n_components={count}, or nothing is left: "
            "lower it, or keep more components."
        )
    return principal_scores(rows, count, drop=drop, scale=1 / 255, center=center), row_labels
