"""Reads scenes from TOML documents and reports all errors of a document at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.foundation.text import unknown_name
from homodyn.foundation.toml import TomlDocument
from homodyn.foundation.toml_table import TomlTable
from homodyn.motion.bspline import ComSpline
from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.motion.scene import MARGIN_KINDS, ComPlanRequest, HeightRamp, Scene, SceneStep
from homodyn.motion.supports import (
    ContactPatch,
    FrictionPyramid,
    Grasp,
    GraspBounds,
    Support,
    sole_contact,
)

SCENE_FORMAT = "homodyn scene 1"
SUPPORT_KINDS = ("sole", "point", "patch", "grasp")
CONTACT_FIELDS = ("friction", "limit", "yaw_limit", "sides", "pyramid", "body")
DEFAULT_FIELDS = {
    "sole": (*CONTACT_FIELDS, "length", "width", "offset"),
    "point": CONTACT_FIELDS,
    "patch": CONTACT_FIELDS,
    "grasp": ("force", "moment", "within", "body"),
}
"""Fields of the table of defaults that each kind of support uses."""


def read_scene(document: TomlDocument, folder: Path) -> Scene:
    """The scene of a document.

    Args:
        document: The document.
        folder: Folder that paths of mesh files are relative to.

    Returns:
        The scene.

    Raises:
        FormatError: The document is not a valid scene.
    """
    top = TomlTable(document)
    form = top.text("format")
    if form and form != SCENE_FORMAT:
        top.report(f"{SCENE_FORMAT!r} is expected, got {form!r}", "format")
    values: dict[str, Any] = {
        "name": top.text("name"),
        "mass": top.optional_number("mass", above=0.0),
        "limit": top.number("limit", np.inf, above=0.0),
        "gravity": top.array("gravity", [0.0, 0.0, -9.81]),
        "notes": top.texts("notes", ()),
    }
    ground = top.table("ground")
    if ground is not None:
        values["ground"] = _ground(ground, folder)
    obstacles = [_obstacle(table, folder) for table in top.tables("obstacle")]
    supports = _supports(top)
    steps = [
        _step(table, number, supports) for number, table in enumerate(top.tables("phase"), start=1)
    ]
    plan, path = top.table("plan"), top.table("path")
    values["plan"] = None if plan is None else _plan(plan)
    values["path"] = None if path is None else _path(path, len(steps))
    top.report_unknown_fields()
    top.raise_errors()
    scene = top.build(
        lambda: Scene(
            obstacles=tuple(each for each in obstacles if each is not None),
            supports={each.name: each for each in supports.values() if each is not None},
            steps=tuple(each for each in steps if each is not None),
            **values,
        )
    )
    top.raise_errors()
    assert scene is not None
    return scene


def _ground(table: TomlTable, folder: Path) -> Obstacle | None:
    if table.content.get("kind") == "none":
        table.take("kind")
        table.report_unknown_fields()
        return None
    return _obstacle(table, folder)


# -- obstacles


def _obstacle(table: TomlTable, folder: Path) -> Obstacle | None:
    name = table.text("name", "")
    if name:
        table.label = f"obstacle {name!r}"
    kind = table.choice("kind", tuple(_OBSTACLE_READERS))
    if kind not in _OBSTACLE_READERS:
        # The fields of an unknown kind cannot be checked.
        table.content = {}
        return None
    common = {
        "name": name,
        "friction": table.optional_number("friction"),
        "surface_velocity": table.array("surface_velocity", [0.0, 0.0, 0.0]),
    }
    return _OBSTACLE_READERS[kind](table, common, folder)


def _pose(table: TomlTable) -> dict[str, Any]:
    """Position and orientation of an obstacle or a grasp."""
    position = table.array("position", [0.0, 0.0, 0.0])
    if table.has("yaw_degrees") and table.has("orientation"):
        table.report("give either yaw_degrees or orientation", "yaw_degrees")
    yaw = np.radians(table.number("yaw_degrees", 0.0))
    c, s = np.cos(yaw), np.sin(yaw)
    turn: Any = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) if yaw else np.eye(3)
    if table.has("orientation"):
        is_quaternion = np.ndim(table.content["orientation"]) == 1
        turn = table.array(
            "orientation",
            shape=(4,) if is_quaternion else (3, 3),
            what="a rotation matrix of 3 rows of 3, or a quaternion of 4",
        )
    else:
        table.take("orientation")
    return {"position": position, "orientation": turn}


def _plane(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    normal, height = table.array("normal", [0.0, 0.0, 1.0]), table.number("height", 0.0)
    return table.build(lambda: PlaneObstacle(normal, height, **common))


def _box(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    size, pose = table.array("size"), _pose(table)
    return table.build(lambda: BoxObstacle(size, **pose, **common))


def _sphere(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    radius, pose = table.number("radius", above=0.0), _pose(table)
    return table.build(lambda: SphereObstacle(radius, **pose, **common))


def _cylinder(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    radius, length = _positive(table, "radius", "length")
    pose = _pose(table)
    return table.build(lambda: CylinderObstacle(radius, length, **pose, **common))


def _capsule(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    radius, length = _positive(table, "radius", "length")
    pose = _pose(table)
    return table.build(lambda: CapsuleObstacle(radius, length, **pose, **common))


def _ring(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    radius, tube = _positive(table, "radius", "tube_radius")
    pose = _pose(table)
    return table.build(lambda: RingObstacle(radius, tube, **pose, **common))


def _positive(table: TomlTable, *names: str) -> list[float]:
    return [table.number(name, above=0.0) for name in names]


def _mesh(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    file = table.text("file", "")
    if file:
        file = str(folder / file)
    none: list[list[float]] = []
    vertices = table.array("vertices", none, shape=(-1, 3)) if table.has("vertices") else none
    faces = table.array("faces", none, shape=(-1, 3)) if table.has("faces") else none
    table.take("vertices")
    table.take("faces")
    scale, pose = table.number("scale", 1.0, above=0.0), _pose(table)
    whole = np.asarray(faces, dtype=float).astype(int)
    if not np.array_equal(whole, faces):
        table.report("vertex numbers are whole numbers", "faces")
    return table.build(
        lambda: MeshObstacle(
            file,
            np.reshape(vertices, (-1, 3)),
            np.reshape(whole, (-1, 3)),
            scale,
            **pose,
            **common,
        )
    )


def _height_field(table: TomlTable, common: dict[str, Any], folder: Path) -> Obstacle | None:
    heights = table.array("heights", shape=(-1, -1), what="rows of")
    spacing = table.array("spacing", [1.0, 1.0], shape=(2,))
    origin = table.array("origin", [0.0, 0.0], shape=(2,))
    return table.build(lambda: HeightField(heights, spacing.tolist(), origin.tolist(), **common))


_OBSTACLE_READERS: dict[str, Callable[[TomlTable, dict[str, Any], Path], Obstacle | None]] = {
    "plane": _plane,
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "ring": _ring,
    "mesh": _mesh,
    "height_field": _height_field,
}


# -- supports


def _supports(top: TomlTable) -> dict[str, Support | None]:
    """Supports by name; None for one that is invalid, the key "" for one without a name."""
    defaults = top.take("defaults", {})
    if not isinstance(defaults, dict):
        top.report(f"a table is expected, got {defaults!r}", "defaults")
        defaults = {}
    known = dict.fromkeys(name for names in DEFAULT_FIELDS.values() for name in names)
    for key in defaults:
        if key not in known:
            top.report(unknown_name("field", key, known), f"defaults.{key}")
    found: dict[str, Support | None] = {}
    for table in top.tables("support"):
        kind = table.content.get("kind", "sole")
        used = DEFAULT_FIELDS.get(str(kind), ())
        table.content = {k: v for k, v in defaults.items() if k in used} | table.content
        name = table.text("name")
        if name:
            table.label = f"support {name!r}"
        support = _support(table, name)
        if name in found and name:
            table.report(f"there are two supports of the name {name!r}", "name")
        found[name] = support
    return found


def _support(table: TomlTable, name: str) -> Support | None:
    kind = table.choice("kind", SUPPORT_KINDS, "sole")
    if kind not in SUPPORT_KINDS:
        table.content = {}
        return None
    return _grasp(table, name) if kind == "grasp" else _contact(table, name, kind)


def _grasp(table: TomlTable, name: str) -> Grasp | None:
    pose = _pose(table)
    force, moment = _bounds(table, "force"), _bounds(table, "moment", 0.0)
    within = table.choice("within", tuple(GraspBounds), GraspBounds.BOX)
    body = table.text("body", "")
    return table.build(
        lambda: Grasp(
            name, pose["position"], force, moment, GraspBounds(within), pose["orientation"], body
        )
    )


def _bounds(table: TomlTable, key: str, default: float | None = None) -> np.ndarray:
    """One or three numbers."""
    if isinstance(table.content.get(key), list):
        return table.array(key)
    return np.full(3, table.number(key, default))


def _contact(table: TomlTable, name: str, kind: str) -> ContactPatch | None:
    fields: dict[str, Any] = {
        "limit": table.number("limit", np.inf, above=0.0),
        "yaw_limit": table.number("yaw_limit", np.inf, above=0.0),
        "sides": table.integer("sides", 4, minimum=3),
        "pyramid": table.choice("pyramid", tuple(FrictionPyramid), FrictionPyramid.OUTER),
        "body": table.text("body", ""),
    }
    friction = table.number("friction")
    normal = table.array("normal", [0.0, 0.0, 1.0])
    if kind == "sole":
        return _sole(table, name, normal, friction, fields)
    if table.has("along"):
        fields["along"] = table.array("along")
    else:
        table.take("along")
    if kind == "patch":
        corners = table.array("corners", shape=(-1, 3))
    else:
        corners = table.array("position")[None]
    return table.build(lambda: ContactPatch(name, corners, normal, friction, **fields))


def _sole(
    table: TomlTable, name: str, normal: np.ndarray, friction: float, fields: dict[str, Any]
) -> ContactPatch | None:
    position = table.array("position")
    size = _positive(table, "length", "width")
    offset = table.number("offset", 0.0)
    yaw = np.radians(table.number("yaw_degrees", 0.0))
    along = table.array("along", [np.cos(yaw), np.sin(yaw), 0.0])
    up = normal / max(float(np.linalg.norm(normal)), 1e-300)
    first = along - (along @ up) * up
    if np.linalg.norm(first) < 1e-9:
        table.report("this is the normal; give the direction of the long side", "along")
        first = np.eye(3)[int(np.abs(up).argmin())]
    first = first / np.linalg.norm(first)
    turn = np.c_[first, np.cross(up, first), up]
    return table.build(
        lambda: replace(
            sole_contact(
                name, position + offset * first, size, friction=friction, orientation=turn
            ),
            **fields,
        )
    )


# -- sequence, plan and path


def _step(table: TomlTable, number: int, supports: dict[str, Support | None]) -> SceneStep | None:
    names = table.texts("supports")
    for name in names:
        # A support without a name may be the one that is meant.
        if name not in supports and "" not in supports:
            table.report(unknown_name("support", name, supports), "supports")
    label = table.text("name", str(number))
    duration = table.optional_number("duration", above=0.0)
    min_duration = table.number("min_duration", 0.0, minimum=0.0)
    return table.build(lambda: SceneStep(label, names, duration, min_duration))


def _plan(table: TomlTable) -> ComPlanRequest | None:
    upper = lower = None
    corridor = table.table("corridor")
    if corridor is not None:
        rise = corridor.number("rise", np.inf)
        upper, lower = _ramp(corridor, "upper", rise), _ramp(corridor, "lower", rise)
        corridor.report_unknown_fields()
    values: dict[str, Any] = {
        "start": table.array("start"),
        "finish": table.array("finish"),
        "degree": table.integer("degree", 5, minimum=1),
        "reach": table.number("reach", np.inf, above=0.0),
        "start_at_rest": table.flag("start_at_rest", True),
        "finish_at_rest": table.flag("finish_at_rest", True),
        "margin": table.choice("margin", MARGIN_KINDS, MARGIN_KINDS[0]),
        "pieces": table.integer("pieces", 1, minimum=1),
        "height_weight": table.optional_number("height_weight"),
    }
    return table.build(lambda: ComPlanRequest(upper=upper, lower=lower, **values))


def _ramp(corridor: TomlTable, key: str, rise: float) -> HeightRamp | None:
    if not corridor.has(key):
        corridor.take(key)
        return None
    level, drop, steepness, middle = corridor.array(key, shape=(4,)).tolist()
    return HeightRamp(level, drop, steepness, middle, rise)


def _path(table: TomlTable, phases: int) -> ComSpline | None:
    degree = table.integer("degree", 5, minimum=1)
    instants = table.array("instants", shape=(-1,))
    points = table.array("points", shape=(-1, 3))
    if table.valid and (len(instants) != phases + 1 or (np.diff(instants) <= 0).any()):
        table.report(
            f"{phases} phases need {phases + 1} instants that increase, got {instants.tolist()}",
            "instants",
        )
    elif table.valid and len(points) != degree + phases:
        table.report(
            f"degree {degree} and {phases} phases need {degree + phases} control points, got "
            f"{len(points)}",
            "points",
        )
    return table.build(lambda: ComSpline(degree, instants, points))
