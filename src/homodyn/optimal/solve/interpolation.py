"""States and controls of a solution between its nodes, as its transcription defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from homodyn.model import Model
from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.transcription.collocation import LegendreCollocation

COLLOCATION = LegendreCollocation()


@dataclass(frozen=True, eq=False)
class ControlSamples:
    """Accelerations, torques and contact forces at fractions of a phase: (fractions, entries)."""

    a: np.ndarray
    tau: np.ndarray
    force: np.ndarray


@dataclass(frozen=True, eq=False)
class PhaseSamples:
    """States and controls at fractions of a phase: (fractions, entries) each."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def interpolate(
    phase: PhaseSolution,
    at: np.ndarray,
    interval: np.ndarray | None = None,
    model: Model | None = None,
) -> PhaseSamples:
    """States and controls at fractions of a phase (0 to 1).

    Controls jump at nodes; ``interval`` is the interval that each fraction belongs to. Quaternions
    need the model and constant controls: see `interpolates_states`.
    """
    k, part = _locate(phase, at, interval)
    controls = _controls(phase, k, part)
    q, v = _states(phase, k, part, model)
    return PhaseSamples(q, v, controls.a, controls.tau, controls.force)


def interpolate_controls(
    phase: PhaseSolution, at: np.ndarray, interval: np.ndarray | None = None
) -> ControlSamples:
    """Controls at fractions of a phase (0 to 1), for any model."""
    return _controls(phase, *_locate(phase, at, interval))


def has_constant_controls(phase: PhaseSolution) -> bool:
    """Whether controls are constant in each interval."""
    return len(phase.control_time) == phase.intervals


def interpolates_states(phase: PhaseSolution) -> bool:
    """Whether states between the nodes are known: not where polynomials go through quaternions."""
    return phase.q.shape == phase.v.shape or has_constant_controls(phase)


def _locate(
    phase: PhaseSolution, at: np.ndarray, interval: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of each fraction of the phase, and the fraction of that interval."""
    count = phase.intervals
    k = np.clip((at * count).astype(int), 0, count - 1) if interval is None else interval
    return k, at * count - k


def _states(
    phase: PhaseSolution, k: np.ndarray, part: np.ndarray, model: Model | None
) -> tuple[np.ndarray, np.ndarray]:
    count = phase.intervals
    length = phase.duration / count
    if len(phase.a) == count:
        s = (part * length)[:, None]
        q, v, a = phase.q[k], phase.v[k], phase.a[k]
        if model is not None and model.nq != model.nv:
            return np.asarray(model.integrate(q, v * s + a * s**2 / 2)), v + a * s
        return q + v * s + a * s**2 / 2, v + a * s
    if len(phase.a) == COLLOCATION.degree * count:
        return _collocation_states(phase, k, part)
    curve = scipy.interpolate.CubicHermiteSpline(phase.time, phase.q, phase.v)
    time = phase.time[0] + phase.duration * (k + part) / count
    return curve(time), curve(time, 1)


def _collocation_states(
    phase: PhaseSolution, k: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """States are integrals of the polynomials of the accelerations."""
    count = phase.intervals
    length = phase.duration / count
    a = phase.a.reshape(count, COLLOCATION.degree, -1)[k]
    integral = np.array([COLLOCATION.integral_weights(s) for s in part])
    to_points = np.array([COLLOCATION.integral_weights(s) for s in COLLOCATION.points_in_interval])
    q, v = phase.q[k], phase.v[k]
    v_points = v[:, None, :] + length * np.einsum("ij,kjn->kin", to_points, a)
    return (
        q + length * np.einsum("kj,kjn->kn", integral, v_points),
        v + length * np.einsum("kj,kjn->kn", integral, a),
    )


def _controls(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> ControlSamples:
    count = phase.intervals
    if len(phase.a) == count:
        return ControlSamples(phase.a[k], phase.tau[k], phase.force[k])
    if len(phase.a) == COLLOCATION.degree * count:
        weights = np.array([COLLOCATION.weights(s) for s in part])
        return ControlSamples(
            *(
                np.einsum("kj,kjn->kn", weights, x.reshape(count, COLLOCATION.degree, -1)[k])
                for x in (phase.a, phase.tau, phase.force)
            )
        )
    return _node_controls(phase, k, part)


def _node_controls(phase: PhaseSolution, k: np.ndarray, part: np.ndarray) -> ControlSamples:
    """Controls that are linear between nodes; accelerations of the states where none are stored."""
    share = part[:, None]

    def linear(values: np.ndarray) -> np.ndarray:
        return (1 - share) * values[k] + share * values[k + 1]

    if len(phase.a):
        return ControlSamples(linear(phase.a), linear(phase.tau), linear(phase.force))
    curve = scipy.interpolate.CubicHermiteSpline(phase.time, phase.q, phase.v)
    time = phase.time[0] + phase.duration * (k + part) / phase.intervals
    return ControlSamples(curve(time, 2), linear(phase.tau), np.zeros((len(part), 0)))


def state_interpolant(phase: PhaseSolution, quantity: str) -> Callable[[np.ndarray], np.ndarray]:
    """``"q"`` or ``"v"`` as a function of the fraction of the phase."""
    return lambda fractions: np.asarray(getattr(interpolate(phase, fractions), quantity))
