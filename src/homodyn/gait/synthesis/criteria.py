"""Comparison of steps: all criteria for all steps, distances between them, contact forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics import angular_velocity, momentum
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import require_pandas
from homodyn.gait.gait_cycles import parse_side
from homodyn.gait.motion_similarity import Similarity
from homodyn.gait.synthesis.problem import (
    CRITERIA,
    STEP_PHASES,
)
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.model import Model
from homodyn.optimal.solve.interpolation import COLLOCATION, interpolate

if TYPE_CHECKING:
    import pandas as pd

COMPARISON_SAMPLES = 100
"""Time points at which two steps are compared."""


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
    """All four criteria of a step, independent of its objective (Felis 2015, eq. 5.23).

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

    def to_pandas(self) -> pd.DataFrame:
        """The table as a data frame: one row per step, one column per criterion.

        Returns:
            The data frame.

        Raises:
            HomodynError: pandas is not installed.
        """
        frame = require_pandas().DataFrame(self.values, list(self.steps), list(self.criteria))
        return frame.rename_axis("step")

    def headline(self) -> str:
        """Number of steps and criteria."""
        return (
            f"CrossEvaluation: {count_of(len(self.steps), 'step')}, {len(self.criteria)} criteria"
        )

    def summary(self) -> str:
        """The table as text.

        Returns:
            One line per step.
        """
        return str(self)

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
    error = step_poses(one, fractions * one.duration) - step_poses(two, fractions * two.duration)
    return Similarity(float((error**2).mean()), (one.duration - two.duration) ** 2)


def step_poses(step: StoredStep, times: np.ndarray) -> np.ndarray:
    """Coordinates (times, nv) at times from the start of a step (s)."""
    dense = sample_step(step, np.linspace(0.0, 1.0, 9))
    time, q = np.concatenate([d.time for d in dense]), np.concatenate([d.q for d in dense])
    time, first = np.unique(time, return_index=True)
    return np.column_stack([np.interp(times, time, column) for column in q[first].T])


def ground_forces(
    step: StoredStep, side: str, *, ends: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Forces of the ground on one foot.

    Args:
        step: The step.
        side: ``"right"`` or ``"left"``.
        ends: Whether forces at the start and end of intervals, where they may jump, are included;
            piecewise constant forces are returned once per interval.

    Returns:
        Times (samples,), s, and forces (samples, 3), N.

    Raises:
        CaptureError: The side is neither left nor right.
    """
    suffix = parse_side(side).title
    points, _ = _quadrature(step)
    if ends and step.transcription != "midpoint":
        points = np.array([0.0, *points, 1.0])
    times, forces = [], []
    for at, contacts in zip(sample_step(step, points), STEP_PHASES, strict=True):
        rows = contacts.contacts.rows
        along = np.array([row.slide for row in rows]).reshape(-1, 3)
        own = np.array([float(row.frame.endswith(suffix)) for row in rows])
        times.append(at.time)
        forces.append((at.force * own) @ along)
    return np.concatenate(times), np.concatenate(forces)
