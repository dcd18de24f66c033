"""Event-driven runs by themselves, with samples at regular times."""

from __future__ import annotations

import numpy as np

from homodyn.model import Model
from homodyn.simulate.geometry import ContactGeometry
from homodyn.simulate.rigid.event_loop import EventLoop
from homodyn.simulate.rigid.event_run import (
    WORK_ENTRIES,
    EventRun,
    EventRunFailure,
    Sample,
    StateLoad,
    TerminationReason,
    Torque,
)
from homodyn.simulate.rigid.event_settings import EventDrivenSettings

MAX_FIRST_STEP_S = 1e-3
"""Length of the first step, unless samples are closer."""


def run_events(
    law: EventDrivenSettings,
    geometry: ContactGeometry,
    q: np.ndarray,
    v: np.ndarray,
    duration: float,
    *,
    dt: float = 0.01,
    torque: Torque | None = None,
) -> EventRun:
    """Simulate rigid contacts from event to event.

    Args:
        law: The event-driven law.
        geometry: The gaps of a model.
        q: Positions at the start, (nq,).
        v: Velocities at the start, (nv,).
        duration: Time to simulate (s).
        dt: Time between samples (s).
        torque: ``f(t, q, v)``: generalized forces (N m, N), (nv,); None for none.

    Returns:
        Samples until the end or a failure, events, and the reason of the end.
    """
    loop = EventLoop(law, geometry, None if torque is None else _load(geometry.model, torque))
    y = np.concatenate([np.array(q, float), np.array(v, float), np.zeros(WORK_ENTRIES)])
    samples: list[Sample] = []
    reason, detail = TerminationReason.FINISHED, ""
    t, h = 0.0, min(dt, MAX_FIRST_STEP_S)
    try:
        y = loop.start(y)
        samples.append(_sample(loop, 0.0, y))
        for end in _sample_times(duration, dt)[1:]:
            y, h = loop.integrate_to(t, end, y, h)
            t = end
            samples.append(_sample(loop, t, y))
    except EventRunFailure as failure:
        reason, detail = failure.reason, str(failure)
    return _result(loop, samples, reason, f"{reason.value} {detail}".strip())


def _load(model: Model, torque: Torque) -> StateLoad:
    """Torques without states of actuations."""
    nq, nv = model.nq, model.nv

    def load(t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.asarray(torque(t, y[:nq], y[nq : nq + nv]), float), np.zeros(0)

    return load


def _sample_times(duration: float, dt: float) -> list[float]:
    count = int(np.floor(duration / dt * (1 + 1e-12) + 1e-9)) + 1
    times = [min(k * dt, duration) for k in range(count)]
    if duration - times[-1] > 1e-12 * max(duration, 1.0):
        times.append(duration)
    return times


def _sample(loop: EventLoop, t: float, y: np.ndarray) -> Sample:
    force, _ = loop.dynamics.forces(t, y)
    return t, y, force, loop.modes.closed[: loop.contacts].copy()


def _result(
    loop: EventLoop, samples: list[Sample], reason: TerminationReason, message: str
) -> EventRun:
    nq, nv, n = loop.model.nq, loop.model.nv, len(samples)
    y = np.array([sample[1] for sample in samples]).reshape(n, nq + nv + WORK_ENTRIES)
    return EventRun(
        np.array([sample[0] for sample in samples]),
        y[:, :nq],
        y[:, nq : nq + nv],
        np.array([sample[2] for sample in samples]).reshape(n, loop.contacts, 3),
        np.array([sample[3] for sample in samples], bool).reshape(n, loop.contacts),
        loop.impulse,
        y[:, nq + nv :],
        tuple(loop.events),
        reason,
        message,
        loop.steps,
    )
