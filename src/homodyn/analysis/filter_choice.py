"""Choice of the cutoff of the low-pass filter by the movement, and what the filter takes away."""

from __future__ import annotations

from collections.abc import Sequence

from homodyn import capture
from homodyn.analysis.curves import CycleSegmentation
from homodyn.capture import Trial
from homodyn.capture.kinetics import AccelerationLoss, ForceLoss
from homodyn.capture.kinetics.motion_filter import STANDARD_CUTOFF_HZ
from homodyn.errors import CaptureError
from homodyn.motion import Event, Motion, Side


def choose_cutoff(
    fitted: Motion, events: Sequence[Event], cutoff: float | str
) -> tuple[float, tuple[str, ...]]:
    """The cutoff of an analysis, as given or chosen.

    Runs have impacts: 6 Hz takes 5 to 10 % off the peak force of a runner. Their cutoff is chosen
    by residual analysis of the markers.

    Args:
        fitted: The motion as it was fitted, with its measured markers.
        events: Its foot strikes and foot offs.
        cutoff: A frequency (Hz), ``"auto"`` for residual analysis, or ``"standard"`` for
            `STANDARD_CUTOFF_HZ`, and residual analysis of runs.

    Returns:
        The cutoff (Hz), and notes on the choice.

    Raises:
        CaptureError: A given cutoff is not below half the frame rate, or nothing can be chosen.
    """
    if not isinstance(cutoff, str):
        if cutoff >= fitted.rate / 2:
            raise CaptureError(
                f"the cutoff is {cutoff:g} Hz, and {fitted.rate:g} frames per second show nothing "
                f"above {fitted.rate / 2:g} Hz; choose one below"
            )
        return cutoff, ()
    if cutoff == "standard" and not has_running_steps(fitted, events):
        return min(STANDARD_CUTOFF_HZ, 0.4 * fitted.rate), ()
    chosen = capture.kinetics.motion_cutoff(fitted)
    if cutoff == "standard":
        reason = (
            f"the person runs: the cutoff is not {STANDARD_CUTOFF_HZ:g} Hz, but chosen by residual "
            "analysis"
        )
        return max(chosen.cutoff, STANDARD_CUTOFF_HZ), (reason, chosen.sentence)
    return chosen.cutoff, (chosen.sentence,)


def has_running_steps(motion: Motion, events: Sequence[Event]) -> bool:
    """Whether the feet are on the ground in turns, and never together.

    Args:
        motion: The motion.
        events: Its foot strikes and foot offs.

    Returns:
        True with a gait cycle, stances of both feet, and no double support.
    """
    segmentation = CycleSegmentation(motion.time, tuple(events))
    if not segmentation.has_cycles:
        return False
    right, left = (segmentation.stances(side) for side in (Side.RIGHT, Side.LEFT))
    overlap = any(max(a, c) < min(b, d) - 1.0 / motion.rate for a, b in right for c, d in left)
    return bool(right) and bool(left) and not overlap


def filter_losses(
    fitted: Motion, recorded: Trial, cutoff: float
) -> tuple[ForceLoss | None, AccelerationLoss | None]:
    """What the filter takes off the peaks of the forces and of the acceleration.

    Args:
        fitted: The motion as it was fitted.
        recorded: The recording with its plates.
        cutoff: Cutoff (Hz).

    Returns:
        Both losses, None where there is nothing to compare.
    """
    return (
        capture.kinetics.force_loss(fitted, recorded.plates, cutoff),
        capture.kinetics.acceleration_loss(fitted, cutoff),
    )
