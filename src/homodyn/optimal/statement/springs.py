"""Springs with dampers across joints, whose parameters may be unknowns of a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError, ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.spatial import Array

Number = float | str
"""A number, or the name of a parameter of the problem."""


@record(eq=True)
class Spring(Record):
    """``stiffness (rest - q) - damping v`` on one coordinate (Felis 2015, section 4.5).

    A spring and its mirror image on the other side share parameters.
    """

    coordinate: str
    """Name of the coordinate."""
    stiffness: Number
    """N m/rad (or N/m), or the name of a parameter of the problem."""
    rest: Number = 0.0
    """Rest position (rad, m), or the name of a parameter."""
    damping: Number = 0.0
    """N m s/rad (or N s/m), or the name of a parameter."""
    sign: float = 1.0
    """-1 where the rest position has the opposite sign on this side."""

    def headline(self) -> str:
        """Coordinate and stiffness."""
        return f"Spring on {self.coordinate!r}, stiffness {self.stiffness}"

    @property
    def key(self) -> tuple[str, Number, Number, Number, float]:
        """All fields exactly, which identify compiled code."""
        return self.coordinate, self.stiffness, self.rest, self.damping, self.sign


def spring_force(
    springs: Sequence[Spring], model: Model, q: Array, v: Array, parameters: Mapping[str, Array]
) -> Array:
    """Generalized force of all springs (N m, N), (nv,), as symbols."""
    total = ca.SX.zeros(model.nv)
    for spring in springs:
        index, place = _entries(spring, model)
        total[index] += _force(spring, q[place], v[index], parameters)
    return total


def spring_torques(
    springs: Sequence[Spring],
    model: Model,
    q: np.ndarray,
    v: np.ndarray,
    parameters: Mapping[str, float],
) -> np.ndarray:
    """Generalized forces of all springs (N m, N), (samples, nv), for states (samples, nq or nv)."""
    total = np.zeros((len(q), model.nv))
    for spring in springs:
        index, place = _entries(spring, model)
        total[:, index] += _force(spring, q[:, place], v[:, index], parameters)
    return total


def _entries(spring: Spring, model: Model) -> tuple[int, int]:
    """Entries of the coordinate in v and in q."""
    index = model.coordinate_index(spring.coordinate)
    place = model.position_index[index]
    if place is None:
        raise ModelError(f"a spring needs a coordinate with a value, not {spring.coordinate!r}")
    return index, place


def _force(spring: Spring, q: Array, v: Array, parameters: Mapping[str, Array]) -> Array:
    stiffness, rest, damping = (
        _value(spring, number, parameters)
        for number in (spring.stiffness, spring.rest, spring.damping)
    )
    return stiffness * (spring.sign * rest - q) - damping * v


def _value(spring: Spring, number: Number, parameters: Mapping[str, Array]) -> Array:
    if not isinstance(number, str):
        return number
    if number not in parameters:
        problem = unknown_name("parameter", number, parameters)
        raise HomodynError(f"spring of {spring.coordinate!r}: the problem has {problem}")
    return parameters[number]
