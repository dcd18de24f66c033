"""A model made larger or smaller, segment by segment, with masses and inertias that follow.

A segment is stretched along the axes of its frame. All that is fixed in it moves along: centre of
mass, joints it carries, markers, frames, contact shapes, capsules, meshes, and the paths of muscles
with what they wrap around. Its mass follows its volume, and its inertia follows both, so a
stretched body is again a possible one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog.muscle_paths import stretch_factor, with_scaled_paths
from homodyn.catalog.standing_height import with_same_standing_height
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Body, Capsule, ContactShape, Joint, JointAxis, Mesh, Model, ScaledFunction
from homodyn.model.functions import IDENTITY
from homodyn.model.parameters import vector
from homodyn.spatial import Array, Transform, is_symbolic, stack

KEEP_DENSITY = "density"
"""For ``mass``: every segment keeps its density, so the total follows from the volumes."""


def scale(
    model: Model,
    factors: float | Mapping[str, Any],
    mass: float | str | Array | None = None,
    *,
    keep_shares: bool = False,
) -> Model:
    """Scale the segments of a model.

    Radii of spheres and capsules change so that their volume follows that of the segment.
    Translations of a joint that are a function of an angle scale with the parent; coordinates in m
    and their limits do not change. Fibre and tendon lengths of a muscle scale with the length of
    its path in the neutral pose; its strength does not change. If the root can translate vertically
    and the model has no parameters, the default height of the root changes so that the lowest
    contact point of the neutral pose keeps its height.

    Args:
        model: The model.
        factors: One factor for all segments, or by body name a factor or three, for x, y and z of
            the body frame: ``{"ThighRight": 1.05, "FootRight": (1.1, 1.0, 1.0)}``. Other segments
            keep their size.
        mass: Total mass of the scaled model (kg). None keeps the total, distributed in proportion
            to mass times volume ratio; ``"density"`` keeps the density of every segment instead.
        keep_shares: Whether every segment keeps its fraction of the total mass, whatever its
            factors.

    Returns:
        The scaled model.

    Raises:
        ModelError: There is nothing to scale, a body is unknown, a factor or the total mass is not
            positive, or ``mass="density"`` is combined with ``keep_shares``.
    """
    stretch = _stretches(model, factors)
    if not stretch and mass is None:
        raise ModelError(
            f"nothing to scale in model {model.name!r}: give factors or a mass; "
            f"bodies are {', '.join(model.body_names)}"
        )
    shares = _mass_ratios(model, stretch, mass, keep_shares)

    def of(body: str) -> Array:
        return stretch.get(body, np.ones(3))

    made = replace(
        model,
        bodies=tuple(_body(b, of(b.name), shares[b.name]) for b in model.bodies),
        joints=tuple(_joint(joint, of(joint.parent), of(joint.child)) for joint in model.joints),
        frames=tuple(
            replace(f, placement=_scale_placement(f.placement, of(f.body))) for f in model.frames
        ),
        markers=tuple(replace(m, position=m.position * of(m.body)) for m in model.markers),
        contacts=tuple(_contact(c, of(c.body)) for c in model.contacts),
        capsules=tuple(_capsule(c, of(c.body)) for c in model.capsules),
        meshes=tuple(_mesh(m, of(m.body)) for m in model.meshes),
    )
    if model.wraps or model.muscles or model.ligaments:
        made = with_scaled_paths(model, made, of)
    return with_same_standing_height(made, model)


def _stretches(model: Model, factors: float | Mapping[str, Any]) -> dict[str, Array]:
    given = factors if isinstance(factors, Mapping) else dict.fromkeys(model.body_names, factors)
    stretches: dict[str, Array] = {}
    for name, value in given.items():
        if name not in model.body_names:
            raise ModelError(
                f"model {model.name!r} has {unknown_name('body', name, model.body_names)}"
            )
        stretches[name] = _factor(name, value)
    return stretches


def _factor(body: str, value: Any) -> Array:
    """A factor as three, for x, y and z."""
    entries = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * 3
    try:
        factor = vector(entries, 3)
    except (TypeError, ValueError):
        factor = np.zeros(3)
    if not is_symbolic(factor) and not (np.isfinite(factor) & (factor > 0)).all():
        raise ModelError(
            f"body {body!r}: a factor is a number above zero or three, for x, y and z; "
            f"got {value!r}"
        )
    return factor


def _mass_ratios(
    model: Model, stretch: Mapping[str, Array], mass: Any, keep_shares: bool
) -> dict[str, Array]:
    """By how much the mass of each body changes, for the total to be as asked."""
    volumes = {b.name: _volume(stretch.get(b.name, np.ones(3))) for b in model.bodies}
    if isinstance(mass, str):
        if mass != KEEP_DENSITY:
            raise ModelError(f"mass: give a number (kg), None or {KEEP_DENSITY!r}; got {mass!r}")
        if keep_shares:
            raise ModelError(f"mass {KEEP_DENSITY!r} and keep_shares exclude each other; give one")
        return volumes
    before = sum(body.mass for body in model.bodies)
    total = before if mass is None else mass
    if not is_symbolic(total) and not (np.isfinite(total) and total > 0):
        raise ModelError(f"model {model.name!r}: a total mass above zero is needed, got {total:g}")
    if keep_shares:
        return dict.fromkeys(volumes, total / before)
    grown = sum(body.mass * volumes[body.name] for body in model.bodies)
    return {name: volume * (total / grown) for name, volume in volumes.items()}


def _volume(factor: Array) -> Array:
    return factor[0] * factor[1] * factor[2]


def _body(body: Body, factor: Array, ratio: Array) -> Body:
    """Stretch the second moments J = tr(I) 1 / 2 - I of the mass, which stay those of a body."""
    I = body.inertia
    half = (I[0, 0] + I[1, 1] + I[2, 2]) / 2
    S = ca.diag(factor) if is_symbolic(factor) else np.diag(factor)
    J = S @ (np.eye(3) * half - I) @ S * ratio
    inertia = np.eye(3) * (J[0, 0] + J[1, 1] + J[2, 2]) - J
    return replace(body, mass=body.mass * ratio, com=body.com * factor, inertia=inertia)


def _joint(joint: Joint, parent: Array, child: Array) -> Joint:
    return replace(
        joint,
        placement=_scale_placement(joint.placement, parent),
        child_placement=_scale_placement(joint.child_placement, child),
        axes=tuple(_motion(motion, joint.placement.E, parent) for motion in joint.axes),
    )


def _motion(motion: JointAxis, E: Array, factor: Array) -> JointAxis:
    """Slides that follow an angle, and pitches, are distances in the parent."""
    follows = motion.kind == "slide" and motion.function != IDENTITY
    if not follows and _is_zero(motion.pitch):
        return motion
    along = stretch_factor(E.T @ motion.axis, factor)
    if motion.kind == "turn":
        return replace(motion, pitch=motion.pitch * along)
    return replace(motion, function=ScaledFunction(motion.function, along))


def _contact(contact: ContactShape, factor: Array) -> ContactShape:
    axes = [contact.rotation[k, :] for k in range(3)]
    axes = [axis.T if is_symbolic(axis) else axis for axis in axes]
    along = [stretch_factor(axis, factor) for axis in axes]
    radius = contact.radius * _volume(factor) ** (1 / 3)
    if contact.kind == "capsule":
        radius = contact.radius * (_volume(factor) / along[0]) ** 0.5
    size = stack(*(contact.size[k] * along[k] for k in range(3)))
    return replace(contact, position=contact.position * factor, radius=radius, size=size)


def _capsule(capsule: Capsule, factor: Array) -> Capsule:
    line = capsule.end - capsule.start
    if is_symbolic(line) or line.any():
        radius = capsule.radius * (_volume(factor) / stretch_factor(line, factor)) ** 0.5
    else:
        radius = capsule.radius * _volume(factor) ** (1 / 3)
    return replace(capsule, start=capsule.start * factor, end=capsule.end * factor, radius=radius)


def _mesh(mesh: Mesh, factor: Array) -> Mesh:
    """Triangles are stretched along the axes of the file, which may be turned in the body."""
    axes = [mesh.placement.E[k, :] for k in range(3)]
    along = [stretch_factor(axis.T if is_symbolic(axis) else axis, factor) for axis in axes]
    scale = stack(*(mesh.scale[k] * along[k] for k in range(3)))
    return replace(mesh, placement=_scale_placement(mesh.placement, factor), scale=scale)


def _scale_placement(placement: Transform, factor: Array) -> Transform:
    return Transform(placement.E, placement.r * factor)


def _is_zero(value: Array) -> bool:
    return not is_symbolic(value) and value == 0
