"""What a model must satisfy before it exists: every fault found, not only the first.

Parameters take their usual values for the checks. What is odd but can be computed with is no fault;
`homodyn.model.plausibility` tells it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from homodyn.foundation.text import duplicate_names, unknown_name
from homodyn.model import tree
from homodyn.model.joint import KINDS, WORLD, Coordinate, Coupler, Joint, JointAxis
from homodyn.model.muscles import path_errors
from homodyn.model.parameters import field_names, map_expressions
from homodyn.model.root import declaration_errors
from homodyn.model.shapes import CONTACT_KINDS, Capsule, ContactSet, ContactShape, Mesh

if TYPE_CHECKING:
    from homodyn.model.body import Body
    from homodyn.model.model import Model

MAX_ORTHONORMALITY_ERROR = 1e-6
"""Largest entry of E E^T - 1 in a rotation that was written with a few digits."""
MAX_TRIANGLE_EXCESS = 1e-6
"""Part of the largest principal moment by which it may exceed the sum of the others."""
RELATIVE_TOLERANCE = 1e-9
"""Rounding left to inertias and axes, relative to their size."""

_LEAVES = (str, float, int, np.ndarray)
_MAY_BE_INFINITE = ("lower", "upper", "max_velocity", "max_force")
_NEVER_NEGATIVE = ("max_velocity", "max_force", "damping", "friction", "armature")


def validation_errors(model: Model, *, strange_symbols: bool = False) -> list[str]:
    """Every reason why the model cannot be, in words; empty when there is none.

    With ``strange_symbols``, numbers may hang on symbols that are no parameters of the model.
    """
    unsettled = {
        id(record): list(_expressions(record))
        for part in _PARTS
        for record in getattr(model, part)
        if not _is_finite_record(record)
    }
    every = [expression for held in unsettled.values() for expression in held]
    every += _expressions(model.gravity)
    found = [*_names(model), *_parameters(model, [] if strange_symbols else every)]
    found += tree.tree_errors(model.bodies, model.joints)
    found += _references(model)
    found += declaration_errors(model.joints, model.root_joints or ())
    found += _couplers(model)
    found += path_errors(model)
    plain: dict[str, list[Any]] = {}
    for part, label in _PARTS.items():
        plain[part] = []
        for record in getattr(model, part):
            where = f"{label} {_label(record)!r}"
            numeric = _with_usual_values(model, record) if unsettled.get(id(record)) else record
            if numeric is None:
                plain[part].append(None)
                continue
            reasons = [*_non_finite_numbers(numeric)] if id(record) in unsettled else []
            reasons += [*_CHECKS.get(part, lambda _: ())(numeric)]
            if part == "bodies" and not reasons and not model.as_measured:
                broken = impossible_inertia(numeric.inertia)
                reasons += [f"{broken}; as_measured=True takes it all the same"] if broken else []
            found += [f"{where}: {reason}" for reason in reasons]
            plain[part].append(numeric)
    gravity = _with_usual_values(model, model.gravity)
    if gravity is not None and not np.isfinite(gravity).all():
        found.append(f"gravity must be three finite numbers (m/s2), got {gravity.tolist()}")
    if not found and not model.as_measured and None not in (*plain["bodies"], *plain["joints"]):
        found += tree.joints_without_inertia(
            plain["bodies"], plain["joints"], _coupled_coordinates(model)
        )
    return found


def joints_without_inertia(model: Model) -> Iterator[str]:
    """Joints of a model without symbols of others that move nothing with mass or inertia."""
    bodies, joints = (
        [map_expressions(record, model._usual_value) for record in records]
        for records in (model.bodies, model.joints)
    )
    return tree.joints_without_inertia(bodies, joints, _coupled_coordinates(model))


def _coupled_coordinates(model: Model) -> set[str]:
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


def _names(model: Model) -> Iterator[str]:
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
                yield f"{group}: {name!r} is no name; give a text that is not empty"
        for name in duplicate_names(names):
            yield f"{group}: the name {name!r} occurs more than once; each must differ"
    if WORLD in groups["bodies, frames, markers and contacts"]:
        yield f"the name {WORLD!r} is reserved for what does not move; choose another"


def _parameters(model: Model, expressions: list[ca.SX]) -> Iterator[str]:
    for parameter in model.parameters:
        if not np.isfinite(parameter.value):
            yield f"parameter {parameter.name!r}: its usual value must be finite"
    declared = {parameter.symbol.element_hash() for parameter in model.parameters}
    strange: dict[str, None] = {}
    for expression in expressions:
        for symbol in ca.symvar(expression):
            if symbol.element_hash() not in declared:
                strange[str(symbol)] = None
    for name in strange:
        yield (
            f"the symbol {name!r} is no declared parameter; pass its Parameter to the model's "
            f"parameters or build the model through parametric()"
        )


def _references(model: Model) -> Iterator[str]:
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


def _couplers(model: Model) -> Iterator[str]:
    owner = {c.name: joint for joint in model.joints for c in joint.coordinates}
    following = [coupler.coordinate for coupler in model.couplers]
    for name in duplicate_names(following):
        yield f"coordinate {name!r} follows two others; one coupler each"
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
                f"{where}: {coupler.of!r} follows another itself; "
                f"it may follow one that is free: {', '.join(free) or 'none'}"
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
    """Why no rigid body has this inertia: a negative moment or a broken triangle; or nothing."""
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] < -RELATIVE_TOLERANCE * np.abs(inertia).max():
        return (
            f"inertia must have no negative principal moment, got {moments[0]:.6g} kg m2; "
            f"give it about the centre of mass"
        )
    if moments[2] - moments[0] - moments[1] <= MAX_TRIANGLE_EXCESS * abs(moments[2]):
        return ""
    told = ", ".join(f"{moment:.4g}" for moment in moments)
    return (
        f"no rigid body has principal moments {told} kg m2; the largest exceeds the sum of the "
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
            yield f"a {joint.kind} joint has {expected} coordinates and no motions"
        for coordinate in joint.coordinates[-3:]:
            if np.isfinite(coordinate.lower) or np.isfinite(coordinate.upper):
                yield f"coordinate {coordinate.name!r} belongs to a quaternion: it has no limits"
    else:
        used = {motion.coordinate for motion in joint.axes}
        for k, coordinate in enumerate(joint.coordinates):
            if k not in used:
                yield f"coordinate {coordinate.name!r} moves nothing; give a motion its index {k}"
    for k, motion in enumerate(joint.axes):
        yield from (f"motion {k}: {why}" for why in _joint_axis(motion, joint.nv))
    for coordinate in joint.coordinates:
        yield from (f"coordinate {coordinate.name!r}: {why}" for why in _coordinate(coordinate))


def _joint_axis(motion: JointAxis, nv: int) -> Iterator[str]:
    if motion.kind not in ("turn", "slide"):
        yield unknown_name("motion", motion.kind, ("turn", "slide"))
    if abs(np.linalg.norm(motion.axis) - 1) > RELATIVE_TOLERANCE:
        yield f"axis must have length one, got {motion.axis.tolist()}"
    if motion.coordinate is not None and not 0 <= motion.coordinate < nv:
        yield f"coordinate {motion.coordinate} must be from 0 to {nv - 1}"


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
    off = np.abs(E @ E.T - np.eye(3)).max()
    if off > MAX_ORTHONORMALITY_ERROR or np.linalg.det(E) < 0:
        yield f"rotation must be orthonormal and right-handed, got {E.tolist()}"


_CHECKS: dict[str, Any] = {
    "bodies": _body,
    "joints": _joint,
    "frames": lambda frame: _rotation(frame.placement.E),
    "contacts": _contact,
    "capsules": _capsule,
    "contact_sets": _contact_set,
}


def _with_usual_values(model: Model, record: Any) -> Any:
    """The record with parameters at their usual values; None when symbols are left over."""
    declared = {parameter.symbol.element_hash() for parameter in model.parameters}
    for expression in _expressions(record):
        if any(symbol.element_hash() not in declared for symbol in ca.symvar(expression)):
            return None
    return map_expressions(record, model._usual_value)


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
    """Whether a record holds nothing but finite numbers: the usual case, told in one quick walk."""
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
    # One call for all fields; a record of one field gives its value and no tuple.
    held = attrgetter(*names)(value)
    return all(map(_is_finite_record, held if len(names) > 1 else (held,)))


def _non_finite_numbers(record: Any, path: str = "") -> Iterator[str]:
    """Numbers that are NaN, or infinite where only finite ones make sense."""
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
