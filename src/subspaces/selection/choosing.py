"""The choice without labels: from rows and what the user asked for to a setting with nothing left open."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from subspaces._core import progress
from subspaces._core.arrays import Array
from subspaces._core.errors import UserTypeError
from subspaces._core.validation import is_auto, unless_auto
from subspaces.rows.feed import Rows, open_feed
from subspaces.rows.preparation import PreparedRows, RowOptions, prepare
from subspaces.selection.clustering import CutSetting
from subspaces.selection.coding import mean_dim
from subspaces.selection.decisions import flats_decision, structure_decision
from subspaces.selection.flat_count import decide_n_clusters
from subspaces.selection.flat_search import search_flats
from subspaces.selection.graph_count import decide_by_graph
from subspaces.selection.limits import DRAWN_LANDMARKS, FLAT_ROWS
from subspaces.selection.record import Choice, Decision
from subspaces.selection.search import (
    FlatSetting,
    Search,
    candidate_settings,
    choose_setting,
    setting_without_trials,
)
from subspaces.selection.setting import Asked, LandmarkSetting, Setting
from subspaces.selection.structure import BENT, structure_of
from subspaces.selection.thresholds import FEW_COLUMNS, MANY_COLUMNS, N_LANDMARKS, N_NEAREST, N_NEAREST_ALL, WHITEN
from subspaces.selection.units import has_own_units
from subspaces.spectral.partition import at_most, vector_counts
from subspaces.spectral.thresholds import PART_VECTORS


def choose(rows: PreparedRows | Rows, asked: Asked | None = None, random_state: Any = None) -> Setting:
    """Choose everything that `asked` leaves open, without labels.

    Values that are given are not varied. K whole flats are searched unless `assign` is given or `n_nearest` is None; if
    nothing else is open either, this returns at once. `FLS.fit` calls it before `cluster`.

    Parameters
    ----------
    rows : array-like of shape (n, p), or anything that `subspaces.open_rows` takes
        They are centred and projected as `FLS` does by default. `FLS.fit` passes `PreparedRows`.
    asked : Asked, default=None
        Parameters of `FLS`; None leaves all of them open.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    setting : Setting
        Frozen. `setting.choice` records all candidates, their scores and the reasons; print the setting for a summary.

    Examples
    --------
    >>> from subspaces.datasets import make_subspaces
    >>> from subspaces.selection import Asked, choose
    >>> X, y = make_subspaces((2, 3), 6, random_state=0)
    >>> setting = choose(X, Asked(n_clusters=2), random_state=0)
    >>> setting.landmarks.flats.dim
    2
    """
    asked = Asked() if asked is None else asked
    if not isinstance(asked, Asked):
        raise UserTypeError(f"asked={asked!r} must be an Asked, such as Asked(n_clusters=3).", parameter="asked")
    if not isinstance(rows, PreparedRows):
        options = RowOptions.for_dimension(_whole_number(asked.subspace_dim))
        check = partial(asked.check, max_columns=options.max_columns)
        feed = open_feed(_FLS(random_state), rows, check, min_features=2)
        options = replace(options, standardise=has_own_units(feed.rows, feed.moments))
        rows, random_state = prepare(feed.rows, options, feed.moments), feed.rng
    rng = check_random_state(random_state)
    progress.stage("choosing", f"choosing parameters on {len(rows.rows):,} rows")
    decisions = [] if not is_auto(asked.n_clusters) else [_choose_n_clusters(rows, asked, rng)]
    n_clusters = int(decisions[0].chosen["n_clusters"] if decisions else asked.n_clusters)
    settings = flat_settings(rows, asked, n_clusters)
    sample = at_most(np.arange(len(rows.rows)), FLAT_ROWS, rng)
    flats, structure = None, None
    if n_clusters > 1 and searches_flats(asked):
        # Points or linear flats, if the user asks for these. Other dimensions may differ from those of local flats.
        flats = search_flats(
            rows.rows[sample],
            n_clusters,
            rng,
            affine=_is_affine(asked),
            max_dim=0 if unless_auto(asked.subspace_dim) == 0 else None,
            grain=rows.grain,
        )
        structure = structure_of(flats, rng) if flats.is_settled else None
    if structure is not None and structure.kind != BENT:
        decisions.append(structure_decision(structure, is_settled=True))
        setting = setting_without_trials(settings, mean_dim(structure.code))
        search = Search(setting, [], setting)
    else:
        structure = None
        search = choose_setting(rows, n_clusters, settings, rng)
    if search.trials:
        decisions.append(flats_decision(search))
    first, further = _landmark_settings(rows, asked, search, is_settled=structure is not None)
    return Setting(
        n_clusters,
        first,
        further,
        _cut_setting(asked, n_clusters, first, len(rows.rows)),
        sample,
        flats,
        structure,
        n_draws=None if is_auto(asked.n_draws) else int(asked.n_draws),
        choice=Choice(tuple(decisions)),
        trials=tuple(search.trials),
    )


class _FLS(BaseEstimator):  # type: ignore[misc]
    """The estimator that `open_feed` names in its messages."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state


_FLS.__name__ = "FLS"


def _whole_number(value: Any) -> int | None:
    """`value` if it is a whole number; anything else is checked later, or left to the choice."""
    return int(value) if isinstance(value, int | np.integer) else None


def _choose_n_clusters(rows: PreparedRows, asked: Asked, rng: np.random.RandomState) -> Decision:
    """The number of flats if clusters are flat, otherwise the number of clusters of the graph."""
    most = min(asked.max_clusters, len(rows.rows))
    decision = decide_n_clusters(
        rows.rows,
        most,
        affine=_is_affine(asked),
        max_dim=unless_auto(asked.subspace_dim),
        rng=rng,
        grain=rows.grain,
    )
    if not decision.chosen["flat"] and most > 1:
        decision = decide_by_graph(rows, most, flat_settings(rows, asked, most), rng, flats=decision)
    progress.note(f"{decision.chosen['n_clusters']} clusters: {decision.reason}")
    return decision


def _is_affine(asked: Asked) -> bool:
    """Whether whole flats have centres of their own, unless linear flats are asked for."""
    return is_auto(asked.affine) or bool(asked.affine)


def flat_settings(rows: PreparedRows, asked: Asked, n_clusters: int) -> list[FlatSetting]:
    """Ways to make a graph that are worth trying: linear flats, also of whitened rows, then affine flats and points."""
    n, n_columns = rows.rows.shape
    dim, size = unless_auto(asked.subspace_dim), unless_auto(asked.neighborhood)
    kinds = [False, True] if is_auto(asked.affine) else [bool(asked.affine)]
    powers = [0.0, *(WHITEN if n_columns >= MANY_COLUMNS else ())] if is_auto(asked.whiten) else [float(asked.whiten)]

    def settings(affine: bool, whiten: float, dim: int | None) -> list[FlatSetting]:
        unit = not affine if is_auto(asked.normalize) else bool(asked.normalize)
        return candidate_settings(
            n, n_columns, n_clusters, affine=affine, unit=unit, whiten=whiten, dim=dim, neighborhood=size
        )

    points = settings(True, powers[0], 0) if kinds[-1] and dim in (None, 0) else []
    if dim == 0 or (n_columns <= FEW_COLUMNS and dim is None and points):
        return points
    first = [each for whiten in powers for each in settings(kinds[0], whiten, dim)]
    return [*first, *(each for affine in kinds[1:] for each in settings(affine, powers[0], dim)), *points]


def searches_flats(asked: Asked) -> bool:
    """Whether K whole flats are searched: not if the graph is to decide, nor for the dense psi of the paper."""
    return asked.assign == "auto" and asked.n_nearest is not None


def landmark_count(n_rows: int, asked: Asked, *, is_settled: bool = False) -> int:
    """Number of landmarks; if K flats are settled, fewer are enough to draw them. At most the number of rows."""
    if not isinstance(asked.landmarks, str):
        return len(np.asarray(asked.landmarks))
    if not is_auto(asked.n_landmarks):
        return int(asked.n_landmarks)
    return min(n_rows, N_LANDMARKS, *([DRAWN_LANDMARKS] if is_settled else []))


def _landmark_settings(
    rows: PreparedRows, asked: Asked, search: Search, *, is_settled: bool
) -> tuple[LandmarkSetting, LandmarkSetting]:
    """How the landmark flats of the first clustering are made, and those of further ones."""
    n = len(rows.rows)
    count = landmark_count(n, asked, is_settled=is_settled)
    landmarks: str | Array = asked.landmarks if isinstance(asked.landmarks, str) else ""
    if not landmarks:
        shape = rows.shaped_by(unit=search.setting.unit, whiten=search.setting.whiten)
        landmarks = shape(np.asarray(asked.landmarks, rows.rows.dtype))

    def made(count: int, flats: FlatSetting) -> LandmarkSetting:
        n_nearest = nearest_count(asked.n_nearest, count, n)
        return LandmarkSetting(count, landmarks, flats, n_nearest, asked.sigma, asked.power, n_nearest is not None)

    fewer = max(1, n // 2) if isinstance(landmarks, str) and count >= n else count
    # Further landmark sets that were not asked for take the middle setting: its smaller flats fit smaller clusters.
    return made(count, search.setting), made(fewer, search.middle if is_auto(asked.n_draws) else search.setting)


def _cut_setting(asked: Asked, n_clusters: int, landmarks: LandmarkSetting, n_rows: int) -> CutSetting:
    """Numbers of eigenvectors to try, and to make parts in; with dense psi v_2, ..., v_K, as in the paper."""
    if not is_auto(asked.n_components):
        return CutSetting(n_clusters, (int(asked.n_components),), asked.assign)
    if landmarks.n_nearest is None:
        return CutSetting(n_clusters, (max(1, n_clusters - 1),), asked.assign)
    # Graphs in which every row is a landmark are small, and later eigenvectors are noise.
    parts = PART_VECTORS if landmarks.count < n_rows else 0
    return CutSetting(n_clusters, tuple(vector_counts(n_clusters)), asked.assign, n_part_vectors=parts)


def nearest_count(n_nearest: Any, n_landmarks: int, n_rows: int) -> int | None:
    """How many landmarks describe a row: as given, or more if every row is a landmark, as one is the row itself."""
    if is_auto(n_nearest):
        return N_NEAREST if n_landmarks < n_rows else N_NEAREST_ALL
    return None if n_nearest is None else int(n_nearest)
