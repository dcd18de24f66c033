"""Displacement of joint centers together with the muscles that are attached around them.

Scaling along three axes does not describe the shape of a bone: the hips of a person are nearer to
each other, or farther back, than those of a scaled pelvis. The bone around a joint moves with its
center, and with it the attachments of muscles and the surfaces that they wrap around. If they
stayed where they are, moment arms would change by as much as the center moved.

The displacement between the centers is interpolated as a smooth random field (kriging): its
correlation over a distance d is exp(-(d / l)^2), with the size l of the bone, the largest distance
between two of its joint centers. Points near a center follow it, points far from all centers stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.muscles import PathPoint, WrapObject
from homodyn.spatial import Array, Transform, is_symbolic

CENTER_VARIANCE = 0.01
"""Share of the variance of a displacement that does not extend beyond the center: two joints at
nearly the same place may move apart without tearing the bone between them."""
MIN_BONE_SIZE_M = 0.01
"""Bones whose joint centers are all within this distance (m) move as one point."""


def displace_centers(
    model: Model, displacements: Mapping[str, Array], shape: Model | None = None
) -> Model:
    """The model with some joint centers moved in their parent bodies, and attachments with them.

    Points of muscles and ligaments and wrap objects follow the centers of their body. Components of
    a point that a coordinate drives keep their law; markers, frames and contacts do not move.

    Args:
        model: The model.
        displacements: (3,), m, by the name of the joint, in the axes of its parent body.
        shape: The same model with other numbers, whose distances weight the displacements; needed
            if ``model`` has parameters.

    Returns:
        The model with displaced centers.

    Raises:
        ModelError: A joint is unknown.
    """
    names = [joint.name for joint in model.joints]
    for name in displacements:
        if name not in names:
            raise ModelError(f"model {model.name!r} has {unknown_name('joint', name, names)}")
    joints = tuple(
        replace(
            joint,
            placement=Transform(joint.placement.E, joint.placement.r + displacements[joint.name]),
        )
        if joint.name in displacements
        else joint
        for joint in model.joints
    )
    moved = replace(model, joints=joints)
    if not (model.muscles or model.wraps or model.ligaments):
        return moved
    fields = {
        body: field
        for body in model.body_names
        if (field := _field(shape or model, body, displacements)) is not None
    }
    return _with_moved_attachments(moved, shape or model, fields) if fields else moved


_Field = Callable[[np.ndarray], Array]
"""Displacement (3,), m, of the bone at a position (3,), m."""


def _field(shape: Model, body: str, displacements: Mapping[str, Array]) -> _Field | None:
    """The displacement field of a bone; None where no center moves."""
    places: list[np.ndarray] = []
    shifts: list[Array] = []
    for joint, parent in zip(shape.joints, shape.parents, strict=True):
        if joint.child == body and parent >= 0:
            places.append(np.asarray(joint.child_placement.r, dtype=float))
            shifts.append(np.zeros(3))
        elif joint.parent == body:
            places.append(np.asarray(joint.placement.r, dtype=float))
            shifts.append(displacements.get(joint.name, np.zeros(3)))
    if not any(is_symbolic(shift) or np.any(shift) for shift in shifts):
        return None
    centers = np.array(places)
    between = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    size = float(between.max())
    if size < MIN_BONE_SIZE_M:
        size = np.inf
    covariance = _correlation(between, size) + CENTER_VARIANCE * np.eye(len(centers))
    inverse = np.linalg.inv(covariance)

    def displacement(position: np.ndarray) -> Array:
        share = _correlation(np.linalg.norm(centers - position, axis=-1), size) @ inverse
        return sum(share[k] * shift for k, shift in enumerate(shifts))

    return displacement


def _correlation(distance: np.ndarray, size: float) -> np.ndarray:
    result: np.ndarray = np.exp(-((distance / size) ** 2))
    return result


def _with_moved_attachments(model: Model, shape: Model, fields: Mapping[str, _Field]) -> Model:
    """Paths and wrap objects of ``model``, displaced by where they are in ``shape``."""

    def point(now: PathPoint, before: PathPoint) -> PathPoint:
        field = fields.get(now.body)
        if field is None:
            return now
        place = np.asarray(before.position, dtype=float)
        return replace(now, position=now.position + field(place))

    def wrap(now: WrapObject, before: WrapObject) -> WrapObject:
        field = fields.get(now.body)
        if field is None:
            return now
        place = np.asarray(before.placement.r, dtype=float)
        return replace(now, placement=Transform(now.placement.E, now.placement.r + field(place)))

    return replace(
        model,
        wraps=tuple(map(wrap, model.wraps, shape.wraps)),
        muscles=tuple(
            replace(now, points=tuple(map(point, now.points, before.points)))
            for now, before in zip(model.muscles, shape.muscles, strict=True)
        ),
        ligaments=tuple(
            replace(now, points=tuple(map(point, now.points, before.points)))
            for now, before in zip(model.ligaments, shape.ligaments, strict=True)
        ),
    )
