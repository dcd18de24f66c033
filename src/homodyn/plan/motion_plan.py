"""Plans of motions through a scene, with clearance and balance over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.balance import BalanceEvaluation, ComPlan
from homodyn.errors import NoSolution
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.motion import Motion, Scene
from homodyn.plan.collision_pairs import ClosestPair
from homodyn.plan.flight_path import FlightPath
from homodyn.plan.key_posture import KeyPosture


class MotionPlanFailure(NoSolution):
    """A motion that was not found, with what stops it and where.

    Attributes:
        phase: Name of the phase.
        time: Instant, s.
        pair: The pair of solids that intersect or are too close; None where a target is missed.
        q: (nq,): the posture closest to a valid one.
    """

    def __init__(
        self,
        message: str,
        *,
        phase: str,
        time: float,
        q: np.ndarray,
        pair: ClosestPair | None = None,
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.time = time
        self.q = q
        self.pair = pair


@record
class MotionPlan(Record):
    """A motion through a scene: postures on supports, flights between them, clear of obstacles."""

    scene: Scene
    """Obstacles have names, and the ground is one of them."""
    model: Model
    instants: np.ndarray
    """(phases + 1,), s."""
    com: ComPlan | None
    """Plan of the center of mass in the phases that are not seated; None where there are none."""
    keys: tuple[KeyPosture, ...]
    """Postures at the changes of support."""
    flights: tuple[FlightPath, ...]
    motion: Motion
    clearance: np.ndarray
    """(frames,), m: least distance of a capsule from an obstacle that it does not touch."""
    closest: tuple[ClosestPair, ...]
    """(frames): the pair with the least distance beyond what it has to keep."""
    balance: BalanceEvaluation
    """Margins of the whole body over time."""
    tracking: np.ndarray
    """(frames, 2), m: deviation of the center of mass from its plan (NaN where there is none), and
    of the supported bodies from their supports."""
    seconds: float
    """Computing time, s."""
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """S."""
        return float(self.instants[-1])

    @property
    def sentence(self) -> str:
        """The plan in one sentence."""
        k = int(np.argmin(self.clearance))
        pair = self.closest[k]
        margin = self.balance.wrench
        worst = int(np.nanargmin(margin))
        return (
            f"{len(self.scene.steps)} phases in {self.duration:.2f} s; least clearance "
            f"{1000 * self.clearance[k]:.1f} mm ({pair.capsule} and {pair.other}) at "
            f"{self.motion.time[k]:.2f} s; least balance margin {margin[worst]:.1f} N m at "
            f"{self.motion.time[worst]:.2f} s."
        )

    def headline(self) -> str:
        """Scene and the plan in one sentence."""
        return f"MotionPlan of {self.scene.name!r}: {self.sentence}"

    def rows(self) -> list[dict[str, object]]:
        """Tabulate the phases.

        Returns:
            One row per phase: supports, times (s), least clearance (mm) and margin (N m).
        """
        rows: list[dict[str, object]] = []
        time = self.motion.time
        for k, step in enumerate(self.scene.steps):
            start, end = self.instants[k], self.instants[k + 1]
            own = (time >= start - 1e-9) & (time <= end + 1e-9)
            margin = self.balance.wrench[own]
            flying = [
                f"{path.body} ({path.method})"
                for path in self.flights
                if path.start < end - 1e-9 and path.end > start + 1e-9
            ]
            rows.append(
                {
                    "phase": step.name,
                    "supports": " + ".join(step.supports),
                    "start_s": float(start),
                    "end_s": float(end),
                    "flights": ", ".join(flying),
                    "clearance_mm": 1000 * float(self.clearance[own].min()),
                    "margin_Nm": float(np.nanmin(margin)) if np.isfinite(margin).any() else None,
                }
            )
        return rows


def unsolved_keys(keys: Sequence[KeyPosture]) -> list[int]:
    """Numbers of the key postures that were not found."""
    return [k for k, key in enumerate(keys) if not key.solved]
