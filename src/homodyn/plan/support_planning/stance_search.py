"""A* over stances of two feet; one foot moves at a time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from homodyn.plan.support_planning.foot_places import FootPlace, FootPlaces, Key

MAX_ADVANCE_M = 0.65
"""Distance that the middle of the feet can move in one step; makes the heuristic optimistic."""

StanceKey = tuple[Key, ...]


@dataclass(frozen=True, eq=False)
class FootStance:
    """Places of both feet, and which foot moved last."""

    places: Mapping[str, FootPlace]
    moved: str | None = None

    @property
    def key(self) -> StanceKey:
        """Rounded places of the feet in their order."""
        return tuple(place.key for place in self.places.values())

    @property
    def middle(self) -> np.ndarray:
        """(3,), m: middle of the soles."""
        return np.mean([place.patch.middle for place in self.places.values()], axis=0)


@dataclass(eq=False)
class StanceSearch:
    """A search from one stance to stances around a point."""

    places: FootPlaces
    finish: np.ndarray
    """(3,), m: position of the center of mass at the end."""
    height: float
    """m: height of the center of mass above the feet at the start."""
    forbidden: set[StanceKey] = field(default_factory=set)
    """Stances without a posture."""
    opened: int = 0
    """Stances opened by all searches."""
    nearest: float = np.inf
    """m: least distance of the middle of the feet from the finish so far."""

    def path(self, start: FootStance) -> list[FootStance] | None:
        """The cheapest sequence of stances; None where there is none.

        Args:
            start: The first stance.
        """
        options, order = self.places.options, itertools.count()
        queue: list[tuple[float, int, float, FootStance, int | None]] = [
            (self._estimate(start), next(order), 0.0, start, None)
        ]
        best: dict[tuple[StanceKey, str | None], float] = {}
        parents: dict[int, tuple[FootStance, int | None]] = {}
        count = 0
        while queue and count < options.max_nodes:
            _, number, cost, stance, parent = heapq.heappop(queue)
            state = (stance.key, stance.moved)
            if best.get(state, np.inf) <= cost:
                continue
            best[state] = cost
            parents[number] = (stance, parent)
            count += 1
            self.opened += 1
            if self.is_goal(stance):
                return _trace(parents, number)
            for step, next_stance in self._steps(stance):
                total = cost + step
                bound = total + self._estimate(next_stance)
                heapq.heappush(queue, (bound, next(order), total, next_stance, number))
        return None

    def is_goal(self, stance: FootStance) -> bool:
        """Whether the center of mass can be at the finish over a stance.

        Args:
            stance: The stance.
        """
        gap = self.finish - stance.middle
        distance = float(np.hypot(*gap[:2]))
        level = abs(gap[2] - self.height) < 0.3 * self.height
        if level:
            self.nearest = min(self.nearest, distance)
        heights = [place.patch.middle[2] for place in stance.places.values()]
        return bool(
            level and distance <= self.places.options.goal_distance and np.ptp(heights) < 0.02
        )

    def _steps(self, stance: FootStance) -> list[tuple[float, FootStance]]:
        """Costs and next stances of all steps of the foot that did not move last."""
        found, options = [], self.places.options
        for foot in stance.places:
            if foot == stance.moved:
                continue
            (other,) = (place for name, place in stance.places.items() if name != foot)
            for place in self.places.around(foot, other):
                if place.key == stance.places[foot].key:
                    continue
                following = FootStance({**stance.places, foot: place}, foot)
                if following.key in self.forbidden:
                    continue
                offset = place.patch.middle - other.patch.middle
                turn = abs((place.yaw - other.yaw + np.pi) % (2 * np.pi) - np.pi)
                cost = (
                    1.0
                    + options.length_cost * float(np.hypot(*offset[:2]))
                    + options.height_cost * abs(float(offset[2]))
                    + options.turn_cost * turn
                )
                found.append((cost, following))
        return found

    def _estimate(self, stance: FootStance) -> float:
        gap = float(np.hypot(*(self.finish - stance.middle)[:2]))
        options = self.places.options
        return options.greed * max(gap - options.goal_distance, 0.0) / MAX_ADVANCE_M


def _trace(parents: Mapping[int, tuple[FootStance, int | None]], number: int) -> list[FootStance]:
    path: list[FootStance] = []
    at: int | None = number
    while at is not None:
        stance, at = parents[at]
        path.append(stance)
    return path[::-1]
