"""Comparison of synthesized steps: criteria, smallest contact forces and elevation planes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from homodyn.analysis.elevation_plane import PlaneFit, fit_plane
from homodyn.foundation import Record, count_of, record
from homodyn.gait import Similarity, Synthesis, elevation_angles, stored_steps
from homodyn.gait.synthesis import (
    CrossEvaluation,
    GroundLoads,
    ReferenceStep,
    StoredStep,
    cross_evaluation,
    ground_loads,
    min_normal_forces,
    stride_events,
    stride_motion,
)
from homodyn.model import Model


@record
class StepComparison(Record):
    """Steps of one model, to be compared with each other."""

    model: Model
    steps: tuple[StoredStep, ...]
    statuses: tuple[str, ...]
    """Per step, how its search ended."""
    searches: tuple[tuple[str, ...], ...]
    """Per step, the stages of its search and the sentence of the solver."""
    reference: ReferenceStep = field(
        default_factory=lambda: ReferenceStep.from_step(stored_steps()["walk"], "synthetic walk")
    )
    """The walk that the steps are compared with."""

    def headline(self) -> str:
        """Number and names of the steps."""
        names = ", ".join(step.name for step in self.steps)
        return f"StepComparison of {count_of(len(self.steps), 'step')}: {names}"

    @staticmethod
    def from_syntheses(results: Sequence[Synthesis]) -> StepComparison:
        """The steps of syntheses.

        Args:
            results: Results of `homodyn.gait.synthesis.synthesize_step`, of the same model.

        Returns:
            The comparison.
        """
        return StepComparison(
            results[0].model,
            tuple(each.step for each in results),
            tuple(str(each.solution.status) for each in results),
            tuple((*map(str, each.stages), each.solution.sentence) for each in results),
        )

    @staticmethod
    def from_bundled_steps(model: Model) -> StepComparison:
        """The steps that are bundled with the package.

        Args:
            model: The model of these steps, `homodyn.gait.walking_model`.

        Returns:
            The comparison.
        """
        steps = tuple(step for step in stored_steps().values() if step.objective is not None)
        statuses = tuple(step.status for step in steps)
        return StepComparison(model, steps, statuses, ((),) * len(steps))

    @cached_property
    def cross_evaluation(self) -> CrossEvaluation:
        """Every step evaluated by the criteria of all."""
        return cross_evaluation(self.model, self.steps)

    @cached_property
    def min_normal_forces(self) -> list[dict[str, float]]:
        """Per step, the smallest upward force (N) of each contact."""
        return [min_normal_forces(self.model, step) for step in self.steps]

    @cached_property
    def ground_loads(self) -> list[GroundLoads]:
        """Per step, the friction and the impulses that it demands of the ground."""
        return [ground_loads(self.model, step) for step in self.steps]

    @cached_property
    def similarities(self) -> list[Similarity]:
        """Per step, its distance from the reference."""
        return [self.reference.similarity(step) for step in self.steps]

    @cached_property
    def planes(self) -> list[tuple[np.ndarray, PlaneFit]]:
        """Per step, elevation angles (deg) of the right leg over a stride, and their plane."""
        found = []
        for step in self.steps:
            motion = stride_motion(self.model, step)
            angles = elevation_angles(motion, events=stride_events(step)).right
            found.append((angles, fit_plane(angles)))
        return found
