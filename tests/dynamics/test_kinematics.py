"""Positions, velocities, accelerations and Jacobians of points."""

import numpy as np
import pytest

from homodyn import dynamics as hd
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model.configuration import integrate
from homodyn.spatial import skew
from support.trees import human_tree, random_state, relative_error


@pytest.fixture(scope="module")
def point():
    return np.array([0.1, 0.2, -0.3])


def test_velocity_and_acceleration_of_a_point_follow_small_steps(model, state, point):
    q, v, a = (x[0] for x in state)
    frame = model.bodies[-1].name
    h = 1e-4
    times = np.array([[-h], [0.0], [h]])
    path = integrate(model, q, v * times + a * times**2 / 2)
    before, now, after = hd.position(model, path, frame, point)
    velocity = hd.velocity(model, q, v, frame, point)
    acceleration = hd.acceleration(model, q, v, a, frame, point)
    measured = (after - 2 * now + before) / h**2
    assert relative_error(velocity, (after - before) / (2 * h)) < 1e-6
    assert relative_error(acceleration, measured) < 1e-5
    # The linear part of a spatial acceleration lacks w x v of the point (Felis eq. 3.59).
    trap = acceleration - np.cross(hd.angular_velocity(model, q, v, frame), velocity)
    assert relative_error(trap, measured) > 1e-3


def test_jacobian_gives_velocity_and_is_zero_beside_the_path(model, state, point):
    q, v, _ = (x[0] for x in state)
    frame = model.bodies[-1].name
    columns = hd.jacobian(model, q, frame, point)
    assert relative_error(columns @ v, hd.velocity(model, q, v, frame, point)) < 1e-13
    path = Tree(model, q).ancestors(len(model.bodies) - 1)
    owner = [i for i, joint in enumerate(model.joints) for _ in range(joint.nv)]
    beside = [k for k, i in enumerate(owner) if i not in path]
    assert beside
    assert not columns[:, beside].any()


def test_the_world_does_not_move():
    model = human_tree()
    q, v, a = random_state(model, 1, 2)
    assert not hd.velocity(model, q, v, "world").any()
    assert not hd.acceleration(model, q, v, a, "world").any()
    assert not hd.jacobian(model, q, "world").any()
    where = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(hd.position(model, q, "world", where), [where, where])
    with pytest.raises(ModelError, match="act on the world"):
        hd.inverse_dynamics(model, q, v, a, external={"world": np.zeros(6)})


def test_jacobian_rebased_to_another_body():
    """Kieboom eq. 2.67: J_j - Xtr(r_j - r_i) J_i is the motion of j seen from body i."""
    model = human_tree()
    q, v, _ = random_state(model, 6)
    tip, base = "hand_l", "lumbar"
    arm = hd.position(model, q, tip) - hd.position(model, q, base)
    rebased = hd.jacobian(model, q, tip) - (
        hd.jacobian(model, q, base) - skew(arm) @ hd.angular_jacobian(model, q, base)
    )
    carrying_both = [model.coordinate_index("pelvis_tx"), model.coordinate_index("lumbar_ry")]
    assert np.abs(rebased[:, carrying_both]).max() < 1e-14
    assert np.abs(rebased[:, model.coordinate_index("arm_l_ry")]).max() > 0.1
    h = 1e-6
    path = integrate(model, q, np.array([[-h], [h]]) * v)
    turns = np.swapaxes(hd.orientation(model, path, base), -1, -2)
    apart = hd.position(model, path, tip) - hd.position(model, path, base)
    before, after = (turns @ apart[..., None])[..., 0]
    seen = hd.orientation(model, q, base) @ (after - before) / (2 * h)
    assert relative_error(rebased @ v, seen) < 1e-8
