"""How many landmarks are enough, told from the rows at hand."""

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
    "kernel": "the largest error of a kernel entry, as a share of the largest entry",
    "eigenspace": "the sine of the largest angle between the leading eigenspaces",
    "labels": "the share of rows with another label",
}
# Pilots that double up to a quarter of the reference, of a sample of at least so many rows.
PILOTS = (32, 64, 128, 256, 512)
MIN_ROWS = 100
# Dimension of flats where no map is given.
DEFAULT_DIM = 3
N_DRAWS = {"kernel": 50, "eigenspace": 20, "labels": 20}
N_PAIRS = 1000
# Starts of k-means, as in the estimators.
N_STARTS = 10
# The law counts as seen where the slope of the pilots is so near to it, and errors as falling where it is so steep.
SLOPE_TOLERANCE = 0.15
FLATTEST = -0.25
# A slope that no law stands behind is followed this many times beyond the largest pilot.
FARTHEST = 16
# Eigenspaces of pilots farther off than this are not yet near the right one, and kernels not beyond this.
LOST = 0.5
KERNEL_LOST = 1.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LandmarksNeeded:
    """What `landmarks_needed` found; print it for a sentence, plot it for the curve behind it."""

    n_landmarks: int | None  # None where the pilots allow no answer
    tolerance: float
    criterion: str
    basis: str  # "law", "fitted slope", "measured" or "nothing"
    reason: str
    slope: float  # of the pilots, over D and the features of the reference where these have an error of their own
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
        """Draw the pilots, the law, the tolerance and the answer; returns the matplotlib Axes."""
        from subspaces.paper.theory.plots import plot_needed

        return plot_needed(self, ax)

    def __repr__(self) -> str:
        answer = "No number of landmarks can be told" if self.n_landmarks is None else f"D = {self.n_landmarks}"
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
    """How many landmarks D are enough for a tolerance, from pilots on a sample of the rows.

    Pilots of a few hundred landmarks are compared with the kernel itself, or with very many landmarks. If their errors
    fall as D^(-1/2), the law tells the D that meets the tolerance on average. If they do not, the answer says what it
    goes by instead, or that there is none. D depends on the data and the tolerance, not on how many rows there are.

    Parameters
    ----------
    X : array-like of shape (n, p)
    tolerance : float, default=0.1
        Error allowed, in the units of the criterion.
    feature_map : FeatureMap, fitted estimator or None, default=None
        The map to count landmarks of: `landmarks_needed(X, 0.1, fls)` asks for those of a fitted `FLS`. None is the
        dense map of the paper, with flats of three dimensions at random rows. A sigma of "auto" is settled once, by the
        map as it is given; that of a fitted estimator is its own.
    criterion : {"kernel", "eigenspace", "labels"} or None, default=None
        "kernel": the largest error of an entry among 1000 pairs, as a share of the largest entry. "eigenspace": the
        sine of the largest angle between the spans of the `n_clusters` leading eigenvectors. "labels": the share of
        rows that k-means on these eigenvectors labels otherwise; no law is known for it. None is "eigenspace" where the
        number of clusters is known, else "kernel".
    n_clusters : int or None, default=None
        Number of clusters; None is that of a fitted estimator.
    pilots : sequence of int or None, default=None
        Numbers of landmarks to try. None doubles from 32 up to a quarter of the reference.
    n_draws : int or None, default=None
        Draws for each pilot. None is 50 for the kernel, whose draws cost little, and 20 for eigenvectors.
    sample_rows : int, default=2000
        Rows that pilots see. Maps of the nearest landmarks, as `FLS` has them by default, have no limit kernel: pilots
        are compared with the eigenspace or labels of half as many landmarks as there are rows here. The theory is
        silent about them, so the answer rests on what is measured.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    needed : LandmarksNeeded

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.features import LandmarkFeatures
    >>> from subspaces.paper.theory import landmarks_needed
    >>> X, _ = make_subspaces((2, 2), 6, random_state=0)
    >>> needed = landmarks_needed(X, 0.1, LandmarkFeatures(landmarks="random", sigma=0.5), random_state=0)
    >>> needed.basis
    'law'
    """
    check_positive("tolerance", tolerance)
    check_integer("sample_rows", sample_rows, low=MIN_ROWS)
    rng = check_random_state(random_state)
    given = feature_map
    if feature_map is None:
        feature_map = SubspaceFeatures(subspace_dim=DEFAULT_DIM, landmarks="random")
    all_rows, features = check_map(X, feature_map)
    if given is None and all_rows.shape[1] == 1:
        raise InputError("X has one column, which leaves no room for a line: pass feature_map=LandmarkFeatures().")
    if given is None and all_rows.shape[1] <= DEFAULT_DIM:
        features.set_params(subspace_dim=all_rows.shape[1] - 1)
    if len(all_rows) < MIN_ROWS:
        raise InputError(
            f"X has n_samples={len(all_rows)} rows: pass at least {MIN_ROWS}; with fewer, every row can be a landmark."
        )
    if n_clusters is None and hasattr(feature_map, "eigenvalues_"):
        n_clusters = feature_map.n_clusters_
    criterion = criterion or ("kernel" if n_clusters is None else "eigenspace")
    check_option("criterion", criterion, tuple(CRITERIA))
    draws = check_integer("n_draws", N_DRAWS[criterion] if n_draws is None else n_draws, low=2)
    if criterion == "kernel":
        refuse_sparse(features)
    elif n_clusters is None:
        raise InputError(f'criterion="{criterion}" needs n_clusters: give it, or use criterion="kernel".')

    x = all_rows[rng.choice(len(all_rows), min(len(all_rows), sample_rows), replace=False)]
    features = settle(features, x, rng)
    n_reference = len(x) // 2 if draws_rows(features) and _is_fitted_again(features) else max(len(x), 8 * PILOTS[-1])
    low = 1 if criterion == "kernel" else check_integer("n_clusters", n_clusters, low=2, high=len(x) // 8) + 1
    if pilots is None:
        sizes = _default_pilots(low, n_reference)
    else:
        hint = f"{n_reference} landmarks stand for very many; raise sample_rows={sample_rows} for larger pilots"
        sizes = check_counts("pilots", pilots, low=low, high=n_reference // 2, hint=hint)
    if len(sizes) < 2:
        raise InputError(f"pilots={sizes} are too few for a slope: give at least two, or pass more rows.")
    source = make_source(features, x, n_reference=n_reference, rng=rng)
    errors, gap = pilot_errors(source, x, criterion, n_clusters or 2, sizes, draws, rng)
    parameters = {**describe(features), "n_rows": len(x), "reference": source.reference}
    parameters["without_replacement"] = isinstance(source, ManyPoints)
    curve = Curve(criterion, "n_features", np.array(sizes), {criterion: errors}, {}, parameters)

    # The reference of maps that are fitted again has an error of its own, of which the pilots must not be accused.
    own = 1 / n_reference if _is_fitted_again(features) else 0.0
    # Rows drawn without replacement: all of them have no error left.
    left = 1 / len(all_rows) if isinstance(source, ManyPoints) else 0.0
    theory = criterion != "labels" and not features.is_sparse
    slope = log_slope(1 / (1 / curve.sizes + own), errors)
    count, basis, reason = _answer(curve, tolerance, slope, theory=theory, own=own, left=left, gap=gap)
    if count is not None and count < sizes[0]:
        count, reason = sizes[0], f"{reason} Fewer would do, but none were tried."
    if count is not None and draws_rows(features) and count >= len(all_rows):
        count, reason = len(all_rows), f"{reason} That is every row."
    return LandmarksNeeded(count, float(tolerance), criterion, basis, reason, slope, len(all_rows), gap, curve)


def _default_pilots(low: int, n_reference: int) -> tuple[int, ...]:
    """Numbers above `low` that double up to a quarter of the reference."""
    sizes = tuple(size for size in PILOTS if low < size <= n_reference // 4)
    few = tuple(sorted({size for k in (16, 8, 4) if (size := n_reference // k) > low}))
    return sizes if len(sizes) >= len(few) else few


def _is_fitted_again(features: FeatureMap) -> bool:
    """Whether very many landmarks, fitted like the pilots, must stand for the kernel."""
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
    """Errors (n_sizes, n_draws) of pilots, and the gap where eigenvectors are asked about."""
    if criterion == "kernel":
        exact, deviations = pair_deviations(source, x, *sample_pairs(len(x), N_PAIRS, rng), sizes, n_draws, rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Infinite where sigma is so small that the kernel vanishes for all pairs.
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
    """D, what it goes by, and why in a sentence.

    Squared errors are c^2 (1 / D + own) in the pilots and c^2 (1 / D - left) for the map itself.
    """
    means = mean_over_draws(curve.errors)
    last = float(means[-1])
    near = "" if gap is None else f" The gap of the eigenvalues is {gap:.2g}."
    drowned = curve.name == "kernel" and not last <= KERNEL_LOST
    if theory and abs(slope - LAW) <= SLOPE_TOLERANCE and not drowned and not (gap is not None and last > LOST):
        # The larger half of the pilots, for small ones may not yet follow the law.
        half = len(means) // 2
        constants = means[half:] / np.sqrt(1 / curve.sizes[half:] + own)
        constant = float(np.exp(np.nanmean(np.log(constants))))
        count = math.ceil(1 / ((tolerance / constant) ** 2 + left))
        return count, "law", f"the pilots follow D^(-1/2).{near}"
    why = "no law is known for this criterion or map." if not theory else f"the pilots do not follow D^(-1/2).{near}"
    if curve.name == "eigenspace" and last > LOST:
        why = (
            f"eigenspaces are still lost at the largest pilot, for a gap of {gap:.2g} between the eigenvalues: "
            "another n_clusters or sigma may have a larger one."
        )
    if drowned:
        why = "errors of the pilots are larger than the largest entry of the kernel: raise sigma, or scale X."
    met = means <= tolerance
    if met[-1]:
        first = len(met) - int(np.argmin(met[::-1])) if not met.all() else 0
        return (
            int(curve.sizes[first]),
            "measured",
            f"{why} It is the smallest pilot from which on the tolerance is met.",
        )
    if slope < FLATTEST and last <= LOST:
        factor = (last / tolerance) ** (-1 / slope)
        if factor <= FARTHEST:
            count = math.ceil(curve.sizes[-1] * factor)
            return (
                count,
                "fitted slope",
                f"{why} The slope of the pilots was followed beyond them: take it with caution.",
            )
    return None, "nothing", f"{why} Errors do not fall enough to say how many would meet it."
