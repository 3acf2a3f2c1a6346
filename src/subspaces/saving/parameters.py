"""Parameters of estimators in a state: plain values, arrays, and the few objects of this library that users pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subspaces._core.arrays import is_device_array, to_host
from subspaces.features import FourierFeatures, LandmarkFeatures, NystromFeatures, SubspaceFeatures
from subspaces.flats.neighborhoods import Beta2
from subspaces.saving.fields import (
    Array,
    Field,
    Integer,
    Number,
    Optional,
    Part,
    Record,
    Sizes,
    cannot_save,
    require,
)
from subspaces.self_expression import ADMM, OMP, ElasticNet, LeastSquares, LowRank, Thresholding

# Lists inside lists, and so on, are at most this deep.
DEPTH = 10
GENERATOR_WORDS = 624
BETA2 = Record(Beta2, {"start_size": Optional(Integer(low=1)), "step_size": Integer(low=1)}, kind="beta2")
# Objects given by their own parameters, by the names that they have in files.
OBJECTS: dict[str, type[Any]] = {
    "landmark points": LandmarkFeatures,
    "landmark flats": SubspaceFeatures,
    "Fourier features": FourierFeatures,
    "Nystrom features": NystromFeatures,
    "ADMM": ADMM,
    "OMP": OMP,
    "elastic net": ElasticNet,
    "thresholding": Thresholding,
    "least squares": LeastSquares,
    "low rank": LowRank,
}


def _generator(key: NDArray[np.uint32], position: int, has_gauss: int, gauss: float) -> np.random.RandomState:
    # NumPy would read beyond its words, and words that are all zero would be drawn forever.
    valid = key.dtype == np.uint32 and key.any() and position <= GENERATOR_WORDS and has_gauss <= 1
    require(valid and len(key) == GENERATOR_WORDS, "it holds an invalid state of a random generator")
    rng = np.random.RandomState(0)
    rng.set_state(("MT19937", key, position, has_gauss, gauss))
    return rng


GENERATOR = Record(
    _generator,
    {
        "key": Array("words", kind="i"),
        "position": Integer(),
        "has_gauss": Integer(),
        "gauss": Number(),
    },
    kind="random generator",
)


class Parameters(Field):
    """The parameters of objects of one class; those that a file does not name have their defaults."""

    def __init__(self, of: type[Any]) -> None:
        self.of = of

    def encode(self, value: Any, where: str) -> Any:
        return {name: encode(each, f"{where}.{name}") for name, each in value.get_params(deep=False).items()}

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, Mapping), f"{where} is not a group of values")
        unknown = set(value) - set(self.of._get_param_names())
        require(not unknown, f"{where} holds {min(unknown, default='')!r:.60}, which is not a parameter")
        return {name: decode(each, f"{where}.{name}") for name, each in value.items()}


def encode(value: Any, where: str, depth: int = 0) -> Any:
    """Plain data for a parameter; NumPy numbers become those of Python, and sequences become lists or arrays."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Beta2):
        return BETA2.encode(value, where)
    if type(value) is np.random.RandomState:
        return _generator_state(value, where)
    kind = next((name for name, known in OBJECTS.items() if type(value) is known), None)
    if kind is not None:
        return {"kind": kind, "parameters": Parameters(OBJECTS[kind]).encode(value, where)}
    if isinstance(value, list | tuple | range) and not any(hasattr(each, "__array__") for each in value):
        if depth >= DEPTH:
            raise cannot_save(value, where)
        return [encode(each, f"{where}[{i}]", depth + 1) for i, each in enumerate(value)]
    return _array(value, where, depth)


def decode(value: Any, where: str, depth: int = 0) -> Any:
    """The parameter that plain data stands for."""
    if value is None or isinstance(value, bool | int | float | str | np.ndarray):
        return value
    if isinstance(value, list):
        require(depth < DEPTH, f"{where} is nested too deep")
        return [decode(each, f"{where}[{i}]", depth + 1) for i, each in enumerate(value)]
    kind = value.get("kind")
    if kind == BETA2.kind:
        return Part(BETA2).decode(value, where, Sizes())
    if kind == GENERATOR.kind:
        return Part(GENERATOR).decode(value, where, Sizes())
    require(isinstance(kind, str) and kind in OBJECTS and depth < DEPTH, f"{where} is of the kind {kind!r:.40}")
    require(set(value) == {"kind", "parameters"}, f"{where} does not hold exactly kind and parameters")
    parameters = Parameters(OBJECTS[kind]).decode(value["parameters"], where, Sizes())
    return OBJECTS[kind](**parameters)


def _array(value: Any, where: str, depth: int) -> NDArray[Any]:
    """A parameter that is an array, or becomes one."""
    if depth or not (isinstance(value, list | tuple) or hasattr(value, "__array__") or is_device_array(value)):
        raise cannot_save(value, where)
    try:
        array = to_host(value) if is_device_array(value) else np.asarray(value)
    except (TypeError, ValueError):
        raise cannot_save(value, where) from None
    if array.dtype.kind not in "biuf":
        raise cannot_save(value, where)
    return array


def _generator_state(value: np.random.RandomState, where: str) -> dict[str, Any]:
    state: dict[str, Any] = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise cannot_save(value, where)
    return {
        "kind": GENERATOR.kind,
        "key": state["state"]["key"],
        "position": int(state["state"]["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }
