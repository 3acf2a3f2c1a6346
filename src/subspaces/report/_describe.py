"""The facts of a clustering, section by section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from subspaces.report._report import Report
from subspaces.report._run import Run


def describe(
    model: Any,
    X: Any,
    *,
    labels: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    row_names: Sequence[str] | None = None,
    truth: ArrayLike | None = None,
    image_shape: tuple[int, ...] | None = None,
    images: ArrayLike | None = None,
    run: Run | None = None,
    n_stability: int = 3,
    max_points: int = 4000,
    random_state: int = 0,
) -> Report:
    """A page about the clusters that `model` found in the rows `X` (n, p)."""
    raise NotImplementedError
