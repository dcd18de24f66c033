"""Several recorded steps of a person, reconstructed as one problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.gait.reconstruction.pooled_problem import pooled_problem
from homodyn.gait.reconstruction.reconstruction_result import FAR_STATUS, Reconstruction
from homodyn.gait.reconstruction.recorded_step import RecordedStep
from homodyn.gait.reconstruction.step_reconstruction import (
    ReconstructionOptions,
    solve_reconstruction,
    split_options,
)
from homodyn.optimal import Solution


@record
class PooledReconstruction(Record):
    """Dynamically consistent steps of one person, and what they share."""

    solution: Solution
    """The solution of the whole problem."""
    steps: tuple[Reconstruction, ...]
    """The steps, each on the clock of its recording; their status is that of the whole problem."""

    def headline(self) -> str:
        """Status and steps."""
        return f"PooledReconstruction: {self.sentence}"

    @property
    def shared(self) -> dict[str, float]:
        """What the steps share: mass (kg), and the parameters of the problem."""
        return {"mass_kg": float(self.solution.model.mass), **self.solution.parameters}

    @property
    def deviations(self) -> tuple[str, ...]:
        """Where steps are far from their recordings or plates, one clause each."""
        return tuple(
            f"step {k + 1}: {text}" for k, step in enumerate(self.steps) for text in step.deviations
        )

    @property
    def status(self) -> str:
        """How the solve ended, ``"solved but far from the recording"`` where a step is."""
        solved = self.solution.status.success
        return FAR_STATUS if solved and self.deviations else str(self.solution.status)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        parameters = self.solution.parameters.items()
        known = [f"mass ({self.solution.model.mass:.1f} kg)"]
        known += [f"{name} ({value:.3g})" for name, value in parameters]
        count = count_of(len(self.steps), "step")
        text = f"{self.solution.sentence}; {count} with the same {' and '.join(known)}"
        far = ", ".join(self.deviations)
        return f"{text}; {FAR_STATUS}: {far}" if self.status == FAR_STATUS else text


def reconstruct_steps(
    steps: Sequence[RecordedStep], **options: Unpack[ReconstructionOptions]
) -> PooledReconstruction:
    """Torques and ground forces of several steps of a person as one problem.

    Args:
        steps: Steps of one body (`homodyn.gait.reconstruction.share_body`).
        options: See `homodyn.gait.reconstruct`; contact schedules are those of the steps.

    Returns:
        The reconstructions.

    Raises:
        HomodynError: A setting is unknown, or belongs to a single step.
        CaptureError: The phases do not fit a motion.
    """
    settings, solving = split_options(options)
    problem, counts = pooled_problem(steps, **settings)
    solution = solve_reconstruction(problem, solving)
    tracked = settings.get("force", 1.0) > 0
    found = []
    for step, last in zip(steps, np.cumsum(counts), strict=True):
        own = _own_solution(solution, int(last) - len(step.phases), int(last))
        is_tracked = tracked and step.loads is not None
        found.append(
            Reconstruction(
                own,
                step.motion,
                step.phases,
                step.loads,
                is_tracked,
                friction=settings.get("friction"),
                belt_speed=step.belt_speed,
            )
        )
    return PooledReconstruction(solution, tuple(found))


def _own_solution(solution: Solution, first: int, last: int) -> Solution:
    """The part of a solution that belongs to one step, from its own start."""
    phases, transcribed = solution.phases[first:last], solution.transcribed
    begin = float(phases[0].time[0])
    shifted = tuple(
        replace(phase, time=phase.time - begin, control_time=phase.control_time - begin)
        for phase in phases
    )
    names = {phase.name for phase in phases}
    own: dict[str, Any] = {
        "phases": shifted,
        "transcribed": replace(
            transcribed,
            phases=transcribed.phases[first:last],
            layouts=transcribed.layouts[first:last],
        ),
        "terms": {
            key: value for key, value in solution.terms.items() if key.rpartition(": ")[0] in names
        },
    }
    return replace(solution, **own)
