"""The flat of least noise for each row, among flats of different dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from subspaces._core.arrays import Array, Labels, is_host, like, namespace
from subspaces._core.blocks import row_blocks
from subspaces.flats.device import DeviceFlats
from subspaces.flats.distances import distances_to
from subspaces.flats.flats import Flats


def least_noise_flat(x: Array, flats: Sequence[Flats]) -> Labels:
    """Index (n,) of the flat with the smallest squared distance per free direction, for each row of `x` (n, p).

    A flat of dimension d has p - d free directions, and noise is about equal in all of them, so dividing by their
    number avoids a preference for flats of more dimensions. Each item of `flats` is a batch of one.
    """
    p = x.shape[1]
    if not is_host(x):
        return _least_noise_on_device(x, flats)
    labels = np.empty(len(x), np.int32)
    distances = [(distances_to(flat), p - flat.dim) for flat in flats]
    for rows in row_blocks(len(x), (len(flats) + p) * 8):
        table = [of_rows(x[rows])[:, 0] / free for of_rows, free in distances]
        labels[rows] = np.argmin(table, axis=0)
    return labels


def _least_noise_on_device(x: Array, flats: Sequence[Flats]) -> Labels:
    """The same for rows of any array library; bases are padded with zeros to equal dimension."""
    xp = namespace(x)
    most = max(flat.dim for flat in flats)
    bases = np.concatenate([np.pad(flat.bases, ((0, 0), (0, 0), (0, most - flat.dim))) for flat in flats])
    free = np.array([x.shape[1] - flat.dim for flat in flats], np.float64)
    table = DeviceFlats(Flats(np.concatenate([flat.centers for flat in flats]), bases)).table(x)
    return xp.astype(xp.argmin(table / like(free, x), axis=1), xp.int32)
