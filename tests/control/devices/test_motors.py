"""V33 and V34: times at which sampled voltages act, and the size of the state of the motors."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import GearedMotors, SampledMotors
from homodyn.errors import ModelError

MOTORS = GearedMotors([80.0, 50.0], [0.03, 0.05], [0.5, 0.8], [24.0, 48.0])


def test_v33_voltages_change_a_delay_after_each_call() -> None:
    """Calls every 5 ms; each voltage acts 2 ms later, the first one at once."""
    calls: list[float] = []

    def law(t: float) -> np.ndarray:
        calls.append(t)
        return np.array([float(len(calls))])

    motors = SampledMotors(law, 0.005, 0.002, np.zeros(7))
    changes, before = [], motors.advance(0.0)
    assert before == [1.0]
    for k in range(1, 24):
        t = 1e-3 * k
        now = motors.advance(t)
        if now != before:
            changes.append((round(t, 6), float(now[0])))
        before = now
    np.testing.assert_allclose(calls, [0.0, 0.005, 0.010, 0.015, 0.020], atol=1e-12)
    assert changes == [(0.007, 2.0), (0.012, 3.0), (0.017, 4.0), (0.022, 5.0)]


def test_v33_event_times_are_those_of_calls_and_changes() -> None:
    motors = SampledMotors(lambda t: np.array([t]), 0.005, 0.002, np.zeros(7))
    times = []
    for _ in range(6):
        times.append(motors.next_event)
        motors.advance(motors.next_event)
    np.testing.assert_allclose(times, [0.005, 0.007, 0.010, 0.012, 0.015, 0.017])


def test_a_delay_of_zero_acts_at_once() -> None:
    motors = SampledMotors(lambda t: np.array([t]), 0.005, 0.0, np.zeros(7))
    assert motors.advance(0.005) == [0.005]
    assert motors.next_event == pytest.approx(0.010)


def test_v34_the_state_of_bip_has_53_entries() -> None:
    bip = hd.catalog.bip()
    motors = SampledMotors(lambda t: np.zeros(15), 0.005, 0.002, bip.neutral())
    assert motors.state.to_array().shape == (2 + 2 * 15 + 21,) == (53,)


def test_voltage_and_torque_are_inverse_within_the_largest_voltage() -> None:
    torque, v = np.array([20.0, -12.0]), np.array([0.5, -1.0])
    np.testing.assert_allclose(MOTORS.torque(MOTORS.voltage(torque, v), v), torque)
    assert MOTORS.voltage([1e6, -1e6], [0, 0]).tolist() == [24.0, -48.0]
    # Stall: n k U / R.
    np.testing.assert_allclose(
        MOTORS.torque([1.0, 1.0], [0, 0]), [80 * 0.03 / 0.5, 50 * 0.05 / 0.8]
    )
    slower = MOTORS.torque([1.0, 1.0], v) - MOTORS.torque([1.0, 1.0], [0, 0])
    np.testing.assert_allclose(slower, -MOTORS.damping() * v)


def test_wrong_motors_and_times_are_refused() -> None:
    with pytest.raises(ModelError, match="resistance"):
        GearedMotors([80.0], [0.03], [0.0], [24.0])
    with pytest.raises(ModelError, match="delay of motors"):
        SampledMotors(lambda t: np.zeros(1), 0.005, 0.006, np.zeros(7))
