"""Scene files: TOML that a person can write, checked field by field.

::

    format = "homodyn scene 1"
    name = "two steps"
    mass = 60.0                          # kg
    limit = 1000.0                       # N, sum of all normal forces; may be left out

    [defaults]                           # for every support that does not say otherwise
    friction = 0.7
    length = 0.28                        # m
    width = 0.09                         # m

    [[support]]
    name = "left"
    kind = "sole"                        # or point, patch, grasp
    position = [0.0, 0.1, 0.0]           # m
    yaw_degrees = 90.0                   # or along and normal, directions of the world

    [[phase]]
    supports = ["left"]
    duration = 0.8                       # s; or shortest, for a planner to choose

A ``point`` has position and normal, a ``patch`` corners and normal, a ``grasp`` position and the
largest force (N) and moment (N m), one number or three, ``within`` a box or a ball. Contacts may
have limit (N), yaw_limit (N m), sides, pyramid and body. Further tables: ``plan`` (start, finish,
degree, reach, corridor, start_at_rest, finish_at_rest, margin, pieces, height_weight), ``path``
(degree, instants, points: a clamped B-spline of the centre of mass) and ``[[box]]`` (name, center,
size).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.balance.contacts import ContactPatch, Grasp, GraspBounds, Support, sole_contact
from homodyn.balance.scene import Box, ComPath, ComPlanRequest, HeightRamp, Scene, SceneStep
from homodyn.errors import FormatError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model.formats.files import read_bytes

FORMAT = "homodyn scene 1"
SCENE_FOLDER = Path(__file__).parent / "scenes"
SUPPORT_KINDS = ("sole", "point", "patch", "grasp")


def scene_names() -> tuple[str, ...]:
    """List the scenes bundled with Homodyn.

    Returns:
        Names for `load_scene`, sorted.
    """
    return tuple(sorted(path.stem for path in SCENE_FOLDER.glob("*.toml")))


def load_scene(source: str | Path) -> Scene:
    """Read a scene from a TOML file, or load a bundled scene by name.

    Args:
        source: Path of a ``.toml`` file, or a name from `scene_names`.

    Returns:
        The scene.

    Raises:
        FormatError: The scene is unknown, or the file cannot be read or is invalid; the message
            names the line and field.
    """
    path = Path(source)
    if path.suffix != ".toml" and str(source) in scene_names():
        path = SCENE_FOLDER / f"{source}.toml"
    elif path.suffix != ".toml":
        raise FormatError(
            f"this is no .toml file and {unknown_name('scene', str(source), scene_names())}",
            str(source),
        )
    try:
        text = read_bytes(path).decode("utf-8")
        content = tomllib.loads(text)
    except UnicodeDecodeError:
        raise FormatError("this is not UTF-8 text", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"this is not TOML: {error}", str(path)) from None
    return _scene(_Table(content, str(path), "", key_lines(text)))


def key_lines(text: str) -> dict[str, int]:
    """Lines, from 1, of tables (``plan``, ``support 2``) and of their fields (``plan.start``)."""
    found: dict[str, int] = {}
    counts: dict[str, int] = {}
    place = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*(\[\[?)\s*([\w.]+)\s*\]", line):
            place = header[2]
            if header[1] == "[[":
                counts[place] = counts.get(place, 0) + 1
                place = f"{place} {counts[place]}"
            found[place] = number
        elif key := re.match(r"\s*([\w.]+)\s*=", line):
            found.setdefault(f"{place}.{key[1]}" if place else key[1], number)
    return found


class _Table:
    """A table whose keys are taken one by one; what is left over is not known."""

    def __init__(self, content: Any, path: str, place: str, lines: Mapping[str, int]) -> None:
        self.path, self.place = path, place
        self.header, self.lines = place, lines
        if not isinstance(content, dict):
            raise self.error(f"a table is expected, got {content!r}")
        self.content = dict(content)
        self.asked: list[str] = []

    def error(self, message: str, key: str = "") -> FormatError:
        where = ".".join(part for part in (self.place, key) if part)
        written = ".".join(part for part in (self.header, key) if part)
        # A field that is missing has no line of its own: that of its table is told.
        line = self.lines.get(written, self.lines.get(self.header))
        return FormatError(message, self.path, f"line {line}, {where}" if line else where)

    def take(self, key: str, default: Any = None, *, required: bool = False) -> Any:
        self.asked.append(key)
        if required and key not in self.content:
            raise self.error("this field is missing", key)
        return self.content.pop(key, default)

    def number(
        self, key: str, default: float | None = None, *, least: float | None = None
    ) -> float:
        value = self.take(key, default, required=default is None)
        if isinstance(value, bool) or not isinstance(value, int | float) or np.isnan(value):
            raise self.error(f"a number is expected, got {value!r}", key)
        if least is not None and not value > least:
            raise self.error(f"a number above {least:g} is expected, got {value!r}", key)
        return float(value)

    def numbers(self, key: str, default: Any = None, *, shape: tuple[int, ...] = (3,)) -> Any:
        value = self.take(key, default, required=default is None)
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        wanted = [n for n in shape if n >= 0]
        fits = array.ndim == len(shape) and all(
            n < 0 or n == m for n, m in zip(shape, array.shape, strict=False)
        )
        if not fits or not np.isfinite(array).all():
            size = " rows of ".join(str(n) for n in wanted) if len(shape) == 1 else "rows of 3"
            raise self.error(f"{size} finite numbers are expected, got {value!r}", key)
        return array

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default, required=default is None)
        if not isinstance(value, str):
            raise self.error(f"a text is expected, got {value!r}", key)
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.error(f"true or false is expected, got {value!r}", key)
        return value

    def choice(self, key: str, words: tuple[str, ...]) -> str:
        value = self.text(key, words[0])
        if value not in words:
            raise self.error(f"one of {', '.join(words)} is expected, got {value!r}", key)
        return value

    def tables(self, key: str) -> list[_Table]:
        value = self.take(key, [])
        if not isinstance(value, list):
            raise self.error(f"write it as [[{key}]]", key)
        return [
            _Table(each, self.path, f"{key} {n}", self.lines)
            for n, each in enumerate(value, start=1)
        ]

    def table(self, key: str) -> _Table | None:
        value = self.take(key)
        return None if value is None else _Table(value, self.path, key, self.lines)

    def refuse_unknown_fields(self) -> None:
        for key in self.content:
            raise self.error(unknown_name("field", key, self.asked), key)


def _scene(table: _Table) -> Scene:
    form = table.text("format")
    if form != FORMAT:
        raise table.error(f"{FORMAT!r} is expected, got {form!r}", "format")
    name = table.text("name")
    mass = table.number("mass", least=0.0)
    limit = table.number("limit", np.inf, least=0.0)
    gravity = table.numbers("gravity", [0.0, 0.0, -9.81])
    notes = tuple(str(note) for note in table.take("notes", []))
    defaults = dict(table.take("defaults", {}))
    supports: dict[str, Support] = {}
    for each in table.tables("support"):
        each.content = {**_fitting(defaults, each.content.get("kind", "sole")), **each.content}
        made = _support(each)
        if made.name in supports:
            raise each.error(f"there are two supports of the name {made.name!r}", "name")
        supports[made.name] = made
    steps = tuple(_step(each, n, supports) for n, each in enumerate(table.tables("phase"), 1))
    if not steps:
        raise table.error("a scene has at least one [[phase]]", "phase")
    plan, path = table.table("plan"), table.table("path")
    found = Scene(
        name=name,
        mass=mass,
        supports=supports,
        steps=steps,
        limit=limit,
        gravity=gravity,
        plan=None if plan is None else _plan(plan),
        path=None if path is None else _path(path, len(steps)),
        boxes=tuple(_box(each) for each in table.tables("box")),
        notes=notes,
    )
    table.refuse_unknown_fields()
    return found


CONTACT_FIELDS = ("friction", "limit", "yaw_limit", "sides", "pyramid", "body")
FIELDS = {
    "sole": (*CONTACT_FIELDS, "length", "width", "offset"),
    "point": CONTACT_FIELDS,
    "patch": CONTACT_FIELDS,
    "grasp": ("force", "moment", "within", "body"),
}


def _fitting(defaults: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Defaults that a support of a kind has use for."""
    return {k: v for k, v in defaults.items() if k in FIELDS.get(str(kind), ())}


def _support(table: _Table) -> Support:
    name, kind = table.text("name"), table.text("kind", "sole")
    table.place = f"support {name!r}"
    if kind not in SUPPORT_KINDS:
        raise table.error(unknown_name("kind", kind, SUPPORT_KINDS), "kind")
    try:
        made = _grasp(table, name) if kind == "grasp" else _contact(table, name, kind)
    except ModelError as error:
        raise table.error(str(error)) from None
    table.refuse_unknown_fields()
    return made


def _grasp(table: _Table, name: str) -> Grasp:
    position = table.numbers("position")
    bounds = {}
    for key, default in (("force", None), ("moment", 0.0)):
        value = table.take(key, default, required=default is None)
        if isinstance(value, list):
            table.content[key] = value
            bounds[key] = table.numbers(key)
        else:
            table.content[key] = value
            bounds[key] = np.full(3, table.number(key))
    within = table.choice("within", ("box", "ball"))
    return Grasp(
        name,
        position,
        bounds["force"],
        bounds["moment"],
        GraspBounds(within),
        body=table.text("body", ""),
    )


def _contact(table: _Table, name: str, kind: str) -> ContactPatch:
    more: dict[str, Any] = {
        "friction": table.number("friction"),
        "limit": table.number("limit", np.inf, least=0.0),
        "yaw_limit": table.number("yaw_limit", np.inf, least=0.0),
        "sides": int(table.number("sides", 4.0)),
        "pyramid": table.text("pyramid", "outer"),
        "body": table.text("body", ""),
    }
    normal = table.numbers("normal", [0.0, 0.0, 1.0])
    if kind == "patch":
        return ContactPatch(name, table.numbers("corners", shape=(-1, 3)), normal, **more)
    position = table.numbers("position")
    if kind == "point":
        return ContactPatch(name, position[None], normal, **more)
    size = {key: table.number(key, least=0.0) for key in ("length", "width")}
    yaw = np.radians(table.number("yaw_degrees", 0.0))
    along = table.numbers("along", [np.cos(yaw), np.sin(yaw), 0.0])
    up = normal / max(float(np.linalg.norm(normal)), 1e-300)
    first = along - (along @ up) * up
    if np.linalg.norm(first) < 1e-9:
        raise table.error("this is the normal; give the direction of the long side", "along")
    first = first / np.linalg.norm(first)
    turn = np.c_[first, np.cross(up, first), up]
    return sole_contact(
        name, position, rotation=turn, offset=table.number("offset", 0.0), **size, **more
    )


def _step(table: _Table, number: int, supports: Mapping[str, Support]) -> SceneStep:
    names = table.take("supports", required=True)
    if not isinstance(names, list) or not names:
        raise table.error(f"names of supports are expected, got {names!r}", "supports")
    for name in names:
        if name not in supports:
            raise table.error(unknown_name("support", str(name), tuple(supports)), "supports")
    duration = table.take("duration")
    if duration is not None:
        table.content["duration"] = duration
        duration = table.number("duration", least=0.0)
    step = SceneStep(
        table.text("name", str(number)),
        tuple(names),
        duration,
        table.number("shortest", 0.0),
    )
    table.refuse_unknown_fields()
    return step


def _plan(table: _Table) -> ComPlanRequest:
    corridor = table.take("corridor")
    upper = lower = None
    if corridor is not None:
        sides = _Table(corridor, table.path, "plan.corridor", table.lines)
        upper = HeightRamp(*sides.numbers("upper", shape=(4,)))
        lower = HeightRamp(*sides.numbers("lower", shape=(4,)))
        sides.refuse_unknown_fields()
    plan = ComPlanRequest(
        table.numbers("start"),
        table.numbers("finish"),
        int(table.number("degree", 5.0)),
        table.number("reach", np.inf, least=0.0),
        upper,
        lower,
        table.flag("start_at_rest", True),
        table.flag("finish_at_rest", True),
        table.choice("margin", ("wrench", "force")),
        int(table.number("pieces", 1.0, least=0.0)),
        table.number("height_weight") if "height_weight" in table.content else None,
    )
    table.refuse_unknown_fields()
    return plan


def _path(table: _Table, phases: int) -> ComPath:
    degree = int(table.number("degree", 5.0, least=0.0))
    instants = table.numbers("instants", shape=(-1,))
    points = table.numbers("points", shape=(-1, 3))
    if len(instants) != phases + 1 or (np.diff(instants) <= 0).any():
        raise table.error(
            f"{phases} phases need {phases + 1} instants that increase, got {instants.tolist()}",
            "instants",
        )
    if len(points) != degree + phases:
        raise table.error(
            f"degree {degree} and {phases} phases need {degree + phases} control points, got "
            f"{len(points)}",
            "points",
        )
    table.refuse_unknown_fields()
    return ComPath(degree, instants, points)


def _box(table: _Table) -> Box:
    box = Box(table.text("name"), table.numbers("center"), table.numbers("size"))
    table.refuse_unknown_fields()
    return box
