"""Support areas: static equilibrium polygon, ZMP support area and base of support.

The first two are slices of the wrenches of a stance. Every wrench is a sum of generators, so each
polygon is the projection onto a plane of weights that satisfy a few equations. Its corners are
found by rotating a direction through a full turn: the simplex method updates the extreme weights,
one exchange of two generators per corner (the shadow-vertex method of Gass and Saaty).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from homodyn.balance.polytopes.linear_program import Infeasible, maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.polytopes.projection import polytope_from_support_function
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.errors import NoSolution

EARTH_GRAVITY = np.array([0.0, 0.0, -9.81])
"""m/s2: default gravity."""
EARTH_GRAVITY.flags.writeable = False
CANNOT_CARRY = "the supports cannot carry the weight"


@dataclass(frozen=True, eq=False)
class GroundAxes:
    """Two horizontal axes in which polygons over the ground are expressed, and the vertical."""

    first: np.ndarray
    second: np.ndarray
    up: np.ndarray

    @staticmethod
    def of(gravity: np.ndarray) -> GroundAxes:
        """X and Y where Z is up; X and Z negated (forward and left) where Y is up."""
        return _level(*(float(part) for part in gravity))

    def flat(self, points: np.ndarray) -> np.ndarray:
        """(..., 2), m: horizontal coordinates of points."""
        return np.stack([points @ self.first, points @ self.second], axis=-1)


@lru_cache
def _level(x: float, y: float, z: float) -> GroundAxes:
    gravity = np.array([x, y, z])
    magnitude = float(np.linalg.norm(gravity))
    if not magnitude > 0:
        raise NoSolution("gravity is zero: there is no vertical direction and no polygon")
    up = -gravity / magnitude
    first = np.eye(3)[0] - up[0] * up
    if np.linalg.norm(first) < 1e-6:
        first = np.eye(3)[1] - up[1] * up
    first = first / np.linalg.norm(first)
    return GroundAxes(first, np.cross(up, first), up)


def support_polygon(stance: Stance, gravity: np.ndarray = EARTH_GRAVITY) -> Polytope:
    """Compute the classical base of support: the convex hull of the support points from above.

    Args:
        stance: The stance.
        gravity: Gravitational acceleration, (3,), m/s2; defines the vertical.

    Returns:
        Polygon in the horizontal plane, m.

    Raises:
        NoSolution: Gravity is zero.
    """
    return Polytope.from_points(GroundAxes.of(gravity).flat(stance.points))


def static_equilibrium_polygon(
    stance: Stance | ContactForceSet,
    *,
    mass: float | None = None,
    gravity: np.ndarray = EARTH_GRAVITY,
) -> Polytope:
    """Compute where the center of mass can be at rest, with friction and force limits.

    With ``f = -m g`` the moment about the reference is ``r x f``, so the position is ``up x moment
    / weight`` (Qiu eq. 4.41).

    Args:
        stance: A stance, or its forces under further limits, as from `torque_limited_forces`.
        mass: Mass of the body, kg; required only where forces are limited.
        gravity: Gravitational acceleration, (3,), m/s2.

    Returns:
        Polygon in the horizontal plane, m.

    Raises:
        NoSolution: The supports cannot carry the weight anywhere, ``mass`` is not positive or is
            missing while forces are limited, or gravity is zero.
    """
    forces = stance.forces if isinstance(stance, Stance) else stance
    level = GroundAxes.of(gravity)
    weight = _weight(forces, mass, gravity)
    # The force is vertical, and there is no moment about the vertical.
    equations = np.empty((4, len(forces.wrenches)))
    equations[:3], equations[3] = forces.wrenches[:, 3:].T, forces.wrenches[:, :3] @ level.up
    target = np.array([*(weight * level.up), 0.0])
    # r x f with f = weight * up has the components weight * (r . second, -r . first).
    across = np.array([-level.second, level.first]) / weight
    corners = _project_forces(equations, target, across @ forces.wrenches[:, :3].T, forces)
    return convex_polygon(corners + level.flat(forces.reference))


def zmp_support_area(
    stance: Stance | ContactForceSet,
    com: np.ndarray,
    *,
    mass: float | None = None,
    lift: float = 0.0,
    height: float = 0.0,
    gravity: np.ndarray = EARTH_GRAVITY,
) -> Polytope:
    """Compute where the ZMP can be for a given position of the center of mass.

    The angular momentum about the center of mass is constant: ``zmp = com - (com height) *
    horizontal force / vertical force`` (Qiu section 4.2.8).

    Args:
        stance: A stance, or its forces under further limits, as from `torque_limited_forces`.
        com: Center of mass, (3,), m.
        mass: Mass of the body, kg; required only where forces are limited.
        lift: Vertical acceleration of the center of mass, m/s2.
        height: Height of the horizontal ZMP plane above the world origin, m.
        gravity: Gravitational acceleration, (3,), m/s2.

    Returns:
        Polygon in the horizontal plane, m.

    Raises:
        NoSolution: The supports cannot give such a force, the vertical force is not positive,
            ``mass`` is not positive or is missing while forces are limited, or gravity is zero.
    """
    forces = stance.forces if isinstance(stance, Stance) else stance
    level, com = GroundAxes.of(gravity), np.asarray(com, dtype=float)
    magnitude = float(np.linalg.norm(gravity))
    weight = _weight(forces, mass, gravity) * (magnitude + lift) / magnitude
    if not weight > 0:
        raise NoSolution(f"with a vertical acceleration of {lift:g} m/s2 the normal force is zero")
    arm = com - forces.reference
    about_com = forces.wrenches[:, :3] - np.cross(arm, forces.wrenches[:, 3:])
    equations = np.vstack([about_com.T, forces.wrenches[:, 3:] @ level.up])
    target = np.r_[np.zeros(3), weight]
    slope = (com @ level.up - height) / weight
    projection = -slope * level.flat(forces.wrenches[:, 3:]).T
    corners = _project_forces(equations, target, projection, forces)
    return convex_polygon(corners + level.flat(com))


def _weight(forces: ContactForceSet, mass: float | None, gravity: np.ndarray) -> float:
    if mass is None:
        if len(forces.C):
            raise NoSolution("forces are limited, so the polygon depends on the mass: give mass")
        mass = 1.0
    if not mass > 0:
        raise NoSolution(f"mass is above 0 kg, got {mass!r}")
    return float(mass * np.linalg.norm(gravity))


def _project_forces(
    equations: np.ndarray, target: np.ndarray, projection: np.ndarray, forces: ContactForceSet
) -> np.ndarray:
    """(corners, 2): extreme points of ``projection w`` over the admissible weights w.

    These satisfy ``w >= 0``, ``C w <= d`` and ``equations w = target``. Slack weights turn the
    limits into equations.
    """
    m = len(forces.C)
    E, e, S = equations, target, projection
    if m:
        E = np.block([[equations, np.zeros((len(equations), m))], [forces.C, np.eye(m)]])
        e, S = np.concatenate([target, forces.d]), np.c_[projection, np.zeros((2, m))]
    # Scaled rows: all numbers of the programs are then near one.
    scale = np.abs(E).max(axis=1)
    kept = scale > 1e-12 * scale.max()
    if not kept.all():
        if (np.abs(e[~kept]) > 1e-9 * np.abs(e).max()).any():
            raise NoSolution(f"{CANNOT_CARRY}: they give no force in some direction")
        E, e, scale = E[kept], e[kept], scale[kept]
    E, e = E / scale[:, None], e / scale
    unit = float(np.abs(e).max()) or 1.0
    return project_by_pivoting(E, e / unit, S) * unit


def project_by_pivoting(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(corners, 2): the projection ``S w`` of ``{w >= 0 | E w = e}``, corner by corner.

    Falls back on ray shooting by linear programs where rounding stops the rotation.
    """
    try:
        return _rotate_direction(*_first_basis(E, e, S))
    except _PivotingFailed:
        return _project_by_linear_programs(E, e, S)


class _PivotingFailed(Exception):
    """The rotation did not complete a turn."""


PIVOT_TOLERANCE = 1e-11
"""Reduced cost, relative to the size of the objective, that counts as zero."""


def _first_basis(
    E: np.ndarray, e: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """A feasible basis by phase one of the simplex method, its tableau, and the size of S.

    The tableau holds ``B^-1 E | B^-1 e``, and below it the reduced costs of both axes of the
    projection with the negated point: one exchange updates all of it.
    """
    m, k = E.shape
    table = np.zeros((m + 3, k + m + 1))
    table[:m, :k], table[:m, -1] = E, e
    table[:m][e < 0] *= -1.0
    table[:m, k:-1] = np.eye(m)
    table[m : m + 2, :k] = S
    table[m + 2] = table[:m].sum(axis=0)
    table[m + 2, k:-1] = 0.0
    basis = np.arange(k, k + m)
    for step in range(50 * (m + k)):
        cost = table[m + 2, :k]
        # Bland's rule after many steps: it cannot cycle.
        enter = int(cost.argmax()) if step < 5 * (m + k) else int((cost > PIVOT_TOLERANCE).argmax())
        if cost[enter] <= PIVOT_TOLERANCE:
            break
        _exchange(table, basis, enter)
    else:
        raise _PivotingFailed
    if table[m + 2, -1] > 1e-9 * max(float(np.abs(e).max()), 1e-300):
        raise NoSolution(f"{CANNOT_CARRY}: no contact forces balance it")
    for row in np.flatnonzero(basis >= k):
        enter = int(np.abs(table[row, :k]).argmax())
        if abs(table[row, enter]) > 1e-9:
            _pivot(table, basis, int(row), enter)
    structural = basis < k
    reduced = np.empty((structural.sum() + 2, k + 1))
    reduced[:-2, :k], reduced[:-2, k] = table[:m, :k][structural], table[:m, -1][structural]
    reduced[-2:, :k], reduced[-2:, k] = table[m : m + 2, :k], table[m : m + 2, -1]
    return basis[structural], reduced, float(np.abs(S).max()) or 1.0


def _exchange(table: np.ndarray, basis: np.ndarray, enter: int) -> None:
    """Let a weight enter the basis; the first weight that reaches zero leaves it."""
    m = len(basis)
    # There are few rows: Python numbers are faster than arrays.
    column, values = table[:m, enter].tolist(), table[:m, -1].tolist()
    # A weight below zero is zero but for rounding.
    ratios = [
        (v / c if v > 0 else 0.0) if c > 1e-10 else math.inf
        for c, v in zip(column, values, strict=True)
    ]
    smallest = min(ratios)
    if smallest == math.inf:
        raise _PivotingFailed
    # Degenerate stances have many ties: the largest pivot among them keeps rounding small.
    threshold = smallest + 1e-13 * max(1.0, smallest)
    tied = [k for k, ratio in enumerate(ratios) if ratio <= threshold]
    _pivot(table, basis, max(tied, key=column.__getitem__), enter)


def _pivot(table: np.ndarray, basis: np.ndarray, row: int, column: int) -> None:
    leaving = table[row]
    leaving /= leaving[column]
    factor = table[:, column : column + 1].copy()
    factor[row] = 0.0
    table -= factor * leaving
    basis[row] = column


def _rotate_direction(basis: np.ndarray, table: np.ndarray, unit: float) -> np.ndarray:
    """Corners found while the direction rotates through a full turn.

    Reduced costs are vectors in the plane: weight j improves direction u if ``u . d_j > 0``. The
    basis is optimal for u while no weight does; the next to enter is the first that u reaches.
    """
    m, k = len(basis), table.shape[1] - 1
    # Exchanges keep the costs of the basis exactly at zero.
    costs = table[m:, :k]
    costs[:, basis] = 0.0
    for _ in range(20 * k + 100):
        enter = int(costs[0].argmax())
        if costs[0, enter] <= PIVOT_TOLERANCE * unit:
            break
        _exchange(table, basis, enter)
    else:
        raise _PivotingFailed
    corners = [-table[m:, -1]]
    angle, threshold = 0.0, 1e-10 * unit
    rotation, gains, ratio = np.eye(2), np.empty((2, k)), np.empty(k)
    along, across = gains
    for _ in range(40 * k + 200):
        # No weight improves the direction itself. The weight with the smallest loss along it per
        # gain across it enters first; if none gains across, none enters within a quarter turn.
        np.matmul(rotation, costs, out=gains)
        ratio.fill(-math.inf)
        np.divide(along, across, out=ratio, where=across > threshold)
        enter = int(ratio.argmax())
        loss = max(-float(ratio[enter]), 0.0)
        angle += math.atan(loss)
        if angle > 2 * math.pi + 1e-6:
            break
        c, s = math.cos(angle), math.sin(angle)
        rotation[0, 0], rotation[0, 1], rotation[1, 0], rotation[1, 1] = c, s, -s, c
        if loss < math.inf:
            _exchange(table, basis, enter)
            corners.append(-table[m:, -1])
    else:
        raise _PivotingFailed
    return np.array(corners)


SORTING_ROTATION = np.array([[0.8150, -0.5795], [0.5795, 0.8150]]) / math.hypot(0.8150, 0.5795)
"""A rotation to an axis that edges of a polygon are unlikely to be perpendicular to."""


def convex_polygon(corners: np.ndarray) -> Polytope:
    """The hull of points in a plane by Andrew's monotone chains, in Python numbers for speed."""
    # Sorting along a rotated axis: rounding would otherwise order the ends of an edge across it.
    ordered = sorted(map(tuple, (corners @ SORTING_ROTATION).tolist()))
    outline = [*_chain(ordered), *_chain(ordered[::-1])]
    if len(outline) < 3:
        return Polytope.from_points(corners)
    vertices = np.array(outline) @ SORTING_ROTATION.T
    edges = np.concatenate([vertices[1:], vertices[:1]]) - vertices
    rows = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    rows /= np.hypot(edges[:, 0], edges[:, 1])[:, None]
    return Polytope(rows, (rows * vertices).sum(axis=1), vertices)


def _chain(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Vertices of one side of the outline, without the last and without nearly collinear ones."""
    chain: list[tuple[float, float]] = []
    tolerance = 1e-10 * math.dist(ordered[0], ordered[-1])
    for x, y in ordered:
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            ax, ay, bx, by = x1 - x0, y1 - y0, x - x1, y - y1
            if ax * by - ay * bx > 1e-9 * math.hypot(ax, ay) * math.hypot(bx, by):
                break
            chain.pop()
        if not chain or abs(x - chain[-1][0]) > tolerance or abs(y - chain[-1][1]) > tolerance:
            chain.append((x, y))
    return chain[:-1]


def _project_by_linear_programs(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    k = E.shape[1]

    def support(directions: np.ndarray) -> np.ndarray:
        weights = [maximize(d @ S, -np.eye(k), np.zeros(k), E, e).x for d in directions]
        return np.array(weights) @ S.T

    try:
        return polytope_from_support_function(support, 2).vertices
    except Infeasible:
        raise NoSolution(f"{CANNOT_CARRY}: no contact forces balance it") from None
