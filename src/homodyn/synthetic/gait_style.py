"""How a person walks: the few numbers that shape feet, knees and posture over a stride.

They were chosen so that hip, knee and ankle angles and the forward force of the ground come close
to those of comfortable walking of healthy adults.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GaitStyle:
    """Angles in degrees, phases in strides, lengths in m; for a step of 0.79 leg lengths."""

    foot_flat: float = 0.09
    """Phase at which the foot is flat."""
    heel_rise: float = 0.385
    """Phase at which the heel leaves the ground."""
    pressure_exponent: float = 0.52
    """How early the pressure goes forwards under the flat foot; one would be half way."""
    strike_pitch: float = -18.6
    """Pitch of the foot at its strike, toes up."""
    off_pitch: float = 47.9
    """Pitch of the foot at its off."""
    push_pitch: float = 15.5
    """Pitch half way between the rise of the heel and the off."""
    swing_pitch: tuple[float, float, float, float] = (65.0, 19.5, -15.6, -27.3)
    """Pitch at 0.15, 0.47, 0.74 and 0.9 of the swing."""
    swing_knee: tuple[float, float, float] = (58.8, 26.2, -3.8)
    """Flexion of the knee at 0.29 and 0.63 of the swing; at 0.9, more than at the strike."""
    min_stance_knee: float = 9
    """Least flexion of the standing knee."""
    min_strike_knee: float = 12.8
    """Least flexion of the knee around the strike, from which it has to bend smoothly."""
    trunk_lean: float = 1.0
    """Mean lean of the trunk forwards."""
    com_amplitude: float = 0.0171
    """Amplitude of the vertical path of the centre of mass (m) at a step of 0.7 m."""
    pitch_harmonics: tuple[float, float, float, float, float, float] = (
        -0.21,
        -1.15,
        -0.02,
        -1.14,
        0.01,
        0.7,
    )
    """Cosine and sine parts of the pitch of the pelvis at twice, of the trunk at twice and at four
    times the frequency of strides."""
