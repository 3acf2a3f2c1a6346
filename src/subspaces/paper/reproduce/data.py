"""Load data sets from their descriptions, with the preprocessing of the paper."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError
from subspaces.datasets import load_mnist, load_motions, load_pendigits, load_yaleb, make_subspaces
from subspaces.paper.reproduce.task import Spec

Rows = NDArray[np.floating]
Classes = NDArray[np.int64]

# Data sets that depend on the seed. For the others, draws differ only in the seed of the method.
DRAWN = ("subspaces", "tilted", "faces", "motions", "pixels")
# Choices of eight persons: all within persons 1 to 10, 11 to 20, 21 to 30, and 31 to 38.
GROUPS = (range(1, 11), range(11, 21), range(21, 31), range(31, 39))
CHOICES = tuple(choice for group in GROUPS for choice in combinations(group, 8))
N_CHOICES = len(CHOICES)
# Has no common divisor with N_CHOICES: the first draws are from all groups, and every choice is drawn once.
STRIDE = 37


def load(spec: Spec, seed: int) -> tuple[Rows, Classes]:
    """Rows (n, p) and classes (n,) of one draw, -1 for outliers."""
    return _load(json.dumps(dict(spec)), seed if spec["set"] in DRAWN else 0)


@lru_cache(maxsize=1)
def _load(text: str, seed: int) -> tuple[Rows, Classes]:
    spec = json.loads(text)
    name = spec.pop("set")
    if name == "subspaces":
        return make_subspaces(spec.pop("dims"), spec.pop("ambient_dim"), **spec, random_state=seed)
    if name == "tilted":
        return tilted_subspaces(**spec, random_state=seed)
    if name == "mnist":
        return load_mnist(spec.pop("digits"), **spec)
    if name == "pendigits":
        return load_pendigits(**spec)
    if name == "faces":
        return load_yaleb(spec.pop("n_persons"), **spec, random_state=seed)
    if name == "pixels":
        return load_yaleb(persons=CHOICES[STRIDE * seed % N_CHOICES], n_components=None)
    if name == "motions":
        return load_motions(sequences(spec["n_motions"])[seed])
    raise InputError(f"there is no data set {name!r}.")


@lru_cache(maxsize=2)
def sequences(n_motions: int) -> tuple[str, ...]:
    """Names of the sequences with this many moving objects; a draw is one of them."""
    return tuple(name for name, (_, objects) in load_motions().items() if objects.max() + 1 == n_motions)


def fetch(names: Iterable[str]) -> None:
    """Download the files of these data sets if they are missing."""
    for name in sorted(set(names)):
        if name == "mnist":
            load_mnist([0], None, subset="test")
        elif name == "pendigits":
            load_pendigits([0])
        elif name in ("faces", "pixels"):
            load_yaleb(1, n_components=None, random_state=0)
        elif name == "motions":
            sequences(2)


def tilted_subspaces(
    angle: float, dim: int, ambient_dim: int, n_subspaces: int, noise: float, outliers: float, *, random_state: int
) -> tuple[Rows, Classes]:
    """Like `make_subspaces`, but all principal angles between any two subspaces equal `angle`, in degrees.

    Each basis is a combination of shared and own directions, so `ambient_dim` must be at least
    `dim * (n_subspaces + 1)`.
    """
    rng = np.random.default_rng(random_state)
    common = np.sqrt(max(np.cos(np.radians(angle)), 0.0))
    turned, _ = np.linalg.qr(rng.standard_normal((ambient_dim, ambient_dim)))
    shared, own = turned[:, :dim], turned[:, dim:]
    # Draw points from the published model, then replace its subspaces by these.
    rows, classes, bases, _ = make_subspaces(
        [dim] * n_subspaces, ambient_dim, noise=0.0, outliers=outliers, min_angle=0, random_state=rng, return_bases=True
    )
    for index, basis in enumerate(bases):
        leaning = common * shared + np.sqrt(1 - common**2) * own[:, dim * index : dim * (index + 1)]
        rows[classes == index] = rows[classes == index] @ basis @ leaning.T
    inliers = classes >= 0
    rows[inliers] += noise * rng.standard_normal((int(inliers.sum()), ambient_dim))
    return rows, classes
