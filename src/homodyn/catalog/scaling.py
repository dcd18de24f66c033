"""Scaling of models, segment by segment, with consistent masses and inertias.

A segment is scaled along the axes of its frame, with everything that is fixed in it: center of
mass, joints, markers, frames, contact shapes, capsules, meshes, and the paths of muscles with their
wrap objects. Its mass follows its volume, and its inertia follows both, so that a scaled body is
again physically possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog.muscle_paths import stretch_factor, with_scaled_paths
from homodyn.catalog.standing_height import with_same_standing_height
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Body, Capsule, ContactShape, Joint, JointAxis, Mesh, Model
from homodyn.model.functions import IDENTITY, ScaledFunction
from homodyn.model.parameters import vector
from homodyn.spatial import Array, ScalarInput, Transform, is_symbolic, stack

KEEP_DENSITY = "density"
"""Value of ``mass``: every segment keeps its density, and the total follows from the volumes."""


def scale(
    model: Model,
    factors: float | Mapping[str, ScalarInput | Sequence[float]],
    mass: float | str | Array | None = None,
    *,
    keep_shares: bool = False,
) -> Model:
    """Scale the segments of a model.

    Radii of spheres and capsules change so that their volume follows that of the segment.
    Translations of a joint that are a function of an angle scale with the parent; coordinates in m
    and their limits do not change. Fiber and tendon lengths of a muscle scale with the length of
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
    by_body = _factors_by_body(model, factors)
    if not by_body and mass is None:
        raise ModelError(
            f"nothing to scale in model {model.name!r}: factors or a mass are needed; "
            f"bodies: {', '.join(model.body_names)}"
        )
    ratios = _mass_ratios(model, by_body, mass, keep_shares)

    def of(body: str) -> Array:
        return by_body.get(body, np.ones(3))

    scaled = replace(
        model,
        bodies=tuple(_body(b, of(b.name), ratios[b.name]) for b in model.bodies),
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
        scaled = with_scaled_paths(model, scaled, of)
    return with_same_standing_height(scaled, model)


def _factors_by_body(
    model: Model, factors: float | Mapping[str, ScalarInput | Sequence[float]]
) -> dict[str, Array]:
    """Three factors for each body to scale."""
    named = factors if isinstance(factors, Mapping) else dict.fromkeys(model.body_names, factors)
    result: dict[str, Array] = {}
    for name, value in named.items():
        if name not in model.body_names:
            raise ModelError(
                f"model {model.name!r} has {unknown_name('body', name, model.body_names)}"
            )
        result[name] = _factor(name, value)
    return result


def _factor(body: str, value: Any) -> Array:
    """One factor or three as three, for x, y and z."""
    entries = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value] * 3
    try:
        factor = vector(entries, 3)
    except (TypeError, ValueError):
        factor = np.zeros(3)
    if not is_symbolic(factor) and not (np.isfinite(factor) & (factor > 0)).all():
        raise ModelError(
            f"body {body!r}: one positive factor is needed, or three for x, y and z; got {value!r}"
        )
    return factor


def _mass_ratios(
    model: Model, factors: Mapping[str, Array], mass: Any, keep_shares: bool
) -> dict[str, Array]:
    """Ratio of the masses of each body after and before scaling."""
    volumes = {b.name: _volume(factors.get(b.name, np.ones(3))) for b in model.bodies}
    if isinstance(mass, str):
        if mass != KEEP_DENSITY:
            raise ModelError(f"mass must be a number (kg), None or {KEEP_DENSITY!r}; got {mass!r}")
        if keep_shares:
            raise ModelError(f"mass={KEEP_DENSITY!r} and keep_shares exclude each other")
        return volumes
    before = sum(body.mass for body in model.bodies)
    total = before if mass is None else mass
    if not is_symbolic(total) and not (np.isfinite(total) and total > 0):
        raise ModelError(f"model {model.name!r}: a total mass above zero is needed, got {total:g}")
    if keep_shares:
        return dict.fromkeys(volumes, total / before)
    scaled = sum(body.mass * volumes[body.name] for body in model.bodies)
    return {name: volume * (total / scaled) for name, volume in volumes.items()}


def _volume(factor: Array) -> Array:
    return factor[0] * factor[1] * factor[2]


def _body(body: Body, factor: Array, ratio: Array) -> Body:
    """Scale the second moments J = tr(I) 1 / 2 - I, which stay those of a rigid body."""
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
        axes=tuple(_axis(axis, joint.placement.E, parent) for axis in joint.axes),
    )


def _axis(axis: JointAxis, E: Array, factor: Array) -> JointAxis:
    """Scale translations that are functions of an angle, and pitches, with the parent."""
    follows = axis.kind == "slide" and axis.function != IDENTITY
    if not follows and _is_zero(axis.pitch):
        return axis
    along = stretch_factor(E.T @ axis.axis, factor)
    if axis.kind == "turn":
        return replace(axis, pitch=axis.pitch * along)
    return replace(axis, function=ScaledFunction(axis.function, along))


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
    """Scale a mesh along the axes of its file, which may be rotated in the body."""
    axes = [mesh.placement.E[k, :] for k in range(3)]
    along = [stretch_factor(axis.T if is_symbolic(axis) else axis, factor) for axis in axes]
    scale = stack(*(mesh.scale[k] * along[k] for k in range(3)))
    return replace(mesh, placement=_scale_placement(mesh.placement, factor), scale=scale)


def _scale_placement(placement: Transform, factor: Array) -> Transform:
    return Transform(placement.E, placement.r * factor)


def _is_zero(value: Array) -> bool:
    return not is_symbolic(value) and value == 0
