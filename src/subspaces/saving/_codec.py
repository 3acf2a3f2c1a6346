"""Models as plain values and arrays, and back.

Objects of the classes in `_classes` stand in one list, each after those it holds, so that what was shared is shared
again. Nothing of a file is called: classes come from the table, estimators get their attributes without any method of
theirs, and dataclasses are made by their constructors from values of the types that they name.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from subspaces._core.arrays import is_dask, is_device_array, to_host
from subspaces._core.errors import UserTypeError
from subspaces.saving._classes import HOMES, class_of, fits, name_of

# Lists in lists, and so on, no deeper than this.
DEPTH = 40
# What an object of JSON is, if it is more than a dict with names for keys.
TAG = "$"
# Attributes that are made again when they are needed.
CACHES = ("_on_device",)
GENERATOR = "RandomState"
GENERATOR_WORDS = 624
ARRAY_KINDS = "biufc"


class Encoder:
    """A model as `objects`, plain values for JSON of which the last is the model, and `arrays` that they name."""

    def __init__(self, model: Any) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.objects: list[dict[str, Any]] = []
        self._known: dict[int, Any] = {}
        # An id means something only while its object lives.
        self._alive: list[Any] = []
        self._encode(model, type(model).__name__, 0)

    def _encode(self, value: Any, where: str, depth: int) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if depth > DEPTH:
            raise UserTypeError(f"{where} cannot be saved: it is nested more than {DEPTH} deep; make it flatter.")
        if type(value) is float:
            return value if math.isfinite(value) else {TAG: "float", "value": repr(value)}
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if type(value) is list:
            return self._items(value, where, depth)
        if type(value) is tuple:
            return {TAG: "tuple", "items": self._items(value, where, depth)}
        if type(value) is dict:
            return self._dict(value, where, depth)
        if id(value) not in self._known:
            found = self._shared(value, where, depth)
            self._known[id(value)] = found
            self._alive.append(value)
        if self._known[id(value)] is None:
            raise UserTypeError(f"{where} cannot be saved: it holds itself; pickle and joblib keep it.")
        return self._known[id(value)]

    def _items(self, values: Sequence[Any], where: str, depth: int) -> list[Any]:
        return [self._encode(each, f"{where}[{i}]", depth + 1) for i, each in enumerate(values)]

    def _dict(self, value: dict[Any, Any], where: str, depth: int) -> dict[str, Any]:
        if all(type(key) is str for key in value) and TAG not in value:
            return {key: self._encode(each, f"{where}[{key!r}]", depth + 1) for key, each in value.items()}
        return {TAG: "dict", "items": [self._items(pair, where, depth + 1) for pair in value.items()]}

    def _scalar(self, value: np.generic, where: str) -> dict[str, Any]:
        plain = value.item()
        if type(plain) not in (bool, int, float, str):
            raise _unsavable(value, where)
        return {TAG: "scalar", "dtype": value.dtype.str, "value": self._encode(plain, where, 0)}

    def _shared(self, value: Any, where: str, depth: int) -> Any:
        """What may be held in several places."""
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, csr_matrix):
            # There may be room left behind the entries.
            contents = {"data": value.data[: value.nnz], "indices": value.indices[: value.nnz], "indptr": value.indptr}
            parts = {name: self._array(array, where) for name, array in contents.items()}
            return {TAG: "csr", "shape": [int(size) for size in value.shape], **parts}
        if is_device_array(value):
            return self._array(to_host(value), where)
        self._known[id(value)] = None
        if type(value) is np.random.RandomState:
            return self._object(self._generator(value, where))
        name = name_of(value)
        if name is None:
            raise _unsavable(value, where)
        return self._object({"class": name, **self._contents(value, where, depth)})

    def _object(self, entry: dict[str, Any]) -> dict[str, Any]:
        self.objects.append(entry)
        return {TAG: "object", "at": len(self.objects) - 1}

    def _contents(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        if is_dataclass(value):
            return {"fields": self._named({f.name: getattr(value, f.name) for f in fields(value)}, where, depth)}
        state = dict(vars(value))
        parameters = {name: state.pop(name) for name in type(value)._get_param_names()}
        kept = {name: each for name, each in state.items() if not name.startswith(CACHES) and not is_dask(each)}
        return {
            "parameters": self._named(parameters, where, depth),
            "state": self._named(kept, where, depth),
        }

    def _named(self, values: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
        return {name: self._encode(value, f"{where}.{name}", depth + 1) for name, value in values.items()}

    def _generator(self, value: np.random.RandomState, where: str) -> dict[str, Any]:
        state: dict[str, Any] = value.get_state(legacy=False)
        if state["bit_generator"] != "MT19937":
            raise _unsavable(value, where)
        return {
            "class": GENERATOR,
            "key": self._array(state["state"]["key"], where),
            "pos": int(state["state"]["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": float(state["gauss"]),
        }

    def _array(self, value: NDArray[Any], where: str) -> dict[str, Any]:
        array = np.asarray(value)
        if array.dtype.kind == "O" and array.ndim == 1 and all(type(each) is str for each in array):
            return {TAG: "strings", "items": array.tolist()}
        if array.dtype.kind not in ARRAY_KINDS:
            raise UserTypeError(f"{where} cannot be saved: it is an array of {array.dtype}; give one of numbers.")
        self.arrays.append(array)
        number = len(self.arrays) - 1
        if array.flags.c_contiguous or array.flags.f_contiguous:
            return {TAG: "array", "at": number}
        # Products are the same to the last bit only where axes lie in the same order.
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        self.arrays[-1] = array.transpose(axes)
        return {TAG: "array", "at": number, "axes": [int(axis) for axis in np.argsort(axes)]}


def _unsavable(value: Any, where: str) -> TypeError:
    """Why an object cannot be saved, and what can be done."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    what = "a function" if callable(value) and not isinstance(value, type) else "an object of another library"
    if kind.startswith("subspaces."):
        what = "made of functions or objects that are not ours"
    return TypeError(
        f"{where} cannot be saved: {kind} is {what}, and a saved model holds numbers only; pickle or joblib keep it."
    )


class Damaged(ValueError):
    """What a file says makes no model."""


class Decoder:
    """The model of what `Encoder` made: `model`, from plain values `objects` and the `arrays` that they name."""

    def __init__(self, objects: Any, arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._used: set[int] = set()
        self._objects: list[Any] = []
        for number, entry in enumerate(_checked(objects, list, "objects")):
            self._objects.append(self._object(_checked(entry, dict, f"objects[{number}]"), f"objects[{number}]"))
        if not self._objects:
            raise Damaged("it holds no object")
        if len(self._used) < len(arrays):
            raise Damaged("it holds arrays that belong to nothing")
        self.model = self._objects[-1]

    def _decode(self, value: Any, where: str, depth: int = 0) -> Any:
        if depth > DEPTH:
            raise Damaged(f"{where} is nested more than {DEPTH} deep")
        if isinstance(value, list):
            return self._items(value, where, depth)
        if not isinstance(value, dict):
            return value
        if TAG not in value:
            return {key: self._decode(each, f"{where}[{key!r}]", depth + 1) for key, each in value.items()}
        kind, rest = value[TAG], {key: each for key, each in value.items() if key != TAG}
        match kind:
            case "float":
                return _special_float(rest, where)
            case "scalar":
                return self._scalar(rest, where)
            case "tuple":
                return tuple(self._items(_only(rest, "items", where), where, depth))
            case "dict":
                return self._dict(_only(rest, "items", where), where, depth)
            case "strings":
                return _strings(_only(rest, "items", where), where)
            case "array":
                return self._array(rest, where)
            case "csr":
                return self._csr(rest, where)
            case "object":
                return self._objects[_index(_only(rest, "at", where), len(self._objects), where)]
        raise Damaged(f"{where} is of a kind that is not known, {kind!r:.40}")

    def _items(self, values: Any, where: str, depth: int) -> list[Any]:
        found = _checked(values, list, where)
        return [self._decode(each, f"{where}[{i}]", depth + 1) for i, each in enumerate(found)]

    def _dict(self, pairs: Any, where: str, depth: int) -> dict[Any, Any]:
        found = self._items(pairs, where, depth)
        try:
            return {key: each for key, each in found}  # noqa: C416 - each pair must be two
        except (TypeError, ValueError) as error:
            raise Damaged(f"{where} is no dict: {error}") from None

    def _scalar(self, rest: Mapping[str, Any], where: str) -> np.generic:
        _check_keys(rest, {"dtype", "value"}, where)
        try:
            dtype = np.dtype(_checked(rest["dtype"], str, where))
            if dtype.kind not in "biufU":
                raise Damaged(f"{where} is a number of type {dtype}")
            return dtype.type(self._decode(rest["value"], where))
        except Damaged:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise Damaged(f"{where} is no number: {error}") from None

    def _array(self, rest: Mapping[str, Any], where: str) -> NDArray[Any]:
        _check_keys(rest, {"at", "axes"} if "axes" in rest else {"at"}, where)
        number = _index(rest["at"], len(self._arrays), where)
        self._used.add(number)
        array = self._arrays[number]
        axes = rest.get("axes", list(range(array.ndim)))
        if not isinstance(axes, list) or any(type(axis) is not int for axis in axes):
            raise Damaged(f"{where} has axes that are no numbers")
        if sorted(axes) != list(range(array.ndim)):
            raise Damaged(f"{where} has axes {axes!r:.40} for {array.ndim} dimensions")
        return array.transpose(axes) if "axes" in rest else array

    def _csr(self, rest: Mapping[str, Any], where: str) -> csr_matrix:
        _check_keys(rest, {"shape", "data", "indices", "indptr"}, where)
        parts = [self._decode(rest[name], f"{where}.{name}") for name in ("data", "indices", "indptr")]
        shape = rest["shape"]
        if not all(isinstance(part, np.ndarray) for part in parts) or any(part.dtype.kind != "i" for part in parts[1:]):
            raise Damaged(f"{where} is no sparse matrix")
        if not isinstance(shape, list) or [type(size) for size in shape] != [int, int]:
            raise Damaged(f"{where} is a matrix of shape {shape!r:.40}")
        try:
            # SciPy's routines read wherever indices point to, and its own check trusts the last of the pointers.
            data, indices, indptr = parts
            if indptr.ndim != 1 or len(indptr) != shape[0] + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
                raise Damaged(f"{where} is no sparse matrix: its rows do not follow each other")
            if not int(indptr[-1]) == len(indices) == len(data):
                raise Damaged(f"{where} is no sparse matrix: it has {len(data)} entries for {int(indptr[-1])}")
            matrix = csr_matrix((data, indices, indptr), shape=tuple(shape))
            matrix.check_format(full_check=True)
        except Damaged:
            raise
        except (ValueError, TypeError, OverflowError, IndexError) as error:
            raise Damaged(f"{where} is no sparse matrix: {error}") from None
        return matrix

    def _object(self, entry: dict[str, Any], where: str) -> Any:
        name = entry.get("class")
        if name == GENERATOR:
            return self._generator(entry, where)
        if not isinstance(name, str) or name not in HOMES:
            raise Damaged(f"{where} is of a class that no saved model holds, {name!r:.60}")
        cls = class_of(name)
        if is_dataclass(cls):
            _check_keys(entry, {"class", "fields"}, where)
            return _dataclass(cls, self._named(entry["fields"], f"{where}.fields"), where)
        _check_keys(entry, {"class", "parameters", "state"}, where)
        parameters = self._named(entry["parameters"], f"{where}.parameters")
        return _estimator(cls, parameters, self._named(entry["state"], f"{where}.state"), where)

    def _named(self, values: Any, where: str) -> dict[str, Any]:
        found = _checked(values, dict, where)
        return {name: self._decode(value, f"{where}.{name}", 1) for name, value in found.items()}

    def _generator(self, entry: dict[str, Any], where: str) -> np.random.RandomState:
        _check_keys(entry, {"class", "key", "pos", "has_gauss", "gauss"}, where)
        key, pos = self._decode(entry["key"], where), entry["pos"]
        has_gauss, gauss = entry["has_gauss"], entry["gauss"]
        is_key = isinstance(key, np.ndarray) and key.shape == (GENERATOR_WORDS,) and key.dtype == np.uint32
        # NumPy would read beyond its words, and draw for ever from words that are all zero.
        if not is_key or not key.any() or type(pos) is not int or not 0 <= pos <= GENERATOR_WORDS:
            raise Damaged(f"{where} is no state of a random generator")
        if type(has_gauss) is not int or has_gauss not in (0, 1) or type(gauss) is not float:
            raise Damaged(f"{where} is no state of a random generator")
        rng = np.random.RandomState(0)
        rng.set_state(("MT19937", key, pos, has_gauss, gauss))
        return rng


def _dataclass(cls: type[Any], values: dict[str, Any], where: str) -> Any:
    """An object of a frozen dataclass; fields that came later than the file have their defaults."""
    hints = typing.get_type_hints(cls)
    known = {field.name for field in fields(cls)}
    needed = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    if not needed <= values.keys() <= known:
        raise Damaged(f"{where} has not the fields of {cls.__name__}")
    for name, value in values.items():
        if not fits(value, hints[name]):
            raise Damaged(f"{where}.{name} of {cls.__name__} is a {type(value).__name__} of the wrong type")
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise Damaged(f"{where} is no {cls.__name__}: {error}") from None


def _estimator(cls: type[Any], parameters: dict[str, Any], state: dict[str, Any], where: str) -> Any:
    """An object with parameters; those that came later than the file have their defaults."""
    signature = inspect.signature(cls)
    if not parameters.keys() <= signature.parameters.keys():
        raise Damaged(f"{where} has not the parameters of {cls.__name__}")
    defaults = {n: p.default for n, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
    for name in state:
        # A value must not take the place of a method.
        there = inspect.getattr_static(cls, name, None)
        if not name.isidentifier() or name.startswith("__") or callable(there) or hasattr(there, "__get__"):
            raise Damaged(f"{where} has an attribute {name!r:.40}, which {cls.__name__} does not keep")
    made: Any = object.__new__(cls)
    vars(made).update({**defaults, **parameters, **state})
    return made


def _special_float(rest: Mapping[str, Any], where: str) -> float:
    value = _only(rest, "value", where)
    if value not in ("nan", "inf", "-inf"):
        raise Damaged(f"{where} is no number: {value!r:.40}")
    return float(value)


def _strings(items: Any, where: str) -> NDArray[Any]:
    if not isinstance(items, list) or not all(isinstance(each, str) for each in items):
        raise Damaged(f"{where} is no list of names")
    found = np.empty(len(items), object)
    found[:] = items
    return found


def _only(rest: Mapping[str, Any], key: str, where: str) -> Any:
    _check_keys(rest, {key}, where)
    return rest[key]


def _check_keys(values: Mapping[str, Any], keys: set[str], where: str) -> None:
    if values.keys() != keys:
        raise Damaged(f"{where} has the entries {sorted(values)!r:.80} in place of {sorted(keys)}")


def _checked(value: Any, kind: type[Any], where: str) -> Any:
    if not isinstance(value, kind):
        raise Damaged(f"{where} is a {type(value).__name__} and not a {kind.__name__}")
    return value


def _index(value: Any, count: int, where: str) -> int:
    if type(value) is not int or not 0 <= value < count:
        raise Damaged(f"{where} points to number {value!r:.40} of {count}")
    return value
