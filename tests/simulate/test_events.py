"""Events: location of all zero crossings, actions, and invalid functions."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import SimulationStatus, StateEvent, rollout, run

pytestmark = pytest.mark.usefixtures("interpreted")


def run_with_events(ball, *events, duration=0.5, dt=0.5, **options):
    """A run with long steps and without contact."""
    q = ball.neutral()
    q[2] = 1.0
    return run(
        ball, q, None, duration, dt, contact=None, events=events, integrator="rk4", **options
    )


@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-12])
def test_two_close_crossings_within_one_step_are_located(ball, depth):
    """(t - t0)^2 = depth: the crossings are 2 sqrt(depth) apart in a step of 0.5 s."""
    pair = StateEvent("pair", lambda t, q, v, batch: (t - 0.2345) ** 2 - depth, "both", 1e-15)
    times = [event.time for event in run_with_events(ball, pair).events]
    expected = 0.2345 + np.sqrt(depth) * np.array([-1, 1])
    np.testing.assert_allclose(times, expected, atol=1e-3 * np.sqrt(depth))


@pytest.mark.parametrize("frequency", [20.0, 50.0, 100.0])
def test_every_crossing_of_a_wave_within_one_step_is_located(ball, frequency):
    phases = np.arcsin(0.5) + np.array([[0.0], [np.pi - 2 * np.arcsin(0.5)]])
    crossings = np.sort(np.ravel((phases + 2 * np.pi * np.arange(20) - 0.3) / frequency))
    expected = crossings[(crossings > 0) & (crossings < 0.5)]
    wave = StateEvent(
        "wave", lambda t, q, v, batch: ca.sin(frequency * t + 0.3) - 0.5, "both", 1e-11
    )
    times = [event.time for event in run_with_events(ball, wave).events]
    assert len(times) == len(expected) > 3
    np.testing.assert_allclose(times, expected, atol=1e-11)
    up = StateEvent("up", lambda t, q, v, batch: ca.sin(frequency * t + 0.3) - 0.5, "rising", 1e-11)
    np.testing.assert_allclose(
        [event.time for event in run_with_events(ball, up).events], expected[::2], atol=1e-11
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_crossing_of_a_smooth_function_is_missed(ball, seed):
    """Sums of waves, with up to 2.5 periods in one step."""
    rng = np.random.default_rng(seed)
    size, frequency, phase = rng.normal(size=3), rng.uniform(2, 30, 3), rng.uniform(0, 6, 3)
    level = 0.3 * rng.normal()
    t = np.linspace(0, 0.5, 200_001)
    values = np.sin(np.outer(t, frequency) + phase) @ size + level
    expected = t[:-1][values[1:] * values[:-1] < 0]

    def waves(t, q, v, batch):
        return level + sum(
            float(a) * ca.sin(float(w) * t + float(p))
            for a, w, p in zip(size, frequency, phase, strict=True)
        )

    times = [
        event.time
        for event in run_with_events(ball, StateEvent("waves", waves, "both", 1e-12)).events
    ]
    assert len(times) == len(expected)
    np.testing.assert_allclose(times, expected, atol=3e-6)


def test_three_close_crossings_are_located(ball):
    close = StateEvent("three", lambda t, q, v, batch: 1e3 * (t - 0.1) * (t - 0.11) * (t - 0.12))
    times = [event.time for event in run_with_events(ball, close).events]
    np.testing.assert_allclose(times, [0.1, 0.11, 0.12], atol=1e-7)


def test_simultaneous_events_all_occur(ball):
    events = [
        StateEvent("a", lambda t, q, v, batch: t - 0.25),
        StateEvent("b", lambda t, q, v, batch: 2 * (t - 0.25), "rising"),
        StateEvent("c", lambda t, q, v, batch: 0.25 - t, "falling"),
        StateEvent("never", lambda t, q, v, batch: 0.25 - t, "rising"),
    ]
    occurred = run_with_events(ball, *events).events
    assert sorted(event.name for event in occurred) == ["a", "b", "c"]
    np.testing.assert_allclose([event.time for event in occurred], 0.25, atol=2e-9)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_a_crossing_is_located_beyond_zero_and_once(ball, tolerance):
    """Short steps after a crossing within a wide tolerance must not locate it again."""
    low = StateEvent("low", lambda t, q, v, batch: q[2] - 0.7, "both", tolerance)
    result = run_with_events(ball, low, dt=1e-3)
    (event,) = result.events
    assert -tolerance <= event.value <= 0
    assert event.time == pytest.approx(np.sqrt(0.6 / 9.81), abs=tolerance)
    # A function that reaches zero and stays there gives one event.
    floor = StateEvent("floor", lambda t, q, v, batch: ca.fmax(q[2] - 0.7, 0.0), "both", tolerance)
    assert len(run_with_events(ball, floor, dt=1e-3).events) == 1


def test_a_jump_of_the_function_is_located_in_time(ball):
    step = StateEvent("step", lambda t, q, v, batch: ca.sign(q[2] - 0.7))
    (event,) = run_with_events(ball, step, dt=0.1).events
    assert event.time == pytest.approx(np.sqrt(0.6 / 9.81), abs=1e-12)


def test_actions_do_not_cause_crossings(ball):
    """An action lifts the ball above the level, which it then crosses again."""
    events = [
        StateEvent("lift", lambda t, q, v, batch: t - 0.2, "rising", 1e-12,
              lambda t, q, v, batch: {"q": np.r_[q[:2], 1.0, q[3:]], "v": np.zeros(6)}),
        StateEvent("low", lambda t, q, v, batch: q[2] - 0.9, "both", 1e-9),
    ]  # fmt: skip
    occurred = run_with_events(ball, *events, duration=0.4, dt=0.1).events
    fall = np.sqrt(0.2 / 9.81)
    assert [event.name for event in occurred] == ["low", "lift", "low"]
    np.testing.assert_allclose([e.time for e in occurred], [fall, 0.2, 0.2 + fall], atol=1e-8)


def test_invalid_event_functions_are_reported(ball):
    result = run_with_events(
        ball, StateEvent("log", lambda t, q, v, batch: ca.log(q[2] - 0.5)), dt=0.05
    )
    assert result.status is SimulationStatus.NOT_FINITE
    assert "event 'log' is not finite" in result.message
    assert result.q[-1, 2] > 0.5
    with pytest.raises(hd.ModelError, match="'many' returns 7 x 1 numbers; one is needed"):
        run_with_events(ball, StateEvent("many", lambda t, q, v, batch: q))


def test_the_energy_of_actions_is_in_the_energy_balance():
    assembly = Assembly("spring").add(
        sphere("ball", 1.0, 0.1), joints.prismatic("x", stiffness=100.0, damping=0.5)
    )
    model = assembly.model()
    pull = StateEvent(
        "pull", lambda t, q, v, batch: t - 0.5, "rising", 1e-9,
        lambda t, q, v, batch: {"q": q + 0.1, "v": 0.5 * v},
    )  # fmt: skip
    result = run(model, [0.1], None, 1.0, 1e-2, contact=None, events=[pull], integrator="rk4")
    energy, (event,) = result.energy, result.events
    x, v = event.q[0], event.v[0]
    added = 50 * ((x + 0.1) ** 2 - x**2) + ((0.5 * v) ** 2 - v**2) / 2
    assert energy.events[-1] == pytest.approx(added, rel=1e-9)
    # Dampers continue to dissipate; the energy of the action does not count as dissipated.
    assert np.all(np.diff(energy.dissipated) > 0)
    loss = np.trapezoid(0.5 * result.v[:, 0] ** 2, result.time)
    assert energy.dissipated[-1] == pytest.approx(loss, rel=0.02)
    assert np.abs(energy.error).max() < 1e-4


def test_batch_elements_end_at_a_pair_of_crossings_within_one_step(ball):
    """Balls that pass a height upwards and downwards in one step of 0.1 s."""
    q = np.tile(ball.neutral(), (3, 1))
    v = np.zeros((3, 6))
    v[:, 2] = 9.81 * 0.05
    top = 9.81 * 0.05**2 / 2
    q[:, 2] = 1.0 + np.array([-2e-3, -1e-4, 1e-4])
    high = StateEvent("high", lambda t, q, v, batch: q[2] - (1.0 + top), "rising", action="end")
    for direction in ("rising", "falling", "both"):
        event = StateEvent("high", high.function, direction, action="end")
        result = rollout(ball, q, v, 0.1, 0.1, contact=None, integrator="rk4", events=[event])
        assert list(result.status) == [0, 0, 1]


def test_an_event_ends_a_run_at_lift_off(ball):
    q = ball.neutral()
    q[2] = 0.0995
    v = np.zeros(6)
    v[2] = 1.0
    event = StateEvent("lift-off", lambda t, q, v, batch: q[2] - 0.1, "rising", 1e-12, "end")
    result = run(ball, q, v, 1.0, contact="soft", events=[event])
    assert result.status is SimulationStatus.ENDED
    assert result.q[-1, 2] == pytest.approx(0.1, abs=1e-12)


def test_a_sequence_of_bounces_follows_from_its_restitution(ball):
    e, drop = 0.8, 0.4

    def bounce(t, q, v, batch):
        return {"v": np.r_[v[:2], -e * v[2], v[3:]]}

    ground = StateEvent("ground", lambda t, q, v, batch: q[2] - 0.1, "falling", 1e-10, bounce)
    q = ball.neutral()
    q[2] = 0.1 + drop
    result = run(ball, q, None, 2.2, 1e-2, contact=None, events=[ground], integrator="rk4")
    first = np.sqrt(2 * drop / 9.81)
    expected = first * np.r_[1.0, 1 + 2 * np.cumsum(e ** np.arange(1, 8))]
    times = np.array([event.time for event in result.events])[:8]
    np.testing.assert_allclose(times, expected, atol=1e-8)
    assert all(abs(event.value) <= 1e-10 for event in result.events)
    assert abs(result.energy.error[-1]) < 1e-9


def test_two_crossings_within_one_step_are_located(ball):
    """A ball passes a height upwards and downwards within one step of 0.4 s."""
    q = ball.neutral()
    v = np.zeros(6)
    v[2] = 9.81 * 0.2
    top = 9.81 * 0.2**2 / 2
    events = [
        StateEvent("up", lambda t, q, v, batch: q[2] - (top - 1e-3), "rising", 1e-11),
        StateEvent("down", lambda t, q, v, batch: q[2] - (top - 1e-3), "falling", 1e-11),
    ]
    result = run(ball, q, v, 0.4, 0.4, contact=None, events=events, integrator="rk4")
    early = 0.2 - np.sqrt(2e-3 / 9.81)
    assert [event.name for event in result.events] == ["up", "down"]
    assert result.events[0].time == pytest.approx(early, abs=1e-9)
    assert result.events[1].time == pytest.approx(0.4 - early, abs=1e-9)


def test_a_function_that_does_not_cross_zero_gives_no_event(ball):
    q = ball.neutral()
    v = np.zeros(6)
    v[2] = 9.81 * 0.2
    top = 9.81 * 0.2**2 / 2
    above = StateEvent("above", lambda t, q, v, batch: q[2] - (top + 1e-6), "both", 1e-9)
    result = run(ball, q, v, 0.4, 0.1, contact=None, events=[above], integrator="rk4")
    assert result.events == ()


def test_actions_change_batch_parameters(pendulum):
    """Events switch a torque on and off with the side of the rod."""

    def drive(t, q, v, batch):
        return ca.vertcat(0.5 * batch["on"])

    events = [
        StateEvent("out", lambda t, q, v, batch: q[0], "rising", 1e-9, lambda *_: {"on": 1.0}),
        StateEvent("back", lambda t, q, v, batch: q[0], "falling", 1e-9, lambda *_: {"on": 0.0}),
    ]
    result = run(
        pendulum,
        [-0.2],
        None,
        4.0,
        1e-2,
        contact=None,
        actuation=drive,
        events=events,
        integrator="rk4",
        batch_parameters={"on": 0.0},
    )
    assert {event.name for event in result.events} == {"out", "back"}
    acting = result.torques[:, 0] > 0
    clear = np.abs(result.q[:, 0]) > 1e-6
    assert np.array_equal(acting[clear], result.q[clear, 0] > 0)
    assert result.energy.error[-1] == pytest.approx(0, abs=1e-6)


def test_events_without_end_stall(ball):
    endless = StateEvent(
        "endless", lambda t, q, v, batch: t - batch["next"], "rising", 1e-12,
        lambda t, q, v, batch: {"next": t + 1e-5},
    )  # fmt: skip
    result = run(
        ball,
        ball.neutral(),
        None,
        0.02,
        1e-3,
        contact=None,
        events=[endless],
        batch_parameters={"next": 1e-5},
    )
    assert result.status is SimulationStatus.STALLED
    assert "endless" in result.message


def test_an_invalid_direction_is_refused():
    with pytest.raises(hd.ModelError, match="rising, falling, both"):
        StateEvent("x", lambda t, q, v, batch: t, "up")
