"""Muscles in MJCF: spatial tendons over sites and wrapping geoms, and muscle actuators.

Spheres and cylinders wrap tendons in MuJoCo; a side site outside the geom selects the side of a
quadrant. MuJoCo has no ellipsoids, tori, moving and conditional points, no ends of cylinders, and
one geom between two sites. The muscle model is that of MuJoCo, with our force, fiber length, slack
length, speed and time constants.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model.coordinate_layout import joint_positions
from homodyn.model.formats.xml_write import XmlNode, numbers
from homodyn.model.model import Model
from homodyn.model.muscles import Muscle, PathPoint, WrapObject
from homodyn.spatial import Transform

FIBER_RANGE = (0.5, 1.6)
"""Fiber lengths, relative to the optimal one, to which the length range of an actuator refers."""
SIDE_SITE_RADII = 3.0
"""Distance of a side site from the axis, in radii; it must be outside."""
MIN_WRAP_RADIUS_M = 1e-5
WRAPPING = ("sphere", "cylinder")
"""Kinds of wrap objects that MuJoCo has."""
_TIME_CONSTANTS = ("activation_time_constant", "deactivation_time_constant")


@dataclass(frozen=True)
class MjcfPath:
    """A path as MuJoCo has it."""

    points: tuple[tuple[str, PathPoint], ...]
    """Names of sites, and the points where they are."""
    wraps: tuple[WrapObject | None, ...]
    """The object between a point and the next."""
    lost: tuple[str, ...]
    """What of the path is left out."""


def mjcf_path(model: Model, muscle: Muscle) -> MjcfPath:
    """The path of a muscle with points that are fixed in bodies, and one object a segment.

    Moving points stay where they are in the neutral pose; conditional points are part of the path
    if they are in that pose.

    Args:
        model: The model.
        muscle: One of its muscles.
    """
    values = _neutral_values(model)
    lost, kept = [], []
    for k, point in enumerate(muscle.points, 1):
        fixed = point
        if point.laws:
            lost.append("moving points")
            position = np.array(point.position, dtype=float)
            for law in point.laws:
                value = law.function.value(values.get(law.coordinate, 0.0))
                position["xyz".index(law.axis)] = float(value)
            fixed = PathPoint(point.name, point.body, position)
        if point.when is not None:
            lost.append("conditional points")
            if not point.when.lower <= values[point.when.coordinate] <= point.when.upper:
                continue
        kept.append((k, f"{muscle.name}_point_{k}", fixed))
    objects = {wrap.name: wrap for wrap in model.wraps}
    segments: list[WrapObject | None] = [None] * max(len(kept) - 1, 0)
    for use in muscle.wraps:
        wrap = objects[use.wrap]
        if not wrap.active or wrap.dimensions[0] < MIN_WRAP_RADIUS_M:
            continue
        if wrap.kind not in WRAPPING:
            lost.append({"torus": "tori"}.get(wrap.kind, f"{wrap.kind}s"))
            continue
        first, last = use.first or 1, use.last or len(muscle.points)
        for k, (start, end) in enumerate(itertools.pairwise(kept)):
            if first <= start[0] and end[0] <= last:
                if segments[k] is not None:
                    lost.append("several objects on one segment")
                else:
                    segments[k] = wrap
    points = tuple((name, point) for _, name, point in kept)
    return MjcfPath(points, tuple(segments), tuple(dict.fromkeys(lost)))


def path_attachments(model: Model, body: str) -> Iterator[XmlNode]:
    """Sites of path points, wrapping geoms and side sites of a body.

    Args:
        model: The model.
        body: Name of the body, or ``"world"``.
    """
    paths = [mjcf_path(model, muscle) for muscle in model.muscles]
    for path in paths:
        for name, point in path.points:
            if point.body == body:
                yield XmlNode("site", {"name": name, "pos": numbers(point.position)})
    used = {wrap.name for path in paths for wrap in path.wraps if wrap is not None}
    for wrap in model.wraps:
        if wrap.body == body and wrap.name in used:
            yield from _wrap_nodes(wrap)


def tendon_section(model: Model) -> XmlNode:
    """The tendons of all muscles."""
    tendons = []
    for muscle in model.muscles:
        path = mjcf_path(model, muscle)
        children = []
        for (name, _), wrap in zip(path.points, (*path.wraps, None), strict=True):
            children.append(XmlNode("site", {"site": name}))
            if wrap is not None:
                side = {} if wrap.quadrant == "all" else {"sidesite": _side_name(wrap)}
                children.append(XmlNode("geom", {"geom": _geom_name(wrap), **side}))
        tendons.append(XmlNode("spatial", {"name": muscle.name}, children))
    return XmlNode("tendon", {}, tendons)


def actuator_section(model: Model) -> XmlNode:
    """One muscle actuator per muscle; its control is the excitation, from 0 to 1."""
    return XmlNode("actuator", {}, [_actuator(muscle) for muscle in model.muscles])


def muscle_losses(model: Model) -> Iterator[str]:
    """What MJCF loses of the muscles of a model.

    Args:
        model: The model.

    Yields:
        Sentences without a full stop.
    """
    paths = {muscle.name: mjcf_path(model, muscle) for muscle in model.muscles}
    used = {wrap.name for path in paths.values() for wrap in path.wraps if wrap is not None}
    unused = [wrap.name for wrap in model.wraps if wrap.name not in used]
    if unused:
        what = count_of(len(unused), "wrapping surface")
        yield f"{what} without a muscle that can use them cannot be stored in MJCF"
    if not model.muscles:
        return
    yield (
        "the muscle models and their settings cannot be stored in MJCF: MuJoCo has one muscle "
        "model with a rigid tendon, without pennation"
    )
    losers: dict[str, list[str]] = {}
    for name, path in paths.items():
        for what in path.lost:
            losers.setdefault(what, []).append(name)
    for what, names in losers.items():
        yield f"MJCF cannot have {what} in paths; they are left out of {enumerate_names(names, 6)}"
    if any(wrap.kind == "cylinder" for wrap in model.wraps if wrap.name in used):
        yield "MJCF has no ends of cylinders: tendons wrap beyond them"
    sided = [wrap.name for wrap in model.wraps if wrap.name in used and wrap.quadrant != "all"]
    if sided:
        yield (
            "MuJoCo chooses the side of a surface only where a path meets it; a path that passes "
            f"it far on its other side stays there: {enumerate_names(sided, 6)}"
        )


def _neutral_values(model: Model) -> dict[str, float]:
    """Values of all coordinates in the neutral pose, by name."""
    positions = joint_positions(model.joint_slots, model.neutral())
    return {
        coordinate.name: float(value)
        for joint, values in zip(model.joints, positions, strict=True)
        if not joint.quaternion
        for coordinate, value in zip(joint.coordinates, values, strict=True)
    }


def _wrap_nodes(wrap: WrapObject) -> Iterator[XmlNode]:
    radius = float(wrap.dimensions[0])
    size = [radius] if wrap.kind == "sphere" else [radius, float(wrap.dimensions[1]) / 2]
    attributes = {"name": _geom_name(wrap), "type": wrap.kind, "size": numbers(size), "mass": "0"}
    attributes |= {"contype": "0", "conaffinity": "0", "pos": numbers(wrap.placement.r)}
    attributes["xyaxes"] = numbers(np.asarray(wrap.placement.E)[:2])
    yield XmlNode("geom", attributes)
    if wrap.quadrant != "all":
        side = Transform(wrap.placement.E, wrap.placement.r)
        out = np.zeros(3)
        sign = -1.0 if wrap.quadrant.startswith("-") else 1.0
        out["xyz".index(wrap.quadrant[-1])] = sign * SIDE_SITE_RADII * radius
        yield XmlNode("site", {"name": _side_name(wrap), "pos": numbers(side.point_back(out))})


def _geom_name(wrap: WrapObject) -> str:
    return f"{wrap.name}_wrap"


def _side_name(wrap: WrapObject) -> str:
    return f"{wrap.name}_side"


def _actuator(muscle: Muscle) -> XmlNode:
    fiber, slack = float(muscle.optimal_fiber_length), float(muscle.tendon_slack_length)
    attributes = {
        "name": muscle.name,
        "tendon": muscle.name,
        "ctrllimited": "true",
        "ctrlrange": "0 1",
        "lengthrange": numbers([slack + ratio * fiber for ratio in FIBER_RANGE]),
        "range": numbers(FIBER_RANGE),
        "force": numbers(muscle.max_isometric_force),
        "vmax": numbers(muscle.max_contraction_velocity),
    }
    times = [muscle.settings.get(name) for name in _TIME_CONSTANTS]
    if all(isinstance(time, float) and time > 0 for time in times):
        attributes["timeconst"] = numbers([float(time) for time in times if time is not None])
    return XmlNode("muscle", attributes)
