"""Signed distances of obstacles: for a point its distance from the surface and the normal there.

The distance (m) is negative inside; the normal is the outward unit vector. Both are written over
symbols and are part of every kernel that simulates contact. They are exact for planes, boxes,
spheres, cylinders and capsules. Above a height field the distance is the height above the ground
times the cosine of its slope: exact on planes, right to first order at the surface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    PlaneObstacle,
    SphereObstacle,
)
from homodyn.spatial import Array, stack

NO_CONTACT_M = 1e3
"""Distance of a place that does not exist, or cannot touch."""
ACCEPTED_KINDS = ("plane", "box", "sphere", "cylinder", "capsule", "height_field", "mesh")
"""Kinds of obstacles that simulations support."""


@runtime_checkable
class Surface(Protocol):
    """A fixed surface of your own, used like an obstacle."""

    def signed_distance(self, x: Array) -> tuple[Array, Array]:
        """Signed distance (m) of the point ``x`` (m, world) and the outward unit normal there.

        It is traced once over symbols, so it must not branch on values.
        """


@dataclass(frozen=True, eq=False)
class MeshPlanes:
    """A mesh within a step: its tangent planes at the places nearest to the probes of bodies."""

    NUMBERS: ClassVar[tuple[str, ...]] = ("normal x", "normal y", "normal z", "offset", "fraction")
    """Numbers of a plane n x = offset, and the fraction of the axis of a shape at which it is."""

    obstacle: MeshObstacle
    planes: Mapping[str, Sequence[Array]]
    """Numbers by name of the probe; empty where only the number of gaps counts."""

    def plane(self, probe: str) -> tuple[Array, Array, Array]:
        """Normal, offset (m, world) and fraction of a probe."""
        if not self.planes:
            return ca.SX([0.0, 0.0, 1.0]), ca.SX(-NO_CONTACT_M), ca.SX(0.0)
        x, y, z, offset, fraction = self.planes[probe]
        return ca.vertcat(x, y, z), offset, fraction


GroundPart = Obstacle | Surface | MeshPlanes
"""One thing that bodies can touch."""


def require_supported(part: GroundPart) -> None:
    """Raise a `ModelError` for obstacles that simulations do not support."""
    if isinstance(part, Obstacle) and part.kind in ACCEPTED_KINDS:
        return
    if isinstance(part, Surface | MeshPlanes):
        return
    what = part.title if isinstance(part, Obstacle) else repr(part)
    raise ModelError(
        f"simulations cannot use {what}; accepted are the obstacles {', '.join(ACCEPTED_KINDS)}, "
        "and objects with a method signed_distance(x)"
    )


def signed_distance(part: GroundPart, x: Array) -> tuple[Array, Array]:
    """Signed distance of a point from an obstacle, and the normal there.

    Args:
        part: An obstacle, or a surface of your own.
        x: The point (m, world), (3,), over symbols.

    Returns:
        Distance (m), negative inside, and outward unit normal (world), (3,).

    Raises:
        ModelError: Simulations do not support the obstacle, or it is a mesh.
    """
    match part:
        case PlaneObstacle():
            normal = np.array(part.normal)
            return ca.dot(ca.SX(normal), x) - part.height, ca.SX(normal)
        case BoxObstacle():
            turn = np.array(part.orientation).T.copy()
            distance, normal = box_distance(
                turn @ (x - np.array(part.position)), np.asarray(part.size) / 2
            )
            return distance, turn.T @ normal
        case SphereObstacle():
            return _point_distance(x - np.array(part.position), part.radius)
        case CapsuleObstacle():
            start, end = part.ends
            along = end - start
            fraction = ca.dot(x - start, ca.SX(along)) / float(along @ along)
            nearest = start + ca.fmin(ca.fmax(fraction, 0.0), 1.0) * ca.SX(along)
            return _point_distance(x - nearest, part.radius)
        case CylinderObstacle():
            turn = np.array(part.orientation).T.copy()
            local = turn @ (x - np.array(part.position))
            distance, normal = _cylinder_distance(local, part.radius, part.length / 2)
            return distance, turn.T @ normal
        case HeightField():
            # Traced once and copied: thousands of operations called from Python are slow.
            distance, normal = _field_graph(part).call([x], True, False)
            return distance, normal
    require_supported(part)
    if not isinstance(part, Surface):
        raise ModelError(
            "the distance from a mesh cannot be traced; simulations find its tangent planes before "
            "each step"
        )
    distance, normal = part.signed_distance(x)
    return ca.SX(distance), ca.SX(normal)


def level_ground(model: Model, height: float = 0.0) -> PlaneObstacle:
    """The horizontal plane, normal to gravity (to z without gravity).

    Args:
        model: The model whose gravity counts.
        height: Height above the origin (m).

    Returns:
        The plane.
    """
    gravity = np.array(model.nominal_value(model.gravity), dtype=float)
    return PlaneObstacle(-gravity if np.linalg.norm(gravity) > 0 else (0.0, 0.0, 1.0), height)


def box_distance(x: Array, half_extents: Array) -> tuple[Array, Array]:
    """Signed distance and normal of an axis-aligned box around the origin."""
    distance, normal = _box_graph().call([x, half_extents], True, False)
    return distance, normal


@lru_cache(maxsize=1)
def _box_graph() -> ca.Function:
    """Distance and normal of a box as a graph of a point and half extents.

    Outside it is the distance to the nearest face, edge or corner, inside to the nearest face.
    """
    x, size = ca.SX.sym("x", 3), ca.SX.sym("size", 3)
    sign = [ca.if_else(x[k] < 0, -1.0, 1.0) for k in range(3)]
    over = [sign[k] * x[k] - size[k] for k in range(3)]
    beyond = [ca.fmax(entry, 0.0) for entry in over]
    deepest = ca.fmax(ca.fmax(over[0], over[1]), over[2])
    outside = deepest > 0
    length = ca.sqrt(ca.if_else(outside, sum(b**2 for b in beyond), 1.0))
    # Of equally near faces the first counts, so that the normal has unit length.
    first = ca.logic_and(over[0] >= over[1], over[0] >= over[2])
    second = ca.logic_and(ca.logic_not(first), over[1] >= over[2])
    third = ca.logic_not(ca.logic_or(first, second))
    normal = [
        sign[k] * ca.if_else(outside, beyond[k] / length, face)
        for k, face in enumerate((first, second, third))
    ]
    distance = ca.if_else(outside, length, deepest)
    return ca.Function("box", [x, size], [distance, stack(*normal)])


def _point_distance(arm: Array, radius: float) -> tuple[Array, Array]:
    """Distance and normal of a sphere around the start of ``arm``; the normal there is z."""
    length = ca.norm_2(arm)
    separate = length > 0
    normal = ca.if_else(separate, arm / ca.if_else(separate, length, 1.0), ca.SX([0.0, 0.0, 1.0]))
    return length - radius, normal


def _cylinder_distance(x: Array, radius: float, half_length: float) -> tuple[Array, Array]:
    """Distance and normal of a cylinder along z around the origin."""
    from_axis = ca.sqrt(x[0] ** 2 + x[1] ** 2)
    off_axis = from_axis > 0
    safe = ca.if_else(off_axis, from_axis, 1.0)
    outward = stack(ca.if_else(off_axis, x[0] / safe, 1.0), x[1] / safe, ca.SX(0.0))
    upward = stack(ca.SX(0.0), ca.SX(0.0), ca.if_else(x[2] < 0, -1.0, 1.0))
    radial, axial = from_axis - radius, ca.fabs(x[2]) - half_length
    deepest = ca.fmax(radial, axial)
    outside = deepest > 0
    beyond = [ca.fmax(radial, 0.0), ca.fmax(axial, 0.0)]
    length = ca.sqrt(ca.if_else(outside, beyond[0] ** 2 + beyond[1] ** 2, 1.0))
    to_side = radial >= axial
    weights = [
        ca.if_else(outside, beyond[0] / length, to_side),
        ca.if_else(outside, beyond[1] / length, ca.logic_not(to_side)),
    ]
    distance = ca.if_else(outside, length, deepest)
    return distance, weights[0] * outward + weights[1] * upward


@lru_cache(maxsize=32)
def _field_graph(field: HeightField) -> ca.Function:
    """Distance and normal above a height field as a graph."""
    x = ca.SX.sym("x", 3)
    grid = _extend_grid(np.array(field.heights))
    values, slopes = [], []
    for axis in range(2):
        count = grid.shape[axis] - 2
        place = (x[axis] - field.origin[axis]) / field.spacing[axis]
        inside = ca.fmin(ca.fmax(place, 0.0), count - 1.0)
        on = ca.if_else(ca.logic_and(place >= 0, place <= count - 1), 1.0, 0.0)
        weights = [_convolution_weight(inside - node) for node in range(-1, count + 1)]
        values.append(stack(*[w for w, _ in weights]))
        slopes.append(stack(*[on * s / field.spacing[axis] for _, s in weights]))
    along_y = ca.SX(grid) @ values[1]
    height = ca.dot(values[0], along_y)
    dx = ca.dot(slopes[0], along_y)
    dy = ca.dot(values[0], ca.SX(grid) @ slopes[1])
    length = ca.sqrt(1 + dx**2 + dy**2)
    normal = stack(-dx, -dy, ca.SX(1.0)) / length
    return ca.Function("field", [x], [(x[2] - height) / length, normal])


def _convolution_weight(t: Array) -> tuple[Array, Array]:
    """Weight and its slope of a node at distance ``t`` (in spacings), Keys 1981."""
    a = ca.fabs(t)
    sign = ca.if_else(t < 0, -1.0, 1.0)
    within_one, within_two = a < 1, a < 2
    value = ca.if_else(
        within_one,
        1 + a * a * (1.5 * a - 2.5),
        ca.if_else(within_two, 2 + a * (a * (2.5 - 0.5 * a) - 4), 0.0),
    )
    slope = ca.if_else(
        within_one, a * (4.5 * a - 5), ca.if_else(within_two, -4 + a * (5 - 1.5 * a), 0.0)
    )
    return value, sign * slope


def _extend_grid(grid: np.ndarray) -> np.ndarray:
    """The grid with one more node on every side, extrapolated linearly."""
    for axis in range(2):
        lines = np.moveaxis(grid, axis, 0)
        lines = np.concatenate([2 * lines[:1] - lines[1:2], lines, 2 * lines[-1:] - lines[-2:-1]])
        grid = np.moveaxis(lines, 0, axis)
    return grid
