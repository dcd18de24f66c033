"""Ground forces where no plate measured them: what the motion needs, shared between the feet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_trajectories import SoleTrajectory, foot_trajectories
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.kinetics.plate_assignment import sole_distance, true_runs
from homodyn.capture.kinetics.plate_sampling import center_of_pressure
from homodyn.capture.kinetics.residuals import root_projections
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

LOAD_TRANSFER_S = 0.05
"""s: over which a foot takes load after its strike and hands it over before it is lifted."""
MAX_SOLE_DISTANCE_M = 0.03
"""m: a centre of pressure this far from the sole is said."""
MAX_FRICTION = 1.0
"""A ratio of level to vertical force that shoes rarely hold."""
MAX_FLIGHT_WEIGHT = 0.05
"""Share of weight below which nothing stands."""


def predict_ground_forces(
    motion: Motion, *, feet: Sequence[str] = (), height: float | None = None
) -> tuple[ContactForce, ...]:
    """Predict the ground forces on the feet from the motion alone.

    The Newton-Euler equations give the total wrench of the ground. A foot is in stance where some
    point of the sole is low and slow. A single foot takes the whole wrench. Two feet share it such
    that their common centre of pressure is correct, with a transition of ``LOAD_TRANSFER_S``
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
            "the motion needs no upward force from the ground: the person falls throughout; check "
            "the vertical axis and the units of the coordinates"
        )
    pushed = force @ up > MAX_FLIGHT_WEIGHT * weight
    turns, shifts = root_projections(model)
    shares = _load_shares(motion, paths, force, moment, up, height, pushed, shifts)
    return _distribute_wrench(paths, shares, force, moment, center, up, height, turns, shifts)


def prediction_notes(motion: Motion, feet: Sequence[ContactForce]) -> tuple[str, ...]:
    """What to know about predicted forces: how they came about and how plausible they are."""
    up = world_axes(motion.model)[2]
    notes = [
        "no plate measured: the ground forces are predicted from the motion; their sum is what "
        "the motion needs, so where someone stands the residual is zero by construction, and how "
        "the feet share it in double support is an estimate"
    ]
    for force in feet:
        (foot,) = find_feet(motion.model, (force.body,))
        out = sole_distance(foot.positions(motion.model, motion.q), force.point, up)
        frames = int((out > MAX_SOLE_DISTANCE_M).sum())
        if frames:
            notes.append(
                f"the predicted centre of pressure of {force.body} leaves its sole in {frames} "
                f"frames, by up to {out.max():.2f} m"
            )
        level = np.linalg.norm(_horizontal(force.force, up), axis=-1)
        slips = level > MAX_FRICTION * np.maximum(force.force @ up, 0.0) + 1.0
        if slips.any():
            count = int(slips.sum())
            notes.append(
                f"{force.body} would need a friction above {MAX_FRICTION:g} in {count} frames"
            )
    return tuple(notes)


def _load_shares(
    motion: Motion,
    paths: Sequence[SoleTrajectory],
    force: np.ndarray,
    moment: np.ndarray,
    up: np.ndarray,
    height: float,
    pushed: np.ndarray,
    shifts: np.ndarray,
) -> np.ndarray:
    """(feet, frames): the part of the vertical force that each foot takes; 1 in all or 0."""
    stands = np.stack([path.in_stance for path in paths]) & pushed
    lowest = np.stack([path.clearance.min(-1) + 0.05 * path.speed.min(-1) for path in paths])
    # Someone must take the force: where no foot seems to stand, the lowest and slowest does.
    alone = pushed & ~stands.any(0)
    stands[lowest.argmin(0)[alone], np.flatnonzero(alone)] = True
    ramps = np.stack([_load_ramp(motion.time, foot) for foot in stands])
    point, _ = center_of_pressure(force, moment, up, height)
    weights = ramps * _lever_shares(paths, np.nan_to_num(point), up, shifts)
    total = weights.sum(0)
    equal = np.where(stands.any(0), stands / np.maximum(stands.sum(0), 1), 0.0)
    return np.where(total > 1e-9, weights / np.maximum(total, 1e-9), equal)


def _lever_shares(
    paths: Sequence[SoleTrajectory], point: np.ndarray, up: np.ndarray, shifts: np.ndarray
) -> np.ndarray:
    """(feet, frames): parts by which two feet bring about a common centre of pressure."""
    if len(paths) != 2:
        return np.ones((len(paths), len(point)))
    first, second = (_horizontal(path.contact_center, up) @ shifts for path in paths)
    along = first - second
    length = np.maximum((along * along).sum(-1), 1e-9)
    part = np.clip(
        ((_horizontal(point, up) @ shifts - second) * along).sum(-1) / length, 0.02, 0.98
    )
    return np.stack([part, 1.0 - part])


def _load_ramp(time: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """0 at foot strike and foot off, 1 well between; ends of the recording are neither."""
    ramp = np.zeros(len(time))
    for stretch in true_runs(stands):
        t = time[stretch]
        step = time[1] - time[0]
        since = np.ones(len(t)) if stretch.start == 0 else (t - t[0] + step) / LOAD_TRANSFER_S
        until = (
            np.ones(len(t)) if stretch.stop == len(time) else (t[-1] - t + step) / LOAD_TRANSFER_S
        )
        ramp[stretch] = _smoothstep(since) * _smoothstep(until)
    return ramp


def _smoothstep(x: np.ndarray) -> np.ndarray:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _horizontal(vectors: np.ndarray, up: np.ndarray) -> np.ndarray:
    return vectors - (vectors @ up)[..., None] * up


def _distribute_wrench(
    paths: Sequence[SoleTrajectory],
    shares: np.ndarray,
    force: np.ndarray,
    moment: np.ndarray,
    center: np.ndarray,
    up: np.ndarray,
    height: float,
    turns: np.ndarray,
    shifts: np.ndarray,
) -> tuple[ContactForce, ...]:
    """Forces, points and free moments of the feet.

    Their sum is the needed wrench along every motion that the root allows.
    """
    normal = force @ up
    loaded = shares > 0
    point, _ = center_of_pressure(force, moment, up, height)
    point = np.nan_to_num(point)
    middles = np.stack([_horizontal(p.contact_center, up) + height * up for p in paths])
    together = (shares[..., None] * middles).sum(0)
    places = middles + (point - together) @ shifts
    # Each force points from its sole to the centre of mass; what that misses goes by the shares.
    rise = np.maximum((center @ up) - height, 0.1)
    lean = _horizontal(center - places, up) @ shifts / rise[..., None]
    level = shares[..., None] * normal[:, None] * lean
    level = level + shares[..., None] * (_horizontal(force, up) @ shifts - level.sum(0))
    forces = level + (shares * normal)[..., None] * up
    rest = (moment - np.cross(places, forces).sum(0)) @ turns
    found = []
    for k, path in enumerate(paths):
        own = np.cross(places[k], forces[k]) + shares[k][:, None] * rest
        own = np.where(loaded[k][:, None], own, 0.0)
        acting = np.where(loaded[k][:, None], forces[k], 0.0)
        place, free = center_of_pressure(acting, own, up, height)
        found.append(ContactForce(path.foot.body, path.foot.side, acting, place, free, (), True))
    return tuple(found)
