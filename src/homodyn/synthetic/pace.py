"""How fast: speed, step length and cadence that go together, and what a body can do."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.synthetic.manner import Manner
from homodyn.synthetic.steps import Footsteps

WALK_RATIO = 0.36
"""Step length squared over speed (m s) of comfortable walking with legs of 0.87 m."""
LEG = 0.867
"""Length of thigh and shank (m) of the body for which the manner was chosen."""
STEP = 0.684
"""Length of its steps (m) at 1.3 m/s."""
SPEED = 1.3 / np.sqrt(9.81 * LEG)
"""Its speed over the root of gravity times leg length."""
SPEEDS = (0.28, 0.52)
"""Least and greatest speed over the root of gravity times leg length."""
STEPS = (0.6, 0.9)
"""Least and greatest step length over leg length."""
WIDTH = 0.115
"""Distance of the ankles' lines over leg length."""
TOE_OUT = np.deg2rad(7.0)


@dataclass(frozen=True)
class Pace:
    """Speed (m/s) and step length (m) of a body, and the manner that goes with them."""

    speed: float
    step_length: float
    leg: float
    """Length of thigh and shank (m)."""
    manner: Manner
    effort: float


def pace_of(
    model: Model, *, speed: float, step_length: float | None = None, cadence: float | None = None
) -> Pace:
    """Speed (m/s) with a step length (m) or cadence (steps/min), or with the comfortable step."""
    joints = {joint.name: joint for joint in model.joints}
    leg = -float(joints["KneeRight"].placement.r[2]) - float(joints["AnkleRight"].placement.r[2])
    root = np.sqrt(-float(model.gravity[2]) * leg)
    _accept("speed", speed, [part * root for part in SPEEDS], "m/s", leg)
    if step_length is not None and cadence is not None:
        raise CaptureError(
            "speed, step_length and cadence depend on each other: give at most one of "
            "step_length and cadence besides the speed"
        )
    if cadence is not None:
        bounds = sorted(60.0 * speed / (part * leg) for part in STEPS)
        _accept("cadence", cadence, bounds, "steps/min", leg, f" at {speed:g} m/s")
        step_length = 60.0 * speed / cadence
    elif step_length is None:
        # Bodies of all sizes move alike at like values of v²/(g l) and step/l.
        step_length = float(np.sqrt(WALK_RATIO * speed) * (leg / LEG) ** 0.75)
    _accept("step_length", step_length, [part * leg for part in STEPS], "m", leg)
    return Pace(speed, step_length, leg, _manner(step_length / leg), speed / root / SPEED)


def _manner(step: float) -> Manner:
    """The manner for a step of that part of the leg: shorter steps need less rolling."""
    usual = Manner()
    size = step / (STEP / LEG)
    early, middle, late, last = usual.swing_pitch
    return replace(
        usual,
        strike_pitch=usual.strike_pitch * size,
        off_pitch=usual.off_pitch * size,
        push_pitch=usual.push_pitch * size,
        swing_pitch=(early, middle, late * size, last * size),
    )


def footsteps(pace: Pace) -> Footsteps:
    """Steps of that pace; slower walkers stand longer on both feet."""
    stance = float(np.clip(0.62 + 0.04 * (1.0 - pace.effort), 0.59, 0.66))
    return Footsteps(pace.step_length, WIDTH * pace.leg, pace.speed, stance, TOE_OUT)


def _accept(
    name: str, value: float, bounds: list[float], unit: str, leg: float, more: str = ""
) -> None:
    low, high = bounds
    if not low <= value <= high:
        raise CaptureError(
            f"{name} {value:g} {unit} is not for legs of {leg:.2f} m: from {low:.2f} to "
            f"{high:.2f} {unit} is accepted{more}"
        )
