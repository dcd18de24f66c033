"""The numbers inside a model's records: plain, or expressions of named parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.spatial import EYE, ORIGIN, Array, Transform


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number of a model that kernels take as an input: a name, a usual value and a symbol.

    The symbol may stand in any formula for a number of the model:
    ``Body("thigh", mass=8.0, com=[0, 0, -0.43 * length.symbol])``.
    """

    name: str
    value: float
    symbol: ca.SX = field(default=None, repr=False)

    def __post_init__(self) -> None:
        coerce_fields(self, value=SCALAR)
        if self.symbol is None:
            object.__setattr__(self, "symbol", ca.SX.sym(self.name))


def scalar(value: Any) -> Array:
    """A float, or the scalar expression it was given as."""
    # What nearly all numbers of a file are, told first: models have thousands.
    if type(value) is float or type(value) is np.float64:
        return float(value) + 0.0
    value = value.symbol if isinstance(value, Parameter) else value
    if isinstance(value, ca.SX):
        if value.shape != (1, 1):
            raise ValueError("not one number")
        return value
    value = value.full().squeeze() if isinstance(value, ca.DM) else value
    if isinstance(value, (bool, str, ca.MX)) or np.ndim(value) != 0:
        raise ValueError("not one number")
    return float(value) + 0.0


def vector(value: Any, *shape: int) -> Array:
    """A read-only float array of the given shape, or the expressions it was given as.

    Zeros lose their sign, since expressions have none: a number that becomes a parameter and a
    number again stays the same to the bit.
    """
    if type(value) is np.ndarray and value.shape == shape and value.dtype == np.float64:
        array = value + 0.0
        array.flags.writeable = False
        return array
    if isinstance(value, ca.SX):
        expected = (*shape, 1) if len(shape) == 1 else shape
        if value.shape != expected:
            raise ValueError("wrong shape")
        return value
    if isinstance(value, ca.MX):
        raise ValueError("symbols of models are SX")
    array = np.asarray(value.full() if isinstance(value, ca.DM) else value)
    if array.shape == (*shape, 1):
        array = array[..., 0]
    if array.shape != shape or array.dtype.kind not in "biufO":
        raise ValueError("wrong shape")
    if array.dtype == object:
        entries = [[scalar(entry) for entry in row] for row in array.reshape(shape[0], -1)]
        if any(isinstance(entry, ca.SX) for row in entries for entry in row):
            return ca.vertcat(*[ca.horzcat(*row) for row in entries])
        array = np.array(entries).reshape(shape)
    array = np.array(array, dtype=float) + 0.0
    array.flags.writeable = False
    return array


def placement(value: Any) -> Transform:
    """A transform with settled numbers; a bare position stands for one without rotation."""
    turn = vector(value.E, 3, 3) if isinstance(value, Transform) else EYE
    shift = vector(value.r if isinstance(value, Transform) else value, 3)
    # The arrays that stand for nothing are told by identity wherever transforms are composed.
    return Transform(
        EYE if isinstance(turn, np.ndarray) and np.array_equal(turn, EYE) else turn,
        ORIGIN if isinstance(shift, np.ndarray) and not shift.any() else shift,
    )


SCALAR, VECTOR, MATRIX = "a number", "3 numbers", "3 x 3 numbers"
PLACEMENT = "a Transform or a position of 3 numbers"
SCALARS, PLAIN_SCALARS = "a sequence of numbers", "a sequence of numbers without parameters"
_COERCE: dict[str, Callable[[Any], Any]] = {
    SCALAR: scalar,
    VECTOR: lambda value: vector(value, 3),
    MATRIX: lambda value: vector(value, 3, 3),
    PLACEMENT: placement,
    SCALARS: lambda value: tuple(scalar(entry) for entry in value),
    PLAIN_SCALARS: lambda value: tuple(float(entry) + 0.0 for entry in value),
}


def coerce_fields(record: Any, **kinds: str) -> None:
    """Turn fields of a frozen record into floats, read-only arrays or expressions."""
    for name, kind in kinds.items():
        value = getattr(record, name)
        try:
            object.__setattr__(record, name, _COERCE[kind](value))
        except (TypeError, ValueError, RuntimeError):
            owner = type(record).__name__.lower()
            label = getattr(record, "name", "")
            raise ModelError(
                f"{owner}{f' {label!r}' if label else ''}: {name} must be {kind}, got {value!r}"
            ) from None


class ModelRecord:
    """A frozen record that equals another of its type when every number does, to the bit."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and canonical_text(self) == canonical_text(other)

    def __hash__(self) -> int:
        return hash(canonical_text(self))


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def field_names(kind: type) -> tuple[str, ...]:
    """Names of the fields of a record type; none for what is no record."""
    names = _FIELD_NAMES.get(kind)
    if names is None:
        names = tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()
        _FIELD_NAMES[kind] = names
    return names


def map_expressions(record: Any, change: Callable[[ca.SX], Any]) -> Any:
    """A copy of a record in which every expression was replaced; the record itself if none is."""
    if isinstance(record, ca.SX):
        return change(record)
    if isinstance(record, tuple):
        changed = tuple(map_expressions(item, change) for item in record)
        same = all(a is b for a, b in zip(changed, record, strict=True))
        return record if same else changed
    if not isinstance(record, Parameter):
        updates = {}
        for name in field_names(type(record)):
            old = getattr(record, name)
            new = map_expressions(old, change)
            if new is not old:
                updates[name] = new
        return replace(record, **updates) if updates else record
    return record


def canonical_text(record: Any) -> str:
    """Text that two records share exactly when their contents are equal to the bit."""
    if isinstance(record, ca.SX):
        return f"expression({record.serialize()})"
    if field_names(type(record)):
        names = field_names(type(record))
        inner = ",".join(f"{name}={canonical_text(getattr(record, name))}" for name in names)
        return f"{type(record).__name__}({inner})"
    if isinstance(record, (tuple, list)):
        return "[" + ",".join(canonical_text(item) for item in record) + "]"
    if isinstance(record, dict):
        items = sorted(record.items())
        return "{" + ",".join(f"{key}:{canonical_text(item)}" for key, item in items) + "}"
    if isinstance(record, np.ndarray):
        return f"{record.shape}{[float(x).hex() for x in record.ravel()]}"
    if isinstance(record, float):
        return record.hex()
    return repr(record)
