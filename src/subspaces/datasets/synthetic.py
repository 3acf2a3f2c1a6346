"""Points near random subspaces, with noise and outliers: the usual test of hybrid linear modelling."""

from __future__ import annotations

import math
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces._core.validation import check_integer
from subspaces.datasets.arguments import (
    Counts,
    RandomSource,
    WholeNumbers,
    count_for_each,
    number_from_zero,
    random_generator,
    whole_numbers,
)

# Draws of one basis before `min_angle` counts as out of reach; no kept study.
DRAWS_PER_BASIS = 1000
# Smallest angle between subspaces by default, as in published experiments.
PUBLISHED_ANGLE = np.pi / 6


@overload
def make_subspaces(
    dims: WholeNumbers,
    ambient_dim: int,
    *,
    points_per_subspace: Counts = ...,
    noise: float = ...,
    outliers: float = ...,
    affine: bool = ...,
    min_angle: float | None = ...,
    shuffle: bool = ...,
    random_state: RandomSource = ...,
    return_bases: Literal[False] = ...,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...


@overload
def make_subspaces(
    dims: WholeNumbers,
    ambient_dim: int,
    *,
    points_per_subspace: Counts = ...,
    noise: float = ...,
    outliers: float = ...,
    affine: bool = ...,
    min_angle: float | None = ...,
    shuffle: bool = ...,
    random_state: RandomSource = ...,
    return_bases: Literal[True],
) -> tuple[NDArray[np.float64], NDArray[np.int64], list[NDArray[np.float64]], NDArray[np.float64]]: ...


def make_subspaces(
    dims: WholeNumbers,
    ambient_dim: int,
    *,
    points_per_subspace: Counts = 250,
    noise: float = 0.05,
    outliers: float = 0.05,
    affine: bool = False,
    min_angle: float | None = None,
    shuffle: bool = False,
    random_state: RandomSource = None,
    return_bases: bool = False,
) -> (
    tuple[NDArray[np.float64], NDArray[np.int64]]
    | tuple[NDArray[np.float64], NDArray[np.int64], list[NDArray[np.float64]], NDArray[np.float64]]
):
    """Draw points uniformly from the unit balls of random subspaces, then add noise and outliers.

    The defaults are those of published experiments: 250 points per subspace, noise 0.05, 5 % outliers. Use it to see
    how dimension, noise and outliers affect a method when the truth is known.

    Parameters
    ----------
    dims : sequence of int
        Dimension of each subspace, each below `ambient_dim`.
    ambient_dim : int
        Number p of columns.
    points_per_subspace : int or sequence of int, default=250
        Number of points of all subspaces, or of each.
    noise : float, default=0.05
        Standard deviation of the Gaussian noise added to every coordinate of the points.
    outliers : float, default=0.05
        Share q of outliers among all rows, below 1: ceil(n q / (1 - q)) rows are added to the n points, uniform in
        the cube [-m, m]^p, where m is the largest distance of a point to the origin.
    affine : bool, default=False
        Whether to move each subspace by a random unit vector, so that it misses the origin.
    min_angle : float or None, default=None
        Smallest principal angle, in radians, allowed between two subspaces; bases are redrawn until it is exceeded.
        Two subspaces whose dimensions sum to more than p always share directions; these angles of zero do not count,
        the smallest of the others does. None means pi / 6, as in published runs, or half of it, a quarter and so on
        if random subspaces of these dimensions practically never meet it, such as (4, 5, 6) in R^10. Zero accepts the
        first draw.
    shuffle : bool, default=False
        Whether to put the rows in random order, instead of subspace by subspace and outliers last.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of the draws.
    return_bases : bool, default=False
        Whether to return the true subspaces as well.

    Returns
    -------
    X : ndarray of shape (n_rows, ambient_dim)
    y : ndarray of shape (n_rows,)
        Index into `dims` of the subspace of each row, -1 for outliers.
    bases : list of ndarray of shape (ambient_dim, dims[k])
        Orthonormal columns; only with `return_bases=True`.
    centers : ndarray of shape (n_subspaces, ambient_dim)
        A point of each subspace, zero unless `affine`; only with `return_bases=True`.

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> X, y = make_subspaces([2, 2], 6, points_per_subspace=[40, 55], random_state=0)
    >>> X.shape
    (100, 6)
    >>> [int((y == label).sum()) for label in (0, 1, -1)]
    [40, 55, 5]
    """
    width = check_integer("ambient_dim", ambient_dim, low=2, hint="pass the number of columns")
    subspace_dims = whole_numbers(dims, name="dims", low=1, hint="pass one dimension for each subspace")
    if max(subspace_dims) >= width:
        raise InputError(
            f"dims has {max(subspace_dims)}, which must be below ambient_dim={width}: a subspace as large as "
            "the space contains every point; lower it, or raise ambient_dim."
        )
    counts = count_for_each(points_per_subspace, len(subspace_dims), name="points_per_subspace", groups="subspaces")
    noise = number_from_zero(noise, name="noise", hint="pass a standard deviation, 0 for exact points")
    outliers = number_from_zero(outliers, name="outliers", below=1, hint="pass the share of all rows, 0 for none")
    if min_angle is not None:
        min_angle = number_from_zero(
            min_angle, name="min_angle", below=np.pi / 2, hint="pass radians, 0 to take any subspaces"
        )
    rng = random_generator(random_state)

    bases = _draw_bases(subspace_dims, width, min_angle=min_angle, rng=rng)
    centers = np.zeros((len(bases), width))
    if affine:
        centers = rng.standard_normal(centers.shape)
        centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    points = np.concatenate(
        [
            _uniform_in_ball(count, basis.shape[1], rng=rng) @ basis.T + center
            for count, basis, center in zip(counts, bases, centers, strict=True)
        ]
    )
    points += noise * rng.standard_normal(points.shape)
    half_side = np.linalg.norm(points, axis=1).max()
    far_rows = rng.uniform(-half_side, half_side, size=(_n_outliers(len(points), outliers), width))

    X = np.concatenate([points, far_rows])
    y = np.concatenate([np.repeat(np.arange(len(bases)), counts), np.full(len(far_rows), -1)])
    if shuffle:
        order = rng.permutation(len(X))
        X, y = X[order], y[order]
    return (X, y, bases, centers) if return_bases else (X, y)


def _draw_bases(
    dims: list[int], width: int, *, min_angle: float | None, rng: np.random.Generator
) -> list[NDArray[np.float64]]:
    """Random orthonormal bases (width, d), one for each of `dims`, with angles above `min_angle` between them."""
    angle = PUBLISHED_ANGLE if min_angle is None else min_angle
    while True:
        try:
            return _draw_apart(dims, width, min_angle=angle, rng=rng)
        except ValueError:
            if min_angle is not None:
                raise
            angle /= 2


def _draw_apart(
    dims: list[int], width: int, *, min_angle: float, rng: np.random.Generator
) -> list[NDArray[np.float64]]:
    bases: list[NDArray[np.float64]] = []
    for dim in dims:
        widest = 0.0
        for _ in range(DRAWS_PER_BASIS):
            basis, _ = np.linalg.qr(rng.standard_normal((width, dim)))
            angle = min((_smallest_free_angle(basis, other) for other in bases), default=np.pi / 2)
            widest = max(widest, angle)
            if angle > min_angle or min_angle == 0:
                bases.append(basis)
                break
        else:
            raise InputError(
                f"min_angle={min_angle:.4g} was not exceeded in {DRAWS_PER_BASIS} draws of subspace {len(bases)} "
                f"(the best angle was {widest:.4g}): lower min_angle, raise ambient_dim={width}, or use fewer or "
                "smaller subspaces."
            )
    return bases


def _smallest_free_angle(basis: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Smallest principal angle of two subspaces that their dimensions do not force to be zero."""
    n_shared = max(0, basis.shape[1] + other.shape[1] - len(basis))
    cosines = np.linalg.svd(basis.T @ other, compute_uv=False)
    return float(np.arccos(min(1.0, cosines[n_shared])))


def _uniform_in_ball(count: int, dim: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Points (count, dim) uniform in the unit ball: a ball of radius r contains the share r^dim of them."""
    directions = rng.standard_normal((count, dim))
    radii = rng.random((count, 1)) ** (1 / dim)
    points: NDArray[np.float64] = directions * (radii / np.linalg.norm(directions, axis=1, keepdims=True))
    return points


def _n_outliers(n_points: int, share: float) -> int:
    # 19 points and a share of 0.05 make one outlier, but 19 * 0.05 / 0.95 is a little more than one.
    return math.ceil(n_points * share / (1 - share) - 1e-9)
