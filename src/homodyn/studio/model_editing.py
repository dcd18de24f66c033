"""A body with other measures: lengths and masses by name, joint frames moved and turned.

What was found about the body before goes along as far as it is still true: its motion keeps its
coordinates, with marker errors computed anew; forces and torques of another body are let go.
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
"""What follows the name of a segment in the numbers of bodies that no recipe built."""
MODEL_PARTS = ("bodies", "joints", "frames", "markers", "contacts", "capsules")
MIN_AXIS_ALIGNMENT = 0.9
"""Share of a segment's length along one of its axes from which on it is stretched along that."""


def with_model(actor: Actor, model: Model, recipe: CatalogRecipe | None) -> Actor:
    """The body with another model of the same coordinates; what no longer holds is let go.

    ``recipe`` is the one of the catalog from which the model still differs by hand alone.
    """
    if model.coordinate_names != actor.model.coordinate_names:
        raise ModelError(
            f"{actor.name}: the changed model has other coordinates, so its poses would mean "
            "nothing; open it as a body of its own"
        )
    motion = None if actor.motion is None else _recompute_residuals(actor.motion, model)
    known = {marker.name for marker in model.markers}
    return replace(
        actor,
        model=model,
        recipe=recipe,
        motion=motion,
        loads=None,
        q=_standing_on(actor, model),
        weights={name: weight for name, weight in actor.weights.items() if name in known},
    )


def editable_numbers(actor: Actor) -> dict[str, tuple[float, str]]:
    """What can be changed by name: (value, unit), of the catalog or of each segment."""
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


def set_number(actor: Actor, name: str, value: float, *, both: bool = False) -> Actor:
    """The body with one number changed, inertias following; with ``both``, on the other side too.

    Of a body that the catalog built, the recipe is cooked anew: what was changed by hand since,
    such as a marker or a joint, stays as it was made.
    """
    known = editable_numbers(actor)
    if name not in known:
        raise ModelError(f"{actor.name} has {unknown_name('number', name, tuple(known))}")
    if not (np.isfinite(value) and value > 0):
        raise ModelError(f"{name} is {value:g} {known[name][1]}; a number above zero is needed")
    names = [name, *(other for other in [_other_side(name)] if both and other in known)]
    if actor.recipe is not None:
        recipe = actor.recipe
        for one in names:
            recipe = recipe.with_number(one, value)
        return with_model(
            actor, merge_model_changes(actor.model, actor.recipe.build(), recipe.build()), recipe
        )
    model = actor.model
    for one in names:
        body = one.removesuffix(LENGTH).removesuffix(MASS)
        change = set_segment_length if one.endswith(LENGTH) else with_mass
        model = change(model, body, value)
    return with_model(actor, model, None)


def merge_model_changes(own: Model, before: Model, after: Model) -> Model:
    """The changes from ``before`` to ``after`` brought to a model that was changed otherwise.

    Part by part: what is still as it was becomes as it is now, what was changed stays.
    """
    parts: dict[str, Any] = {}
    for part in MODEL_PARTS:
        old = {record.name: record for record in getattr(before, part)}
        new = {record.name: record for record in getattr(after, part)}
        parts[part] = tuple(
            new[record.name]
            if record.name in new and old.get(record.name) == record
            else _other_numbers(record, old.get(record.name), new.get(record.name))
            for record in getattr(own, part)
        )
    return replace(own, **parts)


def segment_vector(model: Model, body: str) -> np.ndarray:
    """(3,), m: from the joint of a segment to the farthest joint it carries, or to its end."""
    joint = next(joint for joint in model.joints if joint.child == body)
    here = np.asarray(joint.child_placement.r, dtype=float)
    ends = [np.asarray(j.placement.r, dtype=float) for j in model.joints if j.parent == body]
    if not ends:
        capsules = [capsule for capsule in model.capsules if capsule.body == body]
        ends = [np.asarray(end, dtype=float) for c in capsules for end in (c.start, c.end)]
    if not ends:
        ends = [2 * np.asarray(model.body(body).com, dtype=float) - here]
    return max((end - here for end in ends), key=lambda line: float(np.linalg.norm(line)))


def set_segment_length(model: Model, body: str, length: float) -> Model:
    """The model with one segment stretched to a length (m); its mass stays, its inertia follows."""
    line = segment_vector(model, body)
    size = float(np.linalg.norm(line))
    if not size > 0:
        raise ModelError(f"segment {body!r} has no length that could be changed")
    axis = int(np.argmax(np.abs(line)))
    factor = np.ones(3)
    if abs(line[axis]) >= MIN_AXIS_ALIGNMENT * size:
        rest = size**2 - line[axis] ** 2
        if length**2 <= rest:
            raise ModelError(
                f"segment {body!r} cannot be as short as {length:g} m: its ends lie "
                f"{np.sqrt(rest):.3f} m apart across its axis"
            )
        factor[axis] = np.sqrt(length**2 - rest) / abs(line[axis])
    else:
        factor[:] = length / size
    return catalog.scale(model, {body: factor}, keep_shares=True)


def with_mass(model: Model, body: str, mass: float) -> Model:
    """The model with another mass (kg) of one segment; its inertia follows in proportion."""
    old = model.body(body)
    if not old.mass > 0:
        raise ModelError(f"segment {body!r} has no mass, so its inertia cannot follow one")
    ratio = mass / old.mass
    changed = replace(old, mass=mass, inertia=old.inertia * ratio)
    return replace(model, bodies=tuple(changed if b.name == body else b for b in model.bodies))


def joint_frame(model: Model, q: np.ndarray, joint: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a joint frame is (m) and its axes as columns, before the joint moves, in the world."""
    at = placements(model, q)[_joint(model, joint)][0]
    return np.asarray(at.r, dtype=float), np.asarray(at.E, dtype=float).T


def in_parent(model: Model, joint: str) -> tuple[np.ndarray, np.ndarray]:
    """Place (m) of a joint frame in its parent, and its turn there: angles about x, y, z (deg)."""
    placed = model.joints[_joint(model, joint)].placement
    turn = Rotation.from_matrix(np.asarray(placed.E, dtype=float).T)
    return np.array(placed.r, dtype=float), turn.as_euler("XYZ", degrees=True)


def from_angles(angles: Iterable[float]) -> np.ndarray:
    """The axes of a frame, as columns, that is turned about x, y and z (deg), in this order."""
    return np.asarray(Rotation.from_euler("XYZ", list(angles), degrees=True).as_matrix())


def with_joint(
    model: Model,
    joint: str,
    place: np.ndarray,
    axes: np.ndarray,
    *,
    keep: np.ndarray | None = None,
) -> Model:
    """The model with a joint frame at a place (m) of its parent, turned so; the segment follows.

    With a pose ``keep``, all segments stay where they are in it and the joint alone moves: with P
    the placement in the parent, C that in the child and J what the joint does in between, the body
    stays when C' = J P' P^-1 J^-1 C.
    """
    index = _joint(model, joint)
    old = model.joints[index]
    new = replace(old, placement=Transform(np.asarray(axes).T, np.asarray(place, dtype=float)))
    if keep is not None:
        turned = old.transform(joint_positions(model, keep)[index])
        shift = turned @ new.placement @ old.placement.inverse() @ turned.inverse()
        new = replace(new, child_placement=shift @ old.child_placement)
    return replace(model, joints=(*model.joints[:index], new, *model.joints[index + 1 :]))


def moved_to(
    model: Model,
    q: np.ndarray,
    joint: str,
    place: np.ndarray,
    axes: np.ndarray,
    *,
    keep: bool = False,
) -> Model:
    """The model with a joint frame at a place (m) of the world, its axes (columns) turned so."""
    index = _joint(model, joint)
    parent = model.parents[index]
    carrier = placements(model, q)[parent][1] if parent >= 0 else Transform.identity()
    E = np.asarray(carrier.E, dtype=float)
    local = E @ (np.asarray(place, dtype=float) - np.asarray(carrier.r, dtype=float))
    return with_joint(model, joint, local, E @ np.asarray(axes), keep=q if keep else None)


def _joint(model: Model, name: str) -> int:
    if name not in model.joint_names:
        raise ModelError(
            f"model {model.name!r} has {unknown_name('joint', name, model.joint_names)}"
        )
    return model.joint_names.index(name)


def _other_numbers(own: Any, old: Any, new: Any) -> Any:
    """A record that was changed by hand: of a joint, the ranges still follow."""
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
    """A motion of another model with the same coordinates, its marker errors computed anew."""
    places = {marker.name: k for k, marker in enumerate(model.markers)}
    kept = [
        k
        for k, name in enumerate(motion.markers)
        if name in places and np.isfinite(motion.measured[:, k]).any()
    ]
    names = tuple(motion.markers[k] for k in kept)
    measured = motion.measured[:, kept] if kept else np.zeros((len(motion.time), 0, 3))
    residual = np.zeros((len(motion.time), 0))
    if kept:
        ours = np.asarray(dynamics.marker_positions(model, motion.q))
        ours = ours[:, [places[name] for name in names]]
        residual = np.linalg.norm(ours - measured, axis=-1)
    return replace(
        motion,
        model=model,
        markers=names,
        measured=measured,
        residual=residual,
        weights=motion.weights[kept] if motion.weights.size else motion.weights,
        method=f"{motion.method}; the model was edited since".replace(
            "; the model was edited since; the model", "; the model"
        ),
    )


def _standing_on(actor: Actor, model: Model) -> np.ndarray:
    """The pose, lifted or lowered where it stood on the ground so that it stands there again."""
    with contextlib.suppress(HomodynError):
        if actor.motion is None and np.allclose(
            place_on_ground(actor.model, actor.q, 0.0), actor.q, atol=1e-6
        ):
            return np.asarray(place_on_ground(model, actor.q, 0.0))
    return actor.q
