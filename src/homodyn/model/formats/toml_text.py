"""A model as TOML text: defaults left out, numbers with all their digits."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from homodyn.model.model import Model
from homodyn.model.muscles import MUSCLE_NUMBERS, Ligament, Muscle, PathPoint, WrapObject
from homodyn.spatial import Array, Transform

_ZEROS = [0.0, 0.0, 0.0]
_IDENTITY = np.eye(3).tolist()
_FRESH = Coordinate("")


def model_text(model: Model) -> str:
    """The text of a model file."""
    lines = [
        *_pairs({"format": "homodyn 1", "name": model.name, "gravity": _array(model.gravity)}),
    ]
    if model.as_measured:
        lines += _pairs({"as_measured": True})
    if model.root_joints is not None:
        lines += _pairs({"root_joints": list(model.root_joints)})
    if model.notes:
        lines += _pairs({"notes": list(model.notes)})
    for title, tables in _tables(model):
        for table in tables:
            lines += ["", f"[[{title}]]", *_pairs(table)]
    return "\n".join(lines) + "\n"


def _tables(model: Model) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "parameter", [{"name": p.name, "value": p.value} for p in model.parameters]
    yield (
        "body",
        [
            {"name": body.name}
            | _unless(0.0, mass=_scalar(body.mass))
            | _unless(_ZEROS, com=_array(body.com))
            | _unless([_ZEROS] * 3, inertia=_array(body.inertia))
            for body in model.bodies
        ],
    )
    yield "joint", [_joint(joint) for joint in model.joints]
    yield (
        "frame",
        [
            {"name": frame.name, "body": frame.body} | _placement(frame.placement)
            for frame in model.frames
        ],
    )
    yield (
        "marker",
        [
            {"name": marker.name, "body": marker.body, "position": _array(marker.position)}
            for marker in model.markers
        ],
    )
    yield (
        "contact",
        [
            {"name": contact.name, "body": contact.body, "kind": contact.kind}
            | {"position": _array(contact.position)}
            | _unless(0.0, radius=_scalar(contact.radius))
            | _unless(_ZEROS, size=_array(contact.size))
            | _unless(_IDENTITY, rotation=_array(contact.rotation))
            for contact in model.contacts
        ],
    )
    yield (
        "capsule",
        [
            {"name": capsule.name, "body": capsule.body, "start": _array(capsule.start)}
            | {"end": _array(capsule.end), "radius": _scalar(capsule.radius)}
            for capsule in model.capsules
        ],
    )
    yield (
        "coupler",
        [
            {
                "coordinate": coupler.coordinate,
                "of": coupler.of,
                "function": _function(coupler.function),
            }
            for coupler in model.couplers
        ],
    )
    yield (
        "contact_set",
        [
            {"name": group.name, "points": list(group.points), "normals": _array(group.normals)}
            for group in model.contact_sets
        ],
    )

    yield (
        "mesh",
        [
            {"body": mesh.body, "file": mesh.file}
            | _placement(mesh.placement)
            | _unless([1.0, 1.0, 1.0], scale=_array(mesh.scale))
            for mesh in model.meshes
        ],
    )
    yield "wrap", [_wrap(wrap) for wrap in model.wraps]
    yield (
        "muscle",
        [
            _path(muscle) | {key: getattr(muscle, key) for key in MUSCLE_NUMBERS}
            for muscle in model.muscles
        ],
    )
    yield "ligament", [_path(ligament) for ligament in model.ligaments]


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
    return table | _unless({}, settings=owner.settings)


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
        table["notes"] = joint.notes
    return table


def _axis(motion: JointAxis) -> dict[str, Any]:
    axis = _array(motion.axis)
    for letter, main in AXES.items():
        if axis == list(main):
            axis = letter
        elif axis == [-entry for entry in main]:
            axis = f"-{letter}"
    table: dict[str, Any] = {motion.kind: axis}
    if motion.coordinate != 0:
        table["coordinate"] = -1 if motion.coordinate is None else motion.coordinate
    table |= _unless(0.0, pitch=_scalar(motion.pitch))
    return table | _unless(_function(IDENTITY), function=_function(motion.function))


def _coordinate(coordinate: Coordinate) -> dict[str, Any]:
    table: dict[str, Any] = {"name": coordinate.name}
    for key in COORDINATE_NUMBERS:
        table |= _unless(getattr(_FRESH, key), **{key: _scalar(getattr(coordinate, key))})
    for key in COORDINATE_FLAGS:
        table |= _unless(getattr(_FRESH, key), **{key: getattr(coordinate, key)})
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
    raise FormatError(f"a {type(function).__name__} has no text in a model file")


def _placement(placement: Transform, prefix: str = "") -> dict[str, Any]:
    return _unless(_ZEROS, **{f"{prefix}position": _array(placement.r)}) | _unless(
        _IDENTITY, **{f"{prefix}rotation": _array(placement.E)}
    )


def _unless(default: Any, /, **entry: Any) -> dict[str, Any]:
    """The entry, unless it has the default value."""
    return {key: value for key, value in entry.items() if value != default}


def _scalar(value: Array) -> Any:
    """A float, or the name of the parameter that stands for it."""
    if not isinstance(value, ca.SX) or value.is_constant():
        return float(value)
    if value.is_symbolic():
        return str(value)
    raise FormatError(
        f"the number {value} is a formula of parameters, which a file does not hold; "
        f"give the parameters values first: model.at(...)"
    )


def _array(value: Array) -> Any:
    if not isinstance(value, ca.SX):
        return np.asarray(value).tolist()
    rows = [[_scalar(value[i, j]) for j in range(value.shape[1])] for i in range(value.shape[0])]
    return [row[0] for row in rows] if value.shape[1] == 1 else rows


def _pairs(table: dict[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(key: Any) -> str:
    text = str(key)
    bare = text.replace("_", "").replace("-", "")
    return text if bare.isascii() and bare.isalnum() else _text(text)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        inner = [_value(item) for item in value]
        long = any(isinstance(item, dict) for item in value) and len(value) > 1
        return "[\n  " + ",\n  ".join(inner) + ",\n]" if long else "[" + ", ".join(inner) + "]"
    raise FormatError(f"{value!r} has no text in a model file")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
