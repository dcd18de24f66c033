"""Joint centers of the legs from skin markers, as Plug-in Gait computes them.

Hips follow from the regression of Davis et al. (1991), knees and ankles from the chord function
(Kadaba et al. 1990): the centers are in the planes of the thigh and shank markers, half a width of
the joint away from its marker, at a right angle to the line to the center above.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.capture.labeling.landmarks import landmark
from homodyn.capture.trial import Trial
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.model.side import Side

HIP_REGRESSION_THETA_RAD = 0.5
"""Angle theta of the hip regression (Davis et al. 1991)."""
HIP_REGRESSION_BETA_RAD = 0.314
"""Angle beta of the hip regression (Davis et al. 1991)."""
MARKER_RADIUS_M = 0.007
"""Radius (m) of markers of 14 mm."""
LEG_MARKER_NAMES = {
    "asis": "ASI",
    "psis": "PSI",
    "thigh": "THI",
    "knee": "KNE",
    "shank": "TIB",
    "ankle": "ANK",
    "heel": "HEE",
    "toe": "TOE",
}
"""Places of the markers of a leg, with their names in Plug-in Gait."""


@record
class LegMeasurements(Record):
    """Measurements of one leg."""

    leg_length: float
    """From ASIS to medial malleolus (m)."""
    knee_width: float
    """Width of the knee (m)."""
    ankle_width: float
    """Width of the ankle (m)."""
    plantar_flexion: float = 0.0
    """Angle (rad) from the line ankle center to toe marker up to the long axis of the foot."""
    foot_rotation: float = 0.0
    """Angle (rad) from the same line to the long axis of the foot, inwards, as Vicon stores it."""


@record
class PlugInGaitSubject(Record):
    """Measurements of a subject for Plug-in Gait."""

    left: LegMeasurements
    right: LegMeasurements
    inter_asis: float | None = None
    """Distance of the ASIS (m); None: that of the markers."""
    marker_radius: float = MARKER_RADIUS_M
    """Radius of the markers (m)."""


def leg_centers(
    markers: Mapping[tuple[str, str], np.ndarray], subject: PlugInGaitSubject
) -> dict[str, np.ndarray]:
    """Joint centers of the legs.

    Args:
        markers: Positions (frames, 3), m, of `leg_markers`.
        subject: Measurements of the subject.

    Returns:
        (frames, 3), m, by name: ``LHJC``, ``LKJC``, ``LAJC``, ``RHJC``, ...; NaN where a marker is
        not seen.
    """
    pelvis, origin = pelvis_frames(markers)
    hips = _hip_offsets(subject, markers)
    centers: dict[str, np.ndarray] = {}
    for side, leg in ((Side.LEFT, subject.left), (Side.RIGHT, subject.right)):
        s = "L" if side is Side.LEFT else "R"
        hip = origin + np.einsum("fij,j->fi", pelvis, hips[side])
        radius = subject.marker_radius
        knee = chord(hip, markers["knee", s], markers["thigh", s], leg.knee_width / 2 + radius)
        ankle = chord(knee, markers["ankle", s], markers["shank", s], leg.ankle_width / 2 + radius)
        centers |= {f"{s}HJC": hip, f"{s}KJC": knee, f"{s}AJC": ankle}
    return centers


def chord(
    proximal: np.ndarray, marker: np.ndarray, wand: np.ndarray, distance: float
) -> np.ndarray:
    """The joint center that sees proximal center and marker at a right angle.

    Args:
        proximal: (frames, 3), m: center of the proximal joint.
        marker: (frames, 3), m: lateral marker of the joint.
        wand: (frames, 3), m: marker that spans the plane; the center is on the other side of the
            line from proximal center to marker.
        distance: Distance of the center from the marker (m).

    Returns:
        (frames, 3), m.
    """
    line = proximal - marker
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    along = line / length
    toward = wand - marker
    across = toward - (toward * along).sum(-1, keepdims=True) * along
    across = across / np.linalg.norm(across, axis=-1, keepdims=True)
    cosine = distance / length
    result: np.ndarray = marker + distance * (cosine * along - np.sqrt(1 - cosine**2) * across)
    return result


def leg_markers(trial: Trial) -> dict[tuple[str, str], np.ndarray]:
    """Positions of the markers of Plug-in Gait on pelvis and legs.

    Args:
        trial: A recording with these markers, in any of their spellings.

    Returns:
        (frames, 3), m, by place and side (``"L"``, ``"R"``); the sacrum has no side.

    Raises:
        CaptureError: A marker is missing.
    """
    found: dict[tuple[str, str], np.ndarray] = {}
    for k, label in enumerate(trial.markers):
        mark = landmark(label)
        key = (mark.place, mark.side.upper())
        if mark.place in LEG_MARKER_NAMES or mark.place == "sacrum":
            found.setdefault(key, trial.positions[:, k])
    needed = [(place, s) for place in LEG_MARKER_NAMES for s in "LR"]
    if ("sacrum", "") in found:
        needed = [key for key in needed if key[0] != "psis"]
    missing = [f"{s}{LEG_MARKER_NAMES[place]}" for place, s in needed if (place, s) not in found]
    if missing:
        raise CaptureError(
            f"{trial.name}: Plug-in Gait needs markers on pelvis and legs; missing: "
            f"{', '.join(missing)}"
        )
    return found


def pelvis_frames(
    markers: Mapping[tuple[str, str], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origin of the pelvis.

    Args:
        markers: Positions (frames, 3), m, of `leg_markers`.

    Returns:
        Axes (frames, 3, 3), columns x forward, y left, z up, and the middle of the ASIS
        (frames, 3), m.
    """
    left, right = markers["asis", "L"], markers["asis", "R"]
    if ("psis", "L") in markers and ("psis", "R") in markers:
        back = (markers["psis", "L"] + markers["psis", "R"]) / 2
    else:
        back = markers["sacrum", ""]
    origin = (left + right) / 2
    y = unit_vectors(left - right)
    x = origin - back
    x = unit_vectors(x - (x * y).sum(-1, keepdims=True) * y)
    return np.stack([x, y, np.cross(x, y)], axis=-1), origin


def _hip_offsets(
    subject: PlugInGaitSubject, markers: Mapping[tuple[str, str], np.ndarray]
) -> dict[Side, np.ndarray]:
    """Hip centers (3,), m, relative to the middle of the ASIS, in the axes of the pelvis."""
    width = subject.inter_asis
    if width is None:
        between = np.linalg.norm(markers["asis", "L"] - markers["asis", "R"], axis=-1)
        width = float(np.nanmean(between))
    c = 0.115 * (subject.left.leg_length + subject.right.leg_length) / 2 - 0.0153
    theta, beta = HIP_REGRESSION_THETA_RAD, HIP_REGRESSION_BETA_RAD
    offsets = {}
    for side, leg, left in ((Side.LEFT, subject.left, 1.0), (Side.RIGHT, subject.right, -1.0)):
        front = 0.1288 * leg.leg_length - 0.04856 + subject.marker_radius
        offsets[side] = np.array(
            [
                c * np.cos(theta) * np.sin(beta) - front * np.cos(beta),
                left * (width / 2 - c * np.sin(theta)),
                -c * np.cos(theta) * np.cos(beta) - front * np.sin(beta),
            ]
        )
    return offsets


def unit_vectors(vector: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) divided by their lengths."""
    result: np.ndarray = vector / np.linalg.norm(vector, axis=-1, keepdims=True)
    return result
