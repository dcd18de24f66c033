"""Check of a path on a dense grid: every constraint at every instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.stance import Stance
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion.bspline import ComSpline
from homodyn.motion.scene import ComPlanRequest

INSTANTS_PER_PHASE = 200
"""Instants of a phase, both ends included."""
LENGTH_TOLERANCE_M = 1e-6
"""Tolerance of a solver by which it may violate a bound of length."""


@record
class PlanCheck(TimeSeries):
    """Constraints of a path over time; a change of support occurs twice, once for each stance."""

    time: np.ndarray
    """(instants,), s."""
    phase: np.ndarray
    """(instants,): number of the phase, from 0."""
    com: np.ndarray
    """(instants, 3), m."""
    velocity: np.ndarray
    """(instants, 3), m/s."""
    acceleration: np.ndarray
    """(instants, 3), m/s2."""
    margin: np.ndarray
    """(instants,), N or N m; negative where the supports fall short."""
    side: np.ndarray
    """(instants,): index of the nearest facet of the wrench set of the phase."""
    reach: np.ndarray
    """(instants,), m: slack of the largest distance from a support; inf without a limit."""
    headroom: np.ndarray
    """(instants,), m: slack of the upper bound of the height; inf without one."""
    clearance: np.ndarray
    """(instants,), m: slack of the lower bound of the height; inf without one."""

    @cached_property
    def worst(self) -> int:
        """Index of the instant with the smallest margin."""
        return int(self.margin.argmin())

    @property
    def smallest(self) -> float:
        """N or N m: the smallest margin."""
        return float(self.margin.min())

    @property
    def length_violations(self) -> np.ndarray:
        """(2,), m: largest violation of reach and of the corridor; 0 where there is none."""
        return np.array(
            [
                max(0.0, -float(self.reach.min())),
                max(0.0, -float(self.headroom.min()), -float(self.clearance.min())),
            ]
        )

    def columns(self) -> dict[str, Curve]:
        """Path, its derivatives and the constraints.

        Returns:
            One curve per quantity.
        """
        quantities = (
            ("center of mass", "m", self.com),
            ("velocity", "m/s", self.velocity),
            ("acceleration", "m/s2", self.acceleration),
            ("margin", "", self.margin),
            ("reach", "m", self.reach),
            ("headroom", "m", self.headroom),
            ("clearance", "m", self.clearance),
        )
        return {name: Curve(name, unit, self.time, values) for name, unit, values in quantities}

    def headline(self) -> str:
        """Number of instants and smallest margin."""
        return (
            f"PlanCheck: {count_of(len(self.time), 'instant')}, smallest margin {self.smallest:.4g}"
        )

    def by_phase(self, values: np.ndarray) -> np.ndarray:
        """The smallest value in each phase.

        Args:
            values: (instants,).

        Returns:
            (phases,).
        """
        return np.array([values[self.phase == k].min() for k in range(int(self.phase[-1]) + 1)])

    def violation(self, names: Sequence[str], unit: str) -> str | None:
        """Describe the first kind of constraint that is violated, at its worst instant.

        Args:
            names: Names of the phases.
            unit: Unit of the margin.

        Returns:
            Constraint, violation, time and phase; None if all constraints are satisfied.
        """
        kinds = (
            ("balance", self.margin, unit, 0.0),
            ("the distance to a support", self.reach, "m", LENGTH_TOLERANCE_M),
            ("the upper bound of the height", self.headroom, "m", LENGTH_TOLERANCE_M),
            ("the lower bound of the height", self.clearance, "m", LENGTH_TOLERANCE_M),
        )
        for what, slack, slack_unit, tolerance in kinds:
            k = int(slack.argmin())
            if slack[k] < -tolerance:
                return (
                    f"{what} is violated by {-slack[k]:.3g} {slack_unit} at {self.time[k]:.3f} s, "
                    f"in phase {names[self.phase[k]]!r}"
                )
        return None


@dataclass(frozen=True, eq=False)
class PlanConstraints:
    """What a path has to satisfy: stances with their facets, bounds of the plan, and the mass."""

    stances: Sequence[Stance]
    facets: Sequence[np.ndarray]
    """Of each phase, from `MarginObjective.facets`."""
    objective: MarginObjective
    plan: ComPlanRequest
    mass: float
    """kg."""
    gravity: np.ndarray
    """(3,), m/s2."""

    def force(self, acceleration: np.ndarray) -> np.ndarray:
        """(..., 3), N: force on the mass at accelerations (..., 3), m/s2."""
        return self.mass * (acceleration - self.gravity)


def check_plan(spline: ComSpline, changes: np.ndarray, constraints: PlanConstraints) -> PlanCheck:
    """Evaluate the constraints on a dense grid; ``changes`` (phases + 1,), s, of support."""
    plan, count = constraints.plan, INSTANTS_PER_PHASE
    parts: dict[str, list[np.ndarray]] = {}
    for k, (stance, facets) in enumerate(zip(constraints.stances, constraints.facets, strict=True)):
        time = np.linspace(changes[k], changes[k + 1], count)
        com, acceleration = spline.at(time), spline.at(time, 2)
        distances = constraints.objective.distances(facets, com, constraints.force(acceleration))
        side = distances.argmin(axis=1)
        unlimited = np.full(count, np.inf)
        x, z = com[:, 0], com[:, 2]
        values = {
            "time": time,
            "phase": np.full(count, k),
            "com": com,
            "velocity": spline.at(time, 1),
            "acceleration": acceleration,
            "margin": distances[np.arange(count), side],
            "side": side,
            "reach": _reach_slack(com, support_positions(stance), plan.reach),
            "headroom": unlimited if plan.upper is None else plan.upper.height(x) - z,
            "clearance": unlimited if plan.lower is None else z - plan.lower.height(x),
        }
        for name, array in values.items():
            parts.setdefault(name, []).append(array)
    return PlanCheck(**{name: np.concatenate(arrays) for name, arrays in parts.items()})


def support_positions(stance: Stance) -> np.ndarray:
    """(supports, 3), m: centers of contacts and positions of grasps."""
    return np.array([support.middle for support in stance.supports])


def _reach_slack(com: np.ndarray, positions: np.ndarray, reach: float) -> np.ndarray:
    distance = np.linalg.norm(com[:, None] - positions, axis=-1).max(axis=1)
    return np.asarray(reach - distance)
