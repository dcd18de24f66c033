"""Writer of LuaModel: a model as a Lua table, or an existing file with some values replaced.

Like Puppeteer, the writer keeps fields that it does not use: ``like`` names the file that the model
was read from. The table of that file is evaluated, values that differ in the model are replaced,
and all other fields stay in their order. Functions, variables, comments and shared tables of the
original are replaced by their values.
"""

from __future__ import annotations

import math
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.files import write_text
from homodyn.model.formats.lua import (
    ROOT,
    LuaTable,
    in_world,
    joint_type,
    model_of,
    world_rotation,
)
from homodyn.model.formats.lua_sandbox import run
from homodyn.model.formats.plain import refuse_parameters, simple_axes
from homodyn.model.joint import (
    COORDINATE_FLAGS,
    COORDINATE_NUMBERS,
    WORLD,
    Coordinate,
    Joint,
    is_identity,
)
from homodyn.model.model import Model
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame
from homodyn.spatial import Transform

_NAMES = {"free": "JointTypeFloatingBase", "spherical": "JointTypeSpherical"}
_ROUND = ("sphere", "capsule", "cylinder")
_IDENTITY = np.eye(3).tolist()
_KEYWORDS = re.compile(
    "and|break|do|else|elseif|end|false|for|function|global|goto|if|in|local|nil|not|or|repeat|"
    "return|then|true|until|while"
)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}

Table = dict[Any, Any]


def write_lua(model: Model, path: str | Path, *, like: str | Path | None = None) -> None:
    """Write a model as LuaModel.

    Args:
        model: The model.
        path: The file.
        like: File that the model was read from; its other fields and their order are kept.

    Raises:
        FormatError: The model has parameters, couplers, or joints that LuaModel cannot express.
    """
    path = Path(path)
    refuse_parameters(model, path)
    if model.couplers:
        raise FormatError(
            f"{model.couplers[0].coordinate!r} follows {model.couplers[0].of!r}; LuaModel has no "
            f"coupled coordinates; save as .toml",
            str(path),
        )
    if like is None:
        table = _Tables(model, path).model()
    else:
        original = run(Path(like)).table
        table = _Update(original, Path(like), model, path).table
    if model.name != table.get("name", path.stem):
        table = {"name": model.name, **{k: v for k, v in table.items() if k != "name"}}
    write_text(path, f"return {lua_text(table)}\n")


class _Tables:
    """The parts of a model as Lua tables, in the world axes of a file."""

    def __init__(self, model: Model, path: Path, to_world: np.ndarray | None = None) -> None:
        self.source, self.path = model, path
        self.to_world = np.eye(3) if to_world is None else to_world

    def model(self) -> Table:
        table: Table = {"gravity": self.gravity()}
        if self.source.as_measured:
            table["as_measured"] = True
        if self.source.root_joints is not None:
            table["root_joints"] = list(self.source.root_joints)
        if self.source.notes:
            table["notes"] = list(self.source.notes)
        table["configuration"] = {
            "axis_front": [1, 0, 0],
            "axis_right": [0, -1, 0],
            "axis_up": [0, 0, 1],
        }
        # All frames are in one list, so that their order is kept.
        key = "points" if all(map(self.is_point, self.source.frames)) else "local_frames"
        frames = [self.attachment(frame, key) for frame in self.source.frames]
        contacts = [self.contact(contact) for contact in self.source.contacts]
        groups = {
            "points": contacts + (frames if key == "points" else []),
            "local_frames": frames if key == "local_frames" else [],
            "constraint_sets": {g.name: self.contact_set(g) for g in self.source.contact_sets},
        }
        table |= {key: group for key, group in groups.items() if group}
        table["frames"] = [self.frame(name) for name in self.source.body_names]
        return table

    def gravity(self) -> list[float]:
        return (self.to_world.T @ self.source.gravity + 0.0).tolist()

    def frame(self, name: str) -> Table:
        body, joint = self.source.body(name), self.joint(name)
        table: Table = {"name": name, "parent": self.body_name(joint.parent)}
        if joint.name != name:
            table["joint_name"] = joint.name
        table["joint_frame"] = self.placement(joint.parent, joint.placement)
        table["body"] = {
            "mass": body.mass,
            "com": body.com.tolist(),
            "inertia": body.inertia.tolist(),
        }
        table |= self.joint_fields(joint)
        markers = {m.name: m.position.tolist() for m in self.source.markers if m.body == name}
        if markers:
            table["markers"] = markers
        visuals = [self.visual(c) for c in self.source.capsules if c.body == name]
        return table | ({"visuals": visuals} if visuals else {})

    def joint(self, body: str) -> Joint:
        return self.source.joints[self.source.body_names.index(body)]

    def joint_fields(self, joint: Joint) -> Table:
        """The axes of a joint, and additional fields where LuaModel has other defaults."""
        if not is_identity(joint.child_placement):
            raise FormatError(
                f"joint {joint.name!r} is not at the origin of body {joint.child!r}, as LuaModel "
                f"requires; save as .toml",
                str(self.path),
            )
        simple_axes(joint, self.path, "LuaModel")
        value: list[Any] = [_NAMES[joint.kind]] if joint.kind in _NAMES else []
        for axis in joint.axes:
            turn = axis.axis if axis.kind == "turn" else np.zeros(3)
            slide = axis.pitch * turn if axis.kind == "turn" else axis.axis
            value.append([*(turn + 0.0).tolist(), *(slide + 0.0).tolist()])
        kind = joint_type(LuaTable({"joint": value}, str(self.path), f"joint {joint.name}"))
        table: Table = {"joint": value}
        if kind.kind != joint.kind:
            table["joint_kind"] = joint.kind
        names = [f"{joint.child}_{coordinate.name.upper()}" for coordinate in kind.coordinates]
        if joint.coordinates != tuple(Coordinate(name) for name in names):
            table["coordinates"] = [
                _coordinate(c, name) for c, name in zip(joint.coordinates, names, strict=True)
            ]
        return table | ({"joint_notes": joint.notes} if joint.notes else {})

    def visual(self, capsule: Capsule) -> Table:
        """A capsule for MeshUp, which draws it along y, with its exact ends."""
        line = capsule.end - capsule.start
        length = float(np.linalg.norm(line))
        table: Table = {
            "name": capsule.name,
            "geometry": {
                "capsule": {"radius": capsule.radius, "length": length + 2 * capsule.radius}
            },
            "translate": ((capsule.start + capsule.end) / 2).tolist(),
            "start": capsule.start.tolist(),
            "stop": capsule.end.tolist(),
        }
        across = np.cross([0.0, 1.0, 0.0], line)
        if across.any():
            angle = math.degrees(math.atan2(float(np.linalg.norm(across)), float(line[1])))
            table["rotate"] = {"axis": (across / np.linalg.norm(across)).tolist(), "angle": angle}
        return table

    def contact(self, contact: ContactShape) -> Table:
        table: Table = {"name": contact.name, "body": self.body_name(contact.body)}
        table["point"] = self.position(contact.body, contact.position)
        table["kind"] = contact.kind
        if contact.radius:
            table["radius"] = contact.radius
        if contact.size.any():
            table["full_size"] = contact.size.tolist()
        if contact.rotation.tolist() != _IDENTITY:
            table["rotation"] = contact.rotation.tolist()
        return table

    def is_point(self, frame: Frame) -> bool:
        """Whether a frame can be written as a point and be read as a frame again."""
        is_contact = any(frame.name in group.points for group in self.source.contact_sets)
        return frame.placement.E.tolist() == _IDENTITY and not is_contact

    def attachment(self, part: Frame | ContactShape, key: str) -> Table:
        """A frame or contact as an entry of ``points`` or ``local_frames``."""
        if isinstance(part, ContactShape):
            return self.contact(part)
        table: Table = {"name": part.name, "body": self.body_name(part.body)}
        if key == "points":
            return table | {"point": self.position(part.body, part.placement.r)}
        return table | self.placement(part.body, part.placement)

    def contact_set(self, group: ContactSet) -> list[Table]:
        rows = zip(group.points, group.normals @ self.to_world + 0.0, strict=True)
        return [{"point": point, "normal": normal.tolist()} for point, normal in rows]

    def body_name(self, body: str) -> str:
        return ROOT if body == WORLD else body

    def position(self, body: str, position: np.ndarray) -> list[float]:
        return ((self.to_world.T @ position if body == WORLD else position) + 0.0).tolist()

    def placement(self, body: str, placement: Transform) -> Table:
        if body == WORLD:
            placement = in_world(placement, Transform(self.to_world.T, np.zeros(3)))
        return {"r": (placement.r + 0.0).tolist(), "E": (placement.E + 0.0).tolist()}


class _Update:
    """The table of a file with the values that differ in a model replaced."""

    def __init__(self, original: Table, like: Path, model: Model, path: Path) -> None:
        to_world = world_rotation(LuaTable(original, str(like), "").subtable("configuration"))
        self.old = model_of(original, like, as_measured=True)
        self.new = model
        self.before, self.after = (_Tables(m, path, to_world) for m in (self.old, model))
        self.table: Table = deepcopy(original)
        self._top()
        self._frames()
        self._points()
        self._contact_sets()

    def _top(self) -> None:
        new, old = self.new, self.old
        if self.before.gravity() != self.after.gravity():
            self.table["gravity"] = self.after.gravity()
        if set(new.notes) - set(old.notes):
            self.table["notes"] = list(new.notes)
        if new.as_measured and self.table.get("as_measured") is not True:
            self.table["as_measured"] = True
        if new.root_joints is None:
            self.table.pop("root_joints", None)
        elif new.root_joints != old.root_joints:
            self.table["root_joints"] = list(new.root_joints)

    def _frames(self) -> None:
        kept = [frame for frame in self.table["frames"] if frame["name"] in self.new.body_names]
        for frame in kept:
            self._frame(frame, self.before.frame(frame["name"]), self.after.frame(frame["name"]))
        known = {frame["name"] for frame in kept}
        added = [self.after.frame(name) for name in self.new.body_names if name not in known]
        self.table["frames"] = [*kept, *added]

    def _frame(self, frame: Table, old: Table, new: Table) -> None:
        for key in ("joint_frame", "body"):
            for name, value in new[key].items():
                if old[key][name] != value:
                    frame[key] = {**(frame.get(key) or {}), name: value}
        for key in ("parent", "joint_name", "joint", "joint_kind", "coordinates", "joint_notes"):
            if old.get(key) != new.get(key):
                frame[key] = new.get(key)
                if key not in new:
                    del frame[key]
        _replace_markers(frame, old.get("markers", {}), new.get("markers", {}))
        if old.get("visuals") != new.get("visuals"):
            others = [v for v in frame.get("visuals", []) if not _is_round(v)]
            frame["visuals"] = [*others, *new.get("visuals", [])]

    def _points(self) -> None:
        """Update points and local frames in their places; new ones come last."""
        olds, news = _attachments(self.old), _attachments(self.new)
        for key in ("points", "local_frames"):
            kept = []
            for entry in self.table.get(key, []):
                new = news.get(entry["name"])
                if new is not None and self._belongs(new, key):
                    before = self.before.attachment(olds.pop(new.name), key)
                    after = self.after.attachment(new, key)
                    changed = {k: v for k, v in after.items() if before.get(k) != v}
                    kept.append({**entry, **changed})
                    del news[new.name]
            if kept or key in self.table:
                self.table[key] = kept
        for new in news.values():
            key = "points" if self._belongs(new, "points") else "local_frames"
            self.table[key] = [*self.table.get(key, []), self.after.attachment(new, key)]

    def _belongs(self, part: Frame | ContactShape, key: str) -> bool:
        """Whether a part is written under a key, ``"points"`` or ``"local_frames"``."""
        if key == "local_frames" or isinstance(part, ContactShape):
            return True
        return self.after.is_point(part)

    def _contact_sets(self) -> None:
        olds = {group.name: group for group in self.old.contact_sets}
        news = {group.name: group for group in self.new.contact_sets}
        if olds == news:
            return
        sets: Table = self.table.get("constraint_sets") or {}
        for name in [name for name in sets if name not in news]:
            del sets[name]
        for name, group in news.items():
            if olds.get(name) != group:
                loops = [row for row in sets.get(name, []) if not _is_contact(row)]
                sets[name] = [*self.after.contact_set(group), *loops]
        self.table["constraint_sets"] = sets


def _attachments(model: Model) -> dict[str, Frame | ContactShape]:
    parts: list[Frame | ContactShape] = [*model.contacts, *model.frames]
    return {part.name: part for part in parts}


def _replace_markers(frame: Table, old: Table, new: Table) -> None:
    markers = frame.get("markers") or {}
    if old == new:
        return
    if isinstance(markers, list):
        updated = [{**m, "point": new[m["name"]]} for m in markers if m["name"] in new]
        names = {m["name"] for m in updated}
        frame["markers"] = updated + [
            {"name": name, "point": point} for name, point in new.items() if name not in names
        ]
        return
    kept = {k: v if old.get(k) == new[k] else new[k] for k, v in markers.items() if k in new}
    frame["markers"] = {**kept, **{k: v for k, v in new.items() if k not in kept}}


def _is_round(visual: Table) -> bool:
    return any(kind in (visual.get("geometry") or {}) for kind in _ROUND)


def _is_contact(row: Table) -> bool:
    return row.get("constraint_type", "contact") == "contact"


def _coordinate(coordinate: Coordinate, name: str) -> Table:
    default = Coordinate(name)
    table: Table = {} if coordinate.name == name else {"name": coordinate.name}
    for key in (*COORDINATE_NUMBERS, *COORDINATE_FLAGS):
        if getattr(coordinate, key) != getattr(default, key):
            table[key] = getattr(coordinate, key)
    return table


def lua_text(value: Any, indent: str = "") -> str:
    """A value as Lua text: lists of numbers on one line, tables with one line per entry."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, str):
        return _quote(value)
    if not isinstance(value, (list, tuple, dict)):
        raise FormatError(f"a Lua file cannot contain {value!r}")
    if not value:
        return "{}"
    inner = indent + "  "
    if isinstance(value, dict):
        items = [f"{_key(key)} = {lua_text(item, inner)}" for key, item in value.items()]
    else:
        items = [lua_text(item, inner) for item in value]
        if not any(isinstance(item, (list, tuple, dict)) for item in value):
            return "{" + ", ".join(items) + "}"
    return "{\n" + "".join(f"{inner}{item},\n" for item in items) + indent + "}"


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "0/0" if math.isnan(value) else "1/0" if value > 0 else "-1/0"
    return repr(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        bare = key.isidentifier() and key.isascii() and not _KEYWORDS.fullmatch(key)
        return key if bare else f"[{_quote(key)}]"
    return f"[{lua_text(key)}]"


def _quote(text: str) -> str:
    characters = [
        _ESCAPES.get(c) or (f"\\{ord(c):03d}" if ord(c) < 32 or ord(c) == 127 else c) for c in text
    ]
    return f'"{"".join(characters)}"'
