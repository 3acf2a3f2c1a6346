"""Random tracks of points on moving rigid bodies: the motion segmentation problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from subspaces._core.errors import InputError, UserTypeError
from subspaces._core.validation import check_integer
from subspaces.datasets.arguments import (
    Counts,
    RandomSource,
    count_for_each,
    number_from_zero,
    random_generator,
)

MotionKind = Literal["general", "planar", "translation"]
KINDS: tuple[MotionKind, ...] = ("general", "planar", "translation")


def make_motions(
    n_motions: int,
    n_points: Counts = 100,
    n_frames: int = 30,
    noise: float = 0.0,
    *,
    kind: Literal["mixed"] | MotionKind | Sequence[MotionKind] = "mixed",
    moving_camera: bool = False,
    random_state: RandomSource = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw rigid bodies that rotate and move in front of an affine camera, and track points on them.

    A row is the track of one point: its image positions in all frames. Under an affine camera the tracks of a rigid
    body lie in an affine subspace of dimension at most 3, exactly if `noise` is zero (Tomasi and Kanade, 1992); flat
    bodies and pure translations need fewer dimensions. Bodies start side by side, overlap partly in the image, and
    move in different directions. Use it for clean affine data whose subspaces are nearly parallel, which
    `make_subspaces` does not produce.

    Parameters
    ----------
    n_motions : int
        Number of bodies.
    n_points : int or sequence of int, default=100
        Number of tracks of all bodies, or of each.
    n_frames : int, default=30
        Number of images, at least 2. More frames divide the same motion into smaller steps.
    noise : float, default=0.0
        Standard deviation of the Gaussian error of each image coordinate, as a share of the larger side of the box
        around all tracks: 0.01 is one per cent, about six pixels in an image of width 640.
    kind : {"mixed", "general", "planar", "translation"} or a sequence of the last three, default="mixed"
        Kind of all bodies, or of each: "general", a solid body that rotates by 20 to 60 degrees while it moves
        (subspace dimension 3); "planar", a flat body that does the same (2); "translation", a solid body that moves
        without rotation (2, or 3 with a moving camera, relative to which it rotates). "mixed" uses the three kinds in
        turn, in random order.
    moving_camera : bool, default=False
        Whether the camera rotates by 10 to 25 degrees around the scene, drifts and zooms.
    random_state : int, Generator, RandomState or None, default=None
        Seed or source of the draws.

    Returns
    -------
    X : ndarray of shape (n_tracks, 2 * n_frames)
        Tracks (x, y, x, y, ...), body by body; `X.reshape(-1, n_frames, 2)` are positions. Without noise the larger
        side of the image has length one.
    y : ndarray of shape (n_tracks,)
        Body of each track, from 0 to n_motions - 1.

    References
    ----------
    C. Tomasi and T. Kanade, Shape and motion from image streams under orthography: a factorization method,
    International Journal of Computer Vision 9 (1992), https://doi.org/10.1007/BF00129684

    Examples
    --------
    >>> import numpy as np
    >>> from subspaces.datasets import make_motions
    >>> X, y = make_motions(2, 50, kind=["general", "planar"], random_state=0)
    >>> X.shape
    (100, 60)
    >>> [int(np.linalg.matrix_rank(X[y == k] - X[y == k].mean(axis=0), tol=1e-9)) for k in (0, 1)]
    [3, 2]
    """
    n_bodies = check_integer("n_motions", n_motions, low=1, hint="pass the number of bodies")
    counts = count_for_each(n_points, n_bodies, name="n_points", groups="motions")
    frames = check_integer("n_frames", n_frames, low=2, hint="motion shows in two images or more")
    noise = number_from_zero(noise, name="noise", hint="pass a share of the image, 0 for exact tracks")
    rng = random_generator(random_state)

    kinds = _kind_of_each(kind, n_bodies, rng=rng)
    cameras, drift = _camera(frames, moving=moving_camera, rng=rng)
    headings = rng.uniform(0, 2 * np.pi) + _spread_angles(n_bodies, rng=rng)
    places = rng.uniform(0, 2 * np.pi) + _spread_angles(n_bodies, rng=rng)
    images = []
    for body_kind, count, heading, place in zip(kinds, counts, headings, places, strict=True):
        body = _body(count, flat=body_kind == "planar", rng=rng)
        turns = _turns(frames, still=body_kind == "translation", rng=rng)
        path = _path(frames, heading=heading, rng=rng) + _start(n_bodies, place=place, rng=rng)
        positions = np.einsum("fij,nj->nfi", cameras @ turns, body)
        images.append(positions + np.einsum("fij,fj->fi", cameras, path) + drift)

    tracks = np.concatenate(images)
    low, high = tracks.min(axis=(0, 1)), tracks.max(axis=(0, 1))
    tracks = (tracks - low) / (high - low).max()
    tracks += noise * rng.standard_normal(tracks.shape)
    return tracks.reshape(len(tracks), 2 * frames), np.repeat(np.arange(n_bodies), counts)


def _kind_of_each(kind: object, n_motions: int, *, rng: np.random.Generator) -> list[MotionKind]:
    if kind == "mixed":
        order = rng.permutation(len(KINDS))
        return [KINDS[order[i % len(KINDS)]] for i in range(n_motions)]
    listed = [kind] * n_motions if isinstance(kind, str) else kind
    remedy = f"pass 'mixed', one of {KINDS}, or a list of these with one for each motion."
    if not isinstance(listed, Sequence):
        raise UserTypeError(f"kind={kind!r} is not a name or a list of names: {remedy}")
    if len(listed) != n_motions:
        raise InputError(f"kind has {len(listed)} items for {n_motions} motions: {remedy}")
    kinds = [known for name in listed for known in KINDS if known == name]
    if len(kinds) != n_motions:
        raise InputError(f"kind={kind!r} is not known: {remedy}")
    return kinds


def _body(count: int, *, flat: bool, rng: np.random.Generator) -> NDArray[np.float64]:
    """Points (count, 3) of a solid box or a plate around the origin, tilted but never parallel to the line of sight."""
    half_sides = rng.uniform(0.6, 1.1, size=3) * [1, 1, 0 if flat else 1]
    points = rng.uniform(-1, 1, size=(count, 3)) * half_sides
    spin = _rotations(np.array([0.0, 0.0, 1.0]), rng.uniform(0, 2 * np.pi, size=1))[0]
    tilt = _rotations(_axis(np.pi / 2, rng=rng), np.radians(rng.uniform(10, 50, size=1)))[0]
    tilted: NDArray[np.float64] = points @ (tilt @ spin).T
    return tilted


def _turns(n_frames: int, *, still: bool, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rotations (n_frames, 3, 3) by tens of degrees, smooth in time."""
    total = 0.0 if still else np.radians(rng.uniform(20, 60)) * rng.choice([-1, 1])
    # A rotation about the line of sight alone would show one side only, and the third dimension would be lost.
    axis = _axis(np.radians(rng.uniform(45, 90)), rng=rng)
    return _rotations(axis, total * _progress(n_frames, rng=rng))


def _path(n_frames: int, *, heading: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Displacements (n_frames, 3) along a slightly curved path in the direction `heading` of the image."""
    progress = _progress(n_frames, rng=rng)[:, None]
    forward = np.array([np.cos(heading), np.sin(heading), 0.0])
    sideways = np.array([-np.sin(heading), np.cos(heading), 0.0])
    depth = np.array([0.0, 0.0, rng.uniform(-0.5, 0.5)])
    bend = rng.uniform(-0.3, 0.3) * sideways
    way: NDArray[np.float64] = progress * (rng.uniform(0.5, 1.5) * forward + depth)
    return way + 4 * progress * (1 - progress) * bend


def _start(n_motions: int, *, place: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """First position (3,) of a body, on a ring on which neighbours overlap partly."""
    radius = 0.5 * np.sqrt(n_motions) if n_motions > 1 else 0.0
    return np.array([radius * np.cos(place), radius * np.sin(place), rng.uniform(-0.5, 0.5)])


def _camera(
    n_frames: int, *, moving: bool, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Affine cameras (n_frames, 2, 3) and the shifts of their images (n_frames, 2)."""
    if not moving:
        return np.broadcast_to(np.eye(3)[:2], (n_frames, 2, 3)), np.zeros((n_frames, 2))
    progress = _progress(n_frames, rng=rng)
    angles = np.radians(rng.uniform(10, 25)) * rng.choice([-1, 1]) * progress
    zoom = 1 + rng.uniform(-0.15, 0.15) * progress
    drift = progress[:, None] * rng.uniform(-0.5, 0.5, size=2)
    return zoom[:, None, None] * _rotations(_axis(np.pi / 2, rng=rng), angles)[:, :2], drift


def _progress(n_frames: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Share of the path covered in each frame (n_frames,), increasing from 0 to 1 with varying speed."""
    time = np.linspace(0, 1, n_frames)
    wobble: NDArray[np.float64] = rng.uniform(-0.6, 0.6) * np.sin(2 * np.pi * time) / (2 * np.pi)
    return time + wobble


def _spread_angles(count: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Angles (count,) spread around the circle in random order, so that no two are close."""
    step = 2 * np.pi / count
    angles: NDArray[np.float64] = step * (rng.permutation(count) + rng.uniform(-0.2, 0.2, size=count))
    return angles


def _axis(slant: float, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """A unit vector (3,) at the angle `slant` to the line of sight, the third coordinate."""
    around = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(around) * np.sin(slant), np.sin(around) * np.sin(slant), np.cos(slant)])


def _rotations(axis: NDArray[np.float64], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotations (n, 3, 3) about the unit vector `axis` (3,) by `angles` (n,), by Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned: NDArray[np.float64] = (
        np.eye(3) + np.sin(angles)[:, None, None] * cross + (1 - np.cos(angles))[:, None, None] * (cross @ cross)
    )
    return turned
