"""Forces of the environment on one body, over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model.side import Side, side_of


@record
class ContactForce(Record):
    """What the ground or another object exerts on one body, in the model's world, per frame.

    The wrench on the body is ``force`` at ``point`` and the couple ``torque``.
    """

    body: str
    """The body it acts on."""
    side: Side | None
    """None where the body has no side."""
    force: np.ndarray
    """(frames, 3), N."""
    point: np.ndarray
    """(frames, 3), m: center of pressure; NaN where the body is unloaded."""
    torque: np.ndarray
    """(frames, 3), N m: free moment."""
    plates: tuple[str, ...] = ()
    """Plates whose readings are in it."""
    predicted: bool = False
    """True when it was estimated from recorded kinematics, without a plate that measured it."""

    def __post_init__(self) -> None:
        # Words are accepted for sides, as files have them.
        if self.side is not None:
            object.__setattr__(self, "side", Side(self.side))

    @staticmethod
    def from_points(
        body: str,
        forces: np.ndarray,
        points: np.ndarray,
        up: np.ndarray,
        *,
        couples: np.ndarray | None = None,
    ) -> ContactForce:
        """The resultant of forces at several points of a body, at their center of pressure.

        The center of pressure is the mean of the points, weighted by their normal forces; where no
        force has a vertical component, by the magnitudes of the forces. The free moment is what
        remains of the moments there, so that the wrench is exact in any case.

        Args:
            body: The body that the forces act on.
            forces: (frames, points, 3), N, world.
            points: (frames, points, 3), m, world.
            up: (3,): unit vector against gravity.
            couples: (frames, points, 3), N m: couples that act besides the forces.

        Returns:
            The force on the body; its side is the one that the name of the body states.
        """
        magnitudes = np.linalg.norm(forces, axis=2)
        normal = np.abs(forces @ up)
        weights = np.where(normal.any(axis=1, keepdims=True), normal, magnitudes)
        total = weights.sum(axis=1, keepdims=True)
        share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        center = np.einsum("fp,fpx->fx", share, points)
        moments = np.cross(points - center[:, None], forces)
        torque = (moments if couples is None else moments + couples).sum(axis=1)
        point = np.where(total > 0, center, np.nan)
        return ContactForce(body, side_of(body), forces.sum(axis=1), point, torque)

    def headline(self) -> str:
        """Body and largest force."""
        peak = float(np.nanmax(np.linalg.norm(self.force, axis=1), initial=0.0))
        return f"ContactForce on {self.body!r}: peak {peak:.4g} N"

    def take(self, frames: np.ndarray) -> ContactForce:
        """The force at some of its frames.

        Args:
            frames: (count,): indices of frames, or a mask.

        Returns:
            The force at these frames.
        """
        return replace(
            self, force=self.force[frames], point=self.point[frames], torque=self.torque[frames]
        )

    def resample(self, old: np.ndarray, new: np.ndarray) -> ContactForce:
        """The force at other times, linear between frames.

        The center of pressure is that of the nearest frame: it is not defined between a loaded and
        an unloaded frame.

        Args:
            old: (frames,), s: times of the frames.
            new: (samples,), s: times of the samples.

        Returns:
            The force at the new times.
        """
        nearest = np.clip(np.searchsorted((old[1:] + old[:-1]) / 2, new), 0, len(old) - 1)
        force, torque = (
            np.column_stack([np.interp(new, old, column) for column in values.T])
            for values in (self.force, self.torque)
        )
        return replace(self, force=force, point=self.point[nearest], torque=torque)
