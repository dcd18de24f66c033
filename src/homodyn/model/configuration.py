"""Configurations of a model: neutral and random poses, integration, differences, limits.

The positions q of a joint with a quaternion are on a manifold: `integrate` follows the exponential
map of the joint's body velocity and `difference` is its inverse. For all other joints they are sum
and difference.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model.coordinate_layout import JointSlots
from homodyn.model.coordinate_names import unknown_coordinate
from homodyn.model.joint import Joint
from homodyn.model.manifold import (
    quaternion_exp,
    quaternion_log,
    quaternion_normalized,
    quaternion_rate,
    translation_of_twist,
    twist_of_translation,
)
from homodyn.model.model_parts import ModelParts
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, quaternion_product, quaternion_rotation, stack

__all__ = [
    "clamp",
    "difference",
    "integrate",
    "neutral",
    "normalize",
    "pose",
    "random",
    "rates",
    "within_limits",
]

UNBOUNDED_ANGLE_RAD = np.pi
"""Half the range of random angles without limits."""
UNBOUNDED_DISTANCE_M = 1.0
"""Half the range of random translations without limits."""


@state_function(q="nq", dv="nv", returns={"q": "nq"})
def integrate(model: ModelParts, q: Array, dv: Array) -> Array:
    """The configuration reached from ``q`` by the displacement ``dv``.

    Quaternions follow the exponential map of the joint's body velocity; other coordinates are
    added.

    Args:
        model: The model.
        q: Positions, shape (..., nq); numbers or symbols.
        dv: Displacement in the tangent space, velocity times time (rad, m), shape (..., nv).

    Returns:
        Positions, shape (..., nq).

    Raises:
        KernelError: An array has the wrong shape, or the batch shapes do not broadcast.
    """
    parts = []
    for joint, place in _places(model):
        start, step = q[place.q], dv[place.v]
        if joint.kind == "free":
            turn = step[3:6]
            shift = quaternion_rotation(start[3:7]).T @ translation_of_twist(turn, step[0:3])
            parts.append(start[0:3] + shift)
            parts.append(quaternion_product(start[3:7], quaternion_exp(turn)))
        elif joint.kind == "spherical":
            parts.append(quaternion_product(start, quaternion_exp(step)))
        else:
            parts.append(start + step)
    return _column(parts)


@state_function(q0="nq", q1="nq", returns={"dv": "nv"})
def difference(model: ModelParts, q0: Array, q1: Array) -> Array:
    """The displacement from ``q0`` to ``q1`` along the shortest path; inverse of `integrate`.

    Args:
        model: The model.
        q0: Start positions, shape (..., nq); numbers or symbols.
        q1: End positions, shape (..., nq).

    Returns:
        Displacement ``dv`` in the tangent space (rad, m), shape (..., nv), such that
        ``integrate(model, q0, dv)`` is the configuration ``q1``.

    Raises:
        KernelError: An array has the wrong shape, or the batch shapes do not broadcast.
    """
    steps = []
    for joint, place in _places(model):
        a, b = q0[place.q], q1[place.q]
        if joint.kind == "free":
            turn = quaternion_log(quaternion_product(_conjugate(a[3:7]), b[3:7]))
            shift = quaternion_rotation(a[3:7]) @ (b[0:3] - a[0:3])
            steps.append(twist_of_translation(turn, shift))
            steps.append(turn)
        elif joint.kind == "spherical":
            steps.append(quaternion_log(quaternion_product(_conjugate(a), b)))
        else:
            steps.append(b - a)
    return _column(steps)


@state_function(q="nq", v="nv", returns={"rates": "nq"})
def rates(model: ModelParts, q: Array, v: Array) -> Array:
    """The time derivative of the positions, dq/dt, at the velocity ``v``.

    Where a coordinate is an entry of q, its rate is the entry of v. The rates of a quaternion
    preserve its unit length.

    Args:
        model: The model.
        q: Positions, shape (..., nq); numbers or symbols.
        v: Velocities (rad/s, m/s), shape (..., nv).

    Returns:
        Rates of the entries of ``q`` (1/s, rad/s, m/s), shape (..., nq).

    Raises:
        KernelError: An array has the wrong shape, or the batch shapes do not broadcast.
    """
    parts = []
    for joint, place in _places(model):
        here, speed = q[place.q], v[place.v]
        if joint.kind == "free":
            parts.append(quaternion_rotation(here[3:7]).T @ speed[0:3])
            parts.append(quaternion_rate(here[3:7], speed[3:6]))
        elif joint.kind == "spherical":
            parts.append(quaternion_rate(here, speed))
        else:
            parts.append(speed)
    return _column(parts)


@state_function(q="nq", returns={"q": "nq"})
def normalize(model: ModelParts, q: Array) -> Array:
    """The positions with every quaternion scaled to unit length.

    Args:
        model: The model.
        q: Positions, shape (..., nq); numbers or symbols.

    Returns:
        Positions, shape (..., nq); all entries outside quaternions are those of ``q``.

    Raises:
        KernelError: ``q`` has the wrong shape.
    """
    parts = []
    for joint, place in _places(model):
        here = q[place.q]
        if joint.quaternion:
            cut = joint.nq - 4
            parts.append(stack(here[:cut], quaternion_normalized(here[cut:])))
        else:
            parts.append(here)
    return _column(parts)


def neutral(model: ModelParts) -> np.ndarray:
    """The pose in which every coordinate has its default value.

    The defaults of the three coordinates of a quaternion are a rotation vector (rad).

    Args:
        model: The model. Its parameters have their nominal values.

    Returns:
        Positions, shape (nq,).
    """
    return pose(model, {})


def pose(model: ModelParts, values: Mapping[str, float]) -> np.ndarray:
    """The pose with the given values of named coordinates; the others have their default values.

    The three coordinates of a quaternion are a rotation vector (rad).

    Args:
        model: The model. Its parameters have their nominal values.
        values: Values (rad, m) by coordinate name.

    Returns:
        Positions, shape (nq,).

    Raises:
        ModelError: A name is not a coordinate of the model, or a value is not finite.
    """
    for name, value in values.items():
        if name not in model.coordinate_names:
            raise ModelError(unknown_coordinate(model.name, name, model.coordinate_names))
        if not np.isfinite(value):
            raise ModelError(f"coordinate {name!r}: a pose consists of finite numbers, got {value}")
    q = np.zeros(model.nq)
    for joint, place in _places(model):
        own = [c for c in joint.coordinates if c.name in model.coordinate_names]
        entries = np.array(
            [values.get(c.name, model.nominal_value(c.default)) for c in own], dtype=float
        )
        if joint.quaternion:
            quaternion = ca.evalf(ca.densify(quaternion_exp(ca.SX(entries[-3:])))).full()[:, 0]
            entries = np.concatenate([entries[:-3], quaternion])
        q[place.q] = entries
    return q


def random(
    model: ModelParts,
    seed: int | np.random.Generator | None = None,
    size: int | tuple[int, ...] = (),
) -> np.ndarray:
    """Random poses within the coordinate limits.

    Quaternions are uniform over all orientations. Other coordinates are uniform over their range.
    Without limits the range is +-pi for angles and +-1 m for translations; with one limit it
    extends 2 pi or 2 m from that limit.

    Args:
        model: The model.
        seed: Seed or random generator; None draws a new seed.
        size: Number of poses or batch shape; empty for a single pose.

    Returns:
        Positions, shape (*size, nq).
    """
    rng = np.random.default_rng(seed)
    batch = (size,) if isinstance(size, int) else tuple(size)
    q = np.empty((*batch, model.nq))
    for joint, place in _places(model):
        if joint.quaternion:
            quaternion = rng.standard_normal((*batch, 4))
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
            q[..., place.q.stop - 4 : place.q.stop] = quaternion
    entries, positions = plain_entries(model)
    reach = _half_ranges(model)[entries]
    lower, upper = model.lower[entries], model.upper[entries]
    center = np.where(
        np.isfinite(lower), lower + reach, np.where(np.isfinite(upper), upper - reach, 0)
    )
    lower = np.where(np.isfinite(lower), lower, center - reach)
    upper = np.where(np.isfinite(upper), upper, center + reach)
    q[..., positions] = rng.uniform(lower, upper, (*batch, len(entries)))
    return q


def within_limits(model: ModelParts, q: ArrayInput, *, tolerance: float = 0.0) -> np.ndarray:
    """Whether every coordinate lies within its limits.

    Quaternions have no limits and are not checked.

    Args:
        model: The model.
        q: Positions, shape (..., nq).
        tolerance: Distance (rad, m) by which a coordinate may exceed its limits.

    Returns:
        One boolean per pose, of the batch shape of ``q``.

    Raises:
        ModelError: The last axis of ``q`` does not have nq entries.
    """
    q = _as_positions(model, q)
    entries, positions = plain_entries(model)
    chosen = q[..., positions]
    low, high = model.lower[entries] - tolerance, model.upper[entries] + tolerance
    return np.all((chosen >= low) & (chosen <= high), axis=-1)


def clamp(model: ModelParts, q: ArrayInput) -> np.ndarray:
    """The positions with every coordinate clipped to its limits.

    Quaternions are not changed.

    Args:
        model: The model.
        q: Positions, shape (..., nq).

    Returns:
        A new array of positions, shape (..., nq).

    Raises:
        ModelError: The last axis of ``q`` does not have nq entries.
    """
    q = _as_positions(model, q).copy()
    entries, positions = plain_entries(model)
    q[..., positions] = np.clip(q[..., positions], model.lower[entries], model.upper[entries])
    return q


def plain_entries(model: ModelParts) -> tuple[np.ndarray, np.ndarray]:
    """The entries of v whose coordinate is itself an entry of q, and those entries of q."""
    entries: list[int] = []
    positions: list[int] = []
    for joint, place in _places(model):
        count = place.v.stop - place.v.start - (3 if joint.quaternion else 0)
        entries.extend(range(place.v.start, place.v.start + count))
        positions.extend(range(place.q.start, place.q.start + count))
    return np.array(entries, dtype=int), np.array(positions, dtype=int)


def _places(model: ModelParts) -> list[tuple[Joint, JointSlots]]:
    """Joints with entries of their own in q and v."""
    pairs = zip(model.joints, model.joint_slots, strict=True)
    return [(joint, place) for joint, place in pairs if place.v.stop > place.v.start]


def _column(parts: list[Array]) -> Array:
    return stack(*parts) if parts else ca.SX(0, 1)


def _conjugate(q: Array) -> Array:
    return stack(q[0], -q[1:4])


def _half_ranges(model: ModelParts) -> np.ndarray:
    """Half the range of each coordinate where it is unbounded (rad, m)."""
    turning = {
        joint.coordinates[motion.coordinate].name
        for joint in model.joints
        for motion in joint.axes
        if motion.kind == "turn" and motion.coordinate is not None
    }
    return np.array(
        [
            UNBOUNDED_ANGLE_RAD if name in turning else UNBOUNDED_DISTANCE_M
            for name in model.coordinate_names
        ]
    )


def _as_positions(model: ModelParts, q: Array) -> np.ndarray:
    array = np.asarray(q, dtype=float)
    if array.shape[-1:] != (model.nq,):
        raise ModelError(
            f"q of model {model.name!r} has {model.nq} entries in its last axis, got shape "
            f"{array.shape}"
        )
    return array
