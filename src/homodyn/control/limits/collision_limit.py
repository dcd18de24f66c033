"""Distances between the capsules of a model, and to the obstacles of a scene."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from homodyn.control.collision.segment_distance import (
    nearest_of_segments,
    nearest_on_segments,
    obstacle_frame,
)
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

CAPSULE_KERNELS: ModelCache[Kernel] = ModelCache("kernels of capsule axes")
"""World ends of capsules by their names."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Nearest points at a state."""

    distance: np.ndarray
    """(..., rows), m: between the surfaces, negative where they intersect."""
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

    A pair has one row, at its nearest points. A capsule that lies along a face can tip into it,
    since the nearest point jumps from end to end: penetrations of the margin by 9 mm were seen in
    60 small steps. Choose the margin accordingly, or check `violation`.

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
        singles = tuple(name for name in self._capsule_names(model) for _ in range(count))
        return singles, tuple((a, b) for a, b in self.pairs)

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Normals, points and distances of all rows.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: A capsule is unknown.
        """
        found = self.distances(model, q)
        batch = q.shape[:-1]
        left = found.distance - self.margin
        lower = np.where(left > self.influence, -np.inf, -self.gain * left)
        lower = np.minimum(lower, self.max_recovery)
        return {
            "normal": found.normal.reshape(*batch, -1),
            "point": found.point.reshape(*batch, -1),
            "other": found.other_point.reshape(*batch, -1),
            "lower": lower,
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """One row per capsule and obstacle, and one per pair.

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
            radius = np.array([float(capsules[name].radius) for name in names])
            found = [nearest_on_segments(obstacle, start, end) for obstacle in self.obstacles]
            share, gap, normal = (np.stack(kind, axis=-1) for kind in zip(*found, strict=True))
            normal = np.swapaxes(normal, -1, -2)
            gap = gap - radius[:, None]
            count = min(self.obstacles_per_capsule, len(self.obstacles))
            order = np.argsort(gap, axis=-1)[..., :count]
            share = np.take_along_axis(share, order, -1)
            local = np.stack(
                [_axis_points(capsules[n], share[..., k, :]) for k, n in enumerate(names)], axis=-3
            )
            batch = q.shape[:-1]
            rows = len(names) * count
            parts.append(
                Distances(
                    np.take_along_axis(gap, order, -1).reshape(*batch, rows),
                    np.take_along_axis(normal, order[..., None], -2).reshape(*batch, rows, 3),
                    local.reshape(*batch, rows, 3),
                    np.zeros((*batch, rows, 3)),
                    order.reshape(*batch, rows),
                )
            )
        if self.pairs:
            first = [index[a] for a, _ in self.pairs]
            second = [index[b] for _, b in self.pairs]
            s, t, gap, normal = nearest_of_segments(
                *(ends[..., first, side, :] for side in (0, 1)),
                *(ends[..., second, side, :] for side in (0, 1)),
            )
            radii = [float(capsules[a].radius + capsules[b].radius) for a, b in self.pairs]
            places = [
                np.stack(
                    [
                        _axis_points(capsules[pair[side]], part[..., k])
                        for k, pair in enumerate(self.pairs)
                    ],
                    axis=-2,
                )
                for side, part in ((0, s), (1, t))
            ]
            none = np.full(gap.shape, -1)
            parts.append(Distances(gap - np.array(radii), normal, places[0], places[1], none))
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

    def violation(self, model: Model, q: np.ndarray) -> np.ndarray:
        """Largest penetration of the margin, m.

        Args:
            model: The model.
            q: Positions, (..., nq).
        """
        distance = self.distances(model, q).distance
        return np.asarray(np.maximum(0.0, self.margin - distance).max(axis=-1, initial=0.0))

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
        for k in np.argsort(found.distance):
            if found.distance[k] > self.margin + 1e-3:
                break
            what = f"{1000 * found.distance[k]:.1f} mm"
            if k < len(singles):
                obstacle = self.obstacles[int(found.obstacle[k])]
                names.append(f"{obstacle.title} at capsule {singles[k]} ({what})")
            else:
                a, b = pairs[k - len(singles)]
                names.append(f"capsule {a} at capsule {b} ({what})")
        return names

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


def _point_rows(tree: Tree, capsule: Capsule, local: Any) -> Any:
    body, _ = tree.model.locate(capsule.body)
    return body_jacobians(tree, body, local)[1]


def _axis_points(capsule: Capsule, share: np.ndarray) -> np.ndarray:
    """Points (..., 3) on the axis of a capsule, in the axes of its body."""
    start, end = np.asarray(capsule.start, float), np.asarray(capsule.end, float)
    return np.asarray(start + share[..., None] * (end - start))
