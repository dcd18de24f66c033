"""What every recursion starts from: the state of each joint."""

from __future__ import annotations

from homodyn.model import Model
from homodyn.model.joint import JointState
from homodyn.model.layout import joint_positions, joint_velocities
from homodyn.spatial import Array


def joint_states(model: Model, q: Array, v: Array) -> list[JointState]:
    """Transform, motion subspace, velocity and bias of every joint, from parent to child body."""
    positions = joint_positions(model, q)
    velocities = joint_velocities(model, q, v)
    return [
        joint.state(q_i, v_i)
        for joint, q_i, v_i in zip(model.joints, positions, velocities, strict=True)
    ]
