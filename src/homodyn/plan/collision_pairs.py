"""Which capsules keep clear of which obstacles, and of each other, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from homodyn.control import CollisionLimit
from homodyn.control.collision.obstacle_distance import nearest_on_obstacles
from homodyn.control.collision.segment_distance import guarded_of_segments
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.model.side import Side, side_of
from homodyn.motion import Scene
from homodyn.motion.supports import ContactPatch, Support
from homodyn.plan.capsule_axes import capsule_axes
from homodyn.plan.support_targets import SupportBody

DEFAULT_CLEARANCE_M = 0.01
"""Distance that capsules keep from obstacles."""
CONTACT_TOLERANCE_M = 0.002
"""Penetration allowed for a foot and what it stands on, leaves or lands on."""
SEAT_COMPRESSION_M = 0.03
"""Penetration allowed for the seated body and the seat, which is soft."""
BODY_OVERLAP_M = 0.01
"""Penetration allowed for capsules of the body: they are wider than limbs at ankles and wrists."""
SUPPORT_DISTANCE_M = 0.03
"""Distance of a support from the surface of the obstacle that carries it."""
GRASP_DISTANCE_M = 0.08
"""The same for a grasp, which is at the middle of the hand."""
SEAT_DISTANCE_M = 0.2
"""The same for a seat, whose place is that of the root."""
MIN_FREE_GAP_M = 0.01
"""Capsules that are closer in the neutral pose overlap by construction and are not a pair."""
LOWER_LIMBS, UPPER_LIMBS = ("leg", "foot"), ("forearm", "hand")
TRUNK = ("pelvis", "lumbar_spine", "thoracic_spine", "head")
GROUND_NAME = "ground"
LIMB_PAIRS: ModelCache[tuple[tuple[str, str], ...]] = ModelCache("pairs of capsules")


@record(eq=True)
class ClosestPair(Record):
    """The pair of solids with the least distance beyond what it has to keep."""

    capsule: str
    other: str
    """Obstacle or second capsule."""
    distance: float
    """m, negative where they intersect."""
    required: float
    """m."""

    @property
    def missing(self) -> float:
        """m: by how much the distance is too small; 0 where it is not."""
        return max(0.0, self.required - self.distance)

    def headline(self) -> str:
        """Pair and distance in mm."""
        return f"{self.capsule} and {self.other}: {1000 * self.distance:.1f} mm"


def named_obstacles(scene: Scene) -> Scene:
    """The scene with the ground as one of its obstacles, each with a name.

    Args:
        scene: The scene.

    Returns:
        A scene without a ground of its own; obstacles without a name are numbered.
    """
    taken = {each.name for each in scene.obstacles}
    ground_name = GROUND_NAME if GROUND_NAME not in taken else f"{GROUND_NAME} plane"
    every = [
        each if each.name else replace(each, name=f"{each.kind} {number}")
        for number, each in enumerate(scene.obstacles, start=1)
    ]
    if scene.ground is not None:
        every.insert(0, replace(scene.ground, name=scene.ground.name or ground_name))
    return replace(scene, ground=None, obstacles=tuple(every))


def limb_pairs(model: Model) -> tuple[tuple[str, str], ...]:
    """Pairs of capsules that avoid each other: leg and leg, lower arm and trunk.

    Args:
        model: The model.

    Returns:
        Names of the capsules; pairs that overlap in the neutral pose are left out.
    """

    def compute() -> tuple[tuple[str, str], ...]:
        names = [capsule.name for capsule in model.capsules]
        right, left = (
            [name for name in names if side_of(name) is side and name.endswith(LOWER_LIMBS)]
            for side in (Side.RIGHT, Side.LEFT)
        )
        pairs = [(a, b) for a in right for b in left]
        arms = [name for name in names if name.endswith(UPPER_LIMBS)]
        pairs += [(a, b) for a in arms for b in names if b in TRUNK]
        gaps = pair_distances(model, model.neutral(), pairs)
        return tuple(pair for pair, gap in zip(pairs, gaps, strict=True) if gap > MIN_FREE_GAP_M)

    return LIMB_PAIRS.get(model, "limbs", compute)


def pair_distances(model: Model, q: np.ndarray, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Distances between capsules.

    Args:
        model: The model.
        q: Positions, (..., nq).
        pairs: Names of capsules.

    Returns:
        (..., pairs), m, negative where capsules intersect.
    """
    axes, radius = capsule_axes(model, q)
    index = {capsule.name: k for k, capsule in enumerate(model.capsules)}
    first, second = ([index[pair[side]] for pair in pairs] for side in (0, 1))
    a, b = axes[..., first, :, :], axes[..., second, :, :]
    found = guarded_of_segments(a[..., 0, :], a[..., 1, :], b[..., 0, :], b[..., 1, :])
    return np.asarray(found[2][..., 0] - radius[first] - radius[second])


def obstacle_distances(model: Model, q: np.ndarray, scene: Scene) -> np.ndarray:
    """Distances of all capsules to all obstacles of a scene, without its ground.

    Args:
        model: The model.
        q: Positions, (..., nq).
        scene: The scene.

    Returns:
        (..., capsules, obstacles), m, negative where they intersect.
    """
    axes, radius = capsule_axes(model, q)
    if not scene.obstacles:
        return np.full((*axes.shape[:-2], 0), np.inf)
    distance = nearest_on_obstacles(scene.obstacles, axes[..., 0, :], axes[..., 1, :])[1]
    return np.asarray(distance - radius[:, None])


def contact_margins(
    scene: Scene, uses: Iterable[tuple[SupportBody, Support]]
) -> dict[tuple[str, str], float]:
    """Margins of the capsules that touch obstacles because they use supports on them.

    Args:
        scene: The scene, whose obstacles have names.
        uses: Bodies with supports that they use, leave or reach.

    Returns:
        m, by capsule and obstacle: slightly negative for soles, more for the soft seat, -inf for
        a hand and its handle.
    """
    margins: dict[tuple[str, str], float] = {}
    for body, support in uses:
        near = SUPPORT_DISTANCE_M if isinstance(support, ContactPatch) else GRASP_DISTANCE_M
        near = SEAT_DISTANCE_M if body.is_seat else near
        carriers = _obstacles_near(scene, support.middle, near)
        capsules = [
            capsule.name
            for capsule in body.model.capsules
            if capsule.body in body.family or (body.is_seat and capsule.name.endswith("thigh"))
        ]
        margin = -CONTACT_TOLERANCE_M
        if body.is_seat:
            margin = -SEAT_COMPRESSION_M
        elif not isinstance(support, ContactPatch):
            margin = -np.inf
        for capsule in capsules:
            for carrier in carriers:
                key = (capsule, carrier)
                margins[key] = min(margin, margins.get(key, np.inf))
    return margins


def clearance_limit(
    model: Model,
    scene: Scene,
    margins: dict[tuple[str, str], float],
    clearance: float = DEFAULT_CLEARANCE_M,
) -> CollisionLimit:
    """The limit that keeps all capsules clear of the obstacles and of each other.

    Args:
        model: The model.
        scene: The scene, whose obstacles have names.
        margins: From `contact_margins`.
        clearance: Distance from all other obstacles, m.

    Returns:
        The limit.

    Raises:
        ModelError: An obstacle is of a kind without distances.
    """
    return CollisionLimit(
        scene,
        pairs=limb_pairs(model),
        margin=clearance,
        pair_margins=margins,
        pairs_margin=-BODY_OVERLAP_M,
        gain=0.7,
        max_recovery=0.05,
        influence=0.15,
    )


def required_distances(
    model: Model, scene: Scene, margins: dict[tuple[str, str], float], clearance: float
) -> np.ndarray:
    """Distances that capsules have to keep.

    Args:
        model: The model.
        scene: The scene, whose obstacles have names.
        margins: From `contact_margins`.
        clearance: Distance from all other obstacles, m.

    Returns:
        (capsules, obstacles), m.
    """
    required = np.full((len(model.capsules), len(scene.obstacles)), clearance)
    for j, capsule in enumerate(model.capsules):
        for k, obstacle in enumerate(scene.obstacles):
            required[j, k] = margins.get((capsule.name, obstacle.name), clearance)
    return required


def closest_pairs(
    model: Model,
    q: np.ndarray,
    scene: Scene,
    margins: dict[tuple[str, str], float],
    clearance: float,
) -> tuple[np.ndarray, list[ClosestPair]]:
    """The pair with the least distance beyond what it has to keep, in each pose.

    Args:
        model: The model.
        q: Positions, (poses, nq).
        scene: The scene, whose obstacles have names.
        margins: From `contact_margins`.
        clearance: Distance that all other pairs keep, m.

    Returns:
        Distances less those required (poses,), m, and the pairs.
    """
    required = required_distances(model, scene, margins, clearance)
    distance = obstacle_distances(model, q, scene)
    excess = (distance - required).reshape(len(q), -1)
    pairs = limb_pairs(model)
    own = pair_distances(model, q, pairs) if pairs else np.zeros((len(q), 0))
    every = np.hstack([excess, own + BODY_OVERLAP_M])
    if not every.shape[1]:
        return np.full(len(q), np.inf), []
    chosen = every.argmin(axis=1)
    named = []
    for pose, k in enumerate(chosen):
        if k < excess.shape[1]:
            j, o = divmod(int(k), len(scene.obstacles))
            capsule, other = model.capsules[j].name, scene.obstacles[o].name
            gap, needed = distance[pose, j, o], required[j, o]
        else:
            capsule, other = pairs[int(k) - excess.shape[1]]
            gap, needed = own[pose, int(k) - excess.shape[1]], -BODY_OVERLAP_M
        named.append(ClosestPair(capsule, other, float(gap), float(needed)))
    return every[np.arange(len(q)), chosen], named


def _obstacles_near(scene: Scene, point: np.ndarray, distance: float) -> list[str]:
    """Obstacles whose surface is near a point."""
    if not scene.obstacles:
        return []
    place = np.asarray(point, dtype=float)[None]
    gaps = nearest_on_obstacles(scene.obstacles, place, place)[1][0]
    return [each.name for each, gap in zip(scene.obstacles, gaps, strict=True) if gap <= distance]
