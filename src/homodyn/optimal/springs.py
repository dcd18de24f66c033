"""Springs with dampers across joints, whose numbers may be unknowns of a problem."""

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

    Each of the three is a number (N m/rad, rad, N m s/rad) or the name of a parameter. A spring and
    its mirror image on the other side share parameters; ``sign`` is -1 where the rest is the
    opposite there.
    """

    coordinate: str
    stiffness: Number
    rest: Number = 0.0
    damping: Number = 0.0
    sign: float = 1.0


def spring_force(
    springs: Sequence[Spring], model: Model, q: Array, v: Array, parameters: Mapping[str, Array]
) -> Array:
    """What all springs do to the degrees of freedom (N m, N), (nv,)."""
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
        known = unknown_name("parameter", number, parameters)
        raise HomodynError(f"spring of {spring.coordinate!r}: the problem has {known}")
    return parameters[number]
