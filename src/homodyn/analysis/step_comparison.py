"""Synthesized steps beside each other: criteria, lowest contact forces and elevation planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.analysis.elevation_plane import PlaneFit, fit_plane
from homodyn.gait import (
    CrossEvaluation,
    StoredStep,
    Synthesis,
    cross_evaluation,
    elevation_angles,
    min_normal_forces,
    stored_steps,
    stride_events,
    stride_motion,
)
from homodyn.model import Model


@dataclass(frozen=True, eq=False)
class StepComparison:
    """Steps beside each other and beside the walk they began from."""

    model: Model
    steps: tuple[StoredStep, ...]
    statuses: tuple[str, ...]
    searches: tuple[tuple[str, ...], ...]
    """For each step, its stages and how the search ended."""

    @staticmethod
    def from_syntheses(results: Sequence[Synthesis]) -> StepComparison:
        """Steps that were just sought."""
        return StepComparison(
            results[0].model,
            tuple(each.step for each in results),
            tuple(str(each.solution.status) for each in results),
            tuple((*map(str, each.stages), each.solution.sentence) for each in results),
        )

    @staticmethod
    def from_bundled_steps(model: Model) -> StepComparison:
        """The steps that come with the program."""
        steps = tuple(step for step in stored_steps().values() if step.objective is not None)
        return StepComparison(model, steps, ("stored",) * len(steps), ((),) * len(steps))

    @cached_property
    def table(self) -> CrossEvaluation:
        """Each judged by all criteria."""
        return cross_evaluation(self.model, self.steps)

    @cached_property
    def lowest(self) -> list[dict[str, float]]:
        """For each step, the least upward force (N) of its contacts."""
        return [min_normal_forces(self.model, step) for step in self.steps]

    @cached_property
    def planes(self) -> list[tuple[np.ndarray, PlaneFit]]:
        """For each step, elevation angles (deg) of the right leg over a stride, and their plane."""
        found = []
        for step in self.steps:
            motion = stride_motion(self.model, step)
            angles = elevation_angles(motion, events=stride_events(step)).right
            found.append((angles, fit_plane(angles)))
        return found
