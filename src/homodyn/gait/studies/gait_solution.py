"""A gait that a study found: its parameters, its simulation and how human it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.gait.norm_comparison import NormComparison, compare_with_norms
from homodyn.gait.studies.gait_study import GaitStudy
from homodyn.simulate import SimulationResult, SimulationStatus

SETTLING_SHARE = 0.5
"""Share of a replay that is left out of cycles: the gait starts from standing."""


@record
class GaitSolution(Record):
    """One candidate of a gait study, simulated once more."""

    study: GaitStudy
    parameters: dict[str, float]
    objectives: dict[str, float]
    """Values by name, of this simulation over the duration of the study."""
    stage: int
    """Number of objectives, in order, whose condition is met."""
    result: SimulationResult
    comparison: NormComparison | None
    """Cycles of the second half beside normative curves; None where there is no complete cycle."""
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        last = len(self.study.objectives) - 1
        reached = self.study.objectives[min(self.stage, last)].name.replace("_", " ")
        ended = (
            "" if self.result.status is SimulationStatus.FINISHED else f"; {self.result.message}"
        )
        if self.stage < last:
            return f"did not reach the last objective: {reached} is not good enough{ended}"
        return f"reached the last objective, {reached} {self.objectives_text}{ended}"

    @property
    def objectives_text(self) -> str:
        """Value and unit of the last objective."""
        name = self.study.objectives[-1].name
        return f"{self.objectives[name]:.4g} {self.study.gait_objective(name).unit}".strip()

    def headline(self) -> str:
        """GaitStudy and outcome."""
        return f"GaitSolution of study {self.study.name!r}: {self.sentence}"


def solve_gait(
    study: GaitStudy,
    parameters: Mapping[str, float],
    *,
    duration: float | None = None,
    seed: int = 0,
) -> GaitSolution:
    """Simulate a candidate of a study, evaluate it and compare it with norms.

    Args:
        study: The study.
        parameters: Values by name, such as ``result.best.parameters``.
        duration: Duration of the replay (s); that of the study by default.
        seed: Seed of the pushes.

    Returns:
        The gait.

    Raises:
        HomodynError: A parameter is missing or unknown.
    """
    result = study.replay(parameters, duration, seed)
    row = [[float(parameters[name]) for name in study.space.names]]
    evaluation = study.evaluate(row, seed)
    objectives = {name: float(values[0]) for name, values in evaluation.objectives.items()}
    comparison, notes = None, list(study.notes)
    start = SETTLING_SHARE * float(result.time[-1])
    try:
        comparison = compare_with_norms(result.motion.crop(start, float(result.time[-1])))
    except CaptureError as error:
        notes.append(f"no comparison with norms: {error}")
    return GaitSolution(
        study,
        {name: float(value) for name, value in parameters.items()},
        objectives,
        completed_stages(study, objectives),
        result,
        comparison,
        tuple(notes),
    )


def completed_stages(study: GaitStudy, objectives: Mapping[str, float]) -> int:
    """Number of objectives, in order, whose condition is met.

    Args:
        study: The study.
        objectives: Values by name.

    Returns:
        0 to the number of objectives minus 1.
    """
    conditions = study.objectives[:-1]
    met = [bool(one.is_met(np.array([objectives[one.name]]))[0]) for one in conditions]
    return met.index(False) if False in met else len(met)


def robustness(
    study: GaitStudy, parameters: Mapping[str, float], seeds: Sequence[int]
) -> tuple[float, np.ndarray]:
    """How a gait copes with pushes that the search did not use.

    Args:
        study: A study with pushes.
        parameters: Values by name.
        seeds: Seeds of the pushes.

    Returns:
        The share of the seeds in which the gait reaches the last objective, and the stage of each
        seed, (seeds,).
    """
    row = [float(parameters[name]) for name in study.space.names]
    evaluation = study.evaluate(np.tile(row, (len(seeds), 1)), np.asarray(seeds))
    stages = np.array(
        [
            completed_stages(study, {name: x[k] for name, x in evaluation.objectives.items()})
            for k in range(len(seeds))
        ]
    )
    last = len(study.objectives) - 1
    return float(np.mean(stages == last)), stages
