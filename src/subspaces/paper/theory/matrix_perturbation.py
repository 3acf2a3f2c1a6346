"""Perturbation of the normalised kernel matrix: Lemma 4.3 and the bound on eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import svds
from sklearn.utils import check_random_state

from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer
from subspaces.paper.theory.curve import Figures, plain
from subspaces.paper.theory.kernel import describe
from subspaces.paper.theory.source import (
    check_counts,
    check_landmark_counts,
    check_map,
    inner_products,
    make_source,
    refuse_sparse,
    settle,
)

# Several dense n x n matrices are in memory.
MOST_ROWS = 3000
TERMS = ("H1", "H2", "H3")
# In these tables, None in JSON stands for infinity; in the others, for NaN (not measured).
INFINITE = ("delta", "bounds", "sharp_bounds")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Perturbation:
    """Result of `perturbation`. Tables are (n_sizes, n_draws), or (n_sizes, n_draws, 3) for the three terms."""

    sizes: Any  # (n_sizes,), the numbers D
    delta: Figures  # largest error of an entry, over the smallest entry of the kernel matrix
    norms: Figures  # spectral norms of H1, H2, H3
    bounds: Figures  # bounds of the lemma; infinite if delta >= 1, when it does not apply
    sharp_bounds: Figures  # sharper bounds, without the ratio u / l
    total: Figures  # spectral norm of H1 + H2 + H3
    vector_error: Figures  # distance of the second eigenvectors, up to sign
    lower: float  # smallest entry l of the kernel matrix
    upper: float  # its largest, u
    gap: float  # distance c of the second eigenvalue to zero and to all others
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether all terms of all draws are within their bounds, up to rounding."""
        known = np.isfinite(self.norms)
        return bool((self.norms[known] <= self.bounds[known] * (1 + 1e-9) + 1e-12).all())

    @property
    def vector_bound(self) -> Figures:
        """2^(3/2) |H1 + H2 + H3| / c, an upper bound on the distance of the eigenvectors (Yu, Wang and Samworth)."""
        if self.gap > 0:
            return 2**1.5 * self.total / self.gap
        # Without a gap the bound is infinite.
        return np.where(np.isnan(self.total), np.nan, np.inf)

    def to_dict(self) -> dict[str, Any]:
        """Plain values that `json.dumps` takes even with `allow_nan=False`: non-finite numbers become None."""
        values = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        return {**values, "vector_bound": plain(self.vector_bound), "holds": self.holds}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Restore a result from `to_dict`."""
        tables = {each.name: values[each.name] for each in fields(cls)}
        for name, value in tables.items():
            if isinstance(value, list):
                table = np.array(value, np.int64 if name == "sizes" else np.float64)
                tables[name] = np.where(np.isnan(table), np.inf, table) if name in INFINITE else table
        return cls(**tables)

    def plot(self, ax: Any = None) -> Any:
        """Plot the three norms and their bounds over D; return the matplotlib Axes."""
        from subspaces.paper.theory.plots import plot_perturbation

        return plot_perturbation(self, ax)

    def __repr__(self) -> str:
        last = ", ".join(
            f"|{name}| = {norm:.3g} (bound {bound:.3g})"
            for name, norm, bound in zip(TERMS, self.norms[-1].mean(axis=0), self.bounds[-1].mean(axis=0), strict=True)
        )
        return (
            f"perturbation at D = {self.sizes[-1]}: {last}; entries from l = {self.lower:.3g} to u = {self.upper:.3g}, "
            f"delta = {self.delta[-1].mean():.3g}, gap {self.gap:.3g}"
        )


def perturbation(
    X: ArrayLike,
    feature_map: Any,
    *,
    n_features: Any = (256, 1024, 4096),
    n_draws: int = 3,
    n_reference: int = 4096,
    random_state: Any = None,
) -> Perturbation:
    """Measure the terms of Lemma 4.3 and their bounds.

    Let W be the kernel matrix, D the diagonal matrix of its row sums, and W^, D^ their approximations. The terms
    H1 = (D^(-1/2) - D^^(-1/2)) W D^(-1/2), H2 = D^^(-1/2) (W - W^) D^(-1/2), H3 = D^^(-1/2) W^ (D^(-1/2) - D^^(-1/2))
    sum to L - L^. If all entries lie between l > 0 and u, and all errors are at most delta l with delta < 1, then

    - |H1| <= (u / 2 l) (1 - delta)^(-3/2) delta,
    - |H2| <= (1 - delta)^(-1/2) delta,
    - |H3| <= (u / l + delta) (1 - delta)^(-2) delta / 2.

    All three bounds are correct. The ratio u / l in the first and third is not needed: L and L^ have norm one, and
    degrees change by a factor between 1 - delta and 1 + delta, so (1 - delta)^(-1/2) - 1 and 1 - (1 - delta)^(1/2) are
    bounds, too; see `sharp_bounds`. The limiting quantity is l: if some rows are far apart relative to sigma, the
    smallest entry is almost zero, delta exceeds one for all practical D, and the lemma does not apply although the
    terms are small.

    The paper then bounds the error of the second eigenvector by |H1 + H2 + H3| / c. The cited theorem gives this with
    an additional factor 2^(3/2) if c is the gap of L, which the constant C of Theorem 4.5 can absorb.

    Parameters
    ----------
    X : array-like of shape (n, p)
        At most 3000 rows: matrices are n x n.
    feature_map : FeatureMap or fitted estimator
        As in `kernel_error`.
    n_features, n_draws, n_reference, random_state :
        As in `kernel_error`.

    Returns
    -------
    found : Perturbation
        Terms are NaN for draws in which a degree is not positive, which requires delta >= 1.
    """
    sizes = check_counts("n_features", n_features)
    check_integer("n_draws", n_draws, low=1)
    check_integer("n_reference", n_reference, low=1)
    rng = check_random_state(random_state)
    x, features = check_map(X, feature_map)
    refuse_sparse(features)
    if not 3 <= len(x) <= MOST_ROWS:
        raise InputError(
            f"X has n_samples={len(x)} rows, but matrices are n x n: pass 3 to {MOST_ROWS} rows, for example a sample."
        )
    check_landmark_counts(features, sizes, len(x))
    features = settle(features, x, rng)
    source = make_source(features, x, n_reference=n_reference, rng=rng)
    exact = source.matrix(x, x)
    values, vectors = _top_vectors(exact)
    found = [
        [_measure(exact, vectors[:, 1], inner_products(source.draw(size, rng), x, x)) for _ in range(n_draws)]
        for size in sizes
    ]
    tables = {name: np.array([[draw[name] for draw in row] for row in found]) for name in found[0][0]}
    lower, upper = float(exact.min()), float(exact.max())
    return Perturbation(
        np.array(sizes),
        **tables,
        **dict(
            zip(
                ("bounds", "sharp_bounds"),
                _bounds(tables["delta"], upper / lower if lower > 0 else np.inf),
                strict=True,
            )
        ),
        lower=lower,
        upper=upper,
        # Rounding can make the gap slightly negative.
        gap=max(0.0, float(min(1 - values[1], values[1] - values[2], values[1]))),
        parameters={**describe(features), "n_rows": len(x), "reference": source.reference},
    )


def _measure(exact: Figures, vector: Figures, approximate: Figures) -> dict[str, Any]:
    """delta, the norms of the terms and the error of the second eigenvector (n,), for one draw."""
    delta = float(np.abs(exact - approximate).max() / exact.min()) if exact.min() > 0 else np.inf
    degrees, found = exact.sum(axis=1), approximate.sum(axis=1)
    if not (found > 0).all():
        return {"delta": delta, "norms": np.full(3, np.nan), "total": np.nan, "vector_error": np.nan}
    root, found_root = degrees**-0.5, found**-0.5
    terms = [
        (root - found_root)[:, None] * exact * root,
        found_root[:, None] * (exact - approximate) * root,
        found_root[:, None] * approximate * (root - found_root),
    ]
    _, vectors = _top_vectors(approximate)
    error = min(np.linalg.norm(vectors[:, 1] - vector), np.linalg.norm(vectors[:, 1] + vector))
    norms = np.array([_norm(term) for term in terms])
    return {"delta": delta, "norms": norms, "total": _norm(np.sum(terms, axis=0)), "vector_error": float(error)}


def _bounds(delta: Figures, ratio: float) -> tuple[Figures, Figures]:
    """Bounds of the lemma and sharper bounds (n_sizes, n_draws, 3); infinite unless delta < 1."""
    small = (delta < 1) & np.isfinite(ratio)
    safe, ratio = np.where(small, delta, 0.5), ratio if np.isfinite(ratio) else 1.0
    stated = [
        ratio / 2 * (1 - safe) ** -1.5 * safe,
        (1 - safe) ** -0.5 * safe,
        (ratio + safe) * safe / (2 * (1 - safe) ** 2),
    ]
    sharp = [(1 - safe) ** -0.5 - 1, stated[1], 1 - (1 - safe) ** 0.5]
    both = (np.where(small[..., None], np.stack(each, axis=-1), np.inf) for each in (stated, sharp))
    return next(both), next(both)


def _top_vectors(matrix: Figures) -> tuple[Figures, Figures]:
    """The three largest eigenvalues of a normalised kernel matrix (n, n), and their eigenvectors (n, 3)."""
    degrees = matrix.sum(axis=1)
    if not (degrees > 0).all():
        raise InputError("the kernel has rows without positive degree, so it is not a similarity: use another kernel.")
    scale = degrees**-0.5
    # Compute all eigenvalues: iterative methods fail if many of them are almost equal.
    values, vectors = np.linalg.eigh(scale[:, None] * matrix * scale)
    return values[:-4:-1], vectors[:, :-4:-1]


def _norm(matrix: Figures) -> float:
    """Largest singular value."""
    if not matrix.any():
        return 0.0
    start = 1 + np.arange(len(matrix)) / len(matrix)
    return float(svds(matrix, 1, v0=start, return_singular_vectors=False)[0])
