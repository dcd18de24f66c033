"""Speeds and accelerations of sampled poses."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.filters.pose_derivatives import interpolate_poses, pose_derivatives
from homodyn.dynamics import acceleration, position, velocity
from homodyn.model import Assembly, box, joints
from support.trees import human_tree


@pytest.mark.parametrize("base", [joints.free(), joints.euler_free("zyx")])
def test_points_move_with_the_computed_velocity_and_acceleration(base: joints.JointType) -> None:
    model = human_tree(base)
    rate = 200.0
    time = np.arange(80) / rate
    rng = np.random.default_rng(0)
    amplitude, speed = rng.uniform(0.1, 0.5, model.nv), rng.uniform(1, 5, model.nv)

    def poses(t: np.ndarray) -> np.ndarray:
        return model.integrate(model.neutral(), amplitude * np.sin(speed * t[:, None]) + t[:, None])

    v, a = pose_derivatives(model, time, poses(time))
    inner = slice(10, -10)
    h = 1e-4
    before, here, after = (
        position(model, poses(time[inner] + shift), "hand_l", np.array([0.1, 0.2, 0.3]))
        for shift in (-h, 0, h)
    )
    q = poses(time)[inner]
    point = np.array([0.1, 0.2, 0.3])
    assert np.allclose(
        velocity(model, q, v[inner], "hand_l", point), (after - before) / (2 * h), atol=1e-5
    )
    computed = acceleration(model, q, v[inner], a[inner], "hand_l", point)
    assert np.allclose(computed, (after - 2 * here + before) / h**2, atol=2e-3)


def test_one_frame_stands_still_and_two_move_evenly() -> None:
    model = hd.catalog.heiman()
    v, a = pose_derivatives(model, np.array([0.0]), model.neutral()[None])
    assert not v.any()
    assert not a.any()
    q = np.stack([model.neutral(), model.neutral() + 0.1])
    v, a = pose_derivatives(model, np.array([0.0, 0.5]), q)
    assert np.allclose(v, 0.2)
    assert not a.any()


def test_unknown_quaternions_turn_the_shortest_way() -> None:
    model = Assembly("top").add(box("top", 1.0, (0.1, 0.2, 0.3)), joints.spherical()).model()
    ends = model.integrate(model.neutral(), np.array([[0.0, 0, 0], [0, 0, 0], [0, 0, 1.2]]))
    middle = interpolate_poses(model, ends, np.array([True, False, True]))[1]
    assert np.allclose(model.difference(model.neutral(), middle), [0, 0, 0.6])
