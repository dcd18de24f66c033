"""Events: none missed within a step, none met twice, and what goes wrong with their functions."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import SimulationOptions, SimulationStatus, StateEvent, rollout, run


@pytest.fixture(scope="module", autouse=True)
def interpreted():
    """Runs of a few steps are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield


def met(ball, *events, duration=0.5, dt=0.5, **options):
    """A run of long steps without contact."""
    q = ball.neutral()
    q[2] = 1.0
    return run(
        ball,
        q,
        None,
        duration,
        dt,
        contact=None,
        options=SimulationOptions(events=events, integrator="rk4", **options),
    )


@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-12])
def test_a_pair_however_close_within_one_step_is_met(ball, depth):
    """(t - t0)^2 = depth: the two lie 2 sqrt(depth) apart in a step of half a second."""
    pair = StateEvent("pair", lambda t, q, v, batch: (t - 0.2345) ** 2 - depth, "both", 1e-15)
    times = [event.time for event in met(ball, pair).events]
    expected = 0.2345 + np.sqrt(depth) * np.array([-1, 1])
    np.testing.assert_allclose(times, expected, atol=1e-3 * np.sqrt(depth))


@pytest.mark.parametrize("frequency", [20.0, 50.0, 100.0])
def test_waves_within_one_step_are_met_at_every_crossing(ball, frequency):
    phases = np.arcsin(0.5) + np.array([[0.0], [np.pi - 2 * np.arcsin(0.5)]])
    crossings = np.sort(np.ravel((phases + 2 * np.pi * np.arange(20) - 0.3) / frequency))
    expected = crossings[(crossings > 0) & (crossings < 0.5)]
    wave = StateEvent(
        "wave", lambda t, q, v, batch: ca.sin(frequency * t + 0.3) - 0.5, "both", 1e-11
    )
    times = [event.time for event in met(ball, wave).events]
    assert len(times) == len(expected) > 3
    np.testing.assert_allclose(times, expected, atol=1e-11)
    up = StateEvent("up", lambda t, q, v, batch: ca.sin(frequency * t + 0.3) - 0.5, "rising", 1e-11)
    np.testing.assert_allclose(
        [event.time for event in met(ball, up).events], expected[::2], atol=1e-11
    )


@pytest.mark.parametrize("seed", range(12))
def test_no_crossing_of_a_smooth_function_is_missed(ball, seed):
    """Sums of waves, up to two and a half of which fit in the one step."""
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

    times = [event.time for event in met(ball, StateEvent("waves", waves, "both", 1e-12)).events]
    assert len(times) == len(expected)
    np.testing.assert_allclose(times, expected, atol=3e-6)


def test_three_close_crossings_are_three(ball):
    close = StateEvent("three", lambda t, q, v, batch: 1e3 * (t - 0.1) * (t - 0.11) * (t - 0.12))
    times = [event.time for event in met(ball, close).events]
    np.testing.assert_allclose(times, [0.1, 0.11, 0.12], atol=1e-7)


def test_events_at_one_time_all_happen(ball):
    events = [
        StateEvent("a", lambda t, q, v, batch: t - 0.25),
        StateEvent("b", lambda t, q, v, batch: 2 * (t - 0.25), "rising"),
        StateEvent("c", lambda t, q, v, batch: 0.25 - t, "falling"),
        StateEvent("never", lambda t, q, v, batch: 0.25 - t, "rising"),
    ]
    happened = met(ball, *events).events
    assert sorted(event.name for event in happened) == ["a", "b", "c"]
    np.testing.assert_allclose([event.time for event in happened], 0.25, atol=2e-9)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-9])
def test_a_crossing_is_landed_on_beyond_zero_and_met_once(ball, tolerance):
    """A wide tolerance may be met before the zero is; short steps then must not meet it again."""
    low = StateEvent("low", lambda t, q, v, batch: q[2] - 0.7, "both", tolerance)
    fell = met(ball, low, dt=1e-3)
    (event,) = fell.events
    assert -tolerance <= event.value <= 0
    assert event.time == pytest.approx(np.sqrt(0.6 / 9.81), abs=tolerance)
    # A function that reaches zero and stays there is met once as well.
    floor = StateEvent("floor", lambda t, q, v, batch: ca.fmax(q[2] - 0.7, 0.0), "both", tolerance)
    assert len(met(ball, floor, dt=1e-3).events) == 1


def test_a_jump_of_the_function_is_located_in_time(ball):
    step = StateEvent("step", lambda t, q, v, batch: ca.sign(q[2] - 0.7))
    (event,) = met(ball, step, dt=0.1).events
    assert event.time == pytest.approx(np.sqrt(0.6 / 9.81), abs=1e-12)


def test_what_an_action_moves_across_is_not_met(ball):
    """Lifted back above by the action of another, the height is passed again, and then met."""
    events = [
        StateEvent("lift", lambda t, q, v, batch: t - 0.2, "rising", 1e-12,
              lambda t, q, v, batch: {"q": np.r_[q[:2], 1.0, q[3:]], "v": np.zeros(6)}),
        StateEvent("low", lambda t, q, v, batch: q[2] - 0.9, "both", 1e-9),
    ]  # fmt: skip
    happened = met(ball, *events, duration=0.4, dt=0.1).events
    fall = np.sqrt(0.2 / 9.81)
    assert [event.name for event in happened] == ["low", "lift", "low"]
    np.testing.assert_allclose([e.time for e in happened], [fall, 0.2, 0.2 + fall], atol=1e-8)


def test_functions_that_are_no_number_or_many_are_told(ball):
    lost = met(ball, StateEvent("log", lambda t, q, v, batch: ca.log(q[2] - 0.5)), dt=0.05)
    assert lost.status is SimulationStatus.NOT_FINITE
    assert "event 'log' is not a finite number" in lost.message
    assert lost.q[-1, 2] > 0.5
    with pytest.raises(hd.ModelError, match="'many' gives 7 x 1 numbers; one is needed"):
        met(ball, StateEvent("many", lambda t, q, v, batch: q))


def test_energy_that_actions_bring_is_booked_with_that_of_springs():
    made = Assembly("sprung").add(
        sphere("ball", 1.0, 0.1), joints.prismatic("x", stiffness=100.0, damping=0.5)
    )
    model = made.model()
    pull = StateEvent(
        "pull", lambda t, q, v, batch: t - 0.5, "rising", 1e-9,
        lambda t, q, v, batch: {"q": q + 0.1, "v": 0.5 * v},
    )  # fmt: skip
    pulled = run(
        model,
        [0.1],
        None,
        1.0,
        1e-2,
        contact=None,
        options=SimulationOptions(events=[pull], integrator="rk4"),
    )
    books, (event,) = pulled.energy, pulled.events
    x, v = event.q[0], event.v[0]
    brought = 50 * ((x + 0.1) ** 2 - x**2) + ((0.5 * v) ** 2 - v**2) / 2
    assert books.events[-1] == pytest.approx(brought, rel=1e-9)
    # Dampers go on taking energy; what the action brought is none of theirs.
    assert np.all(np.diff(books.dissipated) > 0)
    lost = np.trapezoid(0.5 * pulled.v[:, 0] ** 2, pulled.time)
    assert books.dissipated[-1] == pytest.approx(lost, rel=0.02)
    assert np.abs(books.error).max() < 1e-4


def test_lanes_end_on_a_pair_of_crossings_within_one_step(ball):
    """Thrown through a height and back in one step of 0.1 s, from three heights."""
    q = np.tile(ball.neutral(), (3, 1))
    v = np.zeros((3, 6))
    v[:, 2] = 9.81 * 0.05
    top = 9.81 * 0.05**2 / 2
    q[:, 2] = 1.0 + np.array([-2e-3, -1e-4, 1e-4])
    high = StateEvent("high", lambda t, q, v, batch: q[2] - (1.0 + top), "rising", action="end")
    for way in ("rising", "falling", "both"):
        event = StateEvent("high", high.function, way, action="end")
        thrown = rollout(
            ball,
            q,
            v,
            0.1,
            0.1,
            contact=None,
            options=SimulationOptions(integrator="rk4", events=[event]),
        )
        assert list(thrown.status) == [0, 0, 1]
