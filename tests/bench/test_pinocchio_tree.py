"""Models in Pinocchio have the same dynamics."""

import numpy as np
import pytest

from homodyn import dynamics as laws
from homodyn.bench.dynamics import both_feet
from homodyn.bench.model_size import tree
from homodyn.bench.pinocchio_tree import peer_positions, pinocchio_tree
from homodyn.catalog import heiman

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")


@pytest.mark.parametrize("model", [heiman(), tree(12, 3)], ids=lambda model: model.name)
def test_dynamics_are_equal(model):
    rng = np.random.default_rng(5)
    q = model.neutral() + 0.3 * rng.normal(size=model.nq)
    v, a = rng.normal(size=(2, model.nv))
    peer = pinocchio_tree(model)
    data = peer.createData()
    positions = peer_positions(model, q)
    expected = pin.rnea(peer, data, positions, v, a)
    torques = laws.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(torques, expected, atol=1e-10 * np.abs(expected).max())
    mass = pin.crba(peer, data, positions)
    mass = np.triu(mass) + np.triu(mass, 1).T
    np.testing.assert_allclose(laws.mass_matrix(model, q), mass, atol=1e-10 * mass.max())


def test_the_feet_have_eleven_constraint_rows():
    assert len(both_feet().rows) == 11
