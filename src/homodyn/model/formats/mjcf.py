"""Writer of MJCF, the model files of MuJoCo.

Bodies keep their names. A joint has the name of its coordinate (free and ball joints that of the
joint). Markers and frames become sites. Positions mean the same in both programs. So do velocities,
except for the free joint: MuJoCo has its linear velocity in world axes, Homodyn in body axes.
Massless bodies that only connect two others, as in models from URDF, are left out; their joints
become joints of the next body with mass.

Contacts become geoms that collide with the floor only, a plane at height zero; capsules become
geoms without collisions. Both have no mass. Couplers become equality constraints, which are soft in
MuJoCo. Joint friction becomes frictionloss, and a force limit actuatorfrcrange. The neutral pose
becomes the keyframe "neutral"; a free joint also starts there without it. Muscles become spatial
tendons with muscle actuators (see `mjcf_muscles`). MJCF has no velocity
limits and contact sets; they are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.coordinate_layout import joint_positions
from homodyn.model.formats.files import write_text
from homodyn.model.formats.mjcf_muscles import actuator_section, path_attachments, tendon_section
from homodyn.model.formats.plain import refuse_parameters, simple_axes
from homodyn.model.formats.urdf_write import LARGE_LIMIT, along_z
from homodyn.model.formats.xml_write import XmlNode, numbers, xml_text
from homodyn.model.functions import Constant, Linear, Polynomial, ScalarFunction, ScaledFunction
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint, is_identity
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactShape
from homodyn.model.validation import impossible_inertia
from homodyn.spatial import Transform

TIME_STEP_S = 0.001
_FLOOR, _FEET = "1", "2"
MIN_CONTACT_RADIUS_M = 1e-3
"""Radius of contacts that are points or lines in the model."""
KEYFRAME = "neutral"
"""Name of the keyframe with the default values of all coordinates."""


def write_mjcf(model: Model, path: str | Path) -> None:
    """Write a model as MJCF.

    Args:
        model: The model.
        path: The file.

    Raises:
        FormatError: The model has parameters, or something that MuJoCo cannot express.
    """
    path = Path(path)
    refuse_parameters(model, path)
    write_text(path, xml_text(_Writer(model, path).mujoco()))


class _Writer:
    def __init__(self, model: Model, path: Path) -> None:
        self.model, self.path = model, path
        self.joints_on: dict[str, list[Joint]] = {}
        for joint in model.joints:
            self.joints_on.setdefault(joint.parent, []).append(joint)
        self._check()
        self.neutral = _neutral_positions(model)

    def _check(self) -> None:
        """Refuse what MuJoCo would refuse without a reason, or misinterpret."""
        for joint in self.model.joints:
            simple_axes(joint, self.path, "MJCF")
            if any(axis.pitch for axis in joint.axes):
                raise self._error(f"joint {joint.name!r} is a screw, which MJCF does not have")
            if joint.kind == "free" and (joint.parent != WORLD or not is_identity(joint.placement)):
                raise self._error(
                    f"joint {joint.name!r} is free, which MJCF supports at the origin of the world "
                    f"only; use an euler_free joint"
                )
            body = self.model.body(joint.child)
            if (
                joint.nv
                and not (body.mass or body.inertia.any())
                and not self._moves_mass(body.name)
                and not self._is_massless_link(joint)
            ):
                raise self._error(
                    f"body {body.name!r} moves and has no mass, which MuJoCo refuses; add some"
                )
            if body.inertia.any() and not body.mass:
                raise self._error(f"body {body.name!r} has inertia but no mass")
            broken = impossible_inertia(body.inertia)
            if broken:
                raise self._error(f"body {body.name!r}: {broken}, which MuJoCo refuses")

    def _error(self, message: str) -> FormatError:
        return FormatError(message, str(self.path))

    def _moves_mass(self, name: str) -> bool:
        """Whether bodies with mass are fixed to a body; MuJoCo counts them as part of it."""
        return any(
            not joint.nv and (self.model.body(joint.child).mass or self._moves_mass(joint.child))
            for joint in self.joints_on.get(name, [])
        )

    def _is_massless_link(self, joint: Joint) -> bool:
        """Whether a body has no mass and no attachments and connects two others."""
        body, beyond = self.model.body(joint.child), self.joints_on.get(joint.child, [])
        if body.mass or body.inertia.any() or len(beyond) != 1 or self._attachments(body.name):
            return False
        return not joint.quaternion and not beyond[0].quaternion

    def mujoco(self) -> XmlNode:
        floor: dict[str, str] = {"name": "floor", "type": "plane", "size": "0 0 1"}
        floor |= {"contype": _FLOOR, "conaffinity": _FEET}
        world = [XmlNode("geom", floor)] if self.model.contacts else []
        world += [*self._attachments(WORLD), *map(self._body, self.joints_on.get(WORLD, []))]
        # Angles are in radians, inertias are used as they are, and nothing is merged.
        compiler = {
            "angle": "radian",
            "autolimits": "false",
            "balanceinertia": "false",
            "inertiafromgeom": "false",
            "boundmass": "0",
        }
        option = {"gravity": numbers(self.model.gravity), "timestep": numbers(TIME_STEP_S)}
        sections = [
            XmlNode("compiler", compiler),
            XmlNode("option", option),
            XmlNode("worldbody", {}, world),
        ]
        if self.model.couplers:
            sections.append(
                XmlNode("equality", {}, [self._equality(c) for c in self.model.couplers])
            )
        if self.model.muscles:
            sections += [tendon_section(self.model), actuator_section(self.model)]
        # MuJoCo orders positions as the joints are in the file.
        positions = [self.neutral[name] for node in world for name in _joint_names(node)]
        if positions:
            key = {"name": KEYFRAME, "qpos": numbers(np.concatenate(positions))}
            sections.append(XmlNode("keyframe", {}, [XmlNode("key", key)]))
        return XmlNode("mujoco", {"model": self.model.name}, sections)

    def _body(self, joint: Joint) -> XmlNode:
        """A body with its joints, a free one at its default place."""
        node = self._placed_body(joint)
        if joint.kind == "free":
            place, quaternion = np.split(self.neutral[joint.name], [3])
            if place.any():
                node.attributes["pos"] = numbers(place)
            if quaternion[1:].any():
                node.attributes["quat"] = numbers(quaternion)
        return node

    def _placed_body(self, joint: Joint) -> XmlNode:
        """A body with its joints; two bodies where the joint frame is not the body frame."""
        if joint.nv and self._is_massless_link(joint):
            return self._merge_massless_links(joint)
        name = joint.child
        inside = self._joints(joint)
        if joint.nv and not is_identity(joint.child_placement):
            # Joints of a body act in its frame: the joint frame becomes a body of its own, with the
            # mass, and the named body is fixed to it.
            outer = _place({"name": f"{joint.name}_frame"}, joint.placement)
            inner = _place({"name": name}, joint.child_placement.inverse())
            inertial = self._inertial(name, joint.child_placement)
            body = XmlNode("body", inner, self._content(name))
            return XmlNode("body", outer, [*inside, *inertial, body])
        placement = joint.child_placement.inverse() @ joint.placement
        inertial = self._inertial(name, Transform.identity())
        return XmlNode(
            "body", _place({"name": name}, placement), [*inside, *inertial, *self._content(name)]
        )

    def _merge_massless_links(self, joint: Joint) -> XmlNode:
        """The body at the end of a chain of massless links, with the joints of the whole chain.

        Axis and anchor of a joint are in the frame of the body where all angles are zero.
        """
        chain = [joint]
        while self._is_massless_link(chain[-1]):
            chain += self.joints_on[chain[-1].child]
        name = chain[-1].child
        total = Transform.identity()
        joints: list[XmlNode] = []
        for link in reversed(chain):
            after = total @ link.child_placement.inverse()
            nodes = self._joints(link)
            for node, axis in zip(nodes, link.axes, strict=True):
                node.attributes["axis"] = numbers(after.E @ axis.axis)
                node.attributes["pos"] = numbers(after.point(np.zeros(3)))
            joints = nodes + joints
            total = after @ link.placement
        inside = [*joints, *self._inertial(name, Transform.identity()), *self._content(name)]
        return XmlNode("body", _place({"name": name}, total), inside)

    def _content(self, name: str) -> list[XmlNode]:
        return [*self._attachments(name), *map(self._body, self.joints_on.get(name, []))]

    def _joints(self, joint: Joint) -> list[XmlNode]:
        if joint.kind == "free":
            if any(c.stiffness or c.damping or c.armature for c in joint.coordinates):
                attributes = {"name": joint.name, "type": "free"}
                return [XmlNode("joint", attributes | self._ball_numbers(joint))]
            return [XmlNode("freejoint", {"name": joint.name})]
        if joint.kind == "spherical":
            attributes = {"name": joint.name, "type": "ball"}
            return [XmlNode("joint", attributes | self._ball_numbers(joint))]
        nodes = []
        for axis, c in zip(joint.axes, joint.coordinates, strict=True):
            kind = "hinge" if axis.kind == "turn" else "slide"
            attributes = {"name": c.name, "type": kind, "axis": numbers(axis.axis)}
            nodes.append(XmlNode("joint", attributes | self._coordinate_numbers(c)))
        return nodes

    def _coordinate_numbers(self, c: Coordinate) -> dict[str, str]:
        attributes: dict[str, str] = {}
        if np.isfinite(c.lower) or np.isfinite(c.upper):
            bounds = np.clip([c.lower, c.upper], -LARGE_LIMIT, LARGE_LIMIT)
            attributes |= {"limited": "true", "range": numbers(bounds)}
        # MuJoCo refuses a range of width zero.
        if np.isfinite(c.max_force) and c.max_force > 0:
            attributes |= {"actuatorfrclimited": "true"}
            attributes |= {"actuatorfrcrange": numbers([-c.max_force, c.max_force])}
        fields = {"damping": c.damping, "armature": c.armature, "frictionloss": c.friction}
        attributes |= {key: numbers(value) for key, value in fields.items() if value}
        if c.stiffness:
            attributes |= {"stiffness": numbers(c.stiffness), "springref": numbers(c.rest)}
        return attributes

    def _ball_numbers(self, joint: Joint) -> dict[str, str]:
        """One number for all degrees of freedom of a quaternion joint, as in MuJoCo."""
        attributes = {}
        for key in ("damping", "armature", "stiffness"):
            values = {getattr(c, key) for c in joint.coordinates}
            if len(values) > 1 or (key == "stiffness" and values != {0.0}):
                raise self._error(
                    f"joint {joint.name!r}: MJCF has one {key} for all coordinates of a "
                    f"{joint.kind} joint, and other springs; remove it, or use an euler joint"
                )
            if any(values):
                attributes[key] = numbers(values.pop())
        return attributes

    def _inertial(self, name: str, frame: Transform) -> list[XmlNode]:
        """Mass and inertia of a body in another frame, which is placed in the body frame."""
        body = self.model.body(name)
        if not body.mass:
            return []
        inertia = frame.E @ body.inertia @ frame.E.T
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = (inertia + inertia.T) / 2
        if not body.inertia.any():
            attributes = {"diaginertia": "0 0 0"}
        elif is_identity(frame) and not np.any(body.inertia - np.diag(np.diag(body.inertia))):
            attributes = {"diaginertia": numbers(np.diag(body.inertia))}
        else:
            attributes = {"fullinertia": numbers([xx, yy, zz, xy, xz, yz])}
        attributes = {
            "pos": numbers(frame.point(body.com)),
            "mass": numbers(body.mass),
        } | attributes
        return [XmlNode("inertial", attributes)]

    def _attachments(self, name: str) -> list[XmlNode]:
        nodes = [
            XmlNode("site", {"name": marker.name, "pos": numbers(marker.position)})
            for marker in self.model.markers
            if marker.body == name
        ]
        nodes += [
            XmlNode("site", _place({"name": frame.name}, frame.placement))
            for frame in self.model.frames
            if frame.body == name
        ]
        nodes += path_attachments(self.model, name)
        nodes += [_contact(contact) for contact in self.model.contacts if contact.body == name]
        return nodes + [
            _capsule(capsule) for capsule in self.model.capsules if capsule.body == name
        ]

    def _equality(self, coupler: Coupler) -> XmlNode:
        follower, of, function = coupler.coordinate, coupler.of, coupler.function
        coefficients = _polynomial(function)
        if coefficients is None or len(coefficients) > 5:
            raise self._error(
                f"{follower!r} follows {of!r} by a {type(function).__name__} function; MJCF has "
                f"polynomials up to degree four"
            )
        padded = [*coefficients, *[0.0] * (5 - len(coefficients))]
        names = {"joint1": follower, "joint2": of}
        return XmlNode("joint", {**names, "polycoef": numbers(padded)})


def _neutral_positions(model: Model) -> dict[str, np.ndarray]:
    """Default positions by the names that joints have in the file, coupled ones included."""
    positions: dict[str, np.ndarray] = {}
    placed = joint_positions(model.joint_slots, model.neutral())
    for joint, values in zip(model.joints, placed, strict=True):
        entries = np.asarray(values, dtype=float).ravel()
        if joint.quaternion:
            positions[joint.name] = entries
        else:
            names = [coordinate.name for coordinate in joint.coordinates]
            positions |= dict(zip(names, entries[:, None], strict=True))
    return positions


def _joint_names(node: XmlNode) -> list[str]:
    """Names of the joints of a body and of the bodies inside it, in the order of the file."""
    if node.tag in ("joint", "freejoint"):
        return [node.attributes["name"]]
    return [name for child in node.children for name in _joint_names(child)]


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


def _place(attributes: dict[str, str], placement: Transform) -> dict[str, str]:
    if np.any(placement.r):
        attributes["pos"] = numbers(placement.r)
    if not np.array_equal(placement.E, np.eye(3)):
        # The first two axes of the frame in the parent; MuJoCo computes the third.
        attributes["xyaxes"] = numbers(placement.E[:2])
    return attributes


def _contact(contact: ContactShape) -> XmlNode:
    """A geom that collides with the floor only; points and lines have a radius of 1 mm."""
    attributes = {"name": contact.name, "mass": "0", "contype": _FEET, "conaffinity": _FLOOR}
    placement = Transform(contact.rotation, contact.position)
    radius = max(float(contact.radius), MIN_CONTACT_RADIUS_M)
    if contact.kind == "box":
        attributes |= {
            "type": "box",
            "size": numbers(np.maximum(contact.half_size, MIN_CONTACT_RADIUS_M)),
        }
    elif contact.kind in ("line", "capsule"):
        rotation = along_z(np.array([1.0, 0.0, 0.0])) @ contact.rotation
        placement = Transform(rotation, contact.position)
        half = max(float(contact.half_size[0]), MIN_CONTACT_RADIUS_M)
        attributes |= {"type": "capsule", "size": numbers([radius, half])}
    else:
        attributes |= {"type": "sphere", "size": numbers(radius)}
    return XmlNode("geom", _place(attributes, placement))


def _capsule(capsule: Capsule) -> XmlNode:
    attributes = {"name": f"{capsule.name}_visual", "mass": "0", "contype": "0", "conaffinity": "0"}
    radius = numbers(max(float(capsule.radius), MIN_CONTACT_RADIUS_M))
    if np.array_equal(capsule.start, capsule.end):
        shape = {"type": "sphere", "size": radius, "pos": numbers(capsule.start)}
    else:
        ends = np.concatenate([capsule.start, capsule.end])
        shape = {"type": "capsule", "size": radius, "fromto": numbers(ends)}
    return XmlNode("geom", attributes | shape)
