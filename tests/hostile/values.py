"""Hostile values, by seed: numbers, arrays and parameters of estimators."""

import inspect

import numpy as np

from subspaces.flats.neighborhoods import Beta2
from subspaces.self_expression import ADMM, OMP, ElasticNet

ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    10**30,
    np.nan,
    np.inf,
    -0.0,
    1e-300,
    1e300,
    "auto",
    "",
    "x" * 300,
    [],
    {},
    b"a",
]
# Valid values of parameters and values at their borders, by name.
KNOWN = {
    "n_clusters": [1, 2, 3, 5, "auto", 40],
    "subspace_dim": [0, 1, 2, 3, "auto"],
    "n_landmarks": [1, 2, 5, 20, "auto"],
    "n_nearest": [1, 2, 5, 1000, None, "auto"],
    "n_components": [1, 2, 7, "auto"],
    "sigma": ["auto", 1e-3, 1.0, 1e3, 1e-160, 1e160, 5e-324],
    "power": [0.1, 1, 2.0, 4, 50],
    "landmarks": ["kmeans", "random", np.zeros((2, 3)), np.ones((3, 2))],
    "neighborhood": [1, 2, 10, "beta2", "auto", Beta2(2, 1), Beta2(10**6, 10**6)],
    "max_columns": [2, 5, None, "auto"],
    "whiten": [0.0, 0.5, 1.0, "auto"],
    "solver": ["admm", "omp", "elastic_net", ADMM(alpha=1e10), ADMM(outliers=True), ADMM(1e-9, max_iter=3), OMP(1)],
    "mass": [0.01, 0.85, 1],
    "ridge": [1e-12, 1e-6, 1e6],
    "n_in_sample": [2, 5, 1000],
    "n_centroids": [2, 5, "auto"],
    "detect_outliers": [True, False, 0.1, 0.99],
    "max_clusters": [1, 3, 10],
    "max_iter": [1, 5],
    "n_starts": [1, 2],
    "n_draws": [1, 2, "auto"],
    "kernel": ["gaussian", "laplacian", "matern"],
    "loss": ["median", "squared"],
    "scale": ["residual", "published"],
    "assign": ["auto", "kmeans", "graph", "flats"],
}
KNOWN["solver"].append(ElasticNet())
FLAGS = [True, False, "auto"]


def numbers(rng, shape):
    """An array of a shape whose values are difficult in one of many ways."""
    x = rng.standard_normal(shape)
    kind = rng.integers(18)
    if kind < 3:
        return x
    if kind == 3:
        return np.round(x)
    if kind == 4:
        return np.zeros(shape)
    if kind == 5:
        return x * 10.0 ** rng.integers(-320, 308)
    if kind == 6:
        return np.sign(x) * 10.0 ** rng.integers(-300, 300, size=shape)
    if kind == 7:
        return x + 10.0 ** rng.integers(0, 16)
    if kind == 8 and x.size:
        x[tuple(rng.integers(size) for size in shape)] = rng.choice([np.nan, np.inf, -np.inf, 1e140, 1e-320])
        return x
    if kind == 9 and x.ndim:
        return np.repeat(x[:1], len(x), axis=0)
    if kind == 10 and x.ndim == 2:
        return x * 10.0 ** rng.integers(-12, 12, size=shape[-1:])
    if kind == 11 and x.ndim == 2 and x.size:
        return x[:, :1] @ rng.standard_normal((1, shape[1]))
    return np.asarray(x, rng.choice([np.float32, np.float16, np.int8, np.uint8, np.int64, np.bool_, np.longdouble]))


def rows(rng):
    """Something that is passed as rows: mostly an array (n, p), sometimes of another shape, dtype, order or type."""
    n, p = (int(rng.choice([1, 2, 3, 7, 20, 60])), int(rng.choice([1, 2, 3, 5, 12, 40])))
    if rng.random() < 0.05:
        n, p = 6, 1200
    shape = (n, p)
    if rng.random() < 0.04:
        shape = [(n,), (n, p, 2), (0, p), (n, 0), ()][rng.integers(5)]
    with np.errstate(all="ignore"):
        x = numbers(rng, shape)
    if rng.random() < 0.95:
        if x.ndim == 2 and x.size:
            x = [x, np.asfortranarray(x), x[::-1], np.tile(x, (1, 2))[:, ::2]][rng.integers(4)]
            x.flags.writeable = rng.random() < 0.5
        return x
    odd = [x.tolist(), x.astype(complex), x.astype(str), x.astype(object), np.ma.masked_array(x), None, "rows", 3, {}]
    return odd[rng.integers(len(odd))]


def parameters(rng, cls, share=0.25):
    """Parameters for a class, some of them hostile."""
    found = {}
    for name in inspect.signature(cls).parameters:
        if name in ("random_state", "verbose", "feature_map", "metric"):
            continue
        if name == "n_clusters" or rng.random() < share:
            pool = KNOWN.get(name, FLAGS)
            pool = ODD if rng.random() < 0.05 else pool
            found[name] = pool[rng.integers(len(pool))]
    return found
