"""A squat of 39 degrees of freedom: an optimal control problem for benchmarks.

Human36 with a fixed neck has 6 coordinates of the root and 33 hinges. Each foot has four contact
points, with 24 force components in total; a squat with an arm swing is tracked for one second.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn.optimal as oc
from homodyn.catalog import human36
from homodyn.dynamics import ConstraintSet, PointContact, position
from homodyn.dynamics.constraints import Stabilization
from homodyn.model import Model
from homodyn.motion import Side

POINTS = ("toe", "heel", "lateral_ball", "medial_ball")
LOWEST_POSE_RAD = {"hip_flexion": 1.5, "knee_extension": -1.2, "ankle_dorsiflexion": 0.3}
LOWEST_TRUNK_LEAN_RAD = 0.6
"""Trunk lean at the lowest point, which keeps the soles level and the weight above them."""
INITIAL_KNEE_BEND_SHARE = 0.1
"""Share of the depth at the start: straight knees are singular."""
DIFFERENCE_STEP_S = 1e-4
"""Step of the finite differences for the initial guess of velocities."""
SHOULDER_SWING_RAD = 1.2
"""Shoulder flexion at the lowest point."""


def body() -> Model:
    """Human36 with a fixed neck."""
    model = human36()
    fixed_neck = [
        replace(joint, kind="fixed", axes=(), coordinates=()) if joint.name == "neck" else joint
        for joint in model.joints
    ]
    return replace(model, joints=tuple(fixed_neck))


def poses(model: Model, fractions: np.ndarray) -> np.ndarray:
    """Poses of the squat: down and up, arms forward at the bottom, heels in place.

    Args:
        model: The model.
        fractions: (n,), fractions of the duration.

    Returns:
        (n, nq).
    """
    depth = (
        INITIAL_KNEE_BEND_SHARE
        + (1 - INITIAL_KNEE_BEND_SHARE) * (1 - np.cos(2 * np.pi * fractions)) / 2
    )
    q = np.tile(model.neutral(), (len(fractions), 1))
    for side in Side:
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
    """The problem: track the squat with small torques and forces, starting at rest.

    Args:
        intervals: Mesh intervals.

    Returns:
        The problem.
    """
    model = body()
    first = poses(model, np.zeros(1))[0]
    names = [f"{side}_{point}" for side in Side for point in POINTS]
    feet = ConstraintSet(
        tuple(PointContact(name, anchor=position(model, first, name)) for name in names)
    )
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))

    def reference(fractions: np.ndarray) -> np.ndarray:
        return poses(model, fractions)

    def velocities(fractions: np.ndarray) -> np.ndarray:
        after, before = (
            reference(fractions + DIFFERENCE_STEP_S),
            reference(fractions - DIFFERENCE_STEP_S),
        )
        return (after - before) / (2 * DIFFERENCE_STEP_S)

    def accelerations(fractions: np.ndarray) -> np.ndarray:
        after, before = (
            velocities(fractions + DIFFERENCE_STEP_S),
            velocities(fractions - DIFFERENCE_STEP_S),
        )
        return (after - before) / (2 * DIFFERENCE_STEP_S)

    phase = oc.Phase(
        "squat",
        1.0,
        feet,
        [
            oc.track_coordinates(reference),
            1e-5 * oc.torque(),
            1e-2 * oc.contact_force(),
            1e-4 * oc.acceleration(),
        ],
        [oc.unilateral(*names)],
        intervals,
        start={"q": first, "v": 0.0},
        guess={
            "q": reference,
            "v": velocities,
            "a": accelerations,
            "force": {f"{name} z": weight / len(names) for name in names},
        },
        stabilization=Stabilization.oscillator(20.0),
    )
    return oc.Problem(model, [phase])
