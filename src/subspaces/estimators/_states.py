"""What each estimator is made of when it is saved: its model and its fitted attributes, with types and shapes.

`to_state` and `from_state` turn a fitted estimator into a state and back. Names in states are part of the file format,
docs/saved-models.md. To add a fitted attribute, add it to `TABLE`; files written before do not have it, so it must be
optional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any

import numpy as np

from subspaces._core.arrays import is_dask
from subspaces._core.plain import plain
from subspaces.estimators._models import CentroidModel, FlatVotesModel
from subspaces.estimators._parts import (
    ANY_MAP,
    ANY_NUMBER,
    CENTROIDS,
    CODE,
    COUNT,
    FLAT_VOTES,
    FLATS,
    FOURIER,
    LANDMARK_POINTS,
    NEAREST_FLAT,
    NEAREST_PREPARED_FLAT,
    NEIGHBORHOOD,
    NYSTROM,
    POSITIVE,
    RESIDUALS,
    SUBSPACES,
    spectral,
)
from subspaces.saving.fields import (
    Array,
    DamagedError,
    Field,
    Flag,
    Integer,
    Number,
    Optional,
    Part,
    Record,
    Sizes,
    Sparse,
    State,
    require,
)
from subspaces.selection.evidence import Difference, Evidence
from subspaces.selection.record import Choice, Decision
from subspaces.selection.structure import KINDS
from subspaces.selection.verdict import STRUCTURES, TRUST, Verdict, verdict_of


class Decisions(Field):
    """The decisions of `choice_`, as JSON."""

    def encode(self, value: Any, where: str) -> Any:
        return [
            {**each.to_dict(), "candidates": [_candidate(candidate) for candidate in each.candidates]} for each in value
        ]

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, list), f"{where} is not a list of decisions")
        return Choice(tuple(self._decision(each, f"{where}.{i}") for i, each in enumerate(value)))

    def _decision(self, value: Any, where: str) -> Decision:
        kinds = {
            "name": str,
            "winner": int,
            "score": str,
            "larger_is_better": bool,
            "reason": str,
            "candidates": list,
        }
        require(isinstance(value, dict) and set(value) == set(kinds), f"{where} is not a decision")
        require(all(type(value[name]) is kind for name, kind in kinds.items()), f"{where} is not a decision")
        candidates = value["candidates"]
        good = all(isinstance(each, dict) and all(map(_is_plain, each.values())) for each in candidates)
        require(good, f"{where} has candidates that are not named values")
        require(0 <= value["winner"] < len(candidates), f"{where} has a winner that is not a candidate")
        return Decision(**{**value, "candidates": tuple(candidates)})


def _is_plain(value: Any) -> bool:
    """Whether a value of a candidate is a number, text or None, or a list of such."""
    single = bool | int | float | str | None
    return isinstance(value, single) or (isinstance(value, list) and all(isinstance(each, single) for each in value))


def _candidate(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """A candidate as plain values; NaN and infinities are kept."""
    return {key: value if isinstance(value, float) else plain(value) for key, value in candidate.items()}


class Judgement(Field):
    """`verdict_`, as JSON."""

    def encode(self, value: Any, where: str) -> Any:
        return value.to_dict()

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        names = {field.name for field in fields(Verdict)}
        require(isinstance(value, dict) and set(value) == names, f"{where} is not a verdict")
        require(value["structure"] in STRUCTURES and value["trust"] in TRUST, f"{where} is not a verdict")
        for name in ("reasons", "advice"):
            texts = value[name]
            require(isinstance(texts, list) and all(isinstance(each, str) for each in texts), f"{where} has no {name}")
        figures = value["evidence"]
        require(isinstance(figures, dict), f"{where} has no evidence")
        # Other versions measure other figures.
        known = {field.name: figures.get(field.name) for field in fields(Evidence)}
        kind = known.pop("kind")
        numbers = [each.values() if _is_difference(each) else [each] for each in known.values()]
        good = all(each is None or type(each) in (int, float) for each in chain(*numbers))
        require(good and (kind is None or kind in KINDS), f"{where} has evidence that is not a number")
        return verdict_of({**value, "evidence": known | {"kind": kind}})


def _is_difference(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {field.name for field in fields(Difference)}


CHOICE = Decisions()
# Attributes about single rows and about confidence, which a fit need not have, and those that older files do not have.
MAY_BE_MISSING = (
    "labels_",
    "outlier_scores_",
    "confidence_",
    "agreement_",
    "verdict_",
    "whiten_",
    "standardise_",
    "affine_",
)
LABELS = Array("rows", kind="i", low=-1)
PER_ROW = Array("rows", finite=False)
CLUSTERS = Integer(low=1, size="clusters")
CLUSTER_BASES = Part(FLATS, "columns", flats="clusters")
SPECTRAL_FITTED: dict[str, Field] = {
    "labels_": LABELS,
    "n_clusters_": CLUSTERS,
    "n_components_": COUNT,
    "eigenvalues_": Array("eigenvalues"),
    "outlier_scores_": PER_ROW,
}
FLATS_FITTED: dict[str, Field] = {
    "labels_": LABELS,
    "energy_": ANY_NUMBER,
    "n_iter_": Integer(),
    "n_clusters_": CLUSTERS,
    "subspace_dim_": Integer(),
    "cluster_dims_": Array("clusters", kind="i"),
    "choice_": CHOICE,
}
# How `score` encodes rows, of all estimators.
SCORE_CODE = Optional(Part(CODE, "columns"))
CODED: dict[str, Field] = {
    "labels_": LABELS,
    "codes_": Sparse("coded rows"),
    "affinity_matrix_": Sparse("coded rows"),
    "n_iter_": Integer(),
    "normalize_": Flag(),
    "affine_": Flag(),
}
LANDMARKS = Array("features", "columns")


def _vectors(model: Any) -> int:
    """Number of coordinates of `transform`."""
    return getattr(model, "spectral", model).partition.n_vectors


@dataclass(frozen=True, slots=True)
class Made:
    """What an estimator is made of: its model, its fitted attributes, and those that are parts of the model."""

    model: Record
    fitted: Mapping[str, Field]
    of_model: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


TABLE: dict[str, Made] = {
    "FLS": Made(
        SUBSPACES,
        {
            **SPECTRAL_FITTED,
            "subspace_dim_": Integer(),
            "neighborhood_": NEIGHBORHOOD,
            "affine_": Flag(),
            "normalize_": Flag(),
            "standardise_": Flag(),
            "whiten_": Number(),
            "center_": Flag(),
            "n_columns_": COUNT,
            "n_landmarks_": COUNT,
            "n_nearest_": Optional(COUNT),
            "sigma_": POSITIVE,
            "cluster_dims_": Array("clusters", kind="i"),
            "cluster_bases_": CLUSTER_BASES,
            "choice_": CHOICE,
            "verdict_": Judgement(),
            "confidence_": PER_ROW,
            "agreement_": ANY_NUMBER,
        },
        {"_n_features_out": _vectors},
    ),
    "LandmarkSpectralClustering": Made(
        spectral(LANDMARK_POINTS),
        {**SPECTRAL_FITTED, "landmarks_": LANDMARKS, "sigma_": POSITIVE, "n_nearest_": Optional(COUNT)},
        {"_n_features_out": _vectors},
    ),
    "NystromSpectralClustering": Made(
        spectral(NYSTROM),
        {**SPECTRAL_FITTED, "sigma_": POSITIVE},
        {"_n_features_out": _vectors, "landmarks_": lambda model: model.features.landmarks_},
    ),
    "FourierSpectralClustering": Made(
        spectral(FOURIER), {**SPECTRAL_FITTED, "sigma_": POSITIVE}, {"_n_features_out": _vectors}
    ),
    "KernelSpectralClustering": Made(
        spectral(ANY_MAP), SPECTRAL_FITTED, {"_n_features_out": _vectors, "feature_map_": lambda model: model.features}
    ),
    "KFlats": Made(
        NEAREST_FLAT,
        FLATS_FITTED,
        {"_n_features_out": lambda model: len(model.flats), "flats_": lambda model: model.flats},
    ),
    "LBF": Made(
        NEAREST_FLAT,
        {**FLATS_FITTED, "n_candidates_": COUNT},
        {"_n_features_out": lambda model: len(model.flats), "flats_": lambda model: model.flats},
    ),
    "SLBF": Made(
        FLAT_VOTES,
        {"labels_": LABELS, "affinity_matrix_": Sparse("flats"), "subspace_dim_": Integer()},
        {"flats_": lambda model: model.flats},
    ),
    "SSC": Made(
        NEAREST_PREPARED_FLAT,
        {**CODED, "cluster_bases_": CLUSTER_BASES, "subspace_dim_": Integer(), "outlier_scores_": PER_ROW},
    ),
    "SSSC": Made(RESIDUALS, {**CODED, "sample_indices_": Array("coded rows", kind="i", low=0)}),
    "KASP": Made(
        CENTROIDS,
        {
            "labels_": LABELS,
            "centroids_": Array("centroids", "columns"),
            "n_components_": COUNT,
            "eigenvalues_": Array("eigenvalues"),
        },
        {
            "_n_features_out": lambda model: model.centroid_embedding.shape[1],
            "centroid_labels_": lambda model: model.centroid_labels,
        },
    ),
}


def to_state(estimator: Any) -> dict[str, State]:
    """The fitted attributes and the model of an estimator, by documented names."""
    name = type(estimator).__name__
    made, known = TABLE[name], vars(estimator)
    fitted = {
        attribute: each.encode(known[attribute], f"{name}.{attribute}")
        for attribute, each in made.fitted.items()
        if attribute in known and not is_dask(known[attribute])
    }
    fitted["code"] = SCORE_CODE.encode(estimator._code, f"{name}.code")
    return {"fitted": fitted, "model": made.model.encode(estimator._model, f"{name} model")}


def from_state(name: str, state: State, n_columns: int, n_clusters: Any) -> dict[str, Any]:
    """Attributes of the estimator called `name` that was fitted to rows of `n_columns`, from its state.

    `n_clusters` is its parameter, which is the number of clusters if the fit did not choose one.
    """
    made, sizes = TABLE[name], Sizes()
    model = made.model.decode(state["model"], "model", sizes)
    sizes.bind("columns", n_columns, "model")
    fitted, values = state["fitted"], {}
    require(isinstance(fitted, dict), "fitted is not a group of values")
    require(set(fitted) <= {*made.fitted, "code"}, "fitted holds names that are not known")
    for attribute, each in made.fitted.items():
        absent = attribute not in fitted and (attribute in MAY_BE_MISSING or isinstance(each, Optional))
        if absent and not isinstance(each, Optional):
            continue
        require(absent or attribute in fitted, f"fitted.{attribute} is missing")
        values[attribute] = each.decode(fitted.get(attribute), f"fitted.{attribute}", sizes)
    values["_code"] = SCORE_CODE.decode(fitted.get("code"), "fitted.code", sizes)
    values |= {attribute: part(model) for attribute, part in made.of_model.items()}
    count = values.get("n_clusters_", n_clusters)
    require(type(count) is int and count > 0, f"its number of clusters {count!r:.40} is not a whole number")
    for labels in (values.get("labels_"), getattr(model, "flat_labels", None), getattr(model, "centroid_labels", None)):
        inside = labels is None or not len(labels) or labels.max() < count
        require(inside, f"it has labels of more than its {count} clusters")
    if "n_clusters_" not in values and not isinstance(model, FlatVotesModel | CentroidModel):
        sizes.bind("clusters", count, "n_clusters")
    check_works(model, values["_code"], np.zeros((1, n_columns)))
    return {**values, "_model": model}


def check_works(model: Any, code: Any, row: Any) -> None:
    """Label a row (1, p) and encode it by every cluster: values that are valid only alone are found now, not later."""
    try:
        with np.errstate(all="ignore"):
            labels = model.labels(row)
            embedding = model.embedding(row) if hasattr(model, "embedding") else row
            every = [] if code is None else range(len(code.clusters.cells))
            nats = [code.nats(row, np.array([number])) for number in every]
    except Exception as error:
        raise DamagedError(f"its parts do not belong together ({type(error).__name__}: {error!s:.200})") from None
    require(np.shape(labels) == (1,) and np.shape(embedding)[:1] == (1,), "its parts do not belong together")
    finite = np.isfinite(embedding).all() and not np.isnan(nats).any()
    require(finite, "its clusters have values that are too large")
