"""Anatomical axes of the world: forward, left and up."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model


@record
class Axes(Record):
    """Anatomical axes of the world: unit vectors."""

    forward: np.ndarray
    """(3,)."""
    left: np.ndarray
    """(3,)."""
    up: np.ndarray
    """(3,): against gravity."""

    @staticmethod
    def of(model: Model) -> Axes:
        """The axes of the world of a model, from its gravity; without gravity Z is up.

        Args:
            model: The model.

        Returns:
            The axes.
        """
        gravity = np.asarray(model.gravity, dtype=float)
        strength = np.linalg.norm(gravity)
        up = -gravity / strength if strength > 0 else np.array([0.0, 0.0, 1.0])
        level = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        forward = level - (level @ up) * up
        forward /= np.linalg.norm(forward)
        return Axes(forward, np.cross(up, forward), up)
