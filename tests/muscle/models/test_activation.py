"""Activation dynamics."""

import numpy as np
import pytest

from homodyn.muscle.models import activation_rate


def settle(excitation, activation, duration, step=1e-4):
    for _ in range(round(duration / step)):
        activation += step * float(activation_rate(excitation, activation))
    return activation


def test_activation_follows_excitation():
    assert float(activation_rate(0.4, 0.4)) == 0
    assert settle(1.0, 0.0, 0.5) == pytest.approx(1, abs=1e-3)
    assert settle(0.0, 1.0, 1.0) == pytest.approx(0, abs=1e-2)


def test_rates_are_those_of_the_time_constants():
    # tanh(0.1 (e - a)) is nearly 0 for e, a in 0 to 1: the mean of both rates.
    up, level = 1 / (0.015 * 0.5), 0.5 / 0.06
    weight = 0.5 * np.tanh(0.1)
    expected = (0.5 + weight) * up + (0.5 - weight) * level
    assert float(activation_rate(1.0, 0.0)) == pytest.approx(expected)
    faster = activation_rate(1.0, 0.0, activation_time=0.01)
    assert faster > activation_rate(1.0, 0.0)
