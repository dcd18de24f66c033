"""Numbers of contact laws and controllers: one for all, one for each by name, or one per batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.spatial import Array

Constant = float | str | Mapping[str, float | str]
"""A number, the name of a parameter of the elements, or these by name with ``"*"`` for the rest."""

BatchParameters = Mapping[str, Array]
"""Values of the parameters that a batch has beside those of the model, by name."""


def resolve_constant(value: Any, name: str, batch: BatchParameters, what: str) -> Array:
    """What a constant is for the thing called ``name``."""
    if isinstance(value, Mapping):
        if name not in value and "*" not in value:
            raise ModelError(
                f"{what} is given for {', '.join(value)} but not for {name!r}; "
                "add it, or '*' for all others"
            )
        value = value.get(name, value.get("*"))
    if isinstance(value, str):
        if value not in batch:
            known = ", ".join(batch) or "there are none"
            raise ModelError(f"{what} is the parameter {value!r} of the elements; {known}")
        return batch[value]
    if isinstance(value, ca.SX):
        return value
    number = float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ModelError(f"{what} of {name!r} must be finite and not negative, got {value}")
    return number


def check_contact_names(law: Any, names: Sequence[str]) -> None:
    """Refuse constants of a contact law by names that no contact has: they would do nothing."""
    for what, value in vars(law).items():
        unknown = [n for n in value if n != "*" and n not in names] if _is_mapping(value) else []
        if unknown:
            raise ModelError(
                f"{what} is given for {', '.join(unknown)}, which is no contact; there are "
                f"{', '.join(names) or 'none'}, and '*' for all others"
            )


def check_fractions(value: Any, what: str) -> None:
    """Refuse numbers that should be a share, from 0 to 1."""
    for number in value.values() if _is_mapping(value) else (value,):
        if not isinstance(number, (str, ca.SX)) and not 0 <= number <= 1:
            raise ModelError(f"{what} is a share from 0 to 1, got {number}")


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def constants_by_name(
    values: Any, names: Sequence[str], batch: BatchParameters, what: str
) -> list[Array]:
    """One number for each name, from a number, a mapping, a parameter or a sequence."""
    if isinstance(values, (list, tuple, np.ndarray)):
        if len(values) != len(names):
            raise ModelError(f"{what}: {len(names)} numbers are needed, got {len(values)}")
        return [
            resolve_constant(v, name, batch, what) for v, name in zip(values, names, strict=True)
        ]
    if isinstance(values, Mapping):
        unknown = [name for name in values if name != "*" and name not in names]
        if unknown:
            raise ModelError(
                f"{what}: there is no {', '.join(unknown)}; known are {', '.join(names)}"
            )
        values = {"*": 0.0, **values}
    return [resolve_constant(values, name, batch, what) for name in names]
