"""Estimate the number of landmarks needed for a tolerance."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from subspaces._core.arrays import Array
from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer, check_option, check_positive
from subspaces.features import FeatureMap, SubspaceFeatures
from subspaces.metrics import clustering_accuracy
from subspaces.paper.theory.curve import LAW, Curve, Figures, log_slope, mean_over_draws, plain
from subspaces.paper.theory.eigenspace import Eigenspace, drawn_eigenspace, exact_eigenspace, sine
from subspaces.paper.theory.kernel import describe, pair_deviations, sample_pairs
from subspaces.paper.theory.source import (
    ManyPoints,
    Source,
    check_counts,
    check_map,
    draws_rows,
    has_closed_form,
    make_source,
    refuse_sparse,
    settle,
)
from subspaces.spectral.partition import assign_embedded, plain_partition

CRITERIA = {
    "kernel": "the largest error of a kernel entry, relative to the largest entry",
    "eigenspace": "the sine of the largest angle between the leading eigenspaces",
    "labels": "the share of rows with a different label",
}
# Numbers of landmarks of the pilots, up to a quarter of the reference, and the smallest number of rows.
PILOTS = (32, 64, 128, 256, 512)
MIN_ROWS = 100
# Dimension of flats if no map is given.
DEFAULT_DIM = 3
N_DRAWS = {"kernel": 50, "eigenspace": 20, "labels": 20}
N_PAIRS = 1000
# Starts of k-means, as in the estimators.
N_STARTS = 10
# Largest distance of the slope from -1/2 at which the pilots follow the law, and the flattest slope that counts as
# decreasing.
SLOPE_TOLERANCE = 0.15
FLATTEST = -0.25
# A fitted slope is extrapolated up to this factor beyond the largest pilot.
FARTHEST = 16
# Above these errors, the eigenspaces or kernels of the pilots are too inaccurate to extrapolate.
LOST = 0.5
KERNEL_LOST = 1.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LandmarksNeeded:
    """Result of `landmarks_needed`; print it for a summary, call `plot` for a figure."""

    n_landmarks: int | None  # None if the pilots allow no answer
    tolerance: float
    criterion: str
    basis: str  # "law", "fitted slope", "measured" or "nothing"
    reason: str
    slope: float  # of the pilots, corrected for the error of the reference
    n_rows: int  # rows of X
    gap: float | None  # between the eigenvalues inside and outside the eigenspace
    curve: Curve  # the pilots

    @property
    def law_seen(self) -> bool:
        """Whether the pilots follow D^(-1/2)."""
        return self.basis == "law"

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes even with `allow_nan=False`."""
        names = ("n_landmarks", "tolerance", "criterion", "basis", "reason", "slope", "n_rows", "gap", "law_seen")
        return {**{name: plain(getattr(self, name)) for name in names}, "curve": self.curve.to_dict()}

    def plot(self, ax: Any = None) -> Any:
        """Plot the pilots, the law, the tolerance and the answer; return the matplotlib Axes."""
        from subspaces.paper.theory.plots import plot_needed

        return plot_needed(self, ax)

    def __repr__(self) -> str:
        answer = "D cannot be estimated" if self.n_landmarks is None else f"D = {self.n_landmarks}"
        pairs = zip(self.curve.sizes, mean_over_draws(self.curve.errors), strict=True)
        pilots = ", ".join(f"{error:.3g} at {size}" for size, error in pairs)
        text = (
            f"{answer} for a tolerance of {self.tolerance:.3g} in {CRITERIA[self.criterion]}: {self.reason} Measured: "
            f"{pilots}; slope {self.slope:.2f}."
        )
        return textwrap.fill(text, 100)


def landmarks_needed(
    X: ArrayLike,
    tolerance: float = 0.1,
    feature_map: Any = None,
    *,
    criterion: str | None = None,
    n_clusters: int | None = None,
    pilots: Any = None,
    n_draws: int | None = None,
    sample_rows: int = 2000,
    random_state: Any = None,
) -> LandmarksNeeded:
    """Estimate the number D of landmarks needed for a tolerance, from pilot runs on a sample of the rows.

    Pilots with up to a few hundred landmarks are compared with the exact kernel, or with very many landmarks. If their
    errors decrease as D^(-1/2), the law gives the D that meets the tolerance on average. Otherwise, the result states
    what the answer is based on, or that there is none. D depends on the data and the tolerance, not on the number of
    rows.

    Parameters
    ----------
    X : array-like of shape (n, p)
    tolerance : float, default=0.1
        Allowed error, in the units of the criterion.
    feature_map : FeatureMap, fitted estimator or None, default=None
        The map, or an estimator that contains it: `landmarks_needed(X, 0.1, fls)` for a fitted `FLS`. None is the dense
        map of the paper, with flats of dimension three at random rows. A sigma of "auto" is chosen once, by the given
        map; a fitted estimator uses its own sigma.
    criterion : {"kernel", "eigenspace", "labels"} or None, default=None
        "kernel": the largest error of an entry among 1000 pairs, relative to the largest entry. "eigenspace": the sine
        of the largest angle between the spans of the `n_clusters` leading eigenvectors. "labels": the share of rows
        that k-means on these eigenvectors labels differently; no law is known for it. None is "eigenspace" if the
        number of clusters is known, otherwise "kernel".
    n_clusters : int or None, default=None
        Number of clusters; by default that of a fitted estimator.
    pilots : sequence of int or None, default=None
        Numbers of landmarks to try. By default powers of two from 32 up to a quarter of the reference.
    n_draws : int or None, default=None
        Draws for each pilot. By default 50 for the kernel, whose draws are cheap, and 20 for eigenvectors.
    sample_rows : int, default=2000
        Number of rows used by the pilots. Maps that keep the nearest landmarks, such as the default of `FLS`, have no
        limit kernel: their pilots are compared with the eigenspace or labels of half as many landmarks as rows. The
        theory does not cover them, so the answer relies on the measurements.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    needed : LandmarksNeeded

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.kernels import LandmarkFeatures
    >>> from subspaces.theory import landmarks_needed
    >>> X, _ = make_subspaces((2, 2), 6, random_state=0)
    >>> needed = landmarks_needed(X, 0.1, LandmarkFeatures(landmarks="random", sigma=0.5), random_state=0)
    >>> needed.basis
    'law'
    """
    check_positive("tolerance", tolerance)
    check_integer("sample_rows", sample_rows, low=MIN_ROWS)
    rng = check_random_state(random_state)
    all_rows, features = _checked(X, feature_map)
    if n_clusters is None and hasattr(feature_map, "eigenvalues_"):
        n_clusters = feature_map.n_clusters_
    criterion = criterion or ("kernel" if n_clusters is None else "eigenspace")
    check_option("criterion", criterion, tuple(CRITERIA))
    draws = check_integer("n_draws", N_DRAWS[criterion] if n_draws is None else n_draws, low=2)
    if criterion == "kernel":
        refuse_sparse(features)
    elif n_clusters is None:
        raise InputError(f'criterion="{criterion}" needs n_clusters: pass it, or use criterion="kernel".')

    x = all_rows[rng.choice(len(all_rows), min(len(all_rows), sample_rows), replace=False)]
    features = settle(features, x, rng)
    n_reference = len(x) // 2 if draws_rows(features) and _is_fitted_again(features) else max(len(x), 8 * PILOTS[-1])
    low = 1 if criterion == "kernel" else check_integer("n_clusters", n_clusters, low=2, high=len(x) // 8) + 1
    hint = f"the reference has {n_reference} landmarks; raise sample_rows={sample_rows} for larger pilots"
    sizes = _pilot_sizes(pilots, low, n_reference, hint)
    source = make_source(features, x, n_reference=n_reference, rng=rng)
    errors, gap = pilot_errors(source, x, criterion, n_clusters or 2, sizes, draws, rng)
    parameters = {**describe(features), "n_rows": len(x), "reference": source.reference}
    parameters["without_replacement"] = isinstance(source, ManyPoints)
    curve = Curve(criterion, "n_features", np.array(sizes), {criterion: errors}, {}, parameters)

    # A reference that is itself a fit has an error of its own, which must not be attributed to the pilots.
    own = 1 / n_reference if _is_fitted_again(features) else 0.0
    # Rows are drawn without replacement, so that the error vanishes when all are used.
    left = 1 / len(all_rows) if isinstance(source, ManyPoints) else 0.0
    theory = criterion != "labels" and not features.is_sparse
    slope = log_slope(1 / (1 / curve.sizes + own), errors)
    count, basis, reason = _answer(curve, tolerance, slope, theory=theory, own=own, left=left, gap=gap)
    if count is not None and count < sizes[0]:
        count, reason = sizes[0], f"{reason} Fewer may suffice, but were not tried."
    if count is not None and draws_rows(features) and count >= len(all_rows):
        count, reason = len(all_rows), f"{reason} That is every row."
    return LandmarksNeeded(count, float(tolerance), criterion, basis, reason, slope, len(all_rows), gap, curve)


def _checked(X: ArrayLike, feature_map: Any) -> tuple[Array, FeatureMap]:
    """Rows (n, p) and the map, by default the dense map of the paper."""
    rows, features = check_map(
        X, SubspaceFeatures(subspace_dim=DEFAULT_DIM, landmarks="random") if feature_map is None else feature_map
    )
    if feature_map is None and rows.shape[1] == 1:
        raise InputError("X has one column, but flats need at least two: pass feature_map=LandmarkFeatures().")
    if feature_map is None and rows.shape[1] <= DEFAULT_DIM:
        features.set_params(subspace_dim=rows.shape[1] - 1)
    if len(rows) < MIN_ROWS:
        raise InputError(
            f"X has n_samples={len(rows)} rows: pass at least {MIN_ROWS}; with fewer, every row can be a landmark."
        )
    return rows, features


def _pilot_sizes(pilots: Any, low: int, n_reference: int, hint: str) -> tuple[int, ...]:
    """The given numbers of landmarks of the pilots, or the default ones; at least two."""
    if pilots is None:
        sizes = _default_pilots(low, n_reference)
    else:
        sizes = check_counts("pilots", pilots, low=low, high=n_reference // 2, hint=hint)
    if len(sizes) < 2:
        raise InputError(f"pilots={sizes} are too few for a slope: pass at least two, or more rows.")
    return sizes


def _default_pilots(low: int, n_reference: int) -> tuple[int, ...]:
    """Powers of two above `low`, up to a quarter of the reference."""
    sizes = tuple(size for size in PILOTS if low < size <= n_reference // 4)
    few = tuple(sorted({size for k in (16, 8, 4) if (size := n_reference // k) > low}))
    return sizes if len(sizes) >= len(few) else few


def _is_fitted_again(features: FeatureMap) -> bool:
    """Whether the reference is a fit of very many landmarks."""
    if has_closed_form(features):
        return False
    return not draws_rows(features) or features.is_sparse or getattr(features, "landmarks", "") != "random"


def pilot_errors(
    source: Source,
    x: Array,
    criterion: str,
    n_clusters: int,
    sizes: tuple[int, ...],
    n_draws: int,
    rng: np.random.RandomState,
) -> tuple[Figures, float | None]:
    """Errors (n_sizes, n_draws) of the pilots, and the eigenvalue gap if the criterion uses eigenvectors."""
    if criterion == "kernel":
        exact, deviations = pair_deviations(source, x, *sample_pairs(len(x), N_PAIRS, rng), sizes, n_draws, rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Infinite if sigma is so small that the kernel vanishes for all pairs.
            return deviations.max(axis=0) / np.abs(exact).max(), None
    space = exact_eigenspace(source, x, n_clusters)
    labels = _labels(space, n_clusters, rng) if criterion == "labels" else None

    def measure(size: int) -> float:
        found = drawn_eigenspace(source.draw(size, rng), x, n_clusters)
        if labels is None or found is None:
            return sine(space, found)
        return 1 - clustering_accuracy(labels, _labels(found, n_clusters, rng))

    return np.array([[measure(size) for _ in range(n_draws)] for size in sizes]), space.gap


def _labels(space: Eigenspace, n_clusters: int, rng: np.random.RandomState) -> Any:
    embedding = space.vectors[:, 1:]
    return assign_embedded(embedding, plain_partition(embedding, n_clusters, n_starts=N_STARTS, rng=rng))


def _answer(
    curve: Curve, tolerance: float, slope: float, *, theory: bool, own: float, left: float, gap: float | None
) -> tuple[int | None, str, str]:
    """D, what it is based on, and the reason.

    Squared errors are c^2 (1 / D + own) in the pilots and c^2 (1 / D - left) for the map itself.
    """
    means = mean_over_draws(curve.errors)
    last = float(means[-1])
    near = "" if gap is None else f" The gap of the eigenvalues is {gap:.2g}."
    drowned = curve.name == "kernel" and not last <= KERNEL_LOST
    if theory and abs(slope - LAW) <= SLOPE_TOLERANCE and not drowned and not (gap is not None and last > LOST):
        # Use the larger half of the pilots, because small ones may not yet follow the law.
        half = len(means) // 2
        constants = means[half:] / np.sqrt(1 / curve.sizes[half:] + own)
        constant = float(np.exp(np.nanmean(np.log(constants))))
        count = math.ceil(1 / ((tolerance / constant) ** 2 + left))
        return count, "law", f"the pilots follow D^(-1/2).{near}"
    why = "no law is known for this criterion or map." if not theory else f"the pilots do not follow D^(-1/2).{near}"
    if curve.name == "eigenspace" and last > LOST:
        why = (
            f"the eigenspace is still inaccurate at the largest pilot, because the eigenvalue gap is only {gap:.2g}: "
            "another n_clusters or sigma may have a larger gap."
        )
    if drowned:
        why = "the errors of the pilots exceed the largest entry of the kernel: raise sigma, or scale X."
    met = means <= tolerance
    if met[-1]:
        first = len(met) - int(np.argmin(met[::-1])) if not met.all() else 0
        return (
            int(curve.sizes[first]),
            "measured",
            f"{why} It is the smallest pilot from which the tolerance is met.",
        )
    if slope < FLATTEST and last <= LOST:
        factor = (last / tolerance) ** (-1 / slope)
        if factor <= FARTHEST:
            count = math.ceil(curve.sizes[-1] * factor)
            return (
                count,
                "fitted slope",
                f"{why} The answer extrapolates the slope of the pilots: use it with caution.",
            )
    return None, "nothing", f"{why} The errors do not decrease enough to estimate the number."
