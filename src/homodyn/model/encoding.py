"""A model as plain data, as in Homodyn's TOML files: defaults left out, numbers exact."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import FormatError
from homodyn.model.functions import (
    IDENTITY,
    Constant,
    Linear,
    Piecewise,
    Polynomial,
    ScalarFunction,
    ScaledFunction,
    Spline,
)
from homodyn.model.joint import (
    AXES,
    COORDINATE_FLAGS,
    COORDINATE_NUMBERS,
    Coordinate,
    Joint,
    JointAxis,
)
from homodyn.model.model_parts import ModelParts
from homodyn.model.muscles import MUSCLE_NUMBERS, Ligament, Muscle, PathPoint, WrapObject
from homodyn.model.shapes import ContactShape
from homodyn.spatial import Array, Transform

FORMAT = "homodyn 2"
"""Value of the key ``format``."""
HALF_SIZE_FORMAT = "homodyn 1"
"""Format of version 0.1, which is read too: it has half the sizes of contact shapes."""

_ZEROS = [0.0, 0.0, 0.0]
_IDENTITY = np.eye(3).tolist()
_DEFAULTS = Coordinate("")


def to_plain_data(model: ModelParts) -> dict[str, Any]:
    """The content of a model as numbers, strings, lists and dictionaries.

    Args:
        model: The model.

    Returns:
        Name, gravity and options of the model, then a list of tables for each kind of part.

    Raises:
        FormatError: A number is a formula of parameters.
    """
    data: dict[str, Any] = {"format": FORMAT, "name": model.name}
    data["gravity"] = _array(model.gravity)
    if model.as_measured:
        data["as_measured"] = True
    if model.root_joints is not None:
        data["root_joints"] = list(model.root_joints)
    if model.notes:
        data["notes"] = list(model.notes)
    tables = _tables(model)
    return data | {name: tables[name] for name in tables if tables[name]}


def _tables(model: ModelParts) -> dict[str, list[dict[str, Any]]]:
    """One list of tables per kind of part."""
    return {
        "parameter": [{"name": p.name, "value": p.value} for p in model.parameters],
        "body": [
            {"name": body.name}
            | _unless(0.0, mass=_scalar(body.mass))
            | _unless(_ZEROS, com=_array(body.com))
            | _unless([_ZEROS] * 3, inertia=_array(body.inertia))
            for body in model.bodies
        ],
        "joint": [_joint(joint) for joint in model.joints],
        "frame": [
            {"name": frame.name, "body": frame.body} | _placement(frame.placement)
            for frame in model.frames
        ],
        "marker": [
            {"name": marker.name, "body": marker.body, "position": _array(marker.position)}
            | _unless(None, fixed=marker.fixed)
            for marker in model.markers
        ],
        "contact": [_contact(contact) for contact in model.contacts],
        "capsule": [
            {"name": capsule.name, "body": capsule.body, "start": _array(capsule.start)}
            | {"end": _array(capsule.end), "radius": _scalar(capsule.radius)}
            for capsule in model.capsules
        ],
        "coupler": [
            {"coordinate": one.coordinate, "of": one.of, "function": _function(one.function)}
            for one in model.couplers
        ],
        "contact_set": [
            {"name": group.name, "points": list(group.points), "normals": _array(group.normals)}
            for group in model.contact_sets
        ],
        "mesh": [
            {"body": mesh.body, "file": mesh.file}
            | _placement(mesh.placement)
            | _unless([1.0, 1.0, 1.0], scale=_array(mesh.scale))
            for mesh in model.meshes
        ],
        "wrap": [_wrap(wrap) for wrap in model.wraps],
        "muscle": [
            _path(muscle) | {key: getattr(muscle, key) for key in MUSCLE_NUMBERS}
            for muscle in model.muscles
        ],
        "ligament": [_path(ligament) for ligament in model.ligaments],
    }


def _contact(contact: ContactShape) -> dict[str, Any]:
    table: dict[str, Any] = {"name": contact.name, "body": contact.body, "kind": contact.kind}
    table["position"] = _array(contact.position)
    table |= _unless(0.0, radius=_scalar(contact.radius))
    table |= _unless(_ZEROS, size=_array(contact.size))
    return table | _unless(_IDENTITY, rotation=_array(contact.rotation))


def _wrap(wrap: WrapObject) -> dict[str, Any]:
    table: dict[str, Any] = {"name": wrap.name, "body": wrap.body, "kind": wrap.kind}
    table |= {"dimensions": list(wrap.dimensions)} | _placement(wrap.placement)
    return table | _unless("all", quadrant=wrap.quadrant) | _unless(True, active=wrap.active)


def _path(owner: Muscle | Ligament) -> dict[str, Any]:
    table: dict[str, Any] = {"name": owner.name, "kind": owner.kind}
    table["points"] = [_point(point) for point in owner.points]
    if owner.wraps:
        table["wraps"] = [
            {"wrap": use.wrap, "method": use.method} | _unless(0, first=use.first, last=use.last)
            for use in owner.wraps
        ]
    return table | _unless({}, settings=dict(owner.settings))


def _point(point: PathPoint) -> dict[str, Any]:
    table: dict[str, Any] = {"name": point.name, "body": point.body}
    table["position"] = _array(point.position)
    if point.when is not None:
        when = point.when
        table["when"] = {"coordinate": when.coordinate, "lower": when.lower, "upper": when.upper}
    if point.laws:
        table["laws"] = [
            {"axis": law.axis, "coordinate": law.coordinate, "function": _function(law.function)}
            for law in point.laws
        ]
    return table


def _joint(joint: Joint) -> dict[str, Any]:
    table: dict[str, Any] = {
        "name": joint.name,
        "parent": joint.parent,
        "child": joint.child,
        "kind": joint.kind,
    }
    table |= _placement(joint.placement) | _placement(joint.child_placement, "child_")
    if joint.axes:
        table["axes"] = [_axis(axis) for axis in joint.axes]
    if joint.coordinates:
        table["coordinates"] = [_coordinate(coordinate) for coordinate in joint.coordinates]
    if joint.notes:
        table["notes"] = dict(joint.notes)
    return table


def _axis(joint_axis: JointAxis) -> dict[str, Any]:
    axis = _array(joint_axis.axis)
    for letter, main in AXES.items():
        if axis == list(main):
            axis = letter
        elif axis == [-entry for entry in main]:
            axis = f"-{letter}"
    table: dict[str, Any] = {joint_axis.kind: axis}
    if joint_axis.coordinate != 0:
        table["coordinate"] = -1 if joint_axis.coordinate is None else joint_axis.coordinate
    table |= _unless(0.0, pitch=_scalar(joint_axis.pitch))
    return table | _unless(_function(IDENTITY), function=_function(joint_axis.function))


def _coordinate(coordinate: Coordinate) -> dict[str, Any]:
    table: dict[str, Any] = {"name": coordinate.name}
    for key in COORDINATE_NUMBERS:
        table |= _unless(getattr(_DEFAULTS, key), **{key: _scalar(getattr(coordinate, key))})
    for key in COORDINATE_FLAGS:
        table |= _unless(getattr(_DEFAULTS, key), **{key: getattr(coordinate, key)})
    return table


def _function(function: ScalarFunction) -> dict[str, Any]:
    if isinstance(function, Constant):
        return {"constant": _scalar(function.number)}
    if isinstance(function, Linear):
        return {"linear": [_scalar(function.factor), _scalar(function.offset)]}
    if isinstance(function, Polynomial):
        return {"polynomial": [_scalar(c) for c in function.coefficients]}
    if isinstance(function, Piecewise):
        knots = [list(knot) for knot in zip(function.x, function.y, strict=True)]
        if not isinstance(function, Spline):
            return {"polyline": knots}
        return {"spline": knots} | _unless("natural", end=function.end)
    if isinstance(function, ScaledFunction):
        return {"scaled": _scalar(function.factor), "function": _function(function.function)}
    raise FormatError(f"a model file cannot contain a {type(function).__name__} function")


def _placement(placement: Transform, prefix: str = "") -> dict[str, Any]:
    return _unless(_ZEROS, **{f"{prefix}position": _array(placement.r)}) | _unless(
        _IDENTITY, **{f"{prefix}rotation": _array(placement.E)}
    )


def _unless(default: Any, /, **entry: Any) -> dict[str, Any]:
    """The entry, unless it has the default value."""
    return {key: value for key, value in entry.items() if value != default}


def _scalar(value: Array) -> Any:
    """A float, or the name of the parameter in its place."""
    if not isinstance(value, ca.SX) or value.is_constant():
        return float(value)
    if value.is_symbolic():
        return str(value)
    raise FormatError(
        f"the number {value} is a formula of parameters, which a model file cannot contain; "
        f"set the parameters to values first: model.at(...)"
    )


def _array(value: Array) -> Any:
    if not isinstance(value, ca.SX):
        return np.asarray(value).tolist()
    rows = [[_scalar(value[i, j]) for j in range(value.shape[1])] for i in range(value.shape[0])]
    return [row[0] for row in rows] if value.shape[1] == 1 else rows
