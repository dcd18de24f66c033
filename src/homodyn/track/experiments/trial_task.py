"""The course of one trial: start, target or moving target, touch, and return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from homodyn.track.experiments.experiment import ReachTarget, TracePath, TrialBlock

RAMP_VERTICES = 10
"""Vertices over which the speed of a traced target rises."""
FIRST_RAMP_SHARE = 0.1
"""Share of the speed at the first vertex."""


class TrialStage(StrEnum):
    """Where a trial is."""

    START = "touch the start"
    REACH = "touch the target"
    RETURN = "return to the start"
    TRACE = "follow the target"
    DONE = "done"
    TIMED_OUT = "out of time"

    @property
    def is_end(self) -> bool:
        """Whether the trial is over."""
        return self in (TrialStage.DONE, TrialStage.TIMED_OUT)


@dataclass(frozen=True, eq=False)
class TrialPlan:
    """What a trial asks for, with its random choices made."""

    block: TrialBlock
    number: int
    """From 1, over all blocks."""
    target: ReachTarget | None = None
    path: TracePath | None = None
    """In the order in which it is traced."""
    speed: float = 0.0
    """m/s."""


class TrialTask:
    """Advances a trial by the position of the pointer.

    Reaching: touch the start, touch the target for its time, return to the start. Tracing: touch
    the first vertex, and follow the target that then moves along the path.

    Args:
        plan: The trial.
        start: Where reaching begins and ends.
        pointer_radius: m; a touch is an overlap of pointer and target.
    """

    def __init__(self, plan: TrialPlan, start: ReachTarget, pointer_radius: float) -> None:
        self.plan, self.stage = plan, TrialStage.START
        self.began_at: float | None = None
        """Time (s) at which the start was touched."""
        self.touched_at: float | None = None
        """Time (s) of the first touch of the target."""
        self.ended_at: float | None = None
        self.deviations: list[float] = []
        """Distances of pointer and moving target (m)."""
        self._start, self._pointer_radius = start, pointer_radius
        self._held_since: float | None = None
        self._distance = 0.0
        self._last: float | None = None
        if plan.path is not None:
            self._vertices = plan.path.vertices
            lengths = np.linalg.norm(np.diff(self._vertices, axis=0), axis=1)
            self._along = np.concatenate([[0.0], np.cumsum(lengths)])

    @property
    def center(self) -> np.ndarray:
        """(3,), m: center of the sphere that is to be touched or followed."""
        plan = self.plan
        if plan.path is not None:
            return np.array(
                [np.interp(self._distance, self._along, self._vertices[:, k]) for k in range(3)]
            )
        if self.stage is TrialStage.REACH and plan.target is not None:
            return np.asarray(plan.target.position)
        return np.asarray(self._start.position)

    @property
    def radius(self) -> float:
        """Radius (m) of that sphere."""
        if self.stage is TrialStage.REACH and self.plan.target is not None:
            return self.plan.target.radius
        return self._start.radius

    def advance(
        self, time: float, pointer: np.ndarray, center: np.ndarray, radius: float
    ) -> TrialStage:
        """Advance to a time.

        Args:
            time: s.
            pointer: (3,), m; NaN if it is not seen, which touches nothing.
            center: (3,), m: center of the sphere as it is shown, with the effect of stimuli.
            radius: m: its radius as it is shown.

        Returns:
            The stage after this time.
        """
        distance = float(np.linalg.norm(pointer - center))
        touches = distance <= radius + self._pointer_radius
        match self.stage:
            case TrialStage.START if touches:
                self.began_at = self._last = time
                self.stage = TrialStage.REACH if self.plan.path is None else TrialStage.TRACE
            case TrialStage.REACH:
                self._reach(time, touches)
            case TrialStage.RETURN if touches:
                self._end(time, TrialStage.DONE)
            case TrialStage.TRACE:
                self._trace(time, distance)
        began = self.began_at
        if not self.stage.is_end and began is not None and time - began > self.plan.block.limit:
            self._end(time, TrialStage.TIMED_OUT)
        return self.stage

    def _reach(self, time: float, touches: bool) -> None:
        if not touches:
            self._held_since = None
            return
        if self.touched_at is None:
            self.touched_at = time
        if self._held_since is None:
            self._held_since = time
        if time - self._held_since >= self.plan.block.hold:
            self.stage = TrialStage.RETURN

    def _trace(self, time: float, distance: float) -> None:
        assert self._last is not None
        if np.isfinite(distance):
            self.deviations.append(distance)
        passed = float(np.searchsorted(self._along, self._distance, side="right"))
        ramp = FIRST_RAMP_SHARE + (1.0 - FIRST_RAMP_SHARE) * min(passed / RAMP_VERTICES, 1.0)
        self._distance += self.plan.speed * ramp * (time - self._last)
        self._last = time
        if self._distance >= self._along[-1]:
            self._end(time, TrialStage.DONE)

    def _end(self, time: float, stage: TrialStage) -> None:
        self.stage, self.ended_at = stage, time
