"""LuaModel, the model file of RBDL, MeshUp and Puppeteer: a Lua table of frames.

Each frame is a body and the joint that carries it, both of its name. ``joint_frame`` holds ``r``,
where the joint is in the parent, and ``E``, which turns coordinates of the parent into those of
the joint (RBDL's SpatialTransform), and ``inertia`` is about the centre of mass. Rows
``{rx, ry, rz, tx, ty, tz}`` of a joint are turns and slides one after the other; their coordinates
are called ``<frame>_RX`` to ``<frame>_TZ``. ``configuration`` says which axes of the file point to
the front, to the right and up; what is fixed to the world is turned to X front, Y left, Z up.

Markers become markers. A point becomes a contact where a constraint set holds it and a frame where
none does; the contacts of constraint sets become contact sets, their loops are noted. Round
geometry of visuals becomes capsules, meshes are noted. `homodyn.model.formats.lua_write` keeps all
of it, and what no program but its own understands, when a model is written back.

Further fields that others ignore hold what LuaModel has no place for: ``name``, ``notes`` and
``as_measured`` of the model; ``joint_name``, ``joint_kind`` and ``coordinates`` of a frame;
``kind``, ``radius``, ``size`` and ``rotation`` of a point; ``start`` and ``stop`` of a visual.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.foundation.text import unknown_name
from homodyn.model import joints
from homodyn.model.body import Body
from homodyn.model.formats.lua_sandbox import run
from homodyn.model.joint import AXES, COORDINATE_NUMBERS, WORLD, Coordinate, Joint, JointAxis
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker
from homodyn.spatial import Transform, rotation

ROOT = "ROOT"
NAMED_JOINTS: dict[str, joints.JointType] = {
    "JointTypeFixed": joints.fixed(),
    **{f"JointTypeRevolute{a.upper()}": joints.revolute(a) for a in "xyz"},
    **{f"JointTypeEuler{a.upper()}": joints.euler(a) for a in ("zyx", "xyz", "yxz", "zxy")},
    "JointTypeTranslationXYZ": joints.translation(),
    "JointTypeSpherical": joints.spherical(),
    "JointTypeFloatingBase": joints.free(),
}
"""Joints that RBDL knows by name. Positions and velocities of the last two are ours, not RBDL's."""

MAX_ROTATION_ERROR = 1e-3
_TOP_LEVEL_KEYS = (
    "gravity",
    "configuration",
    "frames",
    "points",
    "local_frames",
    "constraint_sets",
    "name",
    "notes",
    "as_measured",
    "root_joints",
)


def read_lua(path: str | Path, *, as_measured: bool = False) -> Model:
    """The model in a LuaModel file; ``as_measured`` takes inertias that no body can have."""
    path = Path(path)
    script = run(path)
    return model_of(script.table, path, as_measured=as_measured)


def model_of(table: dict[Any, Any], path: Path, *, as_measured: bool = False) -> Model:
    """The model that the table of a LuaModel file describes."""
    return _Reader(LuaTable(table, str(path), "")).model(as_measured)


class LuaTable:
    """A table of the file that knows its place."""

    def __init__(self, content: Any, path: str, place: str) -> None:
        self.path, self.place = path, place
        # An empty table of Lua is a list and a dictionary at once.
        self.content: dict[Any, Any] = {} if content == [] else content
        if not isinstance(self.content, dict):
            raise self.error(f"a table with names is expected, got {_short_repr(content)}")

    def error(self, message: str) -> FormatError:
        return FormatError(message, self.path, self.place)

    def subtable(self, key: str, default: Any = None) -> LuaTable:
        return LuaTable(self.content.get(key, default or {}), self.path, self._at(key))

    def items(self, key: str) -> list[LuaTable]:
        """The tables in a list; an absent list is empty."""
        value = self.content.get(key, [])
        if isinstance(value, dict) and value:
            raise self.error(
                f"{key} must be a list without names, which Lua would not keep in order"
            )
        if not isinstance(value, (list, dict)):
            raise self.error(f"{key} must be a list, got {_short_repr(value)}")
        made = []
        for k, item in enumerate(value, 1):
            name = item.get("name") if isinstance(item, dict) else None
            made.append(LuaTable(item, self.path, self._at(f"{key}[{name or k}]")))
        return made

    def text(self, key: str, default: str | None = None) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a text, got {_short_repr(value)}")
        return value

    def number(self, key: str, default: float) -> float:
        return float(self.numbers(key, default, ()))

    def numbers(self, key: str, default: Any, shape: tuple[int, ...] = (3,)) -> np.ndarray:
        """Finite numbers of a shape; an absent entry has the default."""
        return self.array(key, self.content.get(key, default), shape)

    def array(self, key: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        try:
            array = np.array(value)
        except ValueError:
            array = np.array(None)
        if array.shape != shape or array.dtype.kind not in "if" or np.isnan(array).any():
            needed = " x ".join(str(n) for n in shape)
            raise self.error(
                f"{key} must be {needed or 'a'} number{'s' if shape else ''}, "
                f"got {_short_repr(value)}"
            )
        return array.astype(float)

    def _at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def world_turn(configuration: LuaTable) -> np.ndarray:
    """The rotation from the axes of the file to X front, Y left, Z up."""
    front = configuration.numbers("axis_front", [1.0, 0.0, 0.0])
    right = configuration.numbers("axis_right", [0.0, -1.0, 0.0])
    up = configuration.numbers("axis_up", [0.0, 0.0, 1.0])
    turn = np.array([front, -right, up])
    if np.abs(turn @ turn.T - np.eye(3)).max() > MAX_ROTATION_ERROR or np.linalg.det(turn) < 0:
        raise configuration.error(
            "axis_front, axis_right and axis_up must be three axes at right angles, right-handed"
        )
    return turn


def placement_of(entry: LuaTable) -> Transform:
    """``r`` and ``E``; a rotation written with a few digits is made one to all digits."""
    E = entry.numbers("E", np.eye(3).tolist(), (3, 3))
    off = np.abs(E @ E.T - np.eye(3)).max()
    if 1e-9 < off < MAX_ROTATION_ERROR:
        left, _, right = np.linalg.svd(E)
        E = left @ right
    return Transform(E, entry.numbers("r", [0.0, 0.0, 0.0]))


class _Reader:
    """One pass over the table of a model."""

    def __init__(self, top: LuaTable) -> None:
        self.top = top
        self.notes: list[str] = []
        self.turn = Transform(world_turn(top.subtable("configuration")), np.zeros(3))

    def model(self, as_measured: bool) -> Model:
        top = self.top
        given = top.content.get("notes", [])
        if not _are_texts(given):
            raise top.error("notes must be a list of texts")
        root = top.content.get("root_joints")
        # An empty Lua table reads as one with names.
        if root is not None and root != {} and not _are_texts(root):
            raise top.error("root_joints must be a list of joint names")
        frames = top.items("frames")
        if not frames:
            raise top.error("there are no frames; a model has one at least: frames = { {...} }")
        bodies = [self._body(frame) for frame in frames]
        made = [self._joint(frame) for frame in frames]
        markers = [marker for frame in frames for marker in self._markers(frame)]
        capsules = [capsule for frame in frames for capsule in self._capsules(frame)]
        sets, held = self._contact_sets()
        points = [self._point(entry, held) for entry in top.items("points")]
        points += [self._local_frame(entry) for entry in top.items("local_frames")]
        unread = [str(key) for key in top.content if key not in _TOP_LEVEL_KEYS]
        if unread:
            self.notes.append(f"not read: {', '.join(unread)}")
        return Model(
            top.text("name", Path(top.path).stem),
            tuple(bodies),
            tuple(made),
            frames=tuple(point for point in points if isinstance(point, Frame)),
            markers=tuple(markers),
            contacts=tuple(point for point in points if isinstance(point, ContactShape)),
            capsules=tuple(capsules),
            contact_sets=tuple(sets),
            gravity=self.turn.E @ self._gravity(),
            notes=tuple(dict.fromkeys([*given, *self.notes])),
            as_measured=as_measured or top.content.get("as_measured") is True,
            root_joints=None if root is None else tuple(root),
        )

    def _gravity(self) -> np.ndarray:
        if "gravity" in self.top.content:
            return self.top.numbers("gravity", None)
        self.notes.append("no gravity in the file: 9.81 m/s2 downwards")
        return self.turn.E.T @ np.array([0.0, 0.0, -9.81])

    def _body(self, frame: LuaTable) -> Body:
        name = frame.text("name")
        body = frame.subtable("body")
        inertia = np.zeros((3, 3)).tolist()
        if body.content and "inertia" not in body.content:
            # RBDL's default, surprising as it is: the same file must move the same way here.
            inertia = np.eye(3).tolist()
            self.notes.append(f"frame {name!r}: no inertia in the file, 1 kg m2 as in RBDL")
        return Body(
            name,
            body.number("mass", 0.0),
            body.numbers("com", [0.0, 0.0, 0.0]),
            body.numbers("inertia", inertia, (3, 3)),
        )

    def _joint(self, frame: LuaTable) -> Joint:
        name, parent = frame.text("name"), frame.text("parent")
        placed = placement_of(frame.subtable("joint_frame"))
        if parent == ROOT:
            placed = in_world(placed, self.turn)
        kind = joint_type(frame)
        label = frame.text("joint_name", name)
        made = kind.joint(label, WORLD if parent == ROOT else parent, name, at=placed)
        names = [f"{name}_{coordinate.name.upper()}" for coordinate in kind.coordinates]
        given = frame.items("coordinates") or [LuaTable({}, "", "")] * len(names)
        if len(given) != len(names):
            raise frame.error(f"coordinates must be {len(names)}, got {len(given)}")
        coordinates = [
            _coordinate(entry, default) for entry, default in zip(given, names, strict=True)
        ]
        return Joint(
            label,
            made.parent,
            name,
            frame.text("joint_kind", made.kind),
            tuple(coordinates),
            made.axes,
            made.placement,
            notes=frame.subtable("joint_notes").content,
        )

    def _markers(self, frame: LuaTable) -> list[Marker]:
        body, value = frame.text("name"), frame.content.get("markers", {})
        if isinstance(value, list):
            entries = frame.items("markers")
            return [Marker(e.text("name"), body, e.numbers("point", None)) for e in entries]
        markers = frame.subtable("markers")
        return [Marker(str(key), body, markers.numbers(key, None)) for key in markers.content]

    def _capsules(self, frame: LuaTable) -> list[Capsule]:
        """Balls, capsules and cylinders, which MeshUp draws along y of the visual."""
        body = frame.text("name")
        if isinstance(frame.content.get("visuals"), dict):
            self.notes.append(f"frame {body!r}: visuals with names are not kept")
            return []
        made = []
        for k, visual in enumerate(frame.items("visuals")):
            geometry = visual.subtable("geometry")
            kind = next(
                (key for key in ("sphere", "capsule", "cylinder") if key in geometry.content), ""
            )
            label = visual.text("name", f"{body}_{k}")
            if not kind:
                what = (
                    visual.content.get("src") or ", ".join(map(str, geometry.content)) or "a visual"
                )
                self.notes.append(f"frame {body!r}: {what} is not kept")
                continue
            shape = geometry.subtable(kind)
            radius = shape.number("radius", 1.0)
            half = 0.0 if kind == "sphere" else shape.number("length", 2.0) / 2
            half = max(half - radius, 0.0) if kind == "capsule" else half
            turned = visual.subtable("rotate")
            angle = np.deg2rad(turned.number("angle", 0.0))
            axis = joints.unit_axis(turned.numbers("axis", [1.0, 0.0, 0.0]))
            along = rotation(axis, angle).T @ np.array([0.0, half, 0.0])
            zero = [0.0, 0.0, 0.0]
            center = visual.numbers("translate", zero) + visual.numbers("mesh_center", zero)
            start = visual.numbers("start", (center - along).tolist())
            stop = visual.numbers("stop", (center + along).tolist())
            made.append(Capsule(label, body, start, stop, radius))
        return made

    def _contact_sets(self) -> tuple[list[ContactSet], set[str]]:
        made, held = [], set()
        groups = self.top.subtable("constraint_sets")
        for name in groups.content:
            points: list[str] = []
            normals: list[np.ndarray] = []
            for entry in groups.items(name):
                if entry.text("constraint_type", "contact") != "contact":
                    told = entry.content.get("name", "a loop")
                    self.notes.append(f"constraint set {name!r}: {told} is no contact and not kept")
                    continue
                point = entry.content.get("point_name", entry.content.get("point"))
                if not isinstance(point, str):
                    raise entry.error(
                        f"point must name one of the points of the file, got {_short_repr(point)}"
                    )
                rows = entry.content.get("normal_sets", [entry.content.get("normal")])
                matrix = entry.array("normals", rows, (len(rows), 3)) @ self.turn.E.T
                points += [point] * len(matrix)
                normals += list(matrix)
            held.update(points)
            made.append(ContactSet(str(name), tuple(points), np.array(normals)))
        return made, held

    def _point(self, entry: LuaTable, held: set[str]) -> Frame | ContactShape:
        name, body = entry.text("name"), entry.text("body")
        placed = Transform(np.eye(3), entry.numbers("point", None))
        if body == ROOT:
            body, placed = WORLD, Transform(np.eye(3), self.turn.E @ placed.r)
        if name not in held and "kind" not in entry.content:
            return Frame(name, body, placed)
        return ContactShape(
            name,
            body,
            entry.text("kind", "point"),
            placed.r,
            entry.number("radius", 0.0),
            entry.numbers("size", [0.0, 0.0, 0.0]),
            entry.numbers("rotation", np.eye(3).tolist(), (3, 3)),
        )

    def _local_frame(self, entry: LuaTable) -> Frame:
        name, body, placed = entry.text("name"), entry.text("body"), placement_of(entry)
        if body == ROOT:
            return Frame(name, WORLD, in_world(placed, self.turn))
        return Frame(name, body, placed)


def in_world(placed: Transform, turn: Transform) -> Transform:
    """A placement in the axes of the file as one in ours: seen from a world turned back."""
    return Transform(placed.E @ turn.E.T, turn.E @ placed.r)


def joint_type(frame: LuaTable) -> joints.JointType:
    """The motions of a frame: a name, rows of six numbers, or none."""
    value = frame.content.get("joint", [])
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str):
        if value not in NAMED_JOINTS:
            raise frame.error(unknown_name("joint", value, NAMED_JOINTS))
        return NAMED_JOINTS[value]
    if not isinstance(value, (list, dict)) or (isinstance(value, dict) and value):
        raise frame.error(f"joint must be a list of rows or a name, got {_short_repr(value)}")
    motions = []
    for k, row in enumerate(value):
        motions.append(_motion(frame, frame.array(f"joint row {k + 1}", row, (6,)), k))
    made = joints.custom(*motions) if motions else joints.fixed()
    return joints.JointType(kind_of(motions), made.axes, made.coordinates)


def _motion(frame: LuaTable, row: np.ndarray, k: int) -> JointAxis:
    turn, slide = row[:3], row[3:]
    length = float(np.linalg.norm(turn) if turn.any() else np.linalg.norm(slide))
    if abs(length - 1) > MAX_ROTATION_ERROR:
        raise frame.error(f"joint row {k + 1} must have an axis of length one, got {row.tolist()}")
    if not turn.any():
        return joints.slide(slide, k)
    pitch = float(turn @ slide)
    if not np.allclose(slide, pitch * turn, atol=1e-9):
        raise frame.error(
            f"joint row {k + 1} turns about one axis and slides along another; write two rows"
        )
    return joints.turn(turn, k, pitch=pitch)


def kind_of(motions: list[JointAxis]) -> str:
    """What a sequence of motions, each with its own coordinate, is called."""
    text = "".join("t" if motion.kind == "turn" else "s" for motion in motions)
    if len(motions) == 1:
        screw = motions[0].pitch != 0
        return "prismatic" if text == "s" else "helical" if screw else "revolute"
    axes = [tuple(np.abs(motion.axis)) for motion in motions]
    main = all(axis in AXES.values() for axis in axes)
    slides = axes[:3] == list(AXES.values())
    if text == "sss" and slides:
        return "translation"
    if text in ("ttt", "sssttt") and main and axes[-3] != axes[-2] != axes[-1]:
        return "euler" if text == "ttt" else "euler_free" if slides else "custom"
    if text == "sst" and main and len(set(axes)) == 3:
        return "planar"
    return {"": "fixed", "tt": "universal"}.get(text, "custom")


def _coordinate(entry: LuaTable, default: str) -> Coordinate:
    given = {key: entry.number(key, 0.0) for key in COORDINATE_NUMBERS if key in entry.content}
    locked = entry.content.get("locked") is True
    actuated = entry.content.get("actuated") is not False
    name = entry.text("name", default)
    return Coordinate(name, locked=locked, actuated=actuated, **given)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _short_repr(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) < 80 else text[:77] + "..."
