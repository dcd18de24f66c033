"""Command signal and recruitment (V25, V29)."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.stimulation import CalciumPhase, CommandSignal, charge_for, recruitment_rate


def values(function, times):
    return np.array([float(function(t)) for t in times])


def test_v25_recruitment_rates():
    charges = [0, 0.25, 0.5, 0.75, 1]
    expected = [0, 0.070104, 0.5, 0.929896, 1]
    np.testing.assert_allclose(values(recruitment_rate, charges), expected, atol=1e-6)


def test_charges_recruit_what_is_asked():
    rates = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    charges = values(charge_for, rates)
    np.testing.assert_allclose(values(recruitment_rate, charges), rates, atol=1e-12)
    np.testing.assert_allclose(charges[[0, 2, 4]], [0, 0.5, 1], atol=1e-12)
    np.testing.assert_allclose(values(charge_for, [-3, 7]), [0, 1], atol=1e-12)


def test_v29_phases_of_one_impulse_are_exact():
    command = CommandSignal()
    assert command.delay_s == 0.05
    # An impulse at 0 acts from 50 ms on, relaxes from 70 ms on and is over at 80 ms.
    times = np.array([0.0, 0.0499, 0.05, 0.0699, 0.07, 0.0799, 0.08, 5.0])
    phases = values(command.phase, times - command.delay_s)
    np.testing.assert_array_equal(phases, [0, 0, 2, 2, 1, 1, 0, 0])
    assert CalciumPhase(int(phases[2])) is CalciumPhase.STIMULATION


def test_the_ramp_falls_linearly_and_the_step_at_once():
    times = np.array([-0.01, 0.0, 0.019, 0.0225, 0.025, 0.0275, 0.03, 1.0])
    ramp = values(CommandSignal().level, times)
    np.testing.assert_allclose(ramp, [-5, 5, 5, 2.5, 0, -2.5, -5, -5], atol=2e-6)
    step = values(CommandSignal(profile="step").level, times)
    np.testing.assert_array_equal(step, [-5, 5, 5, -5, -5, -5, -5, -5])


def test_refusals():
    with pytest.raises(hd.ModelError, match="no profile 'sine'; accepted: ramp, step"):
        CommandSignal(profile="sine")
    with pytest.raises(hd.ModelError, match="levels of a command signal must be positive"):
        CommandSignal(relaxation_level=0.0)
    with pytest.raises(hd.ModelError, match="times of a command signal must not be negative"):
        CommandSignal(delay_s=np.nan)
