"""Live simulations: contact laws, pushes, forces and energies, early stops."""

import numpy as np
import pytest

from homodyn import catalog, dynamics
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import place_on_ground
from homodyn.studio.live_simulation import (
    CONTACT_LAW_NAMES,
    STEPS_PER_SAMPLE,
    HandSpring,
    LiveSimulation,
    SimulationChoices,
    center_of_pressure,
    hand_force,
)
from support.waiting import until

FAST = 1e6


def ball():
    return (
        Assembly("ball")
        .add(sphere("ball", mass=2.0, radius=0.1), joints.free())
        .contact("skin", "ball", "sphere", radius=0.1)
        .model()
    )


def run(model, q, choices, hand=lambda: None):
    samples = []
    live = LiveSimulation(model, q, choices, hand, samples.append)
    live.start()
    assert live.done.wait(60)
    assert not live.error, live.error
    return live, samples


@pytest.mark.parametrize("law", CONTACT_LAW_NAMES)
def test_a_ball_rests_or_falls_with_every_contact_law(law):
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    live, samples = run(
        model, start, SimulationChoices(law, servo_stiffness=0.0, duration=0.5, speed=FAST)
    )
    ground = np.array([sample.ground for sample in samples[10:]])
    weight = 0.0 if law == "none" else 2.0 * 9.81
    np.testing.assert_allclose(ground.mean(axis=0), [0, 0, weight], atol=0.1)
    actor = live.actor("ball")
    assert len(actor.motion.time) == 31
    assert actor.motion.rate == pytest.approx(60.0)
    assert [foot.body for foot in actor.loads.feet] == ([] if law == "none" else ["ball"])


def test_a_push_carries_a_body_and_is_not_part_of_its_torques():
    model = ball()
    hand = HandSpring("ball", np.array([0.1, 0.0, 0.0]), stiffness=100.0)
    choices = SimulationChoices("none", servo_stiffness=0.0, duration=4.0, speed=FAST)
    live, samples = run(model, model.neutral(), choices, lambda: hand)
    actor = live.actor("carried")
    sag = 2.0 * 9.81 / 100.0
    np.testing.assert_allclose(actor.motion.q[-1, :3], [0.1, 0.0, -sag], atol=1e-3)
    np.testing.assert_allclose(samples[-1].push.force, [0, 0, 2 * 9.81], atol=0.05)
    np.testing.assert_allclose([g.ground for g in samples[1:]], 0.0, atol=1e-9)
    np.testing.assert_allclose(actor.loads.tau, 0.0, atol=1e-9)


def test_the_ground_force_balances_the_push_and_acts_at_the_contact():
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    start[:2] = 0.3, -0.2
    hand = HandSpring("ball", start[:3] - [0, 0, 0.01])
    _, samples = run(
        model, start, SimulationChoices(servo_stiffness=0.0, duration=0.5, speed=FAST), lambda: hand
    )
    push = samples[-1].push.force
    assert push[2] == pytest.approx(-10.0, abs=0.5)
    np.testing.assert_allclose(samples[-1].ground, [0, 0, 2 * 9.81 - push[2]], atol=0.01)
    np.testing.assert_allclose(samples[-1].center, [0.3, -0.2, 0.0], atol=1e-3)


def test_a_push_is_limited_by_the_effective_mass_of_its_segment():
    model = catalog.heiman()
    q = place_on_ground(model, model.neutral(), 0.0)
    hand = HandSpring("HandLeft", np.array([0.5, 0.5, 1.0]), stiffness=1e6)
    push, generalized = hand_force(model, q, np.zeros(model.nv), hand)
    away = hand.position - push.position
    rows = dynamics.jacobian(model, q, "HandLeft")
    displacement = rows @ np.linalg.solve(dynamics.mass_matrix(model, q), generalized) / 60**2
    assert 0.0 < displacement @ away <= 0.5 * away @ away
    assert np.linalg.norm(push.force) < 0.01 * hand.stiffness * np.linalg.norm(away)


def test_energy_is_that_of_the_state():
    model = ball()
    choices = SimulationChoices("none", servo_stiffness=0.0, duration=0.2, speed=FAST)
    _, samples = run(model, model.neutral(), choices)
    total = [sample.kinetic + sample.potential for sample in samples]
    assert np.ptp(total) < 0.05
    assert samples[-1].kinetic == pytest.approx(0.5 * 2 * (9.81 * samples[-1].time) ** 2, rel=1e-6)


@pytest.mark.parametrize("law", ["implicit", "event_driven"])
def test_a_stopped_simulation_keeps_the_simulated_part(law):
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    samples = []
    live = LiveSimulation(
        model,
        start,
        SimulationChoices(law, servo_stiffness=0.0, duration=60.0),
        lambda: None,
        samples.append,
    )
    live.start()
    until(lambda: len(samples) > 6, "some looks")
    live.stop()
    assert live.done.wait(10)
    assert live.stopped
    actor = live.actor("stopped")
    assert 6 / 60 <= actor.motion.time[-1] < 5.0
    assert np.isfinite(actor.motion.q).all()
    assert "stopped at" in actor.motion.method


def test_a_simulation_is_not_faster_than_real_time():
    model = ball()
    _, samples = run(
        model, model.neutral(), SimulationChoices("none", servo_stiffness=0.0, duration=0.3)
    )
    assert samples[-1].pace <= 1.01


def test_servos_hold_a_standing_body():
    model = catalog.heiman()
    start = place_on_ground(model, model.neutral(), 0.0)
    live, samples = run(model, start, SimulationChoices(duration=0.1, speed=FAST))
    assert np.abs(live.record.q[-1] - start)[6:].max() < 0.1
    actor = live.actor("standing")
    assert {foot.side for foot in actor.loads.feet} == {"left", "right"}
    total = sum(foot.force[-1] for foot in actor.loads.feet)
    assert 0 < total[2] < 5 * model.mass * 9.81
    assert np.isfinite(actor.loads.power).all()
    assert set(STEPS_PER_SAMPLE) == set(CONTACT_LAW_NAMES)
    assert samples[0].push is None


def test_the_moment_about_the_center_of_pressure_is_vertical():
    force, point = np.array([5.0, -3.0, 100.0]), np.array([0.2, 0.4, 0.0])
    moment = np.cross(point, force) + np.array([0.0, 0.0, 7.0])
    weight = np.array([0.0, 0.0, -120.0])
    np.testing.assert_allclose(center_of_pressure(force, moment, weight), point)
    assert np.isnan(center_of_pressure(0.01 * force, moment, weight)).all()
