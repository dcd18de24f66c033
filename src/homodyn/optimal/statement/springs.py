"""Springs with dampers across joints, whose parameters may be unknowns of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.spatial import Array

Number = float | str
"""A number, or the name of a parameter of the problem."""


@dataclass(frozen=True)
class Spring:
    """``stiffness (rest - q) - damping v`` on one coordinate (Felis 2015, section 4.5).

    A spring and its mirror image on the other side share parameters.

    Attributes:
        coordinate: Name of the coordinate.
        stiffness: N m/rad (or N/m), or the name of a parameter of the problem.
        rest: Rest position (rad, m), or the name of a parameter.
        damping: N m s/rad (or N s/m), or the name of a parameter.
        sign: -1 where the rest position has the opposite sign on this side.
    """

    coordinate: str
    stiffness: Number
    rest: Number = 0.0
    damping: Number = 0.0
    sign: float = 1.0


def spring_force(
    springs: Sequence[Spring], model: Model, q: Array, v: Array, parameters: Mapping[str, Array]
) -> Array:
    """Generalized force of all springs (N m, N), (nv,)."""
    total = ca.SX.zeros(model.nv)
    for spring in springs:
        index = model.coordinate_index(spring.coordinate)
        place = model.position_index[index]
        if place is None:
            raise ModelError(f"a spring needs a coordinate with a value, not {spring.coordinate!r}")
        stiffness, rest, damping = (
            _value(spring, number, parameters)
            for number in (spring.stiffness, spring.rest, spring.damping)
        )
        total[index] += stiffness * (spring.sign * rest - q[place]) - damping * v[index]
    return total


def _value(spring: Spring, number: Number, parameters: Mapping[str, Array]) -> Array:
    if not isinstance(number, str):
        return number
    if number not in parameters:
        problem = unknown_name("parameter", number, parameters)
        raise HomodynError(f"spring of {spring.coordinate!r}: the problem has {problem}")
    return parameters[number]
