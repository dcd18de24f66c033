"""Which feet of a motion are on the ground: by known contact forces, else by the soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.balance.required_wrench import whole_body_wrench
from homodyn.capture.kinetics import Foot
from homodyn.capture.kinetics.foot_trajectories import (
    MAX_STANCE_CLEARANCE_M,
    MAX_STANCE_SPEED_M_S,
    SoleTrajectory,
    ground_tilt,
)
from homodyn.dynamics import position
from homodyn.model import Model
from homodyn.model.shapes import ContactShape
from homodyn.motion import STANCE_THRESHOLD, ContactForce, Motion, MotionSource

MAX_CONTACT_CLEARANCE_M = 0.01
"""Height above the ground up to which a sole of a computed pose is in contact."""
MAX_PENETRATION_M = 0.05
"""Depth below a known ground beyond which a sole is not on it; soft contacts penetrate less."""
MAX_POINT_HEIGHT_M = 0.05
"""Height of markers and body origins above the sole, for feet without contact shapes."""
MIN_CARRIED_WEIGHT_FRACTION = 0.1
"""Mean vertical force over the weight below which a body falls freely and no foot carries it."""
GROUND_PERCENTILE = 5.0
"""Percentile of the height of a sole over time that is its lowest level."""
ROUND_KINDS = ("sphere", "capsule")
"""Kinds of contact shapes that have a radius."""


@dataclass(frozen=True, eq=False)
class Sole:
    """The lowest points of one foot over time."""

    points: np.ndarray
    """(frames, points, 3), m, world."""
    height: np.ndarray
    """(frames, points), m: along the vertical, over a floor that may be slightly tilted."""
    exact: bool
    """Whether the points come from contact shapes or capsules, not from markers and origins."""

    @property
    def level(self) -> float:
        """The lowest height (m) of the sole over time."""
        return float(np.percentile(self.height.min(axis=1), GROUND_PERCENTILE))

    @property
    def rise(self) -> float:
        """The range (m) of the height of its lowest point over time."""
        return float(np.ptp(self.height.min(axis=1)))


@dataclass(frozen=True, eq=False)
class GroundLevel:
    """The height of the ground, and how near to it a sole must be."""

    height: float
    """m, along the vertical of the model."""
    clearance: float
    """m: height above the ground up to which a sole is in contact."""
    estimated: bool
    """Whether the height is the lowest level of the soles, not a known one."""

    def max_height(self, sole: Sole) -> float:
        """Height (m) above the ground up to which a point of a sole is in contact."""
        return self.clearance + (0.0 if sole.exact else MAX_POINT_HEIGHT_M)

    def carries(self, sole: Sole) -> bool:
        """Whether the lowest level of a sole is on this ground."""
        return -MAX_PENETRATION_M <= sole.level - self.height <= self.max_height(sole)


def find_soles(motion: Motion, feet: Sequence[Foot], up: np.ndarray) -> tuple[Sole, ...]:
    """The lowest points of the feet of a motion, from contact shapes, else capsules, else points.

    Args:
        motion: The motion.
        feet: Its feet.
        up: (3,): unit vector against gravity.

    Returns:
        One sole per foot.
    """
    points, exact = [], []
    for foot in feet:
        shapes = _shape_points(motion.model, foot.bodies)
        exact.append(bool(shapes))
        chosen = shapes or [(body, local, 0.0) for body, local in foot.points]
        points.append(
            np.stack(
                [
                    position(motion.model, motion.q, body, point=local) - radius * up
                    for body, local, radius in chosen
                ],
                axis=-2,
            )
        )
    if len(motion.time) > 2:
        velocities = [np.gradient(places, motion.time, axis=0) for places in points]
        up = up - ground_tilt(points, velocities, up)
    return tuple(Sole(p, p @ up, known) for p, known in zip(points, exact, strict=True))


def ground_level(motion: Motion, soles: Sequence[Sole], ground: float | None) -> GroundLevel:
    """The ground of a motion.

    A given height is used as it is. Otherwise feet that step show the ground: it is the lowest
    level of all soles. Feet that never rise by 3 cm do not show it: the ground is then the plane
    through the origin. A recorded body that stands still is carried by something, so that the
    ground of a recording is always the lowest level of its soles.

    Args:
        motion: The motion.
        soles: The soles of its feet.
        ground: Height of the ground (m), or None.

    Returns:
        Height and clearance.
    """
    recorded = motion.source is MotionSource.RECORDED
    still = all(sole.rise < MAX_STANCE_CLEARANCE_M for sole in soles)
    clearance = MAX_CONTACT_CLEARANCE_M if still and not recorded else MAX_STANCE_CLEARANCE_M
    if ground is not None:
        return GroundLevel(float(ground), clearance, estimated=False)
    if still and not recorded:
        return GroundLevel(0.0, clearance, estimated=False)
    return GroundLevel(min(sole.level for sole in soles), clearance, estimated=True)


def feet_on_ground(
    motion: Motion,
    paths: Sequence[SoleTrajectory],
    soles: Sequence[Sole],
    level: GroundLevel,
    up: np.ndarray,
) -> list[np.ndarray]:
    """In which frames each foot is on the ground, by the height and speed of its sole.

    Args:
        motion: The motion.
        paths: Trajectories of the soles.
        soles: Lowest points of the same feet.
        level: The ground.
        up: (3,): unit vector against gravity.

    Returns:
        One array (frames,) of flags per foot.
    """
    flags = []
    for path, sole in zip(paths, soles, strict=True):
        if not level.carries(sole):
            flags.append(np.zeros(motion.frames, dtype=bool))
        elif level.estimated:
            flags.append(path.in_stance)
        else:
            slow = path.speed.min(axis=1) < MAX_STANCE_SPEED_M_S
            low = sole.height.min(axis=1) - level.height <= level.max_height(sole)
            flags.append(slow & low)
    falling = _free_fall(motion, np.any(flags, axis=0), up)
    return [flag & ~falling for flag in flags]


def _free_fall(motion: Motion, carried: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(frames,): True in runs of ``carried`` in which the motion requires no force from below."""
    falling = np.zeros(len(carried), dtype=bool)
    if not carried.any():
        return falling
    demand = whole_body_wrench(motion)
    weight = demand.mass * float(np.linalg.norm(demand.gravity))
    edges = np.flatnonzero(np.diff(np.r_[0, carried.astype(int), 0]))
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        force = float(np.mean(demand.force[start:end] @ up))
        falling[start:end] = force < MIN_CARRIED_WEIGHT_FRACTION * weight
    return falling


def loaded_feet(
    forces: Sequence[ContactForce], feet: Sequence[Foot], weight: float
) -> dict[str, np.ndarray]:
    """In which frames each foot is loaded by known contact forces, by body of the foot.

    Args:
        forces: Forces on bodies.
        feet: The feet; forces on their toes count.
        weight: Weight of the body (N).

    Returns:
        One array (frames,) of flags per foot; no entry where no force acts on it.
    """
    threshold = STANCE_THRESHOLD.for_weight(weight)
    loaded: dict[str, np.ndarray] = {}
    for foot in feet:
        own = [force.force for force in forces if force.body in foot.bodies]
        if own:
            loaded[foot.body] = threshold.in_contact(np.sum(np.nan_to_num(own), axis=0))
    return loaded


def _shape_points(model: Model, bodies: Sequence[str]) -> list[tuple[str, np.ndarray, float]]:
    """Points of contact shapes, else of capsules: a body, a point in it (m), the radius (m)."""
    numbers = model.at(model.parameter_values) if model.parameters else model
    points = [
        (shape.body, local, float(shape.radius) if shape.kind in ROUND_KINDS else 0.0)
        for shape in numbers.contacts
        if shape.body in bodies
        for local in _corners(shape)
    ]
    return points or [
        (capsule.body, np.asarray(end, dtype=float), float(capsule.radius))
        for capsule in numbers.capsules
        if capsule.body in bodies
        for end in (capsule.start, capsule.end)
    ]


def _corners(shape: ContactShape) -> np.ndarray:
    """(points, 3), m, in the body: center, ends or corners of a shape without its radius."""
    center, half = np.asarray(shape.position, dtype=float), np.asarray(shape.half_size, float)
    if shape.kind in ("line", "capsule"):
        signs = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    elif shape.kind == "box":
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    else:
        return center[None]
    return np.asarray(center + (signs * half) @ np.asarray(shape.rotation, dtype=float))
