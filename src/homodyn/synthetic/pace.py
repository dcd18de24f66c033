"""Pace: consistent speed, step length and cadence, and the range that a body can walk at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.gait_style import GaitStyle

WALK_RATIO_M_S = 0.36
"""Step length squared over speed (m s) of comfortable walking with legs of 0.87 m."""
REFERENCE_LEG_LENGTH_M = 0.867
"""Length of thigh and shank (m) of the body for which the gait style was chosen."""
REFERENCE_STEP_LENGTH_M = 0.684
"""Step length (m) of that body at 1.3 m/s."""
REFERENCE_SPEED_RATIO = 1.3 / np.sqrt(9.81 * REFERENCE_LEG_LENGTH_M)
"""Speed of that body over sqrt(gravity times leg length)."""
SPEED_RATIO_RANGE = (0.28, 0.52)
"""Smallest and largest speed over sqrt(gravity times leg length)."""
STEP_RATIO_RANGE = (0.6, 0.9)
"""Smallest and largest step length over leg length."""
STEP_WIDTH_RATIO = 0.115
"""Lateral distance of the ankles over leg length."""
TOE_OUT_RAD = np.deg2rad(7.0)
"""Angle of each foot from the direction of walking."""


@dataclass(frozen=True)
class Pace:
    """Speed and step length of a body, and the gait style for them."""

    speed: float
    """m/s."""
    step_length: float
    """m."""
    leg_length: float
    """Length of thigh and shank (m)."""
    style: GaitStyle
    """Foot, knee and trunk curves for the step length."""
    swing_scale: float
    """Scale of the arm swing and of axial rotations; 1 at the reference speed."""


def choose_pace(
    model: Model, *, speed: float, step_length: float | None = None, cadence: float | None = None
) -> Pace:
    """The pace of a speed (m/s) with a step length (m), a cadence (steps/min) or the usual step."""
    joints = {joint.name: joint for joint in model.joints}
    leg_length = -float(joints["KneeRight"].placement.r[2]) - float(
        joints["AnkleRight"].placement.r[2]
    )
    root = np.sqrt(-float(model.gravity[2]) * leg_length)
    _check_range("speed", speed, [part * root for part in SPEED_RATIO_RANGE], "m/s", leg_length)
    if step_length is not None and cadence is not None:
        raise CaptureError(
            "speed, step_length and cadence depend on each other: give at most one of "
            "step_length and cadence besides the speed"
        )
    if cadence is not None:
        bounds = sorted(60.0 * speed / (part * leg_length) for part in STEP_RATIO_RANGE)
        _check_range("cadence", cadence, bounds, "steps/min", leg_length, f" at {speed:g} m/s")
        step_length = 60.0 * speed / cadence
    elif step_length is None:
        # Bodies of all sizes walk similarly at equal v²/(g l) and step/l.
        step_length = float(
            np.sqrt(WALK_RATIO_M_S * speed) * (leg_length / REFERENCE_LEG_LENGTH_M) ** 0.75
        )
    _check_range(
        "step_length",
        step_length,
        [part * leg_length for part in STEP_RATIO_RANGE],
        "m",
        leg_length,
    )
    return Pace(
        speed,
        step_length,
        leg_length,
        _style_for_step(step_length / leg_length),
        speed / root / REFERENCE_SPEED_RATIO,
    )


def _style_for_step(step: float) -> GaitStyle:
    """The gait style for a step in leg lengths: shorter steps need less foot pitch."""
    reference = GaitStyle()
    scale = step / (REFERENCE_STEP_LENGTH_M / REFERENCE_LEG_LENGTH_M)
    early, middle, late, last = reference.swing_pitch
    return replace(
        reference,
        strike_pitch=reference.strike_pitch * scale,
        off_pitch=reference.off_pitch * scale,
        push_pitch=reference.push_pitch * scale,
        swing_pitch=(early, middle, late * scale, last * scale),
    )


def plan_footsteps(pace: Pace) -> Footsteps:
    """Footsteps of a pace; slow walking has longer double support."""
    stance = float(np.clip(0.62 + 0.04 * (1.0 - pace.swing_scale), 0.59, 0.66))
    return Footsteps(
        pace.step_length, STEP_WIDTH_RATIO * pace.leg_length, pace.speed, stance, TOE_OUT_RAD
    )


def _check_range(
    name: str, value: float, bounds: list[float], unit: str, leg_length: float, more: str = ""
) -> None:
    low, high = bounds
    if not low <= value <= high:
        raise CaptureError(
            f"{name} {value:g} {unit} is out of range for legs of {leg_length:.2f} m: {low:.2f} to "
            f"{high:.2f} {unit} is accepted{more}"
        )
