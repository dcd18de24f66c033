"""What muscles can do: arms, forces and fiber lengths in one call."""

import numpy as np

import homodyn as hd
from homodyn.muscle.capacities import muscle_capacities
from homodyn.muscle.forces import model_of
from support import muscled_leg


def test_capacities_are_those_of_the_single_functions():
    leg = muscled_leg.build("Millard2012EquilibriumMuscle")
    motion = muscled_leg.swing(leg)
    state = (leg, motion.q, motion.v)
    found = muscle_capacities(*state, tuple(model_of(leg, None)))
    np.testing.assert_allclose(found.moment_arms, hd.muscle.moment_arms(leg, motion.q), atol=1e-12)
    capacity = hd.muscle.force_capacity(*state)
    np.testing.assert_allclose(found.active, capacity.active, rtol=1e-9)
    # The damping of fibers is no part of the passive force.
    optimal = np.array([muscle.optimal_fiber_length for muscle in leg.muscles])
    slack = np.array([muscle.tendon_slack_length for muscle in leg.muscles])
    lengths = (hd.muscle.lengths(leg, motion.q) - slack) / optimal
    np.testing.assert_allclose(found.norm_lengths, lengths, rtol=1e-9)
    speeds = hd.muscle.lengthening_speeds(*state) / (10 * optimal)
    np.testing.assert_allclose(found.norm_speeds, speeds, atol=1e-9)
    strengths = np.array([muscle.max_isometric_force for muscle in leg.muscles])
    damping = 0.1 * strengths * speeds
    np.testing.assert_allclose(found.passive + damping, capacity.passive, atol=1e-6)
