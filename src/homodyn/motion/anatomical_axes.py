"""Directions of the world as a person standing in it has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.model import Model


@dataclass(frozen=True)
class Axes:
    """Directions of the world as a person standing in it has them: unit vectors."""

    forward: np.ndarray
    left: np.ndarray
    up: np.ndarray

    @staticmethod
    def of(model: Model) -> Axes:
        """The axes of a model, by its gravity; z is up where there is none."""
        gravity = np.asarray(model.gravity, dtype=float)
        strength = np.linalg.norm(gravity)
        up = -gravity / strength if strength > 0 else np.array([0.0, 0.0, 1.0])
        level = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        forward = level - (level @ up) * up
        forward /= np.linalg.norm(forward)
        return Axes(forward, np.cross(up, forward), up)
