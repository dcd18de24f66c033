"""Resimulation of a solution: its torques, integrated by forward dynamics in each interval.

The variables of a transcription satisfy the equations of motion at finitely many points. Here each
interval is integrated again from its first node, with forward dynamics under the contacts and small
steps. The distance from the next node is the integration defect of the mesh, and path constraints
are evaluated along the way (`path_violations`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.integrate import RK4, runge_kutta
from homodyn.model.configuration import difference
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem
from homodyn.optimal.solve.interpolation import interpolate_controls
from homodyn.optimal.solve.phase_solution import MuscleSolution, PhaseSolution
from homodyn.optimal.statement.muscle_drive import MUSCLE_QUANTITIES, MuscleDrive
from homodyn.optimal.statement.phase import Phase
from homodyn.optimal.transcription.contact_dynamics import load_columns, phase_dynamics
from homodyn.optimal.transcription.muscle_dynamics import MuscleDynamics, MuscleRates

STEPS_PER_CONTROL = 4
"""RK4 steps per control of an interval."""
MAX_TENDON_STEP_S = 1e-3
"""Longest step where tendons are compliant."""


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
    muscles: dict[str, np.ndarray] = field(default_factory=dict)
    """States and excitations of muscles; empty without muscles."""
    drive: MuscleDrive | None = None
    """How the muscles act."""


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

    muscles = _muscles(transcribed, phase)

    def evaluate(state: Sequence[np.ndarray], part: float) -> list[np.ndarray]:
        """Rates of all states, then contact forces."""
        at = (np.arange(count) + part) / count
        own = interpolate_controls(phase, at, np.arange(count)) if statement.compliant else None
        loads = load_columns(statement, at, None if own is None else own.force)
        drive, more = torque(part), []
        if muscles is not None:
            acting = muscles.rates(state, part, step)
            drive, more = drive + acting.torque, [acting.activation_rate, acting.tendon_rate]
        position_rate, a, force = dynamics.kernel(*state[:2], drive, numbers, loads)
        return [position_rate, a, *more, force]

    steps = STEPS_PER_CONTROL * max(len(phase.tau) // count, 1)
    state: tuple[np.ndarray, ...] = (phase.q[:-1], phase.v[:-1])
    if muscles is not None:
        state = (*state, *muscles.nodes[0])
        if muscles.solution.tendon_force.size:
            steps = max(steps, int(np.ceil(phase.duration / count / MAX_TENDON_STEP_S)))
    step = phase.duration / count / steps
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
            return tuple(result[:-1])

        following = runge_kutta(RK4, rate, state, step)
        samples.append((*state[:2], first[1], torque(n / steps), first[-1], *state[2:]))
        state = following
    found = evaluate(state, 1.0)
    samples.append((*state[:2], found[1], torque(1.0), found[-1], *state[2:]))
    errors = np.asarray(difference(model, phase.q[1:], state[0])), state[1] - phase.v[1:]
    defect = IntegrationDefect(phase.name, phase.time[:-1], *errors, model.coordinate_names)
    nodes: tuple[np.ndarray, ...] = (phase.q[1:], phase.v[1:])
    nodes = nodes if muscles is None else (*nodes, *muscles.nodes[1])
    found = evaluate(nodes, 1.0)
    samples.append((*nodes[:2], found[1], torque(1.0), found[-1], *nodes[2:]))
    parts = np.append(np.arange(steps + 1) / steps, 1.0)[:, None]
    fraction = (np.arange(count) + parts) / count
    time = phase.time[0] + phase.duration * fraction
    q, v, a, tau, force, *states = (np.array(each) for each in zip(*samples, strict=True))
    recorded = {}
    if muscles is not None:
        controls = [np.array(x) for x in zip(*map(muscles.controls, parts[:, 0]), strict=True)]
        recorded = dict(zip(MUSCLE_QUANTITIES, (*states, *controls), strict=True))
    drive = transcribed.muscles
    return Resimulation(statement, defect, time, fraction, q, v, a, tau, force, recorded, drive)


@dataclass(frozen=True, eq=False)
class _Muscles:
    """The muscles of a solved phase during its resimulation."""

    dynamics: MuscleDynamics
    solution: MuscleSolution
    excitation: Callable[[float], np.ndarray]
    """Of the fraction of an interval, (intervals, muscles)."""
    tendon_rate: Callable[[float], np.ndarray]
    """Rates of the tendon forces of the solution, 1/s."""

    @property
    def nodes(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """States at the start and at the end of all intervals."""
        activation, force = self.solution.activation, self.solution.tendon_force
        return (activation[:-1], force[:-1]), (activation[1:], force[1:])

    def controls(self, part: float) -> tuple[np.ndarray, np.ndarray]:
        """Excitations and rates of tendon forces of the solution."""
        return self.excitation(part), self.tendon_rate(part)

    def rates(self, state: Sequence[np.ndarray], part: float, step: float) -> MuscleRates:
        """Torques and rates at states of the model and of the muscles."""
        q, v, activation, force = state
        return self.dynamics.rates(q, v, (activation, force), self.controls(part), step)


def _muscles(transcribed: TranscribedProblem, phase: PhaseSolution) -> _Muscles | None:
    dynamics, own = transcribed.muscle_dynamics, phase.muscles
    if dynamics is None or own is None:
        return None
    over = transcribed.transcription.torque_function
    excitation = over(own.excitation, phase.intervals)
    return _Muscles(dynamics, own, excitation, over(own.tendon_force_rate, phase.intervals))
