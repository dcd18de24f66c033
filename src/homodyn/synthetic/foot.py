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
from homodyn.synthetic.manner import Manner
from homodyn.synthetic.steps import Footsteps

SWING = (0.15, 0.47, 0.74, 0.9)
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

    def over_heel(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ankle forwards of where it stands flat, and above the ground, rolling over the heel."""
        b, h = self.heel, self.height
        return h * pitch - b + b * np.cos(pitch), h - b * np.sin(pitch)

    def over_toes(self, pitch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same, turning about the toes."""
        f, h = self.toe, self.height
        return (
            f - f * np.cos(pitch) + h * np.sin(pitch),
            f * np.sin(pitch) + h * np.cos(pitch),
        )


@dataclass(frozen=True)
class FootPlan:
    """Pitch and path of a foot over its stride, and where the ground presses on it."""

    steps: Footsteps
    shape: FootShape
    side: str
    manner: Manner

    @cached_property
    def _pitch(self) -> BSpline:
        manner, off = self.manner, self.steps.stance
        rise, swing = manner.heel_rise, 1.0 - off
        knots = [
            (rise, 0.0),
            (0.5 * (rise + off), manner.push_pitch),
            (off, manner.off_pitch),
            *(
                (off + part * swing, pitch)
                for part, pitch in zip(SWING, manner.swing_pitch, strict=True)
            ),
            (1.0, manner.strike_pitch),
            (1.0 + manner.flat, 0.0),
        ]
        ends = [(1, 0.0), (2, 0.0)]
        phases, pitches = np.array(knots).T
        return make_interp_spline(phases, np.deg2rad(pitches), k=5, bc_type=(ends, ends))

    def pitch(self, time: np.ndarray) -> np.ndarray:
        """Pitch of the foot, toes down positive (rad)."""
        u = np.mod(self.steps.phase(self.side, time), 1.0)
        flat, rise = self.manner.flat, self.manner.heel_rise
        u = np.where(u < flat, u + 1.0, u)
        return np.where(u < rise, 0.0, self._pitch(np.clip(u, rise, 1.0 + flat)))

    def over_heel(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Place of the ankle around its strike of that number, (instants, 3), m."""
        return self._placed(strike, *self.shape.over_heel(self.pitch(time)))

    def over_toes(self, time: np.ndarray, strike: np.ndarray) -> np.ndarray:
        """Place of the ankle from the flat foot to a while after its off, (instants, 3), m."""
        return self._placed(strike, *self.shape.over_toes(self.pitch(time)))

    def standing(self, time: np.ndarray) -> np.ndarray:
        """Place of the ankle, (instants, 3), m; meant for when the foot stands."""
        phase = self.steps.phase(self.side, time)
        strike = np.floor(phase)
        early = phase - strike < self.manner.flat
        return np.where(early[:, None], self.over_heel(time, strike), self.over_toes(time, strike))

    def _placed(self, strike: np.ndarray, along: np.ndarray, up: np.ndarray) -> np.ndarray:
        ground = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([ground, up])

    def pressure(self, time: np.ndarray) -> np.ndarray:
        """Centre of pressure of the standing foot, (instants, 3), m; at its toes in swing.

        Under the heel while it rolls, then forwards, and at the line of the toes when they are all
        that touches.
        """
        phase = self.steps.phase(self.side, time)
        strike = np.floor(phase)
        u = phase - strike
        flat, rise = self.manner.flat, self.manner.heel_rise
        heel = -self.shape.heel + self.shape.height * np.minimum(self.pitch(time), 0.0)
        heel = np.where(u < flat, heel, -self.shape.heel)
        part = np.clip((u - flat) / (rise - flat), 0.0, 1.0) ** self.manner.press
        forwards = part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
        along = heel + forwards * (self.shape.toe + self.shape.heel)
        place = self.steps.ankle(self.side, strike) + along[:, None] * self._heading
        return np.column_stack([place, np.zeros(len(place))])

    @property
    def _heading(self) -> np.ndarray:
        yaw = self.steps.yaw(self.side)
        return np.array([np.cos(yaw), np.sin(yaw)])
