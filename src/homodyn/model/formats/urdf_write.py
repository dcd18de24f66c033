"""URDF written: joints with several freedoms become chains of simple ones with massless links.

A link keeps the name of its body, and a joint with one freedom that of its coordinate, so that
mimic joints find it. The links in between are called ``<joint>_1``, ``<joint>_2`` and so on. A free
root is left out, as URDF has it: the program that reads the file says how the root link hangs on
the world. Any other joint to the world starts at a link ``world``. Markers and frames become links
on fixed joints; contacts become collision shapes, capsules become visual ones (two balls and a
cylinder). Stiffness, armature, gravity and contact sets have no place in URDF and stay behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.files import write_text
from homodyn.model.formats.plain import refuse_parameters, simple_motions
from homodyn.model.formats.xml_write import XmlNode, numbers, xml_text
from homodyn.model.functions import Linear
from homodyn.model.joint import WORLD, Coordinate, Joint, JointAxis, is_identity
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactShape
from homodyn.spatial import Transform


def write_urdf(model: Model, path: str | Path) -> None:
    """Write a model as URDF, or say by name what URDF cannot hold."""
    path = Path(path)
    refuse_parameters(model, path)
    write_text(path, xml_text(_Writer(model, path).robot()))


@dataclass(frozen=True)
class UrdfLink:
    """One simple joint of a chain: where it is in its parent link, and how it moves."""

    name: str
    parent: str
    child: str
    placement: Transform
    motion: JointAxis | None = None
    coordinate: Coordinate | None = None
    kind: str = "fixed"


def chain(joint: Joint, path: Path) -> Iterator[UrdfLink]:
    """A joint as simple joints in a row, the last one carrying its child."""
    if joint.kind == "spherical":
        raise FormatError(
            f"joint {joint.name!r} is spherical, which URDF has not; use an euler joint, or save "
            f"as .mjcf or .toml",
            str(path),
        )
    if joint.kind == "free":
        offset = not is_identity(joint.child_placement)
        child = f"{joint.name}_1" if offset else joint.child
        yield UrdfLink(joint.name, joint.parent, child, joint.placement, kind="floating")
        if offset:
            yield UrdfLink(f"{joint.name}_end", child, joint.child, joint.child_placement.inverse())
        return
    motions = simple_motions(joint, path, "URDF")
    back = joint.child_placement.inverse()
    offset = not is_identity(joint.child_placement)
    count = len(motions) + (offset and len(motions) > 0)
    parent, placed = joint.parent, joint.placement
    for k, (motion, coordinate) in enumerate(zip(motions, joint.coordinates, strict=True), 1):
        if motion.pitch:
            raise FormatError(f"joint {joint.name!r} is a screw, which URDF has not", str(path))
        child = joint.child if k == count else f"{joint.name}_{k}"
        yield UrdfLink(coordinate.name, parent, child, placed, motion, coordinate)
        parent, placed = child, Transform.identity()
    if not motions:
        yield UrdfLink(joint.name, parent, joint.child, back @ placed)
    elif offset:
        yield UrdfLink(f"{joint.name}_end", parent, joint.child, back)


class _Writer:
    def __init__(self, model: Model, path: Path) -> None:
        self.m, self.path = model, path
        for coupler in model.couplers:
            if not isinstance(coupler.function, Linear):
                raise FormatError(
                    f"{coupler.coordinate!r} follows {coupler.of!r} by a "
                    f"{type(coupler.function).__name__} function; URDF has linear ones only",
                    str(path),
                )
        self.mimics = {c.coordinate: c for c in model.couplers}

    def robot(self) -> XmlNode:
        links: list[UrdfLink] = []
        for joint in self.m.joints:
            if not self._is_plain_root(joint):
                links += chain(joint, self.path)
        links += self._attachments()
        names = {body.name for body in self.m.bodies}
        between = [link.child for link in links if link.child not in names]
        for name in between:
            if between.count(name) > 1:
                raise FormatError(f"two links would be called {name!r}; rename one", str(self.path))
        rooted = any(link.parent == WORLD for link in links)
        joints = [link.name for link in links]
        for name in joints:
            if joints.count(name) > 1:
                raise FormatError(
                    f"two joints would be called {name!r}; rename one", str(self.path)
                )
        return XmlNode(
            "robot",
            {"name": self.m.name},
            [
                *([XmlNode("link", {"name": WORLD})] if rooted else []),
                *(self._link(body.name) for body in self.m.bodies),
                *(XmlNode("link", {"name": name}) for name in between),
                *(self._joint(link) for link in links),
            ],
        )

    def _is_plain_root(self, joint: Joint) -> bool:
        """Whether URDF says this joint by leaving it out: a tree without it has one root link."""
        placed = is_identity(joint.placement) and is_identity(joint.child_placement)
        alone = sum(other.parent == WORLD for other in self.m.joints) == 1
        on_world = any(
            record.body == WORLD
            for part in (self.m.frames, self.m.markers, self.m.contacts, self.m.capsules)
            for record in part
        )
        plain = joint.kind == "free" and placed and alone and not on_world
        return joint.parent == WORLD and plain

    def _link(self, name: str) -> XmlNode:
        body = self.m.body(name)
        made = []
        if body.mass or body.inertia.any():
            entries = {
                f"i{a}{b}": numbers(body.inertia[i, j])
                for (i, a), (j, b) in (
                    ((i, "xyz"[i]), (j, "xyz"[j])) for i in range(3) for j in range(i, 3)
                )
            }
            made.append(
                XmlNode(
                    "inertial",
                    {},
                    [
                        XmlNode("origin", {"xyz": numbers(body.com), "rpy": "0 0 0"}),
                        XmlNode("mass", {"value": numbers(body.mass)}),
                        XmlNode("inertia", entries),
                    ],
                )
            )
        made += [n for c in self.m.capsules if c.body == name for n in _visuals(c)]
        made += [_collision(c) for c in self.m.contacts if c.body == name]
        return XmlNode("link", {"name": name}, made)

    def _joint(self, link: UrdfLink) -> XmlNode:
        inside = [
            XmlNode("parent", {"link": link.parent}),
            XmlNode("child", {"link": link.child}),
            _origin(link.placement),
        ]
        if link.motion is None or link.coordinate is None:
            return XmlNode("joint", {"name": link.name, "type": link.kind}, inside)
        c = link.coordinate
        limited = bool(np.isfinite(c.lower) or np.isfinite(c.upper))
        kind = (
            "prismatic" if link.motion.kind == "slide" else "revolute" if limited else "continuous"
        )
        inside.append(XmlNode("axis", {"xyz": numbers(link.motion.axis)}))
        # Both programs and the standard want numbers here: those no body reaches mean no limit.
        limit = {
            "effort": numbers(_large(c.max_force)),
            "velocity": numbers(_large(c.max_velocity)),
        }
        if kind != "continuous":
            limit |= {"lower": numbers(_large(c.lower)), "upper": numbers(_large(c.upper))}
        inside.append(XmlNode("limit", limit))
        if c.damping or c.friction:
            pair = {"damping": numbers(c.damping), "friction": numbers(c.friction)}
            inside.append(XmlNode("dynamics", pair))
        coupler = self.mimics.get(c.name)
        if coupler is not None and isinstance(coupler.function, Linear):
            law = {
                "joint": coupler.of,
                "multiplier": numbers(coupler.function.factor),
                "offset": numbers(coupler.function.offset),
            }
            inside.append(XmlNode("mimic", law))
        return XmlNode("joint", {"name": link.name, "type": kind}, inside)

    def _attachments(self) -> Iterator[UrdfLink]:
        for marker in self.m.markers:
            placed = Transform(np.eye(3), marker.position)
            yield UrdfLink(f"{marker.name}_fixed", marker.body, marker.name, placed)
        for frame in self.m.frames:
            yield UrdfLink(f"{frame.name}_fixed", frame.body, frame.name, frame.placement)


def _large(value: float) -> float:
    return float(np.clip(value, -1e9, 1e9))


def _origin(placed: Transform) -> XmlNode:
    return XmlNode("origin", {"xyz": numbers(placed.r), "rpy": numbers(roll_pitch_yaw(placed.E))})


def roll_pitch_yaw(E: np.ndarray) -> np.ndarray:
    """Angles (rad) about fixed x, y, z whose rotation matrix is the transpose of ``E``."""
    R = E.T
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def along_z(line: np.ndarray) -> np.ndarray:
    """A rotation into axes whose z points along the line."""
    length = float(np.linalg.norm(line))
    if length == 0:
        return np.eye(3)
    z = line / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


def _visuals(capsule: Capsule) -> Iterator[XmlNode]:
    line = capsule.end - capsule.start
    middle = Transform(along_z(line), (capsule.start + capsule.end) / 2)
    radius = numbers(capsule.radius)
    if line.any():
        size = {"radius": radius, "length": numbers(np.linalg.norm(line))}
        yield _shape("visual", capsule.name, middle, XmlNode("cylinder", size))
    for point in (capsule.start, capsule.end) if line.any() else (capsule.start,):
        ball = XmlNode("sphere", {"radius": radius})
        yield _shape("visual", capsule.name, Transform(np.eye(3), point), ball)


def _collision(contact: ContactShape) -> XmlNode:
    """A contact as a solid: points are balls of no size, lines and capsules lie along their x."""
    placed = Transform(contact.rotation, contact.position)
    shape: Any
    if contact.kind == "box":
        shape = XmlNode("box", {"size": numbers(2 * contact.size)})
    elif contact.kind in ("line", "capsule"):
        turned = along_z(np.array([1.0, 0.0, 0.0])) @ contact.rotation
        placed = Transform(turned, contact.position)
        size = {"radius": numbers(contact.radius), "length": numbers(2 * contact.size[0])}
        shape = XmlNode("cylinder", size)
    else:
        shape = XmlNode("sphere", {"radius": numbers(contact.radius)})
    return _shape("collision", contact.name, placed, shape)


def _shape(tag: str, name: str, placed: Transform, shape: XmlNode) -> XmlNode:
    return XmlNode(tag, {"name": name}, [_origin(placed), XmlNode("geometry", {}, [shape])])
