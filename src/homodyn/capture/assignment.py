"""Which foot stands on which plate, and when: told from where feet and centres of pressure are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from homodyn.capture.feet import Foot
from homodyn.capture.foot_paths import LIFTED, FootPath
from homodyn.capture.ground import PlateWrench, center_of_pressure
from homodyn.capture.load import FootForce
from homodyn.capture.motion import Motion
from homodyn.capture.world import world_axes

NEAR = 0.25
"""m: a foot farther than this from the centre of pressure, on average, does not cause it."""
UNDER = 0.06
"""m: within this of the sole the centre of pressure counts as under the foot."""
BRIEF = 0.1
"""s: signs of a second foot that last no longer are noise of foot strike and foot off."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """The forces on each foot, where they can be trusted, and what was decided."""

    feet: tuple[FootForce, ...]
    usable: np.ndarray
    """(frames,): False where the force of one plate may belong to two feet, or none was read."""
    notes: tuple[str, ...]


def assign(
    motion: Motion,
    plates: Sequence[PlateWrench],
    paths: Sequence[FootPath],
    named: dict[str, str | None],
) -> Assignment:
    """Give every loaded stretch of every plate to the foot over its centre of pressure.

    ``named`` fixes the body for some plates (None: the plate is left out). A foot on two plates
    gets the sum.
    """
    up = world_axes(motion.model)[2]
    owners = {p.name: np.full(len(motion.time), -1) for p in plates}
    bodies = [path.foot.body for path in paths]
    notes: list[str] = []
    far: dict[str, np.ndarray] = {}
    for plate in plates:
        loaded = plate.force @ up != 0
        if plate.name in named:
            body = named[plate.name]
            owners[plate.name][loaded] = -1 if body is None else bodies.index(body)
            told = f"acts on {body}, as told" if body else "is left out, as told"
            notes.append(f"plate {plate.name!r} {told}")
            continue
        point, _ = center_of_pressure(plate.force, plate.moment, up, plate.height)
        far[plate.name] = np.stack([sole_distance(path.points, point, up) for path in paths])
        for stretch in stretches(loaded):
            foot, distance = _owner(plate, paths, far[plate.name], stretch, up)
            owners[plate.name][stretch] = foot
            if foot < 0:
                notes.append(_lost(motion, plate, stretch, distance, up))
        notes.append(_carried(motion, plate, paths, owners[plate.name]))
    usable = np.all([p.covered for p in plates], axis=0)
    if not usable.all():
        notes.append(
            f"{int((~usable).sum())} of {len(usable)} frames have no reading of some plate "
            f"({_spans(motion.time, ~usable)}); no force acts there and torques are not usable"
        )
    for plate in plates:
        if plate.name in far:
            owned = owners[plate.name]
            both = _shared(motion, plate, paths, far[plate.name], owners)
            for stretch in stretches(both):
                names = " and ".join(path.foot.body for path in paths)
                notes.append(
                    f"plate {plate.name!r}: {names} stand on it together "
                    f"({_span(motion.time, stretch)}); the torques of the legs are not usable there"
                )
                nearest = far[plate.name][:, stretch].argmin(0)
                owned[stretch] = np.where(owned[stretch] >= 0, nearest, -1)
            usable &= ~both
    feet = tuple(_gathered(plates, owners, k, path.foot, up, notes) for k, path in enumerate(paths))
    return Assignment(feet, usable, tuple(notes))


def stretches(flags: np.ndarray) -> list[slice]:
    """The runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _owner(
    plate: PlateWrench, paths: Sequence[FootPath], far: np.ndarray, stretch: slice, up: np.ndarray
) -> tuple[int, float]:
    """The foot that a stretch belongs to (-1: none), and how far the nearest is on average (m)."""
    weight = np.abs(plate.force[stretch] @ up)
    # A foot that hangs or swings over the plate is not the one that loads it.
    cost = np.array(
        [
            d[stretch]
            + np.maximum(path.clearance[stretch].min(-1) - LIFTED, 0.0)
            + 0.05 * path.speed[stretch].min(-1)
            for d, path in zip(far, paths, strict=True)
        ]
    )
    best = int((cost @ weight).argmin())
    distance = float(far[best, stretch] @ weight / weight.sum())
    return (best if distance < NEAR else -1), distance


def _lost(
    motion: Motion, plate: PlateWrench, stretch: slice, distance: float, up: np.ndarray
) -> str:
    return (
        f"plate {plate.name!r} carries up to {(plate.force[stretch] @ up).max():.0f} N "
        f"({_span(motion.time, stretch)}) with no foot nearer than {distance:.2f} m: the force "
        "is dropped; name the body with feet= if one pushed there"
    )


def _carried(
    motion: Motion, plate: PlateWrench, paths: Sequence[FootPath], owner: np.ndarray
) -> str:
    """One sentence: whom a plate carries and when."""
    parts = []
    for k, path in enumerate(paths):
        runs = stretches(owner == k)
        if 0 < len(runs) <= 4:
            parts.append(f"{path.foot.body} ({_spans(motion.time, owner == k)})")
        elif runs:
            parts.append(f"{path.foot.body} ({len(runs)} times)")
    return f"plate {plate.name!r} carries {' and '.join(parts) or 'no foot'}"


def _shared(
    motion: Motion,
    plate: PlateWrench,
    paths: Sequence[FootPath],
    far: np.ndarray,
    owners: dict[str, np.ndarray],
) -> np.ndarray:
    """Frames in which a second foot stands on the plate beside its owner.

    The centre of pressure is then not under the owner, and some other foot is down that no other
    plate carries.
    """
    owner = owners[plate.name]
    frames = np.arange(len(owner))
    loaded = owner >= 0
    outside = loaded & (far[np.maximum(owner, 0), frames] > UNDER)
    second = np.zeros_like(loaded)
    for k, path in enumerate(paths):
        elsewhere = np.any([o == k for name, o in owners.items() if name != plate.name], axis=0)
        near = far[k] < 2 * NEAR
        second |= (owner != k) & path.stands & near & ~elsewhere
    both = outside & second
    for stretch in stretches(both):
        if motion.time[stretch.stop - 1] - motion.time[stretch.start] < BRIEF:
            both[stretch] = False
    return both


def _gathered(
    plates: Sequence[PlateWrench],
    owners: dict[str, np.ndarray],
    k: int,
    foot: Foot,
    up: np.ndarray,
    notes: list[str],
) -> FootForce:
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
    return FootForce(foot.body, foot.side, force, point, free, tuple(p.name for p, _ in shares))


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


def _span(time: np.ndarray, stretch: slice) -> str:
    return f"{time[stretch.start]:.2f} to {time[stretch.stop - 1]:.2f} s"


def _spans(time: np.ndarray, flags: np.ndarray) -> str:
    return ", ".join(_span(time, stretch) for stretch in stretches(flags))
