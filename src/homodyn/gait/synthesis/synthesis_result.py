"""The result of a synthesis: an optimal step, and the stages of its computation."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.gait.synthesis.ground_loads import GroundLoads, ground_loads
from homodyn.gait.synthesis.problem import WalkingObjective, hip_height
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.gait.synthesis.step_motion import stride_motion
from homodyn.model import Model
from homodyn.motion import Motion
from homodyn.optimal import Solution, SolveStatus

MOTION_STEPS = 4
"""Steps of the motion: two whole strides of each foot between its strikes."""


@record
class SynthesisStage(Record):
    """One problem of a synthesis, and how its solve ended."""

    name: str
    """Objective, speed and mesh in words."""
    objective: WalkingObjective
    """Weights of the criteria."""
    speed: float | None
    """m/s; None where it is free."""
    intervals: tuple[int, ...]
    """Number of intervals of each phase."""
    tracking: float = 0.0
    """Weight of the distance from the initial step (1/s)."""
    status: SolveStatus | None = None
    """How the solve ended; None before it."""
    iterations: int = 0
    """Iterations of the solver."""
    seconds: float = 0.0
    """Time of the solve (s)."""
    sentence: str = ""
    """The result in one sentence."""

    def __str__(self) -> str:
        status = "not solved yet" if self.status is None else str(self.status)
        iterations = count_of(self.iterations, "iteration")
        return f"{self.name}: {status}, {iterations}, {self.seconds:.1f} s"

    def headline(self) -> str:
        """Name, status and time."""
        return f"SynthesisStage {self}"


@record
class Synthesis(Record):
    """An optimal step, and the stages of its computation."""

    objective: WalkingObjective
    """Weights of the criteria."""
    speed: float | None
    """m/s, as requested; None where it was free."""
    solution: Solution
    """The solution of the last stage."""
    stages: tuple[SynthesisStage, ...]
    """All stages."""
    friction: float | None = None
    """Coefficient of friction that bounds forces and impulses; None where nothing does."""

    def headline(self) -> str:
        """Objective, status, step length, duration and speed."""
        return f"Synthesis: {self.sentence}"

    @property
    def model(self) -> Model:
        """The model that walks."""
        return self.solution.model

    @property
    def seconds(self) -> float:
        """Time of all stages (s)."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def iterations(self) -> int:
        """Iterations of all stages."""
        return sum(stage.iterations for stage in self.stages)

    @property
    def step(self) -> StoredStep:
        """The step by itself, in the form in which steps are stored."""
        pace = "free" if self.speed is None else f"{self.speed:g}"
        name = f"{self.objective.name} {pace}"
        return stored_step(name, self.solution, self.objective, self.friction)

    @cached_property
    def ground_loads(self) -> GroundLoads:
        """Friction and impulses that the step demands of the ground."""
        return ground_loads(self.model, self.step)

    @cached_property
    def motion(self) -> Motion:
        """Two strides: the step and its mirror images in sequence.

        It has torques, ground forces, foot strikes and foot offs; ``motion.result`` is this
        synthesis.
        """
        motion = stride_motion(self.model, self.step, steps=MOTION_STEPS)
        return replace(motion, method=self.sentence, result=self)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        step = self.step
        return (
            f"{self.objective.name}: {self.solution.status} in "
            f"{count_of(len(self.stages), 'stage')} and {self.seconds:.0f} s; step of "
            f"{step.parameters['length']:.3f} m in {step.duration:.3f} s, {step.speed:.3f} m/s"
        )

    def explain(self, limit: int = 4) -> str:
        """Stages, violated constraints, and what to try.

        Args:
            limit: Largest number of lines of each kind.

        Returns:
            Several lines of text.
        """
        lines = [str(stage) for stage in self.stages]
        counts: dict[str, int] = {}
        for violation in self.solution.violations:
            kind = violation.constraint.split(":")[0]
            counts[kind] = counts.get(kind, 0) + 1
        if counts:
            ranked = sorted(counts.items(), key=lambda pair: -pair[1])
            lines.append("violated: " + ", ".join(f"{kind} ({n})" for kind, n in ranked))
        return "\n".join([*lines, self.solution.explain(limit)])


def stored_step(
    name: str, solution: Solution, objective: WalkingObjective, friction: float | None
) -> StoredStep:
    """The step of a solution; its speed is that of the pelvis, whether it was free or not."""
    first, last = solution.phases[0], solution.phases[-1]
    model = solution.model
    forward = model.coordinate_index("Pelvis_TX")
    travel = float(last.q[-1, forward] - first.q[0, forward])
    parameters = {"speed": travel / float(last.time[-1])} | solution.parameters
    size, mass = hip_height(model), float(model.mass)
    return StoredStep(
        name,
        solution.phases,
        parameters,
        objective,
        size,
        mass,
        friction,
        str(solution.status),
    )
