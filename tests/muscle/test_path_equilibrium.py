"""Equilibrium on given paths is that of the whole model."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.path_equilibrium import PathEquilibrium
from support import muscled_leg


@pytest.mark.parametrize(
    "kind", ["DeGrooteFregly2016Muscle", "Millard2012EquilibriumMuscle", "Thelen2003Muscle"]
)
def test_forces_are_those_of_the_model(kind):
    leg = muscled_leg.build(kind)
    angles = np.linspace(0.0, 0.5, 6)
    pennate = [
        replace(one, pennation_angle=angle) for one, angle in zip(leg.muscles, angles, strict=True)
    ]
    leg = replace(leg, muscles=tuple(pennate))
    motion = muscled_leg.swing(leg, 12)
    activations = np.random.default_rng(1).uniform(0.02, 0.9, (12, 6))
    chosen = [0, 4, 5]
    paths = PathEquilibrium(leg, motion.q, motion.v, chosen)
    expected = hd.muscle.equilibrium(leg, motion.q, motion.v, activations, tendon="compliant")
    found = paths.at(activations[:, chosen])
    np.testing.assert_allclose(found.forces, expected.forces[:, chosen], rtol=1e-9)
    np.testing.assert_allclose(found.fiber_length, expected.fiber_length[:, chosen], rtol=1e-9)
    np.testing.assert_array_equal(found.status, expected.status[:, chosen])
    rows = np.array([7, 2])
    part = paths.at(activations[rows][:, chosen], rows)
    np.testing.assert_allclose(part.forces, expected.forces[rows][:, chosen], rtol=1e-9)
    # One kernel serves all pennation angles.
    assert len(paths.groups) == 1
