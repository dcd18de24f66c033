"""Curves of pelvis, trunk, head and arms over a stride: short Fourier series, in degrees.

The amplitudes are those of comfortable walking at about 1.3 m/s and grow with the speed. u is
the phase of the right foot, 0 at its strike: then the right hip is in front and the right arm
behind, and soon after it the left side of the pelvis drops.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.synthetic.manner import Manner

Series = tuple[float, tuple[tuple[int, float, float], ...]]
"""Mean (deg), and (harmonic, amplitude (deg), phase u at which it is greatest)."""

CURVES: Mapping[str, Series] = {
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
"""Of the right side; the left side does the mirrored half a stride later."""

_SWINGING = ("Shoulder", "Elbow", "Pelvis_RZ", "Lumbar_RZ")
_MIRRORED = ("RX", "RZ")


def posture(
    names: tuple[str, ...], phase: np.ndarray, manner: Manner, effort: float
) -> dict[str, np.ndarray]:
    """Angles (rad) of the named coordinates at phases of the right foot.

    ``effort`` is one at 1.3 m/s and scales the swings of arms, pelvis and trunk.
    """
    angles = {name: _curve(name, phase, effort) for name in names if _right(name) in CURVES}
    pelvis, trunk = np.deg2rad(manner.nod[:2]), np.deg2rad(manner.nod[2:])
    angle = 2 * np.pi * phase
    twice = np.stack([np.cos(2 * angle), np.sin(2 * angle)])
    four_times = np.stack([np.cos(4 * angle), np.sin(4 * angle)])
    angles["Pelvis_RY"] = angles["Pelvis_RY"] + pelvis @ twice
    angles["Lumbar_RY"] = (
        angles["Lumbar_RY"] + np.deg2rad(manner.lean) + trunk @ np.concatenate([twice, four_times])
    )
    return angles


def _right(name: str) -> str:
    return name.replace("Left", "Right")


def _curve(name: str, phase: np.ndarray, effort: float) -> np.ndarray:
    mean, waves = CURVES[_right(name)]
    u = phase - 0.5 if "Left" in name else phase
    size = effort if name.startswith(_SWINGING) else 1.0
    angle = np.full(np.shape(phase), mean)
    for harmonic, amplitude, greatest in waves:
        angle = angle + size * amplitude * np.cos(2 * np.pi * harmonic * (u - greatest))
    if "Left" in name and name.endswith(_MIRRORED):
        angle = -angle
    return np.deg2rad(angle)
