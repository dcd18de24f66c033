"""Impacts of human36 on its feet: published values of HuMAnS."""

import numpy as np
import pytest

from homodyn.simulate.rigid.contact_accelerations import contact_accelerations
from homodyn.simulate.rigid.impact import resolve_impact
from support.human36_feet import STICKING, closed_modes, sinking


@pytest.fixture(scope="module")
def landing(human, state_at):
    """State and modes of the human that lands with 1 m/s."""
    state = state_at(human.neutral(), sinking(human, 1.0))
    return state, closed_modes(state)


def stick(state, modes):
    """The impact after which all contacts stick."""
    zeros = np.zeros(8)
    return resolve_impact(
        state, modes, friction=zeros, restitution=zeros, rest_speed=0.0, law="stick"
    )


def test_landing_loses_the_published_energy(landing):
    state, modes = landing
    impact = stick(state, modes)
    assert state.kinetic_energy == pytest.approx(36.5)
    after = impact.velocity @ state.H @ impact.velocity / 2
    assert after == pytest.approx(8.966646, abs=5e-7)
    assert impact.impulse.reshape(8, 3)[:, 0].sum() == pytest.approx(55.066708, abs=5e-7)
    np.testing.assert_allclose(state.G @ impact.velocity, 0, atol=1e-10)
    change = impact.velocity - state.v
    assert impact.loss == pytest.approx(change @ state.H @ change / 2, rel=1e-12)
    assert impact.loss == pytest.approx(36.5 - 8.966646, abs=1e-6)


def test_a_second_impact_changes_nothing(human, state_at, landing):
    first = stick(*landing)
    state = state_at(human.neutral(), first.velocity)
    second = stick(state, closed_modes(state))
    np.testing.assert_allclose(second.velocity, first.velocity, atol=1e-10)
    assert abs(second.loss) < 1e-10


def test_cones_with_large_friction_give_the_impact_of_sticking_contacts(landing):
    """With enough friction no contact slides or opens, and the laws agree."""
    state, modes = landing
    zeros = np.zeros(8)
    cones = resolve_impact(state, modes, friction=STICKING, restitution=zeros, rest_speed=0.0)
    np.testing.assert_allclose(cones.velocity, stick(state, modes).velocity, atol=1e-6)


def test_force_and_impulse_have_the_ratio_of_gravity(human, state_at, landing):
    state = state_at(human.neutral(), np.zeros(42))
    modes = closed_modes(state)
    force = contact_accelerations(state, modes, np.zeros(42), STICKING, np.zeros(0)).force
    impulse = stick(*landing).impulse
    ratio = force.reshape(8, 3)[:, 0].sum() / impulse.reshape(8, 3)[:, 0].sum()
    assert ratio == pytest.approx(9.81, rel=1e-5)
