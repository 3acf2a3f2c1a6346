"""Parameters that a user gave, and the setting after everything else has been chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array, Indices
from subspaces._core.errors import InputError
from subspaces._core.validation import (
    MOST_REPEATS,
    check_integer,
    check_n_clusters,
    check_option,
    check_positive,
    check_power,
    check_sigma,
    is_auto,
)
from subspaces.features import SubspaceFeatures
from subspaces.features.base import check_landmark_choice
from subspaces.flats.neighborhoods import Beta2, as_neighborhood
from subspaces.rows.preparation import prepared_columns
from subspaces.selection.clustering import CutSetting
from subspaces.selection.flat_search import FlatSearch
from subspaces.selection.partition import KINDS
from subspaces.selection.record import Choice
from subspaces.selection.search import FlatSetting, Trial, kind_name
from subspaces.selection.structure import Structure


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Parameters of `FLS` that `choose` respects; "auto" is left to the choice."""

    n_clusters: int | str = "auto"
    subspace_dim: int | str = "auto"
    n_landmarks: int | str = "auto"
    sigma: float | str = "auto"
    n_nearest: int | str | None = "auto"
    power: float = 2.0
    landmarks: str | ArrayLike = "kmeans"
    neighborhood: int | Beta2 | str = "auto"
    affine: bool | str = "auto"
    normalize: bool | str = "auto"
    whiten: float | str = "auto"
    n_components: int | str = "auto"
    assign: str = "auto"
    n_draws: int | str = "auto"
    max_clusters: int = 10

    def check(self, x: Array, *, max_columns: int | None) -> None:
        """Raise if the parameters do not suit rows of the shape and dtype of `x`, projected on `max_columns`."""
        check_integer("max_clusters", self.max_clusters, low=1)
        if not is_auto(self.n_clusters):
            check_n_clusters(self.n_clusters, x)
        for name in ("n_components", "n_landmarks"):
            if not is_auto(getattr(self, name)):
                check_integer(name, getattr(self, name), low=1)
        if not is_auto(self.n_draws):
            check_integer("n_draws", self.n_draws, low=1, high=MOST_REPEATS, hint='give a number or "auto"')
        if not is_auto(self.subspace_dim):
            n, p = x.shape
            dim = check_integer("subspace_dim", self.subspace_dim, low=0)
            hint = f"X has n_features={p} and n_samples={n}, and a subspace must leave a direction out"
            check_integer("subspace_dim", dim, low=0, high=prepared_columns(n, p, max_columns) - 1, hint=hint)
        if not is_auto(self.sigma):
            check_sigma(self.sigma, x.dtype)
        if not is_auto(self.n_nearest) and self.n_nearest is not None:
            check_integer("n_nearest", self.n_nearest, low=1, hint='give a number, "auto", or None for all')
        check_positive("power", self.power)
        for name in ("affine", "normalize"):
            check_option(name, getattr(self, name), (True, False, "auto"))
        if not is_auto(self.subspace_dim) and self.subspace_dim == 0 and not self.affine:
            raise InputError("subspace_dim=0 and affine=False contradict each other: points have no origin in common.")
        if not is_auto(self.whiten):
            check_power("whiten", self.whiten, hint='0 does not whiten, 1 does, "auto" tries')
        check_option("assign", self.assign, KINDS)
        check_landmark_choice(self.landmarks, x)
        if not is_auto(self.neighborhood):
            as_neighborhood(self.neighborhood)


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkSetting:
    """How landmark flats are made, and how rows are described by them."""

    n_landmarks: int
    landmarks: str | Array  # how landmark points are chosen, or points (D, q) in prepared coordinates
    flats: FlatSetting
    n_nearest: int | None  # None keeps all flats, as in the paper
    sigma: float | str
    power: float
    trim: bool | float  # as in `SubspaceFeatures`

    @property
    def count(self) -> int:
        """Number of landmark points."""
        return self.n_landmarks if isinstance(self.landmarks, str) else len(self.landmarks)

    def features(self, rng: np.random.RandomState) -> SubspaceFeatures:
        """The feature map that makes them, not fitted yet."""
        return SubspaceFeatures(
            self.n_landmarks,
            subspace_dim=self.flats.dim,
            affine=self.flats.affine,
            neighborhood=self.flats.neighborhood,
            landmarks=self.landmarks,
            n_nearest=self.n_nearest,
            sigma=self.sigma,
            power=self.power,
            trim=self.trim,
            random_state=rng,
        )

    def resampled(self, rng: np.random.RandomState) -> LandmarkSetting:
        """The same setting with a random part of the landmarks if they are given points."""
        if isinstance(self.landmarks, str):
            return self
        chosen = rng.choice(self.n_landmarks, max(1, self.n_landmarks // 2), replace=False)
        return replace(self, landmarks=self.landmarks[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Everything that `cluster` needs to know beside the rows. Print it for a summary."""

    n_clusters: int
    landmarks: LandmarkSetting
    further: LandmarkSetting  # for further sets of landmarks
    cut: CutSetting
    flat_sample: Indices  # rows on which K whole flats were searched
    flats: FlatSearch | None  # that search; None if the graph alone decides
    structure: Structure | None  # if the search is settled: labels are those of K whole flats, whatever the graph
    n_draws: int | None  # number of landmark sets; None takes more only if the first is unsure
    choice: Choice = field(default_factory=lambda: Choice(()))  # what was chosen, and why
    trials: tuple[Trial, ...] = ()  # ways to make a graph that were tried on samples

    def __str__(self) -> str:
        flats, made = self.landmarks.flats, self.landmarks
        nearest: Any = "all" if made.n_nearest is None else made.n_nearest
        lines = [
            f"{self.n_clusters} clusters",
            f"{made.n_landmarks} landmarks with {kind_name(flats)} of dimension {flats.dim}, neighbourhood "
            f"{flats.neighborhood}, rows {'scaled to unit norm' if flats.unit else 'not scaled'}",
            f"{nearest} nearest flats describe a row, sigma {made.sigma}",
            f"eigenvectors to try: {', '.join(map(str, self.cut.n_vectors))}",
        ]
        return "\n".join([*lines, "", str(self.choice)])
