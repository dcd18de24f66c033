"""Editing of models: segment lengths and masses by name, and joint frames.

An edited body keeps its motion, with recomputed marker errors. Its loads are dropped, because they
belong to the model before the edit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import catalog, dynamics
from homodyn.catalog.standing_height import placements
from homodyn.errors import HomodynError, ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.coordinate_layout import joint_positions
from homodyn.motion import Motion
from homodyn.simulate import place_on_ground
from homodyn.spatial import Transform
from homodyn.studio.catalog_recipe import CatalogRecipe, unit_of
from homodyn.studio.document import Actor

LENGTH, MASS = " length", " mass"
"""Suffixes of segment names in the parameters of models without a catalog recipe."""
EDITED_NOTE = "; the model was edited since"
"""Appended to the method of a motion whose model was edited."""
MODEL_PARTS = ("bodies", "joints", "frames", "markers", "contacts", "capsules")
MIN_AXIS_ALIGNMENT = 0.9
"""Share of a segment's length along an axis above which the segment is scaled along it alone."""


def with_model(actor: Actor, model: Model, recipe: CatalogRecipe | None) -> Actor:
    """The body with another model that has the same coordinates; its loads are dropped.

    ``recipe`` is the catalog recipe of the model before manual changes; None for other models.
    """
    if model.coordinate_names != actor.model.coordinate_names:
        raise ModelError(
            f"{actor.name}: the changed model has other coordinates, so the poses are not valid; "
            "open it as a separate body"
        )
    motion = None if actor.motion is None else _recompute_residuals(actor.motion, model)
    known = {marker.name for marker in model.markers}
    return replace(
        actor,
        model=model,
        recipe=recipe,
        motion=motion,
        loads=None,
        q=_pose_on_ground(actor, model),
        weights={name: weight for name, weight in actor.weights.items() if name in known},
    )


def editable_parameters(actor: Actor) -> dict[str, tuple[float, str]]:
    """Editable parameters by name: value and unit, of the catalog or of each segment."""
    if actor.recipe is not None:
        return {name: (value, unit_of(name)) for name, value in actor.recipe.values().items()}
    found: dict[str, tuple[float, str]] = {}
    for body in actor.model.bodies:
        length = float(np.linalg.norm(segment_vector(actor.model, body.name)))
        if length > 0:
            found[body.name + LENGTH] = (length, "m")
        if body.mass > 0:
            found[body.name + MASS] = (float(body.mass), "kg")
    return found


def set_parameter(actor: Actor, name: str, value: float, *, both: bool = False) -> Actor:
    """The body with one parameter changed and its inertias updated.

    A body of the catalog is rebuilt from its recipe; manual changes, such as those of markers and
    joints, are kept.

    Args:
        actor: The body.
        name: Name of the parameter, as in `editable_parameters`.
        value: New value (m or kg).
        both: Change the parameter of the other side too.
    """
    known = editable_parameters(actor)
    if name not in known:
        raise ModelError(f"{actor.name} has {unknown_name('parameter', name, tuple(known))}")
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{name} is {value:g} {known[name][1]}; a positive number is required")
    names = [name, *(other for other in [_other_side(name)] if both and other in known)]
    if actor.recipe is not None:
        recipe = actor.recipe
        for parameter in names:
            recipe = recipe.with_number(parameter, value)
        return with_model(
            actor, merge_model_changes(actor.model, actor.recipe.build(), recipe.build()), recipe
        )
    model = actor.model
    for parameter in names:
        body = parameter.removesuffix(LENGTH).removesuffix(MASS)
        change = set_segment_length if parameter.endswith(LENGTH) else set_segment_mass
        model = change(model, body, value)
    return with_model(actor, model, None)


def merge_model_changes(own: Model, before: Model, after: Model) -> Model:
    """The changes from ``before`` to ``after`` applied to a model with manual changes.

    Parts of ``own`` that equal ``before`` are replaced by those of ``after``; the others are kept.
    """
    parts: dict[str, Any] = {}
    for part in MODEL_PARTS:
        old = {record.name: record for record in getattr(before, part)}
        new = {record.name: record for record in getattr(after, part)}
        parts[part] = tuple(
            new[record.name]
            if record.name in new and old.get(record.name) == record
            else _update_ranges(record, old.get(record.name), new.get(record.name))
            for record in getattr(own, part)
        )
    return replace(own, **parts)


def segment_vector(model: Model, body: str) -> np.ndarray:
    """(3,), m: from the joint of a segment to its farthest child joint, or to its end."""
    joint = next(joint for joint in model.joints if joint.child == body)
    origin = np.asarray(joint.child_placement.r, dtype=float)
    ends = [np.asarray(j.placement.r, dtype=float) for j in model.joints if j.parent == body]
    if not ends:
        capsules = [capsule for capsule in model.capsules if capsule.body == body]
        ends = [np.asarray(end, dtype=float) for c in capsules for end in (c.start, c.end)]
    if not ends:
        ends = [2 * np.asarray(model.body(body).com, dtype=float) - origin]
    return max((end - origin for end in ends), key=lambda line: float(np.linalg.norm(line)))


def set_segment_length(model: Model, body: str, length: float) -> Model:
    """The model with one segment scaled to a length (m); its mass stays, its inertia is updated."""
    line = segment_vector(model, body)
    size = float(np.linalg.norm(line))
    if not size > 0:
        raise ModelError(f"segment {body!r} has no length to change")
    axis = int(np.argmax(np.abs(line)))
    factor = np.ones(3)
    if abs(line[axis]) >= MIN_AXIS_ALIGNMENT * size:
        rest = size**2 - line[axis] ** 2
        if length**2 <= rest:
            raise ModelError(
                f"segment {body!r} cannot be {length:g} m long: the lateral distance of its ends "
                f"is {np.sqrt(rest):.3f} m"
            )
        factor[axis] = np.sqrt(length**2 - rest) / abs(line[axis])
    else:
        factor[:] = length / size
    return catalog.scale(model, {body: factor}, keep_shares=True)


def set_segment_mass(model: Model, body: str, mass: float) -> Model:
    """The model with another mass (kg) of one segment; its inertia is scaled in proportion."""
    old = model.body(body)
    if not old.mass > 0:
        raise ModelError(f"segment {body!r} has no mass, so its inertia cannot be scaled")
    ratio = mass / old.mass
    changed = replace(old, mass=mass, inertia=old.inertia * ratio)
    return replace(model, bodies=tuple(changed if b.name == body else b for b in model.bodies))


def joint_frame(model: Model, q: np.ndarray, joint: str) -> tuple[np.ndarray, np.ndarray]:
    """World position (3,), m, and axes (3, 3), as columns, of a joint frame before its motion."""
    frame = placements(model, q)[_joint_index(model, joint)][0]
    return np.asarray(frame.r, dtype=float), np.asarray(frame.E, dtype=float).T


def joint_placement(model: Model, joint: str) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,), m, and intrinsic XYZ angles (3,), deg, of a joint frame in its parent."""
    placement = model.joints[_joint_index(model, joint)].placement
    rotation = Rotation.from_matrix(np.asarray(placement.E, dtype=float).T)
    return np.array(placement.r, dtype=float), rotation.as_euler("XYZ", degrees=True)


def axes_from_angles(angles: Iterable[float]) -> np.ndarray:
    """(3, 3): axes of a frame, as columns, from intrinsic XYZ angles (deg)."""
    return np.asarray(Rotation.from_euler("XYZ", list(angles), degrees=True).as_matrix())


def with_joint(
    model: Model,
    joint: str,
    position: np.ndarray,
    axes: np.ndarray,
    *,
    keep: np.ndarray | None = None,
) -> Model:
    """The model with another placement of a joint frame in its parent; the segment follows.

    With a pose ``keep``, all segments keep their placements in that pose and the joint alone moves:
    with the placement P in the parent, C in the child and the joint transform J, the body stays if
    C' = J P' P^-1 J^-1 C.

    Args:
        model: The model.
        joint: Name of the joint.
        position: Position (3,), m, in the parent.
        axes: Axes (3, 3), as columns, in the parent.
        keep: A pose (nq,) in which all segments stay; None lets the segment follow.
    """
    index = _joint_index(model, joint)
    old = model.joints[index]
    new = replace(old, placement=Transform(np.asarray(axes).T, np.asarray(position, dtype=float)))
    if keep is not None:
        motion = old.transform(joint_positions(model.joint_slots, keep)[index])
        shift = motion @ new.placement @ old.placement.inverse() @ motion.inverse()
        new = replace(new, child_placement=shift @ old.child_placement)
    return replace(model, joints=(*model.joints[:index], new, *model.joints[index + 1 :]))


def place_joint_in_world(
    model: Model,
    q: np.ndarray,
    joint: str,
    position: np.ndarray,
    axes: np.ndarray,
    *,
    keep: bool = False,
) -> Model:
    """The model whose joint frame has a world position (3,), m, and axes (3, 3) in the pose ``q``.

    ``keep`` lets all segments stay in this pose, as in `with_joint`.
    """
    index = _joint_index(model, joint)
    parent = model.parents[index]
    placement = placements(model, q)[parent][1] if parent >= 0 else Transform.identity()
    E = np.asarray(placement.E, dtype=float)
    local = E @ (np.asarray(position, dtype=float) - np.asarray(placement.r, dtype=float))
    return with_joint(model, joint, local, E @ np.asarray(axes), keep=q if keep else None)


def _joint_index(model: Model, name: str) -> int:
    if name not in model.joint_names:
        raise ModelError(
            f"model {model.name!r} has {unknown_name('joint', name, model.joint_names)}"
        )
    return model.joint_names.index(name)


def _update_ranges(own: Any, old: Any, new: Any) -> Any:
    """A part with manual changes; the coordinate ranges of a joint are still updated."""
    if old is None or new is None or not hasattr(own, "coordinates"):
        return own
    return replace(own, coordinates=new.coordinates) if own.coordinates == old.coordinates else own


def _other_side(name: str) -> str:
    for left, right in (("Left", "Right"), ("left", "right")):
        if left in name:
            return name.replace(left, right)
        if right in name:
            return name.replace(right, left)
    return name


def _recompute_residuals(motion: Motion, model: Model) -> Motion:
    """The motion with another model of the same coordinates and recomputed marker errors."""
    index = {marker.name: k for k, marker in enumerate(model.markers)}
    kept = [
        k
        for k, name in enumerate(motion.markers)
        if name in index and np.isfinite(motion.measured[:, k]).any()
    ]
    names = tuple(motion.markers[k] for k in kept)
    measured = motion.measured[:, kept] if kept else np.zeros((len(motion.time), 0, 3))
    residual = np.zeros((len(motion.time), 0))
    if kept:
        positions = np.asarray(dynamics.marker_positions(model, motion.q))
        positions = positions[:, [index[name] for name in names]]
        residual = np.linalg.norm(positions - measured, axis=-1)
    return replace(
        motion,
        model=model,
        markers=names,
        measured=measured,
        residual=residual,
        weights=motion.weights[kept] if motion.weights.size else motion.weights,
        method=f"{motion.method.removesuffix(EDITED_NOTE)}{EDITED_NOTE}",
    )


def _pose_on_ground(actor: Actor, model: Model) -> np.ndarray:
    """The pose; a body that stood on the ground is raised or lowered to stand on it again."""
    with contextlib.suppress(HomodynError):
        if actor.motion is None and np.allclose(
            place_on_ground(actor.model, actor.q, 0.0), actor.q, atol=1e-6
        ):
            return np.asarray(place_on_ground(model, actor.q, 0.0))
    return actor.q
