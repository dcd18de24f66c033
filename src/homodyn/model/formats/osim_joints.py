"""Joints of OpenSim as sequences of slides and turns, and the tree they make.

A custom joint slides along three axes of the parent and then turns about three axes, each carried
by the turns before it; the other joints are the same with fixed axes. Ball and free joints have
body-fixed x, y, z angles as coordinates, as in OpenSim; their speeds here are the rates of these
angles, while OpenSim's are angular velocities.
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
_ANGULAR = ("BallJoint", "FreeJoint")
_AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
_USUAL_RANGE = (-10.0, 10.0)


@dataclass(frozen=True)
class OsimJoint:
    """A joint as it stands in the file, from its parent frame to its child frame."""

    joint: Joint
    element: Element


def read_joints(document: OsimDocument, frames: Frames) -> tuple[Joint, ...]:
    """Every joint, each directed away from the ground."""
    links = []
    seen: dict[str, Element] = {}
    coordinates: set[str] = set()
    for element, child in _joint_elements(document, frames):
        name = name_of(element)
        if name in seen:
            raise element.error(f"the joint {name!r} is there already, in line {seen[name].line}")
        seen[name] = element
        joint = _distinct(document, _joint(document, frames, element, child), coordinates)
        links.append(OsimJoint(joint, element))
    return tuple(_with_direction(document, links, frames))


def _distinct(document: OsimDocument, joint: Joint, taken: set[str]) -> Joint:
    """The joint with its name before those of its coordinates that another joint has as well."""
    made = []
    for coordinate in joint.coordinates:
        name = coordinate.name
        if name in taken:
            name = f"{joint.name}_{name}"
            document.notes.append(
                f"coordinate {coordinate.name!r} of joint {joint.name!r} is called {name!r}: "
                f"the name is taken"
            )
        taken.add(name)
        made.append(coordinate if name == coordinate.name else replace(coordinate, name=name))
    return replace(joint, coordinates=tuple(made))


def _joint_elements(document: OsimDocument, frames: Frames) -> Iterator[tuple[Element, str]]:
    """Joint objects, with the body they stand in where they do."""
    for name, body in frames.bodies.items():
        holder = body.find("Joint")
        for element in holder.children if holder else ():
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
        # The file then tells how the parent moves in the child; `_with_direction` turns it round.
        parent, child, at, inside = child, parent, inside, at
    if element.tag == "CustomJoint":
        kind, motions, at = _custom(element, coordinates, at)
    elif element.tag in _KINDS:
        kind, motions = _KINDS[element.tag]
        coordinates = _count_phrase(element, name, motions, coordinates)
    else:
        raise unsupported_error(element, "the joint", _SUPPORTED_JOINTS)
    if element.tag in _ANGULAR:
        document.notes.append(
            f"joint {name!r} ({element.tag}): its speeds are the rates of its angles; "
            f"OpenSim's are angular velocities in the parent"
        )
    clamped = [name_of(c) for c in _coordinate_elements(element) if flag(c, "clamped", False)]
    notes = {"clamped": clamped} if clamped else {}
    return Joint(name, parent, child, kind, coordinates, motions, at, inside, notes)


def _coordinate_elements(element: Element) -> list[Element]:
    listed = element.find("coordinates")
    found = listed.children if listed is not None else members(element, "CoordinateSet")
    return [c for c in found if c.tag == "Coordinate"]


def _coordinate(document: OsimDocument, element: Element) -> Coordinate:
    name = name_of(element)
    bounds = any_numbers(element, "range", _USUAL_RANGE)
    if bounds.shape != (2,) or not bounds[0] <= bounds[1]:
        raise element.error(f"the range of {name!r} must be two numbers in order, got {bounds}")
    locked = flag(element, "locked", False)
    if locked:
        document.notes.append(f"coordinate {name!r} is locked in the file; it can move here")
    if (
        flag(element, "prescribed", False)
        and property_object(element, "prescribed_function") is not None
    ):
        document.notes.append(f"coordinate {name!r}: the function of time it follows is not used")
    return Coordinate(
        name, bounds[0], bounds[1], number(element, "default_value", 0.0), locked=locked
    )


def _count_phrase(
    element: Element, name: str, motions: tuple[JointAxis, ...], given: tuple[Coordinate, ...]
) -> tuple[Coordinate, ...]:
    """As many coordinates as the joint moves by; usual ones when the file leaves them out."""
    count = len(motions)
    absent = element.find("coordinates") is None and element.find("CoordinateSet") is None
    if len(given) == count:
        return given
    if given or not absent:
        raise element.error(f"a {element.tag} has {count} coordinates, got {len(given)}")
    return tuple(Coordinate(f"{name}_coord_{k}", *_USUAL_RANGE) for k in range(count))


def _custom(
    element: Element, coordinates: tuple[Coordinate, ...], at: Transform
) -> tuple[str, tuple[JointAxis, ...], Transform]:
    """Motions of a custom joint; slides that stay the same move the joint in its parent."""
    axes = element.require("SpatialTransform").all("TransformAxis")
    named = {axis.attributes.get("name", "").strip(): axis for axis in axes}
    if len(axes) > 6 or len(named) < len(axes):
        raise element.error(f"its axes are {', '.join(_AXES)}, each once; got {len(axes)}")
    unknown = [axis for name, axis in named.items() if name not in _AXES]
    if unknown:
        raise unknown[0].error(unknown_name("axis", unknown[0].attributes.get("name", ""), _AXES))
    shift = np.zeros(3)
    motions: list[JointAxis] = []
    for name in (*_AXES[3:], *_AXES[:3]):
        if name not in named:
            continue
        axis = numbers(named[name], "axis", 3, tuple(np.eye(3)[int(name[-1]) - 1]))
        if not axis.any():
            raise named[name].error("its axis must be a direction, got zeros")
        index, function = _law(named[name], coordinates)
        make = turn if name.startswith("rotation") else slide
        if index is not None:
            motions.append(make(axis, index, function))
        elif isinstance(function, Constant) and function.number:
            if make is slide:
                shift += function.number * axis / np.linalg.norm(axis)
            else:
                motions.append(make(axis, None, function))
    moving = {motion.coordinate for motion in motions}
    for k, coordinate in enumerate(coordinates):
        if k not in moving:
            raise element.error(
                f"no axis moves with its coordinate {coordinate.name!r}; "
                f"an axis without a function, or with a Constant, stands still"
            )
    return "custom", tuple(motions), Transform(at.E, at.r + at.E.T @ shift)


def _law(axis: Element, coordinates: tuple[Coordinate, ...]) -> tuple[int | None, ScalarFunction]:
    """Which coordinate an axis follows, if any, and how."""
    names = [c.name for c in coordinates]
    used = text(axis, "coordinates", default="").replace(",", " ").split()
    for name in used:
        if name not in names:
            raise axis.error(unknown_name("coordinate of this joint", name, names))
    found = property_object(axis, "function", unnamed=True)
    if found is None:
        # As in OpenSim: an empty function follows the coordinate, an absent one stands still.
        empty = axis.find("function") is not None
        return (names.index(used[0]), IDENTITY) if empty and used else (None, Constant(0.0))
    if len(used) > 1:
        raise axis.error(
            f"it follows {len(used)} coordinates ({', '.join(used)}); one can be represented"
        )
    function = read_function(found)
    if is_constant(function):
        return None, function
    if not used:
        raise axis.error(f"its {found.tag} follows no coordinate; a Constant can do so")
    return names.index(used[0]), function


def _reversed_joint(joint: Joint) -> Joint:
    """The same joint seen from its child: motions undone in the opposite order."""
    undone = tuple(replace(m, axis=-m.axis) for m in reversed(joint.axes))
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        kind=joint.kind if len(undone) < 2 else "custom",
        axes=undone,
        placement=joint.child_placement,
        child_placement=joint.placement,
    )


def _with_direction(
    document: OsimDocument, links: list[OsimJoint], frames: Frames
) -> Iterator[Joint]:
    """Joints from the ground outwards; those that the file directs inwards are turned round."""
    touching: dict[str, list[OsimJoint]] = {name: [] for name in (WORLD, *frames.bodies)}
    for link in links:
        for body in {link.joint.parent, link.joint.child}:
            touching[body].append(link)
        if link.joint.parent == link.joint.child:
            raise link.element.error(f"it joins {link.joint.parent!r} to itself")
    carried = {link.joint.child for link in links}
    loose = [name for name in frames.bodies if name not in carried]
    reached, used = {WORLD}, set()
    waiting = [WORLD]
    while waiting or loose:
        if not waiting:
            name = loose.pop(0)
            if name in reached:
                continue
            yield _loose(document, name)
            reached.add(name)
            waiting.append(name)
        body = waiting.pop(0)
        for link in touching[body]:
            joint = link.joint
            if joint.name in used:
                continue
            used.add(joint.name)
            outward = joint if joint.parent == body else _reversed_joint(joint)
            if outward.child in reached:
                raise link.element.error(
                    f"it closes a loop: {outward.child!r} is joined to the ground already; "
                    f"loops cannot be represented"
                )
            reached.add(outward.child)
            waiting.append(outward.child)
            yield outward
    ring = [link for link in links if link.joint.name not in used]
    if ring:
        names = ", ".join(dict.fromkeys(link.joint.child for link in ring))
        raise ring[0].element.error(
            f"bodies {names} hang on each other in a ring and not on {GROUND!r}"
        )


def _loose(document: OsimDocument, body: str) -> Joint:
    document.notes.append(f"body {body!r} has no joint in the file; it moves freely, as in OpenSim")
    kind, motions = _KINDS["FreeJoint"]
    coordinates = tuple(Coordinate(f"free_{body}_coord_{k}", *_USUAL_RANGE) for k in range(6))
    return Joint(f"free_{body}", WORLD, body, kind, coordinates, motions)
