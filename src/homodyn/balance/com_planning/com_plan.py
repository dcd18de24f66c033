"""Plans of the center of mass: the path with its margins and the check of its constraints."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.com_planning.plan_check import PlanCheck
from homodyn.balance.contact_phases import SupportPhase
from homodyn.balance.failure_modes import limiting_contacts
from homodyn.balance.required_wrench import RequiredWrench, point_mass_wrench
from homodyn.balance.scene_phases import scene_mass
from homodyn.balance.stability_margins import TransitionDifficulty
from homodyn.balance.wrench_polytope import WrenchSet
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion import Scene
from homodyn.motion.bspline import ComSpline


@record
class ComPlan(Record):
    """A path of the center of mass over a sequence of supports, checked on a dense time grid."""

    scene: Scene
    method: str
    """``"timing-free"`` or ``"keyframes"``."""
    status: str
    """Final status of the solver."""
    spline: ComSpline
    durations: np.ndarray
    """(phases,), s."""
    check: PlanCheck
    """Every constraint at every instant of the dense grid."""
    objective: MarginObjective
    """The margin that was maximized."""
    difficulty: TransitionDifficulty | None
    """Overlap of consecutive stances; None with a single phase."""
    sets: tuple[WrenchSet, ...]
    """Wrench set of each phase."""
    seconds: float
    """Computing time of the search, without the wrench sets, s."""
    set_seconds: float
    """Computing time of the wrench sets, s."""
    rounds: int
    """Rounds of the search."""
    iterations: int
    """Iterations of the solver."""
    inserted: tuple[float, ...] = ()
    """s: instants added by a plan through key frames."""

    @property
    def instants(self) -> np.ndarray:
        """(phases + 1,), s: start, changes of support, end."""
        return np.r_[0.0, np.cumsum(self.durations)]

    @property
    def duration(self) -> float:
        """Duration, s."""
        return float(self.durations.sum())

    @property
    def margin(self) -> float:
        """N m (N for a force margin): the smallest margin on the dense grid."""
        return self.check.smallest

    @property
    def worst(self) -> float:
        """s: the instant with the smallest margin."""
        return float(self.check.time[self.check.worst])

    @property
    def phases(self) -> tuple[SupportPhase, ...]:
        """The stances with the times of the plan."""
        at = self.instants
        phases = []
        for k, (wrenches, step) in enumerate(zip(self.sets, self.scene.steps, strict=True)):
            phase = SupportPhase(wrenches.stance, float(at[k]), float(at[k + 1]), step.name)
            # The wrench set is known: the cached property need not compute it again.
            vars(phase)["wrenches"] = wrenches
            phases.append(phase)
        return tuple(phases)

    @property
    def path(self) -> ComSpline:
        """The path in the form of a scene, with its inner knots at the changes of support.

        Raises:
            ModelError: An inner knot is not a change of support.
        """
        if len(self.spline.instants) != len(self.instants):
            raise ModelError(
                "the path of a scene has knots only at the changes of support; plan with pieces=1"
            )
        return ComSpline(self.spline.degree, self.instants, self.spline.points)

    def required_wrench(self, time: np.ndarray) -> RequiredWrench:
        """Compute the wrench that a point mass requires to follow the path.

        Args:
            time: Instants, (instants,), s.

        Returns:
            The required wrench.
        """
        return point_mass_wrench(
            time,
            self.spline.at(time),
            self.spline.at(time, 2),
            mass=scene_mass(self.scene),
            velocity=self.spline.at(time, 1),
            gravity=self.scene.gravity,
        )

    @cached_property
    def sentence(self) -> str:
        """The plan and its worst instant in one sentence."""
        k = int(self.check.phase[self.check.worst])
        side = int(self.check.side[self.check.worst])
        limits = [str(x) for x in limiting_contacts(self.sets[k], side) if x.modes]
        beyond = f"; below zero {' and '.join(limits)}" if limits else ""
        stance = " and ".join(self.scene.steps[k].supports)
        return (
            f"{count_of(len(self.durations), 'phase')} in {self.duration:.2f} s; smallest margin "
            f"at {self.worst:.3f} s on {stance}: {self.margin:.1f} "
            f"{self.objective.margin.unit}{beyond}."
        )

    def rows(self) -> list[dict[str, object]]:
        """Tabulate the phases.

        Returns:
            One row per phase: supports, times and minimum duration (s), smallest margin (N m or N).
        """
        at, smallest = self.instants, self.check.by_phase(self.check.margin)
        return [
            {
                "phase": step.name,
                "supports": " + ".join(step.supports),
                "start_s": float(at[k]),
                "end_s": float(at[k + 1]),
                "min_duration_s": step.min_duration,
                "margin": float(smallest[k]),
            }
            for k, step in enumerate(self.scene.steps)
        ]

    def headline(self) -> str:
        """Scene and the plan in one sentence."""
        return f"ComPlan of {self.scene.name!r}: {self.sentence}"
