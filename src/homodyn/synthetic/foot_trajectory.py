"""The trajectory of one foot: rolling over the heel, flat, rolling over the toes, swing.

In its sagittal plane the foot is a rigid sole with a spherical heel. The pitch φ is positive with
the toes down. While φ < 0 the heel sphere rolls without slipping; while φ > 0 the foot rotates
about the line of its toes. In between it is flat. There φ and its first two derivatives are zero at
both ends, so that the acceleration of the ankle is continuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from homodyn.model import Model
from homodyn.motion import Side
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.gait_style import GaitStyle

SWING_PITCH_PHASES = (0.15, 0.47, 0.74, 0.9)
"""Fractions of the swing at which the gait style defines the pitch."""


@dataclass(frozen=True)
class FootShape:
    """Sole of a foot in the sagittal plane, relative to the ankle (m)."""

    height: float
    """Height of the ankle above the sole; also the radius of the heel."""
    heel: float
    """Distance of the center of the heel behind the ankle."""
    toe: float
    """Distance of the line of the toes in front of the ankle."""
    inner: float
    """Extent of the toes toward the midline."""
    outer: float
    """Extent of the toes to the lateral side."""

    @classmethod
    def of(cls, model: Model, side: Side) -> FootShape:
        """The foot of HeiMan, from its contact shapes."""
        contacts = {contact.name: contact for contact in model.contacts}
        heel, hallux = contacts[f"Heel{side.title}"], contacts[f"Hallux{side.title}"]
        inwards = -side.sign
        return cls(
            height=float(heel.radius),
            heel=-float(heel.position[0]),
            toe=float(hallux.position[0]),
            inner=inwards * float(hallux.position[1]),
            outer=-inwards * float(contacts[f"Meta5{side.title}"].position[1]),
        )

    def heel_rocker(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ankle while the heel rolls: forward of its position with the flat foot, and height."""
        b, h = self.heel, self.height
        return h * pitch - b + b * np.cos(pitch), h - b * np.sin(pitch)

    def toe_rocker(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same while the foot rotates about the toes."""
        f, h = self.toe, self.height
        return (
            f - f * np.cos(pitch) + h * np.sin(pitch),
            f * np.sin(pitch) + h * np.cos(pitch),
        )


@dataclass(frozen=True)
class FootTrajectory:
    """Pitch, trajectory and center of pressure of a foot over its stride."""

    steps: Footsteps
    """Where and when the foot is on the ground."""
    shape: FootShape
    """The sole."""
    side: Side
    """Right or left."""
    style: GaitStyle
    """The pitch over a stride."""

    @cached_property
    def _pitch(self) -> scipy.interpolate.BSpline:
        style, off = self.style, self.steps.stance
        rise, swing = style.heel_rise, 1.0 - off
        knots = [
            (rise, 0.0),
            (0.5 * (rise + off), style.push_pitch),
            (off, style.off_pitch),
            *(
                (off + part * swing, pitch)
                for part, pitch in zip(SWING_PITCH_PHASES, style.swing_pitch, strict=True)
            ),
            (1.0, style.strike_pitch),
            (1.0 + style.foot_flat, 0.0),
        ]
        ends = [(1, 0.0), (2, 0.0)]
        phases, pitches = np.array(knots).T
        return scipy.interpolate.make_interp_spline(
            phases, np.deg2rad(pitches), k=5, bc_type=(ends, ends)
        )

    def pitch(self, time: np.ndarray) -> np.ndarray:
        """Pitch of the foot, toes down positive (rad)."""
        u = np.mod(self.steps.phase(self.side, time), 1.0)
        foot_flat, rise = self.style.foot_flat, self.style.heel_rise
        u = np.where(u < foot_flat, u + 1.0, u)
        return np.where(u < rise, 0.0, self._pitch(np.clip(u, rise, 1.0 + foot_flat)))

    def heel_rocker(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Position of the ankle around its n-th strike, (times, 3), m."""
        return self._ankle_position(strike, *self.shape.heel_rocker(self.pitch(time)))

    def toe_rocker(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Position of the ankle from the flat foot to shortly after foot off, (times, 3), m."""
        return self._ankle_position(strike, *self.shape.toe_rocker(self.pitch(time)))

    def stance_ankle(self, time: np.ndarray) -> np.ndarray:
        """Position of the ankle in stance, (times, 3), m."""
        phase = self.steps.phase(self.side, time)
        strike = np.floor(phase)
        early = phase - strike < self.style.foot_flat
        return np.where(
            early[:, None], self.heel_rocker(time, strike), self.toe_rocker(time, strike)
        )

    def _ankle_position(self, strike: np.ndarray, along: np.ndarray, up: np.ndarray) -> np.ndarray:
        horizontal = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([horizontal, up])

    def center_of_pressure(self, time: np.ndarray) -> np.ndarray:
        """Center of pressure of the foot in stance, (times, 3), m; at its toes in swing.

        It is under the heel while that rolls, then moves forward, and stays at the line of the toes
        when only they touch the ground.
        """
        phase = self.steps.phase(self.side, time)
        strike = np.floor(phase)
        u = phase - strike
        foot_flat, rise = self.style.foot_flat, self.style.heel_rise
        heel = -self.shape.heel + self.shape.height * np.minimum(self.pitch(time), 0.0)
        heel = np.where(u < foot_flat, heel, -self.shape.heel)
        part = (
            np.clip((u - foot_flat) / (rise - foot_flat), 0.0, 1.0) ** self.style.pressure_exponent
        )
        progress = part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
        along = heel + progress * (self.shape.toe + self.shape.heel)
        point = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([point, np.zeros(len(point))])

    @property
    def _heading(self) -> np.ndarray:
        yaw = self.steps.yaw(self.side)
        return np.array([np.cos(yaw), np.sin(yaw)])
