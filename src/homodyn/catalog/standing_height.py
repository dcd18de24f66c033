"""The neutral pose on the ground: where bodies are without mechanics, and how low they reach."""

from __future__ import annotations

import numpy as np

from homodyn.model import WORLD, Joint, Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.spatial import Transform


def placements(model: Model, q: np.ndarray) -> list[tuple[Transform, Transform]]:
    """For each joint its frame before it moves, and the frame of its body, from the world."""
    made: list[tuple[Transform, Transform]] = []
    for joint, position, parent in zip(
        model.joints, joint_positions(model, q), model.parents, strict=True
    ):
        carrier = made[parent][1] if parent >= 0 else Transform.identity()
        at = joint.placement @ carrier
        made.append((at, joint.child_placement.inverse() @ joint.transform(position) @ at))
    return made


def lowest_contact_height(model: Model) -> float | None:
    """Height (m) of the lowest contact point in the neutral pose; None without contacts."""
    frames = dict(zip(model.body_names, placements(model, model.neutral()), strict=True))
    heights = [
        frames[contact.body][1].point_back(contact.position)[2] - contact.radius
        for contact in model.contacts
        if contact.body != WORLD
    ]
    return float(min(heights)) if heights else None


def with_same_standing_height(model: Model, before: Model) -> Model:
    """The model with its base raised in the neutral pose until it stands as high as another.

    A model whose base does not slide upwards, or with parameters, stays as it is.
    """
    if model.parameters:
        return model
    name = _upward(model.joints[0])
    now, then = lowest_contact_height(model), lowest_contact_height(before)
    if name is None or now is None or then is None:
        return model
    coordinate = next(c for c in model.coordinates if c.name == name)
    return model.with_numbers({f"coordinate:{name}.default": coordinate.default + then - now})


def _upward(joint: Joint) -> str | None:
    """The coordinate of a base along which it rises."""
    if not np.array_equal(joint.placement.E, np.eye(3)):
        return None
    if joint.kind == "free":
        return joint.coordinates[2].name
    for motion in joint.axes:
        if motion.kind != "slide":
            return None
        if motion.coordinate is not None and np.array_equal(motion.axis, [0, 0, 1]):
            return joint.coordinates[motion.coordinate].name
    return None
