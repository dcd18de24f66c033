"""Inverse dynamics, bias and passive forces."""

import numpy as np

from homodyn import dynamics as hd
from homodyn.dynamics.tree import Tree
from homodyn.model import Assembly, joints, rod
from homodyn.spatial import cross_force, cross_motion
from support.trees import random_state, relative_error


def test_inverse_dynamics_is_mass_times_acceleration_and_bias(model, state):
    q, v, a = state
    mass, bias = hd.mass_matrix(model, q), hd.bias_force(model, q, v)
    expected = (mass @ a[..., None])[..., 0] + bias
    assert relative_error(hd.inverse_dynamics(model, q, v, a), expected) < 2e-15


def by_matrices(model, q, v, a, *, sweep=True):
    """Algorithm 1 with 6x6 matrices; ``sweep``: the term v x vJ that line 10 leaves out."""
    tree = Tree(model, q, v)
    above = {-1: (np.zeros(6), np.concatenate([np.zeros(3), -model.gravity]))}
    forces, start = [], 0
    for i, joint in enumerate(tree.joints):
        X = joint.X.motion_matrix()
        moving, changing = (X @ x for x in above[model.parents[i]])
        moving = moving + joint.v
        own = a[start : start + model.joints[i].nv]
        changing = changing + joint.S @ own + joint.c
        if sweep:
            changing = changing + cross_motion(moving, joint.v)
        above[i] = (moving, changing)
        inertia = model.bodies[i].spatial_inertia.matrix()
        forces.append(inertia @ changing + cross_force(moving, inertia @ moving))
        start += model.joints[i].nv
    tau = []
    for i in reversed(range(len(forces))):
        tau.append(tree.joints[i].S.T @ forces[i])
        if model.parents[i] >= 0:
            forces[model.parents[i]] += tree.joints[i].X.motion_matrix().T @ forces[i]
    return np.concatenate(tau[::-1])


def test_algorithm_1_needs_the_sweep_of_the_joint_velocity(model, state):
    q, v, a = (x[0] for x in state)
    ours = hd.inverse_dynamics(model, q, v, a)
    assert relative_error(by_matrices(model, q, v, a), ours) < 1e-13
    assert relative_error(by_matrices(model, q, v, a, sweep=False), ours) > 1e-3


def test_passive_forces_pull_toward_rest_and_against_motion():
    springs = {"stiffness": (3.0, 5.0), "rest": (0.1, -0.2), "damping": (0.5, 0.7)}
    model = (
        Assembly("springs")
        .add(rod("a", 1.0, (0, 0, 0), (0.1, 0, -1)), joints.spherical(damping=0.2))
        .add(rod("b", 1.0, (0, 0.1, 0), (0.1, 0, -1)), joints.universal("x", "y", **springs), "a")
        .model()
    )
    q, v, _ = random_state(model, 1, 3)
    ours = hd.passive_force(model, q, v)
    turning, bending = v[:, :3], q[:, 4:]
    np.testing.assert_allclose(ours[:, :3], -0.2 * turning, rtol=1e-14)
    expected = np.array([3.0, 5.0]) * ([0.1, -0.2] - bending) - np.array([0.5, 0.7]) * v[:, 3:]
    np.testing.assert_allclose(ours[:, 3:], expected, rtol=1e-13)
