"""Impacts: velocities that jump when contacts or limits are struck.

"stick" is HuMAnS' law (2006, eq. 1.6, 1.8): all closed contacts come to rest in one projection, in
the metric of inertia, and none may open. "cone" lets contacts open and slide: impulses in friction
cones against velocities after the impact, with Newton's restitution (Moreau 1988).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.rigid.contact_accelerations import solve_cone_problem
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import ContactState
from homodyn.simulate.solvers import ConeProblem, ConeSolution, ConeStatus

IMPACT_LAWS = ("cone", "stick")
MAX_BISECTIONS = 30
JAM_TIME_S = 1e-7
"""s: in which the free motion presses a jammed contact on."""


@dataclass(frozen=True, eq=False)
class ImpactResult:
    """Velocities after an impact, and the impulse of every row (N s, N m s)."""

    velocity: np.ndarray
    impulse: np.ndarray
    solution: ConeSolution
    loss: float
    """Kinetic energy that is gone (J)."""
    restitution: float
    """The share of the restitution asked for that could be had without making energy."""


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

    Restitution and friction together can make kinetic energy where blows are oblique (Kane 1984);
    restitution is then lowered for all contacts of the impact until they do not.
    """
    if law == "stick":
        return _stick_impact(state, modes)
    normal = modes.normal_rows()
    speed = state.speed[normal]
    share = np.concatenate([restitution, np.zeros(len(modes.closed) - modes.contacts)])
    bounce = np.where(speed < -rest_speed, -share * speed, 0.0)
    struck = _cone_impact(state, modes, friction, bounce, 1.0)
    low, high = 0.0, 1.0
    if struck.loss >= -1e-12 * max(state.kinetic_energy, 1e-300) or not bounce.any():
        return struck
    for _ in range(MAX_BISECTIONS):
        middle = (low + high) / 2
        struck = _cone_impact(state, modes, friction, middle * bounce, middle)
        low, high = (middle, high) if struck.loss >= 0 else (low, middle)
    return _cone_impact(state, modes, friction, low * bounce, low)


def jam_impact(
    state: ContactState, modes: ContactModes, tau: np.ndarray, friction: np.ndarray
) -> ImpactResult:
    """The blow of a contact that slides into the ground faster than any force can hold it.

    Where friction of a sliding contact presses it on (Painleve 1895) no finite force fits, but an
    impulse does: it stops the slip at once, an impact without collision (Genot and Brogliato 1999).
    It is that of a very short step in which the free motion goes on.
    """
    rows = modes.normal_rows()
    rate = (state.G @ state.free_acceleration(tau) + state.drift)[rows]
    return _cone_impact(state, modes, friction, np.maximum(-JAM_TIME_S * rate, 0.0), 0.0)


def suppress_slow_rebound(
    state: ContactState, modes: ContactModes, struck: ImpactResult, slow: float
) -> ImpactResult:
    """The impact with contacts held that would leave it slower than ``slow`` (m/s), if all do.

    A body that rocks on its edges would else strike ever faster and weaker, without end. HuMAnS
    lets no contact open in an impact for that reason; here the velocities after it are brought, by
    a projection in the metric of inertia that cannot make energy, to rest along all normals.
    """
    rows = modes.normal_rows()[modes.closed]
    leaving = state.G[rows] @ struck.velocity
    if not len(rows) or not 0 < leaving.max() < slow:
        return struck
    impulse = struck.impulse.copy()
    A = state.A[np.ix_(rows, rows)]
    impulse[rows] -= np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ leaving
    return _impact_result(state, impulse, struck.solution, struck.restitution)


def _cone_impact(
    state: ContactState, modes: ContactModes, friction: np.ndarray, bounce: np.ndarray, share: float
) -> ImpactResult:
    count = modes.contacts
    rows: list[int] = []
    cones, coefficients = [], []
    wanted = np.zeros(len(state.G))
    wanted[modes.normal_rows()] = bounce
    for k in np.nonzero(modes.closed[:count])[0]:
        cones.append((len(rows), len(rows) + 1, len(rows) + 2))
        coefficients.append(float(friction[k]))
        rows += range(3 * k, 3 * k + 3)
    rows += [3 * count + int(k) for k in np.nonzero(modes.closed[count:])[0]]
    problem = ConeProblem(
        state.A[np.ix_(rows, rows)], (state.speed - wanted)[rows], tuple(cones), coefficients
    )
    found = solve_cone_problem(problem, None)
    impulse = np.zeros(len(state.G))
    impulse[rows] = found.force
    return _impact_result(state, impulse, found, share)


def _stick_impact(state: ContactState, modes: ContactModes) -> ImpactResult:
    count = modes.contacts
    rows = [i for k in np.nonzero(modes.closed[:count])[0] for i in range(3 * k, 3 * k + 3)]
    rows += [3 * count + int(k) for k in np.nonzero(modes.closed[count:])[0]]
    A, b = state.A[np.ix_(rows, rows)], state.speed[rows]
    impulse = np.zeros(len(state.G))
    impulse[rows] = -np.linalg.pinv(A, rcond=1e-11, hermitian=True) @ b
    left = float(np.abs(A @ impulse[rows] + b).max(initial=0.0))
    good = left <= 1e-9 * max(np.abs(b).max(initial=0.0), 1e-300)
    status = ConeStatus.SOLVED if good else ConeStatus.INCONSISTENT
    return _impact_result(state, impulse, ConeSolution(impulse, b, left, 1, status), 0.0)


def _impact_result(
    state: ContactState, impulse: np.ndarray, found: ConeSolution, share: float
) -> ImpactResult:
    change = state.response @ impulse
    after = state.v + change
    # v'Hv - v+'Hv+ without the difference of two large numbers.
    loss = -float(change @ state.H @ (state.v + after)) / 2
    return ImpactResult(after, impulse, found, loss, share)
