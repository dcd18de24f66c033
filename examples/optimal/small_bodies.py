"""Small planar models (x, z) on which problems are solved in seconds instead of minutes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.body import rod
from homodyn.model.muscles import Muscle, PathPoint, PathWrap, WrapObject

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

SITTER_MUSCLES = {
    "gluteus": (("Trunk", -0.08, 0.06), ("Thigh", -0.03, -0.2), "hip", 3500, 0.14),
    "iliopsoas": (("Trunk", 0.05, 0.1), ("Thigh", 0.03, -0.08), None, 3000, 0.12),
    "hamstrings": (("Trunk", -0.06, -0.05), ("Shank", -0.04, -0.05), None, 4000, 0.1),
    "rectus": (("Trunk", 0.06, 0.02), ("Shank", 0.04, -0.07), "knee", 2400, 0.1),
    "vasti": (("Thigh", 0.04, -0.2), ("Shank", 0.04, -0.07), "knee", 11000, 0.1),
    "gastrocnemius": (("Thigh", -0.03, -0.4), ("Foot", -0.05, -0.04), None, 4400, 0.07),
    "soleus": (("Shank", -0.03, -0.1), ("Foot", -0.05, -0.04), None, 9000, 0.06),
    "tibialis": (("Shank", 0.03, -0.15), ("Foot", 0.06, -0.03), None, 3000, 0.08),
}
"""Body and point (x, z, in m) of origin and insertion, wrap object, maximum isometric force (N) and
optimal fiber length (m); both legs together."""
WRAP_RADIUS_M = 0.045
"""Of the cylinders at hip and knee."""


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


def muscled_sitter(pose: np.ndarray) -> Model:
    """The sitter with muscles, whose fibers have their optimal length in a pose."""
    body = sitter()
    about_y = hd.spatial.rotation(np.array([1.0, 0, 0]), -np.pi / 2)
    wraps = [
        WrapObject(
            name, of, "cylinder", (WRAP_RADIUS_M, 0.2), hd.spatial.Transform(about_y, at), side
        )
        for name, of, at, side in (
            ("hip", "Trunk", np.zeros(3), "-x"),
            ("knee", "Thigh", np.array([0, 0, -THIGH]), "x"),
        )
    ]
    muscles = []
    for name, (*ends, wrap, force, fiber) in SITTER_MUSCLES.items():
        points = [
            PathPoint(end, at, (x, 0.0, z))
            for end, (at, x, z) in zip(("origin", "insertion"), ends, strict=True)
        ]
        muscle = Muscle(name, "DeGrooteFregly2016Muscle", tuple(points))
        muscles.append(
            replace(
                muscle,
                wraps=(PathWrap(wrap),) if wrap else (),
                max_isometric_force=float(force),
                optimal_fiber_length=fiber,
            )
        )
    loose = replace(body, wraps=tuple(wraps), muscles=tuple(muscles))
    lengths = hd.muscle.lengths(loose, pose, "geodesic")
    fitted = [
        replace(one, tendon_slack_length=float(length) - one.optimal_fiber_length)
        for one, length in zip(muscles, lengths, strict=True)
    ]
    return replace(loose, muscles=tuple(fitted))
