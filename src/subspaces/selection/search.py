"""The search for a graph: points or flats, linear or affine, whitened or not; their dimension and neighbourhoods.

Each setting is tried end to end on a sample of the rows, and its modularity is compared with that of others row by row.
Linear flats of unit rows come first; another kind must be clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core import progress
from subspaces._core.arrays import Array, Indices, Labels
from subspaces._core.threads import generators, mapped
from subspaces.features.flats import usable_flats
from subspaces.features.weights import nearest_weights
from subspaces.flats.fitting import fit_flats
from subspaces.flats.neighborhoods import Beta2, as_neighborhood, local_flats, nearest_rows, rows_to_fit
from subspaces.rows.preparation import PreparedRows
from subspaces.selection.comparison import Floats, clearly_positive
from subspaces.selection.limits import (
    ERROR_GROUPS,
    PILOT_DIMS,
    PILOT_LANDMARKS,
    PILOT_ROWS,
    SAMPLE_LANDMARKS,
    SAMPLE_NEAREST,
    SAMPLE_ROWS,
    SEARCH_STARTS,
)
from subspaces.selection.partition import choose_partition
from subspaces.selection.thresholds import DIMS, FEW_COLUMNS, NEIGHBORHOODS
from subspaces.spectral.iterated import sparse_spectrum
from subspaces.spectral.kmeans import nearest_centers
from subspaces.spectral.landmarks import choose_landmarks
from subspaces.spectral.modularity import modularity_terms
from subspaces.spectral.partition import assign, few_vector_counts, inlier_rows
from subspaces.spectral.spectrum import Spectrum

# Rows this many times farther from the origin than from their mean stay in float64. Rounding.
FAR = 1e3


@dataclass(frozen=True, slots=True)
class FlatSetting:
    """One way to fit landmark flats; points are flats of dimension 0."""

    dim: int
    neighborhood: int | str | Beta2
    affine: bool
    unit: bool  # whether rows are scaled to unit norm
    whiten: float = 0.0  # power to which rows are whitened before
    modularity: float = float("nan")
    n_rows: int = 0  # size of the sample it was tried on

    @property
    def n_neighbors(self) -> int:
        """Rows in a neighbourhood; 0 if each flat has its own number."""
        return self.neighborhood if isinstance(self.neighborhood, int) else 0

    @property
    def kind(self) -> tuple[Any, ...]:
        """What a pilot decides: all but dimension and neighbourhood."""
        return self.dim == 0, self.affine, self.unit, self.whiten

    @property
    def key(self) -> tuple[Any, ...]:
        """All that distinguishes one setting from another."""
        return self.dim, self.neighborhood, self.affine, self.unit, self.whiten


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A setting tried on a sample."""

    setting: FlatSetting  # with its modularity
    terms: Floats  # (m,), of the modularity, one for each row of the sample
    index: Indices  # (m,), rows of the sample
    labels: Labels  # (m,)


@dataclass(frozen=True, slots=True)
class Search:
    """The best setting, and all that were tried."""

    setting: FlatSetting
    trials: list[Trial]
    middle: FlatSetting  # of the middle dimension with the smallest neighbourhood


def candidate_settings(
    n_rows: int,
    n_columns: int,
    n_clusters: int,
    *,
    affine: bool,
    unit: bool,
    whiten: float = 0.0,
    dim: int | None = None,
    neighborhood: int | str | Beta2 | None = None,
) -> list[FlatSetting]:
    """The settings of one kind: a ladder of dimensions, each with a tight and a wide neighbourhood.

    Given values are not varied. A neighbourhood should stay inside its cluster, so it has at most half the rows of an
    average cluster.
    """
    dims = [dim] if dim is not None else candidate_dims(n_columns)
    if neighborhood is not None:
        return [FlatSetting(d, neighborhood, affine, unit, whiten) for d in dims]
    limit = max(min(neighborhood_sizes(DIMS[0])[0], n_rows // 2), min(n_rows, SAMPLE_ROWS) / (2 * n_clusters))
    pairs = [(d, size) for d in dims for size in neighborhood_sizes(d) if size <= limit]
    # For a handful of rows: neighbourhoods of all rows would make all flats equal.
    few = [(d, max(d + 1, min(neighborhood_sizes(d)[0], n_rows // 2))) for d in dims]
    return [FlatSetting(d, size, affine, unit, whiten) for d, size in pairs or few]


def neighborhood_sizes(dim: int) -> tuple[int, ...]:
    """A tight and a wide neighbourhood for flats of a dimension; a point is one row."""
    return tuple(a * dim + b for a, b in NEIGHBORHOODS) if dim else (1,)


def candidate_dims(n_columns: int) -> list[int]:
    """The dimensions worth trying for rows of `n_columns` columns: flats of more than half pass near every row."""
    if n_columns <= FEW_COLUMNS:
        return list(range(1, n_columns))
    return [d for d in DIMS if d <= max(2, n_columns // 2)]


def choose_setting(
    prepared: PreparedRows, n_clusters: int, settings: Sequence[FlatSetting], rng: np.random.RandomState
) -> Search:
    """The best of `settings`, and all trials that led to it.

    A pilot on fewer rows decides the kind: linear or affine flats, points, whitening. The settings of that kind are
    compared by hill climbing over dimensions. With one cluster, modularity means nothing: the first setting is taken.
    """
    if len(settings) == 1 or n_clusters == 1:
        return Search(settings[0], [], settings[0])
    n = len(prepared.rows)
    sample = draw_sample(prepared, settings, rng, PILOT_ROWS, max_landmarks=PILOT_LANDMARKS)
    tried: list[Trial] = []
    known: dict[tuple[Any, ...], Trial] = {}  # on the present sample

    def attempt(some: Sequence[FlatSetting]) -> list[Trial]:
        new = [setting for setting in some if setting.key not in known]
        found = try_settings(new, sample, n_clusters, generators(rng, len(new)))
        tried.extend(found)
        known.update((trial.setting.key, trial) for trial in found)
        return [known[setting.key] for setting in some]

    best, simplest = settings[0], tight_settings([each for each in settings if each.kind == settings[0].kind])
    if len({setting.kind for setting in settings}) > 1:
        best = preferred_kind(attempt(pilot_settings(settings)), sample.groups)
        settings = [setting for setting in settings if setting.kind == best.kind]
        progress.note(f"{kind_name(best)}, by a pilot of {len(tried)} settings")
    if n > PILOT_ROWS and len(settings) > 1:
        sample = draw_sample(prepared, settings, rng, SAMPLE_ROWS, max_landmarks=SAMPLE_LANDMARKS)
        known.clear()
    if len(settings) > 1:
        sampled = n > SAMPLE_ROWS
        best = best_trial(climb(settings, attempt, sample.groups, sampled=sampled), sample.groups, sampled)
    progress.note(f"dimension {best.dim}, neighbourhood {best.neighborhood}: modularity {best.modularity:.3f}")
    tight = tight_settings(settings) if best.whiten else simplest
    return Search(best, tried, tight[(len(tight) - 1) // 2])


def setting_without_trials(settings: Sequence[FlatSetting], dim: float) -> FlatSetting:
    """The setting of the first kind whose dimension is nearest to `dim`, with the smallest neighbourhood.

    It serves if labels do not depend on the graph; points are for clusters of dimension zero.
    """
    points = [each for each in settings if each.dim == 0]
    if dim < 1 and points:
        return points[0]
    tight = tight_settings([each for each in settings if each.kind == settings[0].kind])
    return min(tight, key=lambda each: abs(each.dim - dim))


def kind_name(setting: FlatSetting) -> str:
    """The kind of a setting in words."""
    flats = "points" if setting.dim == 0 else f"{'affine' if setting.affine else 'linear'} flats"
    named = {0.0: "", 0.5: " of half-whitened rows", 1.0: " of whitened rows"}
    return flats + named.get(setting.whiten, f" of rows whitened to {setting.whiten:.3g}")


def pilot_settings(settings: Sequence[FlatSetting]) -> list[FlatSetting]:
    """Tight settings of few dimensions for each kind, which show the best kind as well as all settings do."""
    by_kind: dict[tuple[Any, ...], list[FlatSetting]] = {}
    for setting in settings:
        by_kind.setdefault(setting.kind, []).append(setting)
    asked = []
    for some in by_kind.values():
        tight = tight_settings(some)
        dims = PILOT_DIMS[:1] if some[0].whiten else PILOT_DIMS
        asked += [setting for setting in tight if setting.dim in dims] or tight[:1]
    return asked


def preferred_kind(trials: Sequence[Trial], groups: Indices) -> FlatSetting:
    """The best trial of the first kind, unless the best of a later kind is clearly better."""
    best: dict[tuple[Any, ...], Trial] = {}
    for trial in trials:
        known = best.setdefault(trial.setting.kind, trial)
        best[trial.setting.kind] = max(known, trial, key=_modularity)
    preferred, *others = best.values()
    for other in others:
        if clearly_positive(other.terms - preferred.terms, groups):
            preferred = other
    return preferred.setting


def tight_settings(settings: Sequence[FlatSetting]) -> list[FlatSetting]:
    """The setting of the smallest neighbourhood for each dimension, ascending; the last of equals."""
    tight = {setting.dim: setting for setting in sorted(settings, key=lambda each: -each.n_neighbors)}
    return [tight[dim] for dim in sorted(tight)]


def climb(
    settings: Sequence[FlatSetting],
    attempt: Callable[[Sequence[FlatSetting]], list[Trial]],
    groups: Indices,
    *,
    sampled: bool = False,
) -> list[Trial]:
    """Trials of about half of the settings, which include the best if modularity has one peak over dimensions.

    First every other dimension and the middle one with the smallest neighbourhood, then the neighbours of the best,
    then the larger neighbourhoods of the best. `sampled` is as in `best_trial`.
    """
    tight = {setting.dim: setting for setting in tight_settings(settings)}
    dims = sorted(tight)
    first = sorted({*dims[::2], dims[(len(dims) - 1) // 2]})
    trials = {trial.setting.dim: trial for trial in attempt([tight[dim] for dim in first])}
    peak = dims.index(best_trial([*trials.values()], groups, sampled).dim)
    beside = [dim for dim in dims[max(0, peak - 1) : peak + 2] if dim not in trials]
    trials |= {trial.setting.dim: trial for trial in attempt([tight[dim] for dim in beside])}
    best = best_trial([*trials.values()], groups, sampled).dim
    wider = [each for each in settings if each.dim == best and each is not tight[best]]
    return [*trials.values(), *attempt(wider)]


def best_trial(trials: Sequence[Trial], groups: Indices, sampled: bool) -> FlatSetting:
    """The setting of the largest modularity; on a sample, the largest dimension that is not clearly worse.

    All rows are denser than a sample of them, so flats of higher dimension fit inside their clusters there.
    """
    best = max(trials, key=_modularity)
    if not sampled:
        return best.setting
    ties = [trial for trial in trials if not clearly_positive(best.terms - trial.terms, groups)]
    return max(ties, key=lambda trial: (trial.setting.dim, trial.setting.modularity)).setting


def _modularity(trial: Trial) -> float:
    return trial.setting.modularity


Graph: TypeAlias = tuple[csr_matrix, Indices, Spectrum]


@dataclass(frozen=True, slots=True, eq=False)
class ShapedSample:
    """A sample scaled to unit norm and whitened, or not, with landmarks and the rows nearest to these."""

    rows: Array  # (m, q)
    distinct: Array  # rows without copies, to which flats are fitted
    landmarks: Array  # (D, q)
    neighbors: Indices  # (D, size), nearest first, as many as any setting fits flats to


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A sample of the rows for each way to shape them."""

    index: Indices  # (m,)
    shaped: dict[tuple[bool, float], ShapedSample]  # by `unit` and `whiten`
    groups: Indices  # (m,), rows of a group share landmarks
    graphs: dict[Any, Graph] = field(default_factory=dict)  # cached per setting

    def of(self, setting: FlatSetting) -> ShapedSample:
        """The sample as a setting needs it."""
        return self.shaped[setting.unit, setting.whiten]


def draw_sample(
    prepared: PreparedRows,
    settings: Sequence[FlatSetting],
    rng: np.random.RandomState,
    max_rows: int,
    *,
    max_landmarks: int = SAMPLE_LANDMARKS,
) -> Sample:
    """At most `max_rows` of the rows, on which to try `settings`, and landmarks for them."""
    n = len(prepared.rows)
    index = rng.choice(n, max_rows, replace=False) if n > max_rows else np.arange(n)
    plain = _narrow(prepared.rows[index])
    reach = max(1, *(setting.n_neighbors for setting in settings))
    dim = min(setting.dim for setting in settings)
    shaped = {}
    for unit, whiten in dict.fromkeys((setting.unit, setting.whiten) for setting in settings):
        rows = prepared.shaped_by(unit=unit, whiten=whiten).shaped(plain)
        # Scale first, as in the fit: it makes rows of one line copies of each other.
        distinct = rows_to_fit(rows, dim)
        count = min(max_landmarks, max(1, len(distinct) // 2))
        landmarks = choose_landmarks(distinct, count, method="kmeans", rng=rng)
        neighbors = nearest_rows(distinct, landmarks, min(len(distinct), reach))
        shaped[unit, whiten] = ShapedSample(rows, distinct, landmarks, neighbors)
    first = next(iter(shaped.values()))
    groups = nearest_centers(first.rows, first.landmarks[:: max(1, len(first.landmarks) // ERROR_GROUPS)])
    return Sample(index, shaped, groups.astype(np.intp))


def _narrow(rows: Array) -> Array:
    """Rows (m, q) over their largest value in float32, enough to compare settings; as they are if offsets need more."""
    largest = np.abs(rows).max()
    is_far = largest > FAR * np.abs(rows - rows.mean(axis=0)).max()
    return rows if is_far or largest == 0 else (rows / largest).astype(np.float32)


def try_settings(
    settings: Sequence[FlatSetting], sample: Sample, n_clusters: int, own: Sequence[np.random.RandomState]
) -> list[Trial]:
    """Trials of `settings` on a sample, each with a generator of its `own`."""
    # The longest first, so that threads finish at about the same time.
    order = sorted(range(len(settings)), key=lambda i: -settings[i].dim)
    tried = mapped(lambda i: try_setting(settings[i], sample, n_clusters, own[i]), order)
    return [tried[order.index(i)] for i in range(len(settings))]


def try_setting(setting: FlatSetting, sample: Sample, n_clusters: int, rng: np.random.RandomState) -> Trial:
    """A setting with the modularity that it reaches on a sample."""
    counts = few_vector_counts(n_clusters)
    psi, inliers, spectrum = setting_graph(setting, sample, max(counts))
    found = choose_partition(
        psi,
        spectrum,
        inliers,
        n_clusters,
        counts=counts,
        n_starts=SEARCH_STARTS,
        polish=False,
        rng=rng,
        kind="balanced",
    ).balanced
    labels = assign(psi, spectrum, found)
    terms = modularity_terms(psi, labels, n_clusters)
    setting = replace(setting, modularity=found.modularity, n_rows=psi.shape[0])
    return Trial(setting, terms, sample.index, labels)


def setting_graph(setting: FlatSetting, sample: Sample, n_vectors: int) -> Graph:
    """psi (m, D) of a sample, its inliers and its eigenvectors; cached per setting."""
    key = (*setting.key, n_vectors)
    if key not in sample.graphs:
        sample.graphs[key] = _setting_graph(setting, sample.of(setting), n_vectors)
    return sample.graphs[key]


def _setting_graph(setting: FlatSetting, sample: ShapedSample, n_vectors: int) -> Graph:
    if setting.n_neighbors:
        index = sample.neighbors[:, : setting.n_neighbors]
        flats, residuals = fit_flats(sample.distinct, index, setting.dim, affine=setting.affine)
    else:
        rule = as_neighborhood(setting.neighborhood)
        flats, residuals = local_flats(sample.distinct, sample.landmarks, setting.dim, rule, affine=setting.affine)
    usable = usable_flats(residuals, sample.rows)
    flats = flats[usable] if len(usable) > SAMPLE_NEAREST else flats
    psi, distances = nearest_weights(sample.rows, flats, min(SAMPLE_NEAREST, len(flats)))
    spectrum = sparse_spectrum(psi, n_vectors)
    return psi, inlier_rows(distances, sample.rows), spectrum
