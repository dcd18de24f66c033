"""Poses by hand: coordinates by limb with their ranges; mirror, zero, random; pose files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from homodyn.catalog.mirror import mirror_map
from homodyn.errors import FormatError, HomodynError, ModelError
from homodyn.model import WORLD, Model
from homodyn.motion.clinical import coordinate_readings, resolve_values
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.report.posed_geometry import body_sides
from homodyn.studio.result_folders import read_columns

MAX_ANGLE_RAD, MAX_SLIDE_M = np.pi, 3.0
"""Ranges of sliders for coordinates without limits (rad, m)."""

GROUPS = ("Whole body", "Trunk and head", "Right leg", "Left leg", "Right arm", "Left arm", "Other")

_LEG = re.compile(r"hip|thigh|knee|shank|ankle|foot|toe|leg|tibia|femur|subtalar|mtp|hallux", re.I)
_ARM = re.compile(r"shoulder|clavic|arm|elbow|wrist|hand|finger|radius|ulna|humer|acromi", re.I)
_TRUNK = re.compile(r"trunk|pelvis|lumbar|thorax|neck|head|back|spine|torso|waist|abdom", re.I)


@dataclass(frozen=True)
class CoordinateSlider:
    """A slider of one coordinate, which shows its clinical value: ``sign * q``."""

    name: str
    """Name of the coordinate in the model."""
    title: str
    """Clinical name, such as ``"Right knee flexion"``; the name where there is none."""
    index: int
    """Index in q."""
    lower: float
    upper: float
    """Limits of the coordinate (rad or m), with the sign of the model."""
    is_angle: bool
    """True for an angle (rad), False for a length (m)."""
    sign: float
    """-1 where the coordinate counts the clinical direction negative."""
    group: str

    @property
    def scale(self) -> float:
        """Factor from q to the value shown: degrees or meters in the clinical direction."""
        return self.sign * (float(np.degrees(1.0)) if self.is_angle else 1.0)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value shown (deg or m)."""
        low, high = sorted((self.lower * self.scale, self.upper * self.scale))
        return low, high


@lru_cache(maxsize=64)
def angle_mask(model: Model) -> np.ndarray:
    """(nv,): True for coordinates that are angles."""
    return angular_coordinates(model)


@lru_cache(maxsize=64)
def coordinate_sliders(model: Model) -> tuple[CoordinateSlider, ...]:
    """Sliders of the coordinates in the order of the model; quaternions have none."""
    is_angle = angle_mask(model)
    joints = {c.name: joint for joint in model.joints for c in joint.coordinates}
    readings, sides = coordinate_readings(model), body_sides(model)
    sliders = []
    for k, name in enumerate(model.coordinate_names):
        index = model.position_index[k]
        if index is None:
            continue
        default = MAX_ANGLE_RAD if is_angle[k] else MAX_SLIDE_M
        lower, upper = float(model.lower[k]), float(model.upper[k])
        lower = lower if np.isfinite(lower) else -default
        upper = upper if np.isfinite(upper) else max(default, lower + default)
        joint = joints[name]
        group = (
            GROUPS[0]
            if joint.parent == WORLD
            else limb(f"{joint.name} {joint.child}", sides[joint.child])
        )
        title, sign = readings[name].title, readings[name].sign
        angle = bool(is_angle[k])
        sliders.append(CoordinateSlider(name, title, index, lower, upper, angle, sign, group))
    return tuple(sliders)


def sliders_by_limb(model: Model) -> dict[str, tuple[CoordinateSlider, ...]]:
    """The sliders by limb; limbs without sliders are left out."""
    every = coordinate_sliders(model)
    found = {group: tuple(s for s in every if s.group == group) for group in GROUPS}
    return {group: members for group, members in found.items() if members}


def limb(names: str, side: str) -> str:
    """The limb of a joint, from the names of joint and body and from the side."""
    if side in ("left", "right"):
        if _LEG.search(names):
            return f"{side.capitalize()} leg"
        if _ARM.search(names):
            return f"{side.capitalize()} arm"
    return GROUPS[1] if _TRUNK.search(names) else GROUPS[-1]


def with_value(q: np.ndarray, slider: CoordinateSlider, value: float) -> np.ndarray:
    """A pose (nq,) with one coordinate set (rad or m, with the sign of the model)."""
    changed = np.array(q, dtype=float)
    changed[slider.index] = value
    return changed


def zero_pose(model: Model, q: np.ndarray) -> np.ndarray:
    """The pose with all coordinates but the root at zero, or at the nearest limit."""
    changed = np.array(q, dtype=float)
    for slider in coordinate_sliders(model):
        if slider.group != GROUPS[0]:
            changed[slider.index] = np.clip(0.0, slider.lower, slider.upper)
    return changed


def random_pose(model: Model, q: np.ndarray, seed: int | np.random.Generator) -> np.ndarray:
    """The pose with all coordinates but the root drawn at random within their limits."""
    changed = model.random(seed)
    root = [
        k
        for joint, slot in zip(model.joints, model.joint_slots, strict=True)
        if joint.parent == WORLD
        for k in range(slot.q.start, slot.q.stop)
    ]
    changed[root] = np.asarray(q)[root]
    return changed


def mirror_pose(model: Model, q: np.ndarray) -> np.ndarray:
    """The pose with left and right exchanged; the position and heading of the body stay."""
    try:
        mirror = mirror_map(model, tolerance=0.1)
    except ModelError as error:
        raise ModelError(f"model {model.name!r} cannot be mirrored: {error}") from error
    changed = np.array(mirror.position(np.asarray(q, dtype=float)), dtype=float)
    for slider in coordinate_sliders(model):
        if slider.group == GROUPS[0]:
            changed[slider.index] = q[slider.index]
    return changed


def save_pose(model: Model, q: np.ndarray, path: str | Path) -> None:
    """Write a pose as a header and one row of coordinates, as ``homodyn simulate --pose`` reads."""
    sliders = coordinate_sliders(model)
    if len(sliders) < model.nv:
        raise FormatError("poses of models with quaternions cannot be written as CSV", str(path))
    lines = [",".join(s.name for s in sliders), ",".join(f"{q[s.index]:.9g}" for s in sliders)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def load_pose(model: Model, path: str | Path) -> np.ndarray:
    """The pose in a CSV file (rad, m); coordinates that it does not name are neutral.

    Columns are named by coordinate, by clinical name (``right knee flexion``) or by OpenSim name
    (``knee_angle_r``); clinical and OpenSim columns have the clinical sign.
    """
    columns = read_columns(Path(path))
    columns.pop("time", None)
    try:
        values = resolve_values(model, {name: float(rows[0]) for name, rows in columns.items()})
    except HomodynError as error:
        raise FormatError(str(error), str(path)) from error
    return np.asarray(model.pose(values))
