"""The search for a way to fit landmark flats: linear or affine, their dimension, and the size of neighbourhoods.

Each setting is tried end to end on a sample of the rows and the largest modularity wins. If clusters of unequal size
show, modularity is not a fair measure, and a setting that shows these clusters is taken instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, unit_rows
from subspaces._core.threads import generators, mapped
from subspaces.features.flats import usable_flats
from subspaces.features.weights import nearest_weights
from subspaces.flats.fitting import fit_flats
from subspaces.flats.neighborhoods import Beta2, as_neighborhood, local_flats, nearest_rows, rows_to_fit
from subspaces.selection.partition import PartitionChoice, choose_partition
from subspaces.selection.thresholds import (
    AFFINE_MARGIN,
    DIM_TIE,
    DIMS,
    FEW_COLUMNS,
    FEW_ROWS_LANDMARKS,
    LINE_HANDICAP,
    LOW_COLUMNS,
    MIDDLE_DRAWS,
    PAIR_COLUMNS,
    PILOT_DIMS,
    PILOT_ROWS,
    SAMPLE_LANDMARKS,
    SAMPLE_NEAREST,
    SAMPLE_ROWS,
    SEARCH_STARTS,
    SMALLEST_LIMIT,
    SURE_AGREEMENT,
    TIGHT,
    UNEVEN_MARGIN,
    WIDE,
)
from subspaces.spectral.landmarks import choose_landmarks
from subspaces.spectral.partition import few_vector_counts, inlier_rows
from subspaces.spectral.spectrum import Spectrum, compute_spectrum


@dataclass(frozen=True, slots=True)
class FlatSetting:
    """One way to fit landmark flats, and its scores."""

    dim: int
    neighborhood: int | str | Beta2
    affine: bool
    unit: bool  # whether rows are scaled to unit norm
    modularity: float = float("nan")
    separation: float = float("nan")  # of the best separated partition
    balanced_separation: float = float("nan")  # of the partition of that modularity
    agreement: float = float("nan")  # between clusters joined from parts made in different ways
    n_rows: int = 0  # size of the sample it was tried on

    @property
    def n_neighbors(self) -> int:
        """Rows in a neighbourhood; 0 if each flat has its own number."""
        return self.neighborhood if isinstance(self.neighborhood, int) else 0

    def same_flats(self, other: FlatSetting) -> bool:
        """Whether both settings fit the same flats."""
        names = ("dim", "neighborhood", "affine", "unit")
        return all(getattr(self, name) == getattr(other, name) for name in names)


@dataclass(frozen=True, slots=True)
class Search:
    """The best setting, all trials, and the kind of partition to look for: see `choose_partition`."""

    setting: FlatSetting
    trials: list[FlatSetting]
    kind: str
    uneven: bool = False  # whether clusters were found to differ in size
    middle: FlatSetting | None = None  # the setting that was tried for that


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

    Given values are not varied. A neighbourhood should stay inside its cluster, so it has at most half the rows of an
    average cluster.
    """
    dims = [dim] if dim is not None else candidate_dims(n_columns)
    if neighborhood is not None:
        return [FlatSetting(d, neighborhood, affine, unit) for d in dims]
    limit = max(min(SMALLEST_LIMIT, n_rows // 2), min(n_rows, SAMPLE_ROWS) / (2 * n_clusters))
    pairs = [(d, size) for d in dims for size in neighborhood_sizes(d) if size <= limit]
    # For a handful of rows: neighbourhoods of all rows would make all flats equal.
    few = [(d, max(d + 1, min(neighborhood_sizes(d)[0], n_rows // 2))) for d in dims]
    return [FlatSetting(d, size, affine, unit) for d, size in pairs or few]


def neighborhood_sizes(dim: int) -> tuple[int, int]:
    """A tight and a wide neighbourhood for flats of a dimension."""
    return TIGHT[0] * dim + TIGHT[1], WIDE[0] * dim + WIDE[1]


def candidate_dims(n_columns: int) -> list[int]:
    """The dimensions worth trying for rows of `n_columns` columns.

    Flats of more than half of the columns pass near every row; with few columns there is no other choice.
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
) -> Search:
    """The best of `settings` for rows (n, p), centred but not scaled, and all trials that led to it.

    `kind` is as in `choose_partition`; "auto" is decided if there are enough rows. With one cluster there is no
    modularity to compare, and the first setting is taken.
    """
    if len(settings) == 1 or n_clusters == 1:
        return Search(settings[0], [], kind)
    trials: list[FlatSetting] = []
    few, sampled = len(rows) <= PILOT_ROWS, len(rows) > SAMPLE_ROWS
    n_landmarks = FEW_ROWS_LANDMARKS if few else SAMPLE_LANDMARKS
    if len({setting.affine for setting in settings}) == 2:
        sample = draw_sample(rows, settings, rng, PILOT_ROWS, max_landmarks=n_landmarks)
        first, more = (settings, []) if few else pilot_settings(settings, rows.shape[1])
        # Generators for all settings, so that later draws do not depend on how many are tried.
        own = generators(rng, len(first) + len(more))
        trials = try_settings(first, sample, n_clusters, own[: len(first)])
        if more and prefers_affine(trials, affine_margin):
            trials += try_settings(more, sample, n_clusters, own[len(first) :])
        affine = prefers_affine(trials, affine_margin)
        progress.note(f"{'affine' if affine else 'linear'} flats, by a pilot of {len(trials)} settings")
        settings = [trial for trial in (trials if few else settings) if trial.affine == affine]
    # With few rows clusters of unequal size appear by chance.
    middle = middle_setting(settings) if kind == "auto" and not few else None
    if not trials or not few:
        sample = draw_sample(rows, settings, rng, SAMPLE_ROWS, max_landmarks=n_landmarks)

        def attempt(some: Sequence[FlatSetting]) -> list[FlatSetting]:
            return try_settings(some, sample, n_clusters, generators(rng, len(some)), asked=middle)

        settings = climb(settings, attempt, sampled=sampled)
        trials = trials + settings
    best = best_setting(settings, sampled=sampled)
    uneven = False
    if middle:
        middle = next(trial for trial in settings if trial.same_flats(middle))
        asked = ask_sizes(settings, middle, best, lambda each: ask_joins(each, sample, n_clusters, rng, n_draws=1))
        trials, uneven = trials + asked, is_uneven(middle, *asked[:1])
        if uneven:
            best, kind = largest_sure(middle, *asked), "density"
    sizes = ", clusters of unequal size" if uneven else ""
    progress.note(f"dimension {best.dim}, neighbourhood {best.neighborhood}: modularity {best.modularity:.3f}{sizes}")
    return Search(best, trials, kind, uneven, middle)


def pilot_settings(settings: Sequence[FlatSetting], n_columns: int) -> tuple[list[FlatSetting], list[FlatSetting]]:
    """Settings that compare linear with affine flats, and more to try if affine flats win among these.

    Affine flats must win clearly, which with wide neighbourhoods they hardly ever do unless they do so with tight ones.
    On most data of many columns they do not, and one pair of settings is enough to see it.
    """
    linear, affine = ([setting for setting in settings if setting.affine == wanted] for wanted in (False, True))
    asked = [*linear, *tight_settings(affine)]
    asked = [setting for setting in asked if setting.dim in PILOT_DIMS] or asked
    if n_columns < PAIR_COLUMNS:
        return asked, []
    pair = [setting for setting in tight_settings(linear) + tight_settings(affine) if setting.dim == PILOT_DIMS[-1]]
    return (pair, [setting for setting in asked if setting not in pair]) if pair else (asked, [])


def middle_setting(settings: Sequence[FlatSetting]) -> FlatSetting:
    """The setting of the middle dimension with the smallest neighbourhood."""
    tight = tight_settings(settings)
    return tight[(len(tight) - 1) // 2]


def tight_settings(settings: Sequence[FlatSetting]) -> list[FlatSetting]:
    """The setting of the smallest neighbourhood for each dimension, ascending; the last of equals."""
    tight = {setting.dim: setting for setting in sorted(settings, key=lambda each: -each.n_neighbors)}
    return [tight[dim] for dim in sorted(tight)]


def ask_sizes(
    settings: Sequence[FlatSetting],
    middle: FlatSetting,
    best: FlatSetting,
    attempt: Callable[[FlatSetting], FlatSetting],
) -> list[FlatSetting]:
    """Trials that check whether clusters differ in size, stopping at the first that denies it.

    The `middle` setting was tried already; then the `best`, whose partition must be clearly less well separated; then
    larger dimensions that may show the same clusters.
    """
    if not is_uneven(middle):
        return []
    asked = [attempt(best)]
    if is_uneven(middle, *asked):
        asked += [attempt(setting) for setting in tight_settings(settings) if setting.dim > middle.dim]
    return asked


def is_uneven(setting: FlatSetting, *others: FlatSetting) -> bool:
    """Whether clusters of unequal size are clearly better separated than those of the largest modularity."""
    return setting.separation > UNEVEN_MARGIN + max(each.balanced_separation for each in (setting, *others))


def largest_sure(middle: FlatSetting, best: FlatSetting, *larger: FlatSetting) -> FlatSetting:
    """The largest dimension that shows them too and whose parts agree, or the middle one."""
    sure = [each for each in larger if is_uneven(each, best) and each.agreement >= SURE_AGREEMENT]
    return max([middle, *sure], key=lambda setting: setting.dim)


def climb(
    settings: Sequence[FlatSetting],
    attempt: Callable[[Sequence[FlatSetting]], list[FlatSetting]],
    *,
    sampled: bool = False,
) -> list[FlatSetting]:
    """Trials of about half of the settings, which include the best if modularity has one peak over dimensions.

    First every other dimension and the middle one with the smallest neighbourhood, then the neighbours of the best,
    then the larger neighbourhoods of the best. `sampled` is as in `best_setting`.
    """
    tight = {setting.dim: setting for setting in tight_settings(settings)}
    dims = sorted(tight)
    first = sorted({*dims[::2], dims[(len(dims) - 1) // 2]})
    trials = {trial.dim: trial for trial in attempt([tight[dim] for dim in first])}
    peak = dims.index(best_setting(trials.values(), sampled=sampled).dim)
    beside = [dim for dim in dims[max(0, peak - 1) : peak + 2] if dim not in trials]
    trials |= {trial.dim: trial for trial in attempt([tight[dim] for dim in beside])}
    best = best_setting(trials.values(), sampled=sampled).dim
    return [*trials.values(), *attempt([each for each in settings if each.dim == best and each is not tight[best]])]


def best_setting(settings: Collection[FlatSetting], *, sampled: bool) -> FlatSetting:
    """The setting of the largest modularity; on a sample, the largest dimension among near ties.

    All rows are denser than a sample of them, so flats of higher dimension fit inside their clusters there.
    """
    best = max(settings, key=_evidence)
    if not sampled:
        return best
    ties = [setting for setting in settings if _evidence(setting) >= _evidence(best) - DIM_TIE]
    return max(ties, key=lambda setting: (setting.dim, setting.modularity))


def _evidence(setting: FlatSetting) -> float:
    """Modularity, with a handicap for lines through the origin, which for unit rows are only directions."""
    return setting.modularity - (LINE_HANDICAP if setting.dim == 1 and setting.unit else 0)


def prefers_affine(trials: Sequence[FlatSetting], margin: float) -> bool:
    """Whether the best affine trial beats the best linear one by more than `margin`."""
    linear, affine = (max(_evidence(trial) for trial in trials if trial.affine == wanted) for wanted in (False, True))
    return affine > linear + margin


Graph: TypeAlias = tuple[csr_matrix, Indices, Spectrum]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of the rows, scaled to unit norm or not, with landmarks and the rows nearest to these."""

    rows: dict[bool, Array]  # (m, p)
    landmarks: dict[bool, Array]  # (D, p)
    neighbors: dict[bool, Indices]  # (D, size), nearest first, as many as any setting fits flats to
    graphs: dict[Any, Graph] = field(default_factory=dict)  # cached per setting


def draw_sample(
    rows: Array,
    settings: Sequence[FlatSetting],
    rng: np.random.RandomState,
    max_rows: int,
    *,
    max_landmarks: int = SAMPLE_LANDMARKS,
) -> Sample:
    """At most `max_rows` of the rows (n, p), on which to try `settings`, and landmarks for them."""
    if len(rows) > max_rows:
        rows = rows[rng.choice(len(rows), max_rows, replace=False)]
    dim = min(setting.dim for setting in settings)
    # Scale first, as in the fit: it makes rows of one line copies of each other.
    kinds = sorted({setting.unit for setting in settings})
    scaled = {unit: rows_to_fit(unit_rows(rows) if unit else rows, dim) for unit in kinds}
    landmarks = {
        unit: choose_landmarks(x, min(max_landmarks, max(1, len(x) // 2)), method="kmeans", rng=rng)
        for unit, x in scaled.items()
    }
    reach = max(setting.n_neighbors for setting in settings)
    neighbors = {unit: nearest_rows(x, landmarks[unit], min(len(x), reach)) for unit, x in scaled.items()}
    return Sample(scaled, landmarks, neighbors)


def try_settings(
    settings: Sequence[FlatSetting],
    sample: Sample,
    n_clusters: int,
    own: Sequence[np.random.RandomState],
    *,
    asked: FlatSetting | None = None,
) -> list[FlatSetting]:
    """`settings` with the modularity that each reaches on a sample, each with a generator of its `own`.

    For the setting `asked` the separation of clusters is measured as well.
    """

    def attempt(i: int) -> FlatSetting:
        if settings[i] is asked:
            return ask_joins(settings[i], sample, n_clusters, own[i], n_draws=MIDDLE_DRAWS)
        return try_setting(settings[i], sample, n_clusters, own[i])

    # The longest first, so that threads finish at about the same time.
    order = sorted(range(len(settings)), key=lambda i: (settings[i] is not asked, -settings[i].dim))
    tried = mapped(attempt, order)
    return [tried[order.index(i)] for i in range(len(settings))]


def try_setting(setting: FlatSetting, sample: Sample, n_clusters: int, rng: np.random.RandomState) -> FlatSetting:
    """`setting` with the modularity that it reaches on a sample."""
    found = _partition_of(setting, sample, n_clusters, rng, kind="balanced")
    return replace(setting, modularity=found.balanced.modularity, n_rows=len(sample.rows[setting.unit]))


def ask_joins(
    setting: FlatSetting, sample: Sample, n_clusters: int, rng: np.random.RandomState, *, n_draws: int
) -> FlatSetting:
    """`setting` with its modularity and separation; parts are made `n_draws` times in each way."""
    found = _partition_of(setting, sample, n_clusters, rng, kind="auto", n_draws=n_draws)
    return replace(
        setting,
        modularity=found.balanced.modularity,
        separation=found.density.separation,
        balanced_separation=found.balanced.separation,
        agreement=found.agreement,
        n_rows=len(sample.rows[setting.unit]),
    )


def _partition_of(
    setting: FlatSetting, sample: Sample, n_clusters: int, rng: np.random.RandomState, *, kind: str, n_draws: int = 1
) -> PartitionChoice:
    counts = few_vector_counts(n_clusters)
    psi, inliers, spectrum = setting_graph(setting, sample, max(counts))
    return choose_partition(
        psi,
        spectrum,
        inliers,
        n_clusters,
        counts=counts,
        n_starts=SEARCH_STARTS,
        polish=False,
        rng=rng,
        kind=kind,
        n_draws=n_draws,
    )


def setting_graph(setting: FlatSetting, sample: Sample, n_vectors: int) -> Graph:
    """psi (m, D) of a sample, its inliers and its eigenvectors; cached per setting."""
    key = (setting.dim, setting.neighborhood, setting.affine, setting.unit, n_vectors)
    if key not in sample.graphs:
        sample.graphs[key] = _setting_graph(setting, sample, n_vectors)
    return sample.graphs[key]


def _setting_graph(setting: FlatSetting, sample: Sample, n_vectors: int) -> Graph:
    rows, landmarks = sample.rows[setting.unit], sample.landmarks[setting.unit]
    if setting.n_neighbors:
        index = sample.neighbors[setting.unit][:, : setting.n_neighbors]
        flats, residuals = fit_flats(rows, index, setting.dim, affine=setting.affine)
    else:
        rule = as_neighborhood(setting.neighborhood)
        flats, residuals = local_flats(rows, landmarks, setting.dim, rule, affine=setting.affine)
    usable = usable_flats(residuals, rows)
    psi, distances = nearest_weights(rows, flats[usable] if len(usable) > SAMPLE_NEAREST else flats, SAMPLE_NEAREST)
    spectrum = compute_spectrum(lambda: iter((psi,)), n_vectors, balanced=True)
    return psi, inlier_rows(distances, rows), spectrum
