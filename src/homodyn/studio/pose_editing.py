"""Poses by hand: coordinates by limb with their ranges, mirror, zero, random, files of poses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from homodyn.catalog.mirror import mirror_map
from homodyn.errors import FormatError, ModelError
from homodyn.model import WORLD, Model
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.studio.result_folders import read_columns

REACH_ANGLE, REACH_SLIDE = np.pi, 3.0
"""Range of sliders for coordinates without limits (rad, m)."""

GROUPS = ("Whole body", "Trunk and head", "Right leg", "Left leg", "Right arm", "Left arm", "Other")

_LEG = re.compile(r"hip|thigh|knee|shank|ankle|foot|toe|leg|tibia|femur|subtalar|mtp|hallux", re.I)
_ARM = re.compile(r"shoulder|clavic|arm|elbow|wrist|hand|finger|radius|ulna|humer|acromi", re.I)
_TRUNK = re.compile(r"trunk|pelvis|lumbar|thorax|neck|head|back|spine|torso|waist|abdom", re.I)


@dataclass(frozen=True)
class CoordinateSlider:
    """One coordinate that a slider can set."""

    name: str
    place: int
    """In q."""
    lower: float
    upper: float
    turns: bool
    """True for an angle (rad), False for a length (m)."""
    group: str

    @property
    def scale(self) -> float:
        """What a slider shows for 1 rad or 1 m: degrees, or metres."""
        return float(np.degrees(1.0)) if self.turns else 1.0


@lru_cache(maxsize=64)
def turning_of(model: Model) -> np.ndarray:
    """(nv,): True for coordinates that are angles."""
    return angular_coordinates(model)


@lru_cache(maxsize=64)
def slots(model: Model) -> tuple[CoordinateSlider, ...]:
    """The coordinates of a model in its order; those inside quaternions have no slider."""
    turns = turning_of(model)
    owner = {c.name: joint for joint in model.joints for c in joint.coordinates}
    made = []
    for k, name in enumerate(model.coordinate_names):
        place = model.position_index[k]
        if place is None:
            continue
        reach = REACH_ANGLE if turns[k] else REACH_SLIDE
        lower, upper = float(model.lower[k]), float(model.upper[k])
        lower = lower if np.isfinite(lower) else -reach
        upper = upper if np.isfinite(upper) else max(reach, lower + reach)
        joint = owner[name]
        group = (
            GROUPS[0]
            if joint.parent == WORLD
            else limb(f"{joint.name} {joint.child}", _side(model, joint.child))
        )
        made.append(CoordinateSlider(name, place, lower, upper, bool(turns[k]), group))
    return tuple(made)


def sliders_by_limb(model: Model) -> dict[str, tuple[CoordinateSlider, ...]]:
    """The coordinates by limb; limbs without any are left out."""
    every = slots(model)
    found = {group: tuple(s for s in every if s.group == group) for group in GROUPS}
    return {group: members for group, members in found.items() if members}


def limb(words: str, side: str) -> str:
    """The limb that a joint belongs to, by the words in its name and the side it is on."""
    if side in ("left", "right"):
        if _LEG.search(words):
            return f"{side.capitalize()} leg"
        if _ARM.search(words):
            return f"{side.capitalize()} arm"
    return GROUPS[1] if _TRUNK.search(words) else GROUPS[-1]


def with_value(q: np.ndarray, slot: CoordinateSlider, value: float) -> np.ndarray:
    """A pose with one coordinate set, in rad or m."""
    changed = np.array(q, dtype=float)
    changed[slot.place] = value
    return changed


def zero_pose(model: Model, q: np.ndarray) -> np.ndarray:
    """All coordinates but those of the whole body at zero, or at the nearest they can be."""
    changed = np.array(q, dtype=float)
    for slot in slots(model):
        if slot.group != GROUPS[0]:
            changed[slot.place] = np.clip(0.0, slot.lower, slot.upper)
    return changed


def random_pose(model: Model, q: np.ndarray, seed: int | np.random.Generator) -> np.ndarray:
    """All coordinates but those of the whole body drawn within their limits."""
    frames_drawn = model.random(seed)
    root = [
        k
        for joint, place in zip(model.joints, model.joint_slots, strict=True)
        if joint.parent == WORLD
        for k in range(place.q.start, place.q.stop)
    ]
    frames_drawn[root] = np.asarray(q)[root]
    return frames_drawn


def mirror_pose(model: Model, q: np.ndarray) -> np.ndarray:
    """Left and right exchanged, in place: whereto the body as a whole looks and stands stays."""
    try:
        exchange = mirror_map(model, tolerance=0.1)
    except ModelError as error:
        raise ModelError(f"model {model.name!r} cannot be mirrored: {error}") from error
    changed = np.array(exchange.position(np.asarray(q, dtype=float)), dtype=float)
    for slot in slots(model):
        if slot.group == GROUPS[0]:
            changed[slot.place] = q[slot.place]
    return changed


def save_pose(model: Model, q: np.ndarray, path: str | Path) -> None:
    """A heading and one row of coordinates, as ``homodyn simulate --pose`` reads them."""
    made = slots(model)
    if len(made) < model.nv:
        raise FormatError("poses of models with quaternions are not written as a table", str(path))
    lines = [",".join(s.name for s in made), ",".join(f"{q[s.place]:.9g}" for s in made)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def load_pose(model: Model, path: str | Path) -> np.ndarray:
    """The pose in a file that `save_pose` wrote; coordinates it does not name are neutral."""
    columns = read_columns(Path(path))
    columns.pop("time", None)
    return np.asarray(model.pose({name: float(rows[0]) for name, rows in columns.items()}))


@lru_cache(maxsize=32)
def _sides(model: Model) -> dict[str, str]:
    from homodyn.report.posed_geometry import geometry_at_pose

    return geometry_at_pose(model, model.neutral()).sides


def _side(model: Model, body: str) -> str:
    return _sides(model)[body]
