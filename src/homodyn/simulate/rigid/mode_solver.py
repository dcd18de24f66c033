"""Forces of rigid contacts whose modes are those of the last evaluation.

Between events the contacts that are open, stick and slide change rarely. One semismooth Newton
step in the modes of the last forces then solves the problem of `contact_accelerations`. This module
takes that step with arrays that are prepared once per set of modes; `solve_cone_problem` solves the
rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.solvers import ConeSolution, ConeStatus
from homodyn.simulate.solvers.cone_problem import MIN_DIVISOR

STABILIZATION_TIME_S = 0.01
"""Time constant with which errors of integration in closed contacts are corrected."""
SOLVER_TOLERANCE = 1e-9
"""Residual relative to the accelerations or velocities without forces."""
MIN_ACCELERATION_SCALE = 1.0
"""m/s2, rad/s2: smaller accelerations count as this one, since rounding errors do not shrink with
them."""
REFINED_TOLERANCE = 1e-13
"""Residual relative to the same below which refinement ends."""
PROXIMAL_WEIGHT = 1e-7
"""Weight of the distance to the last forces, relative to the largest diagonal entry; it makes the
equations of dependent rows regular, and refinement removes its effect on the motion."""
MAX_REFINEMENTS = 4
MAX_CACHED_LAYOUTS = 256


@dataclass(frozen=True, eq=False)
class RowLayout:
    """The rows of a set of modes: places, bounds and cones."""

    rows: np.ndarray
    """Rows of the contact state that have a force to solve for."""
    sliding: np.ndarray
    """Contacts that slide."""
    sliding_rows: np.ndarray
    """Place of their normals among the rows."""
    normals: np.ndarray
    """Places of normals and limits among the rows."""
    gaps: np.ndarray
    """Their contacts and limits."""
    velocity_gains: np.ndarray
    """Acceleration that corrects a unit of velocity, for each row (1/s)."""
    cones: tuple[tuple[int, ...], ...]
    cone_rows: np.ndarray
    """(cones, 3): places of normal and tangents of resting contacts."""
    friction: np.ndarray
    """Coefficient of each cone."""
    lower: np.ndarray
    upper: np.ndarray
    bounded: np.ndarray
    """Places of the rows that are in no cone."""
    moving_force: np.ndarray | None
    """Forces of the coordinates with dry friction that move, over all rows; None without them."""


def row_layout(modes: ContactModes, friction: np.ndarray, strengths: np.ndarray) -> RowLayout:
    """The rows of the present modes."""
    return _row_layout(
        modes.contacts,
        modes.closed.tobytes(),
        modes.sliding.tobytes(),
        np.asarray(modes.moving, float).tobytes(),
        np.asarray(friction, float).tobytes(),
        np.asarray(strengths, float).tobytes(),
    )


@lru_cache(maxsize=MAX_CACHED_LAYOUTS)
def _row_layout(
    count: int, closed_: bytes, sliding_: bytes, moving_: bytes, friction_: bytes, strengths_: bytes
) -> RowLayout:
    closed, sliding = np.frombuffer(closed_, bool), np.frombuffer(sliding_, bool)
    moving, friction, strengths = map(np.frombuffer, (moving_, friction_, strengths_))
    limits = len(closed) - count
    total = 3 * count + limits + len(moving)
    rows: list[int] = []
    normals, gaps, gains = [], [], []
    cones: list[tuple[int, ...]] = []
    sliding_rows, bounds = [], {}
    for k in np.nonzero(closed)[0].tolist():
        place = len(rows)
        normals.append(place)
        gaps.append(k)
        rows.append(3 * k if k < count else 3 * count + k - count)
        gains.append(2 / STABILIZATION_TIME_S)
        if k < count and not sliding[k]:
            cones.append((place, place + 1, place + 2))
            rows += [3 * k + 1, 3 * k + 2]
            gains += [1 / STABILIZATION_TIME_S] * 2
        elif k < count:
            sliding_rows.append(place)
    force = np.zeros(total)
    for k, (direction, strength) in enumerate(zip(moving, strengths, strict=True)):
        row = 3 * count + limits + k
        if direction:
            force[row] = -direction * strength
        else:
            bounds[len(rows)] = strength
            rows.append(row)
            gains.append(1 / STABILIZATION_TIME_S)
    lower, upper = np.zeros(len(rows)), np.full(len(rows), np.inf)
    for place, strength in bounds.items():
        lower[place], upper[place] = -strength, strength
    inside = {row for cone in cones for row in cone}
    resting = [k for k in np.nonzero(closed[:count])[0] if not sliding[k]]
    return RowLayout(
        np.array(rows, int),
        np.nonzero(closed[:count] & sliding)[0],
        np.array(sliding_rows, int),
        np.array(normals, int),
        np.array(gaps, int),
        np.array(gains),
        tuple(cones),
        np.array(cones, int).reshape(-1, 3),
        friction[resting],
        lower,
        upper,
        np.array([k for k in range(len(rows)) if k not in inside], int),
        force if moving.any() else None,
    )


def solve_in_modes(
    layout: RowLayout, A: np.ndarray, b: np.ndarray, start: np.ndarray | None
) -> ConeSolution | None:
    """Forces by one Newton step in likely modes; None if that is not enough.

    Args:
        layout: The rows.
        A: Accelerations of the rows for unit forces, (rows, rows).
        b: Accelerations of the rows without these forces, (rows,).
        start: The last forces, (rows,).

    Returns:
        The solution with the tolerance of `solve_cone_problem`: in the modes of the last forces,
        and nearest to them where rows are dependent; or the one of smallest norm with all contacts
        sticking, in which dependent rows do not act against each other. None if both violate the
        law.
    """
    scales = _row_scales(layout, A)
    if start is not None:
        active = _active_rows(layout, start, start - (A @ start + b) / scales)
        if active is not None:
            solution = _solve_active(layout, A, b, scales, start, active)
            if solution is not None:
                return solution
    return _solve_active(layout, A, b, scales, np.zeros(len(b)), np.ones(len(b), bool))


def _solve_active(
    layout: RowLayout,
    A: np.ndarray,
    b: np.ndarray,
    scales: np.ndarray,
    start: np.ndarray,
    active: np.ndarray,
) -> ConeSolution | None:
    """Forces of the active rows, nearest to the given ones; None if they violate the law."""
    allowed = max(float(np.abs(b).max()), MIN_ACCELERATION_SCALE)
    force = start.copy()
    force[~active] = 0.0
    places = np.nonzero(active)[0]
    if len(places):
        square = A[np.ix_(places, places)]
        regular = square + np.diag(np.full(len(places), PROXIMAL_WEIGHT * square.max()))
        lu, pivots, failed = dgetrf(regular, overwrite_a=True)
        if failed:
            return None
        for _ in range(MAX_REFINEMENTS):
            remainder = (A @ force + b)[places]
            if np.abs(remainder).max() <= REFINED_TOLERANCE * allowed:
                break
            force[places] -= dgetrs(lu, pivots, remainder)[0]
    motion = A @ force + b
    residual = float(np.abs(_violation(layout, force, motion, scales)).max())
    if not residual <= SOLVER_TOLERANCE * allowed:
        return None
    return ConeSolution(force, motion, residual, 1, ConeStatus.SOLVED)


def _row_scales(layout: RowLayout, A: np.ndarray) -> np.ndarray:
    """`row_scales` of the solvers for arrays."""
    scales = A.diagonal().copy()
    if len(layout.cone_rows):
        s, t = layout.cone_rows[:, 1], layout.cone_rows[:, 2]
        mean, half = (scales[s] + scales[t]) / 2, (scales[s] - scales[t]) / 2
        scales[s] = scales[t] = mean + np.sqrt(half**2 + A[s, t] ** 2)
    scales[scales <= 0] = 1.0
    return scales


def _active_rows(layout: RowLayout, force: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """The rows whose motion vanishes in the modes of a force; None if a force is at a bound.

    The others have no force.
    """
    active = np.zeros(len(force), bool)
    bounded = layout.bounded
    inside = target[bounded] > layout.lower[bounded]
    if (target[bounded] >= layout.upper[bounded]).any():
        return None
    if (~inside & (layout.lower[bounded] < 0)).any():
        return None
    active[bounded] = inside
    if len(layout.cone_rows):
        n, tangents = layout.cone_rows[:, 0], layout.cone_rows[:, 1:]
        closed = target[n] > 0
        radius = layout.friction * np.maximum(force[n], 0.0)
        y = target[tangents]
        if (closed & ((y * y).sum(1) > radius**2)).any():
            return None
        active[n] = closed
        active[tangents] = closed[:, None]
    return active


def _violation(
    layout: RowLayout, force: np.ndarray, motion: np.ndarray, scales: np.ndarray
) -> np.ndarray:
    """`violations` of the solvers for arrays."""
    target = force - motion / scales
    projected = np.minimum(np.maximum(target, layout.lower), layout.upper)
    if len(layout.cone_rows):
        n, tangents = layout.cone_rows[:, 0], layout.cone_rows[:, 1:]
        projected[n] = np.maximum(target[n], 0.0)
        y = target[tangents]
        radius = layout.friction * np.maximum(force[n], 0.0)
        length = np.maximum(np.sqrt((y * y).sum(1)), MIN_DIVISOR)
        projected[tangents] = y * np.minimum(1.0, radius / length)[:, None]
    return np.asarray(scales * (force - projected))
