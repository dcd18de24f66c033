"""MJCF, MuJoCo's model file, written: bodies with several joints each, as MuJoCo has them.

Names are kept: bodies, joints by the names of their coordinates (free and ball joints by that of
the joint), sites for markers and frames. Positions mean the same in both programs. Velocities do
too, but for the free joint: MuJoCo takes its linear velocity in the world, we in the body. Bodies
without mass that only link two others, as in models that come from URDF, are left out; their
joints move the next body with mass.

Contacts become shapes that touch nothing but the floor, a plane at height zero; capsules become
shapes to look at. Both are without mass. Couplers become equality constraints, which MuJoCo keeps
softly. Friction at a joint is MuJoCo's frictionloss, a limit of effort its actuatorfrcrange;
limits of velocity and contact sets have no place there and stay behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.files import write_text
from homodyn.model.formats.plain import refuse_parameters, simple_motions
from homodyn.model.formats.urdf_write import along_z
from homodyn.model.formats.xml_write import XmlNode, numbers, xml_text
from homodyn.model.functions import Constant, Linear, Polynomial, ScalarFunction, ScaledFunction
from homodyn.model.joint import WORLD, Coordinate, Joint, is_identity
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactShape
from homodyn.model.validation import impossible_inertia
from homodyn.spatial import Transform

TIME_STEP_S = 0.001
_FLOOR, _FEET = "1", "2"
MIN_CONTACT_RADIUS_M = 1e-3


def write_mjcf(model: Model, path: str | Path) -> None:
    """Write a model as MJCF, or say by name what MuJoCo cannot hold."""
    path = Path(path)
    refuse_parameters(model, path)
    write_text(path, xml_text(_Writer(model, path).mujoco()))


class _Writer:
    def __init__(self, model: Model, path: Path) -> None:
        self.m, self.path = model, path
        self.carried: dict[str, list[Joint]] = {}
        for joint in model.joints:
            self.carried.setdefault(joint.parent, []).append(joint)
        self._refuse()

    def _refuse(self) -> None:
        """What MuJoCo's compiler would refuse without saying why, or take as something else."""
        for joint in self.m.joints:
            simple_motions(joint, self.path, "MJCF")
            if any(motion.pitch for motion in joint.axes):
                raise self._error(f"joint {joint.name!r} is a screw, which MJCF has not")
            if joint.kind == "free" and (joint.parent != WORLD or not is_identity(joint.placement)):
                raise self._error(
                    f"joint {joint.name!r} is free, which MJCF knows at the origin of the world "
                    f"only; use an euler_free joint"
                )
            body = self.m.body(joint.child)
            if (
                joint.nv
                and not (body.mass or body.inertia.any())
                and not self._moves_mass(body.name)
                and not self._is_link(joint)
            ):
                raise self._error(
                    f"body {body.name!r} moves without mass, which MuJoCo refuses; give it some"
                )
            if body.inertia.any() and not body.mass:
                raise self._error(f"body {body.name!r} has inertia but no mass")
            broken = impossible_inertia(body.inertia)
            if broken:
                raise self._error(f"body {body.name!r}: {broken}, which MuJoCo refuses")

    def _error(self, message: str) -> FormatError:
        return FormatError(message, str(self.path))

    def _moves_mass(self, name: str) -> bool:
        """Whether fixed joints hang mass on a body, which is then part of it for MuJoCo."""
        return any(
            not joint.nv and (self.m.body(joint.child).mass or self._moves_mass(joint.child))
            for joint in self.carried.get(name, [])
        )

    def _is_link(self, joint: Joint) -> bool:
        """Whether a body is without mass, has nothing on it and carries one other by hinges."""
        body, carried = self.m.body(joint.child), self.carried.get(joint.child, [])
        if body.mass or body.inertia.any() or len(carried) != 1 or self._attachments(body.name):
            return False
        return not joint.quaternion and not carried[0].quaternion

    def mujoco(self) -> XmlNode:
        floor: dict[str, str] = {"name": "floor", "type": "plane", "size": "0 0 1"}
        floor |= {"contype": _FLOOR, "conaffinity": _FEET}
        world = [XmlNode("geom", floor)] if self.m.contacts else []
        world += [*self._attachments(WORLD), *map(self._body, self.carried.get(WORLD, []))]
        # Angles are ours in radians, inertias are taken as they are, and nothing is merged.
        compiler = {
            "angle": "radian",
            "autolimits": "false",
            "balanceinertia": "false",
            "inertiafromgeom": "false",
            "boundmass": "0",
        }
        option = {"gravity": numbers(self.m.gravity), "timestep": numbers(TIME_STEP_S)}
        made = [
            XmlNode("compiler", compiler),
            XmlNode("option", option),
            XmlNode("worldbody", {}, world),
        ]
        if self.m.couplers:
            made.append(XmlNode("equality", {}, [self._equality(c) for c in self.m.couplers]))
        return XmlNode("mujoco", {"model": self.m.name}, made)

    def _body(self, joint: Joint) -> XmlNode:
        """A body with its joints; one that does not turn about its joint's frame gets a second."""
        if joint.nv and self._is_link(joint):
            return self._merge_massless_links(joint)
        name = joint.child
        moved = not is_identity(joint.child_placement)
        inside = self._joints(joint)
        if moved and joint.nv:
            # Joints of a body act in its frame: the frame of the joint becomes a body of its own,
            # with the mass, and the named body hangs fixed on it.
            outer = _place({"name": f"{joint.name}_frame"}, joint.placement)
            inner = _place({"name": name}, joint.child_placement.inverse())
            inertial = self._inertial(name, joint.child_placement)
            body = XmlNode("body", inner, self._content(name))
            return XmlNode("body", outer, [*inside, *inertial, body])
        placed = joint.child_placement.inverse() @ joint.placement
        inertial = self._inertial(name, Transform.identity())
        return XmlNode(
            "body", _place({"name": name}, placed), [*inside, *inertial, *self._content(name)]
        )

    def _merge_massless_links(self, joint: Joint) -> XmlNode:
        """The body at the end of links without mass, with the joints of all of them.

        A joint of a body has its axis and anchor in the frame of the body where all angles are 0.
        """
        chain = [joint]
        while self._is_link(chain[-1]):
            chain += self.carried[chain[-1].child]
        name = chain[-1].child
        total = Transform.identity()
        made: list[XmlNode] = []
        for link in reversed(chain):
            after = total @ link.child_placement.inverse()
            nodes = self._joints(link)
            for node, motion in zip(nodes, link.axes, strict=True):
                node.attributes["axis"] = numbers(after.E @ motion.axis)
                node.attributes["pos"] = numbers(after.point(np.zeros(3)))
            made = nodes + made
            total = after @ link.placement
        inside = [*made, *self._inertial(name, Transform.identity()), *self._content(name)]
        return XmlNode("body", _place({"name": name}, total), inside)

    def _content(self, name: str) -> list[XmlNode]:
        return [*self._attachments(name), *map(self._body, self.carried.get(name, []))]

    def _joints(self, joint: Joint) -> list[XmlNode]:
        if joint.kind == "free":
            if any(c.stiffness or c.damping or c.armature for c in joint.coordinates):
                attributes = {"name": joint.name, "type": "free"}
                return [XmlNode("joint", attributes | self._ball_numbers(joint))]
            return [XmlNode("freejoint", {"name": joint.name})]
        if joint.kind == "spherical":
            attributes = {"name": joint.name, "type": "ball"}
            return [XmlNode("joint", attributes | self._ball_numbers(joint))]
        made = []
        for motion, c in zip(joint.axes, joint.coordinates, strict=True):
            kind = "hinge" if motion.kind == "turn" else "slide"
            attributes = {"name": c.name, "type": kind, "axis": numbers(motion.axis)}
            made.append(XmlNode("joint", attributes | self._coordinate_numbers(c)))
        return made

    def _coordinate_numbers(self, c: Coordinate) -> dict[str, str]:
        made: dict[str, str] = {}
        if np.isfinite(c.lower) or np.isfinite(c.upper):
            made |= {"limited": "true", "range": numbers(np.clip([c.lower, c.upper], -1e9, 1e9))}
        # MuJoCo refuses a range without width; a coordinate without a motor has no actuator here.
        if np.isfinite(c.max_force) and c.max_force > 0:
            made |= {"actuatorfrclimited": "true"}
            made |= {"actuatorfrcrange": numbers([-c.max_force, c.max_force])}
        fields = {"damping": c.damping, "armature": c.armature, "frictionloss": c.friction}
        made |= {key: numbers(value) for key, value in fields.items() if value}
        if c.stiffness:
            made |= {"stiffness": numbers(c.stiffness), "springref": numbers(c.rest)}
        return made

    def _ball_numbers(self, joint: Joint) -> dict[str, str]:
        """One number for all freedoms of a quaternion, as MuJoCo has it."""
        made = {}
        for key in ("damping", "armature", "stiffness"):
            values = {getattr(c, key) for c in joint.coordinates}
            if len(values) > 1 or (key == "stiffness" and values != {0.0}):
                raise self._error(
                    f"joint {joint.name!r}: MJCF has one {key} for all freedoms of a {joint.kind} "
                    f"joint and other springs; give it none, or use an euler joint"
                )
            if any(values):
                made[key] = numbers(values.pop())
        return made

    def _inertial(self, name: str, placed: Transform) -> list[XmlNode]:
        """Mass and inertia of a body seen from another frame, which ``placed`` is in the body."""
        body = self.m.body(name)
        if not body.mass:
            return []
        inertia = placed.E @ body.inertia @ placed.E.T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (inertia + inertia.T) / 2
        if not body.inertia.any():
            attributes = {"diaginertia": "0 0 0"}
        elif is_identity(placed) and not np.any(body.inertia - np.diag(np.diag(body.inertia))):
            attributes = {"diaginertia": numbers(np.diag(body.inertia))}
        else:
            attributes = {"fullinertia": numbers([xx, yy, zz, xy, xz, yz])}
        attributes = {
            "pos": numbers(placed.point(body.com)),
            "mass": numbers(body.mass),
        } | attributes
        return [XmlNode("inertial", attributes)]

    def _attachments(self, name: str) -> list[XmlNode]:
        made = [
            XmlNode("site", {"name": marker.name, "pos": numbers(marker.position)})
            for marker in self.m.markers
            if marker.body == name
        ]
        made += [
            XmlNode("site", _place({"name": frame.name}, frame.placement))
            for frame in self.m.frames
            if frame.body == name
        ]
        made += [_contact(contact) for contact in self.m.contacts if contact.body == name]
        return made + [_capsule(capsule) for capsule in self.m.capsules if capsule.body == name]

    def _equality(self, coupler: object) -> XmlNode:
        follower, of, function = (getattr(coupler, f) for f in ("coordinate", "of", "function"))
        coefficients = _polynomial(function)
        if coefficients is None or len(coefficients) > 5:
            raise self._error(
                f"{follower!r} follows {of!r} by a {type(function).__name__} function; MJCF has "
                f"polynomials up to the fourth power"
            )
        padded = [*coefficients, *[0.0] * (5 - len(coefficients))]
        names = {"joint1": follower, "joint2": of}
        return XmlNode("joint", {**names, "polycoef": numbers(padded)})


def _polynomial(function: ScalarFunction) -> Sequence[float] | None:
    if isinstance(function, Constant):
        return [function.number]
    if isinstance(function, Linear):
        return [function.offset, function.factor]
    if isinstance(function, Polynomial):
        return list(function.coefficients)
    if isinstance(function, ScaledFunction):
        inner = _polynomial(function.function)
        return None if inner is None else [function.factor * c for c in inner]
    return None


def _place(attributes: dict[str, str], placed: Transform) -> dict[str, str]:
    if np.any(placed.r):
        attributes["pos"] = numbers(placed.r)
    if not np.array_equal(placed.E, np.eye(3)):
        # The first two axes of the frame, seen from outside; MuJoCo finds the third.
        attributes["xyaxes"] = numbers(placed.E[:2])
    return attributes


def _contact(contact: ContactShape) -> XmlNode:
    """A shape that meets the floor and nothing else; points and lines get a radius of 1 mm."""
    attributes = {"name": contact.name, "mass": "0", "contype": _FEET, "conaffinity": _FLOOR}
    placed = Transform(contact.rotation, contact.position)
    radius = max(float(contact.radius), MIN_CONTACT_RADIUS_M)
    if contact.kind == "box":
        attributes |= {
            "type": "box",
            "size": numbers(np.maximum(contact.size, MIN_CONTACT_RADIUS_M)),
        }
    elif contact.kind in ("line", "capsule"):
        placed = Transform(along_z(np.array([1.0, 0.0, 0.0])) @ contact.rotation, contact.position)
        half = max(float(contact.size[0]), MIN_CONTACT_RADIUS_M)
        attributes |= {"type": "capsule", "size": numbers([radius, half])}
    else:
        attributes |= {"type": "sphere", "size": numbers(radius)}
    return XmlNode("geom", _place(attributes, placed))


def _capsule(capsule: Capsule) -> XmlNode:
    attributes = {"name": f"{capsule.name}_visual", "mass": "0", "contype": "0", "conaffinity": "0"}
    radius = numbers(max(float(capsule.radius), MIN_CONTACT_RADIUS_M))
    if np.array_equal(capsule.start, capsule.end):
        shape = {"type": "sphere", "size": radius, "pos": numbers(capsule.start)}
    else:
        ends = np.concatenate([capsule.start, capsule.end])
        shape = {"type": "capsule", "size": radius, "fromto": numbers(ends)}
    return XmlNode("geom", attributes | shape)
