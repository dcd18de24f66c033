"""The result of tracking a trial."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

import numpy as np

from homodyn.foundation import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion import Loads, Motion
from homodyn.track.options import TrackingOptions


class TrackingStatus(StrEnum):
    """How tracking a trial ended."""

    FINISHED = "finished"
    """All frames were tracked, and the driven body kept its balance."""
    BALANCE_LOST = "balance lost"
    """The driven body fell at least once and was put back; ``loads.usable`` marks the frames."""
    INCOMPLETE = "incomplete"
    """Frames have no pose: too few markers, or steps without a solution."""


@record
class TrackingResult(Record):
    """A movement and its loads by physics."""

    status: TrackingStatus
    """How it ended."""
    message: str
    """The status in one sentence."""
    motion: Motion
    """The body that follows the markers."""
    loads: Loads
    """Torques, ground forces and residuals of the driven body; ``loads.motion`` is its movement."""
    frame_status: np.ndarray
    """(frames,): the `FrameStatus` of each frame."""
    residual_limits: dict[str, float]
    """Largest residual force (N) or torque (N m) by coordinate of the root."""
    options: TrackingOptions
    """Laws and limits."""
    notes: tuple[str, ...] = ()
    """Decisions and doubts, one sentence each."""
    gravity_torques: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, nv), N m or N: generalized forces that carry the weight of the segments in each
    pose, without ground forces. The torques contain them."""

    @property
    def angle_error(self) -> np.ndarray:
        """(frames, nv): joint coordinates of the driven body minus those of the other, rad or m."""
        error = self.motion.model.difference(self.motion.q, self.loads.motion.q)
        error[:, list(self.motion.model.root.v)] = 0.0
        return error

    @property
    def residual(self) -> dict[str, np.ndarray]:
        """Residual force (N) or torque (N m) by limited coordinate of the root, (frames,) each."""
        return {
            name: self.loads.tau[:, self.motion.model.coordinate_index(name)]
            for name, limit in self.residual_limits.items()
            if limit > 0
        }

    def headline(self) -> str:
        """Model, status and frames."""
        return (
            f"TrackingResult of {self.motion.model.name!r}: {self.status}, "
            f"{count_of(self.motion.frames, 'frame')}, marker rms {1e3 * self.motion.rms:.3g} mm"
        )
