"""Rigid bodies, and homogeneous solids as bodies."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from homodyn.foundation.record import record
from homodyn.model.parameters import MATRIX, SCALAR, VECTOR, ModelRecord, coerce_fields, scalar
from homodyn.spatial import Array, Inertia, matrix, stack, stack_columns

_ORIGIN = (0.0, 0.0, 0.0)
_AXIS_INDEX = {"x": 0, "y": 1, "z": 2}


@record
class Body(ModelRecord):
    """A rigid segment, in its own frame.

    The inertia may also be given as its three diagonal entries.
    """

    name: str
    mass: Array = 0.0
    """kg."""
    com: Array = field(default_factory=lambda: np.zeros(3))
    """Center of mass, (3,), m."""
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    """About the center of mass, (3, 3), kg m2."""

    def __post_init__(self) -> None:
        inertia: Any = self.inertia
        is_triple = isinstance(inertia, (list, tuple, np.ndarray)) and len(inertia) == 3
        if is_triple and not any(isinstance(row, (list, tuple, np.ndarray)) for row in inertia):
            object.__setattr__(self, "inertia", diagonal(*inertia))
        coerce_fields(self, mass=SCALAR, com=VECTOR, inertia=MATRIX)

    @property
    def spatial_inertia(self) -> Inertia:
        """Mass, first moments and inertia about the origin of the body frame."""
        return Inertia.at_com(self.mass, self.com, self.inertia)


def diagonal(xx: Array, yy: Array, zz: Array) -> Array:
    """A diagonal inertia (kg m2)."""
    return matrix([[xx, 0.0, 0.0], [0.0, yy, 0.0], [0.0, 0.0, zz]])


def box(name: str, mass: Array, size: Array, *, com: Array = _ORIGIN) -> Body:
    """A homogeneous rectangular box with its edges along the axes of the body frame.

    Args:
        name: Name of the body.
        mass: Mass (kg); a number or a symbol.
        size: Edge lengths (m) along x, y and z, shape (3,).
        com: Center of the box in the body frame (m), shape (3,).

    Returns:
        The body, with the inertia of the box about its center (kg m2).

    Raises:
        ModelError: ``com`` is not a vector of three numbers.
    """
    x, y, z = (scalar(edge) ** 2 for edge in size)
    factor = scalar(mass) / 12
    return Body(name, mass, com, diagonal(*(factor * s for s in (y + z, x + z, x + y))))


def sphere(name: str, mass: Array, radius: Array, *, com: Array = _ORIGIN) -> Body:
    """A homogeneous solid sphere: 2/5 m r^2 about every axis.

    Args:
        name: Name of the body.
        mass: Mass (kg); a number or a symbol.
        radius: Radius (m).
        com: Center of the sphere in the body frame (m), shape (3,).

    Returns:
        The body, with the inertia of the sphere about its center (kg m2).

    Raises:
        ModelError: ``com`` is not a vector of three numbers.
    """
    moment = 0.4 * scalar(mass) * scalar(radius) ** 2
    return Body(name, mass, com, diagonal(moment, moment, moment))


def cylinder(
    name: str, mass: Array, radius: Array, length: Array, *, axis: str = "z", com: Array = _ORIGIN
) -> Body:
    """A homogeneous solid cylinder along an axis of the body frame.

    Args:
        name: Name of the body.
        mass: Mass (kg); a number or a symbol.
        radius: Radius (m).
        length: Length along the axis (m).
        axis: Axis of the cylinder: ``"x"``, ``"y"`` or ``"z"``.
        com: Center of the cylinder in the body frame (m), shape (3,).

    Returns:
        The body, with the inertia of the cylinder about its center (kg m2).

    Raises:
        ModelError: ``com`` is not a vector of three numbers.
    """
    m, r, h = scalar(mass), scalar(radius), scalar(length)
    across = m * (3 * r**2 + h**2) / 12
    return Body(name, mass, com, _axial_inertia(axis, m * r**2 / 2, across))


def capsule(
    name: str, mass: Array, radius: Array, length: Array, *, axis: str = "z", com: Array = _ORIGIN
) -> Body:
    """A homogeneous solid capsule: a cylinder closed by two hemispheres.

    The center of mass of a hemisphere lies 3/8 r from its flat side. Its moment of inertia about a
    transverse axis through that point is 83/320 m r^2.

    Args:
        name: Name of the body.
        mass: Mass of the whole capsule (kg); a number or a symbol.
        radius: Radius of the cylinder and of the hemispheres (m).
        length: Length of the cylindrical part (m), without the hemispheres.
        axis: Axis of the capsule: ``"x"``, ``"y"`` or ``"z"``.
        com: Center of the capsule in the body frame (m), shape (3,).

    Returns:
        The body, with the inertia of the capsule about its center (kg m2).

    Raises:
        ModelError: ``com`` is not a vector of three numbers.
    """
    m, r, h = scalar(mass), scalar(radius), scalar(length)
    caps = m * (4 * r) / (3 * h + 4 * r)
    middle = m - caps
    along = middle * r**2 / 2 + caps * 0.4 * r**2
    across = middle * (3 * r**2 + h**2) / 12
    across = across + caps * (83 / 320 * r**2 + (h / 2 + 3 * r / 8) ** 2)
    return Body(name, mass, com, _axial_inertia(axis, along, across))


def rod(name: str, mass: Array, start: Array, end: Array) -> Body:
    """A thin homogeneous rod between two points: inertia m (l^2 1 - l l^T) / 12.

    Args:
        name: Name of the body.
        mass: Mass (kg); a number or a symbol.
        start: One end in the body frame (m), shape (3,).
        end: The other end in the body frame (m), shape (3,).

    Returns:
        The body, with its center of mass midway between the ends and the inertia of the rod about
        it (kg m2).
    """
    a, b = stack(*(scalar(x) for x in start)), stack(*(scalar(x) for x in end))
    line = b - a
    outer = stack_columns(*(line * line[i] for i in range(3)))
    square = line[0] ** 2 + line[1] ** 2 + line[2] ** 2
    return Body(name, mass, (a + b) / 2, (np.eye(3) * square - outer) * (scalar(mass) / 12))


def _axial_inertia(axis: str, along: Array, across: Array) -> Array:
    """Inertia of a solid of revolution: ``along`` its axis and ``across`` it (kg m2)."""
    entries = [across, across, across]
    entries[_AXIS_INDEX[axis]] = along
    return diagonal(*entries)
