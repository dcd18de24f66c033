"""Hip centers by regression as evidence in the estimation of a person."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.hip_regression import pelvis_axes
from homodyn.capture.scaling.marker_kinds import MarkerKind, marker_kinds
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.pelvis_landmarks import (
    PelvisLandmarks,
    expected_hips,
    marker_leg_length,
    pelvis_landmarks,
)
from homodyn.capture.scaling.shared_markers import SharedMarkers
from homodyn.model import Model
from homodyn.model.side import Side, side_of

DIFFERENCE_STEP = 1e-6
"""Step of the finite differences (m, or relative)."""
HIP_CENTER_NAME = re.compile(r"HJC|hip_?(joint|cent)", re.IGNORECASE)
"""Names of joint-center markers of a hip."""


@dataclass(frozen=True, eq=False)
class HipEvidence:
    """Deviation of the hip centers from their regression on the pelvis, per standard deviation."""

    unknowns: PersonParameters
    columns: np.ndarray
    """Indices of the unknowns that the deviation depends on."""
    body: int
    """Index of the pelvis."""
    hips: tuple[tuple[int, np.ndarray, np.ndarray], ...]
    """Index of each hip joint, its generic position (3,) and the expected one (3,), m."""
    landmarks: np.ndarray
    """(markers, 3), m: generic positions of right ASIS, left ASIS and the back of the pelvis."""
    rows: np.ndarray
    """(markers,): indices of these markers."""
    deviation: float
    """Standard deviation along each axis (m)."""

    def residual(self, phi: np.ndarray) -> np.ndarray:
        """Deviations (6,) in standard deviations, for values of the unknowns."""
        person = self.unknowns.person(phi)
        place = self.landmarks * person.scales[self.body] + person.shifts[self.rows]
        origin, axes = pelvis_axes(place[0], place[1], place[2:].mean(0))
        deviations = [
            axes @ (generic * person.scales[self.body] + person.centers[joint] - origin) - expected
            for joint, generic, expected in self.hips
        ]
        return np.concatenate(deviations) / self.deviation

    def jacobian(self, phi: np.ndarray) -> np.ndarray:
        """Derivatives (6, unknowns) of `residual`, by central differences."""
        slopes = np.zeros((3 * len(self.hips), len(phi)))
        for column in self.columns:
            step = np.zeros(len(phi))
            step[column] = DIFFERENCE_STEP
            change = self.residual(phi + step) - self.residual(phi - step)
            slopes[:, column] = change / (2 * DIFFERENCE_STEP)
        return slopes


def hip_evidence(
    model: Model,
    recording: SharedMarkers,
    unknowns: PersonParameters,
    options: SubjectScalingOptions,
) -> HipEvidence | None:
    """Evidence for the hip centers of a model from its pelvis markers.

    Args:
        model: The generic model.
        recording: The recorded markers.
        unknowns: Layout of the parameters of the person.
        options: The regression, the standard deviation of its results (0 omits them), and
            measurements of the legs.

    Returns:
        The evidence; None where the model lacks pelvis landmarks or hips, where no frame shows
        them, and where the laboratory recorded joint-center markers of both hips: a regression on
        the same pelvis markers is no further evidence.

    Raises:
        CaptureError: The regression needs the length of the legs, and neither measurements nor
            markers show it.
    """
    deviation = options.prior.hip_regression
    found = pelvis_landmarks(model, recording.markers)
    if found is None or not found.hips or deviation <= 0:
        return None
    if _recorded_hips(model, recording, found):
        return None
    expected = regression_hips(recording, found, options)
    if not np.isfinite(expected).all():
        return None
    index = {name: k for k, name in enumerate(recording.markers)}
    return _evidence(model, found, index, unknowns, expected, deviation)


def regression_hips(
    recording: SharedMarkers, found: PelvisLandmarks, options: SubjectScalingOptions
) -> np.ndarray:
    """Right hip center (3,) relative to the middle of the ASIS markers, by the chosen regression.

    Raises:
        CaptureError: The regression needs the length of the legs, and nothing shows it.
    """
    index = {name: k for k, name in enumerate(recording.markers)}
    measured = {name: recording.positions[:, index[name]] for name in found.markers}
    method, legs = options.hip_regression, options.plug_in_gait
    length = None
    if method.needs_leg_length:
        length = (
            marker_leg_length(recording.markers, recording.positions)
            if legs is None
            else (legs.left.leg_length + legs.right.leg_length) / 2
        )
    return expected_hips(measured, found, method, length)


def _recorded_hips(model: Model, recording: SharedMarkers, found: PelvisLandmarks) -> bool:
    """Whether joint-center markers of both hips were recorded."""
    seen = np.isfinite(recording.positions).all(-1).any(0)
    shown = {name for name, some in zip(recording.markers, seen, strict=True) if some}
    kinds = marker_kinds(model)
    sides = {
        side_of(marker.name)
        for marker in model.markers
        if marker.name in shown
        and kinds[marker.name] is MarkerKind.JOINT_CENTER
        and HIP_CENTER_NAME.search(marker.name)
    }
    return sides >= {side for _, side in found.hips}


def _evidence(
    model: Model,
    found: PelvisLandmarks,
    index: dict[str, int],
    unknowns: PersonParameters,
    expected: np.ndarray,
    deviation: float,
) -> HipEvidence:
    body = model.body_names.index(found.body)
    rows = np.array([index[name] for name in found.markers])
    place = {marker.name: np.asarray(marker.position) for marker in model.markers}
    names = [joint.name for joint in model.joints]
    mirror = {Side.RIGHT: np.ones(3), Side.LEFT: np.array([1.0, 1.0, -1.0])}
    hips = tuple(
        (joint, np.asarray(model.joints[joint].placement.r), mirror[side] * expected)
        for name, side in found.hips
        for joint in [names.index(name)]
    )
    centers = [3 * joint + k for joint, _, _ in hips for k in range(3)]
    columns = np.concatenate(
        [
            np.flatnonzero(unknowns.tie[3 * body : 3 * body + 3].any(0)),
            unknowns.logarithms + np.flatnonzero(np.isin(unknowns.centers, centers)),
            (unknowns.shape + 3 * rows[:, None] + np.arange(3)).ravel(),
        ]
    )
    landmarks = np.array([place[name] for name in found.markers])
    return HipEvidence(unknowns, columns, body, hips, landmarks, rows, deviation)
