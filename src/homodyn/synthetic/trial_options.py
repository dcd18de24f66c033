"""Options of a synthetic walking trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.model import Model

Gaps = float | Sequence[tuple[str, float, float]]


class WalkingTrialKeywords(TypedDict, total=False):
    """The fields of `WalkingTrialOptions` as keywords of `walking_trial`."""

    model: Model | None
    height: float
    mass: float
    sex: str
    variation: float
    speed: float
    step_length: float | None
    cadence: float | None
    strides: int
    duration: float | None
    rate: float
    plate_rate: float
    noise: float
    gaps: Gaps
    swaps: int
    plates: int
    shared_plate: bool
    plate_noise: float
    seed: int


@record
class WalkingTrialOptions(Record):
    """The person, the walk and the recording of a synthetic trial."""

    model: Model | None = None
    """A HeiMan to use instead of a random subject."""
    height: float = 1.75
    """Stature (m)."""
    mass: float = 70.0
    """Body mass (kg)."""
    sex: str = "male"
    """``"male"`` or ``"female"``."""
    variation: float = 1.0
    """Scale of the random deviation from the tables: 3 % of segment lengths, 5 mm of markers."""
    speed: float = 1.2
    """Walking speed (m/s)."""
    step_length: float | None = None
    """Step length (m); by default that which people choose at this speed."""
    cadence: float | None = None
    """Steps per minute, as an alternative to the step length."""
    strides: int = 4
    """Recorded strides of the right foot."""
    duration: float | None = None
    """Duration (s); by default that of the strides plus half a stride."""
    rate: float = 100.0
    """Frame rate of the markers (Hz)."""
    plate_rate: float = 1000.0
    """Sampling rate of plates and EMG (Hz), a multiple of ``rate``."""
    noise: float = 0.001
    """Standard deviation of the markers along each axis (m)."""
    gaps: Gaps = 0.01
    """Share of hidden marker positions, or a list of (marker, first time, last time) in s."""
    swaps: int = 0
    """Number of exchanged left and right labels."""
    plates: int = 3
    """Force plates, each under one footfall."""
    shared_plate: bool = False
    """Add a plate under two footfalls."""
    plate_noise: float = 1.0
    """Standard deviation of the plate forces (N)."""
    seed: int = 0
    """Seed of all random numbers."""

    def __post_init__(self) -> None:
        positive = {
            "rate": self.rate,
            "plate_rate": self.plate_rate,
            "height": self.height,
            "mass": self.mass,
            "strides": self.strides,
        }
        if self.duration is not None:
            positive["duration"] = self.duration
        for name, value in positive.items():
            if not (np.isfinite(value) and value > 0):
                raise CaptureError(f"{name} must be a positive number; got {value}")
        for name in ("noise", "plate_noise", "swaps", "plates"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise CaptureError(f"{name} must be zero or a positive number; got {value}")
        if isinstance(self.gaps, int | float) and not 0 <= self.gaps < 0.5:
            raise CaptureError(f"gaps is a share of all positions, 0 to 0.5; got {self.gaps}")
        ratio = self.samples_per_frame
        if ratio < 1 or abs(ratio * self.rate - self.plate_rate) > 1e-9 * self.plate_rate:
            raise CaptureError(
                f"plate_rate must be a whole multiple of rate ({self.rate:g} Hz); "
                f"got {self.plate_rate:g} Hz"
            )

    @property
    def samples_per_frame(self) -> int:
        """Plate samples per marker frame."""
        return round(self.plate_rate / self.rate)
