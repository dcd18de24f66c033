"""Soft contact and implicit springs alike: friction, rolling, spinning, stacking."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import ContactGeometry, ImplicitSprings, SoftContact, run
from support.rigid_bodies import coin, pose_on_slope, slope, stack_of_boxes

LAWS = {
    "soft": SoftContact(4e4, 200.0, bristle=False, slip=1e-2),
    "bristle": SoftContact(4e4, 200.0, bristle=True),
    "implicit": ImplicitSprings(1e5, 1e3),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_block_slides_beyond_the_friction_angle_only(block, law):
    """Below atan(mu) it creeps at most; above, it accelerates by g (sin - mu cos)."""
    mu = 0.4
    chosen = LAWS[law]
    for ratio, slides in ((0.97, False), (1.1, True)):
        angle = np.arctan(mu) * ratio
        q = pose_on_slope(-angle, 0.0999)
        law_mu = replace(chosen, friction=mu)
        result = run(block, q, None, 1.0, contact=law_mu, scene=slope(-angle), record_interval=0.5)
        downhill = np.array([np.cos(angle), 0, -np.sin(angle)])
        speed = (result.q[-1, :3] - result.q[1, :3]) @ downhill / 0.5
        if slides:
            expected = 9.8 * (np.sin(angle) - mu * np.cos(angle)) * 0.75
            assert speed == pytest.approx(expected, rel=0.1 if law == "soft" else 0.05)
        else:
            # Regularized friction mu f_n v / sqrt(v^2 + s^2) equals the load at this speed.
            load = np.tan(angle) / mu
            creep = 1e-2 * load / np.sqrt(1 - load**2) if law == "soft" else 0.0
            assert speed == pytest.approx(creep, rel=0.1, abs=1e-6)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_sliding_accelerates_beyond_the_friction_angle_and_slows_down_below(block, law):
    """The angle of constant speed is atan(mu) to better than 1e-3 rad."""
    mu = 0.4
    chosen = replace(LAWS[law], friction=mu)
    for excess in (-1e-3, 1e-3):
        angle = np.arctan(mu) + excess
        q = pose_on_slope(-angle, 0.1 - 98 * np.cos(angle) / 4 / chosen.stiffness)
        v = np.array([0.2, 0, 0, 0, 0, 0])
        result = run(block, q, v, 1.0, contact=chosen, scene=slope(-angle), record_interval=0.5)
        acceleration = (result.v[2, 0] - result.v[1, 0]) / 0.5
        expected = 9.8 * (np.sin(angle) - mu * np.cos(angle))
        assert acceleration == pytest.approx(expected, abs=2e-3)
        assert np.sign(acceleration) == np.sign(excess)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_a_ball_rolls_down_with_five_sevenths_of_gravity(ball, law):
    angle = 0.2
    q = ball.neutral()
    q[:3] = pose_on_slope(-angle, 0.0999)[:3]
    result = run(ball, q, None, 1.0, contact=LAWS[law], scene=slope(-angle))
    distance = np.linalg.norm(result.q[-1, :3] - q[:3])
    assert distance == pytest.approx(5 / 7 * 9.81 * np.sin(angle) / 2, rel=5e-3)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_friction_stops_a_spinning_coin(law):
    """The spin of points on a rim decreases by 2 mu g / r per second and stays zero."""
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    chosen = replace(LAWS[law], friction=mu)
    start = model.neutral()
    start[2] = -0.5 * 9.81 / 6 / chosen.stiffness
    result = run(model, start, [0, 0, 0, 0, 0, spin], 0.45, 5e-4, contact=chosen)
    stop = spin * radius / (2 * mu * 9.81)
    expected = np.maximum(spin - 2 * mu * 9.81 / radius * result.time, 0.0)
    np.testing.assert_allclose(result.v[:, 5], expected, atol=0.1)
    assert np.abs(result.v[result.time > stop + 0.05, 5]).max() < 0.05
    # The work of contacts is the loss of kinetic energy.
    loss = result.energy.kinetic[0] - result.energy.kinetic[-1]
    assert result.energy.contacts[-1] == pytest.approx(-loss, rel=1e-3)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_stacked_boxes_rest_on_their_springs(law):
    model, chosen = stack_of_boxes(), LAWS[law]
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    geometry = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    result = run(model, q, None, 0.5, contact=chosen, scene=geometry, record_interval=0.1)
    on_ground = np.array([" on " not in name for name in geometry.names])
    forces = result.forces[-1, :, 2]
    assert forces[on_ground].sum() == pytest.approx(4 * 9.81, rel=1e-3)
    assert np.abs(forces[~on_ground]).sum() == pytest.approx(2 * 9.81, rel=1e-3)
    sag = 4 * 9.81 / 4 / chosen.stiffness
    np.testing.assert_allclose(result.q[-1, 2], 0.1 - sag, atol=1e-5)
    assert np.abs(result.v[-1]).max() < 1e-4


def test_without_friction_there_is_no_tangential_force(ball):
    q = ball.neutral()
    q[2] = 0.099
    v = np.array([1.0, 0.5, 0, 0, 0, 3.0])
    for law in (SoftContact(friction=0.0), ImplicitSprings(friction=0.0)):
        result = run(ball, q, v, 0.5, contact=law)
        np.testing.assert_allclose(result.forces[..., :2], 0, atol=1e-12)
        np.testing.assert_allclose(result.v[-1, 5], 3.0, atol=1e-9)


def test_forces_between_two_bodies_are_opposite():
    model = (
        hd.model.Assembly("pair")
        .add(hd.model.sphere("left", 1.0, 0.1), hd.joints.free())
        .add(hd.model.sphere("right", 2.0, 0.1), hd.joints.free())
        .contact("l", "left", "sphere", radius=0.1)
        .contact("r", "right", "sphere", radius=0.1)
        .model(gravity=(0.0, 0.0, 0.0))
    )
    q = model.neutral()
    q[7] = 0.25
    q[8] = 0.05
    v = np.zeros(12)
    v[0] = 1.0
    geometry = ContactGeometry(model, contacts=(), pairs=(("l", "r"),))
    for law in (SoftContact(1e4, 20.0), ImplicitSprings(1e4, 20.0)):
        result = run(model, q, v, 0.5, 1e-4, contact=law, scene=geometry, record_interval=1e-2)
        momentum = hd.dynamics.momentum(model, result.q, result.v)
        np.testing.assert_allclose(momentum[-1, 3:], momentum[0, 3:], atol=2e-4)
        assert result.v[-1, 6] > 0.2
