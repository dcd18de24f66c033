"""The content of scene files: scenes as plain data for TOML, without loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.motion.bspline import ComSpline
from homodyn.motion.obstacles import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    PlaneObstacle,
    PosedObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.motion.scene import ComPlanRequest, HeightRamp, Scene, SceneStep
from homodyn.motion.scene_reader import SCENE_FORMAT
from homodyn.motion.supports import ContactPatch, FrictionPyramid, Grasp, GraspBounds, Support

_EARTH_GRAVITY = [0.0, 0.0, -9.81]


def scene_content(scene: Scene, folder: Path) -> dict[str, Any]:
    """Tables and values of the file of a scene; fields with default values are left out.

    Args:
        scene: The scene.
        folder: Folder of the file; mesh files inside it are written relative to it.

    Returns:
        Numbers, texts, lists and dictionaries.

    Raises:
        FormatError: An obstacle is of a kind that scene files do not have.
    """
    return {
        "format": SCENE_FORMAT,
        "name": scene.name,
        **_unless(None, mass=scene.mass),
        **_unless(np.inf, limit=scene.limit),
        **_unless(_EARTH_GRAVITY, gravity=scene.gravity.tolist()),
        **_unless([], notes=list(scene.notes)),
        "ground": {"kind": "none"} if scene.ground is None else _obstacle(scene.ground, folder),
        **_unless([], obstacle=[_obstacle(each, folder) for each in scene.obstacles]),
        **_unless([], support=[_support(each) for each in scene.supports.values()]),
        **_unless([], phase=[_step(each) for each in scene.steps]),
        **({} if scene.plan is None else {"plan": _plan(scene.plan)}),
        **({} if scene.path is None else {"path": _path(scene.path)}),
    }


def _unless(default: Any, /, **entry: Any) -> dict[str, Any]:
    """The entry, unless it has the default value."""
    return {key: value for key, value in entry.items() if value != default}


def _list(values: Any) -> Any:
    return np.asarray(values).tolist()


def _obstacle(obstacle: Obstacle, folder: Path) -> dict[str, Any]:
    table = {
        **_unless("", name=obstacle.name),
        "kind": obstacle.kind,
        **_unless(None, friction=obstacle.friction),
        **_unless([0.0, 0.0, 0.0], surface_velocity=_list(obstacle.surface_velocity)),
    }
    if isinstance(obstacle, PosedObstacle):
        table |= _pose(obstacle.position, obstacle.orientation)
    match obstacle:
        case PlaneObstacle():
            return table | {"normal": _list(obstacle.normal), "height": obstacle.height}
        case BoxObstacle():
            return table | {"size": _list(obstacle.size)}
        case SphereObstacle():
            return table | {"radius": obstacle.radius}
        case CylinderObstacle() | CapsuleObstacle():
            return table | {"radius": obstacle.radius, "length": obstacle.length}
        case RingObstacle():
            return table | {"radius": obstacle.radius, "tube_radius": obstacle.tube_radius}
        case MeshObstacle():
            return table | _mesh(obstacle, folder)
        case HeightField():
            return table | {
                "heights": _list(obstacle.heights),
                "spacing": list(obstacle.spacing),
                "origin": list(obstacle.origin),
            }
        case _:
            raise FormatError(f"a {type(obstacle).__name__} cannot be written to a scene file")


def _pose(position: Any, orientation: Any) -> dict[str, Any]:
    identity = np.eye(3).tolist()
    return {"position": _list(position), **_unless(identity, orientation=_list(orientation))}


def _mesh(obstacle: MeshObstacle, folder: Path) -> dict[str, Any]:
    scale = _unless(1.0, scale=obstacle.scale)
    if not obstacle.file:
        return {"vertices": _list(obstacle.vertices), "faces": _list(obstacle.faces), **scale}
    file = Path(obstacle.file)
    inside = file.is_relative_to(folder)
    return {"file": (file.relative_to(folder) if inside else file.absolute()).as_posix(), **scale}


def _support(support: Support) -> dict[str, Any]:
    if isinstance(support, Grasp):
        return {
            "name": support.name,
            "kind": "grasp",
            **_pose(support.position, support.orientation),
            "force": _list(support.force),
            **_unless([0.0, 0.0, 0.0], moment=_list(support.moment)),
            **_unless(GraspBounds.BOX.value, within=support.within.value),
            **_unless("", body=support.body),
        }
    return _patch(support)


def _patch(patch: ContactPatch) -> dict[str, Any]:
    return {
        "name": patch.name,
        "kind": "patch",
        "corners": _list(patch.corners),
        "normal": _list(patch.normal),
        "friction": float(patch.friction),
        **({} if patch.along is None else {"along": _list(patch.along)}),
        **_unless(np.inf, limit=float(patch.limit)),
        **_unless(4, sides=patch.sides),
        **_unless(FrictionPyramid.OUTER.value, pyramid=patch.pyramid.value),
        **_unless(np.inf, yaw_limit=float(patch.yaw_limit)),
        **_unless("", body=patch.body),
    }


def _step(step: SceneStep) -> dict[str, Any]:
    return {
        "name": step.name,
        "supports": list(step.supports),
        **_unless(None, duration=step.duration),
        **_unless(0.0, min_duration=step.min_duration),
    }


def _plan(plan: ComPlanRequest) -> dict[str, Any]:
    corridor: dict[str, Any] = {
        key: _ramp(ramp)
        for key, ramp in (("upper", plan.upper), ("lower", plan.lower))
        if ramp is not None
    }
    rises = [ramp.rise for ramp in (plan.upper, plan.lower) if ramp is not None]
    if rises and np.isfinite(rises[0]):
        corridor["rise"] = rises[0]
    return {
        "start": _list(plan.start),
        "finish": _list(plan.finish),
        "degree": plan.degree,
        **_unless(np.inf, reach=plan.reach),
        **_unless({}, corridor=corridor),
        **_unless(True, start_at_rest=plan.start_at_rest, finish_at_rest=plan.finish_at_rest),
        **_unless("wrench", margin=plan.margin),
        **_unless(1, pieces=plan.pieces),
        **_unless(None, height_weight=plan.height_weight),
    }


def _ramp(ramp: HeightRamp) -> list[float]:
    return [ramp.level, ramp.drop, ramp.steepness, ramp.middle]


def _path(path: ComSpline) -> dict[str, Any]:
    return {"degree": path.degree, "instants": _list(path.instants), "points": _list(path.points)}
