"""Whether plates and motion can belong together: the same weight, the same clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.kinetics.foot_trajectories import SoleTrajectory
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.kinetics.plate_assignment import true_runs
from homodyn.capture.world_frame import world_axes
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

MAX_WEIGHT_ERROR = 0.1
"""Share of the weight by which the plates may differ from the model before it is said."""
MAX_MISSING_WEIGHT = 0.25
"""Share of the weight that the plates may lack before a frame counts as not measured."""
MAX_MISSING_WEIGHT_NEARBY = 0.05
"""The same around frames that are clearly not measured."""
MIN_REPORTED_DELAY_S = 0.04
"""s: a delay between plates and motion that is said."""
MAX_DELAY_S = 0.5
"""s: the longest delay that is looked for."""


def unmeasured_frames(
    motion: Motion, feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory]
) -> np.ndarray:
    """(frames,): True where the ground carries more than the plates say.

    Some foot stands that no plate carries, or nothing is carried at all, and the plates lack a
    good part of what the motion needs; and around that, for as long as they lack some.
    """
    up = world_axes(motion.model)[2]
    needed, carried = _vertical_forces(motion, feet, up)
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    bare = _stance_without_plate(feet, paths, up)
    clearly = (needed - carried > MAX_MISSING_WEIGHT * weight) & (bare | (carried <= 0))
    perhaps = bare | (needed - carried > MAX_MISSING_WEIGHT_NEARBY * weight)
    found = np.zeros(len(needed), dtype=bool)
    for stretch in true_runs(perhaps | clearly):
        found[stretch] = clearly[stretch].any()
    return found


def consistency_notes(
    motion: Motion, feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory]
) -> list[str]:
    """What makes one doubt that these forces moved this body, with remedies."""
    model = motion.model
    up = world_axes(model)[2]
    gravity = float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    needed, carried = _vertical_forces(motion, feet, up)
    told = []
    # Steps beside the plates tell nothing of weight: every foot that stands must be measured.
    known = ~_stance_without_plate(feet, paths, up) & (carried > 0)
    if known.sum() > 5:
        mass = float(model.mass * carried[known].mean() / needed[known].mean())
        if abs(mass / model.mass - 1.0) > MAX_WEIGHT_ERROR:
            told.append(
                f"the mass of the model is {model.mass:.1f} kg, but the plates carry "
                f"{mass:.1f} kg: scale the model to the mass of the person (mass=), or check the "
                "unit of the plates"
            )
    if known.sum() > 0.5 / (motion.time[1] - motion.time[0]):
        delay = _delay(motion.time, needed, carried, known, model.mass * gravity)
        if abs(delay) > MIN_REPORTED_DELAY_S:
            word = "late" if delay > 0 else "early"
            told.append(
                f"the plates seem to be {abs(delay):.2f} s {word}: shifted by that they fit the "
                f"motion much better; move their start by {-delay:+.2f} s if the clocks differ"
            )
    return told


def _vertical_forces(
    motion: Motion, feet: Sequence[ContactForce], up: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vertical force (N) that the motion needs, and that the plates carry."""
    needed = required_wrench(motion)[0] @ up
    return needed, sum((foot.force @ up for foot in feet), np.zeros(len(needed)))


def _stance_without_plate(
    feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory], up: np.ndarray
) -> np.ndarray:
    """(frames,): True where a foot stands that no plate carries."""
    found = []
    for path in paths:
        own = [foot.force @ up != 0 for foot in feet if foot.body == path.foot.body]
        found.append(path.in_stance & ~np.any(own, axis=0))
    return np.any(found, axis=0)


def _delay(
    time: np.ndarray, needed: np.ndarray, carried: np.ndarray, known: np.ndarray, weight: float
) -> float:
    """The shift in time (s) of the plates that fits them best; 0 unless it is much better."""
    step = time[1] - time[0]
    reach = min(int(MAX_DELAY_S / step), len(time) // 3)
    costs = {}
    for shift in range(-reach, reach + 1):
        # Plates that are late show at k what the motion needed at k - shift.
        here = slice(max(shift, 0), len(time) + min(shift, 0))
        there = slice(max(-shift, 0), len(time) - max(shift, 0))
        both = known[here]
        if both.sum() < 0.5 * known.sum():
            continue
        costs[shift] = float(np.mean((carried[here][both] - needed[there][both]) ** 2))
    best = min(costs, key=lambda shift: (costs[shift], abs(shift)))
    small = (0.01 * weight) ** 2
    return best * step if costs[best] + small < 0.5 * costs[0] else 0.0
