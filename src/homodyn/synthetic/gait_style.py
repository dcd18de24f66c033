"""Gait style: the numbers that shape feet, knees and posture over a stride.

They were chosen so that hip, knee and ankle angles and the forward ground force are close to those
of comfortable walking of healthy adults.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GaitStyle:
    """Angles (deg), phases (strides) and lengths (m) for a step of 0.79 leg lengths."""

    foot_flat: float = 0.09
    """Phase at which the foot is flat."""
    heel_rise: float = 0.385
    """Phase at which the heel leaves the ground."""
    pressure_exponent: float = 0.52
    """How early the center of pressure moves forward under the flat foot; 1: symmetric in time."""
    strike_pitch: float = -18.6
    """Pitch of the foot at foot strike; negative with the toes up."""
    off_pitch: float = 47.9
    """Pitch of the foot at foot off."""
    push_pitch: float = 15.5
    """Pitch half-way between heel rise and foot off."""
    swing_pitch: tuple[float, float, float, float] = (65.0, 19.5, -15.6, -27.3)
    """Pitch at 0.15, 0.47, 0.74 and 0.9 of the swing."""
    swing_knee: tuple[float, float, float] = (58.8, 26.2, -3.8)
    """Knee flexion at 0.29 and 0.63 of the swing, and its excess at 0.9 over that at the strike."""
    min_stance_knee: float = 9
    """Smallest knee flexion in stance."""
    min_strike_knee: float = 12.8
    """Smallest knee flexion around the strike."""
    trunk_lean: float = 1.0
    """Mean forward lean of the trunk."""
    com_amplitude: float = 0.0171
    """Vertical amplitude of the center of mass (m) at a step of 0.7 m."""
    pitch_harmonics: tuple[float, float, float, float, float, float] = (
        -0.21,
        -1.15,
        -0.02,
        -1.14,
        0.01,
        0.7,
    )
    """Cosine and sine amplitudes: pelvis pitch at twice the stride frequency, trunk pitch at twice
    and at four times the stride frequency."""
