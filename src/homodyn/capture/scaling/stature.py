"""Stature of a model, and the expected size of a subject relative to it."""

from __future__ import annotations

import numpy as np

from homodyn.catalog.standing_height import placements
from homodyn.model import Model
from homodyn.model.joint import WORLD

HIP_HEIGHT_SHARE = 0.530
"""Height of the hip as a share of stature (Drillis and Contini 1966, in Winter 2009, fig. 4.1)."""


def expected_size(model: Model, height: float | None) -> tuple[float | None, list[str]]:
    """Size of a subject relative to the model, from the height of the subject.

    Args:
        model: The generic model.
        height: Height of the subject (m), if known.

    Returns:
        The ratio of the statures, None if one of them is not known; and notes.
    """
    if height is None:
        return None, []
    generic = stature(model)
    if generic is None:
        return None, ["height is not used: the stature of the model cannot be determined"]
    note = (
        f"height {height:.3f} m: the stature of the generic model is {generic:.3f} m, by its hips"
    )
    return height / generic, [note]


def stature(model: Model) -> float | None:
    """Height of the person that a model represents (m), from its hips; None if there are none.

    The hip is the joint of the root that carries the lowest point of the neutral pose: a contact,
    a marker, a capsule end or a joint.
    """
    frames = placements(model, model.neutral())
    up = -np.asarray(model.gravity, dtype=float)
    if not up.any():
        return None
    up = up / np.linalg.norm(up)
    index = {name: i for i, name in enumerate(model.body_names)}
    points = [(i, at.r) for i, (at, _) in enumerate(frames) if model.parents[i] >= 0]
    for name, local, radius in _body_points(model):
        points.append((index[name], frames[index[name]][1].point_back(local) - radius * up))
    if not points:
        return None
    body, low = min(points, key=lambda point: float(point[1] @ up))
    while model.parents[body] > 0:
        body = model.parents[body]
    if model.parents[body] < 0:
        return None
    height = float((frames[body][0].r - low) @ up) / HIP_HEIGHT_SHARE
    return height if height > 0 else None


def _body_points(model: Model) -> list[tuple[str, np.ndarray, float]]:
    """Points fixed in bodies, each with a radius around it (m)."""
    found = [(m.body, m.position, 0.0) for m in model.markers]
    found += [(c.body, c.position, float(c.radius)) for c in model.contacts]
    for capsule in model.capsules:
        found += [
            (capsule.body, end, float(capsule.radius)) for end in (capsule.start, capsule.end)
        ]
    return [point for point in found if point[0] != WORLD]
