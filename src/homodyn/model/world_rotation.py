"""Models in a world with other axes: coordinates keep their values, the world is rotated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.errors import ModelError
from homodyn.model.joint import WORLD
from homodyn.model.model import Model
from homodyn.model.muscles import PathPoint
from homodyn.spatial import Transform

Z_UP_TO_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Rotation from axes with Z up (X forward, Y left) to axes with Y up (X forward, Z right)."""
MAX_AXIS_ERROR = 1e-6


def rotate_world(model: Model, rotation: np.ndarray) -> Model:
    """The model in a world with other axes.

    Joints to the world, what is attached to it, gravity and the normals of contact sets are
    rotated. Coordinates mean the same as before, so motions stay valid.

    Args:
        model: The model, without parameters.
        rotation: (3, 3), from the present axes of the world to the new ones.

    Returns:
        A new model.

    Raises:
        ModelError: The model has parameters.
    """
    rotation = np.asarray(rotation, dtype=float)
    if np.array_equal(rotation, np.eye(3)):
        return model
    if model.parameters:
        raise ModelError(
            f"model {model.name!r} has parameters; give them values with model.at(...) before its "
            "world is rotated"
        )

    def place(placement: Transform) -> Transform:
        return Transform(placement.E @ rotation.T, rotation @ placement.r)

    return replace(
        model,
        joints=tuple(
            replace(j, placement=place(j.placement)) if j.parent == WORLD else j
            for j in model.joints
        ),
        gravity=rotation @ np.asarray(model.gravity, dtype=float),
        contact_sets=tuple(
            replace(s, normals=np.asarray(s.normals) @ rotation.T) for s in model.contact_sets
        ),
        markers=tuple(
            replace(m, position=rotation @ m.position) if m.body == WORLD else m
            for m in model.markers
        ),
        contacts=tuple(
            replace(c, position=rotation @ c.position, rotation=c.rotation @ rotation.T)
            if c.body == WORLD
            else c
            for c in model.contacts
        ),
        capsules=tuple(
            replace(c, start=rotation @ c.start, end=rotation @ c.end) if c.body == WORLD else c
            for c in model.capsules
        ),
        frames=tuple(
            replace(one, placement=place(one.placement)) if one.body == WORLD else one
            for one in model.frames
        ),
        meshes=tuple(
            replace(one, placement=place(one.placement)) if one.body == WORLD else one
            for one in model.meshes
        ),
        wraps=tuple(
            replace(one, placement=place(one.placement)) if one.body == WORLD else one
            for one in model.wraps
        ),
        muscles=tuple(
            replace(one, points=_rotate_points(one.points, rotation, one.name))
            for one in model.muscles
        ),
        ligaments=tuple(
            replace(one, points=_rotate_points(one.points, rotation, one.name))
            for one in model.ligaments
        ),
    )


def y_up_rotation(model: Model) -> np.ndarray:
    """The rotation from the world of a model to axes with Y up, (3, 3), as OpenSim draws them.

    Args:
        model: The model; its vertical axis is Z or Y.

    Raises:
        ModelError: The model has no gravity, or another vertical axis.
    """
    gravity = np.asarray(model.nominal_value(model.gravity), dtype=float)
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size else np.zeros(3)
    for rotation in (np.eye(3), Z_UP_TO_Y_UP):
        if np.allclose(rotation @ up, [0.0, 1.0, 0.0], atol=MAX_AXIS_ERROR):
            return rotation
    raise ModelError(
        f"the vertical axis of model {model.name!r} is not known: its gravity is "
        f"{tuple(gravity.tolist())} m/s2; accepted: along -z or -y"
    )


def _rotate_points(
    points: tuple[PathPoint, ...], rotation: np.ndarray, owner: str
) -> tuple[PathPoint, ...]:
    result = []
    for point in points:
        if point.body != WORLD:
            result.append(point)
        elif point.laws:
            raise ModelError(
                f"point {point.name!r} of {owner!r} moves in the world along its axes; attach it "
                "to a body that is fixed to the world"
            )
        else:
            result.append(replace(point, position=rotation @ point.position))
    return tuple(result)
