"""Homodyn's own model file: TOML that a person can write and that loses no bit.

::

    format = "homodyn 1"
    name = "pendulum"
    gravity = [0.0, 0.0, -9.81]

    [[body]]
    name = "arm"
    mass = 1.0                              # kg
    com = [0.0, 0.0, -0.5]                  # m
    inertia = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.01]]

    [[joint]]
    name = "shoulder"
    parent = "world"
    child = "arm"
    kind = "revolute"
    position = [0.0, 0.0, 1.0]              # and rotation, child_position, child_rotation
    axes = [{ turn = "y" }]                 # or slide; axis, coordinate, pitch, function
    coordinates = [{ name = "shoulder", lower = -1.5, upper = 1.5 }]

Further tables: ``frame``, ``marker``, ``contact``, ``capsule``, ``coupler``, ``contact_set``,
``mesh``, ``wrap``, ``muscle``, ``ligament``, ``parameter``. What has its default value may be left
out. A text where a number is expected names a parameter. Functions are ``{ constant = 1 }``,
``{ linear = [factor, offset] }``, ``{ polynomial = [c0, c1] }``,
``{ spline = [[x0, y0], [x1, y1]], end = "natural" }``, ``{ polyline = [[x0, y0], [x1, y1]] }`` and
``{ scaled = 2, function = { ... } }``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.record import register_codec
from homodyn.foundation.text import unknown_name
from homodyn.model.body import Body
from homodyn.model.formats.files import read_bytes, write_text
from homodyn.model.formats.toml_text import model_text
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
from homodyn.model.joints import unit_axis
from homodyn.model.model import Model
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

FORMAT = "homodyn 1"
_UNBOUNDED_RANGE = {"lower": float("-inf"), "upper": float("inf")}
_IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def write_toml(model: Model, path: str | Path) -> None:
    """Write a model; whatever reads the path meets the old file or the whole new one."""
    write_text(Path(path), model_text(model))


def read_toml(path: str | Path) -> Model:
    """The model in a Homodyn TOML file."""
    try:
        text = read_bytes(Path(path)).decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", str(path)) from None
    return model_from_text(text, str(path))


def model_from_text(text: str, path: str = "") -> Model:
    """The model in the text of a Homodyn TOML file; ``path`` is for messages."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"this is not TOML: {error}", path) from None
    except RecursionError:
        raise FormatError("its values are nested too deeply", path) from None
    return _Reader(path).model(content)


register_codec(Model, model_text, model_from_text)


class _Table:
    """A TOML table whose keys are taken one by one; what is left over is not known."""

    def __init__(self, reader: _Reader, content: Any, place: str) -> None:
        self.reader, self.place = reader, place
        if not isinstance(content, dict):
            raise self.error(f"a table is expected, got {content!r}")
        self.content = dict(content)
        self.asked: list[str] = []

    def error(self, message: str) -> FormatError:
        return FormatError(message, self.reader.path, self.place)

    def has(self, key: str) -> bool:
        return key in self.content

    def take(self, key: str, default: Any = None, *, required: bool = False) -> Any:
        self.asked.append(key)
        if required and key not in self.content:
            raise self.error(f"the key {key!r} is missing")
        return self.content.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default, required=default is None)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a text, got {value!r}")
        return value

    def numbers(self, key: str, default: Any) -> Any:
        """A number or nested lists of them, with parameters where names stand."""
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
            raise self.error(f"{key} must be a list of tables, as [[{key}]] makes it")
        made = []
        for k, content in enumerate(found):
            name = content.get("name", k + 1) if isinstance(content, dict) else k + 1
            place = f"{what} {name!r}"
            made.append(_Table(self.reader, content, f"{self.place}, {place}".removeprefix(", ")))
        return made

    def build(self, build: Callable[[], Any]) -> Any:
        """The record, once no key is left over; what it refuses is told with the place."""
        if self.content:
            raise self.error(unknown_name("key", next(iter(self.content)), self.asked))
        try:
            return build()
        except ModelError as error:
            raise self.error(str(error)) from error


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.parameters: dict[str, Parameter] = {}

    def model(self, content: dict[str, Any]) -> Model:
        top = _Table(self, content, "")
        version = top.text("format")
        if version != FORMAT:
            raise top.error(f"format must be {FORMAT!r}, got {version!r}")
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
            raise top.error("notes must be a list of texts")
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
                ("contacts", "contact", _contact),
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
            raise top.error(unknown_name("key", next(iter(top.content)), top.asked))
        return Model(
            name,
            **parts,
            gravity=gravity,
            parameters=tuple(self.parameters.values()),
            notes=tuple(notes),
            as_measured=as_measured,
            root_joints=None if root_joints is None else tuple(root_joints),
        )


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
    # Files of the first versions call the axes of a joint its motions.
    key = "motions" if table.has("motions") else "axes"
    axes = tuple(_axis(t) for t in table.tables(key, "axis"))
    placement = _placement(table, "position", "rotation")
    child_placement = _placement(table, "child_position", "child_rotation")
    notes = table.take("notes", {})
    if not isinstance(notes, dict):
        raise table.error(f"notes must be a table, got {notes!r}")
    return table.build(
        lambda: Joint(
            name, parent, child, kind, coordinates, axes, placement, child_placement, notes
        )
    )


def _coordinate(table: _Table) -> Coordinate:
    name = table.text("name")
    given = {key: table.numbers(key, None) for key in COORDINATE_NUMBERS if table.has(key)}
    flags = {key: table.take(key) for key in COORDINATE_FLAGS if table.has(key)}
    table.asked = ["name", *COORDINATE_NUMBERS, *COORDINATE_FLAGS]
    for key, flag in flags.items():
        if not isinstance(flag, bool):
            raise table.error(f"{key} must be true or false, got {flag!r}")
    return table.build(lambda: Coordinate(name, **flags, **given))


def _axis(table: _Table) -> JointAxis:
    kinds = [kind for kind in ("turn", "slide") if table.has(kind)]
    if len(kinds) != 1:
        raise table.error("an axis of a joint has one of turn and slide, each with a direction")
    axis: Any = table.content.get(kinds[0])
    if isinstance(axis, str) and axis.lstrip("-") in ("x", "y", "z"):
        table.take(kinds[0])
        axis = unit_axis(axis)
    else:
        axis = table.numbers(kinds[0], None)
    coordinate = table.take("coordinate", 0)
    if not isinstance(coordinate, int) or isinstance(coordinate, bool) or coordinate < -1:
        raise table.error(f"coordinate counts from 0, -1 for none; got {coordinate!r}")
    pitch = table.numbers("pitch", 0.0)
    function = _function(table, "function", Linear())
    index = None if coordinate == -1 else coordinate
    table.asked = ["turn", "slide", *table.asked]
    return table.build(lambda: JointAxis(kinds[0], axis, index, function, pitch))


def _function(table: _Table, key: str, default: ScalarFunction | None) -> ScalarFunction:
    if default is not None and not table.has(key):
        table.asked.append(key)
        return default
    inner = _Table(table.reader, table.take(key, required=True), f"{table.place}, {key}")
    kinds = ("constant", "linear", "polynomial", "spline", "polyline", "scaled")
    kind = next((kind for kind in kinds if inner.has(kind)), None)
    if kind is None:
        raise inner.error(f"a function is one of {', '.join(kinds)}")
    numbers = inner.numbers(kind, None)
    if kind == "constant":
        return inner.build(lambda: Constant(numbers))
    if kind == "scaled":
        scaled = _function(inner, "function", None)
        return inner.build(lambda: ScaledFunction(scaled, numbers))
    pairs = 2 if kind == "linear" else 0
    if not isinstance(numbers, list) or (pairs and len(numbers) != pairs):
        raise inner.error(f"{kind} must be a list{' of factor and offset' if pairs else ''}")
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
    return table.build(lambda: Marker(name, body, position))


def _contact(table: _Table) -> ContactShape:
    name, body, kind = table.text("name"), table.text("body"), table.text("kind", "point")
    position = table.numbers("position", [0.0, 0.0, 0.0])
    radius = table.numbers("radius", 0.0)
    size = table.numbers("size", [0.0, 0.0, 0.0])
    rotation = table.numbers("rotation", _IDENTITY)
    return table.build(lambda: ContactShape(name, body, kind, position, radius, size, rotation))


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
    """What muscles and ligaments share."""
    settings = table.take("settings", {})
    if not isinstance(settings, dict):
        raise table.error(f"settings must be a table, got {settings!r}")
    return {
        "name": table.text("name"),
        "kind": table.text("kind"),
        "points": tuple(_point(t) for t in table.tables("points", "point")),
        "wraps": tuple(_path_wrap(t) for t in table.tables("wraps", "wrap")),
        "settings": settings,
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
        raise table.error(f"first and last count points from 1, got {ends}")
    return table.build(lambda: PathWrap(wrap, method, *ends))
