"""A squat of 39 degrees of freedom: the problem that optimal control is timed with.

Human36 with a stiff neck has 6 coordinates of its root and 33 hinges. Both feet stand flat on four
points each, with 24 components of force; a squat with an arm swing is tracked for a second.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn.optimal as oc
from homodyn.catalog import human36
from homodyn.dynamics import ConstraintSet, PointContact, Stabilization, position
from homodyn.model import Model

SIDES = ("right", "left")
POINTS = ("toe", "heel", "lateral_ball", "medial_ball")
LOWEST_POSE_RAD = {"hip_flexion": 1.5, "knee_extension": -1.2, "ankle_dorsiflexion": 0.3}
LOWEST_TRUNK_LEAN_RAD = 0.6
"""rad, at the lowest point: soles stay level, and the weight above them."""
INITIAL_KNEE_BEND_SHARE = 0.1
"""Part of the way that knees are bent from the start: straight ones could not push."""
DIFFERENCE_STEP_S = 1e-4
"""s: step of the differences that speeds are guessed by."""
SHOULDER_SWING_RAD = 1.2
"""rad, of the shoulders."""


def body() -> Model:
    """Human36 without the three freedoms of its neck."""
    model = human36()
    stiff = [
        replace(joint, kind="fixed", axes=(), coordinates=()) if joint.name == "neck" else joint
        for joint in model.joints
    ]
    return replace(model, joints=tuple(stiff))


def poses(model: Model, fractions: np.ndarray) -> np.ndarray:
    """(n, nq): down and up again, arms forward at the bottom, heels where they are."""
    depth = (
        INITIAL_KNEE_BEND_SHARE
        + (1 - INITIAL_KNEE_BEND_SHARE) * (1 - np.cos(2 * np.pi * fractions)) / 2
    )
    q = np.tile(model.neutral(), (len(fractions), 1))
    for side in SIDES:
        for name, angle in LOWEST_POSE_RAD.items():
            q[:, model.coordinate_index(f"{side}_{name}")] += angle * depth
        q[:, model.coordinate_index(f"{side}_shoulder_flexion")] += SHOULDER_SWING_RAD * depth
    q[:, model.coordinate_index("root_ry")] += LOWEST_TRUNK_LEAN_RAD * depth
    heel = np.asarray(position(model, q, "right_heel"))
    start = np.asarray(position(model, model.neutral(), "right_heel"))
    for axis, name in ((0, "root_tx"), (2, "root_tz")):
        q[:, model.coordinate_index(name)] -= heel[:, axis] - start[axis]
    return q


def problem(intervals: int = 50) -> oc.Problem:
    """Track the squat with little torque and little force, from rest."""
    model = body()
    first = poses(model, np.zeros(1))[0]
    names = [f"{side}_{point}" for side in SIDES for point in POINTS]
    feet = ConstraintSet(
        tuple(PointContact(name, anchor=position(model, first, name)) for name in names)
    )
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))

    def wanted(fractions: np.ndarray) -> np.ndarray:
        return poses(model, fractions)

    def speeds(fractions: np.ndarray) -> np.ndarray:
        return (wanted(fractions + DIFFERENCE_STEP_S) - wanted(fractions - DIFFERENCE_STEP_S)) / (
            2 * DIFFERENCE_STEP_S
        )

    def changes(fractions: np.ndarray) -> np.ndarray:
        return (speeds(fractions + DIFFERENCE_STEP_S) - speeds(fractions - DIFFERENCE_STEP_S)) / (
            2 * DIFFERENCE_STEP_S
        )

    phase = oc.Phase(
        "squat",
        1.0,
        feet,
        [
            oc.track_coordinates(wanted),
            1e-5 * oc.torque(),
            1e-2 * oc.contact_force(),
            1e-4 * oc.acceleration(),
        ],
        [oc.unilateral(*names)],
        intervals,
        start={"q": first, "v": 0.0},
        guess={
            "q": wanted,
            "v": speeds,
            "a": changes,
            "force": {f"{name} z": weight / len(names) for name in names},
        },
        stabilization=Stabilization.oscillator(20.0),
    )
    return oc.Problem(model, [phase])
