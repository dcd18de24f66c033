"""A path looked at again on a dense grid, every constraint at every instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.balance.com_planning.bspline import ComSpline
from homodyn.balance.com_planning.margin_objective import MarginObjective
from homodyn.balance.contacts import Grasp
from homodyn.balance.scene import ComPlanRequest
from homodyn.balance.stance import Stance

INSTANTS_PER_PHASE = 200
"""Instants in a phase, both ends among them."""
LENGTH_TOLERANCE_M = 1e-6
"""m by which a bound of length may be passed: rounding of a solver."""


@dataclass(frozen=True, eq=False)
class PlanCheck:
    """Constraints of a path over time; an instant of change is there twice, for either stance."""

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
    """(instants,): the nearest side of the set of wrenches of the phase."""
    reach: np.ndarray
    """(instants,), m: what is left to the largest distance from a support; inf without one."""
    headroom: np.ndarray
    """(instants,), m: what is left below the upper bound of the height; inf without one."""
    clearance: np.ndarray
    """(instants,), m: what is left above the lower bound of the height; inf without one."""

    @cached_property
    def worst(self) -> int:
        """The instant with the smallest margin."""
        return int(self.margin.argmin())

    @property
    def smallest(self) -> float:
        """N or N m: the smallest margin."""
        return float(self.margin.min())

    @property
    def tight(self) -> np.ndarray:
        """(2,), m: by how much reach and corridor are passed at most; 0 where they are kept."""
        return np.array(
            [
                max(0.0, -float(self.reach.min())),
                max(0.0, -float(self.headroom.min()), -float(self.clearance.min())),
            ]
        )

    def by_phase(self, values: np.ndarray) -> np.ndarray:
        """(phases,): the smallest of values (instants,) in each phase."""
        return np.array([values[self.phase == k].min() for k in range(int(self.phase[-1]) + 1)])

    def violation(self, names: Sequence[str], unit: str) -> str | None:
        """The constraint that is missed most, where and by how much; None when all are kept."""
        kinds = (
            ("balance", self.margin, unit, 0.0),
            ("the distance to a support", self.reach, "m", LENGTH_TOLERANCE_M),
            ("the upper bound of the height", self.headroom, "m", LENGTH_TOLERANCE_M),
            ("the lower bound of the height", self.clearance, "m", LENGTH_TOLERANCE_M),
        )
        for what, left, unit_, close in kinds:
            k = int(left.argmin())
            if left[k] < -close:
                return (
                    f"{what} is missed by {-left[k]:.3g} {unit_} at {self.time[k]:.3f} s, in phase "
                    f"{names[self.phase[k]]!r}"
                )
        return None


def check_plan(
    spline: ComSpline,
    changes: np.ndarray,
    *,
    stances: Sequence[Stance],
    sides: Sequence[np.ndarray],
    measure: MarginObjective,
    plan: ComPlanRequest,
    mass: float,
    gravity: np.ndarray,
    dense: int = INSTANTS_PER_PHASE,
) -> PlanCheck:
    """Look at a path on ``dense`` instants of each phase; ``changes`` (phases + 1,) in s."""
    parts: dict[str, list[np.ndarray]] = {}
    for k, (stance, told) in enumerate(zip(stances, sides, strict=True)):
        time = np.linspace(changes[k], changes[k + 1], dense)
        com, pull = spline.at(time), spline.at(time, 2)
        distances = measure.distances(told, com, mass * (pull - gravity))
        side = distances.argmin(axis=1)
        none = np.full(dense, np.inf)
        found = {
            "time": time,
            "phase": np.full(dense, k),
            "com": com,
            "velocity": spline.at(time, 1),
            "acceleration": pull,
            "margin": distances[np.arange(dense), side],
            "side": side,
            "reach": _reach_left(com, support_places(stance), plan.reach),
            "headroom": none if plan.upper is None else plan.upper.height(com[:, 0]) - com[:, 2],
            "clearance": none if plan.lower is None else com[:, 2] - plan.lower.height(com[:, 0]),
        }
        for name, values in found.items():
            parts.setdefault(name, []).append(values)
    return PlanCheck(**{name: np.concatenate(values) for name, values in parts.items()})


def support_places(stance: Stance) -> np.ndarray:
    """(supports, 3), m: middles of contacts, places of grasps."""
    return np.array([s.position if isinstance(s, Grasp) else s.middle for s in stance.supports])


def _reach_left(com: np.ndarray, places: np.ndarray, reach: float) -> np.ndarray:
    away = np.linalg.norm(com[:, None] - places, axis=-1).max(axis=1)
    return np.asarray(reach - away)
