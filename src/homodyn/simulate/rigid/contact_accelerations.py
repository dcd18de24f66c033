"""Accelerations of a body on rigid contacts: HuMAnS' quadratic program, with friction added.

Among all accelerations in which closed contacts do not sink and resting ones do not slide, the
true one is nearest to the free one in the metric of inertia (Gauss); its dual asks for the forces

    f_n >= 0   against   G_n a + drift >= 0,    resting: |f_t| <= mu f_n against G_t a + drift
    sliding:   f_t = -mu f_n (direction of slip)

so that contacts open, and rest gives way to sliding, without an event (HuMAnS 2006, eq. 1.7, has
resting contacts only). Errors of position and velocity in closed contacts die out within
``STABILIZATION_TIME_S``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import ContactState
from homodyn.simulate.solvers import ConeProblem, ConeSolution, ConeStatus, newton, pivot

STABILIZATION_TIME_S = 0.01
"""s: in which what integration lets slip in closed contacts is taken back."""
SOLVER_TOLERANCE = 1e-9
"""Of forces, relative to the accelerations or speeds that they meet."""
MAX_NEWTON_STEPS = 8
"""Of Newton's method, before pivoting is faster."""


@dataclass(frozen=True, eq=False)
class ContactAccelerations:
    """Accelerations, the forces of all rows, and how the solver ended."""

    acceleration: np.ndarray
    force: np.ndarray
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

    ``friction`` is the coefficient of each contact, ``strengths`` (N m, N) that of each rubbing
    coordinate. ``guess`` holds forces of all rows to start from.
    """
    count, rows = modes.contacts, len(state.G)
    limits = len(modes.closed) - count
    pick: list[np.ndarray] = []  # what is to vanish or be positive
    push: list[np.ndarray] = []  # what a unit of each unknown does to the rows
    cones: list[tuple[int, ...]] = []
    coefficients: list[float] = []
    lower: list[float] = []
    upper: list[float] = []
    unit = np.eye(rows)
    ways = modes.slip_directions_at(state)
    steady = np.zeros(rows)

    def row(i: int, column: np.ndarray, low: float, high: float) -> None:
        pick.append(unit[i])
        push.append(column)
        lower.append(low)
        upper.append(high)

    normals = modes.normal_rows()
    steady[normals] = 2 * state.speed[normals] / STABILIZATION_TIME_S
    steady[normals] += (state.gap - modes.closing_gaps) / STABILIZATION_TIME_S**2
    for k in _indices(modes.closed[:count]):
        n = 3 * k
        if modes.sliding[k]:
            column = unit[n].copy()
            column[n + 1 : n + 3] = -friction[k] * ways[k]
            row(n, column, 0.0, np.inf)
            continue
        start = len(pick)
        for i in range(n, n + 3):
            row(i, unit[i], 0.0, np.inf)
        steady[n + 1 : n + 3] = state.speed[n + 1 : n + 3] / STABILIZATION_TIME_S
        cones.append((start, start + 1, start + 2))
        coefficients.append(float(friction[k]))
    for k in _indices(modes.closed[count:]):
        row(3 * count + k, unit[3 * count + k], 0.0, np.inf)
    rubbing = np.zeros(rows)
    for k, (way, strength) in enumerate(zip(modes.moving, strengths, strict=True)):
        i = 3 * count + limits + k
        if way:
            rubbing[i] = -way * strength
        else:
            steady[i] = state.speed[i] / STABILIZATION_TIME_S
            row(i, unit[i], -float(strength), float(strength))
    free = state.free_acceleration(tau) + state.response @ rubbing
    if not pick:
        none = np.zeros(0)
        done = ConeSolution(none, none, 0.0, 0, ConeStatus.SOLVED)
        return ContactAccelerations(free, rubbing, done)
    R, C = np.array(pick), np.array(push).T
    b = R @ (state.G @ free + state.drift + steady)
    problem = ConeProblem(R @ state.A @ C, b, tuple(cones), coefficients, lower, upper)
    solution = solve_cone_problem(problem, None if guess is None else R @ guess)
    force = C @ solution.force
    return ContactAccelerations(free + state.response @ force, force + rubbing, solution)


def _indices(chosen: np.ndarray) -> list[int]:
    return [int(k) for k in np.nonzero(chosen)[0]]


def solve_cone_problem(problem: ConeProblem, guess: np.ndarray | None) -> ConeSolution:
    """Newton's method from the last forces; pivoting where that fails."""
    found = newton(problem, start=guess, steps=MAX_NEWTON_STEPS, tolerance=SOLVER_TOLERANCE)
    if found.status is ConeStatus.UNSOLVED:
        again = pivot(problem, tolerance=SOLVER_TOLERANCE)
        if again.residual < found.residual:
            return again
    return found
