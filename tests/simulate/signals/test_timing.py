"""Phases, timers, finite states and pulses against their definitions."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import run
from homodyn.simulate.signals import (
    LONG_AGO_S,
    PhaseVariable,
    Pulse,
    StateMachine,
    Timer,
)

STEP_S = 2e-3


def angle(t, q, v, batch):
    return q[0]


def forward(t, q, v, batch):
    return q[0] > 0


@pytest.fixture(scope="module")
def pendulum():
    return (
        Assembly("pendulum").add(rod("rod", 1, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    )


def simulate(model, signals, duration=2.0, **options):
    return run(model, [0.4], duration=duration, dt=STEP_S, contact=None, signals=signals, **options)


def test_a_phase_grows_by_its_frequency_and_is_reset(pendulum):
    late = lambda t, q, v, batch: t > 1.0001  # noqa: E731
    result = simulate(
        pendulum,
        {"free": PhaseVariable("rate", start=1.25), "reset": PhaseVariable("rate", reset=late)},
        batch_parameters={"rate": 0.8},
    )
    k = int(np.flatnonzero(result.time > 1.0001)[0])
    free = 0.25 + 0.8 * result.time
    distance = np.abs(result.signals["free"] - free % 1)
    assert np.minimum(distance, 1 - distance).max() < 1e-9
    reset = result.signals["reset"]
    assert reset[k] == 0
    assert reset[k - 1] == pytest.approx(0.8 * result.time[k - 1])
    assert reset[-1] == pytest.approx(0.8 * (result.time[-1] - result.time[k]))


def test_a_timer_counts_from_the_begin_of_the_condition(pendulum):
    result = simulate(pendulum, {"since": Timer(lambda t, q, v, batch: q[0] < 0)})
    below = result.q[:, 0] < 0
    begins = np.flatnonzero(below & ~np.append(False, below[:-1]))
    assert len(begins) >= 1
    assert np.all(result.signals["since"][: begins[0]] >= LONG_AGO_S)
    last = np.array([begins[begins <= k].max() for k in range(begins[0], len(below))])
    expected = result.time[begins[0] :] - result.time[last]
    assert np.abs(result.signals["since"][begins[0] :] - expected).max() < 1e-9


def test_finite_states_follow_their_transitions_one_a_step(pendulum):
    machine = StateMachine(
        ("back", "front", "swing"),
        [
            ("back", "front", forward),
            ("front", "swing", lambda t, q, v, batch: v[0] < -0.5),
            ("swing", "back", lambda t, q, v, batch: v[0] > 0.5),
        ],
    )
    result = simulate(pendulum, {"state": machine})
    state, expected = 0, []
    for q, v in zip(result.q[:, 0], result.v[:, 0], strict=True):
        if state == 0 and q > 0:
            state = 1
        elif state == 1 and v < -0.5:
            state = 2
        elif state == 2 and v > 0.5:
            state = 0
        expected.append(state)
    assert set(expected) == {0, 1, 2}
    assert np.array_equal(result.signals["state"], expected)


def test_a_state_machine_refuses_unknown_and_repeated_states():
    with pytest.raises(hd.ModelError, match="no state 'flight'; accepted: stance, swing"):
        StateMachine(("stance", "swing"), [("stance", "flight", forward)])
    with pytest.raises(hd.ModelError, match="repeat"):
        StateMachine(("stance", "stance"), [])


@pytest.mark.parametrize("step", [1e-3, 7e-3, 0.05])
def test_a_pulse_has_the_same_integral_for_all_steps(pendulum, step):
    after = lambda t, q, v, batch: t > 0.2 - 1e-9  # noqa: E731
    result = run(
        pendulum,
        [0.4],
        duration=1.4,
        dt=step,
        contact=None,
        signals={"push": Pulse(after, duration=0.123, delay=0.0456)},
    )
    h = result.time[1]
    assert h * result.signals["push"].sum() == pytest.approx(0.123, abs=1e-12)
    begin = np.flatnonzero(result.signals["push"])[0]
    assert result.time[begin] <= np.ceil(0.2 / h - 1e-6) * h + 0.0456 <= result.time[begin + 1]
