"""Where the centre of mass may stand still, and where the ZMP may be: polygons over the ground.

Both are slices of the wrenches of a stance. Every wrench is a sum of generators, so each polygon is
the shadow in a plane of weights that satisfy a few equations, and its corners are found by turning
a direction once around: the simplex method keeps the farthest weights up to date, one exchange of
two generators for each corner (the shadow-vertex method of Gass and Saaty).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from homodyn.balance.polytopes.linear_program import Infeasible, maximize
from homodyn.balance.polytopes.polytope import Polytope
from homodyn.balance.stance import ContactForceSet, Stance
from homodyn.errors import NoSolution

EARTH_GRAVITY = np.array([0.0, 0.0, -9.81])
"""m/s2: gravity unless it is given."""


@dataclass(frozen=True, eq=False)
class GroundAxes:
    """Two axes across the vertical in which polygons over the ground are drawn."""

    first: np.ndarray
    second: np.ndarray
    up: np.ndarray

    @staticmethod
    def of(gravity: np.ndarray) -> GroundAxes:
        """X and Y where Z is up; X and Z negated (forward and left) where Y is up."""
        return _level(*(float(part) for part in gravity))

    def flat(self, points: np.ndarray) -> np.ndarray:
        """(..., 2), m: points seen from above."""
        return np.stack([points @ self.first, points @ self.second], axis=-1)


@lru_cache
def _level(x: float, y: float, z: float) -> GroundAxes:
    gravity = np.array([x, y, z])
    strength = float(np.linalg.norm(gravity))
    if not strength > 0:
        raise NoSolution("without gravity no direction is up, and there is no polygon")
    up = -gravity / strength
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
    """Compute where the centre of mass can be at rest, with friction and force limits.

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
    # Force along the vertical only, and no moment about it.
    equations = np.empty((4, len(forces.wrenches)))
    equations[:3], equations[3] = forces.wrenches[:, 3:].T, forces.wrenches[:, :3] @ level.up
    target = np.array([*(weight * level.up), 0.0])
    # r x f with f = weight * up: its parts along the axes are weight * (r . second, -r . first).
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
    """Compute where the ZMP can be for a given position of the centre of mass.

    The angular momentum about the centre of mass is constant: ``zmp = com - (com height) *
    horizontal force / vertical force`` (Qiu section 4.2.8).

    Args:
        stance: A stance, or its forces under further limits, as from `torque_limited_forces`.
        com: Centre of mass, (3,), m.
        mass: Mass of the body, kg; required only where forces are limited.
        lift: Vertical acceleration of the centre of mass, m/s2.
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
    strength = float(np.linalg.norm(gravity))
    weight = _weight(forces, mass, gravity) * (strength + lift) / strength
    if not weight > 0:
        raise NoSolution(f"with a lift of {lift:g} m/s2 nothing presses on the ground")
    across = com - forces.reference
    about = forces.wrenches[:, :3] - np.cross(across, forces.wrenches[:, 3:])
    equations = np.vstack([about.T, forces.wrenches[:, 3:] @ level.up])
    target = np.r_[np.zeros(3), weight]
    drop = (com @ level.up - height) / weight
    shadow = -drop * level.flat(forces.wrenches[:, 3:]).T
    corners = _project_forces(equations, target, shadow, forces)
    return convex_polygon(corners + level.flat(com))


def _weight(forces: ContactForceSet, mass: float | None, gravity: np.ndarray) -> float:
    if mass is None:
        if len(forces.C):
            raise NoSolution("forces are limited, so the polygon depends on the mass: give mass=")
        mass = 1.0
    if not mass > 0:
        raise NoSolution(f"mass is above 0 kg, got {mass!r}")
    return float(mass * np.linalg.norm(gravity))


def _project_forces(
    equations: np.ndarray, target: np.ndarray, shadow: np.ndarray, forces: ContactForceSet
) -> np.ndarray:
    """(corners, 2): extreme points of ``shadow w`` over ``w >= 0, C w <= d, equations w = target``.

    Slack weights turn the limits into equations.
    """
    m = len(forces.C)
    E, e, S = equations, target, shadow
    if m:
        E = np.block([[equations, np.zeros((len(equations), m))], [forces.C, np.eye(m)]])
        e, S = np.concatenate([target, forces.d]), np.c_[shadow, np.zeros((2, m))]
    # One newton, or one metre, of every row: the programs then see numbers near one.
    scale = np.abs(E).max(axis=1)
    kept = scale > 1e-12 * scale.max()
    if not kept.all():
        if (np.abs(e[~kept]) > 1e-9 * np.abs(e).max()).any():
            raise NoSolution("the supports cannot carry the weight: nothing acts in some direction")
        E, e, scale = E[kept], e[kept], scale[kept]
    E, e = E / scale[:, None], e / scale
    unit = float(np.abs(e).max()) or 1.0
    return project_by_pivoting(E, e / unit, S) * unit


def project_by_pivoting(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(corners, 2): the shadow ``S w`` of ``{w >= 0 | E w = e}``, corner by corner.

    Falls back on ray shooting by linear programs where rounding breaks the turn.
    """
    try:
        return _rotate_direction(*_first_basis(E, e, S))
    except _PivotingFailed:
        return _project_by_linear_programs(E, e, S)


class _PivotingFailed(Exception):
    """The turn did not close."""


PIVOT_TOLERANCE = 1e-11


def _first_basis(
    E: np.ndarray, e: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """A feasible basis by phase one of the simplex method, its tableau, and the size of S.

    The tableau holds ``B^-1 E | B^-1 e``, and below it the reduced costs of both axes of the shadow
    with the place reached, negated: one exchange keeps all of it up to date.
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
        # Bland's rule after a while: it cannot go in circles.
        enter = int(cost.argmax()) if step < 5 * (m + k) else int((cost > PIVOT_TOLERANCE).argmax())
        if cost[enter] <= PIVOT_TOLERANCE:
            break
        _exchange(table, basis, enter)
    else:
        raise _PivotingFailed
    if table[m + 2, -1] > 1e-9 * max(float(np.abs(e).max()), 1e-300):
        raise NoSolution("the supports cannot carry the weight: no contact forces balance it")
    for row in np.flatnonzero(basis >= k):
        enter = int(np.abs(table[row, :k]).argmax())
        if abs(table[row, enter]) > 1e-9:
            _pivot(table, basis, int(row), enter)
    real = basis < k
    kept = np.empty((real.sum() + 2, k + 1))
    kept[:-2, :k], kept[:-2, k] = table[:m, :k][real], table[:m, -1][real]
    kept[-2:, :k], kept[-2:, k] = table[m : m + 2, :k], table[m : m + 2, -1]
    return basis[real], kept, float(np.abs(S).max()) or 1.0


def _exchange(table: np.ndarray, basis: np.ndarray, enter: int) -> None:
    """Let a weight enter; the first that it drives to zero leaves."""
    m = len(basis)
    # There are few rows: plain numbers are faster than arrays.
    column, values = table[:m, enter].tolist(), table[:m, -1].tolist()
    # A weight below zero is zero but for rounding.
    ratios = [
        (v / c if v > 0 else 0.0) if c > 1e-10 else math.inf
        for c, v in zip(column, values, strict=True)
    ]
    least = min(ratios)
    if least == math.inf:
        raise _PivotingFailed
    # Ties in degenerate stances are many: the largest pivot of them keeps rounding small.
    close = least + 1e-13 * max(1.0, least)
    tied = [k for k, ratio in enumerate(ratios) if ratio <= close]
    _pivot(table, basis, max(tied, key=column.__getitem__), enter)


def _pivot(table: np.ndarray, basis: np.ndarray, row: int, column: int) -> None:
    leaving = table[row]
    leaving /= leaving[column]
    factor = table[:, column : column + 1].copy()
    factor[row] = 0.0
    table -= factor * leaving
    basis[row] = column


def _rotate_direction(basis: np.ndarray, table: np.ndarray, unit: float) -> np.ndarray:
    """Corners met while the direction turns once around.

    Reduced costs are vectors in the plane: weight j improves direction u when ``u . d_j > 0``. The
    basis is best for u while none does; the next to enter is the first that u meets on its turn.
    """
    m, k = len(basis), table.shape[1] - 1
    # Exchanges keep the costs of the basis at zero, to the last bit.
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
    turned, tiny = 0.0, 1e-10 * unit
    seen, gains, share = np.eye(2), np.empty((2, k)), np.empty(k)
    along, across = gains
    for _ in range(40 * k + 200):
        # Along the direction no weight gains; the one with the least loss for its gain across it
        # is met first. Where none gains across, nothing is met for a quarter turn.
        np.matmul(seen, costs, out=gains)
        share.fill(-math.inf)
        np.divide(along, across, out=share, where=across > tiny)
        enter = int(share.argmax())
        loss = max(-float(share[enter]), 0.0)
        turned += math.atan(loss)
        if turned > 2 * math.pi + 1e-6:
            break
        c, s = math.cos(turned), math.sin(turned)
        seen[0, 0], seen[0, 1], seen[1, 0], seen[1, 1] = c, s, -s, c
        if loss < math.inf:
            _exchange(table, basis, enter)
            corners.append(-table[m:, -1])
    else:
        raise _PivotingFailed
    return np.array(corners)


SORTING_ROTATION = np.array([[0.8150, -0.5795], [0.5795, 0.8150]]) / math.hypot(0.8150, 0.5795)
"""A rotation that is none of those people build with."""


def convex_polygon(corners: np.ndarray) -> Polytope:
    """The hull of points in a plane, by Andrew's chains: few points are faster as plain numbers."""
    # Sorted along an axis that no edge is likely to be across: else rounding would order its ends.
    ordered = sorted(map(tuple, (corners @ SORTING_ROTATION).tolist()))
    around = [*_chain(ordered), *_chain(ordered[::-1])]
    if len(around) < 3:
        return Polytope.from_points(corners)
    kept = np.array(around) @ SORTING_ROTATION.T
    edges = np.concatenate([kept[1:], kept[:1]]) - kept
    rows = np.stack([edges[:, 1], -edges[:, 0]], axis=1)
    rows /= np.hypot(edges[:, 0], edges[:, 1])[:, None]
    return Polytope(rows, (rows * kept).sum(axis=1), kept)


def _chain(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that the outline passes on one side, without the last; nearly straight is straight."""
    chain: list[tuple[float, float]] = []
    near = 1e-10 * math.dist(ordered[0], ordered[-1])
    for x, y in ordered:
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            ax, ay, bx, by = x1 - x0, y1 - y0, x - x1, y - y1
            if ax * by - ay * bx > 1e-9 * math.hypot(ax, ay) * math.hypot(bx, by):
                break
            chain.pop()
        if not chain or abs(x - chain[-1][0]) > near or abs(y - chain[-1][1]) > near:
            chain.append((x, y))
    return chain[:-1]


def _project_by_linear_programs(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    from homodyn.balance.polytopes.projection import polytope_from_support_function

    k = E.shape[1]

    def farthest(directions: np.ndarray) -> np.ndarray:
        found = [maximize(d @ S, -np.eye(k), np.zeros(k), E, e).x for d in directions]
        return np.array(found) @ S.T

    try:
        return polytope_from_support_function(farthest, 2).vertices
    except Infeasible:
        raise NoSolution(
            "the supports cannot carry the weight: no contact forces balance it"
        ) from None
