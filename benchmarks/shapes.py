"""Clusters of two and three columns with known classes: curves, rings, bars, and blobs of unequal size or density.

`SHAPES[name](rng)` returns the clusters, one array of rows each.
"""

from __future__ import annotations

import numpy as np

SIZE = 300


def noisy(rng, scale, *columns):
    """Rows with these columns, each with normal noise."""
    rows = np.column_stack(columns)
    return rows + scale * rng.normal(size=rows.shape)


def blob(rng, size, scale, *center):
    return np.array(center) + scale * rng.normal(size=(size, len(center)))


def arc(rng, size, scale, radius, center=(0, 0), start=0.0, end=2.0):
    """A noisy arc of a circle; angles are multiples of pi."""
    t = np.pi * rng.uniform(start, end, size)
    return noisy(rng, scale, center[0] + radius * np.cos(t), center[1] + radius * np.sin(t))


def spirals3(rng):
    clusters = []
    for turn in 2 * np.pi / 3 * np.arange(3):
        t = 3 * np.pi * np.sqrt(rng.uniform(0.05, 1, SIZE))
        clusters.append(noisy(rng, 0.25, t * np.cos(t + turn), t * np.sin(t + turn)))
    return clusters


def chainlink(rng):
    """Two rings in space, each through the other."""
    first, second = (arc(rng, SIZE, 0.08, 1) for _ in range(2))
    own, other = 0.08 * rng.normal(size=(2, SIZE))
    return [np.column_stack([first, own]), np.column_stack([1 + second[:, 0], other, second[:, 1]])]


def atom(rng):
    """A ball inside a sphere."""
    sphere = rng.normal(size=(SIZE, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    return [blob(rng, SIZE, 0.25, 0, 0, 0), noisy(rng, 0.1, 3 * sphere)]


def lsun(rng):
    """Two bars and a blob."""
    upright = rng.uniform((0, 0), (0.6, 4), (SIZE, 2))
    lying = rng.uniform((1, 0), (4, 0.6), (SIZE, 2))
    return [upright, lying, blob(rng, SIZE, 0.35, 3, 3)]


def cross(rng):
    first, second = rng.uniform(-1, 1, (2, SIZE))
    return [noisy(rng, 0.04, first, first), noisy(rng, 0.04, second, -second)]


def parabolas(rng):
    first, second = rng.uniform(-1, 1, (2, SIZE))
    return [noisy(rng, 0.06, first, first**2), noisy(rng, 0.06, second + 0.7, 0.55 - second**2)]


def unbalance(rng):
    """Three dense blobs of 600 rows and three thin ones of 40."""
    dense = [blob(rng, 600, 0.3, *center) for center in ((0, 0), (2.5, 0), (1.2, 2))]
    return dense + [blob(rng, 40, 0.5, *center) for center in ((8, 0), (8, 3), (10, 1.5))]


def varied(rng):
    """Blobs of different widths."""
    return [blob(rng, SIZE, 1, 0, 0), blob(rng, SIZE, 2.5, 5, 0), blob(rng, SIZE, 0.5, -4, 5)]


def smile(rng):
    eyes = [blob(rng, 150, 0.2, -1, 1), blob(rng, 150, 0.2, 1, 1)]
    return [arc(rng, 500, 0.08, 3), arc(rng, 250, 0.08, 1.8, start=1.15, end=1.85), *eyes]


def stripes(rng):
    return [np.column_stack([rng.uniform(0, 4, SIZE), row + 0.12 * rng.normal(size=SIZE)]) for row in range(4)]


def jain(rng):
    """Two half circles of different density."""
    return [arc(rng, SIZE, 0.7, 10, end=1), arc(rng, 90, 0.9, 10, (10, 4), start=1, end=2)]


def flame(rng):
    return [arc(rng, 150, 0.35, 3, start=1, end=2), blob(rng, 100, 0.8, 0, 0.8)]


def zigzag(rng):
    lines = rng.uniform(0, 4, (3, SIZE))
    return [noisy(rng, 0.05, t, np.abs(t % 2 - 1) + 0.9 * row) for row, t in enumerate(lines)]


SHAPES = {
    "spirals3": spirals3,
    "ring+blob": lambda rng: [arc(rng, SIZE, 0.2, 3), blob(rng, SIZE, 0.5, 0, 0)],
    "chainlink": chainlink,
    "atom": atom,
    "lsun": lsun,
    "cross": cross,
    "parabolas": parabolas,
    "unbalance": unbalance,
    "varied": varied,
    "smile": smile,
    "stripes": stripes,
    "jain": jain,
    "flame": flame,
    "zigzag": zigzag,
}
