"""What a user asked FLS for, and the setting that is left when everything else has been chosen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from subspaces._core.arrays import Array, Indices
from subspaces.features import SubspaceFeatures
from subspaces.flats.neighborhoods import Beta2
from subspaces.selection.clustering import CutSetting
from subspaces.selection.record import Choice
from subspaces.selection.search import FlatSetting
from subspaces.selection.thresholds import FEWER_LANDMARKS


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
    n_components: int | str = "auto"
    assign: str = "auto"
    n_draws: int | str = "auto"
    max_clusters: int = 10


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
        chosen = rng.choice(self.n_landmarks, max(1, int(FEWER_LANDMARKS * self.n_landmarks)), replace=False)
        return replace(self, landmarks=self.landmarks[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Everything that `cluster` needs to know beside the rows. Print it for a summary."""

    n_clusters: int
    landmarks: LandmarkSetting
    further: LandmarkSetting  # for further sets of landmarks
    cut: CutSetting
    whole_flats: bool  # whether K whole flats are compared with the cut of the graph
    flat_sample: Indices  # rows on which they are compared
    n_draws: int | None  # number of landmark sets; None takes more only if the first is unsure
    choice: Choice = field(default_factory=lambda: Choice(()))  # what was chosen, and why

    def __str__(self) -> str:
        flats, made = self.landmarks.flats, self.landmarks
        kind = "affine" if flats.affine else "linear"
        nearest: Any = "all" if made.n_nearest is None else made.n_nearest
        lines = [
            f"{self.n_clusters} clusters",
            f"{made.n_landmarks} landmarks with {kind} flats of dimension {flats.dim}, neighbourhood "
            f"{flats.neighborhood}, rows {'scaled to unit norm' if flats.unit else 'not scaled'}",
            f"{nearest} nearest flats describe a row, sigma {made.sigma}",
            f"eigenvectors to try: {', '.join(map(str, self.cut.n_vectors))}",
        ]
        return "\n".join([*lines, "", str(self.choice)])
