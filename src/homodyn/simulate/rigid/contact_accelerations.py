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
from homodyn.simulate.rigid.mode_solver import (
    SOLVER_TOLERANCE,
    STABILIZATION_TIME_S,
    row_layout,
    solve_in_modes,
)
from homodyn.simulate.solvers import ConeProblem, ConeSolution, ConeStatus, newton, pivot

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
    layout = row_layout(modes, friction, strengths)
    free = state.free_acceleration(tau)
    moving_force = layout.moving_force
    if moving_force is not None:
        free = free + state.response @ moving_force
    rows = layout.rows
    if not len(rows):
        empty = np.zeros(0)
        trivial = ConeSolution(empty, empty, 0.0, 0, ConeStatus.SOLVED)
        force = np.zeros(len(state.G)) if moving_force is None else moving_force
        return ContactAccelerations(free, force, trivial)
    G = state.G[rows]
    columns = G
    if len(layout.sliding):
        directions = modes.slip_directions_at(state)[layout.sliding]
        pull = -friction[layout.sliding, None] * directions
        tangents = 3 * layout.sliding[:, None] + np.array([1, 2])
        columns = G.copy()
        columns[layout.sliding_rows] += np.einsum("kt,ktv->kv", pull, state.G[tangents])
    response = state.free_inverse @ columns.T
    correction = layout.velocity_gains * state.speed[rows]
    gaps = layout.gaps
    correction[layout.normals] += (state.gap[gaps] - modes.closing_gaps[gaps]) / (
        STABILIZATION_TIME_S**2
    )
    b = G @ free + state.drift[rows] + correction
    A = G @ response
    start = None if guess is None else guess[rows]
    solution = solve_in_modes(layout, A, b, start)
    if solution is None:
        problem = ConeProblem(
            A, b, layout.cones, layout.friction, lower=layout.lower, upper=layout.upper
        )
        solution = solve_cone_problem(problem, start)
    force = np.zeros(len(state.G)) if moving_force is None else moving_force.copy()
    force[rows] += solution.force
    if len(layout.sliding):
        force[tangents] = pull * solution.force[layout.sliding_rows, None]
    return ContactAccelerations(free + response @ solution.force, force, solution)


def true_indices(mask: np.ndarray) -> list[int]:
    """Indices of the true entries of a mask."""
    return [int(k) for k in np.nonzero(mask)[0]]


def solve_cone_problem(problem: ConeProblem, guess: np.ndarray | None) -> ConeSolution:
    """Newton's method from the last forces; pivoting where that fails."""
    solution = newton(problem, start=guess, steps=MAX_NEWTON_STEPS, tolerance=SOLVER_TOLERANCE)
    if solution.status is ConeStatus.UNSOLVED:
        pivoted = pivot(problem, tolerance=SOLVER_TOLERANCE, start=solution.force)
        if pivoted.residual < solution.residual:
            return pivoted
    return solution
