"""Fibers over movements, their power and work."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.fiber_history import hill_law
from homodyn.muscle.stimulation import CalciumMuscle
from support import muscled_leg


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build("Millard2012EquilibriumMuscle")


@pytest.fixture(scope="module")
def swing(leg):
    return muscled_leg.swing(leg)


def test_forces_are_those_of_the_tendons(leg, swing):
    levels = np.random.default_rng(1).uniform(0.1, 1, (len(swing.time), len(leg.muscles)))
    found = hd.muscle.fiber_history(swing, levels, excitations=0.4)
    along = (found.active_forces + found.passive_forces).clip(min=0)
    expected = hd.muscle.forces(leg, swing.q, swing.v, levels, tendon="rigid")
    np.testing.assert_allclose(along, expected, atol=1e-6)
    assert (found.excitations == 0.4).all()
    speeds = hd.muscle.lengthening_speeds(leg, swing.q, swing.v)
    np.testing.assert_allclose(found.speeds, speeds, atol=1e-9)
    power = (found.positive_work + found.negative_work).sum()
    assert power == pytest.approx(np.trapezoid(found.powers.sum(axis=1), swing.time))
    assert np.asarray(found["vastus power"]).shape == swing.time.shape
    assert "6 muscles" in found.headline()


def test_static_optimization_has_the_same_fibers(leg, swing):
    loads = muscled_leg.loads(swing)
    result = hd.muscle.static_optimization(swing, loads)
    found = hd.muscle.fiber_history(result)
    assert found.muscles == result.muscles
    again = hd.muscle.fiber_history(swing, result.activations)
    np.testing.assert_allclose(found.norm_lengths, again.norm_lengths, atol=1e-9)
    np.testing.assert_allclose(found.active_forces, again.active_forces, atol=1e-5)
    with pytest.raises(hd.ModelError, match="activations are those of static optimization"):
        hd.muscle.fiber_history(result, 0.1)


def test_refusals(leg, swing):
    with pytest.raises(hd.ModelError, match="activations of the muscles of a motion are needed"):
        hd.muscle.fiber_history(swing)
    bad = np.full((len(swing.time), 6), 0.2)
    bad[3, 2] = 1.2
    message = r"activation of muscle 'vastus' in frame 3 is 1\.2; numbers from 0 to 1"
    with pytest.raises(hd.ModelError, match=message):
        hd.muscle.fiber_history(swing, bad)
    bad[3, 2] = np.nan
    with pytest.raises(hd.ModelError, match="excitation of muscle 'vastus' in frame 3 is nan"):
        hd.muscle.fiber_history(swing, 0.1, bad)
    with pytest.raises(hd.ModelError, match=r"activations have shape \(4,\); 60 frames of 6"):
        hd.muscle.fiber_history(swing, np.zeros(4))
    with pytest.raises(hd.ModelError, match="CalciumMuscle has no fibers"):
        hill_law(replace(leg.muscles[0]), CalciumMuscle())
