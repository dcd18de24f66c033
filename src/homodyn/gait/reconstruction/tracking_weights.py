"""How closely a reconstruction follows each coordinate: as closely as the markers show it.

A coordinate that hardly moves a marker, such as the flexion of an elbow without a marker on the
forearm, is noise in a recording. With J the marker Jacobian, s = 1 / sqrt(inv(J' J)_kk) is the
displacement of the markers (m per rad or m) that coordinate k alone explains.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.kinematics.observability import marker_jacobian
from homodyn.motion import Motion

SHOWN_DISPLACEMENT_M = 0.05
"""Marker displacement per unit of a coordinate at which its weight is one half."""
MIN_TRACKING_WEIGHT = 1e-4
"""Weight of a coordinate that no marker shows."""
MIN_SHOWN_WEIGHT = 0.2
"""Coordinates of less weight are not part of the tracking error."""
MAX_SAMPLED_FRAMES = 11
"""Frames in which the displacements are computed; their median counts."""


def tracking_weights(motion: Motion) -> np.ndarray:
    """Weight of each coordinate in the tracking of a recording.

    Args:
        motion: The recorded movement.

    Returns:
        (nv,), s^2 / (s^2 + 0.05^2), between 1e-4 and 1; where the motion has no markers, 1e-4 for
        coordinates that it names as unobserved, and 1 for the others.
    """
    model = motion.model
    if not motion.markers:
        unseen = np.isin(model.coordinate_names, motion.unobserved)
        return np.where(unseen, MIN_TRACKING_WEIGHT, 1.0)
    visible = np.isfinite(motion.measured).all(-1).any(0)
    if motion.weights.size:
        visible &= motion.weights > 0
    seen = {name for name, shown in zip(motion.markers, visible, strict=True) if shown}
    shown = replace(model, markers=tuple(m for m in model.markers if m.name in seen))
    frames = np.unique(np.linspace(0, len(motion.time) - 1, MAX_SAMPLED_FRAMES).astype(int))
    jacobian = np.asarray(marker_jacobian(shown, motion.q[frames]))
    jacobian = jacobian.reshape(len(frames), -1, model.nv)
    information = np.swapaxes(jacobian, 1, 2) @ jacobian
    prior = MIN_TRACKING_WEIGHT * SHOWN_DISPLACEMENT_M**2 * np.eye(model.nv)
    variance = np.diagonal(np.linalg.inv(information + prior), axis1=1, axis2=2)
    squared = 1 / np.median(variance, axis=0)
    return np.clip(squared / (squared + SHOWN_DISPLACEMENT_M**2), MIN_TRACKING_WEIGHT, 1.0)
