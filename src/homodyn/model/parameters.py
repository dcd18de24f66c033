"""The numbers inside the records of a model: plain numbers, or expressions of named parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.spatial import EYE, ORIGIN, Array, Transform


@record
class Parameter(Record):
    """A number of a model that kernels take as an input: a name, a nominal value and a symbol.

    The symbol can replace any number in a formula of the model:
    ``Body("thigh", mass=8.0, com=[0, 0, -0.43 * length.symbol])``. A model declares the parameters
    whose symbols occur in its numbers by itself.
    """

    name: str
    value: float
    """Nominal value, in the unit of the number."""
    symbol: ca.SX = None
    """Created when left out."""

    _transient: ClassVar[tuple[str, ...]] = ("symbol",)

    def __post_init__(self) -> None:
        coerce_fields(self, value=SCALAR)
        if self.symbol is None:
            object.__setattr__(self, "symbol", ca.SX.sym(self.name))
        _PARAMETERS[self.symbol.element_hash()] = self

    def headline(self) -> str:
        """Name and nominal value."""
        return f"Parameter {self.name!r}: {self.value:g}"

    def __repr__(self) -> str:
        return self.headline()


_PARAMETERS: WeakValueDictionary[int, Parameter] = WeakValueDictionary()
"""Parameters by the hash of their symbol, which is unique as long as the parameter exists."""


def parameter_of(symbol: ca.SX) -> Parameter | None:
    """The parameter that a symbol belongs to; None for any other symbol."""
    return _PARAMETERS.get(symbol.element_hash())


def scalar(value: Any) -> Array:
    """A float, or the scalar expression itself.

    Raises:
        ValueError: The value is not one number.
    """
    # Nearly all numbers of a file are of these types, and a model has thousands of them.
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
    """A read-only float array of the given shape, or the expressions themselves.

    Zeros lose their sign, since expressions have none: a number that becomes a parameter and a
    number again keeps its bits.

    Raises:
        ValueError: The value has another shape, or entries that are not numbers.
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
    """A transform with read-only arrays; a position alone is a transform without rotation."""
    rotation = vector(value.E, 3, 3) if isinstance(value, Transform) else EYE
    offset = vector(value.r if isinstance(value, Transform) else value, 3)
    # Compositions of transforms recognize these two arrays by identity and skip them.
    return Transform(
        EYE if isinstance(rotation, np.ndarray) and np.array_equal(rotation, EYE) else rotation,
        ORIGIN if isinstance(offset, np.ndarray) and not offset.any() else offset,
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


def coerce_fields(instance: Any, **kinds: str) -> None:
    """Convert fields of a frozen record to floats, read-only arrays or expressions.

    Args:
        instance: The record.
        kinds: What each field must be, by its name: `SCALAR`, `VECTOR`, ...

    Raises:
        ModelError: A field is something else; the message names the record and the field.
    """
    for name, kind in kinds.items():
        value = getattr(instance, name)
        try:
            object.__setattr__(instance, name, _COERCE[kind](value))
        except (TypeError, ValueError, RuntimeError):
            owner = type(instance).__name__.lower()
            label = getattr(instance, "name", "")
            raise ModelError(
                f"{owner}{f' {label!r}' if label else ''}: {name} must be {kind}, got {value!r}"
            ) from None


class ModelRecord(Record):
    """Base of the records of a model: equal when all their numbers are equal to the bit."""

    def headline(self) -> str:
        """Class and name."""
        name = getattr(self, "name", "")
        return f"{type(self).__name__} {name!r}" if name else type(self).__name__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and canonical_text(self) == canonical_text(other)

    def __hash__(self) -> int:
        return hash(canonical_text(self))


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def field_names(kind: type) -> tuple[str, ...]:
    """Names of the fields of a record type that are compared; none for other types."""
    names = _FIELD_NAMES.get(kind)
    if names is None:
        known = fields(kind) if is_dataclass(kind) else ()
        names = tuple(item.name for item in known if item.compare)
        _FIELD_NAMES[kind] = names
    return names


def map_expressions(instance: Any, change: Callable[[ca.SX], Any]) -> Any:
    """A copy of a record with every expression replaced; the record itself if it has none."""
    if isinstance(instance, ca.SX):
        return change(instance)
    if isinstance(instance, tuple):
        changed = tuple(map_expressions(item, change) for item in instance)
        same = all(a is b for a, b in zip(changed, instance, strict=True))
        return instance if same else changed
    if not isinstance(instance, Parameter):
        updates = {}
        for name in field_names(type(instance)):
            old = getattr(instance, name)
            new = map_expressions(old, change)
            if new is not old:
                updates[name] = new
        return replace(instance, **updates) if updates else instance
    return instance


def constant_value(expression: ca.SX) -> Any:
    """A constant expression as a float or an array."""
    result = np.array(ca.evalf(expression).full())
    if result.shape == (1, 1):
        return float(result[0, 0])
    return result[:, 0] if result.shape[1] == 1 else result


def canonical_text(instance: Any) -> str:
    """Text that two records share exactly when their contents are equal to the bit."""
    if isinstance(instance, ca.SX):
        return f"expression({instance.serialize()})"
    if field_names(type(instance)):
        names = field_names(type(instance))
        inner = ",".join(f"{name}={canonical_text(getattr(instance, name))}" for name in names)
        return f"{type(instance).__name__}({inner})"
    if isinstance(instance, (tuple, list)):
        return "[" + ",".join(canonical_text(item) for item in instance) + "]"
    if isinstance(instance, dict):
        items = sorted(instance.items())
        return "{" + ",".join(f"{key}:{canonical_text(item)}" for key, item in items) + "}"
    if isinstance(instance, np.ndarray):
        return f"{instance.shape}{[float(x).hex() for x in instance.ravel()]}"
    if isinstance(instance, float):
        return instance.hex()
    return repr(instance)
