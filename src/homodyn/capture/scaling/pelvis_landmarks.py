"""Landmarks of the pelvis of a model, and what they say about hips and pelvis tilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.labeling.landmarks import landmark
from homodyn.capture.scaling.hip_regression import HipRegression, hip_from_markers, pelvis_axes
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.model.side import Side, side_of

LEG_LENGTH_PERCENTILE = 90.0
"""Percentile over the frames that counts as the length of a leg."""


@dataclass(frozen=True)
class PelvisLandmarks:
    """Names of the markers and joints of the pelvis of a model."""

    asis_right: str
    asis_left: str
    psis: tuple[str, ...]
    """The markers whose middle is the back of the pelvis: both PSIS, or a sacrum marker."""
    body: str
    """The body of the markers."""
    hips: tuple[tuple[str, Side], ...]
    """Joints of the hips, with their side."""

    @property
    def markers(self) -> tuple[str, ...]:
        """All markers."""
        return (self.asis_right, self.asis_left, *self.psis)


def pelvis_landmarks(model: Model, markers: Sequence[str] | None = None) -> PelvisLandmarks | None:
    """The landmarks of the pelvis of a model.

    Args:
        model: The model.
        markers: Names of the markers to consider; all by default.

    Returns:
        The landmarks; None if an ASIS or the back of the pelvis has no marker, or if the markers
        are on different bodies.
    """
    names = {m.name for m in model.markers} if markers is None else set(markers)
    places = {
        (mark.place, mark.side): marker
        for marker in model.markers
        if marker.name in names and (mark := landmark(marker.name))
    }
    asis = [places.get(("asis", side)) for side in "rl"]
    psis = [places.get(("psis", side)) for side in "rl"]
    if None in psis:
        psis = [places.get(("sacrum", ""))]
    found = [marker for marker in (*asis, *psis) if marker is not None]
    if len(found) < len(asis) + len(psis) or len({marker.body for marker in found}) > 1:
        return None
    body = found[0].body
    hips = [
        (joint.name, side)
        for joint in model.joints
        if joint.parent == body and (side := side_of(joint.child)) is not None
    ]
    return PelvisLandmarks(
        found[0].name,
        found[1].name,
        tuple(marker.name for marker in found[2:]),
        body,
        tuple(hips) if len(hips) == 2 else (),
    )


def hip_positions(model: Model, landmarks: PelvisLandmarks) -> dict[Side, np.ndarray]:
    """Hip centers relative to the middle of the ASIS markers, in the axes of the pelvis.

    Args:
        model: The model.
        landmarks: Its landmarks.

    Returns:
        (3,), m, by side: x forward, y up, z right.
    """
    origin, axes = _model_axes(model, landmarks)
    return {side: axes @ (model.joint(name).placement.r - origin) for name, side in landmarks.hips}


def expected_hips(
    positions: dict[str, np.ndarray],
    landmarks: PelvisLandmarks,
    method: HipRegression = HipRegression.HARRINGTON,
    leg_length: float | None = None,
) -> np.ndarray:
    """Hip centers that the distances of measured pelvis markers predict.

    Args:
        positions: (frames, 3), m, of each marker; NaN where not seen.
        landmarks: The landmarks.
        method: The regression.
        leg_length: ASIS to medial malleolus (m), for regressions on it.

    Returns:
        (3,), m: the right hip as in `hip_from_markers`; the left one is its mirror image. NaN if
        no frame shows all markers.

    Raises:
        CaptureError: The regression needs a leg length, and none is given.
    """
    right, left = positions[landmarks.asis_right], positions[landmarks.asis_left]
    back = np.mean([positions[name] for name in landmarks.psis], axis=0)
    width = np.linalg.norm(right - left, axis=-1)
    depth = np.linalg.norm((right + left) / 2 - back, axis=-1)
    if not np.isfinite(width + depth).any():
        return np.full(3, np.nan)
    return hip_from_markers(
        float(np.nanmedian(width)), float(np.nanmedian(depth)), leg_length, method
    )


def marker_leg_length(
    names: Sequence[str], positions: np.ndarray, percentile: float = LEG_LENGTH_PERCENTILE
) -> float | None:
    """Leg length by markers: from the ASIS over the knee to the ankle, the medial one if recorded.

    Args:
        names: Names of the markers.
        positions: (frames, markers, 3), m; NaN where not seen.
        percentile: Percentile over the frames: a bent hip shortens the distance to the knee.

    Returns:
        The mean of both legs (m); None where a leg lacks markers.
    """
    places = [landmark(name) for name in names]
    rows = {(place.place, place.side): k for k, place in enumerate(places)}
    lengths = []
    for side in "rl":
        asis, knee = rows.get(("asis", side)), rows.get(("knee", side))
        ankle = rows.get(("ankle medial", side), rows.get(("ankle", side)))
        if asis is None or knee is None or ankle is None:
            return None
        thigh = np.linalg.norm(positions[:, asis] - positions[:, knee], axis=-1)
        shank = np.linalg.norm(positions[:, knee] - positions[:, ankle], axis=-1)
        length = (thigh + shank)[np.isfinite(thigh + shank)]
        if not len(length):
            return None
        lengths.append(np.percentile(length, percentile))
    return float(np.mean(lengths))


def pelvis_convention_difference(model: Model, other: Model) -> float:
    """Pelvis tilt of one model minus that of another for the same pelvis (rad).

    Models place the axes of the pelvis differently relative to its landmarks. The angle between
    the line from PSIS to ASIS and the axes of the pelvis body differs by this convention, and with
    it pelvis tilt; hip flexion differs by the opposite amount. Subtract the result from a
    difference of tilts (positive where the front of the pelvis is higher, as in OpenSim), and add
    it to one of hip flexions, before comparing two models.

    Args:
        model: The model whose tilt is compared.
        other: The model that it is compared with, with the same axes: x forward, y or z up.

    Returns:
        The difference of tilts (rad).

    Raises:
        CaptureError: One of the models lacks pelvis landmarks.
    """
    return pelvis_line_elevation(other) - pelvis_line_elevation(model)


def pelvis_line_elevation(model: Model) -> float:
    """Elevation of the line from PSIS to ASIS in the axes of the pelvis body (rad).

    Args:
        model: The model, with x forward and y or z up.

    Returns:
        The angle, positive where the ASIS are higher.

    Raises:
        CaptureError: The model lacks pelvis landmarks.
    """
    landmarks = pelvis_landmarks(model)
    if landmarks is None:
        raise CaptureError(
            f"model {model.name!r} lacks markers on both ASIS and on the PSIS or the sacrum, on "
            "one body, so its pelvis convention is not known"
        )
    _, axes = _model_axes(model, landmarks)
    up = -np.asarray(model.gravity, dtype=float)
    vertical = int(np.argmax(np.abs(up)))
    return float(np.arctan2(axes[0][vertical], axes[0][0]))


def _model_axes(model: Model, landmarks: PelvisLandmarks) -> tuple[np.ndarray, np.ndarray]:
    place = {marker.name: np.asarray(marker.position) for marker in model.markers}
    back = np.mean([place[name] for name in landmarks.psis], axis=0)
    return pelvis_axes(place[landmarks.asis_right], place[landmarks.asis_left], back)
