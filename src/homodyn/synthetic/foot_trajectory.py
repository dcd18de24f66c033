"""The path of one foot: rolling over the heel, flat, rolling over the toes, swinging through.

Along its heading the foot is a rigid sole with a round heel. Pitch φ is positive with the toes
down. While φ < 0 the heel sphere rolls without slipping; while φ > 0 the foot turns about the line
of its toes; in between it is flat, with φ and two of its derivatives zero at both ends, so that
the path of the ankle has continuous accelerations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from homodyn.model import Model
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.gait_style import GaitStyle

SWING_PITCH_PHASES = (0.15, 0.47, 0.74, 0.9)
"""Parts of the swing at which the manner tells the pitch."""


@dataclass(frozen=True)
class FootShape:
    """Sole of a foot seen from the side, measured from the ankle (m)."""

    height: float
    """Of the ankle above the sole; also the radius of the heel."""
    heel: float
    """The centre of the heel is this far behind the ankle."""
    toe: float
    """The line of the toes is this far in front of the ankle."""
    inner: float
    """The toes reach this far to the middle of the body."""
    outer: float
    """The toes reach this far out."""

    @classmethod
    def of(cls, model: Model, side: str) -> FootShape:
        """The foot of HeiMan, from its contact shapes."""
        contacts = {contact.name: contact for contact in model.contacts}
        heel, hallux = contacts[f"Heel{side}"], contacts[f"Hallux{side}"]
        inwards = 1.0 if side == "Right" else -1.0
        return cls(
            height=float(heel.radius),
            heel=-float(heel.position[0]),
            toe=float(hallux.position[0]),
            inner=inwards * float(hallux.position[1]),
            outer=-inwards * float(contacts[f"Meta5{side}"].position[1]),
        )

    def heel_rocker(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ankle forwards of where it stands flat, and above the ground, rolling over the heel."""
        b, h = self.heel, self.height
        return h * pitch - b + b * np.cos(pitch), h - b * np.sin(pitch)

    def toe_rocker(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, turning about the toes."""
        f, h = self.toe, self.height
        return (
            f - f * np.cos(pitch) + h * np.sin(pitch),
            f * np.sin(pitch) + h * np.cos(pitch),
        )


@dataclass(frozen=True)
class FootTrajectory:
    """Pitch and path of a foot over its stride, and where the ground presses on it."""

    steps: Footsteps
    shape: FootShape
    side: str
    style: GaitStyle

    @cached_property
    def _pitch(self) -> BSpline:
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
        return make_interp_spline(phases, np.deg2rad(pitches), k=5, bc_type=(ends, ends))

    def pitch(self, time: np.ndarray) -> np.ndarray:
        """Pitch of the foot, toes down positive (rad)."""
        u = np.mod(self.steps.phase(self.side, time), 1.0)
        foot_flat, rise = self.style.foot_flat, self.style.heel_rise
        u = np.where(u < foot_flat, u + 1.0, u)
        return np.where(u < rise, 0.0, self._pitch(np.clip(u, rise, 1.0 + foot_flat)))

    def heel_rocker(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Place of the ankle around its strike of that number, (instants, 3), m."""
        return self._ankle_position(strike, *self.shape.heel_rocker(self.pitch(time)))

    def toe_rocker(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Place of the ankle from the flat foot to a while after its off, (instants, 3), m."""
        return self._ankle_position(strike, *self.shape.toe_rocker(self.pitch(time)))

    def stance_ankle(self, time: np.ndarray) -> np.ndarray:
        """Place of the ankle, (instants, 3), m; meant for when the foot stands."""
        phase = self.steps.phase(self.side, time)
        strike = np.floor(phase)
        early = phase - strike < self.style.foot_flat
        return np.where(
            early[:, None], self.heel_rocker(time, strike), self.toe_rocker(time, strike)
        )

    def _ankle_position(self, strike: np.ndarray, along: np.ndarray, up: np.ndarray) -> np.ndarray:
        ground_wrenches = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([ground_wrenches, up])

    def center_of_pressure(self, time: np.ndarray) -> np.ndarray:
        """Centre of pressure of the standing foot, (instants, 3), m; at its toes in swing.

        Under the heel while it rolls, then forwards, and at the line of the toes when they are all
        that touches.
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
        forwards = part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
        along = heel + forwards * (self.shape.toe + self.shape.heel)
        place = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([place, np.zeros(len(place))])

    @property
    def _heading(self) -> np.ndarray:
        yaw = self.steps.yaw(self.side)
        return np.array([np.cos(yaw), np.sin(yaw)])
