"""The classes that a saved model may be made of, and no others: names in a file are looked up here."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

# What `save` takes.
ESTIMATORS = {
    "FLS": "subspaces.estimators.fls",
    "FourierSpectralClustering": "subspaces.estimators.fourier",
    "KASP": "subspaces.estimators.kasp",
    "KFlats": "subspaces.estimators.kflats",
    "KernelSpectralClustering": "subspaces.estimators.kernel",
    "LBF": "subspaces.estimators.lbf",
    "LandmarkSpectralClustering": "subspaces.estimators.landmark",
    "NystromSpectralClustering": "subspaces.estimators.nystrom",
    "Preparation": "subspaces.rows",
    "SLBF": "subspaces.estimators.slbf",
    "SSC": "subspaces.estimators.ssc",
    "SSSC": "subspaces.estimators.sssc",
}
# What estimators hold: objects with parameters, and frozen dataclasses.
PARTS = {
    "FourierFeatures": "subspaces.features",
    "LandmarkFeatures": "subspaces.features",
    "NystromFeatures": "subspaces.features",
    "SubspaceFeatures": "subspaces.features",
    "ADMM": "subspaces.self_expression",
    "ElasticNet": "subspaces.self_expression",
    "OMP": "subspaces.self_expression",
    "Background": "subspaces.flats.description",
    "Beta2": "subspaces.flats.neighborhoods",
    "Cell": "subspaces.flats.description",
    "Choice": "subspaces.selection.record",
    "ClusterGrams": "subspaces.self_expression.residuals",
    "ClusterModel": "subspaces.flats.cluster_model",
    "Decision": "subspaces.selection.record",
    "FlatSetting": "subspaces.selection.search",
    "Flats": "subspaces.flats.flats",
    "Partition": "subspaces.spectral.partition",
    "RowPreparation": "subspaces.rows.preparation",
    "Search": "subspaces.selection.search",
    "Spectrum": "subspaces.spectral.spectrum",
    **dict.fromkeys(
        (
            "SpectralModel",
            "SubspaceModel",
            "FlatsModel",
            "FlatVotesModel",
            "NearestFlatModel",
            "ResidualModel",
            "CentroidModel",
        ),
        "subspaces.estimators._models",
    ),
    "Voter": "subspaces.selection.voting",
}
HOMES = {**ESTIMATORS, **PARTS}


def class_of(name: str) -> type[Any]:
    """The class that a file calls `name`, which must be a key of `HOMES`."""
    return getattr(import_module(HOMES[name]), name)


def name_of(value: Any) -> str | None:
    """What a file calls the class of `value`; None for classes that cannot be saved, subclasses of ours among them."""
    name = type(value).__name__
    return name if name in HOMES and type(value) is class_of(name) else None


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is of the type that a field is annotated with; NumPy's numbers pass for Python's."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in arguments)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _fits_scalar(value.dtype.type, arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(each, arguments[0]) for each in value)
    if origin in (list, Sequence):
        return isinstance(value, list | tuple) and all(fits(each, arguments[0]) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(fits(key, arguments[0]) for key in value)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint in (int, float):
        kinds = (int, np.integer) if hint is int else (int, float, np.integer, np.floating)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, hint)


def _fits_scalar(scalar: type[Any], arguments: tuple[Any, ...]) -> bool:
    """Whether an array of `scalar` is one of the `arguments` (shape, dtype[kind]) of its annotation."""
    (kind,) = typing.get_args(arguments[1])
    kind = typing.get_origin(kind) or kind
    if kind is Any:
        return True
    # Any width will do: float32 where rows are, and indices as wide as the machine that made them.
    broad = next((each for each in (np.floating, np.integer, np.bool_) if issubclass(kind, each)), kind)
    return issubclass(scalar, broad)
