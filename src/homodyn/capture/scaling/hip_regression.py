"""Hip joint centers from the dimensions of the pelvis, by published regressions.

All functions return the right hip center relative to the middle of the two anterior superior iliac
spines (ASIS), in the axes of the pelvis: x forward along the line from the middle of the posterior
spines (PSIS), y up, z to the right. The left hip is the mirror image.

The regressions hold for points on the bones. Markers stand off the bones by skin and by their
radius: computed tomography of 67 adults shows 9.7 mm of soft tissue at the ASIS and 19.6 mm at the
PSIS (Mantovani et al. 2016). `hip_from_markers` corrects for both.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.errors import CaptureError

ASIS_SKIN_M = 0.0097
"""Soft tissue in front of the ASIS (m), Mantovani et al. 2016."""
PSIS_SKIN_M = 0.0196
"""Soft tissue behind the PSIS (m), Mantovani et al. 2016."""
MARKER_RADIUS_M = 0.007
"""Radius (m) of the markers of 14 mm that laboratories use most."""


class HipRegression(StrEnum):
    """A published regression of hip centers on dimensions of the pelvis or the leg."""

    HARRINGTON = "harrington"
    """Harrington et al. (2007) from width and depth of the pelvis."""
    HARRINGTON_LEG = "harrington-leg"
    """Harrington et al. (2007) from width and depth of the pelvis and leg length."""
    HARA = "hara"
    """Hara et al. (2016) from leg length."""
    BELL = "bell"
    """Bell et al. (1990) from the width of the pelvis."""

    @property
    def needs_leg_length(self) -> bool:
        """Whether leg length is one of its predictors."""
        return self in (HipRegression.HARRINGTON_LEG, HipRegression.HARA)


def harrington(
    pelvis_width: float, pelvis_depth: float, leg_length: float | None = None
) -> np.ndarray:
    """Right hip center by Harrington et al. (2007), from magnetic resonance imaging.

    Args:
        pelvis_width: Distance of the ASIS (m).
        pelvis_depth: Distance from the middle of the PSIS to that of the ASIS (m).
        leg_length: ASIS to medial malleolus (m); without it the equations of one predictor hold.

    Returns:
        (3,), m. Errors on bony landmarks are 12.3 (SD 5.9) mm in space (Mantovani et al. 2016).
    """
    x = -0.24 * pelvis_depth - 0.0099
    if leg_length is None:
        return np.array([x, -0.30 * pelvis_width - 0.0109, 0.33 * pelvis_width + 0.0073])
    return np.array(
        [
            x,
            -0.16 * pelvis_width - 0.04 * leg_length - 0.0071,
            0.28 * pelvis_depth + 0.16 * pelvis_width + 0.0079,
        ]
    )


def hara(leg_length: float) -> np.ndarray:
    """Right hip center by Hara et al. (2016), from computed tomography of 157 people.

    Args:
        leg_length: ASIS to medial malleolus (m).

    Returns:
        (3,), m.
    """
    return np.array(
        [0.011 - 0.063 * leg_length, -0.009 - 0.078 * leg_length, 0.008 + 0.086 * leg_length]
    )


def bell(pelvis_width: float) -> np.ndarray:
    """Right hip center by Bell et al. (1990), from radiographs.

    Args:
        pelvis_width: Distance of the ASIS (m).

    Returns:
        (3,), m.
    """
    return pelvis_width * np.array([-0.19, -0.30, 0.36])


def hip_from_markers(
    pelvis_width: float,
    pelvis_depth: float,
    leg_length: float | None = None,
    method: HipRegression = HipRegression.HARRINGTON,
) -> np.ndarray:
    """Right hip center relative to the middle of the ASIS markers.

    Args:
        pelvis_width: Distance of the ASIS markers (m).
        pelvis_depth: Distance from the middle of the PSIS markers to that of the ASIS markers (m).
        leg_length: ASIS to medial malleolus (m), for regressions on it.
        method: The regression.

    Returns:
        (3,), m, corrected for soft tissue and the radius of the markers.

    Raises:
        CaptureError: The regression needs a leg length, and none is given.
    """
    if method.needs_leg_length and leg_length is None:
        others = ", ".join(repr(str(one)) for one in HipRegression if not one.needs_leg_length)
        raise CaptureError(
            f"hip_regression {str(method)!r} needs the length of the legs: markers on ASIS, knees "
            f"and ankles, or measurements of the legs; without them use {others}"
        )
    front = ASIS_SKIN_M + MARKER_RADIUS_M
    depth = pelvis_depth - front - (PSIS_SKIN_M + MARKER_RADIUS_M)
    if method is HipRegression.BELL:
        on_bones = bell(pelvis_width)
    elif method is HipRegression.HARA:
        assert leg_length is not None
        on_bones = hara(leg_length)
    else:
        used = leg_length if method is HipRegression.HARRINGTON_LEG else None
        on_bones = harrington(pelvis_width, depth, used)
    return on_bones - np.array([front, 0.0, 0.0])


def pelvis_axes(
    asis_right: np.ndarray, asis_left: np.ndarray, psis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Origin and axes of the pelvis from its landmarks.

    Args:
        asis_right: (3,), m.
        asis_left: (3,), m.
        psis: (3,), m: middle of the PSIS.

    Returns:
        The middle of the ASIS (3,), and the rows x forward, y up, z right (3, 3).
    """
    origin = (asis_right + asis_left) / 2
    z = (asis_right - asis_left) / np.linalg.norm(asis_right - asis_left)
    x = origin - psis
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return origin, np.array([x, np.cross(z, x), z])
