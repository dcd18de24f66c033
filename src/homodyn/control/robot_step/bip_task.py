"""The task function of Bip (HuMAnS, INRIA 2006, section 8.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from homodyn.control.kinematic_point import KinematicPoint

TRUNK_TAGS = ("trunk_bottom_right", "trunk_bottom_left", "trunk_top_right")
"""Tags 16, 17 and 18."""
TRUNK_COORDINATES, ROOT_COORDINATES = slice(18, 21), slice(0, 6)
VALUE_NAMES: tuple[str, ...] = (
    *(
        f"center of mass from the {side} ankle, {axis}"
        for side in ("right", "left")
        for axis in "xyz"
    ),
    *(
        f"trunk in the axes of the {side} foot, {axis}"
        for side in ("right", "left")
        for axis in ("forward", "turn", "lean")
    ),
    *("trunk joint 1", "trunk joint 2", "trunk joint 3"),
    *("root x", "root y", "root z", "root yaw", "root pitch", "root roll"),
)


def bip_task(point: KinematicPoint) -> Any:
    """Center of mass to both ankles in the pelvis, trunk in both feet, trunk joints and root.

    The document prints the third term of the trunk as ``z18 - x16``, which mixes axes; read as
    ``x18 - x16`` here. Axes are x forward, y left, z up instead of those of the document.

    Args:
        point: The state.

    Returns:
        (21,).
    """
    to_pelvis = point.rotation("pelvis").T
    parts = [
        to_pelvis @ (point.center_of_mass - point.position(ankle))
        for ankle in ("right_ankle", "left_ankle")
    ]
    right, left, top = (point.position(name) for name in TRUNK_TAGS)
    for foot in ("right_foot", "left_foot"):
        to_foot = point.rotation(foot).T
        across, up = to_foot @ (right - left), to_foot @ (top - right)
        parts.append(ca.vertcat(across[0], across[2], up[0]))
    return ca.vertcat(*parts, point.q[TRUNK_COORDINATES], point.q[ROOT_COORDINATES])
