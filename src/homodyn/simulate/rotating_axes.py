"""Velocities in the axes of free bodies, which rotate during a step."""

from __future__ import annotations

import casadi as ca

from homodyn.model import Model
from homodyn.model.manifold import quaternion_exp
from homodyn.spatial import Array, cross, quaternion_rotation


def axes_rotation_rate(model: Model, v: Array) -> Array:
    """Rate of velocities in the axes of free bodies due to the rotation of these axes: omega x v.

    Added to the accelerations it gives rates in axes that are fixed during the step. Euler's method
    in rotating axes would accelerate everything that spins.
    """
    result = ca.SX(model.nv, 1)
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if joint.kind == "free":
            k = slots.v.start
            result[k : k + 3] = cross(v[k + 3 : k + 6], v[k : k + 3])
    return result


def rotate_velocities(model: Model, v: Array, h: Array) -> Array:
    """Velocities in the axes of free bodies at the end of a step, from those of its start."""
    result = ca.SX(v)
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if joint.kind == "free":
            k = slots.v.start
            turn = quaternion_rotation(quaternion_exp(h * v[k + 3 : k + 6]))
            result[k : k + 3] = turn @ v[k : k + 3]
    return result
