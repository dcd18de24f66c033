"""The pose of the whole body over a stride, for a given path of the pelvis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homodyn.model import Model
from homodyn.motion import Side
from homodyn.synthetic.foot_trajectory import FootTrajectory
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.fourier_series import FourierSeries
from homodyn.synthetic.gait_style import GaitStyle
from homodyn.synthetic.leg_angles import leg_angles, rotation_about
from homodyn.synthetic.posture import posture
from homodyn.synthetic.swing_leg import swing_ankle

LEG_COORDINATES = (
    "Hip{}_RY",
    "Hip{}_RX",
    "Hip{}_RZ",
    "Knee{}_RY",
    "Ankle{}_RY",
    "Ankle{}_RX",
    "Ankle{}_RZ",
)
"""Coordinates of a leg of HeiMan, without the side."""
EARLY_STANCE_PHASE = 0.2
"""Phase until which the smallest knee flexion is that of the strike."""
SWING_KNEE_PHASES = (0.29, 0.63, 0.9)
"""Fractions of the swing at which the gait style defines the knee flexion."""


@dataclass(frozen=True, eq=False)
class GaitPose:
    """Poses over a stride: feet, trunk and arms prescribed, legs in closed form."""

    model: Model
    """The body that walks."""
    steps: Footsteps
    """Where and when the feet are on the ground."""
    feet: tuple[FootTrajectory, ...]
    """Trajectories of the right and the left foot."""
    style: GaitStyle
    """Foot, knee and trunk curves."""
    swing_scale: float
    """Scale of the swing of arms and trunk; 1 at 1.3 m/s."""
    time: np.ndarray
    """(times,), s, equally spaced over one stride."""

    @cached_property
    def legs(self) -> dict[Side, tuple[float, float]]:
        """Lengths of thigh and shank (m) of each side."""
        return {
            side: (
                -float(self._joint(f"Knee{side.title}")[2]),
                -float(self._joint(f"Ankle{side.title}")[2]),
            )
            for side in Side
        }

    @property
    def drift(self) -> np.ndarray:
        """(nq,): constant rates of the coordinates (m/s)."""
        drift = np.zeros(self.model.nq)
        drift[self.model.coordinate_index("Pelvis_TX")] = self.steps.speed
        return drift

    def coordinates(self, pelvis: FourierSeries) -> tuple[np.ndarray, float]:
        """Coordinates (times, nq), and the excess reach of the legs (m).

        The excess reach is the largest distance of hip and ankle of a stance leg minus the distance
        at the smallest knee flexion: positive where a foot is out of reach.
        """
        model, time = self.model, self.time
        index = model.coordinate_index
        q = np.tile(model.neutral(), (len(time), 1))
        q[:, [index(f"Pelvis_T{axis}") for axis in "XYZ"]] = pelvis(time)
        angles = self._angles(time)
        for name, angle in angles.items():
            q[:, index(name)] = angle
        rotation = self._rotation(angles)
        phases = [np.mod(self.steps.phase(side, time), 1.0) for side in Side]
        reach = []
        for foot, side, phase in zip(self.feet, Side, phases, strict=True):
            offset, legs = self._joint(f"Hip{side.title}"), self.legs[side]

            def hip(t: np.ndarray, offset: np.ndarray = offset) -> np.ndarray:
                return pelvis(t) + self._rotation(self._angles(t)) @ offset

            at = pelvis(time) + rotation @ offset
            stance = self.steps.in_stance(side, time)
            ankle = foot.stance_ankle(time)
            reach.append(_excess_reach(ankle - at, phase, legs, self.style)[stance].max())
            ankle[~stance] = swing_ankle(foot, hip, time[~stance], legs=legs, knee=self._swing_knee)
            sole = rotation_about("z", np.full(len(time), self.steps.yaw(side))) @ rotation_about(
                "y", foot.pitch(time)
            )
            # The hip provides half of the foot rotation and compensates that of the pelvis.
            hip_rotation = self.steps.yaw(side) / 2 - angles["Pelvis_RZ"]
            q[:, [index(name.format(side.title)) for name in LEG_COORDINATES]] = leg_angles(
                at, rotation, ankle, sole, thigh=legs[0], shank=legs[1], hip_rotation=hip_rotation
            )
        return q, float(max(reach))

    @cached_property
    def _swing_knee(self) -> list[tuple[float, float]]:
        off = self.steps.stance
        return [
            (off + part * (1 - off), float(np.deg2rad(knee)))
            for part, knee in zip(SWING_KNEE_PHASES, self.style.swing_knee, strict=True)
        ]

    def _angles(self, time: np.ndarray) -> dict[str, np.ndarray]:
        phase = self.steps.phase(Side.RIGHT, time)
        return posture(self.model.coordinate_names, phase, self.style, self.swing_scale)

    def _rotation(self, angles: dict[str, np.ndarray]) -> np.ndarray:
        return (
            rotation_about("y", angles["Pelvis_RY"])
            @ rotation_about("x", angles["Pelvis_RX"])
            @ rotation_about("z", angles["Pelvis_RZ"])
        )

    def _joint(self, name: str) -> np.ndarray:
        joint = next(joint for joint in self.model.joints if joint.name == name)
        return np.asarray(joint.placement.r, float)


def _excess_reach(
    line: np.ndarray, phase: np.ndarray, legs: tuple[float, float], style: GaitStyle
) -> np.ndarray:
    """Distance of hip and ankle minus the distance at the smallest knee flexion (m)."""
    thigh, shank = legs
    flexion = np.where(phase < EARLY_STANCE_PHASE, style.min_strike_knee, style.min_stance_knee)
    straight = thigh**2 + shank**2 + 2 * thigh * shank * np.cos(np.deg2rad(flexion))
    return np.linalg.norm(line, axis=1) - np.sqrt(straight)
