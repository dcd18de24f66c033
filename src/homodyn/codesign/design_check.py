"""Checks of designs before any simulation: length of bars, reach, and singular poses.

The singularity filter of van den Kieboom (2014), sections 5.2.3 and 5.4.4, along normative
trajectories of hip and knee, with its rule corrected: read literally it asks every actuator to move
both hip and knee, which topology 1 with its two independent four-bar linkages can never do. Here
both actuators together must control both joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from homodyn.codesign.device import Device
from homodyn.codesign.leg_poses import normative_poses
from homodyn.codesign.loop_closure import LegLoops
from homodyn.codesign.places import joint_places
from homodyn.codesign.robot_leg import place_name, share_name
from homodyn.foundation.record import Record, record
from homodyn.model.side import Side

MAX_BAR_LENGTH_M = 0.7
"""Longer bars buckle (table 5.3)."""
MIN_CONTROL = 0.02
"""Smallest reciprocal condition number of the loops, and smallest share of a motion that is a
rotation of the actuators; below it a pose is singular."""


class DesignVerdict(Enum):
    """Result of the checks of a design, in their order."""

    ACCEPTED = "accepted"
    BAR_TOO_LONG = "a bar is too long"
    UNREACHABLE = "loops do not close"
    SINGULAR = "singular"


@record
class DesignChecks(Record):
    """Checks of a batch of designs of one topology."""

    bar_lengths: np.ndarray
    """(designs, 2), m: the shortest and the longest bar."""
    reached: np.ndarray
    """(designs,): share of the poses in which all loops close."""
    loop_condition: np.ndarray
    """(designs,): smallest reciprocal condition number of the loops in the robot joints."""
    actuator_control: np.ndarray
    """(designs,): smallest singular value of actuator rates over all motions of unit size."""
    worst_pose: np.ndarray
    """(designs,): percent of the gait cycle of the first pose that fails, or of the one nearest to
    a singularity."""
    failed_share: np.ndarray
    """(designs,): share of the poses in which loops do not close or that are singular."""

    @property
    def verdicts(self) -> list[DesignVerdict]:
        """One verdict per design."""
        return [self._verdict(k) for k in range(len(self.reached))]

    def _verdict(self, k: int) -> DesignVerdict:
        if self.bar_lengths[k, 1] > MAX_BAR_LENGTH_M:
            return DesignVerdict.BAR_TOO_LONG
        if self.reached[k] < 1:
            return DesignVerdict.UNREACHABLE
        if min(self.loop_condition[k], self.actuator_control[k]) < MIN_CONTROL:
            return DesignVerdict.SINGULAR
        return DesignVerdict.ACCEPTED

    def reason(self, design: int) -> str:
        """The verdict on a design in one sentence.

        Args:
            design: Index of the design.

        Returns:
            What was found, with its number.
        """
        verdict, at = self._verdict(design), f"at {self.worst_pose[design]:.0f} % of the gait cycle"
        if verdict is DesignVerdict.BAR_TOO_LONG:
            longest = self.bar_lengths[design, 1]
            return f"rejected: a bar of {longest:.2f} m exceeds {MAX_BAR_LENGTH_M} m"
        if verdict is DesignVerdict.UNREACHABLE:
            share = 100 * (1 - self.reached[design])
            return f"rejected: the loops do not close in {share:.0f} % of the poses, first {at}"
        if verdict is DesignVerdict.SINGULAR:
            loops = self.loop_condition[design] <= self.actuator_control[design]
            what = (
                "the leg does not determine the robot"
                if loops
                else "the actuators do not control the leg"
            )
            return f"rejected: {what} {at}"
        return f"accepted: nearest to a singular pose {at}"


def check_designs(
    device: Device, actuated: ArrayLike, shares: ArrayLike, free_places: ArrayLike
) -> DesignChecks:
    """Check a batch of designs along normative poses of hip and knee.

    Args:
        device: The device.
        actuated: Numbers of the two actuated joints, (designs, 2).
        shares: Places of the attachments, (designs, 3); see `Device.parameter_values`.
        free_places: Places of the free joints, (designs, free joints, 2), m.

    Returns:
        What was measured, and the verdicts.

    Raises:
        HomodynError: Shapes do not fit, or a joint does not exist.
    """
    return DesignChecker(device).check(actuated, shares, free_places)


class DesignChecker:
    """Checks of many batches of designs of one topology, with kernels that are built once.

    Args:
        device: The device.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.loops = LegLoops(device)
        self.poses = normative_poses(device.person, Side.LEFT)

    def check(
        self,
        actuated: ArrayLike,
        shares: ArrayLike,
        free_places: ArrayLike,
        *,
        stop_early: bool = False,
    ) -> DesignChecks:
        """Check a batch of designs; see `check_designs`.

        Args:
            actuated: Numbers of the two actuated joints, (designs, 2).
            shares: Places of the attachments, (designs, 3).
            free_places: Places of the free joints, (designs, free joints, 2), m.
            stop_early: Measure only what verdicts need: designs with too long bars are not moved,
                and singular poses are looked for only where all loops close. What is not measured
                counts as failed.

        Returns:
            What was measured, and the verdicts.

        Raises:
            HomodynError: Shapes do not fit, or a joint does not exist.
        """
        values = self.device.parameter_values(actuated, shares, free_places)
        bars = _bar_lengths(self.device, values)
        names = self.device.model.parameter_names
        parameters = np.stack([values[name] for name in names], axis=-1)
        shape = (len(bars), len(self.poses.cycle), len(self.poses.offsets))
        closed, control = np.zeros(shape, bool), np.zeros((2, *shape))
        moved = np.ones(len(bars), bool) if not stop_early else bars[:, 1] <= MAX_BAR_LENGTH_M
        q = np.empty((*shape, self.device.model.nq))
        if moved.any():
            q[moved], closed[moved] = self.loops.follow(self.poses, parameters[moved])
        closes = moved & (closed.all(axis=(1, 2)) if stop_early else True)
        if closes.any():
            pairs = np.asarray(actuated)[closes]
            control[:, closes] = _control(self.loops, q[closes], pairs, parameters[closes])
        weakest = np.where(closed, control.min(axis=0), -1.0)
        at = weakest.min(axis=2).argmin(axis=1) * 100 / len(self.poses.cycle)
        return DesignChecks(
            bars,
            closed.mean(axis=(1, 2)),
            control[0].min(axis=(1, 2)),
            control[1].min(axis=(1, 2)),
            at,
            (weakest < MIN_CONTROL).mean(axis=(1, 2)),
        )


def _control(
    loops: LegLoops, q: np.ndarray, actuated: np.ndarray, parameters: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Condition of the loops and of the actuators, (designs, poses, offsets) each.

    Between two poses a linkage can pass a singular one: the sign of a determinant then changes, and
    such poses count as singular.
    """
    shape = q.shape[:-1]
    per_design = int(np.prod(shape[1:]))
    flat = np.repeat(parameters, per_design, axis=0)
    motions, condition = loops.motions(q.reshape(-1, q.shape[-1]), flat)
    rates = np.stack([loops.joint_rates(motions, joint) for joint in loops.joints], axis=1)
    chosen = np.repeat(actuated - 1, per_design, axis=0)
    driven = np.take_along_axis(rates, chosen[..., None], axis=1)
    determinant = _det2(driven) * _det2(motions[:, :2])
    # Singular values of 2 x 2 matrices: sums and differences of squares.
    squares = (driven**2).sum(axis=(1, 2))
    twice = 2 * np.abs(_det2(driven))
    smallest = (np.sqrt(squares + twice) - np.sqrt(np.maximum(squares - twice, 0.0))) / 2

    def on_one_branch(measure: np.ndarray, signed: np.ndarray) -> np.ndarray:
        sign = np.sign(signed).reshape(shape)
        return np.where(sign == sign[:, :1, :1], measure.reshape(shape), 0.0)

    return on_one_branch(np.abs(condition), condition), on_one_branch(smallest, determinant)


def _det2(matrices: np.ndarray) -> np.ndarray:
    """Determinants of (n, 2, 2)."""
    return matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0]


def _bar_lengths(device: Device, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The shortest and the longest bar of each design, (designs, 2), m."""
    topology = device.topology
    shares = {segment: values[share_name(segment)] for segment in topology.attachments}
    free = {
        number: (values[place_name(number, "x")], values[place_name(number, "z")])
        for number in topology.free_joints
    }
    places = joint_places(topology, device.frames[0], shares, free)
    pairs = enumerate(topology.linkage.joints, start=1)
    on_link = {
        link: [number for number, pair in pairs_of if link in pair]
        for pairs_of in [list(pairs)]
        for link in topology.linkage.robot_links
    }
    lengths = np.stack(
        [
            np.hypot(places[a][0] - places[b][0], places[a][1] - places[b][1])
            for numbers in on_link.values()
            for a, b in combinations(numbers, 2)
        ],
        axis=-1,
    )
    return np.stack([lengths.min(axis=-1), lengths.max(axis=-1)], axis=-1)
