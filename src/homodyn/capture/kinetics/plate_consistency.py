"""Consistency of plates and motion: frames without plates, body weight and time offset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.kinetics.foot_trajectories import SoleTrajectory
from homodyn.capture.kinetics.newton_euler import required_wrench
from homodyn.capture.mask_runs import true_slices
from homodyn.capture.world_frame import world_axes
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.motion import Motion

MAX_WEIGHT_ERROR = 0.1
"""Deviation of the measured from the model weight, as a share, above which a note is added."""
MIN_WEIGHING_FRAMES = 6
"""Frames with all stance feet on plates that are enough to weigh the body."""
WEIGHT_RATIO_RANGE = (0.4, 2.5)
"""Measured weights, as multiples of the model weight, that a wrong mass of the model explains.
Beyond them the plates have another unit, or do not belong to the motion."""
MAX_RATIO_DEVIATION = 0.25
"""Relative deviation of a frame from the measured weight that posture and noise explain."""
MIN_RATIO_AGREEMENT = 0.8
"""Share of the frames that a wrong mass has to explain."""
MAX_MISSING_WEIGHT = 0.25
"""Share of the weight that the plates lack in frames that are clearly not measured."""
MAX_MEAN_FLIGHT_FORCE = 0.5
"""Mean required force (body weights) of a flight: none, but for what the filter spreads into it."""
MAX_MISSING_WEIGHT_NEARBY = 0.05
"""The same in frames next to these."""
MIN_REPORTED_DELAY_S = 0.04
"""Delay between plates and motion (s) above which a note is added."""
MAX_DELAY_S = 0.5
"""Longest delay (s) that is searched for."""


def unmeasured_frames(
    motion: Motion, feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory]
) -> np.ndarray:
    """(frames,): True where the ground carries more than the plates measure.

    A foot is in stance off the plates, or the plates measure nothing, while they lack a good part
    of the force that the motion requires; and the neighboring frames that lack some of it. In
    flight the plates measure nothing and no foot is in stance: the filter spreads the force of the
    steps into it, but its mean over the flight stays small. The required force is that of a body
    with the weight that the plates show: a wrong mass of the model does not make measured frames
    unmeasured.
    """
    up = world_axes(motion.model)[2]
    required, measured = vertical_forces(motion, feet, up)
    weight = motion.model.mass * float(np.linalg.norm(np.asarray(motion.model.gravity, float)))
    off_plate = stance_without_plate(feet, paths, up)
    ratio = _weight_ratio(required, measured, ~off_plate & (measured > 0))
    if abs(ratio - 1.0) > MAX_WEIGHT_ERROR:
        required, weight = ratio * required, ratio * weight
    missing = required - measured
    clear = missing > MAX_MISSING_WEIGHT * weight
    clear &= off_plate | ((measured <= 0) & ~_in_flight(missing / weight, measured, off_plate))
    possible = off_plate | (missing > MAX_MISSING_WEIGHT_NEARBY * weight)
    found = np.zeros(len(required), dtype=bool)
    for run in true_slices(possible | clear):
        found[run] = clear[run].any()
    return found


def _in_flight(missing: np.ndarray, measured: np.ndarray, off_plate: np.ndarray) -> np.ndarray:
    """(frames,): True between two steps on plates while no foot is on the ground.

    Args:
        missing: (frames,): required minus measured vertical force, in body weights.
        measured: (frames,), N: vertical force on the plates.
        off_plate: (frames,): True where a foot is in stance off the plates.
    """
    found = np.zeros(len(measured), dtype=bool)
    for run in true_slices((measured <= 0) & ~off_plate):
        between = run.start > 0 and run.stop < len(found)
        if between and measured[run.start - 1] > 0 and measured[run.stop] > 0:
            found[run] = bool(np.mean(missing[run]) < MAX_MEAN_FLIGHT_FORCE)
    return found


def consistency_notes(
    motion: Motion, feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory]
) -> list[str]:
    """Signs that plates and motion do not belong together, with remedies."""
    model = motion.model
    up = world_axes(model)[2]
    gravity = float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    required, measured = vertical_forces(motion, feet, up)
    notes = []
    # The weight can be compared only where plates measure every foot in stance.
    known = ~stance_without_plate(feet, paths, up) & (measured > 0)
    ratio = _weight_ratio(required, measured, known)
    if abs(ratio - 1.0) > MAX_WEIGHT_ERROR:
        notes.append(
            f"the mass of the model is {model.mass:.1f} kg, but the plates carry "
            f"{ratio * model.mass:.1f} kg: scale the model to the mass of the subject (mass=, "
            "--mass), or check the unit of the plates"
        )
    if known.sum() > 0.5 / (motion.time[1] - motion.time[0]):
        delay = find_delay(motion.time, required, measured, known, model.mass * gravity)
        if abs(delay) > MIN_REPORTED_DELAY_S:
            word = "late" if delay > 0 else "early"
            notes.append(
                f"the plates seem to be {abs(delay):.2f} s {word}: with this shift they fit the "
                f"motion much better; change their start by {-delay:+.2f} s if the clocks differ"
            )
    return notes


def vertical_forces(
    motion: Motion, feet: Sequence[ContactForce], up: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vertical force (N) that the motion requires, and that the plates measure."""
    required = required_wrench(motion)[0] @ up
    return required, sum((foot.force @ up for foot in feet), np.zeros(len(required)))


def _weight_ratio(required: np.ndarray, measured: np.ndarray, known: np.ndarray) -> float:
    """Weight on the plates by that of the model; 1 unless it explains almost all known frames.

    It is the median of the known frames: those with all stance feet on plates. A chair or a hand
    rail takes weight in a part of them only, which is not a wrong mass.
    """
    known = known & (required > 0)
    if known.sum() < MIN_WEIGHING_FRAMES:
        return 1.0
    ratios = measured[known] / required[known]
    ratio = float(np.median(ratios))
    agreement = np.mean(np.abs(ratios - ratio) <= MAX_RATIO_DEVIATION * ratio)
    plausible = WEIGHT_RATIO_RANGE[0] <= ratio <= WEIGHT_RATIO_RANGE[1]
    return ratio if plausible and agreement >= MIN_RATIO_AGREEMENT else 1.0


def stance_without_plate(
    feet: Sequence[ContactForce], paths: Sequence[SoleTrajectory], up: np.ndarray
) -> np.ndarray:
    """(frames,): True where a foot is in stance off the plates."""
    found = []
    for path in paths:
        own = [foot.force @ up != 0 for foot in feet if foot.body == path.foot.body]
        found.append(path.in_stance & ~np.any(own, axis=0))
    return np.any(found, axis=0)


def find_delay(
    time: np.ndarray, required: np.ndarray, measured: np.ndarray, known: np.ndarray, weight: float
) -> float:
    """Time shift (s) of the plates that fits the motion best; 0 unless it is much better.

    Args:
        time: (frames,), s.
        required: (frames,), N: vertical force that the motion requires.
        measured: (frames,), N: vertical force on the plates.
        known: (frames,): frames that are compared.
        weight: Body weight (N).

    Returns:
        The delay of the plates; negative if they are early.
    """
    step = time[1] - time[0]
    reach = min(int(MAX_DELAY_S / step), len(time) // 3)
    costs, unshifted = {}, {}
    for shift in range(-reach, reach + 1):
        # Late plates measure at k what the motion requires at k - shift.
        here = slice(max(shift, 0), len(time) + min(shift, 0))
        there = slice(max(-shift, 0), len(time) - max(shift, 0))
        both = known[here]
        if both.sum() < 0.5 * known.sum():
            continue
        costs[shift] = float(np.mean((measured[here][both] - required[there][both]) ** 2))
        # A shift by one step also fits, and leaves out one end: that alone is no better fit.
        unshifted[shift] = min(
            float(np.mean((measured[part][both] - required[part][both]) ** 2))
            for part in (here, there)
        )
    if not costs:
        return 0.0
    best = min(costs, key=lambda shift: (costs[shift], abs(shift)))
    small = (0.01 * weight) ** 2
    much_better = costs[best] + small < 0.5 * min(costs[0], unshifted[best])
    return best * step if much_better else 0.0
