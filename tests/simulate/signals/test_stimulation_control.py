"""The queue of delayed impulses (V29, V30)."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.stimulation import CommandSignal
from homodyn.simulate import run
from homodyn.simulate.signals import StimulationControl
from support import stimulated_knee


@pytest.fixture(scope="module")
def knee():
    return stimulated_knee.build()


def last_impulses(knee, control, duration=0.3, dt=1e-3):
    """Times and charges of the last impulses of the first muscle, by time."""
    result = run(
        knee, [0.5], duration=duration, dt=dt, contact=None, signals={"s": control}, compiled=False
    )
    return result.time, result.signals["s"]


def test_v29_an_impulse_acts_after_its_delay(knee):
    def once(t, q, v, batch):
        return hd.spatial.stack(t < 0.001, 0.0)

    command = CommandSignal()
    time, column = last_impulses(knee, StimulationControl(once, 0.04, command), 0.12)
    phases = np.array(
        [float(command.phase(t - begun)) for t, begun in zip(time, column[:, 0], strict=True)]
    )
    changes = np.flatnonzero(np.diff(phases)) + 1
    np.testing.assert_allclose(time[changes], [0.05, 0.07, 0.08], atol=1e-9)
    np.testing.assert_array_equal(phases[changes], [2, 1, 0])
    # Afterwards its clock stays in the past.
    assert (column[time > 0.0501, 0] == 0.05).all()


@pytest.mark.parametrize("period", [0.01, 0.02, 0.03, 0.07])
def test_v30_impulses_leave_the_queue_in_the_order_of_their_calls(knee, period):
    def clock(t, q, v, batch):
        return hd.spatial.stack(0.1 + t, 0.0)

    control = StimulationControl(clock, period)
    waiting = int(np.ceil(0.05 / period)) + 1
    assert control.queue_size == waiting
    time, column = last_impulses(knee, control)
    begun = column[:, 0]
    acting = begun > 0
    np.testing.assert_allclose(begun[acting] - 0.05 + 0.1, column[acting, 2], atol=1e-9)
    calls = period * np.arange(int(0.25 / period + 1e-9) + 1)
    np.testing.assert_allclose(np.unique(begun[acting].round(9)), calls + 0.05, atol=1e-9)
    late = time - begun
    assert late[acting].max() < period - 0.5e-3
    # The second muscle is never stimulated.
    assert (column[:, 1] < -1e8).all()


def test_an_impulse_of_zero_leaves_its_muscle_as_it_is(knee):
    def alternating(t, q, v, batch):
        early = t < 0.015
        return hd.spatial.stack(0.5 * early, 0.8 * (1 - early))

    _, column = last_impulses(knee, StimulationControl(alternating, 0.02), 0.1)
    np.testing.assert_allclose(column[-1], [0.05, 0.09, 0.5, 0.8], atol=1e-9)


def test_charges_are_limited(knee):
    def wild(t, q, v, batch):
        return hd.spatial.stack(7.0, -3.0)

    _, column = last_impulses(
        knee, StimulationControl(wild, 0.02, CommandSignal(delay_s=0.0)), 0.01
    )
    np.testing.assert_allclose(column[0], [0.0, -1e9, 1.0, 0.0])


def test_a_period_above_zero_is_needed():
    with pytest.raises(hd.ModelError, match=r"a period above zero is needed \(s\), got 0"):
        StimulationControl("law", 0.0)
