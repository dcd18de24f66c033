"""Places for feet: given patches, and soles on level surfaces of the scene, clear of obstacles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from homodyn.balance import Stance, wrench_margins, wrench_set
from homodyn.control.collision.obstacle_distance import nearest_on_obstacles
from homodyn.motion import BoxObstacle, PlaneObstacle, Scene
from homodyn.motion.obstacles import Obstacle
from homodyn.motion.supports import ContactPatch, sole_contact
from homodyn.plan.support_planning.support_search_options import SupportSearchOptions

LEVEL_COSINE = 0.999
"""Cosine of the largest slope of a surface on which places are generated."""
SOLE_VOLUME_HEIGHTS_M = (0.09, 0.22)
"""Heights above a sole at which a foot and a shank are clear of obstacles."""
SURFACE_TOLERANCE_M = 0.005
PLACE_GRID_M, YAW_GRID_RAD = 0.05, np.pi / 12
"""Places closer than this count as one."""

Key = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class FootPlace:
    """A place of one foot."""

    patch: ContactPatch
    yaw: float
    """rad, of the long axis."""
    given: bool
    """Whether the scene has it."""

    @cached_property
    def key(self) -> Key:
        """Rounded place; equal for places that count as one."""
        x, y, z = self.patch.middle
        return (
            round(x / PLACE_GRID_M),
            round(y / PLACE_GRID_M),
            round(z / PLACE_GRID_M),
            round(self.yaw / YAW_GRID_RAD),
        )


@dataclass(eq=False)
class FootPlaces:
    """The places of both feet in a scene."""

    scene: Scene
    options: SupportSearchOptions
    mass: float
    templates: Mapping[str, ContactPatch]
    """A patch of the scene per foot: size and friction of generated soles."""
    sides: Mapping[str, float]
    """1 for the foot on the left of the other one, -1 for that on the right."""
    _kept: dict[tuple[str, Key], FootPlace | None] = field(default_factory=dict)
    _margins: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def given(self) -> dict[str, tuple[FootPlace, ...]]:
        """Places of the scene by foot."""
        return {
            foot: tuple(
                FootPlace(patch, yaw_of(patch), True)
                for patch in self.scene.supports.values()
                if isinstance(patch, ContactPatch) and patch.body == foot and self.margin(patch)
            )
            for foot in self.templates
        }

    @cached_property
    def surfaces(self) -> tuple[Obstacle, ...]:
        """Level planes and boxes that stand upright."""
        return tuple(
            each
            for each in self.scene.all_obstacles
            if (isinstance(each, PlaneObstacle) and each.normal[2] > LEVEL_COSINE)
            or (isinstance(each, BoxObstacle) and np.asarray(each.orientation)[2, 2] > LEVEL_COSINE)
        )

    def around(self, foot: str, other: FootPlace) -> Iterator[FootPlace]:
        """Valid places of a foot next to the other one.

        Args:
            foot: The foot that moves.
            other: Where the other one stands.
        """
        seen: set[Key] = set()
        ahead, side = _directions(other.yaw)
        for place in self.given[foot]:
            offset = place.patch.middle - other.patch.middle
            if self._is_reachable(offset) and self.sides[foot] * (offset @ side) > 0:
                seen.add(place.key)
                yield place
        options = self.options
        for forward in options.forward:
            for sideways in options.sideways:
                for turn in options.turns:
                    yaw = other.yaw + self.sides[foot] * turn
                    offset = forward * ahead + self.sides[foot] * sideways * side
                    found = self._place(foot, other.patch.middle + offset, yaw)
                    if found is None or found.key in seen:
                        continue
                    seen.add(found.key)
                    if self._is_reachable(found.patch.middle - other.patch.middle):
                        yield found

    def _is_reachable(self, offset: np.ndarray) -> bool:
        options = self.options
        return bool(
            np.hypot(*offset[:2]) <= options.max_step
            and abs(offset[2]) <= options.max_height_change
        )

    def _place(self, foot: str, middle: np.ndarray, yaw: float) -> FootPlace | None:
        """A sole on the highest surface under a place; None where it does not lie flat."""
        rough = (
            round(middle[0] / PLACE_GRID_M),
            round(middle[1] / PLACE_GRID_M),
            round(middle[2] / PLACE_GRID_M),
            round(yaw / YAW_GRID_RAD),
        )
        key = (foot, rough)
        if key not in self._kept:
            at = PLACE_GRID_M * np.array(rough[:3], dtype=float)
            self._kept[key] = self._make(foot, at[:2], at[2], YAW_GRID_RAD * rough[3])
        return self._kept[key]

    def _make(self, foot: str, middle: np.ndarray, level: float, yaw: float) -> FootPlace | None:
        template = self.templates[foot]
        if not self._has_margin(foot):
            return None
        arms = (template.corners - template.middle) @ template.axes[:2].T
        size = 2 * np.abs(arms).max(axis=0)
        ahead, side = _directions(yaw)
        corners = middle + np.array([a * ahead[:2] + b * side[:2] for a, b in arms])
        heights = np.array([self._height(corner, level) for corner in [*corners, middle]])
        if not np.isfinite(heights).all() or np.ptp(heights) > SURFACE_TOLERANCE_M:
            return None
        patch = sole_contact(
            f"{foot} at {middle[0]:.2f} {middle[1]:.2f} {np.degrees(yaw):.0f}",
            np.r_[middle, heights[0]],
            (float(size[0]), float(size[1])),
            friction=template.friction,
            orientation=yaw,
            limit=template.limit,
            body=foot,
        )
        place = FootPlace(patch, yaw, False)
        return place if self.is_clear(place) else None

    def _height(self, point: np.ndarray, level: float) -> float:
        """Height (m) of the highest surface at a place within a step from a level, or -inf."""
        found = [-np.inf]
        for each in self.surfaces:
            if isinstance(each, PlaneObstacle):
                normal = np.asarray(each.normal)
                found.append(float((each.height - normal[:2] @ point) / normal[2]))
            elif isinstance(each, BoxObstacle):
                turn = np.asarray(each.orientation)
                center, half = np.asarray(each.position), np.asarray(each.size) / 2
                local = turn[:2, :2].T @ (point - center[:2])
                if (np.abs(local) <= half[:2]).all():
                    found.append(float(center[2] + half[2]))
        # Surfaces above a step, such as a roof, do not carry a foot.
        return max(height for height in found if height < level + self.options.max_height_change)

    def is_clear(self, place: FootPlace) -> bool:
        """Whether a foot and a shank on a sole are clear of all obstacles.

        Args:
            place: The place.

        Raises:
            ModelError: The distance from an obstacle is not known.
        """
        if not self.scene.obstacles:
            return True
        patch = place.patch
        half = np.abs((patch.corners - patch.middle) @ patch.axes[:2].T).max(axis=0)
        # The ends of the capsule around the foot cover the corners of the sole.
        along = float(half[0]) * patch.axes[0]
        low, high = SOLE_VOLUME_HEIGHTS_M
        up = np.array([0.0, 0.0, 1.0])
        starts = np.array([patch.middle - along + low * up, patch.middle + low * up])
        ends = np.array([patch.middle + along + low * up, patch.middle + high * up])
        distance = np.asarray(nearest_on_obstacles(self.scene.obstacles, starts, ends)[1])
        return bool((distance >= float(half[1]) + self.options.clearance).all())

    def _has_margin(self, foot: str) -> bool:
        """Whether a generated sole keeps the least margin; all of one foot are equal."""
        if foot not in self._margins:
            template = self.templates[foot]
            arms = (template.corners - template.middle) @ template.axes[:2].T
            size = 2 * np.abs(arms).max(axis=0)
            sole = sole_contact(
                foot,
                (0.0, 0.0, 0.0),
                (float(size[0]), float(size[1])),
                friction=template.friction,
                limit=template.limit,
            )
            self._margins[foot] = self.margin(sole)
        return self._margins[foot]

    def margin(self, patch: ContactPatch) -> bool:
        """Whether a body at rest over one sole keeps the least margin.

        Args:
            patch: The sole.
        """
        force = -self.mass * np.asarray(self.scene.gravity)
        stance = Stance((patch,), self.scene.limit)
        found = wrench_margins(
            wrench_set(stance), force, np.cross(patch.middle, force), com=patch.middle
        )
        return bool(found.moment >= self.options.min_margin)


def yaw_of(patch: ContactPatch) -> float:
    """Yaw (rad) of the long axis of a patch.

    Args:
        patch: The patch.
    """
    return float(np.arctan2(patch.axes[0][1], patch.axes[0][0]))


def place_near(places: Sequence[FootPlace], point: np.ndarray, distance: float) -> FootPlace | None:
    """The place closest to a point seen from above; None where all are farther than a distance.

    Args:
        places: Places of one foot.
        point: (3,), m.
        distance: m.
    """
    gaps = [float(np.hypot(*(each.patch.middle - point)[:2])) for each in places]
    if not gaps or min(gaps) > distance:
        return None
    return places[int(np.argmin(gaps))]


def _directions(yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """Forward and left, (3,) each."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([c, s, 0.0]), np.array([-s, c, 0.0])
