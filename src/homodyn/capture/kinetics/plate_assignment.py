"""Which foot stands on which plate, and when: told from where feet and centres of pressure are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from homodyn.capture.kinetics.feet import Foot
from homodyn.capture.kinetics.foot_trajectories import MAX_STANCE_CLEARANCE_M, SoleTrajectory
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.kinetics.plate_sampling import PlateWrench, center_of_pressure
from homodyn.capture.world_frame import world_axes
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

MAX_FOOT_DISTANCE_M = 0.25
"""m: a foot farther than this from the centre of pressure, on average, does not cause it."""
MAX_SOLE_DISTANCE_M = 0.06
"""m: within this of the sole the centre of pressure counts as under the foot."""
MIN_AMBIGUOUS_DISTANCE_M = 0.02
"""m: this far from the sole the centre of pressure is not clearly under the foot."""
MAX_MISSING_WEIGHT = 0.1
"""Share of the weight that plates may lack and still carry all of the person."""
MIN_SHARED_DURATION_S = 0.1
"""s: signs of a second foot that last no longer are noise of foot strike and foot off."""


@dataclass(frozen=True, eq=False)
class PlateAssignment:
    """The forces on each foot, where they can be trusted, and what was decided."""

    feet: tuple[ContactForce, ...]
    usable: np.ndarray
    """(frames,): False where the force of one plate may belong to two feet, or none was read."""
    notes: tuple[str, ...]


def assign_plates(
    motion: Motion,
    plates: Sequence[PlateWrench],
    paths: Sequence[SoleTrajectory],
    named: dict[str, str | None],
) -> PlateAssignment:
    """Give every loaded stretch of every plate to the foot over its centre of pressure.

    ``named`` fixes the body for some plates (None: the plate is left out). A foot on two plates
    gets the sum.
    """
    up = world_axes(motion.model)[2]
    notes: list[str] = []
    owners: dict[str, np.ndarray] = {}
    far: dict[str, np.ndarray] = {}
    for plate in plates:
        if plate.name in named:
            owners[plate.name] = _owner_by_name(plate, paths, named[plate.name], up, notes)
            continue
        point, _ = center_of_pressure(plate.force, plate.moment, up, plate.height)
        far[plate.name] = np.stack([sole_distance(path.points, point, up) for path in paths])
        owners[plate.name] = _owner_by_distance(motion, plate, paths, far[plate.name], up, notes)
    usable = np.all([plate.has_reading for plate in plates], axis=0)
    if not usable.all():
        notes.append(
            f"{int((~usable).sum())} of {len(usable)} frames have no reading of some plate "
            f"({spans_text(motion.time, ~usable)}); no force acts there and torques are not usable"
        )
    for plate in plates:
        if plate.name in far:
            both = _shared_frames(motion, plates, paths, far[plate.name], owners, plate.name)
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


def true_runs(flags: np.ndarray) -> list[slice]:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _owner_by_name(
    plate: PlateWrench,
    paths: Sequence[SoleTrajectory],
    body: str | None,
    up: np.ndarray,
    notes: list[str],
) -> np.ndarray:
    """(frames,): the foot by number where a plate is loaded that was told its body, else -1."""
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
    far: np.ndarray,
    up: np.ndarray,
    notes: list[str],
) -> np.ndarray:
    """(frames,): the foot by number over the centre of pressure of a plate, or -1.

    A loaded stretch belongs to one foot, unless the centre of pressure clearly wanders to another
    that stands: then each frame goes to the nearest.
    """
    normal = np.abs(plate.force @ up)
    owner = np.full(len(normal), -1)
    # A foot that hangs or swings over the plate is not the one that loads it.
    cost = np.stack(
        [
            d
            + np.maximum(path.clearance.min(-1) - MAX_STANCE_CLEARANCE_M, 0.0)
            + 0.05 * path.speed.min(-1)
            for d, path in zip(far, paths, strict=True)
        ]
    )
    stands = np.stack([path.in_stance for path in paths])
    for stretch in true_runs(normal > 0):
        weight, here = normal[stretch], cost[:, stretch]
        best = int((here @ weight).argmin())
        nearest = here.argmin(0)
        # Who is nearest to no foot at all tells nothing.
        leading = np.take_along_axis(far[:, stretch], nearest[None], axis=0)[0]
        elsewhere = (
            (far[best, stretch] > MAX_SOLE_DISTANCE_M)
            & (nearest != best)
            & (leading < MAX_SOLE_DISTANCE_M)
        )
        elsewhere &= np.take_along_axis(stands[:, stretch], nearest[None], axis=0)[0]
        if elsewhere.sum() * (motion.time[1] - motion.time[0]) > MIN_SHARED_DURATION_S:
            owner[stretch] = nearest
            continue
        distance = float(far[best, stretch] @ weight / weight.sum())
        if distance < MAX_FOOT_DISTANCE_M:
            owner[stretch] = best
        else:
            notes.append(_unassigned_note(motion, plate, stretch, distance, up))
    notes.append(_assignment_note(motion, plate, paths, owner))
    return owner


def _unassigned_note(
    motion: Motion, plate: PlateWrench, stretch: slice, distance: float, up: np.ndarray
) -> str:
    return (
        f"plate {plate.name!r} carries up to {(plate.force[stretch] @ up).max():.0f} N "
        f"({_span_text(motion.time, stretch)}), but no foot is within {distance:.2f} m: the force "
        "is discarded; assign the plate to a body with feet= if one was in contact"
    )


def _assignment_note(
    motion: Motion, plate: PlateWrench, paths: Sequence[SoleTrajectory], owner: np.ndarray
) -> str:
    """One sentence: whom a plate carries and when."""
    parts = []
    for k, path in enumerate(paths):
        runs = true_runs(owner == k)
        if 0 < len(runs) <= 4:
            parts.append(f"{path.foot.body} ({spans_text(motion.time, owner == k)})")
        elif runs:
            parts.append(f"{path.foot.body} ({len(runs)} times)")
    return f"plate {plate.name!r} carries {' and '.join(parts) or 'no foot'}"


def _shared_frames(
    motion: Motion,
    plates: Sequence[PlateWrench],
    paths: Sequence[SoleTrajectory],
    far: np.ndarray,
    owners: dict[str, np.ndarray],
    name: str,
) -> np.ndarray:
    """(frames,): True where a second foot stands on the plate beside its owner.

    Another foot stands near that no other plate carries. It stands on this one, not beside it,
    where the centre of pressure is not under the owner, or near its edge while the plates carry all
    that the motion needs; and then for as long as both feet stand.
    """
    up = world_axes(motion.model)[2]
    owner = owners[name]
    needed = required_wrench(motion)[0] @ up
    carried = np.sum([plate.force @ up for plate in plates], axis=0)
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    complete = needed - carried < MAX_MISSING_WEIGHT * weight
    second = np.zeros(len(owner), dtype=bool)
    for k, path in enumerate(paths):
        others = [o == k for plate, o in owners.items() if plate != name]
        elsewhere = np.any(others, axis=0) if others else np.zeros(len(owner), dtype=bool)
        second |= (
            (owner >= 0)
            & (owner != k)
            & path.in_stance
            & (far[k] < 2 * MAX_FOOT_DISTANCE_M)
            & ~elsewhere
        )
    off = far[np.maximum(owner, 0), np.arange(len(owner))]
    seeds = second & ((off > MAX_SOLE_DISTANCE_M) | (complete & (off > MIN_AMBIGUOUS_DISTANCE_M)))
    both = np.zeros(len(owner), dtype=bool)
    for stretch in true_runs(second):
        both[stretch] = (
            seeds[stretch].sum() * (motion.time[1] - motion.time[0]) > MIN_SHARED_DURATION_S / 2
        )
    return both


def _foot_force(
    plates: Sequence[PlateWrench],
    owners: dict[str, np.ndarray],
    k: int,
    foot: Foot,
    up: np.ndarray,
    notes: list[str],
) -> ContactForce:
    """The sum of what acts on one foot."""
    shares = [(plate, owners[plate.name] == k) for plate in plates]
    shares = [(plate, own) for plate, own in shares if own.any()]
    frames = len(next(iter(owners.values())))
    force, moment, lift = np.zeros((frames, 3)), np.zeros((frames, 3)), np.zeros(frames)
    for plate, own in shares:
        force += np.where(own[:, None], plate.force, 0.0)
        moment += np.where(own[:, None], plate.moment, 0.0)
        lift += np.where(own, plate.force @ up, 0.0) * plate.height
    together = sum((own.astype(int) for _, own in shares), np.zeros(frames, dtype=int)) > 1
    if together.any():
        names = " and ".join(repr(plate.name) for plate, _ in shares)
        notes.append(
            f"{foot.body} stands across plates {names} in {int(together.sum())} frames; "
            "their forces are added"
        )
    normal = force @ up
    height = np.divide(lift, normal, out=np.zeros(frames), where=normal != 0)
    point, free = center_of_pressure(force, moment, up, height)
    return ContactForce(foot.body, foot.side, force, point, free, tuple(p.name for p, _ in shares))


def sole_distance(points: np.ndarray, center: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Level distance (m) from centres of pressure to a sole, (frames,); 0 where there is none.

    The sole is the segments between all pairs of its points: its inside is never far from one.
    """
    level = np.eye(3) - np.outer(up, up)
    flat, target = points @ level, np.nan_to_num(center) @ level
    nearest = np.linalg.norm(flat - target[:, None], axis=-1).min(-1)
    for i, j in combinations(range(flat.shape[1]), 2):
        start, along = flat[:, i], flat[:, j] - flat[:, i]
        length = np.maximum((along * along).sum(-1), 1e-12)
        share = np.clip(((target - start) * along).sum(-1) / length, 0.0, 1.0)
        gap = np.linalg.norm(target - start - share[:, None] * along, axis=-1)
        nearest = np.minimum(nearest, gap)
    return np.where(np.isfinite(center).all(-1), nearest, 0.0)


def _span_text(time: np.ndarray, stretch: slice) -> str:
    return f"{time[stretch.start]:.2f} to {time[stretch.stop - 1]:.2f} s"


def spans_text(time: np.ndarray, flags: np.ndarray) -> str:
    """The runs of True as instants, for sentences."""
    return ", ".join(_span_text(time, stretch) for stretch in true_runs(flags))
