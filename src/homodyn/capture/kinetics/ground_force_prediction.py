"""Ground forces predicted from the motion, where no plate measured them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_trajectories import SoleTrajectory, foot_trajectories
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.kinetics.plate_assignment import sole_distance, spans_text
from homodyn.capture.kinetics.plate_sampling import center_of_pressure
from homodyn.capture.kinetics.residuals import root_projections
from homodyn.capture.mask_runs import true_slices
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

LOAD_TRANSFER_S = 0.05
"""Time (s) over which a foot is loaded after its strike and unloaded before it is lifted."""
MAX_SOLE_DISTANCE_M = 0.03
"""Distance (m) of a center of pressure from the sole above which a note is added."""
MAX_SUPPORT_DISTANCE_M = 0.15
"""Distance (m) of a center of pressure from the sole that no error of the prediction explains: it
is at most 0.08 m in eleven walks of ten persons, and 0.38 m where one of them sits. Something else
carries weight then, such as a chair, or stances were not found."""
MIN_SUPPORT_WEIGHT = 0.1
"""Force on a foot, in body weights, whose center of pressure counts."""
MAX_FRICTION = 1.0
"""Ratio of horizontal to vertical force above which a note is added."""
MAX_FLIGHT_WEIGHT = 0.05
"""Share of the weight below which the body is in flight."""


@dataclass(frozen=True, eq=False)
class _GroundWrench:
    """The wrench that the motion needs from the ground."""

    force: np.ndarray
    """(frames, 3), N."""
    moment: np.ndarray
    """(frames, 3), N m, about the origin of the world."""
    center_of_mass: np.ndarray
    """(frames, 3), m."""
    up: np.ndarray
    """(3,): unit vector."""
    height: float
    """Height of the ground (m)."""
    in_flight: np.ndarray
    """(frames,): True where the ground carries nothing."""
    rotations: np.ndarray
    """(3, 3): projection on the rotations that the root allows."""
    translations: np.ndarray
    """(3, 3): projection on the translations that the root allows."""

    @property
    def center_of_pressure(self) -> np.ndarray:
        """(frames, 3), m: zero where there is none."""
        point, _ = center_of_pressure(self.force, self.moment, self.up, self.height)
        return np.nan_to_num(point)

    def horizontal(self, vectors: np.ndarray) -> np.ndarray:
        """Horizontal part of vectors."""
        return _horizontal(vectors, self.up)


def predict_ground_forces(
    motion: Motion, *, feet: Sequence[str] = (), height: float | None = None
) -> tuple[ContactForce, ...]:
    """Predict the ground forces on the feet from the motion alone.

    The Newton-Euler equations give the total wrench of the ground. A foot is in stance where some
    point of the sole is low and slow. A single foot takes the whole wrench. Two feet share it such
    that their common center of pressure is correct, with a transition of ``LOAD_TRANSFER_S``
    seconds after foot strike and before foot off. The sum over the feet is exactly the required
    wrench; its distribution is an estimate (compare Ren, Jones and Howard 2008). A planar model
    does not determine forces across its plane: there each force acts at the middle of its foot.

    Args:
        motion: The motion.
        feet: Names of the foot bodies; found automatically when left out.
        height: Height of the ground, m; by default that of the lowest points of the feet.

    Returns:
        One contact force per foot.

    Raises:
        CaptureError: The motion never needs an upward force, or a body is unknown.
    """
    model = motion.model
    paths = foot_trajectories(motion, find_feet(model, tuple(feet)))
    up = world_axes(model)[2]
    if height is None:
        levels = [np.percentile(path.points @ up, 5, axis=0).min() for path in paths]
        height = float(min(levels))
    force, moment, center = required_wrench(motion)
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    if (force @ up).max() <= MAX_FLIGHT_WEIGHT * weight:
        raise CaptureError(
            "the motion needs no upward force from the ground: the body falls freely throughout; "
            "check the vertical axis and the units of the coordinates"
        )
    in_flight = ~(force @ up > MAX_FLIGHT_WEIGHT * weight)
    ground = _GroundWrench(force, moment, center, up, height, in_flight, *root_projections(model))
    return _distribute_wrench(paths, _load_shares(motion.time, paths, ground), ground)


def prediction_notes(motion: Motion, feet: Sequence[ContactForce]) -> tuple[str, ...]:
    """Notes on predicted forces: how they were obtained and how plausible they are."""
    up = world_axes(motion.model)[2]
    notes = [
        "no plates: the ground forces are predicted from the motion. Their sum is what the motion "
        "requires, so the residual of stance frames is zero by construction; their distribution "
        "between the feet in double support is an estimate"
    ]
    unsupported = ~supported_frames(motion, feet)
    if unsupported.any():
        notes.append(
            f"in {int(unsupported.sum())} of {len(unsupported)} frames the feet alone cannot carry "
            f"the body ({spans_text(motion.time, unsupported)}): a chair or a hand carries weight, "
            "or steps were not found; torques are not valid there"
        )
    for force in feet:
        distance = _sole_distance(motion, force)
        outside = int((distance > MAX_SOLE_DISTANCE_M).sum())
        if outside:
            notes.append(
                f"the predicted center of pressure of {force.body} is outside its sole in "
                f"{count_of(outside, 'frame')}, by up to {distance.max():.2f} m"
            )
        level = np.linalg.norm(_horizontal(force.force, up), axis=-1)
        slips = level > MAX_FRICTION * np.maximum(force.force @ up, 0.0) + 1.0
        if slips.any():
            notes.append(
                f"{force.body} would need a friction coefficient above {MAX_FRICTION:g} in "
                f"{count_of(int(slips.sum()), 'frame')}"
            )
    return tuple(notes)


def supported_frames(motion: Motion, feet: Sequence[ContactForce]) -> np.ndarray:
    """Frames in which the feet alone can carry the predicted forces.

    Args:
        motion: The motion.
        feet: Its predicted forces.

    Returns:
        (frames,): False where the center of pressure of a loaded foot is farther from its sole than
        `MAX_SUPPORT_DISTANCE_M`.
    """
    up = world_axes(motion.model)[2]
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    supported = np.ones(len(motion.time), dtype=bool)
    for force in feet:
        distance = _sole_distance(motion, force)
        loaded = force.force @ up > MIN_SUPPORT_WEIGHT * weight
        supported &= ~(loaded & (distance > MAX_SUPPORT_DISTANCE_M))
    return supported


def _sole_distance(motion: Motion, force: ContactForce) -> np.ndarray:
    """(frames,): distance of the center of pressure of a foot from its sole (m)."""
    (foot,) = find_feet(motion.model, (force.body,))
    positions = foot.positions(motion.model, motion.q)
    return sole_distance(positions, force.point, world_axes(motion.model)[2])


def _load_shares(
    time: np.ndarray, paths: Sequence[SoleTrajectory], ground: _GroundWrench
) -> np.ndarray:
    """(feet, frames): share of the vertical force on each foot; the sum is 1, or 0 in flight."""
    loaded = ~ground.in_flight
    stance = np.stack([path.in_stance for path in paths]) & loaded
    lowest = np.stack([path.clearance.min(-1) + 0.05 * path.speed.min(-1) for path in paths])
    # Where no foot is in stance, the lowest and slowest one takes the force.
    unassigned = loaded & ~stance.any(0)
    stance[lowest.argmin(0)[unassigned], np.flatnonzero(unassigned)] = True
    ramps = np.stack([_load_ramp(time, foot) for foot in stance])
    weights = ramps * _lever_shares(paths, ground)
    total = weights.sum(0)
    equal = np.where(stance.any(0), stance / np.maximum(stance.sum(0), 1), 0.0)
    return np.where(total > 1e-9, weights / np.maximum(total, 1e-9), equal)


def _lever_shares(paths: Sequence[SoleTrajectory], ground: _GroundWrench) -> np.ndarray:
    """(feet, frames): shares by which two feet produce their common center of pressure."""
    point = ground.center_of_pressure
    if len(paths) != 2:
        return np.ones((len(paths), len(point)))
    allowed = ground.translations
    first, second = (ground.horizontal(path.contact_center) @ allowed for path in paths)
    along = first - second
    length = np.maximum((along * along).sum(-1), 1e-9)
    share = np.clip(
        ((ground.horizontal(point) @ allowed - second) * along).sum(-1) / length, 0.02, 0.98
    )
    return np.stack([share, 1.0 - share])


def _load_ramp(time: np.ndarray, stance: np.ndarray) -> np.ndarray:
    """0 at foot strike and foot off, 1 in between; ends of the recording are neither."""
    ramp = np.zeros(len(time))
    for run in true_slices(stance):
        t = time[run]
        step = time[1] - time[0]
        since = np.ones(len(t)) if run.start == 0 else (t - t[0] + step) / LOAD_TRANSFER_S
        until = np.ones(len(t)) if run.stop == len(time) else (t[-1] - t + step) / LOAD_TRANSFER_S
        ramp[run] = _smoothstep(since) * _smoothstep(until)
    return ramp


def _smoothstep(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _horizontal(vectors: np.ndarray, up: np.ndarray) -> np.ndarray:
    return vectors - (vectors @ up)[..., None] * up


def _distribute_wrench(
    paths: Sequence[SoleTrajectory], shares: np.ndarray, ground: _GroundWrench
) -> tuple[ContactForce, ...]:
    """Forces, points and free moments of the feet.

    Their sum is the required wrench along every motion that the root allows.
    """
    up, height, allowed = ground.up, ground.height, ground.translations
    normal = ground.force @ up
    loaded = shares > 0
    middles = np.stack([ground.horizontal(p.contact_center) + height * up for p in paths])
    common = (shares[..., None] * middles).sum(0)
    points = middles + (ground.center_of_pressure - common) @ allowed
    # Each force points to the center of mass; the remainder is distributed by the shares.
    rise = np.maximum((ground.center_of_mass @ up) - height, 0.1)
    lean = ground.horizontal(ground.center_of_mass - points) @ allowed / rise[..., None]
    level = shares[..., None] * normal[:, None] * lean
    level = level + shares[..., None] * (ground.horizontal(ground.force) @ allowed - level.sum(0))
    forces = level + (shares * normal)[..., None] * up
    remainder = (ground.moment - np.cross(points, forces).sum(0)) @ ground.rotations
    found = []
    for k, path in enumerate(paths):
        on_foot = loaded[k][:, None]
        moment = np.cross(points[k], forces[k]) + shares[k][:, None] * remainder
        moment, force = np.where(on_foot, moment, 0.0), np.where(on_foot, forces[k], 0.0)
        point, free = center_of_pressure(force, moment, up, height)
        found.append(ContactForce(path.foot.body, path.foot.side, force, point, free, (), True))
    return tuple(found)
