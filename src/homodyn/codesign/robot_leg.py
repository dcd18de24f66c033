"""The robot on one leg as parts of a model: bodies, joints, markers, capsules and loops."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from homodyn.codesign.leg_frame import LegFrame
from homodyn.codesign.link_inertia import Construction, Point, link_inertia
from homodyn.codesign.places import joint_places
from homodyn.codesign.topology import Topology
from homodyn.dynamics import Pin
from homodyn.model import Body, Capsule, Joint, Marker, joints
from homodyn.model.parameters import Parameter
from homodyn.spatial import Array, Transform

BAR_RADIUS_M = 0.0125
"""Radius of the capsules of bars, for drawings and distances."""


def share_name(segment: str) -> str:
    """Parameter: place of the attachment on a segment."""
    return f"robot.{segment}.share"


def place_name(number: int, axis: str) -> str:
    """Parameter: place of a free joint along an axis."""
    return f"robot.joint_{number}.{axis}"


def mass_name(number: int) -> str:
    """Parameter: mass of the actuator or pin of a joint."""
    return f"robot.joint_{number}.mass"


class RobotLeg:
    """Builds the parts of one leg of a device.

    Args:
        topology: The topology.
        frame: The leg that carries it.
        construction: Densities and radii.
        parameters: Parameters of the robot by name.
    """

    def __init__(
        self,
        topology: Topology,
        frame: LegFrame,
        construction: Construction,
        parameters: Mapping[str, Parameter],
    ) -> None:
        self.topology, self.frame, self.construction = topology, frame, construction
        self._symbols = {name: parameter.symbol for name, parameter in parameters.items()}
        segments = topology.linkage.segments
        self._segment_bodies = dict(zip(segments, frame.bodies, strict=True))
        self._placements = dict(zip(segments, frame.placements, strict=True))
        shares = {segment: self._symbols[share_name(segment)] for segment in topology.attachments}
        free = {
            number: (self._symbols[place_name(number, "x")], self._symbols[place_name(number, "z")])
            for number in topology.free_joints
        }
        self.places = joint_places(topology, frame, shares, free)

    @cached_property
    def tree(self) -> dict[str, tuple[int, str]]:
        """Joint number and parent link of each robot link, parents first."""
        found: dict[str, tuple[int, str]] = {}
        reached = set(self.topology.linkage.segments)
        remaining = dict(enumerate(self.topology.linkage.joints, start=1))
        for number in self.topology.closure_joints:
            remaining.pop(number)
        while True:
            step = next(
                (
                    (number, parent, child)
                    for number, pair in remaining.items()
                    for parent, child in (pair, pair[::-1])
                    if parent in reached and child not in reached
                ),
                None,
            )
            if step is None:
                return found
            number, parent, child = step
            found[child] = (number, parent)
            reached.add(child)
            remaining.pop(number)

    @property
    def closures(self) -> tuple[int, ...]:
        """Numbers of the joints that close loops."""
        in_tree = {number for number, _ in self.tree.values()}
        count = len(self.topology.linkage.joints)
        return tuple(number for number in range(1, count + 1) if number not in in_tree)

    def body_name(self, link: str) -> str:
        """The body of a link of the linkage."""
        return self._segment_bodies.get(link, f"{self.frame.side.value}_robot_{link}")

    def joint_bodies(self, number: int) -> tuple[str, str]:
        """The bodies of a joint: the parent first, or the segment where a loop closes."""
        pair = self.topology.links_of(number)
        for child, (joint, parent) in self.tree.items():
            if joint == number:
                return self.body_name(parent), self.body_name(child)
        first, second = sorted(pair, key=lambda link: link in self.topology.linkage.robot_links)
        return self.body_name(first), self.body_name(second)

    def bodies(self) -> list[Body]:
        """The robot links, parents first."""
        return [self._body(link) for link in self.tree]

    def joints(self) -> list[Joint]:
        """Hinges about Y whose zero is the upright posture, in the order of the bodies."""
        hinge = joints.revolute("y")
        return [
            hinge.joint(
                f"{self.frame.side.value}_robot_{number}",
                self.body_name(parent),
                self.body_name(link),
                at=self._joint_frame(number, parent),
            )
            for link, (number, parent) in self.tree.items()
        ]

    def markers(self) -> list[Marker]:
        """Two markers per loop, which coincide where it is closed."""
        return [
            Marker(name, self.body_name(link), self._local(number, link))
            for number in self.closures
            for name, link in zip(
                self._loop_markers(number), self.topology.links_of(number), strict=True
            )
        ]

    def capsules(self) -> list[Capsule]:
        """One capsule per bar."""
        result = []
        for link in self.tree:
            numbers = self._joints_of(link)
            for k, first in enumerate(numbers):
                for second in numbers[k + 1 :]:
                    body = self.body_name(link)
                    ends = (self._local(first, link), self._local(second, link))
                    result.append(Capsule(f"{body}_{first}{second}", body, *ends, BAR_RADIUS_M))
        return result

    def loops(self) -> list[Pin]:
        """Planar pins."""
        return [Pin(*self._loop_markers(number), directions="xz") for number in self.closures]

    def _loop_markers(self, number: int) -> tuple[str, str]:
        name = f"{self.frame.side.value}_robot_{number}"
        return f"{name}_a", f"{name}_b"

    def _joints_of(self, link: str) -> list[int]:
        pairs = enumerate(self.topology.linkage.joints, start=1)
        return [number for number, pair in pairs if link in pair]

    def _body(self, link: str) -> Body:
        numbers = self._joints_of(link)
        carried = [number for number in numbers if self._carrier(number) == link]
        inertia = link_inertia(
            [self._in_link(number, link) for number in numbers],
            [(self._in_link(n, link), self._symbols[mass_name(n)]) for n in carried],
            self.construction,
        )
        x, z = inertia.com
        return Body(self.body_name(link), inertia.mass, [x, 0.0, z], inertia.spatial())

    def _carrier(self, number: int) -> str:
        """The robot link whose mass includes a joint: the first one of its two links."""
        pair = self.topology.links_of(number)
        return next(link for link in pair if link in self.topology.linkage.robot_links)

    def _in_link(self, number: int, link: str) -> Point:
        """Place of a joint relative to the origin of a robot link, upright axes (m)."""
        (x, z), (x0, z0) = self.places[number], self.places[self.tree[link][0]]
        return x - x0, z - z0

    def _local(self, number: int, link: str) -> list[Array]:
        """Place of a joint in the axes of the body of a link (m)."""
        if link not in self._placements:
            x, z = self._in_link(number, link)
            return [x, 0.0, z]
        x, z = self.places[number]
        placement = self._placements[link]
        offset = (x - placement.r[0], self.frame.lateral - placement.r[1], z - placement.r[2])
        rotation = np.asarray(placement.E)
        return [sum(rotation[row, k] * offset[k] for k in range(3)) for row in range(3)]

    def _joint_frame(self, number: int, parent: str) -> Transform:
        """The joint in its parent, with the axes of the world in upright posture."""
        local = self._local(number, parent)
        placement = self._placements.get(parent)
        rotation = np.eye(3) if placement is None else np.asarray(placement.E).T
        return Transform(rotation, local)
