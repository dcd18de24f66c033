"""What the low-pass filter takes off the peaks of measured forces and of the movement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.filters.butterworth_filter import lowpass
from homodyn.capture.filters.signal_derivatives import derivatives
from homodyn.capture.kinetics.motion_filter import MIN_FRAMES, edge_frames, motion_cutoff
from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.motion import ForcePlate
from homodyn.motion.motion import Motion

MAX_PEAK_LOSS = 0.05
"""Share of a peak that a filter may take off without a warning."""
REFERENCE_FORCE_CUTOFF_HZ = 100.0
"""Cutoff (Hz) of the force that the filtered one is compared with: it removes the noise of plates;
ground forces of walking and running have nearly all of their power below 50 Hz."""
MIN_LOADED_WEIGHTS = 0.1
"""Peak of a plate in body weights from which its loss counts."""


@record(eq=True)
class ForceLoss(Record):
    """Peak vertical force of a plate, before and after the low-pass filter."""

    cutoff: float
    """Cutoff of the filter (Hz)."""
    plate: str
    """The plate with the largest loss."""
    peak: float
    """N, unfiltered."""
    filtered_peak: float
    """N, after the filter."""

    @property
    def share(self) -> float:
        """Loss relative to the peak, 0 to 1."""
        return max(1.0 - self.filtered_peak / self.peak, 0.0)

    @property
    def notable(self) -> bool:
        """Whether the loss is above `MAX_PEAK_LOSS`."""
        return self.share > MAX_PEAK_LOSS

    @property
    def sentence(self) -> str:
        """The loss, in words."""
        return (
            f"the low-pass filter of {self.cutoff:.3g} Hz takes {100 * self.share:.0f} % "
            f"({self.peak - self.filtered_peak:.0f} of {self.peak:.0f} N) off the peak vertical "
            f"force of plate {self.plate!r}"
        )


@record(eq=True)
class AccelerationLoss(Record):
    """Peak vertical acceleration of the markers, with the cutoff used and the one suggested.

    It is the acceleration of the mean of all markers plus gravity, which is nearly proportional to
    the ground force of the whole body.
    """

    cutoff: float
    """Cutoff of the filter (Hz)."""
    suggested: float
    """Cutoff by residual analysis of the markers (Hz)."""
    peak: float
    """m/s2, with the suggested cutoff."""
    filtered_peak: float
    """m/s2, with the cutoff used."""

    @property
    def share(self) -> float:
        """Loss relative to the peak, 0 to 1; 0 where the cutoff is not below the suggested one."""
        if self.cutoff >= self.suggested:
            return 0.0
        return max(1.0 - self.filtered_peak / self.peak, 0.0)

    @property
    def notable(self) -> bool:
        """Whether the loss is above `MAX_PEAK_LOSS`."""
        return self.share > MAX_PEAK_LOSS

    @property
    def sentence(self) -> str:
        """The loss, in words."""
        return (
            f"the low-pass filter of {self.cutoff:.3g} Hz takes {100 * self.share:.0f} % off the "
            f"peak vertical acceleration of the body, compared with {self.suggested:.3g} Hz, which "
            "residual analysis of the markers suggests"
        )


def force_loss(
    motion: Motion, plates: Sequence[ForcePlate], cutoff: float | None
) -> ForceLoss | None:
    """What the low-pass filter takes off the peak of the vertical force, at the worst plate.

    Args:
        motion: The motion; plates count within its time.
        plates: Unfiltered force plates in Z-up axes.
        cutoff: Cutoff frequency of the plates, Hz; None is no filter.

    Returns:
        The loss; None without a filter or a loaded plate.
    """
    gravity = float(np.linalg.norm(motion.model.gravity))
    least = MIN_LOADED_WEIGHTS * motion.model.mass * gravity
    found: list[ForceLoss] = []
    for plate in plates if cutoff is not None else ():
        assert cutoff is not None
        inside = (plate.time >= motion.time[0]) & (plate.time <= motion.time[-1])
        vertical = np.nan_to_num(plate.force[:, 2])
        if cutoff >= plate.rate / 2 or len(vertical) < 2 or not inside.any():
            continue
        reference = vertical
        if plate.rate > 2 * REFERENCE_FORCE_CUTOFF_HZ:
            reference = lowpass(vertical, plate.rate, cutoff=REFERENCE_FORCE_CUTOFF_HZ)
        peak = float(reference[inside].max())
        if peak > least:
            filtered = float(lowpass(vertical, plate.rate, cutoff=cutoff)[inside].max())
            found.append(ForceLoss(cutoff, plate.name, peak, filtered))
    return max(found, key=lambda loss: loss.share, default=None)


def acceleration_loss(motion: Motion, cutoff: float | None) -> AccelerationLoss | None:
    """What a filter takes off the vertical acceleration that residual analysis would keep.

    Args:
        motion: The motion as it was fitted, with its measured markers, not filtered.
        cutoff: Cutoff frequency of the coordinates, Hz; None is no filter.

    Returns:
        The loss; None without a filter, without markers that are seen in all frames, or for a
        motion that is too short.
    """
    measured = motion.measured
    if cutoff is None or not measured.size or len(measured) < MIN_FRAMES:
        return None
    complete = np.isfinite(measured).all(axis=(0, 2))
    if not complete.any():
        return None
    try:
        suggested = motion_cutoff(motion).cutoff
    except CaptureError:
        return None  # Too short, or nothing moves.
    if max(cutoff, suggested) >= motion.rate / 2:
        return None
    up = world_axes(motion.model)[2]
    height = measured[:, complete].mean(axis=1) @ up
    edge = edge_frames(len(height), motion.rate, min(cutoff, suggested))
    gravity = float(np.linalg.norm(motion.model.gravity))
    peak, filtered = (
        float(acceleration[~edge].max()) + gravity
        for acceleration in (
            derivatives(lowpass(height, motion.rate, cutoff=c), motion.rate)[1]
            for c in (suggested, cutoff)
        )
    )
    return AccelerationLoss(cutoff, suggested, peak, filtered)
