"""Passing under a beam: the scenes of the recordings of Qiu (2012), chapter 3, configuration C1."""

from __future__ import annotations

import numpy as np

from homodyn.motion import BoxObstacle, Scene, SceneStep
from homodyn.motion.scene import ComPlanRequest, HeightRamp
from homodyn.motion.supports import sole_contact

BEAM_HEIGHTS_M = {"beam-h1": 1.45, "beam-h2": 1.30, "beam-h3": 1.10}
"""Lower side of the beam by case (Qiu 2012, section 3.1)."""
RECORDED_COM_HEIGHTS_M = {"beam-h1": 0.85, "beam-h2": 0.80, "beam-h3": 0.65}
"""Lowest center of mass of one man by case (Qiu 2012, section 3.2.3)."""
COM_HEIGHTS_M = {"beam-h1": 0.89, "beam-h2": 0.82, "beam-h3": 0.64}
"""Center of mass under the beam, of a comfortable posture on one foot that has room there."""
STANDING_COM_M = 0.92
BEAM_DEPTH_M = 0.4
"""Along the way: the trunk passes under it as a whole."""
STEP_M, STANCE_M = 0.45, 0.1
"""Length of a step, and distance of the feet from the middle."""
MASS_KG = 70.0
FORCE_LIMIT_N = 1500.0
"""Largest sum of the normal forces."""
MIN_DURATIONS_S = (0.2, 0.5, 0.1, 0.6, 0.2, 0.5, 0.2)
"""Near the recorded means: single supports 0.5, 0.6 and 0.5 s, double supports 0.1 s and more."""
CORRIDOR_SLOPE = 15.0
"""1/m: steepness of the bounds of the height."""
CORRIDOR_HALF_WIDTH_M = 0.3


def beam_scene(name: str) -> Scene:
    """The scene of a case, for a person of 1.75 m.

    The order of supports is that of 23 of 24 recordings (table 3.2): left, right and left foot
    move. Places of the feet are not printed; they are assumed.

    Args:
        name: A key of `BEAM_HEIGHTS_M`.
    """
    height, low = BEAM_HEIGHTS_M[name], COM_HEIGHTS_M[name]
    places = {
        "right 1": ("right_foot", 0.0, -STANCE_M),
        "left 1": ("left_foot", 0.0, STANCE_M),
        "left 2": ("left_foot", STEP_M, STANCE_M),
        "right 2": ("right_foot", 2 * STEP_M, -STANCE_M),
        "left 3": ("left_foot", 2 * STEP_M, STANCE_M),
    }
    supports = {
        label: sole_contact(label, [x, y, 0.0], (0.28, 0.12), friction=0.7, body=body)
        for label, (body, x, y) in places.items()
    }
    stances = (
        ("left 1", "right 1"),
        ("right 1",),
        ("left 2", "right 1"),
        ("left 2",),
        ("left 2", "right 2"),
        ("right 2",),
        ("left 3", "right 2"),
    )
    steps = tuple(
        SceneStep(str(k), stance, min_duration=duration)
        for k, (stance, duration) in enumerate(zip(stances, MIN_DURATIONS_S, strict=True), start=1)
    )
    beam = BoxObstacle((BEAM_DEPTH_M, 2.0, 0.4), position=(STEP_M, 0.0, height + 0.2), name="beam")
    plan = ComPlanRequest(
        np.array([0.0, 0.0, STANDING_COM_M]),
        np.array([2 * STEP_M, 0.0, STANDING_COM_M]),
        reach=1.02,
        upper=_height_ramp(STANDING_COM_M + 0.06, low + 0.03),
        lower=_height_ramp(STANDING_COM_M - 0.06, low - 0.02),
        pieces=2,
    )
    notes = (
        f"Qiu (2012), chapter 3: passing under a beam {height:.2f} m above the ground.",
        "The recorded lowest center of mass of one man was "
        f"{RECORDED_COM_HEIGHTS_M[name]:.2f} m. The bounds of the height are around {low:.2f} m, "
        "that of a comfortable posture under the beam; they are not fitted to the recording.",
        "Places of the feet and the depth of the beam are assumed.",
    )
    return Scene(
        name,
        obstacles=(beam,),
        supports=supports,
        steps=steps,
        mass=MASS_KG,
        limit=FORCE_LIMIT_N,
        plan=plan,
        notes=notes,
    )


def _height_ramp(outside: float, inside: float) -> HeightRamp:
    """A bound of the height (m) that is lower under the beam."""
    share = 2 * np.arctan(CORRIDOR_SLOPE * CORRIDOR_HALF_WIDTH_M) / np.pi
    return HeightRamp(
        outside,
        float((outside - inside) / share),
        CORRIDOR_SLOPE,
        STEP_M - CORRIDOR_HALF_WIDTH_M,
        STEP_M + CORRIDOR_HALF_WIDTH_M,
    )
