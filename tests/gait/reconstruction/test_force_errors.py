"""Errors of ground forces, and the plain estimate by the center of mass."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait.contact_schedule import contact_phases
from homodyn.gait.reconstruction import center_of_mass_forces, force_errors
from homodyn.motion import Side

WEIGHT = 70 * 9.81


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70
    ).truth


@pytest.fixture(scope="module")
def phases(walk):
    return contact_phases(walk.motion, events=walk.events)


def inside(walk, phases):
    time = walk.motion.time
    return (time > phases[0].begin) & (time < phases[-1].end)


def test_measured_forces_have_no_error_and_shifted_ones_have_it(walk, phases):
    chosen = inside(walk, phases)
    true = {side: next(f for f in walk.loads.feet if f.side is side).force[chosen] for side in Side}
    for error in force_errors(walk.motion.time[chosen], true, phases, walk.loads):
        assert np.abs(error.rms).max() < 1e-9
    off = {side: force + np.array([10.0, 0.0, -5.0]) for side, force in true.items()}
    found = {e.side: e for e in force_errors(walk.motion.time[chosen], off, phases, walk.loads)}
    np.testing.assert_allclose(found["Right"].rms, (10, 0, 5), atol=1e-9)
    np.testing.assert_allclose(found["both"].rms, (20, 0, 10), atol=1e-9)
    assert found["Left"].double == pytest.approx(5.0)
    assert force_errors(walk.motion.time[chosen], off, phases, None) == []


def test_the_plain_estimate_carries_the_body_and_moves_to_the_leading_foot(walk, phases):
    time = walk.motion.time[inside(walk, phases)]
    plain = center_of_mass_forces(walk.motion, phases, time)
    true = sum(foot.force for foot in walk.loads.feet)[inside(walk, phases)]
    whole = sum(plain.values())
    assert np.sqrt(((whole - true) ** 2).mean()) < 0.02 * WEIGHT
    double = next(phase for phase in phases if phase.double_support)
    leading = Side.LEFT if phases[0].left.value == "swing" else Side.RIGHT
    share = plain[leading][:, 2] / whole[:, 2]
    assert not share[time < double.begin - 1e-6].any()
    passed = share[time > double.begin]
    assert (np.diff(passed) > -1e-9).all()
    assert passed[-1] > 0.9
