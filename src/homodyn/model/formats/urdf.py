"""Reader of URDF, the robot description of ROS: joints, mimic joints, inertias and simple shapes.

Links become bodies and keep their names, also those of fixed joints. A joint with one degree of
freedom gives its name to the coordinate. Gravity is 9.81 m/s2 along -z.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import unknown_name
from homodyn.model import joints
from homodyn.model.body import Body
from homodyn.model.formats.xml import Element, read_xml
from homodyn.model.functions import Linear
from homodyn.model.joint import WORLD, Coupler, Joint
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactShape
from homodyn.spatial import Transform, rpy_rotation

BASES = {"free": joints.free, "fixed": joints.fixed, "euler": joints.euler_free}
"""Joints between the world and the root: quaternion, fixed, or translations and Euler angles."""

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_ROOT_NAMES = ("root", "base", "floating_base", "root_joint")


def read_urdf(path: str | Path, *, base: str | None = None, as_measured: bool = False) -> Model:
    """Read the model in a URDF file.

    Args:
        path: The file.
        base: Joint between the world and the root link: ``"free"``, ``"fixed"`` or ``"euler"``. A
            massless root link named ``world`` is the world itself: ``base`` then replaces the fixed
            joints on it. By default these stay. Other root links are free by default, except a
            massless one that carries the robot by a single moving joint, as the first link of a
            chain of virtual links does: it is fixed.
        as_measured: Accept inertias that no rigid body can have.

    Returns:
        The model.

    Raises:
        FormatError: The file is missing or malformed, is xacro, or ``base`` is unknown.
        ModelError: The file describes an invalid model.
    """
    if base is not None and base not in BASES:
        raise FormatError(unknown_name("base", base, BASES), str(path))
    root = read_xml(Path(path))
    if root.tag != "robot":
        raise root.error("a URDF starts with <robot>")
    _refuse_xacro(root)
    links, elements = root.all("link"), root.all("joint")
    bodies = [_body(link) for link in links]
    tree = [_joint(element) for element in elements]
    couplers = _couplers(elements)
    children = {joint.child for joint in tree}
    tops = [body for body in bodies if body.name not in children]
    if len(tops) > 1:
        names = ", ".join(body.name for body in tops)
        raise root.error(f"only one link may have no parent; {len(tops)} have none: {names}")
    if tops and tops[0].name == WORLD:
        if tops[0].mass:
            raise root.error(f"the link {WORLD!r} has mass; rename it or remove its mass")
        bodies.remove(tops[0])
        if base is not None:
            tree = [_with_base(joint, base) if joint.parent == WORLD else joint for joint in tree]
    elif tops:
        taken = {joint.name for joint in tree}
        name = next((name for name in _ROOT_NAMES if name not in taken), _ROOT_NAMES[0])
        default = "fixed" if _is_virtual(tops[0].name, bodies, tree) else "free"
        tree.insert(0, BASES[base or default]().joint(name, WORLD, tops[0].name))
    body_names = {body.name for body in bodies}
    shapes = [shape for link in links for shape in _shapes(link)]
    return Model(
        root.attributes.get("name", Path(path).stem),
        tuple(bodies),
        tuple(tree),
        contacts=_distinct([s for s in shapes if isinstance(s, ContactShape)], body_names),
        capsules=_distinct([s for s in shapes if isinstance(s, Capsule)], set()),
        couplers=couplers,
        notes=tuple(note for link in links for note in _meshes(link)),
        as_measured=as_measured,
    )


def _is_virtual(root: str, bodies: list[Body], tree: list[Joint]) -> bool:
    """Whether a root link has no mass, not even by fixed joints, and one moving joint.

    On a free joint it could move without moving any mass: its accelerations would be undefined.
    """
    mass = {body.name: float(body.mass) for body in bodies}
    group, moving = [root], 0
    for name in group:
        for joint in tree:
            if joint.parent == name and joint.nv:
                moving += 1
            elif joint.parent == name:
                group.append(joint.child)
    return moving == 1 and not any(mass.get(name, 0.0) for name in group)


def _refuse_xacro(root: Element) -> None:
    for element in root.walk():
        texts = (element.tag, *element.attributes, *element.attributes.values())
        if element.tag.startswith("xacro:") or any("${" in text or "$(" in text for text in texts):
            raise element.error(
                "this is xacro, a template of URDF; expand it first: xacro in.xacro > out.urdf"
            )


def _body(link: Element) -> Body:
    name = link.get("name")
    inertial = link.find("inertial")
    if inertial is None:
        return Body(name)
    placement = _origin(inertial)
    mass = inertial.require("mass").number("value")
    entries = inertial.require("inertia")
    xx, xy, xz, yy, yz, zz = (
        entries.number(key, 0.0) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not np.array_equal(placement.E, np.eye(3)):
        rotated = placement.E.T @ inertia @ placement.E
        inertia = (rotated + rotated.T) / 2
    return Body(name, mass, placement.r, inertia)


def _joint(element: Element) -> Joint:
    name = element.get("name")
    kind = element.get("type")
    if kind not in _TYPES:
        raise element.error(unknown_name("joint type", kind, _TYPES))
    parent = element.require("parent").get("link")
    child = element.require("child").get("link")
    placement = _origin(element)
    if kind == "fixed":
        return joints.fixed().joint(name, parent, child, at=placement)
    if kind == "floating":
        return joints.free().joint(name, parent, child, at=placement)
    axis = _axis(element)
    if kind == "planar":
        return joints.planar(axis).joint(name, parent, child, at=placement)
    make = joints.prismatic if kind == "prismatic" else joints.revolute
    return make(axis, **_settings(element, kind)).joint(name, parent, child, at=placement)


def _axis(element: Element) -> np.ndarray:
    found = element.find("axis")
    if found is None:
        return np.array([1.0, 0.0, 0.0])
    axis = found.vector("xyz", (1.0, 0.0, 0.0))
    if not axis.any():
        raise found.error("xyz must not be zero")
    return axis


def _settings(element: Element, kind: str) -> dict[str, Any]:
    """Limits, damping and friction of a joint's coordinate."""
    settings: dict[str, Any] = {}
    limit, dynamics = element.find("limit"), element.find("dynamics")
    if limit is not None:
        fields = {"effort": "max_force", "velocity": "max_velocity"}
        if kind != "continuous":
            fields |= {"lower": "lower", "upper": "upper"}
        for key, field in fields.items():
            if key in limit.attributes:
                settings[field] = limit.number(key)
    if dynamics is not None:
        settings |= {key: dynamics.number(key, 0.0) for key in ("damping", "friction")}
    return settings


def _couplers(elements: list[Element]) -> tuple[Coupler, ...]:
    """Mimic joints; a mimic of a mimic follows the last joint of the chain."""
    mimics = {e.get("name"): m for e in elements if (m := e.find("mimic")) is not None}
    couplers = []
    for name, element in mimics.items():
        factor, offset, of, seen = 1.0, 0.0, name, {name}
        while of in mimics:
            step = mimics[of]
            offset += factor * step.number("offset", 0.0)
            factor *= step.number("multiplier", 1.0)
            of = step.get("joint")
            if of in seen:
                raise element.error(f"joint {name!r} mimics itself through {of!r}")
            seen.add(of)
        couplers.append(Coupler(name, of, Linear(factor, offset)))
    return tuple(couplers)


def _with_base(joint: Joint, base: str) -> Joint:
    if joint.kind != "fixed":
        return joint
    return BASES[base]().joint(joint.name, WORLD, joint.child, at=joint.placement)


def _shapes(link: Element) -> list[Capsule | ContactShape]:
    """Round shapes as capsules and boxes as contacts, from the collision elements.

    A cylinder becomes a capsule with its axis and radius. For a link without collision elements,
    round visual elements become capsules.
    """
    shapes: list[Capsule | ContactShape] = []
    name = link.get("name")
    collisions = link.all("collision")
    for k, element in enumerate(collisions or link.all("visual")):
        geometry = element.find("geometry")
        if geometry is None:
            continue
        placement = _origin(element)
        label = f"{name}_{element.attributes.get('name') or k}"
        for shape in geometry.children:
            if shape.tag == "box" and collisions:
                size = shape.vector("size", (0.0, 0.0, 0.0))
                shapes.append(
                    ContactShape(label, name, "box", placement.r, size=size, rotation=placement.E)
                )
            elif shape.tag in ("sphere", "cylinder", "capsule"):
                radius = shape.number("radius")
                half_length = 0.0 if shape.tag == "sphere" else shape.number("length") / 2
                along = placement.E.T @ np.array([0.0, 0.0, half_length])
                shapes.append(
                    Capsule(label, name, placement.r - along, placement.r + along, radius)
                )
    return shapes


def _distinct(shapes: list[Any], taken: set[str]) -> tuple[Any, ...]:
    """The shapes, with a number appended to names that are taken."""
    renamed = []
    for shape in shapes:
        name, k = shape.name, 2
        while name in taken:
            name, k = f"{shape.name}_{k}", k + 1
        taken.add(name)
        renamed.append(shape if name == shape.name else replace(shape, name=name))
    return tuple(renamed)


def _meshes(link: Element) -> list[str]:
    files = [e.attributes.get("filename", "") for e in link.walk() if e.tag == "mesh"]
    name = link.get("name")
    return [f"link {name!r}: mesh {file} is not kept" for file in dict.fromkeys(files)]


def _origin(element: Element) -> Transform:
    found = element.find("origin")
    if found is None:
        return Transform.identity()
    zero = (0.0, 0.0, 0.0)
    rpy = found.vector("rpy", zero)
    rotation = rpy_rotation(rpy) if rpy.any() else np.eye(3)
    return Transform(rotation, found.vector("xyz", zero))
