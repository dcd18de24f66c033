"""One design of a wearable robot, and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from homodyn.codesign.topology import JointPair, Topology, topologies
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.toml import read_toml


@record
class Design(Record):
    """Numbers that turn a topology into a robot."""

    topology: Topology
    actuated: JointPair
    """Numbers of the two actuated joints."""
    shares: np.ndarray
    """(3,): attachments on torso, thigh and shank as fractions from the lower end."""
    free_places: np.ndarray
    """(free joints, 2), m: forward of the hip and above the ground, in upright posture."""


class _DesignFile(BaseModel):
    """Keys of a design file."""

    model_config = ConfigDict(extra="forbid")
    topology: int
    actuated: tuple[int, int]
    attachments: dict[str, float]
    joints: dict[int, tuple[float, float]]


def load_design(path: str | Path) -> Design:
    """Read a design from a TOML file.

    ::

        topology = 2
        actuated = [1, 6]
        attachments = { torso = 0.3, thigh = 0.5, shank = 0.5 }
        joints = { 4 = [-0.12, 0.95], 6 = [-0.1, 0.75] }

    Args:
        path: The file.

    Returns:
        The design.

    Raises:
        HomodynError: The file is not a design; the message says what is wrong and what is accepted.
    """
    document = read_toml(Path(path))
    try:
        found = _DesignFile.model_validate(document.content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise HomodynError(f"{path}: {where}: {first['msg']}") from None
    known = topologies()
    if not 1 <= found.topology <= len(known):
        raise HomodynError(f"{path}: topology is a number from 1 to {len(known)}")
    topology = known[found.topology - 1]
    segments, free = topology.linkage.segments, topology.free_joints
    if set(found.attachments) != set(segments):
        raise HomodynError(f"{path}: attachments has one share for each of {', '.join(segments)}")
    if set(found.joints) != set(free):
        raise HomodynError(
            f"{path}: joints of topology {topology.number} has [x, z] for each of "
            f"{', '.join(map(str, free))}"
        )
    pair = (min(found.actuated), max(found.actuated))
    if pair not in topology.pairs:
        accepted = ", ".join(f"{a}-{b}" for a, b in topology.pairs)
        raise HomodynError(
            f"{path}: actuators at joints {pair[0]} and {pair[1]} do not control topology "
            f"{topology.number}; accepted are {accepted}"
        )
    return Design(
        topology,
        pair,
        np.array([found.attachments[segment] for segment in segments]),
        np.array([found.joints[number] for number in free]),
    )
