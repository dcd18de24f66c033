"""Paths to numbers of a model: ``"thigh.com.z"``, ``"knee_angle.stiffness"``, ``"gravity.z"``.

A path consists of the name of a part, a field and, for vectors and inertias, an entry; without the
entry it means all entries. If two parts have the same name, the field decides; if that is not
enough, the kind comes first: ``"joint:knee.position.z"``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, TypeVar

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model.joint import COORDINATE_NUMBERS
from homodyn.model.model_parts import ModelParts
from homodyn.model.parameters import Parameter, scalar, vector

M = TypeVar("M", bound=ModelParts)

Entry = tuple[int, ...]
PathStep = str | int | tuple[Entry, ...]

_VECTOR: dict[str, tuple[Entry, ...]] = {"x": ((0,),), "y": ((1,),), "z": ((2,),)}
_INERTIA: dict[str, tuple[Entry, ...]] = {
    "xx": ((0, 0),),
    "yy": ((1, 1),),
    "zz": ((2, 2),),
    "xy": ((0, 1), (1, 0)),
    "xz": ((0, 2), (2, 0)),
    "yz": ((1, 2), (2, 1)),
}
_SCALAR: dict[str, tuple[Entry, ...]] = {}

_FIELDS: dict[str, dict[str, tuple[tuple[str, ...], dict[str, tuple[Entry, ...]]]]] = {
    "body": {
        "mass": (("mass",), _SCALAR),
        "com": (("com",), _VECTOR),
        "inertia": (("inertia",), _INERTIA),
    },
    "joint": {
        "position": (("placement", "r"), _VECTOR),
        "child_position": (("child_placement", "r"), _VECTOR),
        "pitch": (("pitch",), _SCALAR),
    },
    "coordinate": {name: ((name,), _SCALAR) for name in COORDINATE_NUMBERS},
    "frame": {"position": (("placement", "r"), _VECTOR)},
    "marker": {"position": (("position",), _VECTOR)},
    "contact": {
        "position": (("position",), _VECTOR),
        "radius": (("radius",), _SCALAR),
        "size": (("size",), _VECTOR),
    },
    "capsule": {
        "start": (("start",), _VECTOR),
        "end": (("end",), _VECTOR),
        "radius": (("radius",), _SCALAR),
    },
}
_PARTS = {
    "body": "bodies",
    "joint": "joints",
    "frame": "frames",
    "marker": "markers",
    "contact": "contacts",
    "capsule": "capsules",
}


@dataclass(frozen=True)
class ParameterPath:
    """One number of a model: its full path, and the attributes and indices that lead to it."""

    path: str
    steps: tuple[PathStep, ...]


def find_numbers(model: ModelParts, path: str) -> tuple[ParameterPath, ...]:
    """The numbers that a path means: one, three, or the six of an inertia."""
    if path == "gravity" or path.startswith("gravity."):
        return _entries(path, path.partition(".")[2], ("gravity",), _VECTOR)
    kind, _, rest = path.rpartition(":") if path.partition(":")[0] in _FIELDS else ("", "", path)
    owners = [
        (owner_kind, name, steps)
        for owner_kind, name, steps in _owners(model)
        if rest.startswith(f"{name}.") and kind in ("", owner_kind)
    ]
    if not owners:
        names = [*(name for _, name, _ in _owners(model)), "gravity"]
        what = unknown_name("part", rest.partition(".")[0], names)
        raise ModelError(f"path {path!r}: model {model.name!r} has {what}")
    longest = max(len(name) for _, name, _ in owners)
    owners = [owner for owner in owners if len(owner[1]) == longest]
    name = owners[0][1]
    field, _, entry = rest[len(name) + 1 :].partition(".")
    candidates = [owner for owner in owners if field in _fields(model, *owner)]
    if not candidates:
        fields = [field for owner in owners for field in _fields(model, *owner)]
        raise ModelError(f"path {path!r}: {name!r} has {unknown_name('number', field, fields)}")
    if len(candidates) > 1:
        hints = " or ".join(repr(f"{owner_kind}:{rest}") for owner_kind, _, _ in candidates)
        raise ModelError(f"path {path!r} is ambiguous; write {hints}")
    inner, entries = _fields(model, *candidates[0])[field]
    return _entries(path, entry, (*candidates[0][2], *inner), entries)


def with_parameters(model: M, names: Sequence[str]) -> M:
    """The model with the numbers at some paths replaced by parameters."""
    added: list[Parameter] = []
    changes: dict[tuple[PathStep, ...], Any] = {}
    for path in names:
        for place in find_numbers(model, path):
            if place.path in model.parameter_names or place.steps in changes:
                raise ModelError(f"model {model.name!r} has the parameter {place.path!r} already")
            parameter = Parameter(place.path, value_at(model, place))
            added.append(parameter)
            changes[place.steps] = parameter.symbol
    return _with_changes(model, changes, parameters=(*model.parameters, *added))


def with_numbers(model: M, values: Mapping[str, Any]) -> M:
    """The model with other numbers at some paths."""
    changes: dict[tuple[PathStep, ...], Any] = {}
    for path, value in values.items():
        found = find_numbers(model, path)
        try:
            if len(found) == 1:
                numbers = [value]
            elif len(found) == 3:
                numbers = [vector(value, 3)[i] for i in range(3)]
            else:
                square = vector(value, 3, 3)
                numbers = [square[entries[0]] for entries in _INERTIA.values()]
        except (TypeError, ValueError):
            shape = "3 x 3" if len(found) == 6 else "3"
            raise ModelError(f"path {path!r} takes {shape} numbers, got {value!r}") from None
        for place, entry in zip(found, numbers, strict=True):
            try:
                changes[place.steps] = scalar(entry)
            except (TypeError, ValueError):
                raise ModelError(f"path {place.path!r} takes a number, got {entry!r}") from None
    return _with_changes(model, changes)


def value_at(model: ModelParts, place: ParameterPath) -> float:
    """The number at a place, with parameters at their nominal values."""
    record: Any = model
    for step in place.steps:
        if isinstance(step, str):
            record = getattr(record, step)
        elif isinstance(step, int):
            record = record[step]
        else:
            record = record[step[0]] if not isinstance(record, ca.SX) else record[_flat(step[0])]
    return float(model.nominal_value(record))


def _owners(model: ModelParts) -> Iterator[tuple[str, str, tuple[PathStep, ...]]]:
    """Kind and name of every part that has numbers, and the steps to it."""
    for kind, part in _PARTS.items():
        for k, record in enumerate(getattr(model, part)):
            yield kind, record.name, (part, k)
            if kind == "joint":
                for i, coordinate in enumerate(record.coordinates):
                    yield "coordinate", coordinate.name, (part, k, "coordinates", i)


def _fields(
    model: ModelParts, kind: str, name: str, steps: tuple[PathStep, ...]
) -> dict[str, tuple[tuple[PathStep, ...], dict[str, tuple[Entry, ...]]]]:
    """The numbers of a part: steps within it and entries, by field."""
    fields: dict[str, Any] = dict(_FIELDS[kind])
    if kind == "joint":
        axes = next(joint.axes for joint in model.joints if joint.name == name)
        turns = [k for k, axis in enumerate(axes) if axis.kind == "turn"]
        del fields["pitch"]
        if len(turns) == 1:
            fields["pitch"] = (("axes", turns[0], "pitch"), _SCALAR)
    return fields


def _entries(
    path: str, entry: str, steps: tuple[PathStep, ...], entries: dict[str, tuple[Entry, ...]]
) -> tuple[ParameterPath, ...]:
    if not entries:
        if entry:
            raise ModelError(f"path {path!r}: {path.removesuffix('.' + entry)!r} is one number")
        return (ParameterPath(path, steps),)
    if not entry:
        return tuple(ParameterPath(f"{path}.{name}", (*steps, at)) for name, at in entries.items())
    if entry not in entries:
        raise ModelError(f"path {path!r}: {unknown_name('entry', entry, entries)}")
    return (ParameterPath(path, (*steps, entries[entry])),)


def _with_changes(model: M, changes: Mapping[tuple[PathStep, ...], Any], **others: Any) -> M:
    updates: dict[str, Any] = {}
    for steps, value in changes.items():
        part = str(steps[0])
        updates[part] = _set(updates.get(part, getattr(model, part)), steps[1:], value)
    return replace(model, **updates, **others)


def _set(record: Any, steps: tuple[PathStep, ...], value: Any) -> Any:
    """A copy of a record, tuple or array with one number replaced."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, str):
        assert is_dataclass(record)
        assert not isinstance(record, type)
        return replace(record, **{step: _set(getattr(record, step), rest, value)})
    if isinstance(step, int):
        items = list(record)
        items[step] = _set(items[step], rest, value)
        return tuple(items)
    array = (
        ca.SX(record) if isinstance(value, ca.SX) or isinstance(record, ca.SX) else record.copy()
    )
    for entry in step:
        array[_flat(entry) if isinstance(array, ca.SX) else entry] = value
    return array


def _flat(entry: Entry) -> Any:
    return entry[0] if len(entry) == 1 else entry
