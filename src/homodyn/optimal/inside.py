"""What a phase of an answer says between its nodes: states and controls at any part of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from homodyn.optimal.transcription import LegendreCollocation

if TYPE_CHECKING:
    from homodyn.optimal.solution import PhaseSolution

POINTS = LegendreCollocation()


@dataclass(frozen=True, eq=False)
class Inside:
    """States and controls at some parts of a phase: (parts, entries) each."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def inside(phase: PhaseSolution, at: np.ndarray, interval: np.ndarray | None = None) -> Inside:
    """At parts of a phase (0 to 1), as its transcription means it.

    Controls jump at nodes; ``interval`` tells which one a part belongs to. Models without
    quaternions only.
    """
    count = len(phase.time) - 1
    k = np.clip((at * count).astype(int), 0, count - 1) if interval is None else interval
    part = at * count - k
    length = phase.duration / count
    if len(phase.a) == count:
        s = (part * length)[:, None]
        q, v, a = phase.q[k], phase.v[k], phase.a[k]
        return Inside(q + v * s + a * s**2 / 2, v + a * s, phase.tau[k], phase.force[k])
    if len(phase.a) == POINTS.degree * count:
        return _through_points(phase, k, part)
    return _between_nodes(phase, k, part)


def held(phase: PhaseSolution) -> bool:
    """Whether controls are held over intervals."""
    return len(phase.control_time) == len(phase.time) - 1


def _through_points(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> Inside:
    """Where controls are polynomials through points, and states integrals of such."""
    count = len(phase.time) - 1
    length = phase.duration / count
    a, tau, force = (
        x.reshape(count, POINTS.degree, -1)[k] for x in (phase.a, phase.tau, phase.force)
    )
    at = np.array([POINTS.weights(s) for s in part])
    gone = np.array([POINTS.gone(s) for s in part])
    within = np.array([POINTS.gone(s) for s in POINTS.points])
    q, v = phase.q[k], phase.v[k]
    v_points = v[:, None, :] + length * np.einsum("ij,kjn->kin", within, a)
    return Inside(
        q + length * np.einsum("kj,kjn->kn", gone, v_points),
        v + length * np.einsum("kj,kjn->kn", gone, a),
        np.einsum("kj,kjn->kn", at, tau),
        np.einsum("kj,kjn->kn", at, force),
    )


def _between_nodes(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> Inside:
    """Where torques are linear from node to node, and forces nobody knows."""
    count = len(phase.time) - 1
    curve = CubicHermiteSpline(phase.time, phase.q, phase.v)
    time = phase.time[0] + phase.duration * (k + part) / count
    tau = (1 - part[:, None]) * phase.tau[k] + part[:, None] * phase.tau[k + 1]
    return Inside(curve(time), curve(time, 1), tau, np.zeros((len(part), 0)))


def state_inside(phase: PhaseSolution, quantity: str) -> Callable[[np.ndarray], np.ndarray]:
    """``"q"`` or ``"v"`` as a function of the part of the phase that has passed."""
    return lambda fractions: np.asarray(getattr(inside(phase, fractions), quantity))
