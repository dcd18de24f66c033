"""Fixed obstacles that bodies touch: planes, boxes and height fields, as signed distances.

Each gives for a point of the world its signed distance from the surface (m, negative inside) and
the outward unit normal there. They are written over symbols and are part of every kernel that
simulates contact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.spatial import Array, stack

MAX_FIELD_NODES = 4096
"""Heights that a field may have: a kernel reads all of them for every point that may touch."""


class Obstacle(Protocol):
    """A fixed part of the world with a surface; implement it to add your own."""

    def surface(self, x: Array) -> tuple[Array, Array]:
        """Signed distance (m) of the point ``x`` (m, world) and the unit normal there."""


@dataclass(frozen=True)
class PlaneObstacle:
    """A half space: n . x < ``height`` is solid.

    Raises:
        ModelError: The normal has no length.
    """

    normal: ArrayLike = (0.0, 0.0, 1.0)
    """Outward normal (world), (3,); it is normalized."""
    height: float = 0.0
    """Distance of the surface from the origin along the normal (m)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "normal", _unit(self.normal, "normal of a plane"))

    def surface(self, x: Array) -> tuple[Array, Array]:
        """Distance along the normal, which is the same everywhere."""
        n = np.array(self.normal)
        return ca.dot(ca.SX(n), x) - self.height, ca.SX(n)


@dataclass(frozen=True)
class BoxObstacle:
    """A solid box.

    Raises:
        ModelError: Half extents are not positive, or the rotation is not orthogonal.
    """

    half_extents: ArrayLike
    """Half of the edge lengths (m), (3,)."""
    position: ArrayLike = (0.0, 0.0, 0.0)
    """Center (m, world), (3,)."""
    rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """Rows are the axes of the box in the world, (3, 3)."""

    def __post_init__(self) -> None:
        half = _vector(self.half_extents, "half extents of a box")
        object.__setattr__(self, "half_extents", half)
        object.__setattr__(self, "position", _vector(self.position, "position of a box"))
        if min(half) <= 0:
            raise ModelError(f"size of a box: positive half extents are needed, got {half}")
        turn = np.array(self.rotation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-9):
            raise ModelError("rotation of a box: three orthogonal unit rows are needed")
        object.__setattr__(self, "rotation", tuple(map(tuple, turn.tolist())))

    def surface(self, x: Array) -> tuple[Array, Array]:
        """Outside the distance to the nearest face, edge or corner; inside to the nearest face."""
        turn = np.array(self.rotation)
        distance, normal = box_surface(
            turn @ (x - np.array(self.position)), np.array(self.half_extents)
        )
        return distance, turn.T @ normal


@dataclass(frozen=True)
class HeightField:
    """Ground whose height along z (m) is known on a regular grid and smooth between its nodes.

    ``heights[i, j]`` stands at x = origin[0] + i spacing[0], y = origin[1] + j spacing[1] (m). In
    between runs the cubic convolution of Keys 1981 (a = -1/2): through all nodes, with continuous
    slopes, exact for planes. Beyond the edges the ground goes on level from there.

    The distance is the height above the ground times the cosine of its slope: exact on planes,
    right to first order at the surface.
    """

    heights: Any
    spacing: tuple[float, float] = (1.0, 1.0)
    origin: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        grid = np.array(self.heights, dtype=float)
        if grid.ndim != 2 or min(grid.shape) < 2 or not np.all(np.isfinite(grid)):
            raise ModelError(
                "heights of a field: a grid of at least 2 x 2 finite numbers is needed, got shape "
                f"{grid.shape}"
            )
        if grid.size > MAX_FIELD_NODES:
            raise ModelError(
                f"heights of a field: {grid.size} nodes are more than the {MAX_FIELD_NODES} that a "
                "kernel can read for every point; crop the field or make it coarser"
            )
        if min(self.spacing) <= 0:
            raise ModelError(f"spacing of a height field must be positive, got {self.spacing}")
        object.__setattr__(self, "heights", tuple(map(tuple, grid.tolist())))

    @property
    def nodes(self) -> list[tuple[float, float, float]]:
        """The points of the grid (m)."""
        (x0, y0), (dx, dy) = self.origin, self.spacing
        return [
            (x0 + i * dx, y0 + j * dy, height)
            for i, row in enumerate(self.heights)
            for j, height in enumerate(row)
        ]

    def surface(self, x: Array) -> tuple[Array, Array]:
        """Height above the field, measured along its local normal."""
        # Traced once and copied: thousands of operations called from Python take their time.
        distance, normal = _field_graph(self).call([x], True, False)
        return distance, normal


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
        weights = [_keys(inside - node) for node in range(-1, count + 1)]
        values.append(stack(*[w for w, _ in weights]))
        slopes.append(stack(*[on * s / field.spacing[axis] for _, s in weights]))
    along_y = ca.SX(grid) @ values[1]
    height = ca.dot(values[0], along_y)
    dx = ca.dot(slopes[0], along_y)
    dy = ca.dot(values[0], ca.SX(grid) @ slopes[1])
    length = ca.sqrt(1 + dx**2 + dy**2)
    normal = stack(-dx, -dy, ca.SX(1.0)) / length
    return ca.Function("field", [x], [(x[2] - height) / length, normal])


def level_ground(model: Model, height: float = 0.0) -> PlaneObstacle:
    """The horizontal plane, normal to gravity (to z without gravity).

    Args:
        model: The model whose gravity counts.
        height: Height above the origin (m).

    Returns:
        The plane.
    """
    gravity = np.array(model._usual_value(model.gravity), dtype=float)
    return PlaneObstacle(-gravity if np.linalg.norm(gravity) > 0 else (0.0, 0.0, 1.0), height)


def box_surface(x: Array, size: Array) -> tuple[Array, Array]:
    """Signed distance and normal of a box around the origin along the axes."""
    distance, normal = _box_graph().call([x, size], True, False)
    return distance, normal


@lru_cache(maxsize=1)
def _box_graph() -> ca.Function:
    """Distance and normal of a box as a graph of a point and half extents."""
    x, size = ca.SX.sym("x", 3), ca.SX.sym("size", 3)
    sign = [ca.if_else(x[k] < 0, -1.0, 1.0) for k in range(3)]
    over = [sign[k] * x[k] - size[k] for k in range(3)]
    beyond = [ca.fmax(entry, 0.0) for entry in over]
    deepest = ca.fmax(ca.fmax(over[0], over[1]), over[2])
    outside = deepest > 0
    length = ca.sqrt(ca.if_else(outside, sum(b**2 for b in beyond), 1.0))
    # Of faces equally far the first counts, so that the normal is of length one.
    first = ca.logic_and(over[0] >= over[1], over[0] >= over[2])
    second = ca.logic_and(ca.logic_not(first), over[1] >= over[2])
    third = ca.logic_not(ca.logic_or(first, second))
    normal = [
        sign[k] * ca.if_else(outside, beyond[k] / length, face)
        for k, face in enumerate((first, second, third))
    ]
    distance = ca.if_else(outside, length, deepest)
    return ca.Function("box", [x, size], [distance, stack(*normal)])


def _keys(t: Array) -> tuple[Array, Array]:
    """Weight and its slope of a node at distance ``t`` (in spacings) in cubic convolution."""
    a = ca.fabs(t)
    sign = ca.if_else(t < 0, -1.0, 1.0)
    near, far = a < 1, a < 2
    value = ca.if_else(
        near,
        1 + a * a * (1.5 * a - 2.5),
        ca.if_else(far, 2 + a * (a * (2.5 - 0.5 * a) - 4), 0.0),
    )
    slope = ca.if_else(near, a * (4.5 * a - 5), ca.if_else(far, -4 + a * (5 - 1.5 * a), 0.0))
    return value, sign * slope


def _extend_grid(grid: np.ndarray) -> np.ndarray:
    """The grid with one more node on every side, in line with the last two."""
    for axis in range(2):
        lines = np.moveaxis(grid, axis, 0)
        lines = np.concatenate([2 * lines[:1] - lines[1:2], lines, 2 * lines[-1:] - lines[-2:-1]])
        grid = np.moveaxis(lines, 0, axis)
    return grid


def _vector(value: Any, what: str) -> tuple[float, float, float]:
    numbers = np.asarray(value, dtype=float)
    if numbers.shape != (3,) or not np.all(np.isfinite(numbers)):
        raise ModelError(f"{what}: three finite numbers are needed, got {value!r}")
    return (float(numbers[0]), float(numbers[1]), float(numbers[2]))


def _unit(value: Any, what: str) -> tuple[float, float, float]:
    numbers = np.array(_vector(value, what))
    length = float(np.linalg.norm(numbers))
    if length == 0:
        raise ModelError(f"{what}: a vector of some length is needed, got {value!r}")
    return _vector(numbers / length, what)
