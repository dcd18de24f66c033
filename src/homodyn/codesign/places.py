"""Places of the joints of a robot in upright posture."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.codesign.leg_frame import LegFrame
from homodyn.codesign.link_inertia import Point
from homodyn.codesign.topology import Topology
from homodyn.spatial import Array

FREE_JOINT_OFFSETS_M = (-0.09, -0.26)
"""Forward positions of free joints in drawings, alternating: behind the leg."""
MIN_FREE_JOINT_DISTANCE_M = 0.16
"""Smallest difference in height of two free joints in drawings."""


def joint_places(
    topology: Topology,
    frame: LegFrame,
    shares: Mapping[str, Array],
    free_places: Mapping[int, Point],
) -> dict[int, Point]:
    """Places of all joints of a robot leg in upright posture.

    Args:
        topology: The topology.
        frame: The leg.
        shares: Place of the attachment of each segment, as a fraction of the segment from its lower
            end.
        free_places: Forward position relative to the hip, and height above the ground (m), by the
            number of the joint.

    Returns:
        Forward position and height (m) by number of the joint.
    """
    places: dict[int, Point] = {}
    for segment, number in topology.attachments.items():
        k = topology.linkage.segments.index(segment)
        low, high = frame.ends[k]
        places[number] = (frame.x[k], low + shares[segment] * (high - low))
    for first, second in topology.shared_pins:
        places[second] = places[first]
    for number, (x, z) in free_places.items():
        places[number] = (frame.hip[0] + x, z)
    return {number: places[number] for number in sorted(places)}


def default_places(topology: Topology, frame: LegFrame) -> dict[int, Point]:
    """Places for drawings: attachments in the middle of their segments, free joints behind the leg.

    The height of a free joint is the mean of the joints on its links; free joints that would be
    close to each other are moved apart.

    Args:
        topology: The topology.
        frame: The leg.

    Returns:
        Forward position and height (m) by number of the joint.
    """
    fixed = joint_places(topology, frame, dict.fromkeys(topology.linkage.segments, 0.5), {})
    free = topology.free_joints
    rows, targets = np.eye(len(free)), np.zeros(len(free))
    for row, number in enumerate(free):
        near = _neighbors(topology, number)
        for other in near:
            if other in free:
                rows[row, free.index(other)] -= 1 / len(near)
            else:
                targets[row] += fixed[other][1] / len(near)
    heights = _spread_heights(np.linalg.solve(rows, targets))
    x = [FREE_JOINT_OFFSETS_M[k % 2] for k in range(len(free))]
    return {**fixed, **dict(zip(free, zip(x, heights, strict=True), strict=True))}


def _spread_heights(heights: np.ndarray) -> np.ndarray:
    """Heights with the smallest difference, about the same mean."""
    order = np.argsort(heights, kind="stable")
    ranks = MIN_FREE_JOINT_DISTANCE_M * np.arange(len(order))
    spread = np.maximum.accumulate(heights[order] - ranks) + ranks
    result = np.empty_like(heights)
    result[order] = spread + (heights.mean() - spread.mean() if len(order) else 0.0)
    return result


def _neighbors(topology: Topology, number: int) -> list[int]:
    """Joints that share a robot link with a joint."""
    robot = set(topology.linkage.robot_links)
    own = robot.intersection(topology.links_of(number))
    return [
        other
        for other, pair in enumerate(topology.linkage.joints, start=1)
        if other != number and own.intersection(pair)
    ]
