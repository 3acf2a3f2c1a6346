"""Errors at several sizes, and the power law that they follow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]

# The error of a mean of D independent draws decreases as D^(-1/2).
LAW = -0.5
AXES = {"n_features": "number D of features", "n_rows": "number n of rows"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve:
    """Errors of several draws at several sizes; print it for a summary, call `plot` for a figure.

    `measures` has one table (n_sizes, n_draws) for each error measure, the main one first; NaN for draws that could
    not be measured.
    """

    name: str  # name of the error
    over: str  # "n_features" or "n_rows"
    sizes: NDArray[np.int64]  # (n_sizes,), ascending
    measures: Mapping[str, Figures]
    bounds: Mapping[str, Figures] = field(default_factory=dict)  # theoretical bounds, (n_sizes,) each
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def errors(self) -> Figures:
        """The main measure: (n_sizes, n_draws)."""
        return next(iter(self.measures.values()))

    @property
    def slope(self) -> float:
        """Exponent of the power law fitted to the mean errors; NaN for a single size."""
        return log_slope(self.sizes, self.errors)

    @property
    def slope_error(self) -> float:
        """Standard error of the slope, from the slopes of single draws; NaN for fewer than two."""
        slopes = [log_slope(self.sizes, column[:, None]) for column in self.errors.T]
        each = [slope for slope in slopes if math.isfinite(slope)]
        return float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else math.nan

    @property
    def ratio(self) -> float:
        """Largest divided by smallest mean error: about one for a flat curve, NaN if the smallest is zero."""
        means = mean_over_draws(self.errors)
        known = means[np.isfinite(means)]
        return float(known.max() / known.min()) if known.size and known.min() > 0 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes even with `allow_nan=False`: NaN becomes None."""
        return {
            "name": self.name,
            "over": self.over,
            "sizes": plain(self.sizes),
            "measures": plain(self.measures),
            "bounds": plain(self.bounds),
            "slope": plain(self.slope),
            "slopes": {name: plain(log_slope(self.sizes, table)) for name, table in self.measures.items()},
            "slope_error": plain(self.slope_error),
            "ratio": plain(self.ratio),
            "parameters": plain(self.parameters),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Restore a curve from `to_dict`."""
        return cls(
            values["name"],
            values["over"],
            np.array(values["sizes"]),
            {name: np.array(table, np.float64) for name, table in values["measures"].items()},
            {name: np.array(line, np.float64) for name, line in values["bounds"].items()},
            values["parameters"],
        )

    def plot(self, ax: Any = None) -> Any:
        """Plot all draws, their means, the law and the bounds on logarithmic axes; return the matplotlib Axes."""
        from subspaces.paper.theory.plots import plot_curve

        return plot_curve(self, ax)

    def __repr__(self) -> str:
        means = mean_over_draws(self.errors)
        axis = "D" if self.over == "n_features" else "n"
        return (
            f"{self.name}: {means[0]:.3g} at {axis} = {self.sizes[0]}, {means[-1]:.3g} at {axis} = {self.sizes[-1]}, "
            f"slope {self.slope:.2f} (standard error {self.slope_error:.2f}), {self.errors.shape[1]} draws"
        )


def log_slope(sizes: NDArray[Any], errors: Figures) -> float:
    """Slope of the least-squares line through the logarithms of sizes and of mean errors (n_sizes, n_draws)."""
    means = mean_over_draws(errors)
    known = np.isfinite(means) & (means > 0)
    if known.sum() < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes[known]), np.log(means[known]), 1)[0])


def mean_over_draws(errors: Figures) -> Figures:
    """Mean of each row of (n_sizes, n_draws), ignoring NaN; NaN if all are NaN."""
    known = np.isfinite(errors)
    total = np.where(known, errors, 0).sum(axis=1)
    count = known.sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def plain(value: Any) -> Any:
    """Convert to JSON types; non-finite numbers become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
