"""Plain data as in Homodyn's TOML files, read into the parts of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model.body import Body
from homodyn.model.encoding import FORMAT, HALF_SIZE_FORMAT
from homodyn.model.functions import (
    Constant,
    Linear,
    Polyline,
    Polynomial,
    ScalarFunction,
    ScaledFunction,
    Spline,
)
from homodyn.model.joint import (
    COORDINATE_FLAGS,
    COORDINATE_NUMBERS,
    Coordinate,
    Coupler,
    Joint,
    JointAxis,
)
from homodyn.model.joint_type import unit_axis
from homodyn.model.muscles import (
    MUSCLE_NUMBERS,
    Ligament,
    Muscle,
    PathPoint,
    PathWrap,
    PointLaw,
    PointRange,
    WrapObject,
)
from homodyn.model.parameters import Parameter
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker, Mesh
from homodyn.spatial import Transform

_UNBOUNDED_RANGE = {"lower": float("-inf"), "upper": float("inf")}
_IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def from_plain_data(content: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """The fields of the model that plain data describes.

    Args:
        content: What `homodyn.model.encoding.to_plain_data` returned, or the content of a file.
        path: The file, for messages.

    Returns:
        Arguments of `homodyn.model.Model`, by name.

    Raises:
        FormatError: A key is unknown or missing, or a value has the wrong type; the message says
            where.
    """
    return _Reader(path).fields(content)


class _Table:
    """A table whose keys are taken one by one; keys that are left at the end are unknown."""

    def __init__(self, reader: _Reader, content: Any, place: str) -> None:
        self.reader, self.place = reader, place
        if not isinstance(content, Mapping):
            raise self.error(f"a table is expected, got {content!r}")
        self.content = dict(content)
        self.known_keys: list[str] = []

    def error(self, message: str) -> FormatError:
        return FormatError(message, self.reader.path, self.place)

    def has(self, key: str) -> bool:
        return key in self.content

    def take(self, key: str, default: Any = None, *, required: bool = False) -> Any:
        self.known_keys.append(key)
        if required and key not in self.content:
            raise self.error(f"the key {key!r} is missing")
        return self.content.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default, required=default is None)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a string, got {value!r}")
        return value

    def numbers(self, key: str, default: Any) -> Any:
        """A number or nested lists of numbers; a string is replaced by the parameter it names."""
        return self._numbers(key, self.take(key, default))

    def _numbers(self, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._numbers(key, entry) for entry in value]
        if isinstance(value, str):
            known = self.reader.parameters
            if value not in known:
                raise self.error(f"{key}: {unknown_name('parameter', value, known)}")
            return known[value].symbol
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(f"{key} must be numbers, got {value!r}")
        return float(value)

    def tables(self, key: str, what: str) -> list[_Table]:
        found = self.take(key, [])
        if not isinstance(found, list):
            raise self.error(f"{key} must be a list of tables, such as [[{key}]]")
        tables = []
        for k, content in enumerate(found):
            name = content.get("name", k + 1) if isinstance(content, Mapping) else k + 1
            place = f"{what} {name!r}"
            tables.append(_Table(self.reader, content, f"{self.place}, {place}".removeprefix(", ")))
        return tables

    def build(self, build: Callable[[], Any]) -> Any:
        """The record, if no unknown key is left; errors of the record get the place."""
        if self.content:
            raise self.error(unknown_name("key", next(iter(self.content)), self.known_keys))
        try:
            return build()
        except ModelError as error:
            raise self.error(str(error)) from error


class _Reader:
    """One pass over the tables of a model."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parameters: dict[str, Parameter] = {}

    def fields(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the model."""
        top = _Table(self, content, "")
        version = top.text("format")
        if version not in (FORMAT, HALF_SIZE_FORMAT):
            raise top.error(f"format must be {FORMAT!r}, got {version!r}")
        contact = _half_size_contact if version == HALF_SIZE_FORMAT else _contact
        for table in top.tables("parameter", "parameter"):
            name, value = table.text("name"), table.numbers("value", None)
            self.parameters[name] = table.build(partial(Parameter, name, value))
        name = top.text("name")
        gravity = top.numbers("gravity", [0.0, 0.0, -9.81])
        as_measured = top.take("as_measured", False)
        if not isinstance(as_measured, bool):
            raise top.error(f"as_measured must be true or false, got {as_measured!r}")
        notes = top.take("notes", [])
        if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
            raise top.error("notes must be a list of strings")
        root_joints = top.take("root_joints")
        if root_joints is not None and not (
            isinstance(root_joints, list) and all(isinstance(name, str) for name in root_joints)
        ):
            raise top.error("root_joints must be a list of joint names")
        parts: dict[str, Any] = {
            part: tuple(read(table) for table in top.tables(key, key))
            for part, key, read in (
                ("bodies", "body", _body),
                ("joints", "joint", _joint),
                ("frames", "frame", _frame),
                ("markers", "marker", _marker),
                ("contacts", "contact", contact),
                ("capsules", "capsule", _capsule),
                ("couplers", "coupler", _coupler),
                ("contact_sets", "contact_set", _contact_set),
                ("meshes", "mesh", _mesh),
                ("wraps", "wrap", _wrap),
                ("muscles", "muscle", _muscle),
                ("ligaments", "ligament", _ligament),
            )
        }
        if top.content:
            raise top.error(unknown_name("key", next(iter(top.content)), top.known_keys))
        return {
            "name": name,
            **parts,
            "gravity": gravity,
            "parameters": tuple(self.parameters.values()),
            "notes": tuple(notes),
            "as_measured": as_measured,
            "root_joints": None if root_joints is None else tuple(root_joints),
        }


def _body(table: _Table) -> Body:
    name = table.text("name")
    mass = table.numbers("mass", 0.0)
    com = table.numbers("com", [0.0, 0.0, 0.0])
    inertia = table.numbers("inertia", [[0.0] * 3] * 3)
    return table.build(lambda: Body(name, mass, com, inertia))


def _joint(table: _Table) -> Joint:
    name, parent, child = table.text("name"), table.text("parent"), table.text("child")
    kind = table.text("kind")
    coordinates = tuple(_coordinate(t) for t in table.tables("coordinates", "coordinate"))
    # Version 0.1 wrote the axes of a joint under the key "motions".
    key = "motions" if table.has("motions") else "axes"
    axes = tuple(_axis(t) for t in table.tables(key, "axis"))
    placement = _placement(table, "position", "rotation")
    child_placement = _placement(table, "child_position", "child_rotation")
    notes = table.take("notes", {})
    if not isinstance(notes, Mapping):
        raise table.error(f"notes must be a table, got {notes!r}")
    return table.build(
        lambda: Joint(
            name, parent, child, kind, coordinates, axes, placement, child_placement, dict(notes)
        )
    )


def _coordinate(table: _Table) -> Coordinate:
    name = table.text("name")
    given = {key: table.numbers(key, None) for key in COORDINATE_NUMBERS if table.has(key)}
    flags = {key: table.take(key) for key in COORDINATE_FLAGS if table.has(key)}
    table.known_keys = ["name", *COORDINATE_NUMBERS, *COORDINATE_FLAGS]
    for key, flag in flags.items():
        if not isinstance(flag, bool):
            raise table.error(f"{key} must be true or false, got {flag!r}")
    return table.build(lambda: Coordinate(name, **flags, **given))


def _axis(table: _Table) -> JointAxis:
    kinds = [kind for kind in ("turn", "slide") if table.has(kind)]
    if len(kinds) != 1:
        raise table.error("an axis of a joint needs one key of turn and slide, with a direction")
    axis: Any = table.content.get(kinds[0])
    if isinstance(axis, str) and axis.lstrip("-") in ("x", "y", "z"):
        table.take(kinds[0])
        axis = unit_axis(axis)
    else:
        axis = table.numbers(kinds[0], None)
    coordinate = table.take("coordinate", 0)
    if not isinstance(coordinate, int) or isinstance(coordinate, bool) or coordinate < -1:
        raise table.error(f"coordinate must be an index from 0, or -1 for none; got {coordinate!r}")
    pitch = table.numbers("pitch", 0.0)
    function = _function(table, "function", Linear())
    index = None if coordinate == -1 else coordinate
    table.known_keys = ["turn", "slide", *table.known_keys]
    return table.build(lambda: JointAxis(kinds[0], axis, index, function, pitch))


def _function(table: _Table, key: str, default: ScalarFunction | None) -> ScalarFunction:
    if default is not None and not table.has(key):
        table.known_keys.append(key)
        return default
    inner = _Table(table.reader, table.take(key, required=True), f"{table.place}, {key}")
    kinds = ("constant", "linear", "polynomial", "spline", "polyline", "scaled")
    kind = next((kind for kind in kinds if inner.has(kind)), None)
    if kind is None:
        raise inner.error(f"a function needs one key of {', '.join(kinds)}")
    numbers = inner.numbers(kind, None)
    if kind == "constant":
        return inner.build(lambda: Constant(numbers))
    if kind == "scaled":
        scaled = _function(inner, "function", None)
        return inner.build(lambda: ScaledFunction(scaled, numbers))
    is_linear = kind == "linear"
    if not isinstance(numbers, list) or (is_linear and len(numbers) != 2):
        raise inner.error(f"{kind} must be a list{' of factor and offset' if is_linear else ''}")
    if kind == "linear":
        return inner.build(lambda: Linear(*numbers))
    if kind == "polynomial":
        return inner.build(lambda: Polynomial(tuple(numbers)))
    if not all(isinstance(knot, list) and len(knot) == 2 for knot in numbers):
        raise inner.error(f"{kind} must be a list of knots [x, y]")
    x, y = (tuple(knot[i] for knot in numbers) for i in (0, 1))
    if kind == "polyline":
        return inner.build(lambda: Polyline(x, y))
    end = inner.text("end", "natural")
    return inner.build(lambda: Spline(x, y, end))


def _placement(table: _Table, position: str, rotation: str) -> Transform:
    return Transform(table.numbers(rotation, _IDENTITY), table.numbers(position, [0.0, 0.0, 0.0]))


def _frame(table: _Table) -> Frame:
    name, body = table.text("name"), table.text("body")
    placement = _placement(table, "position", "rotation")
    return table.build(lambda: Frame(name, body, placement))


def _marker(table: _Table) -> Marker:
    name, body = table.text("name"), table.text("body")
    position = table.numbers("position", [0.0, 0.0, 0.0])
    fixed = table.take("fixed")
    if fixed is not None and not isinstance(fixed, bool):
        raise table.error(f"fixed must be true or false, got {fixed!r}")
    return table.build(lambda: Marker(name, body, position, fixed))


def _contact(table: _Table) -> ContactShape:
    name, body, kind = table.text("name"), table.text("body"), table.text("kind", "point")
    position = table.numbers("position", [0.0, 0.0, 0.0])
    radius = table.numbers("radius", 0.0)
    size = table.numbers("size", [0.0, 0.0, 0.0])
    rotation = table.numbers("rotation", _IDENTITY)
    return table.build(lambda: ContactShape(name, body, kind, position, radius, size, rotation))


def _half_size_contact(table: _Table) -> ContactShape:
    contact = _contact(table)
    return replace(contact, size=2 * contact.size)


def _contact_set(table: _Table) -> ContactSet:
    name = table.text("name")
    points, normals = table.take("points", required=True), table.take("normals", required=True)
    if not isinstance(points, list) or not all(isinstance(point, str) for point in points):
        raise table.error(f"points must be a list of names, got {points!r}")
    return table.build(lambda: ContactSet(name, tuple(points), normals))


def _capsule(table: _Table) -> Capsule:
    name, body = table.text("name"), table.text("body")
    start, end = table.numbers("start", None), table.numbers("end", None)
    radius = table.numbers("radius", None)
    return table.build(lambda: Capsule(name, body, start, end, radius))


def _coupler(table: _Table) -> Coupler:
    coordinate, of = table.text("coordinate"), table.text("of")
    function = _function(table, "function", None)
    return table.build(lambda: Coupler(coordinate, of, function))


def _mesh(table: _Table) -> Mesh:
    body, file = table.text("body"), table.text("file")
    placement, scale = _placement(table, "position", "rotation"), table.numbers("scale", [1.0] * 3)
    return table.build(lambda: Mesh(body, file, placement, scale))


def _wrap(table: _Table) -> WrapObject:
    name, body, kind = table.text("name"), table.text("body"), table.text("kind")
    dimensions = tuple(table.numbers("dimensions", []))
    placement = _placement(table, "position", "rotation")
    quadrant, active = table.text("quadrant", "all"), table.take("active", True)
    return table.build(
        lambda: WrapObject(name, body, kind, dimensions, placement, quadrant, active)
    )


def _muscle(table: _Table) -> Muscle:
    given = {key: table.numbers(key, None) for key in MUSCLE_NUMBERS if table.has(key)}
    path = _path(table)
    return table.build(lambda: Muscle(**path, **given))


def _ligament(table: _Table) -> Ligament:
    path = _path(table)
    return table.build(lambda: Ligament(**path))


def _path(table: _Table) -> dict[str, Any]:
    """Fields that muscles and ligaments share."""
    settings = table.take("settings", {})
    if not isinstance(settings, Mapping):
        raise table.error(f"settings must be a table, got {settings!r}")
    return {
        "name": table.text("name"),
        "kind": table.text("kind"),
        "points": tuple(_point(t) for t in table.tables("points", "point")),
        "wraps": tuple(_path_wrap(t) for t in table.tables("wraps", "wrap")),
        "settings": dict(settings),
    }


def _point(table: _Table) -> PathPoint:
    name, body = table.text("name"), table.text("body")
    position = table.numbers("position", [0.0, 0.0, 0.0])
    when = None
    if table.has("when"):
        inner = _Table(table.reader, table.take("when"), f"{table.place}, when")
        coordinate = inner.text("coordinate")
        bounds = [inner.numbers(key, default) for key, default in _UNBOUNDED_RANGE.items()]
        when = inner.build(lambda: PointRange(coordinate, *bounds))
    laws = tuple(_law(t) for t in table.tables("laws", "law"))
    return table.build(lambda: PathPoint(name, body, position, when, laws))


def _law(table: _Table) -> PointLaw:
    axis, coordinate = table.text("axis"), table.text("coordinate")
    if axis not in ("x", "y", "z"):
        raise table.error(unknown_name("axis", axis, ("x", "y", "z")))
    function = _function(table, "function", None)
    return table.build(lambda: PointLaw(axis, coordinate, function))


def _path_wrap(table: _Table) -> PathWrap:
    wrap, method = table.text("wrap"), table.text("method", "hybrid")
    ends = [table.take(key, 0) for key in ("first", "last")]
    if not all(isinstance(end, int) and not isinstance(end, bool) for end in ends):
        raise table.error(f"first and last must be indices of points, from 1; got {ends}")
    return table.build(lambda: PathWrap(wrap, method, *ends))
