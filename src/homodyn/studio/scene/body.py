"""The nodes of one body: solid parts, bones, joints, capsules, center of mass and support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.model import WORLD
from homodyn.report.colors import SIDE_COLORS, Rgb, mix_colors, rgb_from_hex
from homodyn.report.posed_geometry import body_sides
from homodyn.studio.body_geometry import BodyGeometry, DrawnPoints, body_geometry
from homodyn.studio.document import Actor, nearest_frame
from homodyn.studio.meshes import ball, cylinder, dome
from homodyn.studio.muscle_lines import REST_COLOR, segment_colors
from homodyn.studio.scene.instances import InstancedMesh, LineSegments
from homodyn.studio.support_polygon import loaded_bodies, support_polygon
from homodyn.studio.view_options import ViewOptions

COM_COLOR = (250, 200, 40)
JOINT_COLOR = (70, 74, 84)
CAPSULE_COLOR = (30, 30, 30)
BONE_COLOR = (235, 225, 205)
"""Of bone surfaces."""
BONE_TINT = 0.2
"""Share of the color of the side in that of a bone surface."""
MUSCLE_WIDTH = 3.0
"""Of the lines of muscles (pixels)."""
CROSS_ARMS_M = np.array([[0.04, 0.0, 0.0], [0.0, 0.04, 0.0]])
"""Half bars (m) of the cross below the center of mass."""
OWN_COLOR_SHARE = 0.2
"""Share of the color of a body in the red and blue of its right and left."""
FRAMES_PER_BLOCK = 128
"""Frames of a motion that are computed together when one of them is shown, so that an edited body
with a long motion is drawn without delay."""
MAX_POLYGON_CORNERS = 16

Ray = tuple[np.ndarray, np.ndarray]
"""Origin (m) and direction."""
SegmentHit = Callable[[str, str | None, Ray, bool], None]
"""Called with body, segment, the ray of the click, and whether a modifier key was pressed.

The segment is None if the page does not report it, as for a click on the edge of a hovered one.
"""


class BodyNodes:
    """The nodes of one `Actor`; replaced when its model, motion or color changes."""

    def __init__(self, scene: viser.SceneApi, root: str, actor: Actor, on_hit: SegmentHit) -> None:
        self.actor = actor
        geometry = self.body_geometry = body_geometry(actor.model)
        self._blocks: dict[int, DrawnPoints] = {}
        self.name = f"{root}/{_node_name(actor.name)}"
        self.frame = scene.add_frame(self.name, show_axes=False)
        colors = np.array([side_shade(actor.color, c.side) for c in geometry.capsules])
        colors = colors.reshape(-1, 3).astype(np.uint8)
        radii = geometry.radii
        tubes = np.column_stack([radii, radii, geometry.lengths])
        self.tubes = InstancedMesh(scene, f"{self.name}/tubes", cylinder(), tubes, colors)
        self.caps = InstancedMesh(
            scene, f"{self.name}/caps", dome(), np.repeat(radii, 2), np.repeat(colors, 2, axis=0)
        )
        for node, per_capsule in ((self.tubes, 1), (self.caps, 2)):
            for keys in (None, "cmd/ctrl", "shift"):
                node.on_click(
                    self._click_handler(on_hit, per_capsule, keys is not None), modifier=keys
                )
        self.joints = InstancedMesh(
            scene,
            f"{self.name}/joints",
            ball(6, 12),
            np.full(len(geometry.joint_names), geometry.joint_radius),
            JOINT_COLOR,
        )
        self.surfaces = [
            scene.add_mesh_simple(
                f"{self.name}/surfaces/{k}",
                surface.vertices.astype(np.float32),
                surface.triangles.astype(np.uint32),
                color=mix_colors(BONE_COLOR, side_shade(actor.color, surface.side), BONE_TINT),
                visible=False,
            )
            for k, surface in enumerate(geometry.bones)
        ]
        self.bones = LineSegments(scene, f"{self.name}/bones", actor.color, 3.0)
        self.muscles = LineSegments(scene, f"{self.name}/muscles", REST_COLOR, MUSCLE_WIDTH)
        self.bone_joints, self.bone_colors = _bones(geometry, actor.color)
        with_capsules = {capsule.body for capsule in geometry.model.capsules}
        self.collides = np.array([body in with_capsules for body in geometry.bodies], dtype=bool)
        self.capsules = InstancedMesh(
            scene,
            f"{self.name}/capsules",
            cylinder(12),
            tubes[self.collides] * [1.04, 1.04, 1.0],
            CAPSULE_COLOR,
            wireframe=True,
        )
        self.com = InstancedMesh(
            scene, f"{self.name}/com", ball(6, 12), np.array([0.035]), COM_COLOR
        )
        self.plumb = LineSegments(scene, f"{self.name}/plumb", COM_COLOR, 2.5)
        self.support = scene.add_mesh_simple(
            f"{self.name}/support",
            np.zeros((MAX_POLYGON_CORNERS, 3), dtype=np.float32),
            np.array([(0, k, k + 1) for k in range(1, MAX_POLYGON_CORNERS - 1)], dtype=np.uint32),
            color=actor.color,
            opacity=0.45,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )

    def at(self, time: float) -> tuple[DrawnPoints, int]:
        """Points at an instant (s): a block of frames, and the row of the instant in it."""
        motion = self.actor.motion
        if motion is None or not self.actor.moving:
            return self.body_geometry.poses(self.actor.q), 0
        block, row = divmod(nearest_frame(motion.time, time), FRAMES_PER_BLOCK)
        if block not in self._blocks:
            rows = motion.q[block * FRAMES_PER_BLOCK : (block + 1) * FRAMES_PER_BLOCK]
            self._blocks[block] = self.body_geometry.poses(rows)
        return self._blocks[block], row

    def draw(self, time: float, options: ViewOptions, offset: np.ndarray) -> None:
        """Draw the body at an instant (s), shifted by an offset (3,), m."""
        poses, row = self.at(time)
        shown = self.actor.shown
        self.frame.visible = shown
        if not shown:
            return
        self.frame.position = offset
        solid = options.body in ("solid", "see-through")
        for node in (self.tubes, self.caps):
            node.opacity = options.opacity
        centers, rotations = poses.centers(row), poses.rotations(row)
        self.tubes.place(centers, rotations, visible=solid)
        self.caps.place(poses.caps[row], poses.cap_rotations(row), visible=solid)
        self.joints.place(poses.joints[row], visible=options.joints)
        self.com.place(poses.com[row][None], visible=options.center_of_mass)
        self.plumb.place(plumb_line(poses.com[row]), visible=options.center_of_mass)
        self.capsules.place(
            centers[self.collides], rotations[self.collides], visible=options.capsules
        )
        bones = poses.joints[row][self.bone_joints].reshape(-1, 2, 3)
        as_bones = options.body == "bones"
        self.bones.place(bones, self.bone_colors, visible=as_bones)
        turns = poses.bone_rotations(row) if as_bones else None
        for k, surface in enumerate(self.surfaces):
            surface.visible = as_bones
            if turns is not None:
                surface.position, surface.wxyz = poses.bones[row, k, 0], turns[k]
        self._draw_muscles(poses.muscles[row], time, options.muscles and options.body != "hidden")
        self._draw_support(poses.touching[row], time, options.support_polygon)

    def remove(self) -> None:
        """Remove the nodes from the scene."""
        self.frame.remove()

    def nearest_segment(self, time: float, ray: Ray) -> str:
        """The segment nearest to a ray, in the coordinates of the body, at an instant (s)."""
        poses, row = self.at(time)
        share = np.linspace(0.0, 1.0, 9)[:, None]
        start, end = poses.ends[row, :, 0], poses.ends[row, :, 1]
        points = start[:, None] + share * (end - start)[:, None]
        distances = distance_to_ray(points.reshape(-1, 3), ray).reshape(len(start), -1)
        depth = distances.min(axis=1) - self.body_geometry.radii
        return self.body_geometry.bodies[int(np.argmin(depth))]

    def _draw_muscles(self, segments: np.ndarray, time: float, visible: bool) -> None:
        levels = np.zeros(0)
        motion = self.actor.motion
        if motion is not None and self.actor.moving and len(motion.activations):
            levels = motion.activations[nearest_frame(motion.time, time)]
        colors = segment_colors(self.body_geometry.model, levels)
        self.muscles.place(segments, colors, visible=visible)

    def _draw_support(self, touching: np.ndarray, time: float, visible: bool) -> None:
        corners = np.zeros((0, 2))
        if visible:
            loaded = loaded_bodies(self.actor, time)
            corners = support_polygon(self.body_geometry, touching, loaded)[:MAX_POLYGON_CORNERS]
        if len(corners) < 3:
            self.support.visible = False
            return
        vertices = np.full((MAX_POLYGON_CORNERS, 3), 0.006, dtype=np.float32)
        vertices[:, :2] = corners[-1]
        vertices[: len(corners), :2] = corners
        self.support.vertices = vertices
        self.support.visible = True

    def _click_handler(
        self, on_hit: SegmentHit, per_capsule: int, modified: bool
    ) -> Callable[[viser.SceneNodePointerEvent], None]:
        def handle(event: viser.SceneNodePointerEvent) -> None:
            ray = (np.array(event.ray_origin), np.array(event.ray_direction))
            segment = None
            if event.instance_index is not None:
                segment = self.body_geometry.bodies[event.instance_index // per_capsule]
            on_hit(self.actor.name, segment, ray, modified)

        return handle


def plumb_line(com: np.ndarray) -> np.ndarray:
    """(3, 2, 3), m: from the center of mass (3,) to the ground, and a cross on the ground.

    The line shows the horizontal position of the center of mass, which the body covers.
    """
    below = np.array([com[0], com[1], 0.01])
    return np.array([[com, below], *([below - arm, below + arm] for arm in CROSS_ARMS_M)])


def distance_to_ray(points: np.ndarray, ray: Ray) -> np.ndarray:
    """(n,), m: distances of points (n, 3) from a ray; infinite behind its origin."""
    origin, direction = ray
    unit = direction / np.linalg.norm(direction)
    along = (points - origin) @ unit
    distance = np.linalg.norm(points - origin - np.outer(along, unit), axis=1)
    return np.where(along > 0, distance, np.inf)


def side_shade(color: Rgb, side: str) -> Rgb:
    """The color of a part of a body: right red, left blue, mixed with the color of the body."""
    if side not in ("right", "left"):
        return color
    return mix_colors(rgb_from_hex(SIDE_COLORS[side]), color, OWN_COLOR_SHARE)


def _bones(geometry: BodyGeometry, color: Rgb) -> tuple[np.ndarray, np.ndarray]:
    """Indices (bones, 2) of joints that a line connects, and colors (bones, 3) of the lines."""
    joints = geometry.model.joints
    sides = body_sides(geometry.model)
    index = {joint.child: k for k, joint in enumerate(joints)}
    inner = [(k, joint.parent) for k, joint in enumerate(joints) if joint.parent != WORLD]
    pairs = np.array([(index[parent], k) for k, parent in inner], dtype=int).reshape(-1, 2)
    colors = [side_shade(color, sides[parent]) for _, parent in inner]
    return pairs, np.array(colors, dtype=np.uint8).reshape(-1, 3)


def _node_name(name: str) -> str:
    """A name as part of a scene path."""
    return name.replace("/", "_")
