"""Forces of an OpenSim model: muscles, ligaments and wrap objects as data, coordinate springs.

Notes of the model count other forces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import count_of, unknown_name
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
)
from homodyn.model.formats.osim_frames import Frames
from homodyn.model.formats.osim_functions import read_function
from homodyn.model.formats.osim_parts import SOCKET
from homodyn.model.formats.xml import Element
from homodyn.model.functions import Constant
from homodyn.model.joint import WORLD, Joint
from homodyn.model.muscles import (
    Ligament,
    Muscle,
    PathPoint,
    PathWrap,
    PointLaw,
    PointRange,
    WrapObject,
)

_WRAPS = {
    "WrapSphere": ("sphere", ("radius",)),
    "WrapCylinder": ("cylinder", ("radius", "length")),
    "WrapEllipsoid": ("ellipsoid", ("dimensions",)),
    "WrapTorus": ("torus", ("inner_radius", "outer_radius")),
}
_LIGAMENTS = ("Ligament", "Blankevoort1991Ligament")
_NUMBERS = {
    "max_isometric_force": ("max_isometric_force",),
    "optimal_fiber_length": ("optimal_fiber_length",),
    "tendon_slack_length": ("tendon_slack_length",),
    "pennation_angle": ("pennation_angle_at_optimal", "pennation_angle"),
    "max_contraction_velocity": ("max_contraction_velocity", "Vmax"),
}
_PATHS = ("GeometryPath", "MusclePointSet")


def read_wraps(document: OsimDocument, frames: Frames) -> tuple[WrapObject, ...]:
    """Wrap objects; a note lists those of unknown kinds."""
    wraps: dict[str, WrapObject] = {}
    grounds = [(WORLD, element) for element in frames.grounds]
    for body, owner in (*grounds, *frames.bodies.items()):
        for element in members(owner, "WrapObjectSet"):
            name = name_of(element)
            if element.tag not in _WRAPS or name in wraps:
                why = "the name is taken" if name in wraps else "its kind is unknown"
                document.notes.append(f"{element.tag} {name!r} is not kept: {why}")
                continue
            kind, tags = _WRAPS[element.tag]
            size = [float(value) for tag in tags for value in numbers(element, tag)]
            wraps[name] = WrapObject(
                name,
                body,
                kind,
                tuple(size),
                placement_of(element, "translation", "xyz_body_rotation"),
                text(element, "quadrant", default="all") or "all",
                flag(element, "active", True),
            )
    return tuple(wraps.values())


def read_forces(
    document: OsimDocument, frames: Frames, wraps: Iterable[WrapObject], joints: Iterable[Joint]
) -> tuple[tuple[Muscle, ...], tuple[Ligament, ...], tuple[Joint, ...]]:
    """Muscles and ligaments, and the joints with springs along their coordinates."""
    muscles: dict[str, Muscle] = {}
    ligaments: dict[str, Ligament] = {}
    springs: dict[str, list[tuple[float, float, float]]] = {}
    others: Counter[str] = Counter()
    joints = tuple(joints)
    paths = _Paths(
        frames, {wrap.name for wrap in wraps}, [c.name for j in joints for c in j.coordinates]
    )
    for element in document.objects("ForceSet"):
        name = name_of(element)
        is_muscle = element.find("optimal_fiber_length") is not None
        has_path = any(element.find(tag) is not None for tag in _PATHS)
        if has_path and (is_muscle or element.tag in _LIGAMENTS):
            group: dict[str, Any] = muscles if is_muscle else ligaments
            if name in group:
                document.notes.append(f"{element.tag} {name!r} is not kept: the name is taken")
                continue
            try:
                group[name] = (_muscle if is_muscle else _ligament)(paths, element, name)
            except FormatError as error:
                document.notes.append(f"{element.tag} {name!r} is not kept: {error}")
        elif element.tag == "SpringGeneralizedForce" and _is_applied(element):
            law = tuple(number(element, t, 0.0) for t in ("stiffness", "rest_length", "viscosity"))
            springs.setdefault(text(element, "coordinate"), []).append(law)  # type: ignore[arg-type]
        else:
            others[element.tag] += 1
    counts = {"muscle": len(muscles), "ligament": len(ligaments), "wrap object": len(tuple(wraps))}
    kept = ", ".join(count_of(count, what) for what, count in counts.items() if count)
    if kept:
        document.notes.append(f"kept as data, without forces: {kept}")
    document.notes += [f"not used: {count} x {tag}" for tag, count in others.items()]
    return tuple(muscles.values()), tuple(ligaments.values()), _with_springs(joints, springs)


def _is_applied(element: Element) -> bool:
    return flag(element, "appliesForce", not flag(element, "isDisabled", False))


def _with_springs(
    joints: tuple[Joint, ...], springs: dict[str, list[tuple[float, float, float]]]
) -> tuple[Joint, ...]:
    """Joints whose coordinates have the sum of their springs: k (rest - q) - b v."""
    changed = []
    for joint in joints:
        coordinates = []
        for coordinate in joint.coordinates:
            k, rests, damping = np.array(springs.get(coordinate.name, [(0.0, 0.0, 0.0)])).T
            rest = float(k @ rests / k.sum()) if k.sum() else 0.0
            coordinates.append(
                replace(coordinate, stiffness=k.sum(), rest=rest, damping=damping.sum())
                if coordinate.name in springs
                else coordinate
            )
        changed.append(replace(joint, coordinates=tuple(coordinates)))
    return tuple(changed)


class _Paths:
    """Reads paths; their points refer to bodies and coordinates, their wraps to wrap objects."""

    def __init__(self, frames: Frames, wraps: set[str], coordinates: list[str]) -> None:
        self.frames, self.wrap_names, self.coordinates = frames, wraps, coordinates

    def points(self, element: Element) -> Iterator[PathPoint]:
        path = element.find("GeometryPath")
        listed = members(path, "PathPointSet") if path else members(element, "MusclePointSet")
        for point in listed:
            yield self._point(point)

    def wraps(self, element: Element) -> Iterator[PathWrap]:
        path = element.find("GeometryPath")
        listed = members(path, "PathWrapSet") if path else members(element, "MuscleWrapSet")
        for wrap in listed:
            name = text(wrap, "wrap_object")
            if name not in self.wrap_names:
                raise wrap.error(unknown_name("wrap object", name, self.wrap_names))
            first, last = (max(int(k), 0) for k in numbers(wrap, "range", 2, (-1.0, -1.0)))
            yield PathWrap(name, text(wrap, "method", default="hybrid"), first, last)

    def _point(self, element: Element) -> PathPoint:
        name = element.attributes.get("name", "").strip()
        body, place = self.frames.find(element, text(element, *SOCKET))
        position = numbers(element, "location", 3, (0.0, 0.0, 0.0))
        if element.find("range") is not None:
            bounds = any_numbers(element, "range")
            if bounds.shape != (2,) or np.isnan(bounds).any():
                raise element.error(f"its range must be two numbers, got {bounds}")
            when = PointRange(self._coordinate(element, "coordinate"), *bounds)
            return PathPoint(name, body, place.point_back(position), when)
        if not element.tag.startswith("Moving"):
            return PathPoint(name, body, place.point_back(position))
        laws = []
        for k, axis in enumerate("xyz"):
            location = property_object(element, f"{axis}_location")
            if location is None:
                continue
            function = read_function(location)
            if isinstance(function, Constant):
                position[k] = function.number
            else:
                coordinate = self._coordinate(element, f"{axis}_coordinate")
                laws.append(PointLaw(axis, coordinate, function))
        if laws and not (np.array_equal(place.E, np.eye(3)) and not place.r.any()):
            raise element.error("a moving point must be in the frame of a body")
        for law in laws:
            position["xyz".index(law.axis)] = 0.0
        return PathPoint(name, body, place.point_back(position), None, tuple(laws))

    def _coordinate(self, element: Element, tag: str) -> str:
        path = text(element, f"socket_{tag}", f"connector_{tag}_connectee_name", tag)
        name = path.rpartition("/")[2].strip()
        if name not in self.coordinates:
            raise element.error(unknown_name("coordinate", name, self.coordinates))
        return name


def _muscle(paths: _Paths, element: Element, name: str) -> Muscle:
    values: dict[str, Any] = {}
    for field, tags in _NUMBERS.items():
        tag = next((tag for tag in tags if element.find(tag) is not None), None)
        if tag is not None:
            values[field] = number(element, tag)
    read = {tag for tags in _NUMBERS.values() for tag in tags}
    return Muscle(
        name,
        element.tag,
        tuple(paths.points(element)),
        tuple(paths.wraps(element)),
        **values,
        settings=_settings(element, read),
    )


def _ligament(paths: _Paths, element: Element, name: str) -> Ligament:
    points, wraps = tuple(paths.points(element)), tuple(paths.wraps(element))
    return Ligament(name, element.tag, points, wraps, _settings(element, set()))


def _settings(element: Element, read: set[str]) -> dict[str, Any]:
    """Other values of an element by tag, and those of its curves as ``curve.value``."""
    found: dict[str, Any] = {}
    for child in element.children:
        if child.tag in read or child.tag in (*_PATHS, "MuscleWrapSet", "VisibleObject"):
            continue
        for inner, label in (
            (child, child.tag),
            *((c, f"{child.tag}.{c.tag}") for c in child.children),
        ):
            word = inner.text.strip()
            if word and not inner.children:
                found[label] = _value(word)
    return found


def _value(word: str) -> Any:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    try:
        listed = [float(part) for part in word.split()]
    except ValueError:
        return word
    return listed if len(listed) > 1 else listed[0]
