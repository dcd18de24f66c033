"""Small planar models (x, z) on which problems are solved in seconds instead of minutes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.body import rod
from homodyn.model.muscles import Muscle, PathPoint

THIGH = SHANK = 0.42
"""Lengths (m)."""

ARM_MUSCLES = {
    "deltoid_front": ("world", (0.03, 0, 0.02), "UpperArm", (0.03, 0, -0.12), 900),
    "deltoid_rear": ("world", (-0.04, 0, 0.02), "UpperArm", (-0.03, 0, -0.12), 700),
    "brachialis": ("UpperArm", (0.025, 0, -0.18), "Forearm", (0.025, 0, -0.05), 800),
    "triceps_lateral": ("UpperArm", (-0.025, 0, -0.15), "Forearm", (-0.025, 0, 0.02), 700),
    "biceps": ("world", (0.02, 0, 0.03), "Forearm", (0.025, 0, -0.05), 500),
    "triceps_long": ("world", (-0.03, 0, -0.01), "Forearm", (-0.025, 0, 0.02), 500),
}
"""Bodies and points (m) of origin and insertion, and maximum isometric force (N)."""


def walker() -> Model:
    """A trunk of 40 kg on two legs with knees and point feet: seven degrees of freedom."""
    tree = Assembly("walker").add(
        Body("Trunk", 40.0, (0, 0, 0.25), np.diag([2.0, 2.0, 0.5])), joints.planar("y")
    )
    for side in ("Right", "Left"):
        tree = (
            tree.add(
                rod(f"Thigh{side}", 7.0, (0, 0, 0), (0, 0, -THIGH)),
                joints.revolute("y"),
                "Trunk",
                joint_name=f"Hip{side}",
            )
            .add(
                rod(f"Shank{side}", 4.0, (0, 0, 0), (0, 0, -SHANK)),
                joints.revolute("y"),
                f"Thigh{side}",
                at=(0, 0, -THIGH),
                joint_name=f"Knee{side}",
            )
            .contact(f"Foot{side}", f"Shank{side}", "point", position=(0, 0, -SHANK))
        )
    return tree.model()


def sitter() -> Model:
    """Both legs as one, and a foot with contacts at heel and toe: six degrees of freedom."""
    return (
        Assembly("sitter")
        .add(Body("Trunk", 45.0, (0, 0, 0.3), np.diag([3.0, 3.0, 0.5])), joints.planar("y"))
        .add(rod("Thigh", 15.0, (0, 0, 0), (0, 0, -THIGH)), joints.revolute("y"), "Trunk")
        .add(
            rod("Shank", 8.0, (0, 0, 0), (0, 0, -SHANK)),
            joints.revolute("y"),
            "Thigh",
            at=(0, 0, -THIGH),
        )
        .add(
            rod("Foot", 2.0, (-0.06, 0, -0.06), (0.18, 0, -0.06)),
            joints.revolute("y"),
            "Shank",
            at=(0, 0, -SHANK),
        )
        .contact("Heel", "Foot", "point", position=(-0.06, 0, -0.06))
        .contact("Toe", "Foot", "point", position=(0.18, 0, -0.06))
        .model()
    )


def leg(pitch: float, bend: float) -> tuple[float, float, float]:
    """Hip and knee angles (rad) of a leg, and its length from hip to foot (m).

    The line from hip to foot is inclined forward by ``pitch``; the knee is flexed by ``bend``.
    """
    return -pitch - bend / 2, bend, 2 * THIGH * float(np.cos(bend / 2))


def arm() -> Model:
    """An arm with a fixed shoulder and six muscles that cross the shoulder, the elbow or both."""
    skeleton = (
        Assembly("arm")
        .add(
            rod("UpperArm", 2.0, (0, 0, 0), (0, 0, -0.3)),
            joints.revolute("y", lower=-2.0, upper=1.0),
            joint_name="Shoulder",
        )
        .add(
            rod("Forearm", 1.6, (0, 0, 0), (0, 0, -0.38)),
            joints.revolute("y", lower=-2.4, upper=-0.05),
            "UpperArm",
            at=(0, 0, -0.3),
            joint_name="Elbow",
        )
        .frame("Hand", "Forearm", (0, 0, -0.38))
        .model()
    )
    muscles = []
    for name, (origin, start, insertion, end, force) in ARM_MUSCLES.items():
        points = PathPoint("origin", origin, start), PathPoint("insertion", insertion, end)
        muscles.append(
            Muscle(name, "DeGrooteFregly2016Muscle", points, max_isometric_force=float(force))
        )
    loose = replace(skeleton, muscles=tuple(muscles))
    # Fibers have their optimal length in the middle of a reach.
    lengths = hd.muscle.lengths(loose, np.array([-0.5, -1.0]))
    fitted = [
        replace(
            one,
            optimal_fiber_length=0.6 * float(length),
            tendon_slack_length=0.4 * float(length),
        )
        for one, length in zip(muscles, lengths, strict=True)
    ]
    return replace(skeleton, muscles=tuple(fitted))
