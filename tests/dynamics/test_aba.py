"""Forward dynamics by the articulated body algorithm."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn import dynamics as hd
from homodyn.dynamics.tree import Tree
from homodyn.spatial import cross_force, cross_motion
from support.trees import ALL_KINDS, human_tree, random_state, random_tree, relative_error


def test_forward_dynamics_solves_the_equations_of_motion(model, state):
    q, v, tau = state
    last = model.frames[-1].name if model.frames else "hand_l"
    wrench = np.array([1.0, -2.0, 3.0, 40.0, -50.0, 60.0])
    columns = np.concatenate(
        [hd.angular_jacobian(model, q, last), hd.jacobian(model, q, last)], axis=-2
    )
    pushed = tau - hd.bias_force(model, q, v) + np.swapaxes(columns, -1, -2) @ wrench
    expected = np.linalg.solve(hd.mass_matrix(model, q), pushed[..., None])[..., 0]
    ours = hd.forward_dynamics(model, q, v, tau, external={last: wrench})
    assert relative_error(ours, expected) < 1e-11


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 8))
def test_inverse_undoes_forward_dynamics(seed, count):
    model = random_tree(seed, count, ALL_KINDS)
    q, v, tau = random_state(model, seed, 2)
    a = hd.forward_dynamics(model, q, v, tau)
    assert relative_error(hd.inverse_dynamics(model, q, v, a), tau) < 1e-10


def articulated_by_matrices(model, q, v, tau, base):
    """Algorithm 3 with 6x6 matrices, starting from the acceleration ``base`` of the world."""
    tree = Tree(model, q, v)
    count = len(model.bodies)
    inertia = [body.spatial_inertia.matrix() for body in model.bodies]
    moving, drift, bias = [], [], []
    for i, joint in enumerate(tree.joints):
        carried = np.zeros(6) if model.parents[i] < 0 else moving[model.parents[i]]
        moving.append(joint.X.motion_matrix() @ carried + joint.v)
        drift.append(joint.c + cross_motion(moving[i], joint.v))
        bias.append(cross_force(moving[i], inertia[i] @ moving[i]))
    stops = np.cumsum([joint.nv for joint in model.joints])
    own = [tau[stop - joint.nv : stop] for stop, joint in zip(stops, model.joints, strict=True)]
    for i in reversed(range(count)):
        S, X, p = tree.joints[i].S, tree.joints[i].X.motion_matrix(), model.parents[i]
        U = inertia[i] @ S
        inverse = np.linalg.inv(S.T @ U)
        u = own[i] - S.T @ bias[i]
        own[i] = (U, inverse, u)
        if p >= 0:
            passed = inertia[i] - U @ inverse @ U.T
            inertia[p] = inertia[p] + X.T @ passed @ X
            bias[p] = bias[p] + X.T @ (bias[i] + passed @ drift[i] + U @ inverse @ u)
    result, changing = [], []
    for i, (U, inverse, u) in enumerate(own):
        carried = base if model.parents[i] < 0 else changing[model.parents[i]]
        here = tree.joints[i].X.motion_matrix() @ carried + drift[i]
        a = inverse @ (u - U.T @ here)
        changing.append(here + tree.joints[i].S @ a)
        result.append(a)
    return np.concatenate(result)


def test_algorithm_3_needs_the_world_to_accelerate():
    model = human_tree()
    q, v, tau = random_state(model, 3)
    ours = hd.forward_dynamics(model, q, v, tau)
    upwards = np.concatenate([np.zeros(3), -model.gravity])
    assert relative_error(articulated_by_matrices(model, q, v, tau, upwards), ours) < 1e-11
    assert relative_error(articulated_by_matrices(model, q, v, tau, np.zeros(6)), ours) > 1e-3
