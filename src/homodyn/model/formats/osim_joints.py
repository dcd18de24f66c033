"""Joints of OpenSim as sequences of axes, and the tree that they form.

A custom joint translates along three axes of the parent and then rotates about three axes, each of
which moves with the rotations before it; the other joints are the same with fixed axes. Ball and
free joints have body-fixed x, y, z angles as coordinates, as in OpenSim. Their velocities are the
rates of these angles here and angular velocities in OpenSim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.model.formats.osim_document import (
    OsimDocument,
    any_numbers,
    flag,
    members,
    name_of,
    number,
    numbers,
    placement_of,
    property_object,
    text,
    unsupported_error,
)
from homodyn.model.formats.osim_frames import GROUND, Frames
from homodyn.model.formats.osim_functions import is_constant, read_function
from homodyn.model.formats.xml import Element
from homodyn.model.functions import IDENTITY, Constant, ScalarFunction
from homodyn.model.joint import WORLD, Coordinate, Joint, JointAxis
from homodyn.model.joints import slide, turn
from homodyn.spatial import Transform

_BALL = (turn("x", 0), turn("y", 1), turn("z", 2))
_KINDS: dict[str, tuple[str, tuple[JointAxis, ...]]] = {
    "WeldJoint": ("fixed", ()),
    "PinJoint": ("revolute", (turn("z"),)),
    "SliderJoint": ("prismatic", (slide("x"),)),
    "UniversalJoint": ("universal", (turn("x", 0), turn("y", 1))),
    "BallJoint": ("euler", _BALL),
    "GimbalJoint": ("euler", _BALL),
    "PlanarJoint": ("custom", (slide("x", 1), slide("y", 2), turn("z", 0))),
    "FreeJoint": ("custom", (slide("x", 3), slide("y", 4), slide("z", 5), *_BALL)),
}
_SUPPORTED_JOINTS = ", ".join(("CustomJoint", *_KINDS))
_ANGULAR_VELOCITY_JOINTS = ("BallJoint", "FreeJoint")
_AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
_DEFAULT_RANGE = (-10.0, 10.0)


@dataclass(frozen=True)
class OsimJoint:
    """A joint with the direction that it has in the file."""

    joint: Joint
    element: Element


def read_joints(document: OsimDocument, frames: Frames) -> tuple[Joint, ...]:
    """All joints, directed away from the ground."""
    links = []
    seen: dict[str, Element] = {}
    coordinates: set[str] = set()
    for element, child in _joint_elements(document, frames):
        name = name_of(element)
        if name in seen:
            raise element.error(f"there is another joint {name!r}, in line {seen[name].line}")
        seen[name] = element
        joint = _with_unique_coordinates(
            document, _joint(document, frames, element, child), coordinates
        )
        links.append(OsimJoint(joint, element))
    return tuple(_outward_joints(document, links, frames))


def _with_unique_coordinates(document: OsimDocument, joint: Joint, taken: set[str]) -> Joint:
    """The joint with its name as prefix of coordinate names that another joint has too."""
    coordinates = []
    for coordinate in joint.coordinates:
        name = coordinate.name
        if name in taken:
            name = f"{joint.name}_{name}"
            document.notes.append(
                f"coordinate {coordinate.name!r} of joint {joint.name!r} is renamed {name!r}: "
                f"the name is taken"
            )
        taken.add(name)
        coordinates.append(
            coordinate if name == coordinate.name else replace(coordinate, name=name)
        )
    return replace(joint, coordinates=tuple(coordinates))


def _joint_elements(document: OsimDocument, frames: Frames) -> Iterator[tuple[Element, str]]:
    """Joint elements, with the name of the body that contains them (version 3 and earlier)."""
    for name, body in frames.bodies.items():
        joint = body.find("Joint")
        for element in joint.children if joint else ():
            yield element, name
    for element in document.objects("JointSet"):
        yield element, ""


def _joint(document: OsimDocument, frames: Frames, element: Element, child: str) -> Joint:
    name = name_of(element)
    if child:
        inside = placement_of(element, "location", "orientation")
        base = text(element, "parent_body")
        parent, at = frames.find(element, base)
        at = placement_of(element, "location_in_parent", "orientation_in_parent") @ at
    else:
        own = text(element, "socket_child_frame", "connector_child_frame_connectee_name")
        base = text(element, "socket_parent_frame", "connector_parent_frame_connectee_name")
        child, inside = frames.find(element, own, name)
        parent, at = frames.find(element, base, name)
    coordinates = tuple(_coordinate(document, c) for c in _coordinate_elements(element))
    if flag(element, "reverse", False):
        # The file then describes the motion of the parent in the child; `_outward_joints`
        # reverses the joint.
        parent, child, at, inside = child, parent, inside, at
    if element.tag == "CustomJoint":
        kind, axes, at = _custom(element, coordinates, at)
    elif element.tag in _KINDS:
        kind, axes = _KINDS[element.tag]
        coordinates = _complete_coordinates(element, name, axes, coordinates)
    else:
        raise unsupported_error(element, "the joint", _SUPPORTED_JOINTS)
    if element.tag in _ANGULAR_VELOCITY_JOINTS:
        document.notes.append(
            f"joint {name!r} ({element.tag}): its velocities are the rates of its angles; "
            f"in OpenSim they are angular velocities in the parent"
        )
    clamped = [name_of(c) for c in _coordinate_elements(element) if flag(c, "clamped", False)]
    notes = {"clamped": clamped} if clamped else {}
    return Joint(name, parent, child, kind, coordinates, axes, at, inside, notes)


def _coordinate_elements(element: Element) -> list[Element]:
    listed = element.find("coordinates")
    found = listed.children if listed is not None else members(element, "CoordinateSet")
    return [c for c in found if c.tag == "Coordinate"]


def _coordinate(document: OsimDocument, element: Element) -> Coordinate:
    name = name_of(element)
    bounds = any_numbers(element, "range", _DEFAULT_RANGE)
    if bounds.shape != (2,) or not bounds[0] <= bounds[1]:
        raise element.error(f"the range of {name!r} must be two numbers in order, got {bounds}")
    locked = flag(element, "locked", False)
    if (
        flag(element, "prescribed", False)
        and property_object(element, "prescribed_function") is not None
    ):
        document.notes.append(f"coordinate {name!r}: its prescribed function of time is not used")
    return Coordinate(
        name, bounds[0], bounds[1], number(element, "default_value", 0.0), locked=locked
    )


def _complete_coordinates(
    element: Element, name: str, axes: tuple[JointAxis, ...], given: tuple[Coordinate, ...]
) -> tuple[Coordinate, ...]:
    """One coordinate per axis; default ones if the file has none."""
    count = len(axes)
    absent = element.find("coordinates") is None and element.find("CoordinateSet") is None
    if len(given) == count:
        return given
    if given or not absent:
        raise element.error(f"a {element.tag} has {count} coordinates, got {len(given)}")
    return tuple(Coordinate(f"{name}_coord_{k}", *_DEFAULT_RANGE) for k in range(count))


def _custom(
    element: Element, coordinates: tuple[Coordinate, ...], at: Transform
) -> tuple[str, tuple[JointAxis, ...], Transform]:
    """Kind and axes of a custom joint, and its placement with constant translations added."""
    elements = element.require("SpatialTransform").all("TransformAxis")
    named = {axis.attributes.get("name", "").strip(): axis for axis in elements}
    if len(elements) > 6 or len(named) < len(elements):
        raise element.error(f"its axes are {', '.join(_AXES)}, each once; got {len(elements)}")
    unknown = [axis for name, axis in named.items() if name not in _AXES]
    if unknown:
        raise unknown[0].error(unknown_name("axis", unknown[0].attributes.get("name", ""), _AXES))
    shift = np.zeros(3)
    axes: list[JointAxis] = []
    for name in (*_AXES[3:], *_AXES[:3]):
        if name not in named:
            continue
        direction = numbers(named[name], "axis", 3, tuple(np.eye(3)[int(name[-1]) - 1]))
        if not direction.any():
            raise named[name].error("its axis must not be zero")
        index, function = _law(named[name], coordinates)
        make = turn if name.startswith("rotation") else slide
        if index is not None:
            axes.append(make(direction, index, function))
        elif isinstance(function, Constant) and function.number:
            if make is slide:
                shift += function.number * direction / np.linalg.norm(direction)
            else:
                axes.append(make(direction, None, function))
    driving = {axis.coordinate for axis in axes}
    for k, coordinate in enumerate(coordinates):
        if k not in driving:
            raise element.error(
                f"no axis moves with its coordinate {coordinate.name!r}; "
                f"an axis without a function, or with a Constant, does not move"
            )
    return "custom", tuple(axes), Transform(at.E, at.r + at.E.T @ shift)


def _law(axis: Element, coordinates: tuple[Coordinate, ...]) -> tuple[int | None, ScalarFunction]:
    """Index of the coordinate that drives an axis, if any, and the function."""
    names = [c.name for c in coordinates]
    used = text(axis, "coordinates", default="").replace(",", " ").split()
    for name in used:
        if name not in names:
            raise axis.error(unknown_name("coordinate of this joint", name, names))
    found = property_object(axis, "function", unnamed=True)
    if found is None:
        # As in OpenSim: an empty function is the identity, a missing one is zero.
        empty = axis.find("function") is not None
        return (names.index(used[0]), IDENTITY) if empty and used else (None, Constant(0.0))
    if len(used) > 1:
        raise axis.error(
            f"it depends on {len(used)} coordinates ({', '.join(used)}); only one is supported"
        )
    function = read_function(found)
    if is_constant(function):
        return None, function
    if not used:
        raise axis.error(f"its {found.tag} has no coordinate; only a Constant needs none")
    return names.index(used[0]), function


def _reversed_joint(joint: Joint) -> Joint:
    """The same joint from its child to its parent: inverse motions in the opposite order."""
    inverse = tuple(replace(axis, axis=-axis.axis) for axis in reversed(joint.axes))
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        kind=joint.kind if len(inverse) < 2 else "custom",
        axes=inverse,
        placement=joint.child_placement,
        child_placement=joint.placement,
    )


def _outward_joints(
    document: OsimDocument, links: list[OsimJoint], frames: Frames
) -> Iterator[Joint]:
    """Joints from the ground outwards; those with the other direction are reversed."""
    joints_at: dict[str, list[OsimJoint]] = {name: [] for name in (WORLD, *frames.bodies)}
    for link in links:
        for body in {link.joint.parent, link.joint.child}:
            joints_at[body].append(link)
        if link.joint.parent == link.joint.child:
            raise link.element.error(f"it connects {link.joint.parent!r} to itself")
    children = {link.joint.child for link in links}
    free_bodies = [name for name in frames.bodies if name not in children]
    reached, used = {WORLD}, set()
    waiting = [WORLD]
    while waiting or free_bodies:
        if not waiting:
            name = free_bodies.pop(0)
            if name in reached:
                continue
            yield _free_joint(document, name)
            reached.add(name)
            waiting.append(name)
        body = waiting.pop(0)
        for link in joints_at[body]:
            joint = link.joint
            if joint.name in used:
                continue
            used.add(joint.name)
            outward = joint if joint.parent == body else _reversed_joint(joint)
            if outward.child in reached:
                raise link.element.error(
                    f"it closes a loop: {outward.child!r} is connected to the ground already; "
                    f"loops cannot be represented"
                )
            reached.add(outward.child)
            waiting.append(outward.child)
            yield outward
    loop = [link for link in links if link.joint.name not in used]
    if loop:
        names = ", ".join(dict.fromkeys(link.joint.child for link in loop))
        raise loop[0].element.error(
            f"bodies {names} form a loop that is not connected to {GROUND!r}"
        )


def _free_joint(document: OsimDocument, body: str) -> Joint:
    document.notes.append(f"body {body!r} has no joint in the file; it moves freely, as in OpenSim")
    kind, axes = _KINDS["FreeJoint"]
    coordinates = tuple(Coordinate(f"free_{body}_coord_{k}", *_DEFAULT_RANGE) for k in range(6))
    return Joint(f"free_{body}", WORLD, body, kind, coordinates, axes)
