"""Accelerations of a body on rigid contacts: the quadratic program of HuMAnS, with friction.

Among all accelerations in which closed contacts do not penetrate and resting ones do not slide, the
true one is nearest to the free one in the metric of inertia (Gauss). Its dual problem is for the
forces

    f_n >= 0   against   G_n a + drift >= 0,    resting: |f_t| <= mu f_n against G_t a + drift
    sliding:   f_t = -mu f_n (direction of slip)

so that contacts open, and resting contacts start to slide, without an event (HuMAnS 2006, eq. 1.7,
has resting contacts only). Errors of position and velocity in closed contacts decay within
``STABILIZATION_TIME_S``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import ContactState
from homodyn.simulate.solvers import ConeProblem, ConeSolution, ConeStatus, newton, pivot

STABILIZATION_TIME_S = 0.01
"""Time constant with which errors of integration in closed contacts are corrected."""
SOLVER_TOLERANCE = 1e-9
"""Residual relative to the accelerations or velocities without forces."""
MAX_NEWTON_STEPS = 8
"""Steps of Newton's method after which pivoting is faster."""


@dataclass(frozen=True, eq=False)
class ContactAccelerations:
    """Accelerations, the forces of all rows, and the solution of the cone problem."""

    acceleration: np.ndarray
    """(nv,)."""
    force: np.ndarray
    """(rows,), N or N m."""
    solution: ConeSolution


def contact_accelerations(
    state: ContactState,
    modes: ContactModes,
    tau: np.ndarray,
    friction: np.ndarray,
    strengths: np.ndarray,
    guess: np.ndarray | None = None,
) -> ContactAccelerations:
    """Accelerations under torques ``tau`` in the given modes.

    ``friction`` is the coefficient of each contact, ``strengths`` (N m, N) the dry friction of each
    coordinate that has one. ``guess`` contains initial forces of all rows.
    """
    count, rows = modes.contacts, len(state.G)
    limits = len(modes.closed) - count
    selected: list[np.ndarray] = []  # rows whose motion is to vanish or be positive
    columns: list[np.ndarray] = []  # effect of a unit of each unknown on the rows
    cones: list[tuple[int, ...]] = []
    coefficients: list[float] = []
    lower: list[float] = []
    upper: list[float] = []
    unit = np.eye(rows)
    directions = modes.slip_directions_at(state)
    correction = np.zeros(rows)

    def add_row(i: int, column: np.ndarray, low: float, high: float) -> None:
        selected.append(unit[i])
        columns.append(column)
        lower.append(low)
        upper.append(high)

    normals = modes.normal_rows()
    correction[normals] = 2 * state.speed[normals] / STABILIZATION_TIME_S
    correction[normals] += (state.gap - modes.closing_gaps) / STABILIZATION_TIME_S**2
    for k in true_indices(modes.closed[:count]):
        n = 3 * k
        if modes.sliding[k]:
            column = unit[n].copy()
            column[n + 1 : n + 3] = -friction[k] * directions[k]
            add_row(n, column, 0.0, np.inf)
            continue
        start = len(selected)
        for i in range(n, n + 3):
            add_row(i, unit[i], 0.0, np.inf)
        correction[n + 1 : n + 3] = state.speed[n + 1 : n + 3] / STABILIZATION_TIME_S
        cones.append((start, start + 1, start + 2))
        coefficients.append(float(friction[k]))
    for k in true_indices(modes.closed[count:]):
        add_row(3 * count + k, unit[3 * count + k], 0.0, np.inf)
    sliding_force = np.zeros(rows)
    for k, (direction, strength) in enumerate(zip(modes.moving, strengths, strict=True)):
        i = 3 * count + limits + k
        if direction:
            sliding_force[i] = -direction * strength
        else:
            correction[i] = state.speed[i] / STABILIZATION_TIME_S
            add_row(i, unit[i], -float(strength), float(strength))
    free = state.free_acceleration(tau) + state.response @ sliding_force
    if not selected:
        empty = np.zeros(0)
        trivial = ConeSolution(empty, empty, 0.0, 0, ConeStatus.SOLVED)
        return ContactAccelerations(free, sliding_force, trivial)
    R, C = np.array(selected), np.array(columns).T
    b = R @ (state.G @ free + state.drift + correction)
    problem = ConeProblem(R @ state.A @ C, b, tuple(cones), coefficients, lower, upper)
    solution = solve_cone_problem(problem, None if guess is None else R @ guess)
    force = C @ solution.force
    return ContactAccelerations(free + state.response @ force, force + sliding_force, solution)


def true_indices(mask: np.ndarray) -> list[int]:
    """Indices of the true entries of a mask."""
    return [int(k) for k in np.nonzero(mask)[0]]


def solve_cone_problem(problem: ConeProblem, guess: np.ndarray | None) -> ConeSolution:
    """Newton's method from the last forces; pivoting where that fails."""
    solution = newton(problem, start=guess, steps=MAX_NEWTON_STEPS, tolerance=SOLVER_TOLERANCE)
    if solution.status is ConeStatus.UNSOLVED:
        pivoted = pivot(problem, tolerance=SOLVER_TOLERANCE)
        if pivoted.residual < solution.residual:
            return pivoted
    return solution
