"""Impacts: jumps of the velocities when contacts or limits close.

"stick" is the law of HuMAnS (2006, eq. 1.6, 1.8): all closed contacts come to rest in one
projection in the metric of inertia, and none may open. "cone" lets contacts open and slide:
impulses in friction cones against velocities after the impact, with Newton's restitution (Moreau
1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.rigid.contact_accelerations import solve_cone_problem, true_indices
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import ContactState
from homodyn.simulate.solvers import ConeProblem, ConeSolution, ConeStatus

IMPACT_LAWS = ("cone", "stick")
MAX_RESTITUTION_BISECTIONS = 30
JAM_TIME_S = 1e-7
"""Time in which the free motion presses on a jammed contact."""


@dataclass(frozen=True, eq=False)
class ImpactResult:
    """The result of an impact."""

    velocity: np.ndarray
    """Velocities after the impact, (nv,)."""
    impulse: np.ndarray
    """Impulse of every row (N s, N m s)."""
    solution: ConeSolution
    loss: float
    """Kinetic energy that is lost relative to the surfaces (J)."""
    restitution: float
    """Fraction of the restitution that is possible without a gain of energy."""


def resolve_impact(
    state: ContactState,
    modes: ContactModes,
    *,
    friction: np.ndarray,
    restitution: np.ndarray,
    rest_speed: float,
    law: str = "cone",
) -> ImpactResult:
    """The impact of all contacts and limits that are closed in ``modes``.

    Restitution and friction together can increase the kinetic energy in oblique impacts (Kane
    1984); restitution is then reduced for all contacts of the impact until they do not.
    """
    if law == "stick":
        return _stick_impact(state, modes)
    normal = modes.normal_rows()
    speed = state.speed[normal]
    coefficients = np.concatenate([restitution, np.zeros(len(modes.closed) - modes.contacts)])
    bounce = np.where(speed < -rest_speed, -coefficients * speed, 0.0)
    impact = _cone_impact(state, modes, friction, bounce, 1.0)
    low, high = 0.0, 1.0
    if impact.loss >= -1e-12 * max(state.kinetic_energy, 1e-300) or not bounce.any():
        return impact
    for _ in range(MAX_RESTITUTION_BISECTIONS):
        middle = (low + high) / 2
        impact = _cone_impact(state, modes, friction, middle * bounce, middle)
        low, high = (middle, high) if impact.loss >= 0 else (low, middle)
    return _cone_impact(state, modes, friction, low * bounce, low)


def jam_impact(
    state: ContactState, modes: ContactModes, tau: np.ndarray, friction: np.ndarray
) -> ImpactResult:
    """The impulse on a jammed contact, for which no finite force is consistent with the motion.

    Friction of a sliding contact can press it into the ground (Painleve 1895). An impulse then
    stops the slip at once, an impact without collision (Genot and Brogliato 1999). It is that of a
    very short step of the free motion.
    """
    rows = modes.normal_rows()
    rate = (state.G @ state.free_acceleration(tau) + state.drift)[rows]
    return _cone_impact(state, modes, friction, np.maximum(-JAM_TIME_S * rate, 0.0), 0.0)


def suppress_slow_rebound(
    state: ContactState, modes: ContactModes, impact: ImpactResult, slow: float
) -> ImpactResult:
    """The impact without rebound if all contacts would leave it slower than ``slow`` (m/s).

    A body that rocks on its edges would otherwise have infinitely many, ever weaker impacts. HuMAnS
    lets no contact open in an impact for that reason. Here the velocities along all normals are set
    to zero by a projection in the metric of inertia, which cannot increase the energy.
    """
    rows = modes.normal_rows()[modes.closed]
    leaving = state.G[rows] @ impact.velocity - state.surface[rows]
    if not len(rows) or not 0 < leaving.max() < slow:
        return impact
    impulse = impact.impulse.copy()
    A = state.A[np.ix_(rows, rows)]
    impulse[rows] -= np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ leaving
    return _impact_result(state, impulse, impact.solution, impact.restitution)


def _cone_impact(
    state: ContactState,
    modes: ContactModes,
    friction: np.ndarray,
    bounce: np.ndarray,
    fraction: float,
) -> ImpactResult:
    count = modes.contacts
    rows: list[int] = []
    cones, coefficients = [], []
    target = np.zeros(len(state.G))
    target[modes.normal_rows()] = bounce
    for k in true_indices(modes.closed[:count]):
        cones.append((len(rows), len(rows) + 1, len(rows) + 2))
        coefficients.append(float(friction[k]))
        rows += range(3 * k, 3 * k + 3)
    rows += [3 * count + k for k in true_indices(modes.closed[count:])]
    problem = ConeProblem(
        state.A[np.ix_(rows, rows)], (state.speed - target)[rows], tuple(cones), coefficients
    )
    solution = solve_cone_problem(problem, None)
    impulse = np.zeros(len(state.G))
    impulse[rows] = solution.force
    return _impact_result(state, impulse, solution, fraction)


def _stick_impact(state: ContactState, modes: ContactModes) -> ImpactResult:
    count = modes.contacts
    rows = [i for k in true_indices(modes.closed[:count]) for i in range(3 * k, 3 * k + 3)]
    rows += [3 * count + k for k in true_indices(modes.closed[count:])]
    A, b = state.A[np.ix_(rows, rows)], state.speed[rows]
    impulse = np.zeros(len(state.G))
    impulse[rows] = -np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ b
    residual = float(np.abs(A @ impulse[rows] + b).max(initial=0.0))
    consistent = residual <= 1e-9 * max(np.abs(b).max(initial=0.0), 1e-300)
    status = ConeStatus.SOLVED if consistent else ConeStatus.INCONSISTENT
    return _impact_result(state, impulse, ConeSolution(impulse, b, residual, 1, status), 0.0)


def _impact_result(
    state: ContactState, impulse: np.ndarray, solution: ConeSolution, fraction: float
) -> ImpactResult:
    change = state.response @ impulse
    after = state.v + change
    # v'Hv - v+'Hv+ without the difference of two large numbers.
    loss = -float(change @ state.H @ (state.v + after)) / 2 + float(impulse @ state.surface)
    return ImpactResult(after, impulse, solution, loss, fraction)
