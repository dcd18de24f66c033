"""The walk obeys mechanics, and looks like the walking of people."""

from itertools import pairwise

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import NoSolution
from homodyn.motion import Side
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.steady_walk import plan_walk

MAX_FRICTION = 0.6


def angle(walk, state, name):
    return np.rad2deg(state[0][:, walk.model.coordinate_index(name)])


def torque(walk, tau, name):
    return tau[:, walk.model.coordinate_index(name)] / walk.model.mass


def weight(walk):
    return -walk.model.mass * walk.model.gravity[2]


def test_the_feet_alone_carry_the_body(walk, stride):
    _, _, tau, _ = stride
    assert np.abs(tau[:, :6]).max() < 1e-8


def test_speeds_and_accelerations_are_derivatives(walk):
    clock, h = np.linspace(0, 2 * walk.steps.period, 97), 1e-5
    q, v, a = walk.state(clock)
    near = [walk.state(clock + d) for d in (-h, h)]
    np.testing.assert_allclose(v, (near[1][0] - near[0][0]) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(a, (near[1][1] - near[0][1]) / (2 * h), atol=1e-3)
    later = walk.state(clock + walk.steps.period)[0]
    later[:, walk.model.coordinate_index("Pelvis_TX")] -= walk.steps.stride_length
    np.testing.assert_allclose(later, q, atol=1e-12)


def test_forces_push_up_within_friction_and_vanish_in_swing(walk, stride):
    clock, _, _, ground_wrenches = stride
    for side, foot in zip(Side, ground_wrenches, strict=True):
        on = walk.steps.in_stance(side, clock)
        assert foot.force[:, 2].min() >= 0
        assert np.abs(foot.force[~on]).max() < 1e-9
        loaded = foot.force[:, 2] > 1e-3 * weight(walk)
        sideways = np.linalg.norm(foot.force[:, :2], axis=1)[loaded]
        assert (sideways / foot.force[loaded, 2]).max() < MAX_FRICTION
        # A sole of this size can hold about as much by friction: mu times force times 8 cm.
        assert (np.abs(foot.torque[loaded]) / foot.force[loaded, 2]).max() < MAX_FRICTION * 0.08


def test_the_forces_of_the_feet_are_continuous(walk):
    clock = np.arange(0, walk.steps.period, 1e-4)
    for foot in walk.ground_wrenches(clock):
        steps = np.abs(np.diff(foot.force, axis=0)).max()
        assert steps < 0.01 * weight(walk)


def test_pressure_stays_under_the_sole(walk, stride):
    _, (q, _, _), _, ground_wrenches = stride
    for side, foot, plan in zip(Side, ground_wrenches, walk.feet, strict=True):
        on = foot.force[:, 2] > 1e-3 * weight(walk)
        heel = hd.dynamics.position(walk.model, q, f"Heel{side.title}")[on]
        toes = hd.dynamics.position(walk.model, q, f"Hallux{side.title}")[on]
        outer = hd.dynamics.position(walk.model, q, f"Meta5{side.title}")[on]
        yaw = walk.steps.yaw(side)
        along = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        across = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        point = foot.point[on]
        assert ((point - heel) @ along).min() > -0.003
        assert ((toes - point) @ along).min() > -0.003
        sides = np.sort(np.stack([(toes - point) @ across, (outer - point) @ across]), axis=0)
        assert sides[0].max() < 0.001
        assert sides[1].min() > -0.001
        assert plan.side == side


def test_feet_neither_sink_nor_slide(walk, stride):
    clock, (q, _, _), _, _ = stride
    for side, plan in zip(Side, walk.feet, strict=True):
        heights = [
            hd.dynamics.position(walk.model, q, f"Heel{side.title}")[:, 2] - plan.shape.height,
            hd.dynamics.position(walk.model, q, f"Hallux{side.title}")[:, 2],
            hd.dynamics.position(walk.model, q, f"Meta5{side.title}")[:, 2],
        ]
        assert min(height.min() for height in heights) > -0.005
        phase = walk.steps.phase(side, clock)
        u = phase - np.floor(phase)
        in_stance = (u > plan.style.foot_flat) & (u < walk.steps.stance) & (phase < 1)
        toes = hd.dynamics.position(walk.model, q, f"Hallux{side.title}")[in_stance]
        strike = np.floor(phase[in_stance])
        toes[:, 0] -= strike * walk.steps.stride_length
        assert np.ptp(toes, axis=0).max() < 0.002
        flat = (u > plan.style.foot_flat) & (u < plan.style.heel_rise)
        heel = hd.dynamics.position(walk.model, q, f"Heel{side.title}")[flat]
        heel[:, 0] -= np.floor(phase[flat]) * walk.steps.stride_length
        assert np.ptp(heel, axis=0).max() < 0.002


def test_joint_angles_are_those_of_people(walk, stride):
    clock, state, _, _ = stride
    knee, hip, ankle = (angle(walk, state, f"{n}Right_RY") for n in ("Knee", "Hip", "Ankle"))
    swing = ~walk.steps.in_stance(Side.RIGHT, clock)
    assert 55 < knee[swing].max() < 68
    assert knee.min() > 1
    assert knee[~swing].min() > 3
    assert 34 < np.ptp(hip) < 48
    assert 24 < np.ptp(ankle) < 44
    low, high = walk.model.lower, walk.model.upper
    assert (state[0] >= low).all()
    assert (state[0] <= high).all()


def test_elevation_angles_lie_in_a_plane(walk, stride):
    _, (q, _, _), _, _ = stride
    place = {
        name: hd.dynamics.position(walk.model, q, name)
        for name in ("ThighRight", "ShankRight", "FootRight", "HalluxRight")
    }
    chain = list(place.values())
    elevation = np.stack(
        [np.unwrap(np.arctan2((b - a)[:, 0], -(b - a)[:, 2])) for a, b in pairwise(chain)],
        -1,
    )
    spread = np.linalg.eigvalsh(np.cov(elevation.T))
    assert 1 - spread[0] / spread.sum() > 0.98


def test_vertical_force_has_two_peaks_and_a_valley(walk, stride):
    clock, _, _, (right, _) = stride
    u = clock / walk.steps.period
    force = right.force[:, 2] / weight(walk)
    first = force[u < 0.3].max()
    second = force[(u > 0.3) & (u < 0.7)].max()
    valley = force[(u > 0.2) & (u < 0.42)].min()
    assert 1.0 < first < 1.3
    assert 1.0 < second < 1.3
    assert 0.6 < valley < 0.9


def test_forward_force_brakes_then_pushes_without_net_impulse(walk, stride):
    clock, _, _, (right, left) = stride
    u = clock / walk.steps.period
    force = right.force[:, 0] / weight(walk)
    assert -0.3 < force[u < 0.2].min() < -0.1
    assert 0.1 < force[(u > 0.4) & (u < 0.62)].max() < 0.35
    total = (right.force + left.force)[:-1]
    assert abs(total[:, 0].mean()) < 1e-6 * weight(walk)
    assert abs(total[:, 1].mean()) < 1e-6 * weight(walk)
    assert total[:, 2].mean() == pytest.approx(weight(walk), rel=1e-9)


def test_torques_are_those_of_people(walk, stride):
    _, _, tau, _ = stride
    assert 1.0 < torque(walk, tau, "AnkleRight_RY").max() < 2.0
    for name in ("HipRight_RY", "KneeRight_RY", "HipRight_RX"):
        assert np.abs(torque(walk, tau, name)).max() < 1.6


def test_left_and_right_do_the_same_half_a_stride_apart(walk):
    clock = np.linspace(0, walk.steps.period, 60)
    right = walk.state(clock)[0][:, walk.model.coordinate_index("KneeRight_RY")]
    later = clock + walk.steps.period / 2
    left = walk.state(later)[0][:, walk.model.coordinate_index("KneeLeft_RY")]
    np.testing.assert_allclose(left, right, atol=0.01)


def test_steps_that_no_leg_reaches_are_refused(walk):
    steps = Footsteps(1.5, 0.1, 2.5, 0.6, 0.1)
    with pytest.raises(NoSolution, match=r"no balanced walk.*try a speed"):
        plan_walk(walk.model, steps)
