"""Implicit springs: loads, sag and stability at long steps."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import (
    PD,
    ImplicitSprings,
    SampledTorques,
    SimulationStatus,
    gap_distances,
    place_on_ground,
    run,
)
from homodyn.simulate.geometry import scene_geometry
from homodyn.simulate.rows import spring_damper_from_erp_cfm

H = 1 / 60


def pose_at_height(model, height):
    """The neutral pose with its center at a height (m)."""
    q = model.neutral()
    q[2] = height
    return q


def test_redundant_corners_share_a_load(block):
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-5, H)
    law = ImplicitSprings(kp, kd, friction=0.5)
    rest = run(block, pose_at_height(block, 0.1), None, 2.0, H, contact=law)
    bottom = rest.forces[-1, ::2, 2]
    np.testing.assert_allclose(bottom, 24.5, rtol=1e-6)
    assert 0.1 - rest.q[-1, 2] == pytest.approx(24.5 * H * 1e-5 / 0.2, rel=1e-6)
    assert 0.1 - rest.q[-1, 2] == pytest.approx(2.04e-5, abs=0.005e-5)


def test_an_eccentric_load_is_shared_by_its_lever_arms():
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-5, H)
    model = (
        hd.model.Assembly("block")
        .add(hd.model.box("block", 10.0, (0.4, 0.4, 0.2), com=(0.1, 0, 0)), hd.joints.free())
        .contact("sole", "block", "box", size=(0.4, 0.4, 0.2))
        .model(gravity=(0.0, 0.0, -9.8))
    )
    rest = run(
        model,
        pose_at_height(model, 0.1),
        None,
        3.0,
        H,
        contact=ImplicitSprings(kp, kd, friction=0.5),
    )
    x = gap_distances(scene_geometry(model))(rest.q[-1])["point"][::2, 0]
    np.testing.assert_allclose(rest.forces[-1, ::2, 2], np.where(x > 0, 36.75, 12.25), rtol=2e-4)


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_any_stiffness_is_stable_at_a_long_step(block, stiffness):
    law = ImplicitSprings(stiffness, stiffness / 20, friction=0.5)
    q = pose_at_height(block, 0.3)
    result = run(block, q, None, 2.0, 1e-2, contact=law)
    assert result.status is SimulationStatus.FINISHED
    assert result.q[-1, 2] == pytest.approx(0.1 - 98 / 4 / stiffness, abs=1e-5)
    assert result.total_force[-1, 2] == pytest.approx(98.0, rel=1e-4)
    assert np.max(result.energy.kinetic + result.energy.potential) < 10 * 9.8 * 0.3 + 1e-6


def test_a_human_stands_under_its_weight():
    """hdm(): 87.58 kg at 9.8 m/s2 are 858.3 N."""
    model = hd.catalog.hdm()
    # Upright, the center of mass is above the heels; leaning at the ankles moves it forward.
    lean = 0.06
    ankles = {"right_ankle_pitch": -lean, "left_ankle_pitch": -lean}
    q = model.pose(ankles)
    q[3:7] = [np.cos(lean / 2), 0, np.sin(lean / 2), 0]
    q = place_on_ground(model, q)
    servo = PD(4000.0, 400.0, stable=True, target=q)
    result = run(
        model, q, None, 1.5, 2e-3, contact="implicit", actuation=servo, record_interval=0.1
    )
    assert result.status is SimulationStatus.FINISHED
    np.testing.assert_allclose(result.total_force[-5:, 2], 858.3, atol=0.05)
    assert np.abs(model.difference(q, result.q[-1])).max() < 1e-2
    assert np.abs(result.energy.error).max() < 0.05


@pytest.mark.parametrize(("offset", "friction"), [(0.02, 0.8), (0.4, 0.8), (0.4, 0.2)])
def test_torques_of_a_step_replay_it_to_rounding_on_the_ground(offset, friction):
    """Servos far from their target at 60 Hz; document 001, check 19."""
    model = hd.catalog.hdm()
    q = place_on_ground(model, model.neutral())
    signs = np.random.default_rng(0).choice([-1.0, 1.0], model.nv - 6)
    target = model.integrate(q, np.r_[np.zeros(6), offset * signs])
    law = ImplicitSprings(friction=friction)
    servo = PD(500.0, 50.0, target=target, stable=True)
    driven = run(model, q, None, 4 * H, H, contact=law, actuation=servo, compiled=False)
    assert driven.status is SimulationStatus.FINISHED
    touching = (driven.forces[:, :, 2] > 0).any(axis=0)
    names = [name for name, down in zip(driven.contact_names, touching, strict=True) if down]
    # Servos 0.4 rad from their target lift one of the feet.
    both = offset < 0.1
    assert {name.split("_")[0] for name in names} >= ({"left", "right"} if both else {"left"})
    scale = H * np.abs(driven.torques).max()
    assert driven.residual < 1e-9 * scale
    samples = SampledTorques(driven.time, driven.torques, zero_order_hold=True)
    replayed = run(model, q, None, 4 * H, H, contact=law, actuation=samples, compiled=False)
    error = np.abs(model.difference(driven.q, replayed.q)).max(axis=1)
    assert error[1] < 1e-11
    # Open loop, later errors grow from there.
    assert error[-1] < 1e-8


def test_a_step_that_is_not_solved_ends_the_run_and_says_so(block):
    q = pose_at_height(block, 0.1)
    v = np.array([1.0, 0.3, -0.5, 2.0, 1.0, 0.5])
    hasty = run(block, q, v, 0.5, H, contact=ImplicitSprings(1e6, 1e4, friction=0.3, iterations=1))
    assert hasty.status is SimulationStatus.NOT_CONVERGED
    assert "iterations" in hasty.message
    patient = run(block, q, v, 0.5, H, contact=ImplicitSprings(1e6, 1e4, friction=0.3))
    assert patient.status is SimulationStatus.FINISHED
    assert patient.residual < 1e-7
