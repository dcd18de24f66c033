"""Writer of URDF: joints with several degrees of freedom become chains with massless links.

A link has the name of its body, and a joint with one degree of freedom that of its coordinate, so
that mimic joints find it. The links of a chain are called ``<joint>_1``, ``<joint>_2`` and so on. A
free root joint is left out, as usual in URDF: the program that reads the file decides how the root
link is connected to the world. Any other joint to the world starts at a link ``world``. Markers and
frames become links with fixed joints, contacts collision shapes, and capsules visual shapes (two
spheres and a cylinder). URDF has no stiffness, armature, gravity and contact sets; they are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.files import write_text
from homodyn.model.formats.plain import refuse_parameters, simple_axes
from homodyn.model.formats.xml_write import XmlNode, numbers, xml_text
from homodyn.model.functions import Linear
from homodyn.model.joint import WORLD, Coordinate, Joint, JointAxis, is_identity
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactShape
from homodyn.spatial import Transform

LARGE_LIMIT = 1e9
"""Limit (any unit) that is written in the place of infinity."""


def write_urdf(model: Model, path: str | Path) -> None:
    """Write a model as URDF.

    Args:
        model: The model.
        path: The file.

    Raises:
        FormatError: The model has parameters, or a joint or coupler that URDF cannot express.
    """
    path = Path(path)
    refuse_parameters(model, path)
    write_text(path, xml_text(_Writer(model, path).robot()))


@dataclass(frozen=True)
class UrdfLink:
    """One joint of a chain: its placement in the parent link and its axis."""

    name: str
    parent: str
    child: str
    placement: Transform
    axis: JointAxis | None = None
    coordinate: Coordinate | None = None
    kind: str = "fixed"


def chain(joint: Joint, path: Path) -> Iterator[UrdfLink]:
    """A joint as a chain of joints with at most one axis each."""
    if joint.kind == "spherical":
        raise FormatError(
            f"joint {joint.name!r} is spherical, which URDF does not have; use an euler joint, or "
            f"save as .mjcf or .toml",
            str(path),
        )
    if joint.kind == "free":
        offset = not is_identity(joint.child_placement)
        child = f"{joint.name}_1" if offset else joint.child
        yield UrdfLink(joint.name, joint.parent, child, joint.placement, kind="floating")
        if offset:
            yield UrdfLink(f"{joint.name}_end", child, joint.child, joint.child_placement.inverse())
        return
    axes = simple_axes(joint, path, "URDF")
    back = joint.child_placement.inverse()
    offset = not is_identity(joint.child_placement)
    count = len(axes) + (offset and len(axes) > 0)
    parent, placement = joint.parent, joint.placement
    for k, (axis, coordinate) in enumerate(zip(axes, joint.coordinates, strict=True), 1):
        if axis.pitch:
            raise FormatError(
                f"joint {joint.name!r} is a screw, which URDF does not have", str(path)
            )
        child = joint.child if k == count else f"{joint.name}_{k}"
        yield UrdfLink(coordinate.name, parent, child, placement, axis, coordinate)
        parent, placement = child, Transform.identity()
    if not axes:
        yield UrdfLink(joint.name, parent, joint.child, back @ placement)
    elif offset:
        yield UrdfLink(f"{joint.name}_end", parent, joint.child, back)


class _Writer:
    def __init__(self, model: Model, path: Path) -> None:
        self.model, self.path = model, path
        for coupler in model.couplers:
            if not isinstance(coupler.function, Linear):
                raise FormatError(
                    f"{coupler.coordinate!r} follows {coupler.of!r} by a "
                    f"{type(coupler.function).__name__} function; URDF has linear functions only",
                    str(path),
                )
        self.mimics = {c.coordinate: c for c in model.couplers}

    def robot(self) -> XmlNode:
        links: list[UrdfLink] = []
        for joint in self.model.joints:
            if not self._is_implied(joint):
                links += chain(joint, self.path)
        links += self._attachments()
        names = {body.name for body in self.model.bodies}
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
            {"name": self.model.name},
            [
                *([XmlNode("link", {"name": WORLD})] if rooted else []),
                *(self._link(body.name) for body in self.model.bodies),
                *(XmlNode("link", {"name": name}) for name in between),
                *(self._joint(link) for link in links),
            ],
        )

    def _is_implied(self, joint: Joint) -> bool:
        """Whether this is the free root joint that URDF files leave out."""
        at_origin = is_identity(joint.placement) and is_identity(joint.child_placement)
        is_only_root = sum(other.parent == WORLD for other in self.model.joints) == 1
        world_has_parts = any(
            one.body == WORLD
            for part in (
                self.model.frames,
                self.model.markers,
                self.model.contacts,
                self.model.capsules,
            )
            for one in part
        )
        is_plain = joint.kind == "free" and at_origin and is_only_root and not world_has_parts
        return joint.parent == WORLD and is_plain

    def _link(self, name: str) -> XmlNode:
        body = self.model.body(name)
        nodes = []
        if body.mass or body.inertia.any():
            entries = {
                f"i{a}{b}": numbers(body.inertia[i, j])
                for (i, a), (j, b) in (
                    ((i, "xyz"[i]), (j, "xyz"[j])) for i in range(3) for j in range(i, 3)
                )
            }
            nodes.append(
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
        nodes += [n for c in self.model.capsules if c.body == name for n in _visuals(c)]
        nodes += [_collision(c) for c in self.model.contacts if c.body == name]
        return XmlNode("link", {"name": name}, nodes)

    def _joint(self, link: UrdfLink) -> XmlNode:
        inside = [
            XmlNode("parent", {"link": link.parent}),
            XmlNode("child", {"link": link.child}),
            _origin(link.placement),
        ]
        if link.axis is None or link.coordinate is None:
            return XmlNode("joint", {"name": link.name, "type": link.kind}, inside)
        c = link.coordinate
        limited = bool(np.isfinite(c.lower) or np.isfinite(c.upper))
        kind = "prismatic" if link.axis.kind == "slide" else "revolute" if limited else "continuous"
        inside.append(XmlNode("axis", {"xyz": numbers(link.axis.axis)}))
        # The standard requires numbers here; numbers that no body reaches mean no limit.
        limit = {
            "effort": numbers(_finite_limit(c.max_force)),
            "velocity": numbers(_finite_limit(c.max_velocity)),
        }
        if kind != "continuous":
            limit |= {
                "lower": numbers(_finite_limit(c.lower)),
                "upper": numbers(_finite_limit(c.upper)),
            }
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
        for marker in self.model.markers:
            placement = Transform(np.eye(3), marker.position)
            yield UrdfLink(f"{marker.name}_fixed", marker.body, marker.name, placement)
        for frame in self.model.frames:
            yield UrdfLink(f"{frame.name}_fixed", frame.body, frame.name, frame.placement)


def _finite_limit(value: float) -> float:
    return float(np.clip(value, -LARGE_LIMIT, LARGE_LIMIT))


def _origin(placement: Transform) -> XmlNode:
    rpy = numbers(roll_pitch_yaw(placement.E))
    return XmlNode("origin", {"xyz": numbers(placement.r), "rpy": rpy})


def roll_pitch_yaw(E: np.ndarray) -> np.ndarray:
    """Angles (rad) about fixed x, y, z whose rotation matrix is the transpose of ``E``."""
    R = E.T
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return np.array([np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


def along_z(line: np.ndarray) -> np.ndarray:
    """Coordinate rotation to axes whose z is along the line."""
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
        sphere = XmlNode("sphere", {"radius": radius})
        yield _shape("visual", capsule.name, Transform(np.eye(3), point), sphere)


def _collision(contact: ContactShape) -> XmlNode:
    """A contact as a solid: points are spheres of radius zero, lines and capsules are along x."""
    placement = Transform(contact.rotation, contact.position)
    shape: Any
    if contact.kind == "box":
        shape = XmlNode("box", {"size": numbers(contact.size)})
    elif contact.kind in ("line", "capsule"):
        rotation = along_z(np.array([1.0, 0.0, 0.0])) @ contact.rotation
        placement = Transform(rotation, contact.position)
        size = {"radius": numbers(contact.radius), "length": numbers(contact.size[0])}
        shape = XmlNode("cylinder", size)
    else:
        shape = XmlNode("sphere", {"radius": numbers(contact.radius)})
    return _shape("collision", contact.name, placement, shape)


def _shape(tag: str, name: str, placement: Transform, shape: XmlNode) -> XmlNode:
    return XmlNode(tag, {"name": name}, [_origin(placement), XmlNode("geometry", {}, [shape])])
