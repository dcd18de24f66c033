"""Derivatives of the event-driven slope against differences of the slope."""

import numpy as np

from homodyn.simulate.rigid.contact_accelerations import contact_accelerations
from homodyn.simulate.rigid.slope_evaluation import SlopeEvaluation
from support.human36_feet import closed_modes

NV = 42
DIFFERENCE = 1e-6


def test_derivatives_of_a_standing_human_are_those_of_differences(human, feet, state_at):
    rng = np.random.default_rng(2)
    gains = rng.uniform(1.0, 50.0, size=NV)

    def torque(t, y):
        return tau, np.zeros(0)

    tau = np.concatenate([np.zeros(6), 0.3 * rng.normal(size=36)])
    rates = SlopeEvaluation(feet, False, torque, None)
    state = state_at(human.neutral(), np.zeros(NV))
    modes, friction = closed_modes(state), np.full(8, 5.0)
    solution = contact_accelerations(state, modes, tau, friction, np.zeros(0))
    rates.set_forces(modes, solution.force)
    y = np.concatenate([state.q, state.v, np.zeros(5)])
    strengths = (friction, np.zeros(0))
    slope, force = rates(0.0, y, modes, solution.force, strengths)
    jacobian = rates.jacobian(0.0, y, slope, modes, force, friction)
    directions = rng.normal(size=(6, 2 * NV)) * np.concatenate([np.ones(NV), gains])
    for direction in directions:
        shift = np.concatenate([DIFFERENCE * direction, np.zeros(5)])
        ends = rates.at_stages(
            np.zeros(2), np.array([y + shift, y - shift]), modes, force, strengths, np.inf
        )
        expected = (ends[0] - ends[1])[: 2 * NV] / (2 * DIFFERENCE)
        size = np.abs(expected).max()
        np.testing.assert_allclose(jacobian @ direction, expected, atol=2e-5 * size)


def test_derivatives_of_a_sliding_human_contain_the_turning_of_slip(human, feet, state_at):
    rng = np.random.default_rng(6)
    tau = np.concatenate([np.zeros(6), 0.3 * rng.normal(size=36)])
    rates = SlopeEvaluation(feet, False, lambda t, y: (tau, np.zeros(0)), None)
    still = state_at(human.neutral(), np.zeros(NV))
    # Normals stay at rest; tangents slip slowly, so that their directions turn fast. Three points
    # of one foot have unique forces.
    touching = np.arange(8) < 3
    _, size, directions = np.linalg.svd(still.G[0:9:3])
    free = directions[np.sum(size > 1e-9) :]
    v = 3e-3 * free.T @ rng.normal(size=len(free))
    state = state_at(human.neutral(), v)
    modes, friction = closed_modes(state), np.linspace(0.1, 0.3, 8)
    modes.closed &= np.pad(touching, (0, len(modes.closed) - 8))
    modes.sliding &= touching
    assert modes.sliding.sum() == 3
    strengths = (friction, np.zeros(0))
    solution = contact_accelerations(state, modes, tau, friction, np.zeros(0))
    rates.set_forces(modes, solution.force)
    y = np.concatenate([state.q, state.v, np.zeros(5)])
    slope, force = rates(0.0, y, modes, solution.force, strengths)
    jacobian = rates.jacobian(0.0, y, slope, modes, force, friction)
    assert np.abs(jacobian[NV:, NV:]).max() > 1e3
    for direction in rng.normal(size=(6, 2 * NV)):
        shift = np.concatenate([1e-8 * direction, np.zeros(5)])
        ends = rates.at_stages(
            np.zeros(2), np.array([y + shift, y - shift]), modes, force, strengths, np.inf
        )
        expected = (ends[0] - ends[1])[: 2 * NV] / 2e-8
        np.testing.assert_allclose(
            jacobian @ direction, expected, atol=1e-4 * np.abs(expected).max()
        )
