"""Choosing, without labels, how flats are fitted: linear or affine, of which dimension, to how many rows.

Every setting is tried end to end on a sample of the rows; the one of the largest modularity is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from subspaces._array import Array, unit_rows
from subspaces._log import report
from subspaces.flats import Beta2, rows_to_fit
from subspaces.kernels import SubspaceFeatures
from subspaces.landmarks import choose_landmarks
from subspaces.partition import SEPARATION_MARGIN, choose_partition, inlier_rows, vector_counts
from subspaces.spectral import compute_spectrum

DIMS = (2, 3, 4, 6, 9)
SAMPLE_ROWS = 10_000
SAMPLE_LANDMARKS = 1000
SAMPLE_NEAREST = 8
# Linear or affine is a coarse question: fewer rows answer it.
PILOT_ROWS = 2500
# Linear flats of unit rows are the more robust choice, and on data that suit both the modularities differ by less
# than this.
AFFINE_MARGIN = 0.02
# Rows whose mean is at the origin by itself speak for subspaces through it, and the affine ones must win clearly.
AFFINE_MARGIN_AT_ORIGIN = 0.1
# In so few columns unit rows fill their circle or sphere, and any arc of it looks like a cluster of linear flats.
LOW_COLUMNS = 3
LINE_HANDICAP = 0.1
# In so few columns flats of all dimensions are tried.
FEW_COLUMNS = 5
# Settings whose modularities differ by less than this on a sample may change places on all rows.
DIM_TIE = 0.005


@dataclass(frozen=True, slots=True)
class FlatSetting:
    """One way to fit landmark flats, and what it scored."""

    dim: int
    neighborhood: int | str | Beta2
    affine: bool
    unit: bool  # whether rows are scaled to unit norm
    modularity: float = float("nan")
    separation: float = float("nan")  # of the best separated partition
    balanced_separation: float = float("nan")  # of the partition of that modularity
    n_rows: int = 0  # size of the sample it was tried on


def candidate_settings(
    n_rows: int,
    n_columns: int,
    n_clusters: int,
    *,
    affine: bool,
    unit: bool,
    dim: int | None = None,
    neighborhood: int | str | Beta2 | None = None,
) -> list[FlatSetting]:
    """The settings to try: a ladder of dimensions, each with a tight and a wide neighbourhood.

    What is given is not varied. A neighbourhood should stay inside its cluster, so it takes at most half of an
    average one.
    """
    dims = [dim] if dim is not None else candidate_dims(n_columns)
    if neighborhood is not None:
        return [FlatSetting(d, neighborhood, affine, unit) for d in dims]
    limit = max(min(8, n_rows // 2), min(n_rows, SAMPLE_ROWS) / (2 * n_clusters))
    pairs = [(d, size) for d in dims for size in (2 * d + 2, 6 * d + 4) if size <= limit]
    # A handful of rows: all of them in every neighbourhood would make all flats equal.
    few = [(d, max(d + 1, min(2 * d + 2, n_rows // 2))) for d in dims]
    return [FlatSetting(d, size, affine, unit) for d, size in pairs or few]


def candidate_dims(n_columns: int) -> list[int]:
    """The dimensions worth trying for rows of `n_columns` columns.

    Flats of more than half of them pass near every row; where there are only a few columns, there is little else.
    """
    if n_columns <= LOW_COLUMNS:
        return list(range(1, n_columns))
    limit = n_columns - 1 if n_columns <= FEW_COLUMNS else n_columns // 2
    return [d for d in DIMS if d <= limit]


def choose_setting(
    rows: Array,
    n_clusters: int,
    settings: Sequence[FlatSetting],
    rng: np.random.RandomState,
    *,
    kind: str = "auto",
    affine_margin: float = AFFINE_MARGIN,
    verbose: int = 0,
) -> tuple[FlatSetting, list[FlatSetting]]:
    """The best of `settings` for rows (n, p), centred but not scaled, and all trials that led to it.

    `kind` says what a good partition is, as in `choose_partition`. One cluster gives no modularity to compare, so there
    the first setting is taken.
    """
    if len(settings) == 1 or n_clusters == 1:
        return settings[0], []
    trials: list[FlatSetting] = []
    if len({setting.affine for setting in settings}) == 2:
        trials = try_settings(rows, n_clusters, settings, rng, kind=kind, max_rows=PILOT_ROWS)
        affine = prefers_affine(trials, affine_margin)
        report(verbose, "%s flats, by a pilot of %d settings", "affine" if affine else "linear", len(trials))
        settings = [trial for trial in trials if trial.affine == affine]
    if not trials or len(rows) > PILOT_ROWS:
        settings = try_settings(rows, n_clusters, settings, rng, kind=kind, max_rows=SAMPLE_ROWS)
        trials = trials + settings
    best = best_setting(settings, sampled=len(rows) > SAMPLE_ROWS)
    # Where clusters differ in size, modularity compares only settings that show them. Few rows fall apart by chance.
    least = best.balanced_separation + SEPARATION_MARGIN
    apart = [each for each in settings if each.separation > max(least, each.balanced_separation + SEPARATION_MARGIN)]
    if apart and len(rows) > PILOT_ROWS:
        best = best_setting(apart, sampled=len(rows) > SAMPLE_ROWS)
    report(
        verbose,
        "dimension %d, neighbourhood %s: modularity %.3f",
        best.dim,
        best.neighborhood,
        best.modularity,
    )
    return best, trials


def best_setting(settings: Sequence[FlatSetting], *, sampled: bool) -> FlatSetting:
    """The setting of the largest modularity; on a sample, the largest dimension among near ties.

    All rows are denser than a sample of them, so flats of higher dimension fit inside their clusters there.
    """
    best = max(settings, key=_evidence)
    if not sampled:
        return best
    ties = [setting for setting in settings if _evidence(setting) >= _evidence(best) - DIM_TIE]
    return max(ties, key=lambda setting: (setting.dim, setting.modularity))


def _evidence(setting: FlatSetting) -> float:
    """Modularity, less what a line through the origin gets for nothing: for unit rows it is only a direction."""
    return setting.modularity - (LINE_HANDICAP if setting.dim == 1 and setting.unit else 0)


def prefers_affine(trials: Sequence[FlatSetting], margin: float) -> bool:
    """Whether the best affine trial beats the best linear one by more than `margin`."""
    linear, affine = (max(_evidence(trial) for trial in trials if trial.affine == wanted) for wanted in (False, True))
    return affine > linear + margin


def try_settings(
    rows: Array,
    n_clusters: int,
    settings: Sequence[FlatSetting],
    rng: np.random.RandomState,
    *,
    kind: str,
    max_rows: int,
) -> list[FlatSetting]:
    """Every setting with what it reaches on a sample of the rows (n, p), all from the same landmarks."""
    if len(rows) > max_rows:
        rows = rows[rng.choice(len(rows), max_rows, replace=False)]
    rows = rows_to_fit(rows, min(setting.dim for setting in settings))
    count = min(SAMPLE_LANDMARKS, max(1, len(rows) // 2))
    samples = {unit: unit_rows(rows) if unit else rows for unit in {setting.unit for setting in settings}}
    landmarks = {
        unit: choose_landmarks(sample, count, method="kmeans", rng=rng) for unit, sample in sorted(samples.items())
    }
    return [
        try_setting(setting, samples[setting.unit], landmarks[setting.unit], n_clusters, rng, kind=kind)
        for setting in settings
    ]


def try_setting(
    setting: FlatSetting, rows: Array, landmarks: Array, n_clusters: int, rng: np.random.RandomState, *, kind: str
) -> FlatSetting:
    """`setting` with what it scores when `rows` (n, p) are clustered with flats at `landmarks` (D, p)."""
    features = SubspaceFeatures(
        subspace_dim=setting.dim,
        n_nearest=SAMPLE_NEAREST,
        landmarks=landmarks,
        neighborhood=setting.neighborhood,
        affine=setting.affine,
        trim=True,
        # It only samples rows to report a sigma, which is not used here: the stream of draws stays the caller's.
        random_state=0,
    ).fit(rows)
    psi, distances = features.describe(rows)
    counts = vector_counts(n_clusters)
    spectrum = compute_spectrum(lambda: iter((psi,)), max(counts), balanced=True)
    found = choose_partition(
        psi,
        spectrum,
        inlier_rows(distances, rows),
        n_clusters,
        counts=counts,
        n_starts=2,
        polish=False,
        rng=rng,
        kind=kind,
        n_draws=1,
    )
    return replace(
        setting,
        modularity=found.balanced.modularity,
        separation=found.density.separation,
        balanced_separation=found.balanced.separation,
        n_rows=len(rows),
    )
