"""Fields of a saved state: how one value of a model becomes plain data, and how plain data is checked on the way back.

A state is a mapping of documented names to arrays, numbers, text, None, lists and further states. A `Record` lists the
fields of one class. Shapes are given by words, such as ("landmarks", "columns"): within a record, equal words must be
equal sizes, and `Part(shared=...)` says which words of a nested record are those of the record around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from subspaces._core.arrays import to_host
from subspaces._core.errors import UserTypeError

# Arrays, numbers, text, None, lists and states by name.
State: TypeAlias = Mapping[str, Any]
# Sizes that may be zero: flats of dimension 0 are points, and a graph may have no edges.
MAY_BE_ZERO = {"dimension", "entries"}
# Numbers beyond this do not fit the integers of NumPy.
MOST = 2**63 - 1


class DamagedError(ValueError):
    """A state that does not describe a model; `load` reports it as an error about the file."""


def require(condition: object, message: str) -> None:
    """Raise `DamagedError` unless the condition holds."""
    if not condition:
        raise DamagedError(message)


class Sizes:
    """The sizes that words stand for in one record."""

    def __init__(self, outer: Sizes | None = None, shared: Mapping[str, str] | None = None) -> None:
        self._outer, self._shared, self._known = outer, dict(shared or {}), dict[str, int]()

    def bind(self, word: str, size: int, where: str) -> None:
        """Set the size of a word, or compare it with the size known already."""
        if self._outer is not None and word in self._shared:
            self._outer.bind(self._shared[word], size, where)
            return
        require(size > 0 or word in MAY_BE_ZERO, f"{where} has no {word}")
        known = self._known.setdefault(word, size)
        require(known == size, f"{where} has {size} {word}, and other parts have {known}")

    def __getitem__(self, word: str) -> int:
        if self._outer is not None and word in self._shared:
            return self._outer[self._shared[word]]
        require(word in self._known, f"the number of {word} is missing")
        return self._known[word]


class Field:
    """One value of a state."""

    def encode(self, value: Any, where: str) -> Any:
        """Plain data for `value`; `where` is its name in messages."""
        return value

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        """The value that plain data stands for; `DamagedError` if it does not."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Flag(Field):
    """True or False."""

    def encode(self, value: Any, where: str) -> Any:
        return bool(value)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, bool), f"{where} is not true or false")
        return value


@dataclass(frozen=True, slots=True)
class Integer(Field):
    """A whole number; with `size`, the size of that word."""

    low: int = 0
    size: str | None = None

    def encode(self, value: Any, where: str) -> Any:
        return int(value)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(type(value) is int and self.low <= value <= MOST, f"{where}={value!r:.40} is not a valid whole number")
        if self.size is not None:
            sizes.bind(self.size, value, where)
        return value


@dataclass(frozen=True, slots=True)
class Number(Field):
    """A number of double precision; by default finite."""

    positive: bool = False
    finite: bool = True

    def encode(self, value: Any, where: str) -> Any:
        return float(value)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        # Whole numbers may be too large for a float.
        number = type(value) is float or (type(value) is int and abs(value) <= MOST)
        good = number and (math.isfinite(value) or not self.finite)
        require(good and (not self.positive or value > 0), f"{where}={value!r:.40} is not a valid number")
        return float(value)


@dataclass(frozen=True, slots=True)
class Text(Field):
    """Text; with `options`, one of them."""

    options: tuple[str, ...] | None = None

    def encode(self, value: Any, where: str) -> Any:
        return str(value)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        known = isinstance(value, str) and (self.options is None or value in self.options)
        require(known, f"{where}={value!r:.40} is not known")
        return value


@dataclass(frozen=True, slots=True)
class Names(Field):
    """An array of text, one for each of the things that `size` counts."""

    size: str

    def encode(self, value: Any, where: str) -> Any:
        return [str(each) for each in value]

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, list) and all(isinstance(each, str) for each in value), f"{where} are not names")
        sizes.bind(self.size, len(value), where)
        return np.array(value, object)


class Array(Field):
    """An array with the shape that words describe; of floats ("f") or whole numbers ("i")."""

    def __init__(self, *shape: str, kind: str = "f", finite: bool = True, low: float | None = None) -> None:
        self.shape, self.kind, self.finite, self.low = shape, kind, finite, low

    def encode(self, value: Any, where: str) -> Any:
        return to_host(value)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, np.ndarray), f"{where} is not an array")
        kinds = {"f": (np.float32, np.float64), "i": (np.int32, np.int64, np.uint32)}[self.kind]
        require(value.dtype in kinds, f"{where} is an array of {value.dtype}")
        require(value.ndim == len(self.shape), f"{where} has shape {value.shape} for ({', '.join(self.shape)})")
        for word, size in zip(self.shape, value.shape, strict=True):
            sizes.bind(word, size, where)
        if self.kind == "f" and self.finite:
            require(np.isfinite(value).all(), f"{where} holds values that are not finite")
        require(self.low is None or not value.size or value.min() >= self.low, f"{where} holds values below {self.low}")
        return value


@dataclass(frozen=True, slots=True)
class Sparse(Field):
    """A sparse matrix in compressed rows, with as many rows as columns."""

    size: str

    def encode(self, value: Any, where: str) -> Any:
        # There may be unused space behind the entries.
        entries = slice(0, value.nnz)
        return {"values": value.data[entries], "columns": value.indices[entries], "starts": value.indptr}

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        values, columns, starts = fields_of(value, ("values", "columns", "starts"), where)
        entries = Sizes()
        values = Array("entries").decode(values, f"{where}.values", entries)
        columns = Array("entries", kind="i").decode(columns, f"{where}.columns", entries)
        starts = Array("starts", kind="i").decode(starts, f"{where}.starts", entries)
        count = len(starts) - 1
        sizes.bind(self.size, count, where)
        # Compiled code would follow indices that point elsewhere.
        ordered = starts[0] == 0 and (np.diff(starts) >= 0).all() and starts[-1] == len(values)
        require(ordered, f"{where} is not a sparse matrix: its rows do not follow each other")
        inside = not len(columns) or (columns.min() >= 0 and columns.max() < count)
        require(inside, f"{where} is not a sparse matrix: it has entries outside of its {count} columns")
        return csr_matrix((values, columns, starts), shape=(count, count))


@dataclass(frozen=True, slots=True)
class Optional(Field):
    """A value or None."""

    field: Field

    def encode(self, value: Any, where: str) -> Any:
        return None if value is None else self.field.encode(value, where)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        return None if value is None else self.field.decode(value, where, sizes)


class OneOf(Field):
    """The first of several fields whose type fits the value."""

    def __init__(self, *choices: tuple[type | tuple[type, ...], Field]) -> None:
        self.choices = choices

    def encode(self, value: Any, where: str) -> Any:
        return self._choice(value, where, UserTypeError).encode(value, where)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        return self._choice(value, where, DamagedError).decode(value, where, sizes)

    def _choice(self, value: Any, where: str, error: type[Exception]) -> Field:
        value = value.item() if isinstance(value, np.generic) else value
        for kinds, choice in self.choices:
            if isinstance(value, kinds):
                return choice
        raise error(f"{where} is a {type(value).__name__}, which a saved model does not hold there")


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one class, by the names that they have in files.

    `attributes` gives the name of an attribute if it differs, `check(value, sizes)` what the fields cannot check alone.
    With a `kind`, the state says what it describes.
    """

    make: Callable[..., Any]
    fields: Mapping[str, Field]
    kind: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Any, Sizes], None] | None = None

    def encode(self, value: Any, where: str) -> dict[str, Any]:
        """The state of an object."""
        kind = {} if self.kind is None else {"kind": self.kind}
        parts = {name: getattr(value, self.attributes.get(name, name), None) for name in self.fields}
        return kind | {name: self.fields[name].encode(part, f"{where}.{name}") for name, part in parts.items()}

    def decode(self, state: Any, where: str, sizes: Sizes) -> Any:
        """The object that a state describes."""
        require(isinstance(state, Mapping), f"{where} is not a group of values")
        require(state.get("kind") == self.kind, f"{where} is of the kind {state.get('kind')!r:.40}, not {self.kind!r}")
        names = [name for name in state if name != "kind"]
        unknown = [name for name in names if name not in self.fields]
        require(not unknown, f"{where} holds {unknown[:1]!r:.60}, which is not known")
        values = {}
        for name, each in self.fields.items():
            require(name in state or isinstance(each, Optional), f"{where}.{name} is missing")
            part = each.decode(state.get(name), f"{where}.{name}", sizes)
            values[self.attributes.get(name, name)] = part
        made = self.make(**values)
        if self.check is not None:
            self.check(made, sizes)
        return made


class Part(Field):
    """A record inside another one; `shared` are the words whose sizes both have, with their outer names."""

    def __init__(self, record: Record, *same: str, **shared: str) -> None:
        self.record, self.shared = record, {word: word for word in same} | shared

    def encode(self, value: Any, where: str) -> Any:
        return self.record.encode(value, where)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        return self.record.decode(value, where, Sizes(sizes, self.shared))


class PartOfKind(Field):
    """One of several records with kinds; the class of a value decides which."""

    def __init__(self, parts: Mapping[type, Part]) -> None:
        self.parts = parts

    def encode(self, value: Any, where: str) -> Any:
        if type(value) not in self.parts:
            raise cannot_save(value, where)
        return self.parts[type(value)].encode(value, where)

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        kind = value.get("kind") if isinstance(value, Mapping) else None
        found = [part for part in self.parts.values() if part.record.kind == kind]
        require(found, f"{where} is of the kind {kind!r:.40}, which is not known")
        return found[0].decode(value, where, sizes)


@dataclass(frozen=True, slots=True)
class Parts(Field):
    """A tuple of records; with `size`, one for each of the things that it counts."""

    part: Field
    size: str | None = None

    def encode(self, value: Any, where: str) -> Any:
        return [self.part.encode(each, f"{where}.{i}") for i, each in enumerate(value)]

    def decode(self, value: Any, where: str, sizes: Sizes) -> Any:
        require(isinstance(value, list), f"{where} is not a list")
        if self.size is not None:
            sizes.bind(self.size, len(value), where)
        return tuple(self.part.decode(each, f"{where}.{i}", sizes) for i, each in enumerate(value))


def fields_of(state: Any, names: Sequence[str], where: str) -> list[Any]:
    """The values of a state that must have exactly these names."""
    found = isinstance(state, Mapping) and set(state) == set(names)
    require(found, f"{where} does not hold exactly {', '.join(names)}")
    return [state[name] for name in names]


def cannot_save(value: Any, where: str) -> UserTypeError:
    """The error for a value that cannot be saved."""
    what = "a function" if callable(value) and not isinstance(value, type) else "an object of another library"
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind.startswith("subspaces."):
        what = "an object that contains functions or objects of other libraries"
    return UserTypeError(
        f"{where} cannot be saved: {kind} is {what}, and a saved model holds numbers and text only; "
        "use pickle or joblib instead.",
        parameter=where.rpartition(".")[2],
    )
