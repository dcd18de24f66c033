"""The numbers inside a model's records: plain, or expressions of named parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.spatial import Array


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number of a model that kernels take as an input: a name, a usual value and a symbol.

    The symbol may stand in any formula for a number of the model:
    ``Body("thigh", mass=8.0, com=[0, 0, -0.43 * length.symbol])``.
    """

    name: str
    value: float
    symbol: ca.SX = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.symbol is None:
            object.__setattr__(self, "symbol", ca.SX.sym(self.name))


def number(value: Any) -> Array:
    """A float, or the scalar expression it was given as."""
    if isinstance(value, (ca.SX, ca.MX)):
        return value
    return float(value)


def vector(value: Any, *shape: int) -> Array:
    """A read-only float array of the given shape, or the expressions it was given as."""
    if isinstance(value, (ca.SX, ca.MX)):
        return value
    array = np.asarray(value)
    if array.dtype == object:
        rows = array.reshape(shape[0], -1)
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])
    array = np.array(array, dtype=float).reshape(shape)
    array.flags.writeable = False
    return array


def map_expressions(record: Any, change: Callable[[ca.SX], Any]) -> Any:
    """A copy of a record in which every expression was replaced; the record itself if none is."""
    if isinstance(record, ca.SX):
        return change(record)
    if isinstance(record, tuple):
        changed = tuple(map_expressions(item, change) for item in record)
        same = all(a is b for a, b in zip(changed, record, strict=True))
        return record if same else changed
    if is_dataclass(record) and not isinstance(record, (type, Parameter)):
        updates = {}
        for item in fields(record):
            old = getattr(record, item.name)
            new = map_expressions(old, change)
            if new is not old:
                updates[item.name] = new
        return replace(record, **updates) if updates else record
    return record


def canonical(record: Any) -> str:
    """Text that two records share exactly when their contents are equal to the bit."""
    if is_dataclass(record) and not isinstance(record, type):
        inner = ",".join(f"{f.name}={canonical(getattr(record, f.name))}" for f in fields(record))
        return f"{type(record).__name__}({inner})"
    if isinstance(record, (tuple, list)):
        return "[" + ",".join(canonical(item) for item in record) + "]"
    if isinstance(record, dict):
        items = sorted(record.items())
        return "{" + ",".join(f"{key}:{canonical(item)}" for key, item in items) + "}"
    if isinstance(record, np.ndarray):
        return f"{record.shape}{[float(x).hex() for x in record.ravel()]}"
    if isinstance(record, float):
        return record.hex()
    return repr(record)
