"""Resimulation of a solution: its torques, integrated by forward dynamics in each interval.

The variables of a transcription satisfy the equations of motion at finitely many points. Here each
interval is integrated again from its first node, with forward dynamics under the contacts and small
steps. The distance from the next node is the integration defect of the mesh, and path constraints
are evaluated along the way (`path_violations`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.integrate import RK4, runge_kutta
from homodyn.model.configuration import difference
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.interpolation import interpolate_controls
from homodyn.optimal.solve.phase_solution import PhaseSolution
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.transcription.contact_dynamics import load_columns, phase_dynamics

STEPS_PER_CONTROL = 4
"""RK4 steps per control of an interval."""


@record
class IntegrationDefect(Record):
    """Deviation of each resimulated interval of a phase from its last node."""

    phase: str
    """Name of the phase."""
    time: np.ndarray
    """(intervals,), s: start of each interval."""
    q: np.ndarray
    """(intervals, nv), rad or m."""
    v: np.ndarray
    """(intervals, nv), rad/s or m/s."""
    coordinates: tuple[str, ...]
    """Names of the coordinates."""

    @property
    def max_error(self) -> float:
        """Largest error of a coordinate (rad, m)."""
        return float(np.abs(self.q).max())

    def __str__(self) -> str:
        interval, entry = np.unravel_index(int(np.argmax(np.abs(self.q))), self.q.shape)
        return (
            f"phase {self.phase!r}, interval {interval + 1} of {len(self.time)} "
            f"({self.time[interval]:.3f} s): {self.coordinates[entry]} has an integration defect "
            f"of {self.max_error:.3g}"
        )

    def headline(self) -> str:
        """Location and size of the largest error."""
        return str(self)


@dataclass(frozen=True, eq=False)
class Resimulation:
    """The resimulated intervals of a phase: (samples, intervals, entries) of each quantity.

    The first sample is the first node of each interval, the last but one is the end of the
    integration, and the last one is the next node, under the torques at the end of the interval.
    """

    phase: Phase
    defect: IntegrationDefect
    time: np.ndarray
    """(samples, intervals), s."""
    fraction: np.ndarray
    """(samples, intervals): fraction of the phase."""
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def resimulate(
    transcribed: TranscribedProblem,
    phases: Sequence[PhaseSolution],
    parameters: Mapping[str, float] = MappingProxyType({}),
) -> tuple[Resimulation, ...]:
    """Resimulate all intervals of all phases.

    Args:
        transcribed: The problem.
        phases: Trajectories of its phases.
        parameters: Parameters of the problem, for springs.

    Returns:
        One resimulation per phase.
    """
    return tuple(
        _resimulate_phase(transcribed, k, phase, parameters) for k, phase in enumerate(phases)
    )


def _resimulate_phase(
    transcribed: TranscribedProblem, k: int, phase: PhaseSolution, parameters: Mapping[str, float]
) -> Resimulation:
    model, count = transcribed.model, transcribed.phases[k].intervals
    statement = transcribed.phases[k]
    dynamics = phase_dynamics(model, statement, transcribed.springs)
    torque = transcribed.transcription.torque_function(phase.tau, count)
    numbers = np.array([[parameters[name] for name in dynamics.parameters]], dtype=float)

    def evaluate(state: Sequence[np.ndarray], part: float) -> list[np.ndarray]:
        at = (np.arange(count) + part) / count
        own = interpolate_controls(phase, at, np.arange(count)) if statement.compliant else None
        loads = load_columns(statement, at, None if own is None else own.force)
        return dynamics.kernel(*state, torque(part), numbers, loads)

    steps = STEPS_PER_CONTROL * max(len(phase.tau) // count, 1)
    step = phase.duration / count / steps
    state: tuple[np.ndarray, ...] = (phase.q[:-1], phase.v[:-1])
    samples = []
    for n in range(steps):
        first: list[np.ndarray] = []

        def rate(
            fraction: float,
            x: tuple[np.ndarray, ...],
            begin: int = n,
            outputs: list[np.ndarray] = first,
        ) -> tuple[np.ndarray, ...]:
            result = evaluate(x, (begin + fraction) / steps)
            if not outputs:
                outputs += result
            return tuple(result[:2])

        following = runge_kutta(RK4, rate, state, step)
        samples.append((*state, first[1], torque(n / steps), first[2]))
        state = following
    _, a, force = evaluate(state, 1.0)
    samples.append((*state, a, torque(1.0), force))
    errors = np.asarray(difference(model, phase.q[1:], state[0])), state[1] - phase.v[1:]
    defect = IntegrationDefect(phase.name, phase.time[:-1], *errors, model.coordinate_names)
    nodes = (phase.q[1:], phase.v[1:])
    _, a, force = evaluate(nodes, 1.0)
    samples.append((*nodes, a, torque(1.0), force))
    parts = np.append(np.arange(steps + 1) / steps, 1.0)[:, None]
    fraction = (np.arange(count) + parts) / count
    time = phase.time[0] + phase.duration * fraction
    arrays = map(np.array, zip(*samples, strict=True))
    return Resimulation(transcribed.phases[k], defect, time, fraction, *arrays)
