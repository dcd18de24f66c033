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

    def torque(t, q, v):
        return tau - 0.0 * q

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
