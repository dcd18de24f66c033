"""Forces of the environment on one body, over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model.side import Side


@record
class ContactForce(Record):
    """What the ground or another object exerts on one body, in the model's world, per frame."""

    body: str
    """The body it acts on."""
    side: Side | None
    """None where the body has no side."""
    force: np.ndarray
    """(frames, 3), N."""
    point: np.ndarray
    """(frames, 3), m: centre of pressure; NaN where the body is unloaded."""
    torque: np.ndarray
    """(frames, 3), N m: free moment."""
    plates: tuple[str, ...] = ()
    """Plates whose readings are in it."""
    predicted: bool = False
    """True when no plate measured it and it was computed from the motion."""

    def headline(self) -> str:
        """Body and largest force."""
        peak = float(np.nanmax(np.linalg.norm(self.force, axis=1), initial=0.0))
        return f"ContactForce on {self.body!r}: peak {peak:.4g} N"

    def take(self, frames: np.ndarray) -> ContactForce:
        """The force at some of its frames.

        Args:
            frames: (count,): indices of frames, or a mask.
        """
        return replace(
            self, force=self.force[frames], point=self.point[frames], torque=self.torque[frames]
        )

    def resample(self, old: np.ndarray, new: np.ndarray) -> ContactForce:
        """The force at other times, linear between frames.

        The centre of pressure is that of the nearest frame: it is not defined between a loaded and
        an unloaded frame.

        Args:
            old: (frames,), s: the times of the frames.
            new: (samples,), s: the times wanted.
        """
        nearest = np.clip(np.searchsorted((old[1:] + old[:-1]) / 2, new), 0, len(old) - 1)
        force, torque = (
            np.column_stack([np.interp(new, old, column) for column in values.T])
            for values in (self.force, self.torque)
        )
        return replace(self, force=force, point=self.point[nearest], torque=torque)
