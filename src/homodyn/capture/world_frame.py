"""One world for a recording and a model: which way is up."""

from __future__ import annotations

import numpy as np

from homodyn.capture.trial import (
    Y_UP_TO_Z_UP,
    Trial,
)
from homodyn.errors import CaptureError
from homodyn.model import Model


def to_world_axes(model: Model, trial: Trial) -> Trial:
    """The trial turned from our axes (Z up) into those of a model, read off its gravity.

    Models of OpenSim have Y up; their X is forward as ours.
    """
    return trial.rotate(world_axes(model).T)


def world_axes(model: Model) -> np.ndarray:
    """Rotation from the world of a model to ours (X forward, Y left, Z up)."""
    gravity = np.asarray(model.gravity, dtype=float)
    strength = np.linalg.norm(gravity)
    if not strength:
        raise CaptureError(
            f"model {model.name!r} has no gravity, so it does not say which way is up; "
            "give it one, such as (0, 0, -9.81)"
        )
    up = -gravity / strength
    for axes in (np.eye(3), Y_UP_TO_Z_UP):
        if np.allclose(axes @ up, [0.0, 0.0, 1.0], atol=1e-6):
            return axes
    raise CaptureError(
        f"gravity of model {model.name!r} points along {-up}; the world of a recording can be "
        "turned to a model with Z up or with Y up"
    )
