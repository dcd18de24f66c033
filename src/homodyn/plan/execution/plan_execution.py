"""The result of tracking a plan in simulation."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.motion import Motion
from homodyn.plan.execution.execution_options import ExecutionOptions
from homodyn.plan.motion_plan import MotionPlan
from homodyn.simulate import SimulationResult


class ExecutionStatus(StrEnum):
    """How the execution of a plan ended."""

    FINISHED = "finished"
    """The body is upright at the end and touched nothing that it should not."""
    FELL = "fell"
    """The center of mass left its reference by more than 0.25 m."""
    COLLIDED = "collided"
    """The body reached the end, but a capsule went into an obstacle by more than 1 cm."""
    FAILED = "failed"
    """The controller or the simulation ended before the end of the plan."""

    @property
    def success(self) -> bool:
        """Whether the plan was executed to its end."""
        return self is ExecutionStatus.FINISHED


@record
class SupportHold(Record):
    """A support over the time in which it is used."""

    support: str
    body: str
    start: float
    """s."""
    end: float
    """s."""
    slip: float
    """m: largest displacement from where the body was when it came to rest on the support."""
    placement: float
    """m: horizontal distance of that place from the planned one; for a grasp in all directions."""
    included: bool | None
    """Whether the wrenches that the plan counts on are available where the foot stands; None for
    grasps and seats."""


@record
class PlanExecution(Record):
    """A plan tracked in simulation by whole-body control."""

    plan: MotionPlan
    options: ExecutionOptions
    status: ExecutionStatus
    message: str
    """The outcome in one sentence."""
    speed: float
    """Part of the planned speed at which it was executed."""
    simulation: SimulationResult
    motion: Motion
    com: np.ndarray
    """(samples, 3), m: center of mass."""
    com_reference: np.ndarray
    """(samples, 3), m."""
    balanced: np.ndarray
    """(samples,): whether the center of mass is planned, which it is not on a seat."""
    holds: tuple[SupportHold, ...]
    clearance: np.ndarray
    """(samples,), m: least distance of a capsule from what it must not touch."""
    closest: str
    """The pair of the least clearance."""
    relaxed_times: tuple[float, ...]
    """s: calls in which the contacts could not be held by the program."""
    seconds: float
    """Computing time, s."""
    notes: tuple[str, ...] = ()

    @property
    def com_error(self) -> np.ndarray:
        """(samples,), m: distance of the center of mass from its reference."""
        return np.asarray(np.linalg.norm(self.com - self.com_reference, axis=1))

    @property
    def com_rms(self) -> float:
        """m: root mean square of the error of the center of mass while it is planned."""
        chosen = self.com_error[self.balanced]
        return float(np.sqrt(np.mean(chosen**2))) if len(chosen) else 0.0

    @property
    def largest_slip(self) -> float:
        """M."""
        return max((hold.slip for hold in self.holds), default=0.0)

    @property
    def included(self) -> bool:
        """Whether the planning polytope is inside the simulated one in all phases."""
        return all(hold.included is not False for hold in self.holds)

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        return self.message

    def headline(self) -> str:
        """Scene and outcome."""
        return f"PlanExecution of {self.plan.scene.name!r}: {self.message}"

    def rows(self) -> list[dict[str, object]]:
        """Tabulate the supports.

        Returns:
            One row per support: body, times (s), slip and placement (mm), and inclusion.
        """
        return [
            {
                "support": hold.support,
                "body": hold.body,
                "start_s": hold.start,
                "end_s": hold.end,
                "slip_mm": 1000 * hold.slip,
                "placement_mm": 1000 * hold.placement,
                "included": hold.included,
            }
            for hold in self.holds
        ]
