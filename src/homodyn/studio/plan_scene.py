"""The scene of a plan on the page: obstacles, supports, a handle, and what stops a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import viser
from scipy.spatial import ConvexHull

from homodyn.motion import Scene
from homodyn.motion.obstacle_points import surface_points
from homodyn.motion.obstacles import Obstacle, PosedObstacle, RingObstacle
from homodyn.motion.supports import ContactPatch, Support

ROOT = "/scene/plan"
OBSTACLE_COLOR, OBSTACLE_OPACITY = (150, 158, 170), 0.55
SUPPORT_COLOR, GRASP_COLOR = (46, 150, 90), (60, 110, 200)
STOPPING_COLOR = (208, 32, 32)
SOLE_THICKNESS_M, GRASP_RADIUS_M, MARK_RADIUS_M = 0.012, 0.03, 0.06
HANDLE_SCALE_M = 0.35
TUBE_SIDES, RING_SIDES = 10, 48

Triangles = tuple[np.ndarray, np.ndarray]


def movable_names(scene: Scene) -> tuple[str, ...]:
    """Names of the supports and obstacles that can be dragged; planes cannot.

    Args:
        scene: The scene.
    """
    placed = [each.name for each in scene.obstacles if isinstance(each, PosedObstacle)]
    return (*scene.supports, *(name for name in placed if name and name not in scene.supports))


def item_position(scene: Scene, name: str) -> np.ndarray:
    """Position (3,), m, of a support or an obstacle.

    Args:
        scene: The scene.
        name: Its name.
    """
    if name in scene.supports:
        return np.asarray(scene.supports[name].middle, dtype=float)
    return np.asarray(next(o for o in scene.obstacles if o.name == name).position, dtype=float)  # type: ignore[attr-defined]


def with_item_at(scene: Scene, name: str, position: np.ndarray) -> Scene:
    """The scene with a support or an obstacle somewhere else; a stored path is dropped.

    Args:
        scene: The scene.
        name: Name of a support or an obstacle.
        position: (3,), m.
    """
    place = np.asarray(position, dtype=float)
    if name in scene.supports:
        support = scene.supports[name]
        moved: Support
        if isinstance(support, ContactPatch):
            moved = replace(support, corners=support.corners + (place - support.middle))
        else:
            moved = replace(support, position=place)
        return replace(scene, supports={**scene.supports, name: moved}, path=None)
    obstacles = tuple(
        replace(each, position=place)
        if each.name == name and isinstance(each, PosedObstacle)
        else each
        for each in scene.obstacles
    )
    return replace(scene, obstacles=obstacles, path=None)


def obstacle_mesh(obstacle: Obstacle) -> Triangles | None:
    """Vertices (m) and faces of an obstacle; None for planes.

    Args:
        obstacle: The obstacle.
    """
    if isinstance(obstacle, RingObstacle):
        return _torus(obstacle)
    points = surface_points(obstacle)
    if len(points) < 4:
        return None
    return points, ConvexHull(points).simplices


def support_mesh(support: Support) -> Triangles:
    """Vertices (m) and faces of a patch as a thin plate, or of a grasp as a ball.

    Args:
        support: The support.
    """
    if isinstance(support, ContactPatch) and len(support.corners) > 2:
        up = SOLE_THICKNESS_M * np.asarray(support.normal)
        points = np.vstack([support.corners, support.corners + up])
        return points, ConvexHull(points).simplices
    return ball_mesh(np.asarray(support.middle), GRASP_RADIUS_M)


def ball_mesh(center: np.ndarray, radius: float) -> Triangles:
    """Vertices (m) and faces of a ball.

    Args:
        center: (3,), m.
        radius: m.
    """
    golden = (1 + np.sqrt(5)) / 2
    edges = [[0, a, b * golden] for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(edge, k) for edge in edges for k in range(3)], dtype=float)
    points *= radius / np.linalg.norm(points[0])
    return center + points, ConvexHull(points).simplices


def _torus(ring: RingObstacle) -> Triangles:
    a = 2 * np.pi * np.arange(RING_SIDES) / RING_SIDES
    b = 2 * np.pi * np.arange(TUBE_SIDES) / TUBE_SIDES
    width = ring.radius + ring.tube_radius * np.cos(b)
    height = np.broadcast_to(ring.tube_radius * np.sin(b), (RING_SIDES, TUBE_SIDES))
    local = np.stack([np.outer(np.cos(a), width), np.outer(np.sin(a), width), height], axis=-1)
    i, j = np.meshgrid(np.arange(RING_SIDES), np.arange(TUBE_SIDES), indexing="ij")
    k, m = (i + 1) % RING_SIDES, (j + 1) % TUBE_SIDES
    corners = [TUBE_SIDES * p + q for p, q in ((i, j), (k, j), (k, m), (i, m))]
    faces = np.concatenate(
        [
            np.stack([corners[0], corners[1], corners[2]], -1).reshape(-1, 3),
            np.stack([corners[0], corners[2], corners[3]], -1).reshape(-1, 3),
        ]
    )
    return ring.to_world(local.reshape(-1, 3)), faces


class PlanSceneView:
    """Nodes of the supports and obstacles of a scene, with one handle."""

    def __init__(self, scene: viser.SceneApi) -> None:
        self._api = scene
        self._nodes: dict[str, Any] = {}
        self._handle: viser.TransformControlsHandle | None = None
        self._mark: Any = None

    def draw(self, scene: Scene, stopping: tuple[str, ...] = ()) -> None:
        """Draw all supports and obstacles.

        Args:
            scene: The scene.
            stopping: Names of those that stop the plan; they are red.
        """
        wanted: dict[str, tuple[Triangles, tuple[int, int, int], float]] = {}
        for obstacle in scene.obstacles:
            mesh = obstacle_mesh(obstacle)
            if mesh is not None:
                wanted[f"obstacle {obstacle.name}"] = (mesh, OBSTACLE_COLOR, OBSTACLE_OPACITY)
        for name, support in scene.supports.items():
            color = SUPPORT_COLOR if isinstance(support, ContactPatch) else GRASP_COLOR
            wanted[f"support {name}"] = (support_mesh(support), color, 1.0)
        self.clear()
        for k, (label, (mesh, color, opacity)) in enumerate(wanted.items()):
            red = label.split(" ", 1)[1] in stopping
            self._nodes[label] = self._api.add_mesh_simple(
                f"{ROOT}/{k}",
                np.asarray(mesh[0], dtype=np.float32),
                np.asarray(mesh[1], dtype=np.uint32),
                color=STOPPING_COLOR if red else color,
                opacity=opacity,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )

    def mark(self, place: np.ndarray | None) -> None:
        """Show a red ball where a plan is stopped.

        Args:
            place: (3,), m; None hides it.
        """
        if self._mark is not None:
            self._mark.remove()
            self._mark = None
        if place is not None:
            points, faces = ball_mesh(np.asarray(place), MARK_RADIUS_M)
            self._mark = self._api.add_mesh_simple(
                f"{ROOT}/mark",
                np.asarray(points, dtype=np.float32),
                np.asarray(faces, dtype=np.uint32),
                color=STOPPING_COLOR,
                cast_shadow=False,
            )

    def attach(self, position: np.ndarray | None, on_drag: Callable[[np.ndarray], None]) -> None:
        """Put the handle at a position.

        Args:
            position: (3,), m; None hides it.
            on_drag: Is called with the position (3,), m, of the handle.
        """
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        if position is None:
            return
        handle = self._api.add_transform_controls(
            f"{ROOT}/handle",
            scale=HANDLE_SCALE_M,
            disable_rotations=True,
            position=np.asarray(position, dtype=float),
        )
        handle.on_update(lambda event: on_drag(np.array(handle.position)))
        self._handle = handle

    def clear(self) -> None:
        """Remove all nodes except the handle and the mark."""
        for node in self._nodes.values():
            node.remove()
        self._nodes = {}
