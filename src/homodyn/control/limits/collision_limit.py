"""Distances between the capsules of a model, and to the obstacles of a scene."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from homodyn.control.collision.obstacle_distance import (
    guarded_on_pairs,
    nearest_on_obstacles,
)
from homodyn.control.collision.segment_distance import guarded_of_segments, obstacle_frame
from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.model.shapes import Capsule
from homodyn.motion.obstacles import Obstacle
from homodyn.motion.scene import Scene
from homodyn.symbolic import Kernel, kernel

POINTS_PER_PAIR = 3
"""Rows of a pair: at its nearest points, and on both sides of them."""
MAX_PENETRATION_M = 5e-4
"""Penetration of the margin (m) above which `solve_ik` shortens a step."""
MIN_POINT_SPACING_M = 1e-5
"""Distance (m) from the nearest point below which points on its sides have no row."""
CAPSULE_KERNELS: ModelCache[Kernel] = ModelCache("kernels of capsule axes")
"""World ends of capsules by their names."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Points with rows at a state: of each pair the nearest, then those on both sides of it."""

    distance: np.ndarray
    """(..., rows), m: between the surfaces, negative where they intersect; less by the difference
    where the margin of a pair is larger than ``margin``."""
    normal: np.ndarray
    """(..., rows, 3): from the obstacle, or the second capsule, to the first capsule."""
    point: np.ndarray
    """(..., rows, 3), m: on the axis of the first capsule, in the axes of its body."""
    other_point: np.ndarray
    """(..., rows, 3), m: on the axis of the second capsule, in the axes of its body."""
    obstacle: np.ndarray
    """(..., rows): index of the obstacle; -1 for pairs of capsules."""


@record
class CollisionLimit(Limit):
    """Keeps capsules from obstacles and from each other.

    A step covers at most ``gain`` of the distance that is left above ``margin`` (a control barrier:
    ``n . J v dt >= -gain (distance - margin)``). Capsules closer than the margin move away by at
    most ``max_recovery`` a step.

    A pair has three rows: at its nearest points, and on both sides of them where a turn brings the
    capsule closest, such as the ends of a capsule along a face. Rows are linear, and only the
    ``obstacles_per_capsule`` nearest obstacles have them: where a step would still penetrate the
    margin deeper than `MAX_PENETRATION_M`, `solve_ik` shortens it.

    Raises:
        ModelError: A number is out of its range, or an obstacle is of a kind without distances.
    """

    scene: Scene | None = None
    """Obstacles, and the ground where ``use_ground`` is set; None: only pairs of capsules."""
    capsules: Sequence[str] = ()
    """Names of the capsules that avoid obstacles; empty: all of the model."""
    pairs: Sequence[tuple[str, str]] = ()
    """Pairs of capsules that avoid each other."""
    margin: float = 0.0
    """m: smallest distance of surfaces."""
    pair_margins: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """m: margins of capsules at named obstacles instead of ``margin``, such as 0 for a foot and the
    platform on which it lands; -inf for pairs that may intersect, such as a hand and its handle."""
    pairs_margin: float | None = None
    """m: margin of the pairs of capsules; None: ``margin``."""
    gain: float = 0.5
    """From 0 to 1."""
    influence: float = 0.3
    """m: distance beyond which a pair has no row."""
    obstacles_per_capsule: int = 2
    """Number of nearest obstacles that each capsule avoids at once."""
    max_recovery: float = 0.02
    """m per step."""
    use_ground: bool = False
    """Whether the ground is an obstacle too; feet usually stand on it."""
    depends_on_state: ClassVar[bool] = True
    max_violation: ClassVar[float] = MAX_PENETRATION_M

    def __post_init__(self) -> None:
        if not (0 < self.gain <= 1 and self.influence > 0 and self.max_recovery > 0):
            raise ModelError(
                f"{self.title}: gain is above 0 and at most 1, influence and max_recovery are "
                f"above 0 m, got {self.gain!r}, {self.influence!r} and {self.max_recovery!r}"
            )
        if self.obstacles_per_capsule < 1:
            raise ModelError(f"{self.title}: obstacles_per_capsule is 1 or more")
        for name in ("capsules", "pairs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        known = {obstacle.name for obstacle in self.obstacles}
        for _, name in self.pair_margins:
            if name not in known:
                raise ModelError(f"{self.title}: {unknown_name('obstacle', name, sorted(known))}")
        for obstacle in self.obstacles:
            obstacle_frame(obstacle)

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """The obstacles that capsules avoid."""
        if self.scene is None:
            return ()
        return self.scene.all_obstacles if self.use_ground else self.scene.obstacles

    def structure(self, model: Model) -> Hashable:
        """Capsules and pairs of the rows.

        Args:
            model: The model.

        Raises:
            ModelError: A capsule is unknown.
        """
        count = min(self.obstacles_per_capsule, len(self.obstacles))
        repeats = range(POINTS_PER_PAIR)
        singles = tuple(
            name for name in self._capsule_names(model) for _ in range(count) for _ in repeats
        )
        return singles, tuple((a, b) for a, b in self.pairs for _ in repeats)

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Normals, points and bounds of all rows.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: A capsule is unknown.
        """
        found = self.distances(model, q)
        batch = q.shape[:-1]
        left = found.distance - self.margin
        places = found.point.reshape(*batch, -1, POINTS_PER_PAIR, 3)
        apart = np.abs(places - places[..., :1, :]).max(axis=-1) > MIN_POINT_SPACING_M
        apart[..., 0] = True
        used = (left <= self.influence) & apart.reshape(left.shape)
        lower = np.where(used, -self.gain * left, -np.inf)
        lower = np.minimum(lower, self.max_recovery)
        return {
            "normal": found.normal.reshape(*batch, -1),
            "point": found.point.reshape(*batch, -1),
            "other": found.other_point.reshape(*batch, -1),
            "lower": lower,
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """Three rows per capsule and obstacle, and per pair of capsules.

        Args:
            point: The state.
            inputs: Symbols of normals, points and bounds.
            dt: Length of the step, s.
        """
        model = point.model
        structure: Any = self.structure(model)
        singles, pairs = structure
        named = {capsule.name: capsule for capsule in model.capsules}
        blocks = [ca.SX(0, model.nv)]
        for k, names in enumerate([*((name, None) for name in singles), *pairs]):
            part = slice(3 * k, 3 * k + 3)
            row = _point_rows(point.tree, named[names[0]], inputs["point"][part])
            if names[1] is not None:
                row = row - _point_rows(point.tree, named[names[1]], inputs["other"][part])
            blocks.append(inputs["normal"][part].T @ row)
        rows = ca.vertcat(*blocks)
        return LimitRows(
            jacobian=rows, lower=inputs["lower"], upper=ca.SX.ones(rows.shape[0]) * np.inf
        )

    def distances(self, model: Model, q: np.ndarray) -> Distances:
        """Nearest points of all rows: for each capsule its nearest obstacles, then the pairs.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Returns:
            Distances, normals and points.

        Raises:
            ModelError: A capsule is unknown.
        """
        q = np.asarray(q, dtype=float)
        names = self._capsule_names(model)
        ends = self._capsule_ends(model, q)
        index = {name: k for k, name in enumerate(self._all_names(model))}
        chosen = [index[name] for name in names]
        capsules = {capsule.name: capsule for capsule in model.capsules}
        parts: list[Distances] = []
        if self.obstacles:
            start, end = ends[..., chosen, 0, :], ends[..., chosen, 1, :]
            parts.append(self._obstacle_distances([capsules[n] for n in names], start, end))
        if self.pairs:
            first, second = ([index[pair[side]] for pair in self.pairs] for side in (0, 1))
            solids = [(capsules[a], capsules[b]) for a, b in self.pairs]
            own = _pair_distances(solids, ends[..., first, :, :], ends[..., second, :, :])
            parts.append(replace(own, distance=own.distance - self._pairs_excess))
        if not parts:
            batch = q.shape[:-1]
            empty = np.zeros((*batch, 0, 3))
            return Distances(np.zeros((*batch, 0)), empty, empty, empty, np.zeros((*batch, 0)))
        return Distances(
            np.concatenate([part.distance for part in parts], axis=-1),
            np.concatenate([part.normal for part in parts], axis=-2),
            np.concatenate([part.point for part in parts], axis=-2),
            np.concatenate([part.other_point for part in parts], axis=-2),
            np.concatenate([part.obstacle for part in parts], axis=-1),
        )

    def _obstacle_distances(
        self, capsules: Sequence[Capsule], start: np.ndarray, end: np.ndarray
    ) -> Distances:
        """For each capsule, with ends (..., capsules, 3), the points at its nearest obstacles."""
        share, gap, normal = nearest_on_obstacles(self.obstacles, start, end)
        radius = np.array([float(capsule.radius) for capsule in capsules])
        # Distances are measured from where the margin of a pair is that of all pairs.
        offset = radius[:, None] + self._margin_excess([c.name for c in capsules])
        count = min(self.obstacles_per_capsule, len(self.obstacles))
        order = np.argsort(gap - offset, axis=-1)[..., :count]
        offset = np.take_along_axis(np.broadcast_to(offset, gap.shape), order, -1)
        share, gap = (
            np.repeat(np.take_along_axis(part, order, -1)[..., None], POINTS_PER_PAIR, axis=-1)
            for part in (share, gap)
        )
        normal = np.take_along_axis(normal, order[..., None], -2)
        normal = np.repeat(normal[..., None, :], POINTS_PER_PAIR, axis=-2)
        # Only pairs within the influence have rows, so only theirs need the points on the sides.
        near = np.nonzero(gap[..., 0] - offset - self.margin <= self.influence)
        segment = near[:-1]
        share[near], gap[near], normal[near] = guarded_on_pairs(
            self.obstacles, order[near], start[segment], end[segment]
        )
        gap = gap - offset[..., None]
        local = np.stack(
            [_axis_points(c, share[..., k, :, :]) for k, c in enumerate(capsules)], axis=-4
        )
        shape = (*start.shape[:-2], len(capsules) * count * POINTS_PER_PAIR)
        return Distances(
            gap.reshape(shape),
            normal.reshape(*shape, 3),
            local.reshape(*shape, 3),
            np.zeros((*shape, 3)),
            np.repeat(order[..., None], POINTS_PER_PAIR, axis=-1).reshape(shape),
        )

    def violation(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Largest penetration of the margin, m.

        Args:
            model: The model.
            q: Positions, (..., nq).
        """
        q = np.asarray(q, dtype=float)
        names, known = self._all_names(model), {c.name: c for c in model.capsules}
        ends = self._capsule_ends(model, q)
        worst = np.zeros(q.shape[:-1])
        chosen = [names.index(name) for name in self._capsule_names(model)]
        radius = np.array([float(known[names[k]].radius) for k in chosen])
        if self.obstacles:
            start, end = ends[..., chosen, 0, :], ends[..., chosen, 1, :]
            excess = self._margin_excess([names[k] for k in chosen])
            gap = nearest_on_obstacles(self.obstacles, start, end)[1]
            gap = gap - radius[:, None] - excess
            worst = np.maximum(worst, (self.margin - gap).max(axis=(-1, -2), initial=0.0))
        if self.pairs:
            first, second = ([names.index(pair[side]) for pair in self.pairs] for side in (0, 1))
            solids = [(known[a], known[b]) for a, b in self.pairs]
            found = _pair_distances(solids, ends[..., first, :, :], ends[..., second, :, :])
            least = self.margin + self._pairs_excess
            worst = np.maximum(worst, (least - found.distance).max(axis=-1))
        return worst

    def active_names(self, model: Model, q: np.ndarray) -> list[str]:
        """The pairs whose distance is at the margin, the closest first.

        Args:
            model: The model.
            q: Positions, (nq,).
        """
        found = self.distances(model, q)
        structure: Any = self.structure(model)
        singles, pairs = structure
        names = []
        nearest = np.arange(0, len(found.distance), POINTS_PER_PAIR)
        for k in nearest[np.argsort(found.distance[nearest])]:
            if found.distance[k] > self.margin + 1e-3:
                break
            gap = float(found.distance[k])
            if k < len(singles):
                obstacle = self.obstacles[int(found.obstacle[k])]
                excess = self._margin_excess([singles[k]])[0, int(found.obstacle[k])]
                what = f"{1000 * (gap + excess):.1f} mm"
                names.append(f"{obstacle.title} at capsule {singles[k]} ({what})")
            else:
                what = f"{1000 * (gap + self._pairs_excess):.1f} mm"
                a, b = pairs[k - len(singles)]
                names.append(f"capsule {a} at capsule {b} ({what})")
        return names

    @property
    def _pairs_excess(self) -> float:
        """m: by which the margin of pairs of capsules is larger than ``margin``."""
        return 0.0 if self.pairs_margin is None else self.pairs_margin - self.margin

    def _margin_excess(self, capsules: Sequence[str]) -> np.ndarray:
        """(capsules, obstacles), m: by which the margin of a pair is larger than ``margin``."""
        excess = np.zeros((len(capsules), len(self.obstacles)))
        for (capsule, obstacle), margin in self.pair_margins.items():
            for j, each in enumerate(self.obstacles):
                if each.name == obstacle and capsule in capsules:
                    excess[list(capsules).index(capsule), j] = margin - self.margin
        return excess

    def _all_names(self, model: Model) -> tuple[str, ...]:
        used = [*self._capsule_names(model), *(name for pair in self.pairs for name in pair)]
        return tuple(dict.fromkeys(used))

    def _capsule_names(self, model: Model) -> tuple[str, ...]:
        known = [capsule.name for capsule in model.capsules]
        names = (self.capsules or tuple(known)) if self.obstacles else ()
        for name in (*names, *(name for pair in self.pairs for name in pair)):
            if name not in known:
                raise ModelError(f"{self.title}: {unknown_name('capsule', name, known)}")
        return tuple(names)

    def _capsule_ends(self, model: Model, q: np.ndarray) -> np.ndarray:
        """World ends (..., capsules, 2, 3) of the axes."""
        names = self._all_names(model)
        if not names:
            return np.zeros((*q.shape[:-1], 0, 2, 3))

        def compute() -> Kernel:
            named = {capsule.name: capsule for capsule in model.capsules}

            def ends(pose: ca.SX) -> ca.SX:
                tree = Tree(model, pose)
                columns = []
                for name in names:
                    body, _ = model.locate(named[name].body)
                    for point in (named[name].start, named[name].end):
                        columns.append(tree.placements[body].point_back(point))
                return ca.horzcat(*columns).T

            return kernel(ends, pose=model.nq, name=f"capsules of {model.name}")

        flat = CAPSULE_KERNELS.get(model, names, compute)(q)
        return np.asarray(flat).reshape(*q.shape[:-1], len(names), 2, 3)


def _pair_distances(
    pairs: Sequence[tuple[Capsule, Capsule]], first: np.ndarray, second: np.ndarray
) -> Distances:
    """Of each pair, with ends (..., pairs, 2, 3) of both axes, the points of its rows."""
    share, other, gap, normal = guarded_of_segments(
        first[..., 0, :], first[..., 1, :], second[..., 0, :], second[..., 1, :]
    )
    gap = gap - np.array([float(a.radius + b.radius) for a, b in pairs])[:, None]
    points = [
        np.stack([_axis_points(pair[side], part[..., k, :]) for k, pair in enumerate(pairs)], -3)
        for side, part in ((0, share), (1, other))
    ]
    shape = (*first.shape[:-3], len(pairs) * POINTS_PER_PAIR)
    return Distances(
        gap.reshape(shape),
        normal.reshape(*shape, 3),
        points[0].reshape(*shape, 3),
        points[1].reshape(*shape, 3),
        np.full(shape, -1),
    )


def _point_rows(tree: Tree, capsule: Capsule, local: Any) -> Any:
    body, _ = tree.model.locate(capsule.body)
    return body_jacobians(tree, body, local)[1]


def _axis_points(capsule: Capsule, share: np.ndarray) -> np.ndarray:
    """Points (..., 3) on the axis of a capsule, in the axes of its body."""
    start, end = np.asarray(capsule.start, float), np.asarray(capsule.end, float)
    return np.asarray(start + share[..., None] * (end - start))
