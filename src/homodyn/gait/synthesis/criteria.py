"""Comparison of steps: all criteria for all steps, distances between them, forces, strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.catalog import mirror_map
from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics import angular_velocity, momentum
from homodyn.foundation.record import Record, record
from homodyn.gait.motion_similarity import Similarity
from homodyn.gait.synthesis.problem import (
    CRITERIA,
    STEP_PHASES,
    WALKING_OBJECTIVES,
    spring_set,
    synthesis_problem,
)
from homodyn.gait.synthesis.stored_steps import StoredStep
from homodyn.model import Model
from homodyn.motion import (
    Event,
    Motion,
)
from homodyn.optimal.solve.interpolation import COLLOCATION, interpolate
from homodyn.optimal.transcription.contact_dynamics import phase_dynamics

COMPARISON_SAMPLES = 100
"""Time points at which two steps are compared."""
FORCE_CHECK_FRACTIONS = np.linspace(0.0, 1.0, 17)
"""Fractions of each interval at which forces are evaluated between the nodes."""


@dataclass(frozen=True, eq=False)
class StepSamples:
    """States of one phase of a step within its intervals, and the controls there."""

    phase: int
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    force: np.ndarray


def sample_step(step: StoredStep, fractions: np.ndarray) -> list[StepSamples]:
    """States and controls at the same fractions of all intervals, phase by phase."""
    samples = []
    for k, phase in enumerate(step.phases):
        count = phase.intervals
        interval = np.repeat(np.arange(count), len(fractions))
        at = (interval + np.tile(fractions, count)) / count
        state = interpolate(phase, at, interval)
        time = phase.time[0] + phase.duration * at
        samples.append(StepSamples(k, time, state.q, state.v, state.tau, state.force))
    return samples


def step_criteria(model: Model, step: StoredStep) -> dict[str, float]:
    """All four criteria of a step, whatever its objective was (Felis 2015, eq. 5.23).

    Args:
        model: The model.
        step: The step.

    Returns:
        Values by criterion.
    """
    typical = typical_torques()
    index = [model.coordinate_index(name) for name in typical]
    scale = np.array(list(typical.values()))
    total = dict.fromkeys(CRITERIA, 0.0)
    points, weights = _quadrature(step)
    for at, phase in zip(sample_step(step, points), step.phases, strict=True):
        count = phase.intervals
        width = np.tile(weights, count) * phase.duration / count
        effort = ((at.tau[:, index] / scale) ** 2).sum(axis=1)
        total["torque"] += float(width @ effort) / (step.parameters["length"] * len(index))
        spin = np.asarray(momentum(model, at.q, at.v))[:, :3]
        total["angular-momentum"] += float(width @ (spin**2).sum(axis=1))
        head = np.asarray(angular_velocity(model, at.q, at.v, "Head"))
        total["head"] += float(width @ (head**2).sum(axis=1))
    total["time"] = step.duration
    return total


def _quadrature(step: StoredStep) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of the transcription of a step."""
    if step.transcription == "midpoint":
        return np.array([0.5]), np.ones(1)
    return COLLOCATION.points_in_interval, COLLOCATION.B


@record
class CrossEvaluation(Record):
    """All steps (rows) evaluated by all criteria (columns), as in table 6.6 of the thesis."""

    steps: tuple[str, ...]
    """Names of the steps."""
    criteria: tuple[str, ...]
    """Names of the criteria."""
    values: np.ndarray
    """(steps, criteria)."""

    @property
    def best(self) -> dict[str, str]:
        """By criterion, the step with the smallest value."""
        rows = self.values.argmin(axis=0)
        return {name: self.steps[row] for name, row in zip(self.criteria, rows, strict=True)}

    @property
    def diagonal(self) -> bool:
        """Whether each step that was optimized for one criterion is the best at it."""
        prefixes = {criterion: f"{criterion} " for criterion in self.criteria}
        own = {c: [s for s in self.steps if f"{s} ".startswith(p)] for c, p in prefixes.items()}
        return all(not steps or self.best[c] in steps for c, steps in own.items())

    def __str__(self) -> str:
        width = max(len(name) for name in self.steps)
        head = f"{'step':{width}}  " + "  ".join(f"{c:>16}" for c in self.criteria)
        rows = [
            f"{name:{width}}  " + "  ".join(f"{value:16.4g}" for value in row)
            for name, row in zip(self.steps, self.values, strict=True)
        ]
        return "\n".join([head, *rows])


def cross_evaluation(model: Model, steps: Sequence[StoredStep]) -> CrossEvaluation:
    """Evaluate all steps by all criteria.

    Args:
        model: The model.
        steps: The steps.

    Returns:
        A table of steps and criteria.
    """
    rows = [list(step_criteria(model, step).values()) for step in steps]
    return CrossEvaluation(tuple(s.name for s in steps), CRITERIA, np.array(rows))


def step_similarity(one: StoredStep, two: StoredStep) -> Similarity:
    """Compare two steps at equal fractions of their durations.

    The thesis prints a factor of one half and a grid that extends past the end; its own numbers
    (table 6.5) have neither, and neither have these.

    Args:
        one: A step.
        two: Another step.

    Returns:
        Their distance.
    """
    fractions = np.linspace(0.0, 1.0, COMPARISON_SAMPLES)
    error = _poses(one, fractions * one.duration) - _poses(two, fractions * two.duration)
    return Similarity(float((error**2).mean()), (one.duration - two.duration) ** 2)


def _poses(step: StoredStep, times: np.ndarray) -> np.ndarray:
    dense = sample_step(step, np.linspace(0.0, 1.0, 9))
    time, q = np.concatenate([d.time for d in dense]), np.concatenate([d.q for d in dense])
    time, first = np.unique(time, return_index=True)
    return np.column_stack([np.interp(times, time, column) for column in q[first].T])


def stride_motion(model: Model, step: StoredStep, *, steps: int = 2, rate: float = 100.0) -> Motion:
    """A step and its mirror images in sequence, at equally spaced times.

    Args:
        model: The model.
        step: The step.
        steps: Number of steps.
        rate: Frames per second (Hz).

    Returns:
        The motion.
    """
    duration = step.duration
    image = mirror_map(model)
    count = max(int(steps * duration * rate), 2)
    time = np.linspace(0.0, steps * duration, count + 1)
    q = np.zeros((len(time), model.nq))
    forward = model.coordinate_index("Pelvis_TX")
    travel = float(step.phases[-1].q[-1, forward] - step.phases[0].q[0, forward])
    for n in range(steps):
        own = (time >= n * duration - 1e-9) & (time <= (n + 1) * duration + 1e-9)
        poses = _poses(step, np.clip(time[own] - n * duration, 0.0, duration))
        if n % 2:
            poses = np.array([np.asarray(image.position(row)).reshape(-1) for row in poses])
        poses[:, forward] += n * travel
        q[own] = poses
    v = np.asarray(np.gradient(q, time, axis=0))
    a = np.asarray(np.gradient(v, time, axis=0))
    return Motion(model, time, q, v, a, method=f"step {step.name!r} and its mirror image")


def stride_events(step: StoredStep, *, steps: int = 2) -> list[Event]:
    """Foot strikes and foot offs of a step and its mirror images.

    Args:
        step: The step.
        steps: Number of steps.

    Returns:
        The events in the order of time.
    """
    strike, duration = float(step.phases[2].time[0]), step.duration
    feet = ("Left", "Right")
    events = []
    for n in range(steps):
        swing, stance = feet[n % 2], feet[1 - n % 2]
        events.append(Event(n * duration + strike, "Foot Strike", swing))
        events.append(Event((n + 1) * duration, "Foot Off", stance))
    return events


def ground_forces(
    step: StoredStep, side: str, *, ends: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Forces of the ground on one foot.

    Args:
        step: The step.
        side: ``"Right"`` or ``"Left"``.
        ends: Whether forces at the begin and end of intervals, where they may jump, are included;
            piecewise constant forces are returned once per interval.

    Returns:
        Times (samples,), s, and forces (samples, 3), N.
    """
    points, _ = _quadrature(step)
    if ends and step.transcription != "midpoint":
        points = np.array([0.0, *points, 1.0])
    times, forces = [], []
    for at, contacts in zip(sample_step(step, points), STEP_PHASES, strict=True):
        rows = contacts.contacts.rows
        along = np.array([row.slide for row in rows]).reshape(-1, 3)
        own = np.array([float(row.frame.endswith(side)) for row in rows])
        times.append(at.time)
        forces.append((at.force * own) @ along)
    return np.concatenate(times), np.concatenate(forces)


def min_normal_forces(model: Model, step: StoredStep) -> dict[str, float]:
    """The smallest normal force of each contact along a step, also between the nodes.

    Forces follow from forward dynamics under the torques and springs of the step.

    Args:
        model: The model.
        step: The step.

    Returns:
        By contact, a force (N); negative where it is tensile.
    """
    springs = spring_set(model)[0] if "Hip_RY stiffness" in step.parameters else ()
    objective = step.objective or WALKING_OBJECTIVES["mixed"]
    phases = synthesis_problem(model, objective=objective).phases
    smallest: dict[str, float] = {}
    for at, phase in zip(sample_step(step, FORCE_CHECK_FRACTIONS), phases, strict=True):
        dynamics = phase_dynamics(model, phase, springs)
        numbers = np.array([[step.parameters[name] for name in dynamics.parameters]])
        none = np.zeros((len(at.q), 0))
        forces = dynamics.kernel(at.q, at.v, at.tau, numbers, none)[2]
        for k, row in enumerate(phase.contacts.rows):
            if row.slide == (0.0, 0.0, 1.0):
                low = float(forces[:, k].min())
                smallest[row.frame] = min(low, smallest.get(row.frame, np.inf))
    return smallest
