"""A comfortable standing posture, which postures stay near where nothing else is asked."""

from __future__ import annotations

import numpy as np

from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.model.configuration import clamp, plain_entries
from homodyn.motion import resolve_coordinate

COMFORT_DEGREES = {
    "hip flexion": 12.0,
    "knee flexion": 24.0,
    "ankle dorsiflexion": 12.0,
    "elbow flexion": 20.0,
}
"""Angles of both sides: knees and elbows slightly bent, far from where limbs are straight."""


def comfortable_posture(model: Model) -> np.ndarray:
    """Standing with slightly bent knees and elbows.

    Args:
        model: The model.

    Returns:
        (nq,): the neutral posture with these angles, where the model has such joints.
    """
    q = model.neutral()
    entries, places = plain_entries(model)
    place_of = dict(zip(entries, places, strict=True))
    for reading, angle in COMFORT_DEGREES.items():
        for side in ("right", "left"):
            try:
                found = resolve_coordinate(model, f"{side} {reading}")
            except HomodynError:
                continue
            index = model.coordinate_names.index(found.coordinate)
            if index in place_of:
                q[place_of[index]] = found.sign * np.radians(angle)
    return np.asarray(clamp(model, q))
