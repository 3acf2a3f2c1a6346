"""Lemma 3.1: under the uniform measure, the subspace kernel depends on distances only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from subspaces._core.arrays import unit_rows
from subspaces._core.validation import check_integer, check_sigma
from subspaces.features import SubspaceFeatures, exact
from subspaces.paper.theory.curve import Figures, plain


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniformMeasure:
    """Result of `uniform_measure`: kernel of pairs of unit vectors at angles from zero to pi."""

    subspace_dim: int
    ambient_dim: int
    sigma: float
    n_subspaces: int
    distances: Figures  # (n_angles,), Euclidean, from 0 to 2
    closed_form: Figures  # (n_angles,), the kernel
    estimates: Figures  # (n_angles, n_pairs): means over uniform subspaces, drawn separately for each pair
    standard_errors: Figures  # (n_angles, n_pairs), of the estimates

    @property
    def deviations(self) -> Figures:
        """Errors of the estimates in standard errors: about standard normal if the closed form is correct."""
        return (self.estimates - self.closed_form[:, None]) / self.standard_errors

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        values = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        spread = self.deviations
        return {
            **values,
            "rms_deviation": plain(np.sqrt(np.mean(spread**2))),
            "max_deviation": plain(np.abs(spread).max()),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Restore a result from `to_dict`."""
        kept = {each.name: values[each.name] for each in fields(cls)}
        arrays: dict[str, Any] = {
            name: np.array(value) if isinstance(value, list) else value for name, value in kept.items()
        }
        return cls(**arrays)

    def plot(self, ax: Any = None) -> Any:
        """Plot the kernel over the distance, closed form and estimates; return the matplotlib Axes."""
        from subspaces.paper.theory.plots import plot_uniform

        return plot_uniform(self, ax)

    def __repr__(self) -> str:
        return (
            f"uniform {self.subspace_dim}-dimensional subspaces of R^{self.ambient_dim}, sigma = {self.sigma:.3g}: "
            f"{self.estimates.size} pairs differ from the closed form by "
            f"{np.sqrt(np.mean(self.deviations**2)):.2f} standard errors, at most {np.abs(self.deviations).max():.1f}"
        )


def uniform_measure(
    subspace_dim: int = 2,
    ambient_dim: int = 5,
    *,
    sigma: float = 0.7,
    n_angles: int = 13,
    n_pairs: int = 8,
    n_subspaces: int = 2000,
    random_state: Any = None,
) -> UniformMeasure:
    """Estimate the subspace kernel of pairs of unit vectors at given distances, under the uniform measure.

    Pairs at the same distance have random directions, and each pair has its own random subspaces, so that they share
    only the distance. Lemma 3.1 states that their values agree. The closed form is
    `kernels.exact.uniform_subspace_kernel`.

    The lemma is correct. The conclusion of the paper that the kernel is shift-invariant, as in Example I, is not: x and
    -x lie in the same subspaces, so the kernel is as large at distance 2 as at 0, and smallest at right angles. A
    positive-definite function that attains its value at zero at all shifts of length 2 has these shifts as periods, so
    it is constant.

    Parameters
    ----------
    subspace_dim : int, default=2
        Dimension of the subspaces.
    ambient_dim : int, default=5
        Dimension of the space.
    sigma : float, default=0.7
        Scale of exp(-dist^2 / sigma^2).
    n_angles : int, default=13
        Angles, evenly spaced from 0 to pi.
    n_pairs : int, default=8
        Pairs at each angle.
    n_subspaces : int, default=2000
        Subspaces drawn for each pair.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    found : UniformMeasure
    """
    width = check_integer("ambient_dim", ambient_dim, low=2)
    hint = f"ambient_dim={width}, and a subspace must have fewer dimensions than the space"
    dim = check_integer("subspace_dim", subspace_dim, low=1, high=width - 1, hint=hint)
    scale = check_sigma(sigma, np.dtype(np.float64))
    check_integer("n_angles", n_angles, low=2)
    check_integer("n_pairs", n_pairs, low=1)
    check_integer("n_subspaces", n_subspaces, low=2, hint="a standard error needs two")
    rng = check_random_state(random_state)
    angles = np.linspace(0, np.pi, n_angles)
    axes = np.eye(2, width)
    turned = np.cos(angles)[:, None] * axes[0] + np.sin(angles)[:, None] * axes[1]
    closed = exact.uniform_subspace_kernel(axes[:1], turned, subspace_dim=dim, sigma=scale)[0]
    means, errors = np.empty((n_angles, n_pairs)), np.empty((n_angles, n_pairs))
    features = SubspaceFeatures(n_subspaces, subspace_dim=dim, measure="uniform", sigma=scale, random_state=rng)
    for i, angle in enumerate(angles):
        for j in range(n_pairs):
            x, tangent = np.linalg.qr(rng.standard_normal((width, 2)))[0].T
            y = np.cos(angle) * x + np.sin(angle) * tangent
            psi = features.fit(x[None]).transform(unit_rows(np.stack([x, y])))
            products = n_subspaces * psi[0] * psi[1]
            means[i, j] = products.mean()
            errors[i, j] = products.std(ddof=1) / np.sqrt(n_subspaces)
    return UniformMeasure(dim, width, scale, n_subspaces, 2 * np.sin(angles / 2), closed, means, errors)
