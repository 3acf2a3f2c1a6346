"""Data of the tables of the paper, and data sets with clusters of unequal size: `load(seed)` returns rows and classes.

Classes below 0 are outliers. Draws of MNIST and penDigits differ in the seed of the method alone. Data are read from
the folder named by SUBSPACES_DATA.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from subspaces.datasets import load_mnist, load_pendigits, load_yaleb, make_motions, make_subspaces

Rows = tuple[Any, Any]
Load = Callable[[int], Rows]

MODELS = {"R^6": ((2, 2), 6), "R^10": ((4, 5, 6), 10), "R^20": ((5, 6, 7), 20), "R^80": ((3, 4, 5, 6, 7), 80)}
POWERS = [0.8**k for k in range(10)]


def synthetic(dims: tuple[int, ...], ambient_dim: int, outliers: float, affine: bool = False) -> Load:
    return lambda seed: make_subspaces(dims, ambient_dim, outliers=outliers, affine=affine, random_state=seed)


def paper_sets() -> dict[str, tuple[Load, int]]:
    """How to load a draw, and the number of clusters."""
    sets: dict[str, tuple[Load, int]] = {}
    for space, (dims, ambient_dim) in MODELS.items():
        for outliers in (0.05, 0.3):
            name = f"synthetic ({','.join(map(str, dims))}) {space} {outliers:.0%}"
            sets[name] = (synthetic(dims, ambient_dim, outliers), len(dims))
    sets["affine (2,2) R^6 5%"] = (synthetic((2, 2), 6, 0.05, affine=True), 2)
    sets["affine (4,5,6) R^10 5%"] = (synthetic((4, 5, 6), 10, 0.05, affine=True), 3)
    for motions in (2, 3):
        for noise in (0.0, 0.01):
            sets[f"motions {motions} noise {noise}"] = (
                lambda seed, k=motions, s=noise: make_motions(k, noise=s, random_state=seed),
                motions,
            )
    for digits in ("17", "49", "248", "368", "25789", "123456789", "0123456789"):
        chosen = [int(digit) for digit in digits]
        sets[f"mnist {digits}"] = (lambda seed, d=chosen: load_mnist(d), len(digits))
    sets["pendigits"] = (lambda seed: load_pendigits(), 10)
    sets["yale 8"] = (lambda seed: load_yaleb(8, random_state=seed), 8)
    sets["yale 38"] = (lambda seed: load_yaleb(), 38)
    sets["digits (scikit-learn)"] = (lambda seed: load_digits(return_X_y=True), 10)
    return sets


def unequal_sets() -> dict[str, tuple[Load, int]]:
    """The same with clusters of unequal size."""
    sets: dict[str, tuple[Load, int]] = {
        "mnist 1, 7 at 1 : .05": (mnist("17", [1, 0.05]), 2),
        "mnist 3, 6, 8 at 1 : .5 : .1": (mnist("368", [1, 0.5, 0.1]), 3),
        "mnist 2, 5, 7, 8, 9 at 1 : .5 : .3 : .2 : .1": (mnist("25789", [1, 0.5, 0.3, 0.2, 0.1]), 5),
        "mnist 4, 9 at 1 : .1": (mnist("49", [1, 0.1]), 2),
        "pendigits at .8^k": (
            lambda seed: thinned(*load_pendigits(), dict(zip(range(10), POWERS, strict=True)), seed),
            10,
        ),
        "mnist 0, 6 at 1 : .03": (mnist("06", [1, 0.03]), 2),
        "mnist 9, 4 at 1 : .1": (mnist("94", [1, 0.1]), 2),
        "mnist 3, 5, 8 at 1 : .3 : .1": (mnist("358", [1, 0.3, 0.1]), 3),
        "mnist 0-9 at .8^k": (mnist("0123456789", POWERS), 10),
    }
    for space, (dims, ambient_dim) in MODELS.items():
        sizes = [400] + [40] * (len(dims) - 1)
        sets[f"{dims} {space}, 400 : 40 rows"] = (
            lambda seed, d=dims, p=ambient_dim, n=sizes: make_subspaces(d, p, points_per_subspace=n, random_state=seed),
            len(dims),
        )
    return sets


def mnist(digits: str, shares: list[float]) -> Load:
    chosen = [int(digit) for digit in digits]
    return lambda seed: thinned(*load_mnist(chosen), dict(zip(chosen, shares, strict=True)), seed)


def thinned(X: Any, y: Any, shares: dict[int, float], seed: int) -> Rows:
    """A random subset of the rows, with the given share of each class."""
    rng = np.random.RandomState(1000 + seed)
    kept = []
    for label, share in shares.items():
        rows = np.flatnonzero(y == label)
        kept.append(rng.choice(rows, round(share * len(rows)), replace=False))
    index = np.sort(np.concatenate(kept))
    return X[index], y[index]
