"""Assignment of force plates to feet, by the distance of the center of pressure to the soles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from homodyn.capture.kinetics.feet import Foot
from homodyn.capture.kinetics.foot_trajectories import MAX_STANCE_CLEARANCE_M, SoleTrajectory
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.kinetics.plate_sampling import PlateWrench, center_of_pressure
from homodyn.capture.mask_runs import true_slices
from homodyn.capture.world_frame import world_axes
from homodyn.foundation.text import count_of
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

MAX_FOOT_DISTANCE_M = 0.25
"""Mean distance (m) from the center of pressure above which a foot does not load the plate."""
MAX_SOLE_DISTANCE_M = 0.06
"""Distance (m) from the sole within which the center of pressure counts as under the foot."""
MIN_AMBIGUOUS_DISTANCE_M = 0.02
"""Distance (m) from the sole above which the center of pressure is not clearly under the foot."""
MAX_MISSING_WEIGHT = 0.1
"""Share of the weight that complete plates may lack."""
MIN_SHARED_DURATION_S = 0.1
"""Duration (s) below which signs of a second foot are artifacts of foot strike and foot off."""


@dataclass(frozen=True, eq=False)
class PlateAssignment:
    """Forces on each foot, and the frames in which they are usable."""

    feet: tuple[ContactForce, ...]
    usable: np.ndarray
    """(frames,): False where two feet load one plate, or a plate has no reading."""
    notes: tuple[str, ...]


def assign_plates(
    motion: Motion,
    plates: Sequence[PlateWrench],
    paths: Sequence[SoleTrajectory],
    named: dict[str, str | None],
) -> PlateAssignment:
    """Assign every loaded interval of every plate to the foot over its center of pressure.

    Args:
        motion: The motion.
        plates: Plates at the frames of the motion.
        paths: Soles over time.
        named: Body by plate name, for plates that the user assigned; None ignores the plate.

    Returns:
        One contact force per foot; a foot on two plates has their sum.
    """
    up = world_axes(motion.model)[2]
    notes: list[str] = []
    owners: dict[str, np.ndarray] = {}
    distances: dict[str, np.ndarray] = {}
    for plate in plates:
        if plate.name in named:
            owners[plate.name] = _owner_by_name(plate, paths, named[plate.name], up, notes)
            continue
        point, _ = center_of_pressure(plate.force, plate.moment, up, plate.height)
        distance = np.stack([sole_distance(path.points, point, up) for path in paths])
        owners[plate.name] = _owner_by_distance(motion, plate, paths, distance, notes)
        distances[plate.name] = distance
    usable = np.all([plate.has_reading for plate in plates], axis=0)
    if not usable.all():
        notes.append(
            f"in {int((~usable).sum())} of {len(usable)} frames a plate has no reading "
            f"({spans_text(motion.time, ~usable)}); its force is zero there and torques are not "
            "usable"
        )
    for plate in plates:
        if plate.name in distances:
            both = _shared_frames(motion, plates, paths, distances[plate.name], owners, plate.name)
            if both.any():
                notes.append(
                    f"plate {plate.name!r}: both feet are on it at the same time "
                    f"({spans_text(motion.time, both)}); leg torques are not valid there"
                )
            usable &= ~both
    feet = tuple(
        _foot_force(plates, owners, k, path.foot, up, notes) for k, path in enumerate(paths)
    )
    return PlateAssignment(feet, usable, tuple(notes))


def _owner_by_name(
    plate: PlateWrench,
    paths: Sequence[SoleTrajectory],
    body: str | None,
    up: np.ndarray,
    notes: list[str],
) -> np.ndarray:
    """(frames,): index of the foot that the user assigned where the plate is loaded, else -1."""
    if body is None:
        notes.append(f"plate {plate.name!r} is ignored, as requested")
        return np.full(len(plate.force), -1)
    notes.append(f"plate {plate.name!r} acts on {body}, as requested")
    foot = [path.foot.body for path in paths].index(body)
    return np.where(plate.force @ up != 0, foot, -1)


def _owner_by_distance(
    motion: Motion,
    plate: PlateWrench,
    paths: Sequence[SoleTrajectory],
    distance: np.ndarray,
    notes: list[str],
) -> np.ndarray:
    """(frames,): index of the foot over the center of pressure of a plate, or -1.

    A loaded interval belongs to one foot, unless the center of pressure clearly moves to another
    one in stance: then each frame belongs to the nearest foot.
    """
    up = world_axes(motion.model)[2]
    normal = np.abs(plate.force @ up)
    owner = np.full(len(normal), -1)
    # A foot that swings above the plate does not load it.
    cost = np.stack(
        [
            d
            + np.maximum(path.clearance.min(-1) - MAX_STANCE_CLEARANCE_M, 0.0)
            + 0.05 * path.speed.min(-1)
            for d, path in zip(distance, paths, strict=True)
        ]
    )
    stance = np.stack([path.in_stance for path in paths])
    for run in true_slices(normal > 0):
        weight, run_cost = normal[run], cost[:, run]
        best = int((run_cost @ weight).argmin())
        nearest = run_cost.argmin(0)
        # The nearest foot counts only if it is close to the center of pressure.
        nearest_distance = np.take_along_axis(distance[:, run], nearest[None], axis=0)[0]
        on_other_foot = (
            (distance[best, run] > MAX_SOLE_DISTANCE_M)
            & (nearest != best)
            & (nearest_distance < MAX_SOLE_DISTANCE_M)
        )
        on_other_foot &= np.take_along_axis(stance[:, run], nearest[None], axis=0)[0]
        if on_other_foot.sum() * (motion.time[1] - motion.time[0]) > MIN_SHARED_DURATION_S:
            owner[run] = nearest
            continue
        mean_distance = float(distance[best, run] @ weight / weight.sum())
        if mean_distance < MAX_FOOT_DISTANCE_M:
            owner[run] = best
        else:
            notes.append(_unassigned_note(motion, plate, run, mean_distance))
    notes.append(_assignment_note(motion, plate, paths, owner))
    return owner


def _unassigned_note(motion: Motion, plate: PlateWrench, run: slice, distance: float) -> str:
    up = world_axes(motion.model)[2]
    return (
        f"plate {plate.name!r} carries up to {(plate.force[run] @ up).max():.0f} N "
        f"({_span_text(motion.time, run)}), but no foot is within {distance:.2f} m: the force "
        "is discarded; if a body was in contact, assign the plate to it with --external-loads (in "
        "Python, feet=)"
    )


def _assignment_note(
    motion: Motion, plate: PlateWrench, paths: Sequence[SoleTrajectory], owner: np.ndarray
) -> str:
    """Which feet a plate carries, and when."""
    parts = []
    for k, path in enumerate(paths):
        runs = true_slices(owner == k)
        if 0 < len(runs) <= 4:
            parts.append(f"{path.foot.body} ({spans_text(motion.time, owner == k)})")
        elif runs:
            parts.append(f"{path.foot.body} ({count_of(len(runs), 'time')})")
    return f"plate {plate.name!r} carries {' and '.join(parts) or 'no foot'}"


def _shared_frames(
    motion: Motion,
    plates: Sequence[PlateWrench],
    paths: Sequence[SoleTrajectory],
    distance: np.ndarray,
    owners: dict[str, np.ndarray],
    name: str,
) -> np.ndarray:
    """(frames,): True where a second foot loads the plate together with its owner.

    A second foot is in stance near the plate, and no other plate carries it. It is on this plate,
    not beside it, where the center of pressure is not under the owner, or near its edge while the
    plates carry all that the motion requires; and then for as long as both feet are in stance.
    """
    up = world_axes(motion.model)[2]
    owner = owners[name]
    required = required_wrench(motion)[0] @ up
    measured = np.sum([plate.force @ up for plate in plates], axis=0)
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    complete = required - measured < MAX_MISSING_WEIGHT * weight
    second = np.zeros(len(owner), dtype=bool)
    for k, path in enumerate(paths):
        others = [o == k for plate, o in owners.items() if plate != name]
        on_other_plate = np.any(others, axis=0) if others else np.zeros(len(owner), dtype=bool)
        second |= (
            (owner >= 0)
            & (owner != k)
            & path.in_stance
            & (distance[k] < 2 * MAX_FOOT_DISTANCE_M)
            & ~on_other_plate
        )
    from_owner = distance[np.maximum(owner, 0), np.arange(len(owner))]
    signs = second & (
        (from_owner > MAX_SOLE_DISTANCE_M) | (complete & (from_owner > MIN_AMBIGUOUS_DISTANCE_M))
    )
    step = motion.time[1] - motion.time[0]
    both = np.zeros(len(owner), dtype=bool)
    for run in true_slices(second):
        both[run] = signs[run].sum() * step > MIN_SHARED_DURATION_S / 2
    return both


def _foot_force(
    plates: Sequence[PlateWrench],
    owners: dict[str, np.ndarray],
    k: int,
    foot: Foot,
    up: np.ndarray,
    notes: list[str],
) -> ContactForce:
    """The sum of the plates on one foot."""
    shares = [(plate, owners[plate.name] == k) for plate in plates]
    shares = [(plate, own) for plate, own in shares if own.any()]
    frames = len(next(iter(owners.values())))
    force, moment, lift = np.zeros((frames, 3)), np.zeros((frames, 3)), np.zeros(frames)
    for plate, own in shares:
        force += np.where(own[:, None], plate.force, 0.0)
        moment += np.where(own[:, None], plate.moment, 0.0)
        lift += np.where(own, plate.force @ up, 0.0) * plate.height
    across = sum((own.astype(int) for _, own in shares), np.zeros(frames, dtype=int)) > 1
    if across.any():
        names = " and ".join(repr(plate.name) for plate, _ in shares)
        notes.append(
            f"{foot.body} stands across plates {names} in {count_of(int(across.sum()), 'frame')}; "
            "their forces are added"
        )
    normal = force @ up
    height = np.divide(lift, normal, out=np.zeros(frames), where=normal != 0)
    point, free = center_of_pressure(force, moment, up, height)
    return ContactForce(foot.body, foot.side, force, point, free, tuple(p.name for p, _ in shares))


def sole_distance(points: np.ndarray, center: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(frames,): horizontal distance (m) of centers of pressure from a sole; 0 where there is none.

    The sole is represented by the segments between all pairs of its points.

    Args:
        points: (frames, points, 3), m: points of the sole.
        center: (frames, 3), m: center of pressure; NaN where there is none.
        up: (3,): unit vector.
    """
    level = np.eye(3) - np.outer(up, up)
    flat, target = points @ level, np.nan_to_num(center) @ level
    nearest = np.linalg.norm(flat - target[:, None], axis=-1).min(-1)
    for i, j in combinations(range(flat.shape[1]), 2):
        start, along = flat[:, i], flat[:, j] - flat[:, i]
        length = np.maximum((along * along).sum(-1), 1e-12)
        share = np.clip(((target - start) * along).sum(-1) / length, 0.0, 1.0)
        distance = np.linalg.norm(target - start - share[:, None] * along, axis=-1)
        nearest = np.minimum(nearest, distance)
    return np.where(np.isfinite(center).all(-1), nearest, 0.0)


def _span_text(time: np.ndarray, run: slice) -> str:
    return f"{time[run.start]:.2f} to {time[run.stop - 1]:.2f} s"


def spans_text(time: np.ndarray, flags: np.ndarray) -> str:
    """The runs of True as time intervals, for sentences."""
    return ", ".join(_span_text(time, run) for run in true_slices(flags))
