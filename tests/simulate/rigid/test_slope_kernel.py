"""The kernel of the event-driven law against the general solver."""

import numpy as np
import pytest

from homodyn.model.configuration import rates
from homodyn.simulate.rigid.contact_accelerations import contact_accelerations
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.rigid.contact_state import contact_motions, contact_states
from homodyn.simulate.rigid.slope_evaluation import SlopeEvaluation
from support.human36_feet import closed_modes

NV = 42


@pytest.fixture(scope="module")
def evaluation(feet):
    """Rates without actuation but the torques that the test sets."""
    torque = {"tau": np.zeros(NV)}
    rates_of = SlopeEvaluation(feet, False, lambda t, y: (torque["tau"], np.zeros(0)), None)
    return rates_of, torque


def state_vector(q, v):
    return np.concatenate([q, v, np.zeros(5)])


@pytest.mark.parametrize("seed", range(4))
def test_slopes_of_a_standing_human_are_those_of_the_general_solver(
    human, state_at, evaluation, seed
):
    rng = np.random.default_rng(seed)
    rates_of, torque = evaluation
    state = state_at(human.neutral(), np.zeros(NV))
    modes = closed_modes(state)
    tau = np.concatenate([np.zeros(6), 0.3 * rng.normal(size=36)])
    friction = np.full(8, 2.0)
    expected = contact_accelerations(state, modes, tau, friction, np.zeros(0))
    torque["tau"] = tau
    rates_of.set_forces(modes, expected.force)
    y = state_vector(state.q, state.v)
    found = rates_of(0.0, y, modes, expected.force, (friction, np.zeros(0)))
    assert found is not None
    slope, force = found
    size = np.abs(expected.acceleration).max()
    np.testing.assert_allclose(slope[NV : 2 * NV], expected.acceleration, atol=1e-8 * max(size, 1))
    # Redundant contacts: the forces may differ, but not their effect.
    np.testing.assert_allclose(
        state.G.T @ force, state.G.T @ expected.force, atol=1e-6 * np.abs(expected.force).max()
    )


def test_contacts_that_slip_are_left_to_the_general_solver(human, state_at, evaluation):
    rates_of, torque = evaluation
    state = state_at(human.neutral(), np.zeros(NV))
    modes = closed_modes(state)
    y = state_vector(state.q, state.v)
    # Without friction the sticking contacts of the kernel have no valid forces.
    pressed = np.tile([10.0, 0.0, 0.0], 8)
    torque["tau"] = np.zeros(NV)
    torque["tau"][human.coordinate_index("root_tx")] = 100.0
    rates_of.set_forces(modes, pressed)
    assert rates_of(0.0, y, modes, pressed, (np.zeros(8), np.zeros(0))) is None


@pytest.mark.parametrize("seed", range(3))
def test_slopes_of_a_sliding_human_are_those_of_the_general_solver(
    human, state_at, evaluation, seed
):
    """Feet move along the ground, one point of them rests: friction follows normal forces."""
    rng = np.random.default_rng(seed)
    rates_of, torque = evaluation
    resting = 3 * seed
    still = state_at(human.neutral(), np.zeros(NV))
    kept = still.G[[*range(0, 24, 3), 3 * resting + 1, 3 * resting + 2]]
    _, size, directions = np.linalg.svd(kept)
    free = directions[np.sum(size > 1e-9) :]
    v = free.T @ (0.3 * rng.normal(size=len(free)))
    state = state_at(human.neutral(), v)
    modes = closed_modes(state)
    assert modes.sliding.sum() == 7
    assert not modes.sliding[resting]
    # The last direction of a contact that moves back against it stays as it is.
    modes.slip_directions[1] *= -1
    tau = np.concatenate([np.zeros(6), 0.3 * rng.normal(size=36)])
    friction = np.where(modes.sliding, np.linspace(0.1, 0.3, 8), 5.0)
    expected = contact_accelerations(state, modes, tau, friction, np.zeros(0))
    torque["tau"] = tau
    rates_of.set_forces(modes, expected.force)
    y = state_vector(state.q, state.v)
    found = rates_of(0.0, y, modes, expected.force, (friction, np.zeros(0)))
    assert found is not None
    slope, force = found
    forces = force[:24].reshape(-1, 3)
    sliding = modes.sliding
    np.testing.assert_allclose(
        np.linalg.norm(forces[sliding, 1:], axis=1), friction[sliding] * forces[sliding, 0]
    )
    # With these forces, which need not be unique, the equations of motion and the law hold.
    a = slope[NV : 2 * NV]
    balance = state.H @ a - state.load - tau - state.G.T @ force
    np.testing.assert_allclose(balance, 0.0, atol=1e-8 * np.abs(force).max())
    motion = (state.G @ a + state.drift)[:24].reshape(-1, 3)
    correction = (2 * state.speed[:24:3] + (state.gap[:8] - modes.closing_gaps[:8]) / 0.01) / 0.01
    pressed = forces[:, 0] > 0
    np.testing.assert_allclose((motion[:, 0] + correction)[pressed], 0.0, atol=1e-8)
    assert ((motion[:, 0] + correction)[~pressed] > -1e-8).all()


def test_torques_that_are_not_finite_are_not_accepted(human, state_at, evaluation):
    rates_of, torque = evaluation
    q = human.neutral()
    q[human.coordinate_index("root_tz")] += 0.5
    state = state_at(q, np.zeros(NV))
    modes = ContactModes.from_state(state, 8)
    torque["tau"] = np.full(NV, np.nan)
    y = state_vector(q, state.v)
    assert rates_of(0.0, y, modes, None, (np.full(8, 0.5), np.zeros(0))) is None
    torque["tau"] = np.zeros(NV)
    slope, _ = rates_of(0.0, y, modes, None, (np.full(8, 0.5), np.zeros(0)))
    np.testing.assert_allclose(slope[:NV], rates(human, q, state.v), atol=0)
    assert slope[NV + human.coordinate_index("root_tz")] == pytest.approx(-9.81)


def test_motions_of_contacts_are_those_of_the_state(human, feet):
    rng = np.random.default_rng(5)
    q = human.neutral() + 0.1 * rng.normal(size=(3, NV))
    v = rng.normal(size=(3, NV))
    motions, at = contact_motions(feet), contact_states(feet)
    for k, motion in enumerate(motions(q, v)):
        state = at(q[k], v[k])
        np.testing.assert_allclose(motion.gap, state.gap, atol=1e-13)
        np.testing.assert_allclose(motion.speed, state.speed, atol=1e-12)
