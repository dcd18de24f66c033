"""Metabolic power of movements and states."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle import Bhargava2004, Umberger2010
from support import muscled_leg


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build("DeGrooteFregly2016Muscle")


@pytest.mark.parametrize("cost", [Bhargava2004(), Umberger2010(aerobic_factor=1.2)])
def test_power_of_a_motion_is_that_of_its_states(leg, cost):
    swing = muscled_leg.swing(leg)
    generator = np.random.default_rng(2)
    levels, drives = generator.uniform(0.05, 1, (2, len(swing.time), len(leg.muscles)))
    history = hd.muscle.fiber_history(swing, levels, drives)
    power = hd.muscle.metabolic_power(history, cost)
    states = hd.muscle.metabolic_rates(leg, swing.q, swing.v, levels, drives, cost)
    for name in ("total", "activation", "maintenance", "shortening", "work"):
        found, expected = getattr(power.rates, name), getattr(states, name)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert power.basal == pytest.approx(1.2 * leg.mass)
    np.testing.assert_allclose(power.total, states.total.sum(axis=1) + power.basal)
    assert power.energy == pytest.approx(np.trapezoid(power.total, swing.time))
    muscles = power.energy - power.basal * (swing.time[-1] - swing.time[0])
    assert power.energies.sum() == pytest.approx(muscles)
    assert power.cost_of_transport(2.0) == pytest.approx(power.energy / (2 * leg.mass))
    assert np.asarray(power["total"]).shape == swing.time.shape
    assert "W/kg" in power.headline()


def test_power_of_static_optimization(leg):
    swing = muscled_leg.swing(leg)
    result = hd.muscle.static_optimization(swing, muscled_leg.loads(swing))
    power = hd.muscle.metabolic_power(result)
    assert power.muscles == result.muscles
    assert (power.rates.total > -1e-9).all()
    assert 1.2 < power.mean_per_kg < 100
