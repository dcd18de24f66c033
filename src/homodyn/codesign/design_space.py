"""The search space of wearable robots: a pool of actuator pairs, and which numbers each has.

One group of the pool is one topology with one pair of actuators; 126 for the published topologies.
Joints keep their parameters in all groups that have them, so that a candidate that migrates keeps
what it learned. Table 5.2 of van den Kieboom (2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from homodyn.codesign.design import Design
from homodyn.codesign.device import Device
from homodyn.codesign.drive import DriveBounds, drive_names, drive_parameters
from homodyn.codesign.motor_set import SLOTS, joint_name, selector_name
from homodyn.codesign.passive_element import PassiveElement
from homodyn.codesign.topology import JointPair, Topology
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.search import Pool, SearchParameter, Space

POOL = "robot"
"""Name of the pool of topologies and actuator pairs."""
ANKLE = "ankle"
PLACE_AXES = ("x", "z")


@record
class DesignBounds(Record):
    """Bounds of the numbers of a robot and its motors.

    Raises:
        HomodynError: Bounds are not in order.
    """

    share: tuple[float, float] = (0.0, 1.0)
    """Attachments along their segments, from the lower end."""
    forward: tuple[float, float] = (-0.15, 0.15)
    """Free joints, forward of the hip (m)."""
    height: tuple[float, float] = (0.1, 1.3)
    """Free joints above the ground (m)."""
    robot: DriveBounds = field(default_factory=lambda: DriveBounds(-np.pi, np.pi, 0.6))
    """Actuators of the robot."""
    ankle: DriveBounds = field(default_factory=lambda: DriveBounds(-0.6, 0.6, 0.3))
    """Motors of the ankles."""

    def __post_init__(self) -> None:
        for name in ("share", "forward", "height"):
            low, high = getattr(self, name)
            if not low < high:
                raise HomodynError(f"bounds of {name} are not in order: {low:g} to {high:g}")
        if self.robot.points != self.ankle.points:
            raise HomodynError("targets of robot and ankle have the same number of points")


@record
class DesignGroup(Record):
    """A topology with two actuated joints."""

    topology: Topology
    pair: JointPair

    @property
    def name(self) -> str:
        """Such as ``"2: 1-6"``."""
        return f"{self.topology.number}: {self.pair[0]}-{self.pair[1]}"


def share_parameter(segment: str) -> str:
    """Parameter of a search: place of an attachment."""
    return f"{segment} share"


def place_parameter(number: int, axis: str) -> str:
    """Parameter of a search: place of a free joint."""
    return f"{joint_name(number)} {axis}"


@record
class DesignSpace(Record):
    """Parameters and groups, and the numbers that a simulation needs for each candidate."""

    topologies: tuple[Topology, ...]
    bounds: DesignBounds
    passive: PassiveElement

    @cached_property
    def groups(self) -> tuple[DesignGroup, ...]:
        """All groups, in the order of the pool."""
        return tuple(DesignGroup(one, pair) for one in self.topologies for pair in one.pairs)

    @property
    def segments(self) -> tuple[str, ...]:
        """Segments that carry attachments."""
        return self.topologies[0].linkage.segments

    @cached_property
    def joint_count(self) -> int:
        """Joints of a robot leg."""
        return len(self.topologies[0].linkage.joints)

    @cached_property
    def space(self) -> Space:
        """The search space."""
        bounds = self.bounds
        found = drive_parameters(ANKLE, bounds.ankle)
        found += [SearchParameter(share_parameter(one), *bounds.share) for one in self.segments]
        for number in range(1, self.joint_count + 1):
            name = joint_name(number)
            if any(number in one.free_joints for one in self.topologies):
                found.append(SearchParameter(f"{name} x", *bounds.forward, "m"))
                found.append(SearchParameter(f"{name} z", *bounds.height, "m"))
            found += drive_parameters(name, bounds.robot)
            found += self.passive.parameters(name)
        groups = {group.name: tuple(self._own_names(group)) for group in self.groups}
        return Space(parameters=tuple(found), pools=(Pool(name=POOL, groups=groups),))

    def _own_names(self, group: DesignGroup) -> list[str]:
        """Parameters that only some groups have."""
        names = [
            place_parameter(number, axis)
            for number in group.topology.free_joints
            for axis in PLACE_AXES
        ]
        for number in range(1, self.joint_count + 1):
            name = joint_name(number)
            if number in group.pair:
                names += drive_names(name, self.bounds.robot.points)
            else:
                names += [parameter.name for parameter in self.passive.parameters(name)]
        return names

    def size(self, group: DesignGroup) -> int:
        """Number of parameters of a candidate.

        Args:
            group: Its group.

        Returns:
            The number.
        """
        common = len(drive_names(ANKLE, self.bounds.ankle.points)) + len(self.segments)
        return common + len(self._own_names(group))

    def columns(self, names: Sequence[str]) -> list[int]:
        """Columns of parameters in arrays of values."""
        return [self._index[name] for name in names]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.space.names)}

    def places(
        self, values: np.ndarray, groups: np.ndarray, topology: Topology
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs, shares and free places of candidates of one topology.

        Args:
            values: (candidates, parameters).
            groups: Index of the group of each candidate.
            topology: Their topology.

        Returns:
            (candidates, 2), (candidates, 3) and (candidates, free joints, 2), as
            `check_designs` takes them.
        """
        pairs = np.array([self.groups[int(k)].pair for k in groups])
        shares = values[:, self.columns([share_parameter(one) for one in self.segments])]
        free = topology.free_joints
        names = [place_parameter(number, axis) for number in free for axis in PLACE_AXES]
        return pairs, shares, values[:, self.columns(names)].reshape(len(values), len(free), 2)

    def batch(self, values: np.ndarray, pairs: np.ndarray) -> dict[str, np.ndarray]:
        """Batch parameters of a simulation for candidates of one topology.

        Args:
            values: (candidates, parameters).
            pairs: Actuated joints, (candidates, 2).

        Returns:
            Values by name, (candidates,).
        """
        points, rows = self.bounds.robot.points, np.arange(len(values))
        found = self._columns_by_name(values, drive_names(ANKLE, points))
        numbers = range(1, self.joint_count + 1)
        by_joint = [self.columns(drive_names(joint_name(number), points)) for number in numbers]
        for slot, chosen in zip(SLOTS, pairs.T, strict=True):
            columns = np.array(by_joint)[chosen - 1]
            own = values[rows[:, None], columns]
            found |= dict(zip(drive_names(slot, points), own.T, strict=True))
            found |= {selector_name(slot, n): (chosen == n).astype(float) for n in numbers}
        for number in numbers:
            passive = ~(pairs == number).any(axis=1)
            names = [one.name for one in self.passive.parameters(joint_name(number))]
            for name, value in self._columns_by_name(values, names).items():
                found[name] = np.where(passive, value, 0.0)
        return found

    def _columns_by_name(self, values: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        return dict(zip(names, values[:, self.columns(names)].T, strict=True))

    def row(self, parameters: Mapping[str, float], structure: Mapping[str, str]) -> np.ndarray:
        """Values of one candidate as a row of an array, NaN for parameters that it lacks.

        Args:
            parameters: Values by name.
            structure: Its group, such as ``{"robot": "2: 1-6"}``.

        Returns:
            (parameters,).

        Raises:
            HomodynError: A parameter of the group is missing.
        """
        active = self.space.active(self.space.group_numbers(structure)[None])[0]
        needed = [name for name, one in zip(self.space.names, active, strict=True) if one]
        missing = [name for name in needed if name not in parameters]
        if missing:
            raise HomodynError(f"a design of group {structure[POOL]!r} needs {missing[0]!r}")
        return np.array([float(parameters[n]) if n in needed else np.nan for n in self.space.names])

    def design(self, parameters: Mapping[str, float], structure: Mapping[str, str]) -> Design:
        """The robot of a candidate.

        Args:
            parameters: Values by name.
            structure: Its group.

        Returns:
            The design.
        """
        number = int(self.space.group_numbers(structure)[0])
        group = self.groups[number]
        row = self.row(parameters, structure)[None]
        _, shares, places = self.places(row, np.array([number]), group.topology)
        return Design(group.topology, group.pair, shares[0], places[0])


def design_values(device: Device, design: Design) -> dict[str, float]:
    """Parameters of a model for one design.

    Args:
        device: A device of its topology.
        design: The design.

    Returns:
        Values by name.
    """
    found = device.parameter_values(design.actuated, design.shares, design.free_places)
    return {name: float(value) for name, value in found.items()}
