"""The nodes of one body: solid parts, bones, joints, capsules, centre of mass and support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.model import WORLD
from homodyn.studio.body_geometry import BodyGeometry, DrawnPoints, body_geometry
from homodyn.studio.document import Actor, Color, nearest_frame
from homodyn.studio.meshes import ball, cylinder, dome
from homodyn.studio.scene.instances import InstancedMesh, LineSegments
from homodyn.studio.support_polygon import loaded_bodies, support_polygon
from homodyn.studio.view_options import ViewOptions

COM = (250, 200, 40)
CROSS = np.array([[0.04, 0.0, 0.0], [0.0, 0.04, 0.0]])
"""Half the bars (m) of the cross below it."""
FRAMES_PER_BLOCK = 128
"""Frames of a motion that are worked out together when one of them is shown: an edited body is
drawn at once, however long its motion is."""
MAX_POLYGON_CORNERS = 16
"""Most corners of a support polygon."""

Ray = tuple[np.ndarray, np.ndarray]
"""Where it begins (m) and whereto it goes."""
Clicked = Callable[[str, str, Ray, bool], None]
"""Told a body of the scene, its segment, the ray that hit it and whether a key was held."""


class BodyNodes:
    """What is drawn of one `Actor`; made anew when its model, motion or colour changes."""

    def __init__(self, scene: viser.SceneApi, root: str, actor: Actor, clicked: Clicked) -> None:
        self.actor = actor
        self.body_geometry: BodyGeometry = body_geometry(actor.model)
        self._blocks: dict[int, DrawnPoints] = {}
        self.name = f"{root}/{_node(actor.name)}"
        self.frame = scene.add_frame(self.name, show_axes=False)
        shades = np.array(
            [side_shade(actor.color, stick.side) for stick in self.body_geometry.sticks]
        )
        shades = shades.reshape(-1, 3).astype(np.uint8)
        radii = self.body_geometry.radii
        tubes = np.column_stack([radii, radii, self.body_geometry.lengths])
        self.tubes = InstancedMesh(scene, f"{self.name}/tubes", cylinder(), tubes, shades)
        self.caps = InstancedMesh(
            scene, f"{self.name}/caps", dome(), np.repeat(radii, 2), np.repeat(shades, 2, axis=0)
        )
        for node, ends in ((self.tubes, 1), (self.caps, 2)):
            for keys in (None, "cmd/ctrl", "shift"):
                node.on_click(self._teller(clicked, ends, keys is not None), modifier=keys)
        count = len(self.body_geometry.joint_names)
        self.joints = InstancedMesh(
            scene,
            f"{self.name}/joints",
            ball(6, 12),
            np.full(count, self.body_geometry.joint_radius),
            (70, 74, 84),
        )
        self.bones = LineSegments(scene, f"{self.name}/bones", actor.color, 3.0)
        covered = {capsule.body for capsule in self.body_geometry.model.capsules}
        self.collides = np.array(
            [body in covered for body in self.body_geometry.bodies], dtype=bool
        )
        self.capsules = InstancedMesh(
            scene,
            f"{self.name}/capsules",
            cylinder(12),
            tubes[self.collides] * [1.04, 1.04, 1.0],
            (30, 30, 30),
            wireframe=True,
        )
        self.com = InstancedMesh(scene, f"{self.name}/com", ball(6, 12), np.array([0.035]), COM)
        self.plumb = LineSegments(scene, f"{self.name}/plumb", COM, 2.5)
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
        self.parents = _bones(self.body_geometry)

    def at(self, time: float) -> tuple[DrawnPoints, int]:
        """The points to draw and their row, at an instant (s)."""
        motion = self.actor.motion
        if motion is None or not self.actor.moving:
            return self.body_geometry.poses(self.actor.q), 0
        block, row = divmod(nearest_frame(motion.time, time), FRAMES_PER_BLOCK)
        if block not in self._blocks:
            rows = motion.q[block * FRAMES_PER_BLOCK : (block + 1) * FRAMES_PER_BLOCK]
            self._blocks[block] = self.body_geometry.poses(rows)
        return self._blocks[block], row

    def draw(self, time: float, options: ViewOptions, offset: np.ndarray) -> None:
        """Show the body at an instant (s), moved by an offset (m)."""
        poses, row = self.at(time)
        shown = self.actor.shown
        self.frame.visible = shown
        if not shown:
            return
        self.frame.position = offset
        solid = options.body in ("solid", "see-through")
        for node in (self.tubes, self.caps):
            node.opacity = options.opacity
        middles, turns = poses.middles(row), poses.turns(row)
        self.tubes.place(middles, turns, visible=solid)
        self.caps.place(poses.caps[row], poses.domes(row), visible=solid)
        self.joints.place(poses.joints[row], visible=options.joints)
        self.com.place(poses.com[row][None], visible=options.center_of_mass)
        self.plumb.place(plumb_line(poses.com[row]), visible=options.center_of_mass)
        self.capsules.place(middles[self.collides], turns[self.collides], visible=options.capsules)
        self.bones.place(
            poses.joints[row][self.parents] if len(self.parents) else np.zeros((0, 2, 3)),
            visible=options.body == "bones",
        )
        self._draw_support(poses.touching[row], time, options.support_polygon)

    def remove(self) -> None:
        """Take the nodes out of the scene."""
        self.frame.remove()

    def _draw_support(self, touching: np.ndarray, time: float, wanted: bool) -> None:
        corners = (
            support_polygon(self.body_geometry, touching, loaded_bodies(self.actor, time))
            if wanted
            else np.zeros((0, 2))
        )[:MAX_POLYGON_CORNERS]
        if len(corners) < 3:
            self.support.visible = False
            return
        flat = np.full((MAX_POLYGON_CORNERS, 3), 0.006, dtype=np.float32)
        flat[:, :2] = corners[-1]
        flat[: len(corners), :2] = corners
        self.support.vertices = flat
        self.support.visible = True

    def _teller(
        self, clicked: Clicked, ends: int, held: bool
    ) -> Callable[[viser.SceneNodePointerEvent], None]:
        def tell(event: viser.SceneNodePointerEvent) -> None:
            if event.instance_index is not None:
                ray = (np.array(event.ray_origin), np.array(event.ray_direction))
                segment = self.body_geometry.bodies[event.instance_index // ends]
                clicked(self.actor.name, segment, ray, held)

        return tell


def plumb_line(com: np.ndarray) -> np.ndarray:
    """(3, 2, 3), m: from the centre of mass down to the ground, and a cross there.

    The body hides its own centre of mass; where it is over the ground can still be seen.
    """
    below = np.array([com[0], com[1], 0.01])
    return np.array(
        [
            [com, below],
            *([below - arm, below + arm] for arm in CROSS),
        ]
    )


def side_shade(color: Color, side: str) -> tuple[int, int, int]:
    """The colour of a body, lighter on its left and darker on its right, to tell them apart."""
    towards, share = {"left": (255, 0.28), "right": (0, 0.2)}.get(side, (255, 0.05))
    red, green, blue = (round(c + (towards - c) * share) for c in color)
    return red, green, blue


def _bones(body_geometry: BodyGeometry) -> np.ndarray:
    """(bones, 2): places of joints that a line connects."""
    joints = body_geometry.model.joints
    own = {joint.child: k for k, joint in enumerate(joints)}
    pairs = [(own[joint.parent], k) for k, joint in enumerate(joints) if joint.parent != WORLD]
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _node(name: str) -> str:
    """A name that a path of the scene can hold."""
    return name.replace("/", "_")
