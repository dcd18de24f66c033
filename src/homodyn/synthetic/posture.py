"""Curves of pelvis, trunk, head and arms over a stride: short Fourier series, in degrees.

The amplitudes are those of comfortable walking at about 1.3 m/s and increase with speed. u is the
phase of the right foot, 0 at its strike: the right hip is then in front and the right arm behind,
and shortly afterwards the left side of the pelvis drops.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.synthetic.gait_style import GaitStyle

Series = tuple[float, tuple[tuple[int, float, float], ...]]
"""Mean (deg), and for each harmonic its number, amplitude (deg) and phase u of its maximum."""

POSTURE_CURVES: Mapping[str, Series] = {
    "Pelvis_RY": (4.0, ()),
    "Pelvis_RX": (0.0, ((1, 3.5, 0.63), (3, 0.7, 0.60))),
    "Pelvis_RZ": (0.0, ((1, 4.5, 0.00),)),
    "Lumbar_RY": (-4.0, ()),
    "Lumbar_RX": (0.0, ((1, 4.0, 0.14), (3, 0.7, 0.10))),
    "Lumbar_RZ": (0.0, ((1, 8.0, 0.50),)),
    "Neck_RY": (-1.0, ((2, 0.8, 0.10),)),
    "Neck_RX": (0.0, ((1, 1.0, 0.63),)),
    "Neck_RZ": (0.0, ((1, 3.0, 0.00),)),
    "ShoulderRight_RY": (3.0, ((1, 17.0, 0.02), (2, 1.0, 0.30))),
    "ShoulderRight_RX": (-9.0, ((1, 2.0, 0.50),)),
    "ShoulderRight_RZ": (0.0, ()),
    "ElbowRight_RY": (-18.0, ((1, 11.0, 0.08), (2, 1.5, 0.30))),
}
"""Curves of the right side; those of the left side are mirrored and half a stride later."""

_SWINGING_JOINTS = ("Shoulder", "Elbow", "Pelvis_RZ", "Lumbar_RZ")
_MIRRORED_AXES = ("RX", "RZ")


def posture(
    names: tuple[str, ...], phase: np.ndarray, style: GaitStyle, swing_scale: float
) -> dict[str, np.ndarray]:
    """Angles (rad) of the named coordinates at phases of the right foot.

    ``swing_scale`` is 1 at 1.3 m/s and scales the swing of arms, pelvis and trunk.
    """
    angles = {
        name: _curve(name, phase, swing_scale)
        for name in names
        if _right_name(name) in POSTURE_CURVES
    }
    pelvis, trunk = np.deg2rad(style.pitch_harmonics[:2]), np.deg2rad(style.pitch_harmonics[2:])
    angle = 2 * np.pi * phase
    twice = np.stack([np.cos(2 * angle), np.sin(2 * angle)])
    four_times = np.stack([np.cos(4 * angle), np.sin(4 * angle)])
    angles["Pelvis_RY"] = angles["Pelvis_RY"] + pelvis @ twice
    angles["Lumbar_RY"] = (
        angles["Lumbar_RY"]
        + np.deg2rad(style.trunk_lean)
        + trunk @ np.concatenate([twice, four_times])
    )
    return angles


def _right_name(name: str) -> str:
    return name.replace("Left", "Right")


def _curve(name: str, phase: np.ndarray, swing_scale: float) -> np.ndarray:
    mean, waves = POSTURE_CURVES[_right_name(name)]
    u = phase - 0.5 if "Left" in name else phase
    size = swing_scale if name.startswith(_SWINGING_JOINTS) else 1.0
    angle = np.full(np.shape(phase), mean)
    for harmonic, amplitude, maximum in waves:
        angle = angle + size * amplitude * np.cos(2 * np.pi * harmonic * (u - maximum))
    if "Left" in name and name.endswith(_MIRRORED_AXES):
        angle = -angle
    return np.deg2rad(angle)
