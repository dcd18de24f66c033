"""The nodes of one body: solid parts, bones, joints, capsules, centre of mass and support."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import viser

from homodyn.model import WORLD
from homodyn.studio.document import Actor, Colour, nearest
from homodyn.studio.figure import Figure, Poses, figure
from homodyn.studio.look import Look
from homodyn.studio.scene.many import Lines, Many
from homodyn.studio.shapes import ball, cylinder, dome
from homodyn.studio.support import loaded_bodies, support_polygon

COM = (250, 200, 40)
CROSS = np.array([[0.04, 0.0, 0.0], [0.0, 0.04, 0.0]])
"""Half the bars (m) of the cross below it."""
BLOCK = 128
"""Frames of a motion that are worked out together when one of them is shown: an edited body is
drawn at once, however long its motion is."""
CORNERS = 16
"""Most corners of a support polygon."""

Ray = tuple[np.ndarray, np.ndarray]
"""Where it begins (m) and whereto it goes."""
Clicked = Callable[[str, str, Ray, bool], None]
"""Told a body of the scene, its segment, the ray that hit it and whether a key was held."""


class BodyNodes:
    """What is drawn of one `Actor`; made anew when its model, motion or colour changes."""

    def __init__(self, scene: viser.SceneApi, root: str, actor: Actor, clicked: Clicked) -> None:
        self.actor = actor
        self.figure: Figure = figure(actor.model)
        self._blocks: dict[int, Poses] = {}
        self.name = f"{root}/{_node(actor.name)}"
        self.frame = scene.add_frame(self.name, show_axes=False)
        shades = np.array([shade(actor.colour, stick.side) for stick in self.figure.sticks])
        shades = shades.reshape(-1, 3).astype(np.uint8)
        radii = self.figure.radii
        tubes = np.column_stack([radii, radii, self.figure.lengths])
        self.tubes = Many(scene, f"{self.name}/tubes", cylinder(), tubes, shades)
        self.caps = Many(
            scene, f"{self.name}/caps", dome(), np.repeat(radii, 2), np.repeat(shades, 2, axis=0)
        )
        for node, ends in ((self.tubes, 1), (self.caps, 2)):
            for keys in (None, "cmd/ctrl", "shift"):
                node.on_click(self._teller(clicked, ends, keys is not None), modifier=keys)
        count = len(self.figure.joint_names)
        self.joints = Many(
            scene,
            f"{self.name}/joints",
            ball(6, 12),
            np.full(count, self.figure.joint_radius),
            (70, 74, 84),
        )
        self.bones = Lines(scene, f"{self.name}/bones", actor.colour, 3.0)
        covered = {capsule.body for capsule in self.figure.model.capsules}
        self.collides = np.array([body in covered for body in self.figure.bodies], dtype=bool)
        self.capsules = Many(
            scene,
            f"{self.name}/capsules",
            cylinder(12),
            tubes[self.collides] * [1.04, 1.04, 1.0],
            (30, 30, 30),
            wireframe=True,
        )
        self.com = Many(scene, f"{self.name}/com", ball(6, 12), np.array([0.035]), COM)
        self.plumb = Lines(scene, f"{self.name}/plumb", COM, 2.5)
        self.support = scene.add_mesh_simple(
            f"{self.name}/support",
            np.zeros((CORNERS, 3), dtype=np.float32),
            np.array([(0, k, k + 1) for k in range(1, CORNERS - 1)], dtype=np.uint32),
            color=actor.colour,
            opacity=0.45,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
            visible=False,
        )
        self.parents = _bones(self.figure)

    def at(self, time: float) -> tuple[Poses, int]:
        """The points to draw and their row, at an instant (s)."""
        motion = self.actor.motion
        if motion is None or not self.actor.moving:
            return self.figure.poses(self.actor.q), 0
        block, row = divmod(nearest(motion.time, time), BLOCK)
        if block not in self._blocks:
            rows = motion.q[block * BLOCK : (block + 1) * BLOCK]
            self._blocks[block] = self.figure.poses(rows)
        return self._blocks[block], row

    def draw(self, time: float, look: Look, offset: np.ndarray) -> None:
        """Show the body at an instant (s), moved by an offset (m)."""
        poses, row = self.at(time)
        shown = self.actor.shown
        self.frame.visible = shown
        if not shown:
            return
        self.frame.position = offset
        solid = look.body in ("solid", "see-through")
        for node in (self.tubes, self.caps):
            node.opacity = look.opacity
        middles, turns = poses.middles(row), poses.turns(row)
        self.tubes.place(middles, turns, visible=solid)
        self.caps.place(poses.caps[row], poses.domes(row), visible=solid)
        self.joints.place(poses.joints[row], visible=look.joints)
        self.com.place(poses.com[row][None], visible=look.com)
        self.plumb.place(plumb_line(poses.com[row]), visible=look.com)
        self.capsules.place(middles[self.collides], turns[self.collides], visible=look.capsules)
        self.bones.place(
            poses.joints[row][self.parents] if len(self.parents) else np.zeros((0, 2, 3)),
            visible=look.body == "bones",
        )
        self._draw_support(poses.touching[row], time, look.support)

    def remove(self) -> None:
        """Take the nodes out of the scene."""
        self.frame.remove()

    def _draw_support(self, touching: np.ndarray, time: float, wanted: bool) -> None:
        corners = (
            support_polygon(self.figure, touching, loaded_bodies(self.actor, time))
            if wanted
            else np.zeros((0, 2))
        )[:CORNERS]
        if len(corners) < 3:
            self.support.visible = False
            return
        flat = np.full((CORNERS, 3), 0.006, dtype=np.float32)
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
                segment = self.figure.bodies[event.instance_index // ends]
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


def shade(colour: Colour, side: str) -> tuple[int, int, int]:
    """The colour of a body, lighter on its left and darker on its right, to tell them apart."""
    towards, share = {"left": (255, 0.28), "right": (0, 0.2)}.get(side, (255, 0.05))
    red, green, blue = (round(c + (towards - c) * share) for c in colour)
    return red, green, blue


def _bones(figure: Figure) -> np.ndarray:
    """(bones, 2): places of joints that a line connects."""
    joints = figure.model.joints
    own = {joint.child: k for k, joint in enumerate(joints)}
    pairs = [(own[joint.parent], k) for k, joint in enumerate(joints) if joint.parent != WORLD]
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _node(name: str) -> str:
    """A name that a path of the scene can hold."""
    return name.replace("/", "_")
