"""Soft contact and implicit springs: loads, sag, friction, rolling, bouncing, stiffness."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import (
    PD,
    ContactGeometry,
    ImplicitSprings,
    SimulationOptions,
    SimulationStatus,
    SoftContact,
    StateEvent,
    run,
    spring_damper_from_erp_cfm,
)
from support.things import coin, stack_of_boxes

H = 1 / 60


def lying(block, lift=0.1):
    q = block.neutral()
    q[2] = lift
    return q


def test_implicit_springs_share_a_load_between_redundant_corners(block):
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-5, H)
    law = ImplicitSprings(kp, kd, friction=0.5)
    rest = run(block, lying(block), None, 2.0, H, contact=law)
    bottom = rest.forces[-1, ::2, 2]
    np.testing.assert_allclose(bottom, 24.5, rtol=1e-6)
    assert 0.1 - rest.q[-1, 2] == pytest.approx(24.5 * H * 1e-5 / 0.2, rel=1e-6)
    assert 0.1 - rest.q[-1, 2] == pytest.approx(2.04e-5, abs=0.005e-5)


def test_a_load_off_centre_is_shared_by_its_levers():
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-5, H)
    model = (
        hd.model.Assembly("block")
        .add(hd.model.box("block", 10.0, (0.4, 0.4, 0.2), com=(0.1, 0, 0)), hd.joints.free())
        .contact("sole", "block", "box", size=(0.2, 0.2, 0.1))
        .model(gravity=(0.0, 0.0, -9.8))
    )
    rest = run(model, lying(model), None, 3.0, H, contact=ImplicitSprings(kp, kd, friction=0.5))
    x = hd.simulate.gap_distances(ContactGeometry(model))(rest.q[-1])["point"][::2, 0]
    np.testing.assert_allclose(rest.forces[-1, ::2, 2], np.where(x > 0, 36.75, 12.25), rtol=2e-4)


def test_soft_contact_sinks_in_by_weight_over_stiffness(ball, block):
    q = ball.neutral()
    q[2] = 0.11
    rest = run(ball, q, None, 2.0, contact=SoftContact(stiffness=2e3, damping=60.0))
    assert 0.1 - rest.q[-1, 2] == pytest.approx(9.81 / 2e3, rel=1e-6)
    assert rest.total_force[-1, 2] == pytest.approx(9.81, rel=1e-6)
    assert np.all(rest.forces[..., 2] >= 0)
    # A box on four corners: m g / K with four springs side by side.
    lain = run(block, lying(block), None, 1.0, contact=SoftContact(stiffness=2e4, damping=400.0))
    assert 0.1 - lain.q[-1, 2] == pytest.approx(98.0 / 8e4, rel=1e-6)
    np.testing.assert_allclose(lain.forces[-1, ::2, 2], 24.5, rtol=1e-6)


LAWS = {
    "soft": SoftContact(4e4, 200.0, bristle=False, slip=1e-2),
    "bristle": SoftContact(4e4, 200.0, bristle=True),
    "implicit": ImplicitSprings(1e5, 1e3),
}


@pytest.mark.parametrize("law", LAWS)
def test_a_block_slides_beyond_the_friction_angle_only(block, tilted, law):
    """Held within the regularisation below atan(mu), off with g (sin - mu cos) above."""
    mu = 0.4
    chosen = LAWS[law]
    for share, moves in ((0.97, False), (1.1, True)):
        angle = np.arctan(mu) * share
        q = block.neutral()
        turn = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0])
        q[3:7] = turn
        q[:3] = 0.0999 * np.array([np.sin(angle), 0, np.cos(angle)])
        scene = ContactGeometry(block, ground=(tilted(angle),))
        law_mu = type(chosen)(**{**vars(chosen), "friction": mu})
        slid = run(
            block,
            q,
            None,
            1.0,
            contact=law_mu,
            options=SimulationOptions(scene=scene, record_interval=0.5),
        )
        downhill = np.array([np.cos(angle), 0, -np.sin(angle)])
        speed = (slid.q[-1, :3] - slid.q[1, :3]) @ downhill / 0.5
        if moves:
            expected = 9.8 * (np.sin(angle) - mu * np.cos(angle)) * 0.75
            assert speed == pytest.approx(expected, rel=0.1 if law == "soft" else 0.05)
        else:
            # Regularised friction of mu f_n v / sqrt(v^2 + s^2) holds the load at this speed.
            load = np.tan(angle) / mu
            creep = 1e-2 * load / np.sqrt(1 - load**2) if law == "soft" else 0.0
            assert speed == pytest.approx(creep, rel=0.1, abs=1e-6)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_sliding_gains_speed_beyond_the_friction_angle_and_loses_it_below(block, tilted, law):
    """The angle at which the speed stays the same is atan(mu) to better than 1e-3 rad."""
    mu = 0.4
    chosen = type(LAWS[law])(**{**vars(LAWS[law]), "friction": mu})
    for off in (-1e-3, 1e-3):
        angle = np.arctan(mu) + off
        up = np.array([np.sin(angle), 0, np.cos(angle)])
        q = block.neutral()
        q[3:7] = [np.cos(angle / 2), 0, np.sin(angle / 2), 0]
        q[:3] = (0.1 - 98 * np.cos(angle) / 4 / chosen.stiffness) * up
        v = np.array([0.2, 0, 0, 0, 0, 0])
        scene = ContactGeometry(block, ground=(tilted(angle),))
        slid = run(
            block,
            q,
            v,
            1.0,
            contact=chosen,
            options=SimulationOptions(scene=scene, record_interval=0.5),
        )
        gained = (slid.v[2, 0] - slid.v[1, 0]) / 0.5
        expected = 9.8 * (np.sin(angle) - mu * np.cos(angle))
        assert gained == pytest.approx(expected, abs=2e-3)
        assert np.sign(gained) == np.sign(off)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_a_ball_rolls_down_with_five_sevenths_of_gravity(ball, tilted, law):
    angle = 0.2
    q = ball.neutral()
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    q[:3] = 0.0999 * up
    rolled = run(
        ball,
        q,
        None,
        1.0,
        contact=LAWS[law],
        options=SimulationOptions(scene=ContactGeometry(ball, ground=(tilted(angle),))),
    )
    distance = np.linalg.norm(rolled.q[-1, :3] - q[:3])
    assert distance == pytest.approx(5 / 7 * 9.81 * np.sin(angle) / 2, rel=5e-3)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_a_spinning_coin_stops_when_friction_has_used_its_spin(law):
    """Points on a rim lose 2 mu g / r of spin a second, and stand still after it."""
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    chosen = type(LAWS[law])(**{**vars(LAWS[law]), "friction": mu})
    start = model.neutral()
    start[2] = -0.5 * 9.81 / 6 / chosen.stiffness
    spun = run(model, start, [0, 0, 0, 0, 0, spin], 0.45, 5e-4, contact=chosen)
    stop = spin * radius / (2 * mu * 9.81)
    expected = np.maximum(spin - 2 * mu * 9.81 / radius * spun.time, 0.0)
    np.testing.assert_allclose(spun.v[:, 5], expected, atol=0.1)
    assert np.abs(spun.v[spun.time > stop + 0.05, 5]).max() < 0.05
    # What contacts took is what the spin has lost.
    lost = spun.energy.kinetic[0] - spun.energy.kinetic[-1]
    assert spun.energy.contacts[-1] == pytest.approx(-lost, rel=1e-3)


@pytest.mark.parametrize("law", ["bristle", "implicit"])
def test_stacked_boxes_stand_on_their_springs(law):
    model, chosen = stack_of_boxes(), LAWS[law]
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    scene = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    stood = run(
        model,
        q,
        None,
        0.5,
        contact=chosen,
        options=SimulationOptions(scene=scene, record_interval=0.1),
    )
    on_ground = np.array([" on " not in name for name in scene.names])
    forces = stood.forces[-1, :, 2]
    assert forces[on_ground].sum() == pytest.approx(4 * 9.81, rel=1e-3)
    assert np.abs(forces[~on_ground]).sum() == pytest.approx(2 * 9.81, rel=1e-3)
    sag = 4 * 9.81 / 4 / chosen.stiffness
    np.testing.assert_allclose(stood.q[-1, 2], 0.1 - sag, atol=1e-5)
    assert np.abs(stood.v[-1]).max() < 1e-4


def test_a_linear_bounce_keeps_what_its_damping_says(ball):
    """Half a period of a spring-damper: e = exp(-zeta pi / sqrt(1 - zeta^2)), nearly."""
    k, ratio = 1e5, 0.1
    law = SoftContact(k, 2 * ratio * np.sqrt(k * 1.0), friction=0.0)
    q = ball.neutral()
    q[2] = 0.6
    fell = run(
        ball, q, None, 0.6, 2e-5, contact=law, options=SimulationOptions(record_interval=1e-3)
    )
    before = -np.min(fell.v[:, 2])
    after = np.max(fell.v[fell.time > 0.33, 2])
    # Without pulling the contact ends while still compressed a little.
    expected = np.exp(-ratio * np.pi / np.sqrt(1 - ratio**2))
    assert after / before == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_any_stiffness_is_stable_at_a_long_step(block, stiffness):
    law = ImplicitSprings(stiffness, stiffness / 20, friction=0.5)
    q = lying(block, 0.3)
    fell = run(block, q, None, 2.0, 1e-2, contact=law)
    assert fell.status is SimulationStatus.FINISHED
    assert fell.q[-1, 2] == pytest.approx(0.1 - 98 / 4 / stiffness, abs=1e-5)
    assert fell.total_force[-1, 2] == pytest.approx(98.0, rel=1e-4)
    assert np.max(fell.energy.kinetic + fell.energy.potential) < 10 * 9.8 * 0.3 + 1e-6


def test_stiff_soft_contact_at_a_long_step_says_what_happened(block):
    fell = run(block, lying(block, 0.3), None, 2.0, 1e-2, contact=SoftContact(1e12, 1e7))
    assert fell.status is SimulationStatus.NOT_FINITE
    assert "shorter steps" in fell.message
    assert f"at {fell.time[-1]:.6g} s" in fell.message
    assert np.all(np.isfinite(fell.q))
    assert np.all(np.isfinite(fell.v))


def test_no_friction_pushes_nothing_sideways(ball):
    q = ball.neutral()
    q[2] = 0.099
    v = np.array([1.0, 0.5, 0, 0, 0, 3.0])
    for law in (SoftContact(friction=0.0), ImplicitSprings(friction=0.0)):
        slid = run(ball, q, v, 0.5, contact=law)
        np.testing.assert_allclose(slid.forces[..., :2], 0, atol=1e-12)
        np.testing.assert_allclose(slid.v[-1, 5], 3.0, atol=1e-9)


def test_a_start_inside_the_ground_is_told_and_survived(block):
    sunk = run(block, lying(block, -0.05), None, 1.0, contact="implicit")
    assert sunk.status is SimulationStatus.FINISHED
    assert any("150 mm inside" in note for note in sunk.notes)


def test_constants_differ_by_contact(block):
    model = (
        hd.model.Assembly("table")
        .add(hd.model.box("table", 10.0, (1, 1, 0.1)), hd.joints.prismatic("z"))
        .contact("soft_leg", "table", position=(0.5, 0, -0.5))
        .contact("hard_leg", "table", position=(-0.5, 0, -0.5))
        .model()
    )
    law = SoftContact({"soft_leg": 1e4, "*": 3e4}, 200.0)
    rest = run(model, [0.5], None, 2.0, contact=law)
    assert rest.force("hard_leg")[-1, 2] == pytest.approx(3 * rest.force("soft_leg")[-1, 2])
    with pytest.raises(hd.ModelError, match="hard_leg"):
        run(model, [0.5], None, 0.1, contact=SoftContact({"soft_leg": 1e4}))


def test_two_bodies_push_each_other_with_opposite_forces():
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
    scene = ContactGeometry(model, contacts=(), pairs=(("l", "r"),))
    for law in (SoftContact(1e4, 20.0), ImplicitSprings(1e4, 20.0)):
        hit = run(
            model,
            q,
            v,
            0.5,
            1e-4,
            contact=law,
            options=SimulationOptions(scene=scene, record_interval=1e-2),
        )
        moved = hd.dynamics.momentum(model, hit.q, hit.v)
        np.testing.assert_allclose(moved[-1, 3:], moved[0, 3:], atol=2e-4)
        assert hit.v[-1, 6] > 0.2


def test_a_human_stands_under_its_own_weight():
    """hdm(): 87.58 kg at 9.8 m/s2 are 858.3 N."""
    model = hd.catalog.hdm()
    # Upright its mass is over the heels; leaning on the ankles brings it over the feet.
    lean = 0.06
    ankles = {"right_ankle_pitch": -lean, "left_ankle_pitch": -lean}
    q = model.pose(ankles)
    q[3:7] = [np.cos(lean / 2), 0, np.sin(lean / 2), 0]
    q[2] -= hd.simulate.gap_distances(ContactGeometry(model))(q)["distance"].min()
    servo = PD(4000.0, 400.0, stable=True, target=q)
    stood = run(
        model,
        q,
        None,
        1.5,
        2e-3,
        contact="implicit",
        actuation=servo,
        options=SimulationOptions(record_interval=0.1),
    )
    assert stood.status is SimulationStatus.FINISHED
    np.testing.assert_allclose(stood.total_force[-5:, 2], 858.3, atol=0.05)
    assert np.abs(model.difference(q, stood.q[-1])).max() < 1e-2
    assert np.abs(stood.energy.error).max() < 0.05


def test_limits_hold_joints_and_dry_friction_stops_them():
    model = (
        hd.model.Assembly("door")
        .add(hd.model.rod("door", 2.0, (0, 0, 0), (1, 0, 0)), hd.joints.revolute("z", upper=0.5))
        .model()
    )
    for law in (None, "implicit"):
        swung = run(model, [0.0], [2.0], 2.0, contact=law)
        assert swung.q.max() < 0.53
        assert swung.energy.dissipated[-1] > 0
    rough = (
        hd.model.Assembly("rough")
        .add(hd.model.rod("door", 2.0, (0, 0, 0), (1, 0, 0)), hd.joints.revolute("z", friction=0.5))
        .model()
    )
    inertia = 2.0 / 3
    stopped = run(rough, [0.0], [2.0], 4.0, contact=None)
    assert stopped.q[-1, 0] == pytest.approx(2.0**2 / 2 * inertia / 0.5, rel=2e-3)
    assert abs(stopped.v[-1, 0]) < 1e-6
    assert stopped.energy.dissipated[-1] == pytest.approx(inertia * 2.0, rel=1e-3)


def test_an_event_sees_the_foot_leave_the_ground(ball):
    q = ball.neutral()
    q[2] = 0.0995
    v = np.zeros(6)
    v[2] = 1.0
    event = StateEvent("off", lambda t, q, v, batch: q[2] - 0.1, "rising", 1e-12, "end")
    left = run(ball, q, v, 1.0, contact="soft", options=SimulationOptions(events=[event]))
    assert left.status is SimulationStatus.ENDED
    assert left.q[-1, 2] == pytest.approx(0.1, abs=1e-12)
