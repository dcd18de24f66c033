"""Muscles, ligaments, wrap objects and springs as elements of OpenSim files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from homodyn.errors import FormatError
from homodyn.model.formats.osim_nodes import (
    body_fixed_angles,
    component,
    function_node,
    socket,
    value,
)
from homodyn.model.formats.xml_write import XmlNode
from homodyn.model.functions import Constant
from homodyn.model.joint import Coordinate
from homodyn.model.muscles import Ligament, Muscle, PathPoint, WrapObject

MUSCLE_CLASSES = (
    "DeGrooteFregly2016Muscle",
    "Delp1990Muscle_Deprecated",
    "Millard2012AccelerationMuscle",
    "Millard2012EquilibriumMuscle",
    "RigidTendonMuscle",
    "Schutte1993Muscle_Deprecated",
    "Thelen2003Muscle",
)
"""Muscle models of OpenSim."""
LIGAMENT_CLASSES = ("Ligament", "Blankevoort1991Ligament")
_NUMBER_TAGS = {
    "max_isometric_force": "max_isometric_force",
    "optimal_fiber_length": "optimal_fiber_length",
    "tendon_slack_length": "tendon_slack_length",
    "pennation_angle": "pennation_angle_at_optimal",
    "max_contraction_velocity": "max_contraction_velocity",
}
_WRAP_TAGS = {
    "sphere": ("WrapSphere", ("radius",)),
    "cylinder": ("WrapCylinder", ("radius", "length")),
    "ellipsoid": ("WrapEllipsoid", ("dimensions",)),
    "torus": ("WrapTorus", ("inner_radius", "outer_radius")),
}
_FUNCTION_PROPERTY = {"Ligament": "force_length_curve"}
_IS_DISABLED = "isDisabled"
"""The former, opposite flag of ``appliesForce``."""
ANY_POINT = -1
"""First or last point of a wrap that is not limited."""
DEFAULT_MINIMUM_ACTIVATION = 0.01


def muscle_node(muscle: Muscle, coordinate_paths: Mapping[str, str]) -> XmlNode:
    """The element of a muscle with its path and all settings.

    Args:
        muscle: The muscle; its kind is one of ``MUSCLE_CLASSES``.
        coordinate_paths: Path of each coordinate in the file, by name.

    Raises:
        FormatError: A point or a name is not accepted by OpenSim.
    """
    numbers = [value(tag, getattr(muscle, field)) for field, tag in _NUMBER_TAGS.items()]
    return component(
        muscle.kind,
        muscle.name,
        _path_node(muscle, coordinate_paths),
        *numbers,
        *_settings_nodes(muscle.name, muscle.kind, muscle.settings),
    )


def ligament_node(ligament: Ligament, coordinate_paths: Mapping[str, str]) -> XmlNode:
    """The element of a ligament with its path and all settings.

    Args:
        ligament: The ligament; its kind is one of ``LIGAMENT_CLASSES``.
        coordinate_paths: Path of each coordinate in the file, by name.

    Raises:
        FormatError: A point or a name is not accepted by OpenSim.
    """
    return component(
        ligament.kind,
        ligament.name,
        _path_node(ligament, coordinate_paths),
        *_settings_nodes(ligament.name, ligament.kind, ligament.settings),
    )


def wrap_node(wrap: WrapObject) -> XmlNode:
    """The element of a wrap object."""
    tag, tags = _WRAP_TAGS[wrap.kind]
    sizes = wrap.dimensions if len(tags) > 1 else (wrap.dimensions,)
    return component(
        tag,
        wrap.name,
        value("active", wrap.active),
        value("xyz_body_rotation", body_fixed_angles(wrap.placement.E)),
        value("translation", wrap.placement.r),
        value("quadrant", wrap.quadrant),
        *(value(name, size) for name, size in zip(tags, sizes, strict=True)),
    )


def spring_node(coordinate: Coordinate) -> XmlNode | None:
    """The spring and damper along a coordinate; None if it has neither."""
    if not coordinate.stiffness and not coordinate.damping:
        return None
    return component(
        "SpringGeneralizedForce",
        f"{coordinate.name}_spring",
        value("coordinate", coordinate.name),
        value("stiffness", coordinate.stiffness),
        value("rest_length", coordinate.rest),
        value("viscosity", coordinate.damping),
    )


def _path_node(owner: Muscle | Ligament, coordinate_paths: Mapping[str, str]) -> XmlNode:
    points = [
        _point_node(owner, k, point, coordinate_paths) for k, point in enumerate(owner.points, 1)
    ]
    wraps = [
        component(
            "PathWrap",
            f"pathwrap_{k}",
            value("wrap_object", use.wrap),
            value("method", use.method),
            value("range", [use.first or ANY_POINT, use.last or ANY_POINT]),
        )
        for k, use in enumerate(owner.wraps, 1)
    ]
    return component(
        "GeometryPath",
        "path",
        XmlNode("PathPointSet", {}, [XmlNode("objects", {}, points)]),
        XmlNode("PathWrapSet", {}, [XmlNode("objects", {}, wraps)]),
    )


def _point_node(
    owner: Muscle | Ligament, k: int, point: PathPoint, coordinate_paths: Mapping[str, str]
) -> XmlNode:
    name = point.name or f"{owner.name}-P{k}"
    frame = socket("parent_frame", point.body)
    if point.when is not None:
        if point.laws:
            raise FormatError(
                f"point {name!r} of {owner.name!r} moves and has a range; OpenSim accepts one of "
                "both"
            )
        when = point.when
        return component(
            "ConditionalPathPoint",
            name,
            frame,
            value("socket_coordinate", coordinate_paths[when.coordinate]),
            value("location", point.position),
            value("range", [when.lower, when.upper]),
        )
    if not point.laws:
        return component("PathPoint", name, frame, value("location", point.position))
    laws = {law.axis: law for law in point.laws}
    sockets, functions = [], []
    for axis, number in zip("xyz", point.position, strict=True):
        law = laws.get(axis)
        driver = (law or point.laws[0]).coordinate
        sockets.append(value(f"socket_{axis}_coordinate", coordinate_paths[driver]))
        function = law.function if law else Constant(number)
        functions.append(XmlNode(f"{axis}_location", {}, [function_node(function)]))
    return component("MovingPathPoint", name, frame, *sockets, *functions)


def _settings_nodes(name: str, kind: str, settings: Mapping[str, Any]) -> Iterator[XmlNode]:
    """Values by tag, and those of curves, whose keys are ``curve.value``."""
    if raises_min_control(kind, settings):
        settings = {**settings, "min_control": _minimum_activation(settings)}
    curves: dict[str, list[XmlNode]] = {}
    for key, content in settings.items():
        tag, _, inner = key.partition(".")
        if inner:
            curves.setdefault(tag, []).append(value(inner, content))
        elif key == _IS_DISABLED:
            yield value("appliesForce", not content)
        else:
            yield value(key, content)
    for tag, children in curves.items():
        own = _FUNCTION_PROPERTY.get(kind, f"{name}_{tag}")
        yield XmlNode(tag, {"name": own}, children)


def raises_min_control(kind: str, settings: Mapping[str, Any]) -> bool:
    """Whether the smallest control is raised to the smallest activation, as OpenSim demands.

    Args:
        kind: The muscle model; it concerns Thelen2003Muscle.
        settings: The settings of the muscle.
    """
    smallest = settings.get("min_control", _minimum_activation(settings))
    return kind == "Thelen2003Muscle" and bool(smallest < _minimum_activation(settings))


def _minimum_activation(settings: Mapping[str, Any]) -> float:
    return float(settings.get("minimum_activation", DEFAULT_MINIMUM_ACTIVATION))
