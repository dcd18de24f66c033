"""Inverse dynamics by the recursive Newton-Euler algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from homodyn.dynamics.tree import joint_states
from homodyn.model import Model
from homodyn.model.layout import joint_accelerations
from homodyn.model.traced import WRENCHES, function_of_state
from homodyn.spatial import Array, cross_force, cross_motion, stack


@function_of_state(q="nq", v="nv", a="nv", external=WRENCHES, returns={"tau": "nv"})
def inverse_dynamics(
    model: Model, q: Array, v: Array, a: Array, external: Any = None
) -> Array:
    """Generalised forces tau (N m, N) that give the accelerations ``a`` at the state (q, v)."""
    states = joint_states(model, q, v)
    accelerations = joint_accelerations(model, q, v, a)
    gravity = stack(np.zeros(3), -model.gravity)
    velocity, acceleration, force = [], [], []
    for i, (joint, parent) in enumerate(zip(states, model.parents, strict=True)):
        if parent < 0:
            v_i = joint.v
            a_i = joint.X.motion(gravity)
        else:
            v_i = joint.X.motion(velocity[parent]) + joint.v
            a_i = joint.X.motion(acceleration[parent])
        a_i = a_i + joint.S @ accelerations[i] + joint.c + cross_motion(v_i, joint.v)
        inertia = model.bodies[i].spatial_inertia
        velocity.append(v_i)
        acceleration.append(a_i)
        force.append(inertia @ a_i + cross_force(v_i, inertia @ v_i))
    tau = [0.0] * model.nv
    k = model.nv
    for i in reversed(range(len(states))):
        joint, parent = states[i], model.parents[i]
        n = model.joints[i].nv
        k -= n
        t = joint.S.T @ force[i]
        for m in range(n):
            tau[k + m] = t[m]
        if parent >= 0:
            force[parent] = force[parent] + joint.X.force_back(force[i])
    return stack(*tau)
