"""Joint centers and angles of the legs by Plug-in Gait, the conventional gait model.

Laboratories compare with normative data in these conventions, which differ from the joint zeros of
a fitted model. Centers and axes follow from markers and measured widths in each frame separately:
hips by the regression of Davis et al. (1991), knees and ankles by the chord function (Kadaba et al.
1990). Angles are Cardan angles in the order flexion, adduction, rotation, with the signs of Vicon.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.capture import Trial
from homodyn.capture.plug_in_gait_centers import (
    LEG_MARKER_NAMES,
    LegMeasurements,
    PlugInGaitSubject,
    leg_centers,
    leg_markers,
    pelvis_frames,
    unit_vectors,
)
from homodyn.errors import FormatError
from homodyn.foundation import Record, record
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model.side import Side

MAX_OFFSET_RAD = 1e-6
"""Rotation of a thigh or shank wand (rad) that counts as none."""


@record
class PlugInGaitAngles(Record):
    """Joint angles and centers in the conventions of Plug-in Gait."""

    time: np.ndarray
    """(frames,), s."""
    angles: Mapping[str, np.ndarray]
    """(frames, 3) in degrees by name: ``LHipAngles``, ``RKneeAngles``, ``LPelvisAngles``, ...;
    flexion (pelvis: anterior tilt), adduction (pelvis: upward obliquity), internal rotation."""
    centers: Mapping[str, np.ndarray]
    """(frames, 3), m, in the axes of the trial: ``LHJC``, ``LKJC``, ``LAJC``, ``RHJC``, ..."""

    def headline(self) -> str:
        """Number of angles and frames."""
        return f"PlugInGaitAngles: {len(self.angles)} joints, {len(self.time)} frames"


@guarded_reader("subject file")
def read_subject(path: str | Path) -> PlugInGaitSubject:
    """Read the measurements of a subject from a ``.vsk`` file of Vicon.

    Args:
        path: The file.

    Returns:
        The measurements, with the foot offsets of the static trial.

    Raises:
        FormatError: A measurement is missing, or the file uses rotation offsets of thigh or shank,
            which are not supported.
    """
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise FormatError(f"it cannot be read: {error.strerror}", str(path)) from error
    values: dict[str, float] = {}
    for entry in re.findall(r"<StaticParameter\b[^>]*>", text):
        name = re.search(r'NAME="([^"]*)"', entry)
        value = re.search(r'VALUE="([^"]*)"', entry)
        if name and value:
            values[name.group(1)] = _number(value.group(1), name.group(1), path)
    for side in ("Left", "Right"):
        for offset in ("ThighRotation", "ShankRotation", "TibialTorsion"):
            if abs(values.get(side + offset, 0.0)) > MAX_OFFSET_RAD:
                raise FormatError(
                    f"{side}{offset} is {values[side + offset]:g} rad; only models without "
                    "rotation offsets are supported",
                    str(path),
                )

    def leg(side: str) -> LegMeasurements:
        needed = [side + name for name in ("LegLength", "KneeWidth", "AnkleWidth")]
        missing = [name for name in needed if values.get(name, 0.0) <= 0]
        if missing:
            raise FormatError(f"no value for {', '.join(missing)}", str(path))
        leg_length, knee_width, ankle_width = (1e-3 * values[name] for name in needed)
        return LegMeasurements(
            leg_length,
            knee_width,
            ankle_width,
            plantar_flexion=values.get(f"{side}StaticPlantFlex", 0.0),
            foot_rotation=values.get(f"{side}StaticRotOff", 0.0),
        )

    width = values.get("InterAsisDistance", 0.0)
    return PlugInGaitSubject(leg("Left"), leg("Right"), 1e-3 * width if width > 0 else None)


def _number(text: str, name: str, path: str | Path) -> float:
    try:
        return float(text)
    except ValueError:
        raise FormatError(f"{name} is {text!r}, expected a number", str(path)) from None


def plug_in_gait_angles(trial: Trial, subject: PlugInGaitSubject) -> PlugInGaitAngles:
    """Joint angles of pelvis and legs by the conventions of Plug-in Gait.

    Args:
        trial: A recording with the markers of Plug-in Gait on pelvis and legs, in any of their
            spellings; the sacrum may replace the PSIS.
        subject: Measurements of the subject.

    Returns:
        Angles and joint centers; NaN where a marker is not seen.

    Raises:
        CaptureError: A marker is missing.
    """
    markers = leg_markers(trial)
    pelvis, _ = pelvis_frames(markers)
    centers = leg_centers(markers, subject)
    world = _progression_axes(pelvis)
    angles: dict[str, np.ndarray] = {}
    for side, leg in ((Side.LEFT, subject.left), (Side.RIGHT, subject.right)):
        s = "L" if side is Side.LEFT else "R"
        left = 1.0 if side is Side.LEFT else -1.0
        at = {place: markers[place, s] for place in LEG_MARKER_NAMES if place != "psis"}
        hip, knee, ankle = (centers[s + name] for name in ("HJC", "KJC", "AJC"))
        thigh = _axes(hip - knee, left * (at["knee"] - knee))
        shank = _axes(knee - ankle, left * (at["ankle"] - ankle))
        foot = _foot(at["toe"] - ankle, shank, leg, left)
        angles[f"{s}PelvisAngles"] = _clinical(world, pelvis, (1.0, left, -left))
        angles[f"{s}HipAngles"] = _clinical(pelvis, thigh, (-1.0, -left, -left))
        angles[f"{s}KneeAngles"] = _clinical(thigh, shank, (1.0, -left, -left))
        angles[f"{s}AnkleAngles"] = _ankle_angles(shank, foot, left)
    return PlugInGaitAngles(trial.time, angles, centers)


def with_static_foot(
    subject: PlugInGaitSubject, static: Trial, *, flat: bool = True
) -> PlugInGaitSubject:
    """The subject with the foot offsets that a static trial shows.

    Args:
        subject: Measurements of the subject.
        static: A trial in which the subject stands.
        flat: Whether the feet are flat: the long axis of the foot is then horizontal, otherwise
            it is the line from heel to toe marker.

    Returns:
        The subject with `LegMeasurements.plantar_flexion` and ``foot_rotation`` of both feet.

    Raises:
        CaptureError: A marker is missing.
    """
    plain = {
        side: replace(getattr(subject, side), plantar_flexion=0.0, foot_rotation=0.0)
        for side in ("left", "right")
    }
    found = plug_in_gait_angles(static, replace(subject, **plain))
    markers = leg_markers(static)
    legs = {}
    for side, s in (("left", "L"), ("right", "R")):
        left = 1.0 if s == "L" else -1.0
        toe, heel = markers["toe", s], markers["heel", s].copy()
        if flat:
            heel[:, 2] = toe[:, 2]
        shank = _axes(
            found.centers[f"{s}KJC"] - found.centers[f"{s}AJC"],
            left * (markers["ankle", s] - found.centers[f"{s}AJC"]),
        )
        foot = _foot(toe - found.centers[f"{s}AJC"], shank, plain[side], left)
        axis = np.einsum("fji,fj->fi", foot, toe - heel)
        up = np.arctan2(axis[:, 2], axis[:, 0])
        across = np.arctan2(axis[:, 1], np.hypot(axis[:, 0], axis[:, 2]))
        legs[side] = replace(
            plain[side],
            plantar_flexion=float(np.nanmean(up)),
            foot_rotation=float(-left * np.nanmean(across)),
        )
    return replace(subject, **legs)


def _foot_axes(line: np.ndarray, shank: np.ndarray) -> np.ndarray:
    """Axes (frames, 3, 3) of a foot: x along a line, y as near as possible to that of the shank."""
    x = unit_vectors(line)
    y = shank[..., 1]
    y = unit_vectors(y - (y * x).sum(-1, keepdims=True) * x)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _foot(line: np.ndarray, shank: np.ndarray, leg: LegMeasurements, left: float) -> np.ndarray:
    """Axes of a foot along its long axis, from the line ankle center to toe marker."""
    up, across = leg.plantar_flexion, -left * leg.foot_rotation
    direction = np.array([np.cos(up) * np.cos(across), np.sin(across), np.sin(up) * np.cos(across)])
    return _foot_axes(_foot_axes(line, shank) @ direction, shank)


def _ankle_angles(shank: np.ndarray, foot: np.ndarray, left: float) -> np.ndarray:
    """Dorsiflexion, zero, and internal rotation (frames, 3), deg; one line shows no inversion."""
    axis = np.einsum("fji,fj->fi", shank, foot[..., 0])
    flexion = np.arctan2(axis[:, 2], axis[:, 0])
    rotation = -left * np.arcsin(np.clip(axis[:, 1], -1.0, 1.0))
    return np.rad2deg(np.stack([flexion, 0.0 * flexion, rotation], axis=-1))


def _axes(up: np.ndarray, to_left: np.ndarray) -> np.ndarray:
    """Axes (frames, 3, 3), columns x forward, y left, z up, of a segment."""
    z = unit_vectors(up)
    y = unit_vectors(to_left - (to_left * z).sum(-1, keepdims=True) * z)
    return np.stack([np.cross(y, z), y, z], axis=-1)


def _progression_axes(pelvis: np.ndarray) -> np.ndarray:
    """World axes turned about the vertical so that x is the axis that the pelvis faces."""
    forward = np.nanmean(pelvis[..., :2, 0], axis=0)
    axis = int(np.argmax(np.abs(forward)))
    x = np.zeros(3)
    x[axis] = np.sign(forward[axis])
    z = np.array([0.0, 0.0, 1.0])
    return np.stack([x, np.cross(z, x), z], axis=-1)[None]


def _clinical(
    proximal: np.ndarray, distal: np.ndarray, signs: tuple[float, float, float]
) -> np.ndarray:
    """Cardan angles (frames, 3), deg, about y, then x, then z, with clinical signs."""
    R = np.swapaxes(proximal, -1, -2) @ distal
    about_x = np.arcsin(np.clip(-R[..., 1, 2], -1.0, 1.0))
    about_y = np.arctan2(R[..., 0, 2], R[..., 2, 2])
    about_z = np.arctan2(R[..., 1, 0], R[..., 1, 1])
    result: np.ndarray = np.rad2deg(np.stack([about_y, about_x, about_z], axis=-1)) * signs
    return result
