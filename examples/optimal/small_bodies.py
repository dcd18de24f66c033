"""Small planar models (x, z) on which problems are solved in seconds instead of minutes."""

from __future__ import annotations

import numpy as np

from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.body import rod

THIGH = SHANK = 0.42
"""Lengths (m)."""


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
