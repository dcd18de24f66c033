"""A body that is let go and pushed: all laws, forces that add up, and an end when asked."""

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
    SimulationSample,
    center_of_pressure,
    hand_force,
)
from homodyn.studio.panels.simulate import SimulatePanel, moving
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
def test_every_law_lets_a_ball_rest_or_fall(law):
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    live, samples = run(model, start, SimulationChoices(law, hold=0.0, duration=0.5, speed=FAST))
    ground = np.array([sample.ground for sample in samples[10:]])
    weight = 0.0 if law == "none" else 2.0 * 9.81
    np.testing.assert_allclose(ground.mean(axis=0), [0, 0, weight], atol=0.1)
    actor = live.actor("ball")
    assert len(actor.motion.time) == 31
    assert actor.motion.rate == pytest.approx(60.0)
    assert [foot.body for foot in actor.loads.feet] == ([] if law == "none" else ["ball"])


def test_a_hand_carries_what_it_holds_and_is_no_torque_of_the_result():
    model = ball()
    hand = HandSpring("ball", np.array([0.1, 0.0, 0.0]), stiffness=100.0)
    choices = SimulationChoices("none", hold=0.0, duration=4.0, speed=FAST)
    live, samples = run(model, model.neutral(), choices, lambda: hand)
    actor = live.actor("held")
    sag = 2.0 * 9.81 / 100.0
    np.testing.assert_allclose(actor.motion.q[-1, :3], [0.1, 0.0, -sag], atol=1e-3)
    np.testing.assert_allclose(samples[-1].push.force, [0, 0, 2 * 9.81], atol=0.05)
    np.testing.assert_allclose([g.ground for g in samples[1:]], 0.0, atol=1e-9)
    np.testing.assert_allclose(actor.loads.tau, 0.0, atol=1e-9)


def test_the_force_of_the_ground_balances_the_hand_and_acts_where_the_body_stands():
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    start[:2] = 0.3, -0.2
    hand = HandSpring("ball", start[:3] - [0, 0, 0.01])
    _, samples = run(
        model, start, SimulationChoices(hold=0.0, duration=0.5, speed=FAST), lambda: hand
    )
    push = samples[-1].push.force
    assert push[2] == pytest.approx(-10.0, abs=0.5)
    np.testing.assert_allclose(samples[-1].ground, [0, 0, 2 * 9.81 - push[2]], atol=0.01)
    np.testing.assert_allclose(samples[-1].center, [0.3, -0.2, 0.0], atol=1e-3)


def test_a_hand_stays_below_what_a_light_segment_bears():
    model = catalog.heiman()
    q = place_on_ground(model, model.neutral(), 0.0)
    hand = HandSpring("HandLeft", np.array([0.5, 0.5, 1.0]), stiffness=1e6)
    push, generalised = hand_force(model, q, np.zeros(model.nv), hand)
    away = hand.place - push.place
    rows = dynamics.jacobian(model, q, "HandLeft")
    moved = rows @ np.linalg.solve(dynamics.mass_matrix(model, q), generalised) / 60**2
    assert 0.0 < moved @ away <= 0.5 * away @ away
    assert np.linalg.norm(push.force) < 0.01 * hand.stiffness * np.linalg.norm(away)


def test_energy_is_that_of_the_state():
    model = ball()
    choices = SimulationChoices("none", hold=0.0, duration=0.2, speed=FAST)
    _, samples = run(model, model.neutral(), choices)
    total = [sample.kinetic + sample.potential for sample in samples]
    assert np.ptp(total) < 0.05
    assert samples[-1].kinetic == pytest.approx(0.5 * 2 * (9.81 * samples[-1].time) ** 2, rel=1e-6)


@pytest.mark.parametrize("law", ["implicit", "event_driven"])
def test_a_run_ends_when_asked_and_keeps_what_was_simulated(law):
    model = ball()
    start = place_on_ground(model, model.neutral(), 0.0)
    samples = []
    live = LiveSimulation(
        model, start, SimulationChoices(law, hold=0.0, duration=60.0), lambda: None, samples.append
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


def test_time_runs_no_faster_than_the_wall_clock():
    model = ball()
    _, samples = run(model, model.neutral(), SimulationChoices("none", hold=0.0, duration=0.3))
    assert samples[-1].pace <= 1.01


def test_a_standing_body_is_held_by_its_servos():
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


def test_pressure_is_where_the_moment_has_no_level_part():
    force, point = np.array([5.0, -3.0, 100.0]), np.array([0.2, 0.4, 0.0])
    moment = np.cross(point, force) + np.array([0.0, 0.0, 7.0])
    weight = np.array([0.0, 0.0, -120.0])
    np.testing.assert_allclose(center_of_pressure(force, moment, weight), point)
    assert np.isnan(center_of_pressure(0.01 * force, moment, weight)).all()


def test_a_run_that_cannot_begin_gives_its_reason_and_another_try(studio):
    panel = studio.layout.panel(SimulatePanel)
    said = []
    studio.notify = lambda title, sentence, color=None: said.append(sentence)
    panel.friction.value = -1.0
    panel.start()
    until(lambda: said, "a refusal")
    assert "friction" in said[0]
    assert "negative" in said[0]
    assert panel.live is None
    assert panel.go.visible
    assert not panel.end.visible
    assert not studio.session.document.actor.posed


@pytest.mark.parametrize(
    ("pace", "speed", "words"),
    [
        (0.99, 1.0, ""),
        (0.24, 0.25, ""),
        (0.05, 1.0, "takes about 3 minutes"),
        (0.5, 1.0, "takes about 18 s"),
    ],
)
def test_a_run_that_cannot_keep_up_says_how_long_it_takes(pace, speed, words):
    sample = SimulationSample(1.0, np.zeros(1), np.zeros(3), np.zeros(3), 0.0, 0.0, None, pace)
    told = moving("walker", sample, SimulationChoices(duration=10.0, speed=speed), stopped=False)
    assert f"1.0 s, {pace:.2f} × real time" in told
    assert (words in told) if words else ("slower" not in told)
    assert "stops at 1.0 s" in moving("walker", sample, SimulationChoices(), stopped=True)
