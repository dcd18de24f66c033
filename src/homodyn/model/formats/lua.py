"""Reader of LuaModel, the model files of RBDL, MeshUp and Puppeteer: a Lua table of frames.

Each frame is a body and its joint, with the same name. ``joint_frame`` contains ``r``, the position
of the joint in the parent, and ``E``, the rotation of coordinates from the parent to the joint
(RBDL's SpatialTransform); ``inertia`` is about the center of mass. Rows of a joint,
``{rx, ry, rz, tx, ty, tz}``, are successive rotations and translations; their coordinates are
called ``<frame>_RX`` to ``<frame>_TZ``. ``configuration`` gives the axes of the file that point
forward, to the right and up; whatever is fixed to the world is rotated to X forward, Y left, Z up.

A point becomes a contact if a constraint set uses it, and a frame otherwise. The contacts of
constraint sets become contact sets; their loops are listed in the notes. Round visuals become
capsules; meshes are listed in the notes. `homodyn.model.formats.lua_write` keeps all of it when a
model is written back, including fields that Homodyn does not use.

Additional fields, which other programs ignore, contain what LuaModel cannot express: ``name``,
``notes``, ``root_joints`` and ``as_measured`` of the model; ``joint_name``, ``joint_kind`` and
``coordinates`` of a frame; ``kind``, ``radius``, ``size`` and ``rotation`` of a point; ``start``
and ``stop`` of a visual.
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
from homodyn.model.joint_type import unit_axis
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
"""Joints that RBDL has by name. q and v of the last two are those of Homodyn, not of RBDL."""

MAX_ROTATION_ERROR = 1e-3
"""Largest entry of E E^T - 1, and error of the length of axes."""
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
    """Read the model in a LuaModel file.

    Args:
        path: The file.
        as_measured: Accept inertias that no rigid body can have.

    Returns:
        The model.

    Raises:
        FormatError: The file is missing or malformed, or its script fails.
        ModelError: The file describes an invalid model.
    """
    path = Path(path)
    script = run(path)
    return model_of(script.table, path, as_measured=as_measured)


def model_of(table: dict[Any, Any], path: Path, *, as_measured: bool = False) -> Model:
    """The model that the table of a LuaModel file describes."""
    return _Reader(LuaTable(table, str(path), "")).model(as_measured)


class LuaTable:
    """A table of the file, with its place for messages."""

    def __init__(self, content: Any, path: str, place: str) -> None:
        self.path, self.place = path, place
        # An empty table of Lua is both a list and a dictionary.
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
                f"{key} must be a list; the order of named entries is undefined in Lua"
            )
        if not isinstance(value, (list, dict)):
            raise self.error(f"{key} must be a list, got {_short_repr(value)}")
        tables = []
        for k, item in enumerate(value, 1):
            name = item.get("name") if isinstance(item, dict) else None
            tables.append(LuaTable(item, self.path, self._at(f"{key}[{name or k}]")))
        return tables

    def text(self, key: str, default: str | None = None) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"{key} must be a string, got {_short_repr(value)}")
        return value

    def number(self, key: str, default: float) -> float:
        return float(self.numbers(key, default, ()))

    def numbers(self, key: str, default: Any, shape: tuple[int, ...] = (3,)) -> np.ndarray:
        """Numbers of a shape; the default if the entry is missing."""
        return self.array(key, self.content.get(key, default), shape)

    def array(self, key: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
        try:
            array = np.array(value)
        except ValueError:
            array = np.array(None)
        if array.shape != shape or array.dtype.kind not in "if" or np.isnan(array).any():
            size = " x ".join(str(n) for n in shape)
            raise self.error(
                f"{key} must be {size or 'a'} number{'s' if shape else ''}, "
                f"got {_short_repr(value)}"
            )
        return array.astype(float)

    def _at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def world_rotation(configuration: LuaTable) -> np.ndarray:
    """The rotation from the axes of the file to X forward, Y left, Z up, (3, 3)."""
    front = configuration.numbers("axis_front", [1.0, 0.0, 0.0])
    right = configuration.numbers("axis_right", [0.0, -1.0, 0.0])
    up = configuration.numbers("axis_up", [0.0, 0.0, 1.0])
    axes = np.array([front, -right, up])
    if np.abs(axes @ axes.T - np.eye(3)).max() > MAX_ROTATION_ERROR or np.linalg.det(axes) < 0:
        raise configuration.error(
            "axis_front, axis_right and axis_up must be orthonormal and right-handed"
        )
    return axes


def placement_of(entry: LuaTable) -> Transform:
    """``r`` and ``E``; a rotation with few digits is orthonormalized."""
    E = entry.numbers("E", np.eye(3).tolist(), (3, 3))
    error = np.abs(E @ E.T - np.eye(3)).max()
    if 1e-9 < error < MAX_ROTATION_ERROR:
        left, _, right = np.linalg.svd(E)
        E = left @ right
    return Transform(E, entry.numbers("r", [0.0, 0.0, 0.0]))


class _Reader:
    """One pass over the table of a model."""

    def __init__(self, top: LuaTable) -> None:
        self.top = top
        self.notes: list[str] = []
        self.to_world = Transform(world_rotation(top.subtable("configuration")), np.zeros(3))

    def model(self, as_measured: bool) -> Model:
        top = self.top
        notes = top.content.get("notes", [])
        if not _are_strings(notes):
            raise top.error("notes must be a list of strings")
        root = top.content.get("root_joints")
        # An empty Lua table is read as a dictionary.
        if root is not None and root != {} and not _are_strings(root):
            raise top.error("root_joints must be a list of joint names")
        frames = top.items("frames")
        if not frames:
            raise top.error("there are no frames; a model has at least one: frames = { {...} }")
        bodies = [self._body(frame) for frame in frames]
        tree = [self._joint(frame) for frame in frames]
        markers = [marker for frame in frames for marker in self._markers(frame)]
        capsules = [capsule for frame in frames for capsule in self._capsules(frame)]
        sets, contact_points = self._contact_sets()
        points = [self._point(entry, contact_points) for entry in top.items("points")]
        points += [self._local_frame(entry) for entry in top.items("local_frames")]
        unread = [str(key) for key in top.content if key not in _TOP_LEVEL_KEYS]
        if unread:
            self.notes.append(f"not read: {', '.join(unread)}")
        return Model(
            top.text("name", Path(top.path).stem),
            tuple(bodies),
            tuple(tree),
            frames=tuple(point for point in points if isinstance(point, Frame)),
            markers=tuple(markers),
            contacts=tuple(point for point in points if isinstance(point, ContactShape)),
            capsules=tuple(capsules),
            contact_sets=tuple(sets),
            gravity=self.to_world.E @ self._gravity(),
            notes=tuple(dict.fromkeys([*notes, *self.notes])),
            as_measured=as_measured or top.content.get("as_measured") is True,
            root_joints=None if root is None else tuple(root),
        )

    def _gravity(self) -> np.ndarray:
        if "gravity" in self.top.content:
            return self.top.numbers("gravity", None)
        self.notes.append("no gravity in the file: 9.81 m/s2 downwards")
        return self.to_world.E.T @ np.array([0.0, 0.0, -9.81])

    def _body(self, frame: LuaTable) -> Body:
        name = frame.text("name")
        body = frame.subtable("body")
        inertia = np.zeros((3, 3)).tolist()
        if body.content and "inertia" not in body.content:
            # This is the default of RBDL: a file must move in the same way here.
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
        placement = placement_of(frame.subtable("joint_frame"))
        if parent == ROOT:
            placement = in_world(placement, self.to_world)
        kind = joint_type(frame)
        label = frame.text("joint_name", name)
        joint = kind.joint(label, WORLD if parent == ROOT else parent, name, at=placement)
        names = [f"{name}_{coordinate.name.upper()}" for coordinate in kind.coordinates]
        entries = frame.items("coordinates") or [LuaTable({}, "", "")] * len(names)
        if len(entries) != len(names):
            raise frame.error(f"{len(names)} coordinates are needed, got {len(entries)}")
        coordinates = [
            _coordinate(entry, default) for entry, default in zip(entries, names, strict=True)
        ]
        return Joint(
            label,
            joint.parent,
            name,
            frame.text("joint_kind", joint.kind),
            tuple(coordinates),
            joint.axes,
            joint.placement,
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
        """Spheres, capsules and cylinders, which MeshUp draws along y of the visual."""
        body = frame.text("name")
        if isinstance(frame.content.get("visuals"), dict):
            self.notes.append(f"frame {body!r}: visuals with names are not kept")
            return []
        capsules = []
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
            rotate = visual.subtable("rotate")
            angle = np.deg2rad(rotate.number("angle", 0.0))
            axis = unit_axis(rotate.numbers("axis", [1.0, 0.0, 0.0]))
            along = rotation(axis, angle).T @ np.array([0.0, half, 0.0])
            zero = [0.0, 0.0, 0.0]
            center = visual.numbers("translate", zero) + visual.numbers("mesh_center", zero)
            start = visual.numbers("start", (center - along).tolist())
            stop = visual.numbers("stop", (center + along).tolist())
            capsules.append(Capsule(label, body, start, stop, radius))
        return capsules

    def _contact_sets(self) -> tuple[list[ContactSet], set[str]]:
        """Contact sets, and the names of their points."""
        sets, used = [], set()
        groups = self.top.subtable("constraint_sets")
        for name in groups.content:
            points: list[str] = []
            normals: list[np.ndarray] = []
            for entry in groups.items(name):
                if entry.text("constraint_type", "contact") != "contact":
                    label = entry.content.get("name", "a loop")
                    self.notes.append(
                        f"constraint set {name!r}: {label} is not a contact and is not kept"
                    )
                    continue
                point = entry.content.get("point_name", entry.content.get("point"))
                if not isinstance(point, str):
                    raise entry.error(
                        f"point must name one of the points of the file, got {_short_repr(point)}"
                    )
                rows = entry.content.get("normal_sets", [entry.content.get("normal")])
                matrix = entry.array("normals", rows, (len(rows), 3)) @ self.to_world.E.T
                points += [point] * len(matrix)
                normals += list(matrix)
            used.update(points)
            sets.append(ContactSet(str(name), tuple(points), np.array(normals)))
        return sets, used

    def _point(self, entry: LuaTable, contact_points: set[str]) -> Frame | ContactShape:
        name, body = entry.text("name"), entry.text("body")
        placement = Transform(np.eye(3), entry.numbers("point", None))
        if body == ROOT:
            body, placement = WORLD, Transform(np.eye(3), self.to_world.E @ placement.r)
        if name not in contact_points and "kind" not in entry.content:
            return Frame(name, body, placement)
        # Files that version 0.1 wrote have half the size.
        size = entry.numbers("full_size", 2 * entry.numbers("size", [0.0, 0.0, 0.0]))
        return ContactShape(
            name,
            body,
            entry.text("kind", "point"),
            placement.r,
            entry.number("radius", 0.0),
            size,
            entry.numbers("rotation", np.eye(3).tolist(), (3, 3)),
        )

    def _local_frame(self, entry: LuaTable) -> Frame:
        name, body, placement = entry.text("name"), entry.text("body"), placement_of(entry)
        if body == ROOT:
            return Frame(name, WORLD, in_world(placement, self.to_world))
        return Frame(name, body, placement)


def in_world(placement: Transform, to_world: Transform) -> Transform:
    """A placement in the world axes of the file, expressed in rotated world axes."""
    return Transform(placement.E @ to_world.E.T, to_world.E @ placement.r)


def joint_type(frame: LuaTable) -> joints.JointType:
    """The joint type of a frame: given by name, by rows of six numbers, or fixed."""
    value = frame.content.get("joint", [])
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    if isinstance(value, str):
        if value not in NAMED_JOINTS:
            raise frame.error(unknown_name("joint", value, NAMED_JOINTS))
        return NAMED_JOINTS[value]
    if not isinstance(value, (list, dict)) or (isinstance(value, dict) and value):
        raise frame.error(f"joint must be a list of rows or a name, got {_short_repr(value)}")
    axes = []
    for k, row in enumerate(value):
        axes.append(_axis(frame, frame.array(f"joint row {k + 1}", row, (6,)), k))
    custom = joints.custom(*axes) if axes else joints.fixed()
    return joints.JointType(kind_of(axes), custom.axes, custom.coordinates)


def _axis(frame: LuaTable, row: np.ndarray, k: int) -> JointAxis:
    turn, slide = row[:3], row[3:]
    length = float(np.linalg.norm(turn) if turn.any() else np.linalg.norm(slide))
    if abs(length - 1) > MAX_ROTATION_ERROR:
        raise frame.error(f"joint row {k + 1} must have an axis of length one, got {row.tolist()}")
    if not turn.any():
        return joints.slide(slide, k)
    pitch = float(turn @ slide)
    if not np.allclose(slide, pitch * turn, atol=1e-9):
        raise frame.error(
            f"joint row {k + 1} rotates about one axis and translates along another; write two rows"
        )
    return joints.turn(turn, k, pitch=pitch)


def kind_of(axes: list[JointAxis]) -> str:
    """The kind of a joint whose axes have one coordinate each."""
    text = "".join("t" if axis.kind == "turn" else "s" for axis in axes)
    if len(axes) == 1:
        screw = axes[0].pitch != 0
        return "prismatic" if text == "s" else "helical" if screw else "revolute"
    directions = [tuple(np.abs(axis.axis)) for axis in axes]
    main = all(direction in AXES.values() for direction in directions)
    slides = directions[:3] == list(AXES.values())
    if text == "sss" and slides:
        return "translation"
    if text in ("ttt", "sssttt") and main and directions[-3] != directions[-2] != directions[-1]:
        return "euler" if text == "ttt" else "euler_free" if slides else "custom"
    if text == "sst" and main and len(set(directions)) == 3:
        return "planar"
    return {"": "fixed", "tt": "universal"}.get(text, "custom")


def _coordinate(entry: LuaTable, default: str) -> Coordinate:
    numbers = {key: entry.number(key, 0.0) for key in COORDINATE_NUMBERS if key in entry.content}
    locked = entry.content.get("locked") is True
    actuated = entry.content.get("actuated") is not False
    name = entry.text("name", default)
    return Coordinate(name, locked=locked, actuated=actuated, **numbers)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _short_repr(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) < 80 else text[:77] + "..."
