"""Error of the approximated kernel, entry by entry (Section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from subspaces._core.arrays import Array, Indices
from subspaces._core.blocks import row_blocks
from subspaces._core.validation import check_integer, check_option
from subspaces.features import FeatureMap, FourierFeatures, LandmarkFeatures, SubspaceFeatures
from subspaces.paper.theory.curve import Curve, Figures
from subspaces.paper.theory.source import (
    Source,
    check_counts,
    check_landmark_counts,
    check_map,
    make_source,
    refuse_sparse,
    settle,
)

# The bound holds for all pairs of a draw simultaneously with this probability.
CONFIDENCE = 0.95
# Pairs per block, over all draws.
BLOCK_PAIRS = 20_000


def kernel_error(
    X: ArrayLike,
    feature_map: Any,
    *,
    n_features: Any = (32, 64, 128, 256, 512, 1024),
    n_draws: int = 10,
    n_pairs: int = 1000,
    n_reference: int = 4096,
    random_state: Any = None,
) -> Curve:
    """Difference between psi(x).psi(y) and k(x, y) for increasing numbers D of features.

    psi(x).psi(y) is a mean of D independent draws, so the error decreases as D^(-1/2) for every kernel and data set.

    Parameters
    ----------
    X : array-like of shape (n, p)
    feature_map : FeatureMap or fitted estimator
        The kernel and the measure. It must be dense (`n_nearest=None`). A sigma of "auto" is chosen once, by the given
        map. With `landmarks="random"`, points are drawn with replacement, as in the theorem; the map itself draws
        without replacement, and its error is smaller by a factor sqrt(1 - D / n). Landmarks of k-means are not drawn
        from a fixed measure: the theorem does not apply to them, and the slope differs.
    n_features : sequence of int
        The numbers D.
    n_draws : int, default=10
        Draws of features for each D.
    n_pairs : int, default=1000
        Pairs of different rows that the error is measured on, the same for all draws.
    n_reference : int, default=4096
        If the measure is the data, its number of points: all rows, or a sample of this size. If the kernel has no
        closed form otherwise, the number of features that approximate it: use ten times the largest D, so that their
        own error is small.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    curve : Curve
        Measures "max", the largest error over the pairs, and "rms", the root of the mean square; both (n_sizes,
        n_draws). `bounds["paper"]` follows from the pointwise inequality of the paper, 2 exp(-D eps^2 / 4), and a
        union bound over all pairs, with probability 0.95. It holds if |f| <= 1, as for landmarks and subspaces, for
        which exp(-2 D eps^2) is also valid. For Fourier features, whose products range from -2 to 2, the Hoeffding
        inequality cited in the paper gives only exp(-D eps^2 / 8). The stated inequality is still true, because
        cos(a - b) and cos(a + b) are independent under a uniform phase, and the second is sub-Gaussian with variance
        1/2. Other maps have no bound.

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.kernels import FourierFeatures
    >>> from subspaces.theory import kernel_error
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = kernel_error(X, FourierFeatures(sigma=2.0), random_state=0)
    >>> bool(abs(curve.slope + 0.5) < 0.05)
    True
    """
    sizes = check_counts("n_features", n_features)
    check_integer("n_draws", n_draws, low=1)
    check_integer("n_pairs", n_pairs, low=1)
    check_integer("n_reference", n_reference, low=1)
    rng = check_random_state(random_state)
    x, features = check_map(X, feature_map)
    refuse_sparse(features)
    check_landmark_counts(features, sizes, len(x))
    features = settle(features, x, rng)
    source = make_source(features, x, n_reference=n_reference, rng=rng)
    first, second = sample_pairs(len(x), n_pairs, rng)
    exact, deviations = pair_deviations(source, x, first, second, sizes, n_draws, rng)
    return Curve(
        "kernel error",
        "n_features",
        np.array(sizes),
        {"max": deviations.max(axis=0), "rms": np.sqrt(np.square(deviations).mean(axis=0))},
        _bounds(features, np.array(sizes), n_pairs),
        {
            **describe(features),
            "n_rows": len(x),
            "n_pairs": n_pairs,
            "reference": source.reference,
            "largest_kernel_value": float(np.abs(exact).max()),
        },
    )


def kernel_error_by_rows(
    X: ArrayLike,
    feature_map: Any,
    *,
    n_rows: Any = None,
    n_features: int = 128,
    n_draws: int = 10,
    n_pairs: int = 1000,
    n_reference: int = 512,
    uniform: bool = True,
    fixed_measure: bool = False,
    random_state: Any = None,
) -> Curve:
    """Kernel error at one D, for increasing numbers n of rows.

    Landmarks and flats are computed from each sample, as they would be for data of that size. Over a fixed number of
    pairs, the error does not depend on n. Over n pairs it increases, but at most as sqrt(log n), and never beyond the
    supremum over the domain in Theorem 4.1. Rows are processed in blocks, so a million rows are feasible.

    Parameters
    ----------
    X : array-like of shape (n, p)
    feature_map : FeatureMap or fitted estimator
        As in `kernel_error`.
    n_rows : sequence of int or None, default=None
        The numbers n, each a random sample of X. By default 1000, 10,000, ... up to all rows.
    n_features : int, default=128
        Number D of features.
    n_draws : int, default=10
        Draws of features for each n.
    n_pairs : int, default=1000
        Pairs of rows at every n.
    n_reference : int, default=512
        As in `kernel_error`.
    uniform : bool, default=True
        Whether to measure also n pairs, each row with the next.
    fixed_measure : bool, default=False
        Whether landmarks and flats of the smallest sample are used for all n. The theorems assume one measure, but the
        measure of landmark flats changes with n: the same number of neighbours covers a smaller region, and finally
        only noise.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    curve : Curve
        Measures "max" and "rms" over `n_pairs` pairs, and "max over n pairs" if `uniform`: (n_sizes, n_draws).
    """
    count = check_integer("n_features", n_features, low=1)
    check_integer("n_draws", n_draws, low=1)
    check_integer("n_pairs", n_pairs, low=1)
    check_integer("n_reference", n_reference, low=1)
    rng = check_random_state(random_state)
    x, features = check_map(X, feature_map)
    refuse_sparse(features)
    sizes = check_sizes(n_rows, len(x))
    check_landmark_counts(features, (count,), sizes[0])
    features = settle(features, x, rng)
    check_option("uniform", uniform, (True, False))
    check_option("fixed_measure", fixed_measure, (True, False))
    order = rng.permutation(len(x))
    tables: dict[str, list[Figures]] = {"max": [], "rms": []}
    if uniform:
        tables["max over n pairs"] = []
    for size in sizes:
        rows = x[order[:size]]
        if size == sizes[0] or not fixed_measure:
            source = make_source(features, rows, n_reference=n_reference, rng=rng)
        first, second = sample_pairs(size, n_pairs, rng)
        draws = source.take([count] * n_draws, rng)
        exact, found = source.pairs(rows, first, second, draws)
        deviations = np.abs(found - exact[:, None])
        tables["max"].append(deviations.max(axis=0))
        tables["rms"].append(np.sqrt(np.square(deviations).mean(axis=0)))
        if uniform:
            tables["max over n pairs"].append(_largest_over_rows(source, rows, draws))
    parameters = {**describe(features), "n_features": count, "n_pairs": n_pairs, "reference": source.reference}
    return Curve(
        "kernel error",
        "n_rows",
        np.array(sizes),
        {name: np.array(table) for name, table in tables.items()},
        {},
        parameters,
    )


def pair_deviations(
    source: Source,
    x: Array,
    first: Indices,
    second: Indices,
    sizes: Sequence[int],
    n_draws: int,
    rng: np.random.RandomState,
) -> tuple[Figures, Figures]:
    """Kernel (m,) of pairs, and absolute errors of the draws: (m, n_sizes, n_draws)."""
    draws = source.take([size for size in sizes for _ in range(n_draws)], rng)
    exact, found = source.pairs(x, first, second, draws)
    return exact, np.abs(found - exact[:, None]).reshape(len(exact), len(sizes), n_draws)


def _largest_over_rows(source: Source, rows: Array, draws: Any) -> Figures:
    """Largest error (n_draws,) over the pairs of each row with the next."""
    largest = np.zeros(())
    for block in row_blocks(len(rows), 1, block_rows=BLOCK_PAIRS):
        first = np.arange(block.start, block.stop)
        exact, found = source.pairs(rows, first, (first + 1) % len(rows), draws)
        largest = np.maximum(largest, np.abs(found - exact[:, None]).max(axis=0))
    return largest


def sample_pairs(n_rows: int, count: int, rng: np.random.RandomState) -> tuple[Indices, Indices]:
    """Draw `count` pairs of different rows."""
    first = rng.randint(n_rows, size=count)
    return first, (first + rng.randint(1, n_rows, size=count)) % n_rows


def check_sizes(n_rows: Any, available: int) -> tuple[int, ...]:
    """Checked numbers of rows; by default powers of ten from 1000 on."""
    if n_rows is None:
        powers = [10**k for k in range(3, 12) if 10**k < available]
        return (*powers, available)
    return check_counts("n_rows", n_rows, low=2, high=available, hint=f"X has n_samples={available} rows")


def describe(features: FeatureMap) -> dict[str, Any]:
    """Name and parameters of a map that determine its errors."""
    values = {key: value for key, value in features.get_params().items() if key not in ("n_components", "random_state")}
    return {"map": type(features).__name__, **values}


def _bounds(features: FeatureMap, sizes: Array, n_pairs: int) -> dict[str, Figures]:
    """Simultaneous bound for all pairs from the pointwise inequality of the paper."""
    if not isinstance(features, FourierFeatures | LandmarkFeatures | SubspaceFeatures):
        return {}
    return {"paper": np.sqrt(4 * np.log(2 * n_pairs / (1 - CONFIDENCE)) / sizes)}
