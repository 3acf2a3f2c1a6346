"""Rows and graphs that tests of several rooms use."""

from __future__ import annotations

import numpy as np

ODD_ROWS = [
    ("one row", np.ones((1, 3))),
    ("two rows", np.eye(2)),
    ("all rows equal", np.full((20, 4), 3.0)),
    ("all zero", np.zeros((20, 4))),
    ("two distinct rows", np.repeat(np.eye(4)[:2], 15, axis=0)),
    ("constant columns", np.c_[np.random.default_rng(0).normal(size=(30, 2)), np.ones((30, 3))]),
    ("tiny values", 1e-140 * np.random.default_rng(0).normal(size=(30, 4))),
    ("large values", 1e150 * np.random.default_rng(0).normal(size=(30, 4))),
    ("large offset", 1e8 + np.random.default_rng(0).normal(size=(30, 4))),
    ("booleans", np.random.default_rng(0).random((40, 5)) > 0.5),
    ("more columns than rows", np.random.default_rng(0).normal(size=(12, 60))),
    ("list of lists", np.random.default_rng(0).normal(size=(12, 3)).tolist()),
]


def slow_flats(flats):
    return list(zip(flats.centers, flats.bases, strict=True))


def random_graph(rng, n=40, n_landmarks=12):
    """Row-stochastic weights (n, D), sparse, with a landmark that no row uses."""
    weights = rng.random((n, n_landmarks)) * (rng.random((n, n_landmarks)) < 0.3)
    weights[np.arange(n), rng.integers(n_landmarks, size=n)] += 0.3
    weights[:, 3] = 0
    weights[weights.sum(axis=1) == 0, 0] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def planted_graph(sizes=(60, 60, 60), *, per_cluster=6, stray=0.1, seed=0):
    """Rows with four landmarks each, of their own cluster but for a share `stray`: P (n, D), labels (n,)."""
    rng = np.random.default_rng(seed)
    k = len(sizes)
    labels = np.repeat(np.arange(k), sizes)
    weights = np.zeros((len(labels), k * per_cluster))
    for i, label in enumerate(labels):
        for _ in range(4):
            owner = rng.integers(k) if rng.random() < stray else label
            weights[i, owner * per_cluster + rng.integers(per_cluster)] += rng.uniform(0.5, 1)
    return weights / weights.sum(axis=1, keepdims=True), labels


def ring_graph(sizes, *, stray=0.05, seed=0):
    """Rows on circles, one for each cluster, with landmarks along it: P (n, D), labels (n,).

    A row has the four landmarks around it and, for a share `stray` of rows, one more anywhere. Each stretch of a circle
    looks like any other, so that a cut anywhere gives clusters to one who asks for more than there are.
    """
    rng = np.random.default_rng(seed)
    counts = [max(6, size // 10) for size in sizes]
    firsts = np.cumsum([0, *counts])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    weights = np.zeros((len(labels), firsts[-1]))
    for i, label in enumerate(labels):
        # In order, so that the halves of a cluster are its first rows and its last.
        place = counts[label] * (i - np.searchsorted(labels, label)) / sizes[label]
        for landmark in np.arange(int(place) - 1, int(place) + 3):
            weights[i, firsts[label] + landmark % counts[label]] += np.exp(-abs(landmark + 0.5 - place))
        if rng.random() < stray:
            weights[i, rng.integers(firsts[-1])] += 0.3
    return weights / weights.sum(axis=1, keepdims=True), labels.astype(np.int32)
