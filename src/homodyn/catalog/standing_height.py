"""Heights in the neutral pose: placements of bodies, and the lowest contact point."""

from __future__ import annotations

import numpy as np

from homodyn.model import WORLD, Joint, Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.spatial import Transform


def placements(model: Model, q: np.ndarray) -> list[tuple[Transform, Transform]]:
    """Placement in the world of each joint frame in the parent, and of each body.

    Args:
        model: The model.
        q: Positions, (nq,).

    Returns:
        Two transforms per joint.
    """
    placed: list[tuple[Transform, Transform]] = []
    for joint, position, parent in zip(
        model.joints, joint_positions(model.joint_slots, q), model.parents, strict=True
    ):
        base = placed[parent][1] if parent >= 0 else Transform.identity()
        at = joint.placement @ base
        placed.append((at, joint.child_placement.inverse() @ joint.transform(position) @ at))
    return placed


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
    """The model with the default height of its root changed to that of another model.

    The lowest contact point of the neutral pose then has the same height in both. A model without a
    vertical translation of its root, or with parameters, is returned as it is.
    """
    if model.parameters:
        return model
    name = _vertical_coordinate(model.joints[0])
    now, then = lowest_contact_height(model), lowest_contact_height(before)
    if name is None or now is None or then is None:
        return model
    coordinate = next(c for c in model.coordinates if c.name == name)
    return model.with_numbers({f"coordinate:{name}.default": coordinate.default + then - now})


def _vertical_coordinate(joint: Joint) -> str | None:
    """The coordinate of a root joint that translates along z; None if there is none."""
    if not np.array_equal(joint.placement.E, np.eye(3)):
        return None
    if joint.kind == "free":
        return joint.coordinates[2].name
    for axis in joint.axes:
        if axis.kind != "slide":
            return None
        if axis.coordinate is not None and np.array_equal(axis.axis, [0, 0, 1]):
            return joint.coordinates[axis.coordinate].name
    return None
