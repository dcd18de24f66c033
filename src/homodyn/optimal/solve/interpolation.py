"""States and controls of a solution between its nodes, as its transcription defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.transcription.collocation import LegendreCollocation

COLLOCATION = LegendreCollocation()


@dataclass(frozen=True, eq=False)
class PhaseSamples:
    """States and controls at fractions of a phase: (fractions, entries) each."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def interpolate(
    phase: PhaseSolution, at: np.ndarray, interval: np.ndarray | None = None
) -> PhaseSamples:
    """States and controls at fractions of a phase (0 to 1).

    Controls jump at nodes; ``interval`` is the interval that each fraction belongs to. For models
    without quaternions only.
    """
    count = phase.intervals
    k = np.clip((at * count).astype(int), 0, count - 1) if interval is None else interval
    part = at * count - k
    length = phase.duration / count
    if len(phase.a) == count:
        s = (part * length)[:, None]
        q, v, a = phase.q[k], phase.v[k], phase.a[k]
        return PhaseSamples(q + v * s + a * s**2 / 2, v + a * s, a, phase.tau[k], phase.force[k])
    if len(phase.a) == COLLOCATION.degree * count:
        return _collocation_samples(phase, k, part)
    return _node_samples(phase, k, part)


def has_constant_controls(phase: PhaseSolution) -> bool:
    """Whether controls are constant in each interval."""
    return len(phase.control_time) == phase.intervals


def _collocation_samples(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> PhaseSamples:
    """Where controls are polynomials through points, and states their integrals."""
    count = phase.intervals
    length = phase.duration / count
    a, tau, force = (
        x.reshape(count, COLLOCATION.degree, -1)[k] for x in (phase.a, phase.tau, phase.force)
    )
    at = np.array([COLLOCATION.weights(s) for s in part])
    integral = np.array([COLLOCATION.integral_weights(s) for s in part])
    to_points = np.array([COLLOCATION.integral_weights(s) for s in COLLOCATION.points_in_interval])
    q, v = phase.q[k], phase.v[k]
    v_points = v[:, None, :] + length * np.einsum("ij,kjn->kin", to_points, a)
    return PhaseSamples(
        q + length * np.einsum("kj,kjn->kn", integral, v_points),
        v + length * np.einsum("kj,kjn->kn", integral, a),
        np.einsum("kj,kjn->kn", at, a),
        np.einsum("kj,kjn->kn", at, tau),
        np.einsum("kj,kjn->kn", at, force),
    )


def _node_samples(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> PhaseSamples:
    """Where torques are linear between nodes, and forces are not stored."""
    count = phase.intervals
    curve = CubicHermiteSpline(phase.time, phase.q, phase.v)
    time = phase.time[0] + phase.duration * (k + part) / count
    tau = (1 - part[:, None]) * phase.tau[k] + part[:, None] * phase.tau[k + 1]
    return PhaseSamples(curve(time), curve(time, 1), curve(time, 2), tau, np.zeros((len(part), 0)))


def state_interpolant(phase: PhaseSolution, quantity: str) -> Callable[[np.ndarray], np.ndarray]:
    """``"q"`` or ``"v"`` as a function of the fraction of the phase."""
    return lambda fractions: np.asarray(getattr(interpolate(phase, fractions), quantity))
