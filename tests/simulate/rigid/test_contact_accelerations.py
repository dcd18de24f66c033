"""Accelerations and forces of human36 on its feet: published values of HuMAnS."""

import numpy as np
import pytest

from homodyn.catalog.humans_order import to_humans
from homodyn.dynamics import bias_force
from homodyn.simulate.rigid.contact_accelerations import contact_accelerations
from homodyn.simulate.rigid.contact_modes import ContactModes
from homodyn.simulate.solvers import ConeProblem, ConeStatus, gauss_seidel, pivot
from support.human36_feet import STICKING, closed_modes


@pytest.fixture(scope="module")
def standing(human, state_at):
    """State and modes of the human at rest with both feet on the ground."""
    state = state_at(human.neutral(), np.zeros(42))
    return state, closed_modes(state)


def test_a_human_above_the_ground_falls_freely(human, state_at):
    q = human.neutral()
    q[human.coordinate_index("root_tz")] += 0.5
    state = state_at(q, np.zeros(42))
    modes = ContactModes.from_state(state, 8)
    assert not modes.closed.any()
    result = contact_accelerations(state, modes, np.zeros(42), STICKING, np.zeros(0))
    expected = -9.81 * np.eye(42)[37]
    np.testing.assert_allclose(to_humans(human, result.acceleration), expected, atol=1e-10)


def test_standing_without_torques_gives_the_published_forces(human, standing):
    result = contact_accelerations(*standing, np.zeros(42), STICKING, np.zeros(0))
    assert result.solution.status is ConeStatus.SOLVED
    assert result.force.reshape(8, 3)[:, 0].sum() == pytest.approx(540.2044051, abs=1e-3)
    acceleration = to_humans(human, result.acceleration)
    assert acceleration[[2, 5, 14, 35, 41]] == pytest.approx(
        [10.2162, -30.5024, -68.6286, 79.9953, 22.3211], abs=2e-4
    )


def test_torques_of_static_equilibrium_give_forces_equal_to_the_weight(human, standing):
    state, modes = standing
    bias = bias_force(human, human.neutral(), np.zeros(42))
    support = np.linalg.lstsq(state.G[:, :6].T, bias[:6], rcond=None)[0]
    tau = bias - state.G.T @ support
    np.testing.assert_allclose(tau[:6], 0, atol=1e-9)
    result = contact_accelerations(state, modes, tau, np.full(8, 0.8), np.zeros(0))
    assert result.force.reshape(8, 3)[:, 0].sum() == pytest.approx(716.13, abs=1e-4)
    # The law corrects the position errors that contacts may have.
    assert np.abs(result.acceleration).max() < 0.02


@pytest.mark.parametrize("seed", range(5))
def test_forces_satisfy_the_contact_law(standing, seed):
    rng = np.random.default_rng(seed)
    tau = np.concatenate([np.zeros(6), 30 * rng.normal(size=36)])
    state, modes = standing
    result = contact_accelerations(state, modes, tau, np.full(8, 0.5), np.zeros(0))
    assert result.solution.status is ConeStatus.SOLVED
    force = result.force.reshape(8, 3)
    w = result.solution.motion.reshape(8, 3)
    size = np.abs(state.G @ state.free_acceleration(tau)).max()
    assert force[:, 0].min() >= -1e-8 * max(force[:, 0].max(), 1.0)
    assert w[:, 0].min() >= -1e-8 * size
    assert np.abs(force[:, 0] * w[:, 0]).max() < 1e-8 * size * max(force[:, 0].max(), 1.0)
    excess = np.linalg.norm(force[:, 1:], axis=1) - 0.5 * force[:, 0]
    assert excess.max() < 1e-8 * max(force[:, 0].max(), 1.0)


def test_sweeps_converge_slowly_where_contacts_share_a_load(standing):
    """Two feet with eight contacts: rank deficient, solved exactly by pivots."""
    state, _ = standing
    b = (state.G @ state.free_acceleration(np.zeros(42)) + state.drift)[:24]
    cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(8))
    problem = ConeProblem(state.A[:24, :24], b, cones, 0.8)
    exact = pivot(problem)
    assert exact.status is ConeStatus.SOLVED
    assert exact.iterations < 30
    assert exact.residual < 1e-10
    assert gauss_seidel(problem, sweeps=64).residual > 1e-5
