"""Where the centre of mass may stand still, and where the ZMP may be: polygons over the ground.

Both are slices of the wrenches of a stance. Every wrench is a sum of generators, so each polygon is
the shadow in a plane of weights that satisfy a few equations, and its corners are found by turning
a direction once around: the simplex method keeps the farthest weights up to date, one exchange of
two generators for each corner (the shadow-vertex method of Gass and Saaty).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.balance.linear_program import Infeasible, maximum
from homodyn.balance.polytope import Polytope
from homodyn.balance.stance import Forces, Stance
from homodyn.errors import NoSolution

DOWN = np.array([0.0, 0.0, -9.81])
"""m/s2: gravity unless it is given."""


@dataclass(frozen=True, eq=False)
class Level:
    """Two axes across the vertical in which polygons over the ground are drawn."""

    first: np.ndarray
    second: np.ndarray
    up: np.ndarray

    @classmethod
    def of(cls, gravity: np.ndarray) -> Level:
        """X and Y where Z is up; X and Z negated (forward and left) where Y is up."""
        strength = float(np.linalg.norm(gravity))
        if not strength > 0:
            raise NoSolution("without gravity no direction is up, and there is no polygon")
        up = -np.asarray(gravity, dtype=float) / strength
        first = np.eye(3)[0] - up[0] * up
        if np.linalg.norm(first) < 1e-6:
            first = np.eye(3)[1] - up[1] * up
        first = first / np.linalg.norm(first)
        return cls(first, np.cross(up, first), up)

    def flat(self, points: np.ndarray) -> np.ndarray:
        """(..., 2), m: points seen from above."""
        return np.stack([points @ self.first, points @ self.second], axis=-1)


def support_polygon(stance: Stance, gravity: np.ndarray = DOWN) -> Polytope:
    """The hull of the points of support seen from above (m): the classical base of support."""
    return Polytope.from_points(Level.of(gravity).flat(stance.points))


def static_polygon(
    stance: Stance | Forces, *, mass: float | None = None, gravity: np.ndarray = DOWN
) -> Polytope:
    """Where the centre of mass may stand still, seen from above (m); friction and limits included.

    With ``f = -m g`` the moment about the reference is ``r x f``, so that the place is
    ``up x moment / weight`` (Qiu eq. 4.41). ``mass`` (kg) matters only where forces are limited.
    ``NoSolution`` where the supports cannot carry the weight anywhere.
    """
    forces = stance.forces if isinstance(stance, Stance) else stance
    level = Level.of(gravity)
    weight = _weight(forces, mass, gravity)
    # Force along the vertical only, and no moment about it.
    equations = np.vstack([forces.wrenches[:, 3:].T, forces.wrenches[:, :3] @ level.up])
    target = np.r_[weight * level.up, 0.0]
    # r x f with f = weight * up: its parts along the axes are weight * (r . second, -r . first).
    shadow = np.stack(
        [-forces.wrenches[:, :3] @ level.second, forces.wrenches[:, :3] @ level.first]
    )
    corners = _shadow(equations, target, shadow / weight, forces)
    return Polytope.from_points(corners + level.flat(forces.reference))


def zmp_polygon(
    stance: Stance | Forces,
    com: np.ndarray,
    *,
    mass: float | None = None,
    lift: float = 0.0,
    height: float = 0.0,
    gravity: np.ndarray = DOWN,
) -> Polytope:
    """Where the ZMP may be, on a level ``height`` (m) above the origin, for a CoM at ``com`` (m).

    For a vertical acceleration ``lift`` (m/s2) of the centre of mass and no rate of angular
    momentum: ``zmp = com - (com height) * force across / force up`` (Qiu section 4.2.8).
    """
    forces = stance.forces if isinstance(stance, Stance) else stance
    level, com = Level.of(gravity), np.asarray(com, dtype=float)
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
    corners = _shadow(equations, target, shadow, forces)
    return Polytope.from_points(corners + level.flat(com))


def _weight(forces: Forces, mass: float | None, gravity: np.ndarray) -> float:
    if mass is None:
        if len(forces.C):
            raise NoSolution("forces are limited, so the polygon depends on the mass: give mass=")
        mass = 1.0
    if not mass > 0:
        raise NoSolution(f"mass is above 0 kg, got {mass!r}")
    return float(mass * np.linalg.norm(gravity))


def _shadow(
    equations: np.ndarray, target: np.ndarray, shadow: np.ndarray, forces: Forces
) -> np.ndarray:
    """(corners, 2): extreme points of ``shadow w`` over ``w >= 0, C w <= d, equations w = target``.

    Slack weights turn the limits into equations.
    """
    m = len(forces.C)
    E = np.block([[equations, np.zeros((len(equations), m))], [forces.C, np.eye(m)]])
    e = np.r_[target, forces.d]
    # One newton, or one metre, of every row: the programs then see numbers near one.
    scale = np.abs(E).max(axis=1)
    kept = scale > 1e-12 * scale.max()
    if (np.abs(e[~kept]) > 1e-9 * np.abs(e).max()).any():
        raise NoSolution("the supports cannot carry the weight: nothing acts in some direction")
    E, e = E[kept] / scale[kept, None], e[kept] / scale[kept]
    unit = float(np.abs(e).max()) or 1.0
    S = np.c_[shadow, np.zeros((2, m))]
    return turned_shadow(E, e / unit, S) * unit


def turned_shadow(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(corners, 2): the shadow ``S w`` of ``{w >= 0 | E w = e}``, corner by corner.

    Falls back on ray shooting by linear programs where rounding breaks the turn.
    """
    try:
        basis, tableau, values = _first_basis(E, e)
        return _turn(basis, tableau, values, S)
    except _Stuck:
        return _shot_shadow(E, e, S)


class _Stuck(Exception):
    """The turn did not close."""


TINY = 1e-11


def _first_basis(E: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A feasible basis, its tableau ``B^-1 E`` and values, by phase one of the simplex method."""
    sign = np.where(e < 0, -1.0, 1.0)
    E, e = E * sign[:, None], e * sign
    m, k = E.shape
    table = np.c_[E, np.eye(m)]
    values = e.astype(float).copy()
    basis = np.arange(k, k + m)
    cost = -table[:, :k].sum(axis=0)
    for step in range(50 * (m + k)):
        open_ = np.flatnonzero(cost < -TINY)
        if not len(open_):
            break
        # Bland's rule after a while: it cannot go in circles.
        enter = int(open_[cost[open_].argmin()]) if step < 5 * (m + k) else int(open_[0])
        leave = _leaving(table[:, enter], values, basis)
        if leave is None:
            raise _Stuck
        _exchange(table, values, basis, leave, enter)
        cost = -table[basis >= k][:, :k].sum(axis=0)
    else:
        raise _Stuck
    left = float(values[basis >= k].sum())
    if left > 1e-9 * max(float(np.abs(e).max()), 1e-300):
        raise NoSolution("the supports cannot carry the weight: no contact forces balance it")
    for row in np.flatnonzero(basis >= k):
        enter = int(np.abs(table[row, :k]).argmax())
        if abs(table[row, enter]) > 1e-9:
            _exchange(table, values, basis, int(row), enter)
    real = basis < k
    return basis[real], table[real][:, :k].copy(), np.maximum(values[real], 0.0)


def _leaving(column: np.ndarray, values: np.ndarray, basis: np.ndarray) -> int | None:
    """The row that stops an entering weight first; of equal ones that of the lowest number."""
    stops = np.flatnonzero(column > 1e-10)
    if not len(stops):
        return None
    ratio = values[stops] / column[stops]
    least = ratio.min()
    tied = stops[ratio <= least + 1e-13 * max(1.0, abs(least))]
    # The largest pivot of the tied keeps rounding small; ties in degenerate stances are many.
    return int(tied[column[tied].argmax()])


def _exchange(
    table: np.ndarray, values: np.ndarray, basis: np.ndarray, row: int, column: int
) -> None:
    pivot = table[row, column]
    table[row] /= pivot
    values[row] /= pivot
    factor = table[:, column].copy()
    factor[row] = 0.0
    table -= np.outer(factor, table[row])
    values -= factor * values[row]
    np.maximum(values, 0.0, out=values)
    basis[row] = column


def _turn(basis: np.ndarray, table: np.ndarray, values: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Corners met while the direction turns once around.

    Reduced costs are vectors in the plane: weight j improves direction u when ``u . d_j > 0``. The
    basis is best for u while none does; the next to enter is the first that u meets on its turn.
    """
    k = table.shape[1]
    free = np.ones(k, dtype=bool)
    free[basis] = False
    costs = S - S[:, basis] @ table
    unit = np.abs(S).max() or 1.0
    direction = np.array([1.0, 0.0])
    for _ in range(20 * k + 100):
        gain = np.where(free, direction @ costs, -np.inf)
        enter = int(gain.argmax())
        if gain[enter] <= TINY * unit:
            break
        _step(basis, table, values, free, enter)
        costs = S - S[:, basis] @ table
    else:
        raise _Stuck
    corners = [S[:, basis] @ values]
    turned = 0.0
    for _ in range(40 * k + 200):
        size = np.hypot(*costs)
        felt = free & (size > 1e-10 * unit)
        if not felt.any():
            break
        # d_j begins to gain when the direction is a quarter turn before it.
        angle = np.arctan2(costs[1], costs[0]) - np.arctan2(direction[1], direction[0]) - np.pi / 2
        angle = np.mod(angle + 1e-9, 2 * np.pi) - 1e-9
        angle = np.where(felt, np.maximum(angle, 0.0), np.inf)
        enter = int(angle.argmin())
        if turned + angle[enter] > 2 * np.pi + 1e-6:
            break
        turned += angle[enter]
        c, s = np.cos(angle[enter]), np.sin(angle[enter])
        direction = np.array([[c, -s], [s, c]]) @ direction
        _step(basis, table, values, free, enter)
        costs = S - S[:, basis] @ table
        corners.append(S[:, basis] @ values)
    else:
        raise _Stuck
    if turned and abs(turned - 2 * np.pi) > np.pi:
        raise _Stuck
    return np.array(corners)


def _step(
    basis: np.ndarray, table: np.ndarray, values: np.ndarray, free: np.ndarray, enter: int
) -> None:
    leave = _leaving(table[:, enter], values, basis)
    if leave is None:
        raise _Stuck
    free[basis[leave]], free[enter] = True, False
    _exchange(table, values, basis, leave, enter)


def _shot_shadow(E: np.ndarray, e: np.ndarray, S: np.ndarray) -> np.ndarray:
    from homodyn.balance.projection import shoot

    k = E.shape[1]

    def farthest(directions: np.ndarray) -> np.ndarray:
        found = [maximum(d @ S, -np.eye(k), np.zeros(k), E, e).x for d in directions]
        return np.array(found) @ S.T

    try:
        return shoot(farthest, 2).vertices
    except Infeasible:
        raise NoSolution(
            "the supports cannot carry the weight: no contact forces balance it"
        ) from None
