"""Validation of models: every reason why a model is invalid, not only the first.

Parameters have their nominal values in the checks. A model with probable mistakes that can still be
computed with is valid; see `homodyn.model.plausibility`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite
from operator import attrgetter
from typing import Any

import casadi as ca
import numpy as np

from homodyn.foundation.text import duplicate_names, unknown_name
from homodyn.model import tree
from homodyn.model.body import Body
from homodyn.model.joint import KINDS, WORLD, Coordinate, Coupler, Joint, JointAxis
from homodyn.model.model_parts import ModelParts
from homodyn.model.muscles import path_errors
from homodyn.model.parameters import Parameter, field_names, map_expressions, parameter_of
from homodyn.model.root import declaration_errors
from homodyn.model.shapes import CONTACT_KINDS, Capsule, ContactSet, ContactShape, Mesh

MAX_ORTHONORMALITY_ERROR = 1e-6
"""Largest entry of E E^T - 1: rotations in files are often rounded to a few digits."""
MAX_TRIANGLE_EXCESS = 1e-6
"""Share of the largest principal moment by which it may exceed the sum of the others."""
RELATIVE_TOLERANCE = 1e-9
"""Accepted rounding of inertias and axes, relative to their size."""

_LEAVES = (str, float, int, np.ndarray)
_MAY_BE_INFINITE = ("lower", "upper", "max_velocity", "max_force")
_NEVER_NEGATIVE = ("max_velocity", "max_force", "damping", "friction", "armature")


Expressions = Mapping[int, list[ca.SX]]
"""Expressions in each record with anything but finite numbers, by the id of the record."""


def find_expressions(model: ModelParts) -> Expressions:
    """Expressions in the parts and the gravity of a model."""
    records = [one for part in _PARTS for one in getattr(model, part)]
    found = {id(one): list(_expressions(one)) for one in records if not _is_finite_record(one)}
    if isinstance(model.gravity, ca.SX):
        found[id(model.gravity)] = [model.gravity]
    return found


def undeclared_parameters(model: ModelParts, expressions: Expressions) -> tuple[Parameter, ...]:
    """Parameters whose symbols occur in expressions and that the model does not list."""
    return tuple(
        parameter
        for symbol in _undeclared_symbols(model, expressions)
        if (parameter := parameter_of(symbol)) is not None
    )


def validation_errors(
    model: ModelParts, expressions: Expressions, *, allow_foreign_symbols: bool = False
) -> list[str]:
    """Every reason why a model is invalid, one sentence each; empty if it is valid.

    Args:
        model: The parts of the model.
        expressions: What `find_expressions` found in them.
        allow_foreign_symbols: Whether numbers may depend on symbols that are not parameters of the
            model; such numbers are not checked.

    Returns:
        Sentences without a full stop.
    """
    found = [*_names(model), *_parameters(model)]
    if not allow_foreign_symbols:
        found += _foreign_symbols(model, expressions)
    found += tree.tree_errors(model.bodies, model.joints)
    found += _references(model)
    found += declaration_errors(model.joints, model.root_joints or ())
    found += _couplers(model)
    found += path_errors(
        [body.name for body in model.bodies],
        [c.name for joint in model.joints for c in joint.coordinates],
        model.wraps,
        model.muscles,
        model.ligaments,
    )
    numeric: dict[str, list[Any]] = {}
    for part, label in _PARTS.items():
        numeric[part] = []
        for record in getattr(model, part):
            plain = id(record) not in expressions
            value = record if plain else _with_nominal_values(model, record)
            numeric[part].append(value)
            if value is not None:
                reasons = _record_errors(part, value, finite=plain, any_inertia=model.as_measured)
                found += [f"{label} {_label(record)!r}: {reason}" for reason in reasons]
    gravity = _with_nominal_values(model, model.gravity)
    if gravity is not None and not np.isfinite(gravity).all():
        found.append(f"gravity must be three finite numbers (m/s2), got {gravity.tolist()}")
    if not found and not model.as_measured and None not in (*numeric["bodies"], *numeric["joints"]):
        found += tree.joints_without_inertia(
            numeric["bodies"], numeric["joints"], _coupled_coordinates(model)
        )
    return found


def _record_errors(part: str, record: Any, *, finite: bool, any_inertia: bool) -> list[str]:
    """Reasons why one record without symbols is invalid."""
    reasons = [] if finite else [*_non_finite_numbers(record)]
    reasons += _CHECKS.get(part, lambda _: ())(record)
    if part == "bodies" and not reasons and not any_inertia:
        broken = impossible_inertia(record.inertia)
        reasons += [f"{broken}; as_measured=True accepts it"] if broken else []
    return reasons


def joints_without_inertia(model: ModelParts) -> Iterator[str]:
    """Sentences on joints that move no mass and no inertia, at nominal values of parameters."""
    bodies, joints = (
        [map_expressions(record, model.nominal_value) for record in records]
        for records in (model.bodies, model.joints)
    )
    return tree.joints_without_inertia(bodies, joints, _coupled_coordinates(model))


def _coupled_coordinates(model: ModelParts) -> set[str]:
    return {coupler.coordinate for coupler in model.couplers}


def _label(record: Any) -> str:
    if isinstance(record, Coupler):
        return record.coordinate
    return record.file if isinstance(record, Mesh) else record.name


_PARTS = {
    "bodies": "body",
    "joints": "joint",
    "frames": "frame",
    "markers": "marker",
    "contacts": "contact",
    "capsules": "capsule",
    "couplers": "coupler of",
    "contact_sets": "contact set",
    "meshes": "mesh",
    "wraps": "wrap",
    "muscles": "muscle",
    "ligaments": "ligament",
}


LOCATED_PARTS = ("contacts", "markers", "frames", "bodies")


def _names(model: ModelParts) -> Iterator[str]:
    groups = {
        "bodies, frames, markers and contacts": [
            record.name
            for part in ("bodies", "frames", "markers", "contacts")
            for record in getattr(model, part)
        ],
        "joints": [joint.name for joint in model.joints],
        "coordinates": [c.name for joint in model.joints for c in joint.coordinates],
        "capsules": [capsule.name for capsule in model.capsules],
        "contact sets": [contact_set.name for contact_set in model.contact_sets],
        "parameters": [parameter.name for parameter in model.parameters],
    }
    for group, names in groups.items():
        for name in names:
            if not isinstance(name, str) or not name.strip():
                yield f"{group}: {name!r} is not a name; a name is a string that is not empty"
        for name in duplicate_names(names):
            yield f"{group}: the name {name!r} occurs more than once; each must differ"
    if WORLD in groups["bodies, frames, markers and contacts"]:
        yield f"the name {WORLD!r} is reserved for the world; choose another"


def _parameters(model: ModelParts) -> Iterator[str]:
    for parameter in model.parameters:
        if not np.isfinite(parameter.value):
            yield f"parameter {parameter.name!r}: its nominal value must be finite"


def _undeclared_symbols(model: ModelParts, expressions: Expressions) -> list[ca.SX]:
    """Symbols in expressions that belong to none of the model's parameters, each once."""
    declared = {parameter.symbol.element_hash() for parameter in model.parameters}
    found: dict[int, ca.SX] = {}
    for inside in expressions.values():
        for expression in inside:
            for symbol in ca.symvar(expression):
                if symbol.element_hash() not in declared:
                    found.setdefault(symbol.element_hash(), symbol)
    return list(found.values())


def _foreign_symbols(model: ModelParts, expressions: Expressions) -> Iterator[str]:
    for name in dict.fromkeys(str(one) for one in _undeclared_symbols(model, expressions)):
        yield (
            f"the symbol {name!r} is not the symbol of a Parameter; use Parameter(name, value) or "
            f"build the model through parametric()"
        )


def _references(model: ModelParts) -> Iterator[str]:
    bodies = [body.name for body in model.bodies]
    for part in ("frames", "markers", "contacts", "capsules", "meshes"):
        for record in getattr(model, part):
            if record.body != WORLD and record.body not in bodies:
                what = unknown_name("body", record.body, [WORLD, *bodies])
                yield f"{_PARTS[part]} {_label(record)!r}: {what}"
    named = [record.name for part in LOCATED_PARTS for record in getattr(model, part)]
    for contact_set in model.contact_sets:
        for point in contact_set.points:
            if point not in named:
                what = unknown_name("contact, marker, frame or body", point, named)
                yield f"contact set {contact_set.name!r}: {what}"


def _couplers(model: ModelParts) -> Iterator[str]:
    owner = {c.name: joint for joint in model.joints for c in joint.coordinates}
    following = [coupler.coordinate for coupler in model.couplers]
    for name in duplicate_names(following):
        yield f"coordinate {name!r} has two couplers; each coordinate may have one"
    for coupler in model.couplers:
        where = f"coupler of {coupler.coordinate!r}"
        for name in (coupler.coordinate, coupler.of):
            if name not in owner:
                yield f"{where}: {unknown_name('coordinate', name, owner)}"
            elif owner[name].quaternion:
                yield (
                    f"{where}: {name!r} belongs to the {owner[name].kind} joint "
                    f"{owner[name].name!r}, whose coordinates cannot be coupled; use an euler joint"
                )
        if coupler.of == coupler.coordinate:
            yield f"{where}: it cannot follow itself"
        elif coupler.of in following:
            free = [name for name in owner if name not in following]
            yield (
                f"{where}: {coupler.of!r} has a coupler itself; "
                f"accepted: {', '.join(free) or 'none'}"
            )


def _body(body: Body) -> Iterator[str]:
    if body.mass < 0:
        yield f"mass must be zero or more (kg), got {body.mass:g}"
    inertia = body.inertia
    if not np.isfinite(inertia).all():
        return
    scale = np.abs(inertia).max()
    if np.abs(inertia - inertia.T).max() > RELATIVE_TOLERANCE * scale:
        yield f"inertia must be symmetric, got {inertia.tolist()}"


def impossible_inertia(inertia: np.ndarray) -> str:
    """Why no rigid body can have this inertia; empty if one can.

    Principal moments must not be negative, and none may exceed the sum of the two others.
    """
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -RELATIVE_TOLERANCE * np.abs(inertia).max():
        return (
            f"inertia must have no negative principal moment, got {moments[0]:.6g} kg m2; "
            f"is it about the center of mass?"
        )
    if moments[2] - moments[0] - moments[1] <= MAX_TRIANGLE_EXCESS * abs(moments[2]):
        return ""
    listed = ", ".join(f"{moment:.4g}" for moment in moments)
    return (
        f"no rigid body has principal moments {listed} kg m2; the largest exceeds the sum of the "
        f"others"
    )


def _joint(joint: Joint) -> Iterator[str]:
    if joint.kind not in KINDS:
        yield unknown_name("joint kind", joint.kind, KINDS)
    for name in ("placement", "child_placement"):
        yield from (f"{name}: {why}" for why in _rotation(getattr(joint, name).E))
    if joint.quaternion:
        expected = 6 if joint.kind == "free" else 3
        if joint.nv != expected or joint.axes:
            yield f"a {joint.kind} joint has {expected} coordinates and no axes"
        for coordinate in joint.coordinates[-3:]:
            if np.isfinite(coordinate.lower) or np.isfinite(coordinate.upper):
                yield f"coordinate {coordinate.name!r} of a quaternion cannot have limits"
    else:
        used = {motion.coordinate for motion in joint.axes}
        for k, coordinate in enumerate(joint.coordinates):
            if k not in used:
                yield f"coordinate {coordinate.name!r} drives no axis; one must have its index {k}"
    for k, axis in enumerate(joint.axes):
        yield from (f"axis {k}: {why}" for why in _joint_axis(axis, joint.nv))
    for coordinate in joint.coordinates:
        yield from (f"coordinate {coordinate.name!r}: {why}" for why in _coordinate(coordinate))


def _joint_axis(axis: JointAxis, nv: int) -> Iterator[str]:
    if axis.kind not in ("turn", "slide"):
        yield unknown_name("kind of axis", axis.kind, ("turn", "slide"))
    if abs(np.linalg.norm(axis.axis) - 1) > RELATIVE_TOLERANCE:
        yield f"axis must have length one, got {axis.axis.tolist()}"
    if axis.coordinate is not None and not 0 <= axis.coordinate < nv:
        yield f"coordinate {axis.coordinate} must be from 0 to {nv - 1}"


def _coordinate(coordinate: Coordinate) -> Iterator[str]:
    if coordinate.lower > coordinate.upper:
        yield f"lower {coordinate.lower:g} must not exceed upper {coordinate.upper:g}"
    for name in _NEVER_NEGATIVE:
        if getattr(coordinate, name) < 0:
            yield f"{name} must be zero or more, got {getattr(coordinate, name):g}"


def _contact(contact: ContactShape) -> Iterator[str]:
    if contact.kind not in CONTACT_KINDS:
        yield unknown_name("contact shape", contact.kind, CONTACT_KINDS)
    if contact.radius < 0 or (contact.size < 0).any():
        yield "radius and size must be zero or more"
    yield from _rotation(contact.rotation)


def _contact_set(contact_set: ContactSet) -> Iterator[str]:
    for point, normal in zip(contact_set.points, contact_set.normals, strict=True):
        if abs(np.linalg.norm(normal) - 1) > RELATIVE_TOLERANCE:
            yield f"the normal of {point!r} must have length one, got {normal.tolist()}"


def _capsule(capsule: Capsule) -> Iterator[str]:
    if capsule.radius < 0:
        yield f"radius must be zero or more (m), got {capsule.radius:g}"


def _rotation(E: np.ndarray) -> Iterator[str]:
    error = np.abs(E @ E.T - np.eye(3)).max()
    if error > MAX_ORTHONORMALITY_ERROR or np.linalg.det(E) < 0:
        yield f"rotation must be orthonormal and right-handed, got {E.tolist()}"


_CHECKS: dict[str, Any] = {
    "bodies": _body,
    "joints": _joint,
    "frames": lambda frame: _rotation(frame.placement.E),
    "contacts": _contact,
    "capsules": _capsule,
    "contact_sets": _contact_set,
}


def _with_nominal_values(model: ModelParts, record: Any) -> Any:
    """The record with parameters at their nominal values; None if other symbols remain."""
    declared = {parameter.symbol.element_hash() for parameter in model.parameters}
    for expression in _expressions(record):
        if any(symbol.element_hash() not in declared for symbol in ca.symvar(expression)):
            return None
    return map_expressions(record, model.nominal_value)


def _expressions(record: Any) -> Iterator[ca.SX]:
    if isinstance(record, ca.SX):
        yield record
    elif isinstance(record, tuple):
        for item in record:
            yield from _expressions(item)
    elif not isinstance(record, _LEAVES):
        for name in field_names(type(record)):
            value = getattr(record, name)
            if not isinstance(value, _LEAVES):
                yield from _expressions(value)


def _is_finite_record(value: Any) -> bool:
    """Whether a record contains finite numbers only, as nearly all records do."""
    kind = type(value)
    if kind is float:
        return isfinite(value)
    if kind is np.ndarray:
        return isfinite(value.sum())
    if kind is tuple:
        return all(map(_is_finite_record, value))
    names = field_names(kind)
    if not names:
        return kind is not ca.SX
    # One call for all fields; for a record with one field it returns the value, not a tuple.
    values = attrgetter(*names)(value)
    return all(map(_is_finite_record, values if len(names) > 1 else (values,)))


def _non_finite_numbers(record: Any, path: str = "") -> Iterator[str]:
    """Sentences on numbers that are NaN, or infinite where only finite ones make sense."""
    if isinstance(record, (float, np.ndarray)):
        finite = isfinite(record) if isinstance(record, float) else np.isfinite(record).all()
        if finite:
            return
        if np.isnan(record).any():
            yield f"{path} must not be NaN"
        elif path.rpartition(".")[2] not in _MAY_BE_INFINITE:
            yield f"{path} must be finite"
    elif isinstance(record, tuple):
        for k, item in enumerate(record):
            yield from _non_finite_numbers(item, f"{path}[{getattr(item, 'name', k)}]")
    else:
        for name in field_names(type(record)):
            yield from _non_finite_numbers(
                getattr(record, name), f"{path}.{name}" if path else name
            )
