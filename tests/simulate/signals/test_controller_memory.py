"""Signals with memory against the same laws written as plain loops over the recorded states."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import StateEvent, rollout, run
from homodyn.simulate.signals import (
    Delay,
    DynamicState,
    ForceFeedback,
    Hold,
    LowPass,
    PhaseVariable,
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


def test_a_low_pass_filter_is_the_exact_solution_for_held_inputs(pendulum):
    result = simulate(pendulum, {"slow": LowPass(angle, 0.1)})
    expected, y = [], result.q[0, 0]
    for x in result.q[:, 0]:
        expected.append(y)
        y = x + np.exp(-STEP_S / 0.1) * (y - x)
    assert np.abs(result.signals["slow"] - expected).max() < 1e-13


@pytest.mark.parametrize("time", [0.0, 0.01, 0.0133, 0.02, 0.5])
def test_a_delay_interpolates_past_inputs(pendulum, time):
    result = simulate(
        pendulum, {"late": Delay(angle, "delay", max_steps=10)}, batch_parameters={"delay": time}
    )
    past = np.maximum(result.time - min(time, 10 * STEP_S), 0.0)
    assert (
        np.abs(result.signals["late"] - np.interp(past, result.time, result.q[:, 0])).max() < 1e-9
    )


def test_a_delay_of_several_numbers_keeps_their_order(pendulum):
    both = lambda t, q, v, batch: ca.vertcat(q[0], v[0])  # noqa: E731
    result = simulate(pendulum, {"late": Delay(both, 3 * STEP_S, max_steps=5)})
    expected = np.column_stack([result.q[:, 0], result.v[:, 0]])
    assert np.abs(result.signals["late"][3:] - expected[:-3]).max() < 1e-9


def test_a_delay_of_one_step_is_the_last_input(pendulum):
    result = simulate(pendulum, {"late": Delay(angle, 1.0, max_steps=1)})
    assert np.array_equal(result.signals["late"][1:], result.q[:-1, 0])


def test_hold_keeps_the_input_of_the_last_time_the_condition_held(pendulum):
    result = simulate(pendulum, {"kept": Hold(lambda t, q, v, batch: v[0], forward)})
    expected, kept = [], result.v[0, 0]
    for q, v in zip(result.q[:, 0], result.v[:, 0], strict=True):
        kept = v if q > 0 else kept
        expected.append(kept)
    assert np.array_equal(result.signals["kept"], expected)


def test_a_dynamic_state_follows_its_rate(pendulum):
    result = simulate(
        pendulum,
        {
            "x": DynamicState(
                [1.0, 0.0], lambda t, q, v, batch, x: ca.vertcat(x[1], -9 * x[0] + q[0])
            )
        },
    )
    x = np.array([1.0, 0.0])
    for k, q in enumerate(result.q[:, 0]):
        assert np.abs(result.signals["x"][k] - x).max() < 1e-9
        x = x + STEP_S * np.array([x[1], -9 * x[0] + q])


def test_force_feedback_is_the_force_of_the_last_step():
    model = hd.catalog.coman()
    q = hd.simulate.place_on_ground(model, model.neutral())
    foot = model.contacts[0].name
    result = run(model, q, duration=0.05, dt=1e-3, signals={"force": ForceFeedback(foot)})
    names = [k for k, name in enumerate(result.contact_names) if name.split(" on ")[0] == foot]
    assert names
    force = result.forces[:, names].sum(axis=1)
    assert np.abs(force).max() > 1
    assert np.allclose(result.signals["force"][1:], force[:-1], atol=1e-6)
    assert not result.signals["force"][0].any()


def test_signals_are_equal_in_runs_with_events_and_in_rollouts(pendulum):
    signals = {"slow": LowPass(angle, 0.1), "phase": PhaseVariable(1.3), "front": Timer(forward)}
    kernel = simulate(pendulum, signals, compiled=True)
    far = StateEvent("never", lambda t, q, v, batch: q[0] + 10.0)
    stepped = simulate(pendulum, signals, events=[far])
    batch = rollout(
        pendulum,
        np.array([[0.1], [0.4], [0.7]]),
        duration=2.0,
        dt=STEP_S,
        contact=None,
        signals=signals,
        recorded_quantities=("signals",),
    )
    for name, values in kernel.signals.items():
        assert np.array_equal(batch.records["signals"][name][1], values)
        assert np.allclose(stepped.signals[name], values, rtol=1e-9, atol=1e-9)
