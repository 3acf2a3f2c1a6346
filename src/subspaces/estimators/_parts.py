"""States of the parts of models: names, types and shapes of everything that labels new rows.

Names in states are part of the file format, docs/saved-models.md: they stay when classes and attributes are renamed.
Words in shapes: see `subspaces.saving.fields`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from subspaces.estimators._models import (
    CentroidModel,
    FlatsModel,
    FlatVotesModel,
    NearestFlatModel,
    ResidualModel,
    SpectralModel,
    SubspaceModel,
)
from subspaces.estimators._score import ClusterCode
from subspaces.features import FourierFeatures, LandmarkFeatures, NystromFeatures, SubspaceFeatures, exact
from subspaces.flats.cells import Background, Cell
from subspaces.flats.cluster_model import ClusterModel
from subspaces.flats.coded import CodedClusters
from subspaces.flats.flats import Flats
from subspaces.flats.kflats import LOSSES
from subspaces.flats.neighborhoods import Beta2
from subspaces.rows.preparation import RowPreparation
from subspaces.saving.fields import (
    Array,
    Field,
    Flag,
    Integer,
    Number,
    OneOf,
    Optional,
    Part,
    PartOfKind,
    Parts,
    Record,
    Sizes,
    Text,
    require,
)
from subspaces.saving.parameters import BETA2
from subspaces.selection.voting import Voter
from subspaces.self_expression.residuals import ClusterGrams
from subspaces.spectral.partition import Partition
from subspaces.spectral.spectrum import Spectrum

POSITIVE = Number(positive=True)
ANY_NUMBER = Number(finite=False)
COUNT = Integer(low=1)
# Of values that divide others.
LEAST = float(np.finfo(np.float32).tiny)
SIGMA = OneOf((str, Text(("auto",))), ((int, float), POSITIVE))
NEIGHBORHOOD = OneOf((str, Text(("beta2", "auto"))), ((Beta2, Mapping), Part(BETA2)), (int, COUNT))
OUTLIERS = OneOf((bool, Flag()), (float, POSITIVE))
FLATS = Record(Flats, {"centers": Array("flats", "columns"), "bases": Array("flats", "columns", "dimension")})


def _check_preparation(made: RowPreparation, sizes: Sizes) -> None:
    if made.directions is None:
        sizes.bind("prepared", len(made.mean), "preparation")
    if made.whitener is not None:
        whole = np.linalg.matrix_rank(made.whitener) == len(made.whitener)
        require(whole, "its whitener removes directions")


PREPARATION = Part(
    Record(
        RowPreparation,
        {
            "mean": Array("columns"),
            "directions": Optional(Array("columns", "prepared")),
            "unit": Flag(),
            "whitener": Optional(Array("prepared", "prepared")),
            "scale": Optional(Array("columns", low=LEAST)),
        },
        check=_check_preparation,
    ),
    "columns",
    "prepared",
)


def _fitted_map(cls: type[Any]) -> Callable[..., Any]:
    """A function that makes a fitted feature map of a class from its parameters and fitted attributes."""

    def make(**values: Any) -> Any:
        names = cls._get_param_names()
        made = cls(**{name: value for name, value in values.items() if name in names})
        vars(made).update({name: value for name, value in values.items() if name not in names and value is not None})
        return made

    return make


def _check_landmark_map(made: Any, sizes: Sizes) -> None:
    _check_map(made, sizes)
    require((made.n_nearest is None) == (vars(made).get("n_nearest_") is None), "its n_nearest is not that of its map")
    made.n_nearest_ = vars(made).get("n_nearest_")
    require(
        (made.n_nearest_ or 1) <= sizes["features"], f"n_nearest={made.n_nearest_} is more than there are landmarks"
    )


def _check_map(made: Any, sizes: Sizes) -> None:
    made.n_features_in_, made._n_features_out = sizes["prepared"], sizes["features"]


# Names of fitted attributes do not end in an underscore in files; those of parameters begin with "given" if the two
# would be equal.
ATTRIBUTES = {
    "given_sigma": "sigma",
    "given_n_nearest": "n_nearest",
    "given_landmarks": "landmarks",
    "sigma": "sigma_",
    "sigma_per_row": "sigma_per_row_",
    "n_nearest": "n_nearest_",
    "points": "landmarks_",
    "flats": "flats_",
    "whitening": "whitening_",
    "frequencies": "frequencies_",
    "phases": "phases_",
}
GIVEN_LANDMARKS = OneOf((str, Text(("kmeans", "random"))), (np.ndarray, Array("given", "prepared")))
WIDTHS: dict[str, Field] = {
    "n_components": COUNT,
    "given_sigma": SIGMA,
    "given_n_nearest": Optional(COUNT),
    "given_landmarks": GIVEN_LANDMARKS,
    "sigma": POSITIVE,
    "sigma_per_row": Flag(),
    "n_nearest": Optional(COUNT),
}
KERNEL: dict[str, Field] = {
    "n_components": COUNT,
    "kernel": Text(exact.NAMES),
    "given_sigma": SIGMA,
    "nu": POSITIVE,
    "sigma": POSITIVE,
}
LANDMARK_FLATS = Part(
    Record(
        _fitted_map(SubspaceFeatures),
        {
            **WIDTHS,
            "subspace_dim": Integer(),
            "measure": Text(("landmarks", "uniform")),
            "neighborhood": NEIGHBORHOOD,
            "affine": Flag(),
            "power": POSITIVE,
            "trim": OneOf((bool, Flag()), ((int, float), POSITIVE)),
            "points": Optional(Array("points", "prepared")),
            "flats": Part(FLATS, flats="features", columns="prepared"),
        },
        kind="landmark flats",
        attributes=ATTRIBUTES,
        check=_check_landmark_map,
    ),
    "prepared",
    "features",
)
LANDMARK_POINTS = Part(
    Record(
        _fitted_map(LandmarkFeatures),
        {**WIDTHS, "points": Array("features", "prepared")},
        kind="landmark points",
        attributes=ATTRIBUTES,
        check=_check_landmark_map,
    ),
    "prepared",
    "features",
)
FOURIER = Part(
    Record(
        _fitted_map(FourierFeatures),
        {**KERNEL, "frequencies": Array("prepared", "features"), "phases": Array("features")},
        kind="Fourier features",
        attributes=ATTRIBUTES,
        check=_check_map,
    ),
    "prepared",
    "features",
)
NYSTROM = Part(
    Record(
        _fitted_map(NystromFeatures),
        {
            **KERNEL,
            "given_landmarks": GIVEN_LANDMARKS,
            "points": Array("features", "prepared"),
            "whitening": Array("features", "features"),
        },
        kind="Nystrom features",
        attributes=ATTRIBUTES,
        check=_check_map,
    ),
    "prepared",
    "features",
)
ANY_MAP = PartOfKind(
    {
        SubspaceFeatures: LANDMARK_FLATS,
        LandmarkFeatures: LANDMARK_POINTS,
        FourierFeatures: FOURIER,
        NystromFeatures: NYSTROM,
    }
)
SPECTRUM = Record(
    Spectrum,
    {
        "weights": Array("terms"),
        "degree": Array("terms"),
        "eigenvalues": Array("vectors"),
        "vectors": Array("terms", "vectors"),
    },
)
CELL = Record(
    Cell,
    {
        "size": COUNT,
        "center": Array("columns"),
        "directions": Array("columns", "columns"),
        "basis": Array("columns", "dimension"),
        "variances": Array("dimension", low=LEAST),
        "noise": POSITIVE,
        "length": ANY_NUMBER,
        "overhead": ANY_NUMBER,
        "dim": Integer(),
        "dim_noise": ANY_NUMBER,
    },
)
CODED_CLUSTERS = Record(
    CodedClusters,
    {
        "directions": Array("prepared", "coded columns"),
        "center": Array("coded columns"),
        "unit": POSITIVE,
        "cells": Parts(Optional(Part(CELL, columns="coded columns")), "clusters"),
    },
)


class WholeFlats(Part):
    """`CodedClusters`; lists of flats of an earlier version had another rule for labels."""

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(not isinstance(value, list), f"{where} are from an earlier version: fit the model again and save it")
        return super().decode(value, where, sizes)


PARTITION = Record(
    Partition,
    {
        "n_clusters": Integer(low=1, size="clusters"),
        "n_vectors": Integer(low=1, size="used vectors"),
        "centers": Optional(Array("clusters", "used vectors")),
        "landmark_scores": Optional(Array("terms", "clusters")),
        "origin": Text(),
        "modularity": ANY_NUMBER,
        "separation": ANY_NUMBER,
        "flats": Optional(WholeFlats(CODED_CLUSTERS, "prepared", "clusters")),
    },
)


def _check_spectral(made: SpectralModel, sizes: Sizes) -> None:
    # If pairs of rows have an additional weight, psi has a constant feature more.
    require(sizes["terms"] == sizes["features"] + bool(made.tie), "its spectrum is not that of its features")
    require(made.partition.n_vectors <= sizes["vectors"], "its partition uses more vectors than there are")
    ways = (made.partition.centers, made.partition.landmark_scores, made.partition.flats)
    require(any(way is not None for way in ways), "its partition has neither centres nor scores of landmarks")


def spectral(features: Field, kind: str | None = "spectral") -> Record:
    """The state of a spectral model with feature maps of one kind."""
    return Record(
        SpectralModel,
        {
            "preparation": PREPARATION,
            "features": features,
            "spectrum": Part(SPECTRUM, "terms", "vectors"),
            "partition": Part(PARTITION, "clusters", "terms", "prepared"),
            "tie": Number(),
        },
        kind=kind,
        check=_check_spectral,
    )


VOTER = Record(Voter, {"features": LANDMARK_FLATS, "scores": Array("features", "clusters"), "unit": Flag()})
BACKGROUND = Record(Background, {"size": Integer(), "center": Array("columns"), "width": POSITIVE})
CLUSTER_SHAPES = Record(
    ClusterModel,
    {
        "center": Array("columns"),
        "unit": POSITIVE,
        "cells": Parts(Optional(Part(CELL, "columns")), "clusters"),
        "background": Part(BACKGROUND, "columns"),
    },
)
CODE = Record(
    ClusterCode,
    {
        "preparation": PREPARATION,
        "shapes": Part(CLUSTER_SHAPES, columns="prepared"),
        "overhead": ANY_NUMBER,
    },
    attributes={"shapes": "clusters"},
)


def _check_scores(made: SubspaceModel, sizes: Sizes) -> None:
    fits = made.scores is None or len(made.scores) == len(made.spectral.features.flats_)
    require(fits, "its scores are not those of its landmarks")


SUBSPACES = Record(
    SubspaceModel,
    {
        "spectral": Part(spectral(LANDMARK_FLATS, None), "columns", "prepared", "clusters"),
        "voters": Parts(Part(VOTER, "prepared", "clusters")),
        "shapes": Part(CLUSTER_SHAPES, "clusters", columns="prepared"),
        "detect_outliers": OUTLIERS,
        "outlier_limit": ANY_NUMBER,
        # Files of earlier versions have none.
        "scores": Optional(Array("landmarks", "clusters")),
    },
    kind="subspaces",
    attributes={"shapes": "clusters"},
    check=_check_scores,
)


def _check_votes(made: FlatVotesModel, sizes: Sizes) -> None:
    require(made.flat_labels.max() < len(made.flats), "it has more clusters than flats")


def _check_residuals(made: ResidualModel, sizes: Sizes) -> None:
    # Affine combinations have a constant column more.
    require(sizes["width"] == sizes["prepared"] + (made.length is not None), "its Gram matrices are not those of rows")


NEAREST_FLAT = Record(
    FlatsModel,
    {"flats": Part(FLATS, "columns", flats="clusters"), "unit": Flag(), "loss": Text(tuple(LOSSES))},
    kind="nearest flat",
)
FLAT_VOTES = Record(
    FlatVotesModel,
    {
        "flats": Part(FLATS, "columns", "flats"),
        "unit": Flag(),
        "scales": Array("flats", low=0),
        "flat_labels": Array("flats", kind="i", low=0),
        "n_nearest": COUNT,
    },
    kind="votes of flats",
    check=_check_votes,
)
NEAREST_PREPARED_FLAT = Record(
    NearestFlatModel,
    {"preparation": PREPARATION, "flats": Part(FLATS, flats="clusters", columns="prepared")},
    kind="nearest flat of prepared rows",
)
RESIDUALS = Record(
    ResidualModel,
    {
        "preparation": PREPARATION,
        "length": Optional(Number()),
        "grams": Part(
            Record(ClusterGrams, {"inverse": Array("width", "width"), "grams": Array("clusters", "width", "width")}),
            "clusters",
            "width",
        ),
    },
    kind="least residual",
    check=_check_residuals,
)
CENTROIDS = Record(
    CentroidModel,
    {
        "preparation": PREPARATION,
        "centroids": Array("centroids", "columns"),
        "labels": Array("centroids", kind="i", low=0),
        "embedding": Array("centroids", "vectors"),
    },
    kind="nearest centroid",
    attributes={"labels": "centroid_labels", "embedding": "centroid_embedding"},
)
