"""Constants of contact laws and actuations: one value for all, by name, or a batch parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import enumerate_names, unknown_name
from homodyn.simulate.geometry import ContactGeometry, Gap
from homodyn.spatial import Array

Constant = float | str | Mapping[str, float | str]
"""A number, the name of a batch parameter, or these by name with ``"*"`` for the rest."""

BatchParameters = Mapping[str, Array]
"""Values of the parameters of a batch besides those of the model, by name."""


def resolve_constant(value: Any, name: str, batch: BatchParameters, what: str) -> Array:
    """The value of a constant for the contact or coordinate ``name``.

    Args:
        value: A number, the name of a batch parameter, or a mapping of these.
        name: Name of the contact shape or coordinate.
        batch: Batch parameters by name.
        what: What the constant is, for messages.

    Returns:
        A number or an expression.

    Raises:
        ModelError: There is no value for the name, a batch parameter is unknown, or a number is
            negative or not finite.
    """
    if isinstance(value, Mapping):
        if name not in value and "*" not in value:
            raise ModelError(
                f"{what} is given for {', '.join(value)} but not for {name!r}; "
                "add it, or '*' for all others"
            )
        value = value.get(name, value.get("*"))
    if isinstance(value, str):
        if value not in batch:
            raise ModelError(f"{what}: {unknown_name('batch parameter', value, batch)}")
        found = batch[value]
        if getattr(found, "shape", (1, 1)) != (1, 1):
            raise ModelError(f"{what}: {value!r} has {found.shape[0]} numbers; one is needed")
        return found
    if isinstance(value, ca.SX):
        return value
    number = float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ModelError(f"{what} of {name!r} must be finite and not negative, got {value}")
    return number


def gap_constant(
    value: Any, geometry: ContactGeometry, gap: Gap, batch: BatchParameters, what: str
) -> Array:
    """The value of a constant for the contact shape of a gap."""
    return resolve_constant(value, geometry.model.contacts[gap.shape].name, batch, what)


def gap_friction(value: Any, geometry: ContactGeometry, gap: Gap, batch: BatchParameters) -> Array:
    """The coefficient of friction of a gap: that of the obstacle, or else of the contact law."""
    if gap.friction is not None:
        return float(gap.friction)
    return gap_constant(value, geometry, gap, batch, "friction")


def check_contact_names(law: Any, names: Sequence[str]) -> None:
    """Refuse constants of a contact law for names that no contact has."""
    for what, value in vars(law).items():
        unknown = [n for n in value if n != "*" and n not in names] if _is_mapping(value) else []
        if unknown:
            message = unknown_name("contact", unknown[0], (*names, "*"))
            raise ModelError(f"{what} is given for {enumerate_names(unknown)}: {message}")


def check_fractions(value: Any, what: str) -> None:
    """Refuse numbers that are not fractions from 0 to 1."""
    for number in value.values() if _is_mapping(value) else (value,):
        if not isinstance(number, (str, ca.SX)) and not 0 <= number <= 1:
            raise ModelError(f"{what} is a fraction from 0 to 1, got {number}")


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def constants_by_name(
    values: Any, names: Sequence[str], batch: BatchParameters, what: str
) -> list[Array]:
    """One value per name, from a number, a mapping, a batch parameter or a sequence."""
    if isinstance(values, (list, tuple, np.ndarray)):
        if len(values) != len(names):
            raise ModelError(f"{what}: {len(names)} numbers are needed, got {len(values)}")
        return [
            resolve_constant(v, name, batch, what) for v, name in zip(values, names, strict=True)
        ]
    if isinstance(values, Mapping):
        unknown = [name for name in values if name != "*" and name not in names]
        if unknown:
            raise ModelError(f"{what}: {unknown_name('coordinate', unknown[0], names)}")
        values = {"*": 0.0, **values}
    return [resolve_constant(values, name, batch, what) for name in names]
