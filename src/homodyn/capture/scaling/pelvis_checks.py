"""Plausibility of a scaled pelvis against its landmarks: tilt and depth of the hips."""

from __future__ import annotations

import numpy as np

from homodyn.capture.scaling.hip_evidence import regression_hips
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.pelvis_landmarks import (
    hip_positions,
    pelvis_convention_difference,
    pelvis_landmarks,
)
from homodyn.capture.scaling.shared_markers import SharedMarkers
from homodyn.model import Model

MAX_PELVIS_TURN_DEG = 5.0
"""Rotation (deg) of the landmarks against the generic pelvis above which tilt is doubtful."""
MAX_HIP_DEVIATION_M = 0.025
"""Deviation (m) of the hip depth from the regression, two and a half standard deviations."""


def pelvis_warnings(
    generic: Model,
    scaled: Model,
    recording: SharedMarkers,
    options: SubjectScalingOptions | None = None,
) -> list[str]:
    """Reasons to doubt pelvis tilt and hip centers of a scaled model, one sentence each.

    Args:
        generic: The generic model.
        scaled: The scaled model.
        recording: The recorded markers.
        options: The regression of the hip centers; that of Harrington by default.

    Returns:
        The sentences; none where the pelvis has no landmarks.
    """
    landmarks = pelvis_landmarks(generic, recording.markers)
    if landmarks is None:
        return []
    found = []
    turn = float(np.degrees(pelvis_convention_difference(scaled, generic)))
    if abs(turn) > MAX_PELVIS_TURN_DEG:
        found.append(
            f"pelvis tilt differs by {turn:+.1f} deg from what the ASIS and PSIS markers show with "
            "the generic pelvis, and hip flexion by the opposite: check the pelvis markers"
        )
    chosen = SubjectScalingOptions() if options is None else options
    expected = regression_hips(recording, landmarks, chosen)
    if not landmarks.hips or not np.isfinite(expected).all():
        return found
    depth = -float(np.mean([place[1] for place in hip_positions(scaled, landmarks).values()]))
    if abs(depth + expected[1]) > MAX_HIP_DEVIATION_M:
        found.append(
            f"the hips are {1e3 * depth:.0f} mm below the ASIS, {-1e3 * expected[1]:.0f} mm is "
            f"expected by the regression {str(chosen.hip_regression)!r}: check the pelvis markers"
        )
    return found
