"""Data with known classes, and data without clusters, for studies: `load(name, seed)` returns rows and classes.

Real data are read from the folder SUBSPACES_DATA. Classes are -1 for outliers. Data whose name begins with one of
`WITHOUT_CLUSTERS` have random classes.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
from shapes import SHAPES

DATA = Path(os.environ.get("SUBSPACES_DATA", "."))
WITHOUT_CLUSTERS = ("noise", "uniform", "shuffled")


def load(name, seed):
    """Rows (n, p) and classes (n,) of the data called `name`; its first word chooses the function below."""
    word, *rest = name.split()
    rng = np.random.RandomState(1000 + seed + zlib.crc32(without_files(name).encode()) % 10000)
    return LOADERS[word](rest, seed, rng)


def without_files(name):
    """The name of data without that of an archive, so that draws do not depend on where it is."""
    return " ".join(each for each in name.split() if not each.endswith(".npz"))


def motion_names():
    """Names of the motion sequences in the data folder."""
    with np.load(DATA / "motions.npz") as archive:
        return [f"motion {key[2:]}" for key in archive.files if key.startswith("X_")]


def table_sizes(path):
    """Number of classes of each table in an archive with X_name and y_name, by the name of the data."""
    with np.load(path, allow_pickle=False) as archive:
        names = [key[2:] for key in archive.files if key.startswith("X_")]
        return {f"table {path} {name}": len(np.unique(archive[f"y_{name}"])) for name in names}


def standardised(x):
    """Columns with mean zero and variance one."""
    return (x - x.mean(0)) / np.maximum(x.std(0), 1e-12)


def leading(x, count, drop=0):
    """Coordinates of the rows in their leading principal directions, without the first `drop`."""
    x = np.asarray(x, float) - np.mean(x, axis=0, dtype=float)
    if x.shape[1] <= count and not drop:
        return x
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    return (u * s)[:, drop:count]


def drawn(x, y, count, rng):
    """Some of the rows, and their classes."""
    index = rng.permutation(len(x))[:count]
    return x[index], y[index]


def _motion(rest, seed, rng):
    with np.load(DATA / "motions.npz") as archive:
        return archive[f"X_{rest[0]}"].astype(float), archive[f"y_{rest[0]}"]


def _table(rest, seed, rng):
    """table FILE NAME [std]: at most 3,000 rows of a table in an archive."""
    with np.load(rest[0], allow_pickle=False) as archive:
        x, y = archive[f"X_{rest[1]}"].astype(float), archive[f"y_{rest[1]}"]
    return drawn(standardised(x) if "std" in rest else x, y, 3000, rng)


def _mnist(rest, seed, rng):
    count = int(rest[1]) if len(rest) > 1 else 4000
    with np.load(DATA / "mnist.npz") as archive:
        x, y = archive["X_train"], archive["y_train"]
    keep = np.isin(y, [int(c) for c in rest[0]])
    x, y = drawn(x[keep], y[keep], count, rng)
    return x.astype(np.float32), y


def _unequal(rest, seed, rng):
    """unequal DIGITS SHARES: MNIST with these shares of the rows of each digit, such as 49 1:0.1."""
    from paper_sets import thinned

    with np.load(DATA / "mnist.npz") as archive:
        x, y = archive["X_train"], archive["y_train"]
    shares = dict(zip(map(int, rest[0]), map(float, rest[1].split(":")), strict=True))
    x, y = thinned(x, y, shares, seed)
    return x.astype(np.float32), y


def _pendigits(rest, seed, rng):
    """pendigits [COUNT [DIGITS]]"""
    with np.load(DATA / "pendigits.npz") as archive:
        x, y = archive["X_train"].astype(float), archive["y_train"]
    keep = np.isin(y, [int(c) for c in rest[1]]) if len(rest) > 1 else np.full(len(y), True)
    return drawn(x[keep], y[keep], int(rest[0]) if rest else 5000, rng)


def _faces(rest, seed, rng):
    with np.load(DATA / "yaleb_48x42.npz") as archive:
        x, y = archive["X"].astype(np.float32), archive["y"]
    keep = np.isin(y, rng.permutation(np.unique(y))[: int(rest[0])])
    x, y = x[keep], y[keep]
    return (leading(x, 200, drop=2), y) if rest[1] == "drop2" else (x, y)


def _scikit_learn(name):
    def load_one(rest, seed, rng):
        from sklearn import datasets

        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return standardised(x) if "std" in rest else x, y

    return load_one


def _blobs(count, columns, spread, box=10):
    """Round clusters with centres in a cube."""

    def load_one(rest, seed, rng):
        from sklearn.datasets import make_blobs

        return make_blobs(
            max(600, 100 * count),
            centers=count,
            n_features=columns,
            cluster_std=spread,
            center_box=(-box, box),
            random_state=seed,
        )

    return load_one


def _aniso(rest, seed, rng):
    from sklearn.datasets import make_blobs

    x, y = make_blobs(600, centers=3, random_state=170 + seed)
    return x @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _moons(rest, seed, rng):
    from sklearn.datasets import make_moons

    return make_moons(600, noise=float(rest[0]) if rest else 0.06, random_state=seed)


def _circles(rest, seed, rng):
    from sklearn.datasets import make_circles

    return make_circles(600, noise=0.05, factor=0.5, random_state=seed)


def _rings(rest, seed, rng):
    t = rng.uniform(0, 2 * np.pi, 900)
    y = np.repeat(np.arange(3), 300)
    return np.c_[np.cos(t) * (1 + y), np.sin(t) * (1 + y), 0.3 * y] + 0.05 * rng.normal(size=(900, 3)), y


def _shape(rest, seed, rng):
    """shape NAME: clusters of shapes.py."""
    clusters = SHAPES[rest[0]](rng)
    return np.concatenate(clusters), np.repeat(np.arange(len(clusters)), [len(each) for each in clusters])


def _angle(rest, seed, rng):
    """Three 3-dimensional subspaces at this angle in degrees."""
    angle = np.deg2rad(float(rest[0]))
    base = np.linalg.qr(rng.normal(size=(20, 9)))[0]
    parts = []
    for k in range(3):
        own = np.cos(angle) * base[:, :3] + np.sin(angle) * base[:, 3 * k : 3 * k + 3] if k else base[:, :3]
        parts.append(rng.normal(size=(200, 3)) @ np.linalg.qr(own)[0].T)
    return np.concatenate(parts) + 0.02 * rng.normal(size=(600, 20)), np.repeat(np.arange(3), 200)


def _sub(rest, seed, rng):
    """sub DIMS [outliers PERCENT], or sub affine, uneven20, noisy"""
    from subspaces.datasets import make_subspaces

    if rest[0] == "affine":
        return make_subspaces((2, 3, 3), 10, affine=True, noise=0.03, random_state=seed)
    if rest[0] == "uneven20":
        x, y = make_subspaces((3, 3), 10, points_per_subspace=1000, noise=0.05, random_state=seed)
        keep = (y == 0) | ((y == 1) & (np.cumsum(y == 1) <= 50))
        return x[keep], y[keep]
    if rest[0] == "noisy":
        return make_subspaces((3, 3, 3), 15, noise=0.2, random_state=seed)
    dims = tuple(int(c) for c in rest[0])
    share = int(rest[2]) / 100 if len(rest) > 2 else 0.0
    return make_subspaces(dims, 10, noise=0.05, outliers=share, random_state=seed)


def _make_motions(rest, seed, rng):
    from subspaces.datasets import make_motions

    return make_motions(3, random_state=seed)[:2]


def _noise(rest, seed, rng):
    """noise [KIND]: rows without clusters."""
    x = NOISE[rest[0] if rest else "normal"](rng)
    return x, rng.randint(3, size=len(x))


NOISE = {
    "normal": lambda rng: rng.normal(size=(600, 10)),
    "uniform": lambda rng: rng.uniform(size=(600, 10)),
    "plane": lambda rng: rng.normal(size=(600, 2)),
    "square": lambda rng: rng.uniform(size=(600, 2)),
    "correlated": lambda rng: rng.normal(size=(600, 12)) @ rng.normal(size=(12, 12)),
    "flat": lambda rng: rng.normal(size=(600, 3)) @ rng.normal(size=(3, 12)) + 0.05 * rng.normal(size=(600, 12)),
    "heavy": lambda rng: rng.standard_t(3, size=(600, 8)),
    "skewed": lambda rng: rng.lognormal(size=(600, 6)),
    "scales": lambda rng: rng.normal(size=(600, 8)) * 10.0 ** rng.uniform(-2, 2, 8),
    "few": lambda rng: rng.normal(size=(60, 30)),
}


def _shuffled(rest, seed, rng):
    """The columns of other data, each in a random order of its own; principal columns if there are many."""
    x, y = load(" ".join(rest), seed)
    x = leading(x, 40) if x.shape[1] > 100 else np.asarray(x, float)
    return np.column_stack([rng.permutation(column) for column in x.T]), rng.permutation(y)


def _few(rest, seed, rng):
    """few COUNT NAME: some rows of other data."""
    return drawn(*load(" ".join(rest[1:]), seed), int(rest[0]), rng)


LOADERS = {
    "motion": _motion,
    "table": _table,
    "mnist": _mnist,
    "unequal": _unequal,
    "pendigits": _pendigits,
    "faces": _faces,
    "iris": _scikit_learn("iris"),
    "wine": _scikit_learn("wine"),
    "cancer": _scikit_learn("breast_cancer"),
    "digits": _scikit_learn("digits"),
    "blobs2": _blobs(5, 2, 1.0),
    "blobs10": _blobs(5, 10, 2.0),
    "overlapping": _blobs(4, 2, 2.5),
    "gauss15": _blobs(15, 2, 0.6, box=12),
    "gauss50": _blobs(50, 2, 0.6, box=12),
    "aniso": _aniso,
    "moons": _moons,
    "circles": _circles,
    "rings3": _rings,
    "shape": _shape,
    "angle": _angle,
    "sub": _sub,
    "make_motions": _make_motions,
    "noise": _noise,
    "uniform": lambda rest, seed, rng: _noise(["uniform"], seed, rng),
    "shuffled": _shuffled,
    "few": _few,
}
