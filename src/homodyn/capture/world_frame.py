"""World axes of a model relative to the Z-up axes of recordings."""

from __future__ import annotations

import numpy as np

from homodyn.capture.trial import Y_UP_TO_Z_UP, Trial
from homodyn.errors import CaptureError
from homodyn.model import Model


def to_world_axes(model: Model, trial: Trial) -> Trial:
    """Rotate a trial from Z-up axes into the world axes of a model, given by its gravity.

    Models of OpenSim have Y up and X forward.

    Args:
        model: The model.
        trial: The recording.

    Returns:
        A new trial.
    """
    return trial.rotate(world_axes(model).T)


def world_axes(model: Model) -> np.ndarray:
    """Rotation from the world axes of a model to Z-up axes (X forward, Y left, Z up).

    Args:
        model: The model.

    Returns:
        (3, 3).

    Raises:
        CaptureError: The model has no gravity, or its vertical axis is neither Z nor Y.
    """
    gravity = np.asarray(model.gravity, dtype=float)
    strength = np.linalg.norm(gravity)
    if not strength:
        raise CaptureError(
            f"model {model.name!r} has no gravity, so its vertical axis is not known; give it one, "
            "such as (0, 0, -9.81)"
        )
    up = -gravity / strength
    for axes in (np.eye(3), Y_UP_TO_Z_UP):
        if np.allclose(axes @ up, [0.0, 0.0, 1.0], atol=1e-6):
            return axes
    raise CaptureError(
        f"gravity of model {model.name!r} points along {-up}; recordings can be rotated into the "
        "axes of models with Z up or Y up only"
    )
