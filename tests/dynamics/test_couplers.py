"""Coordinates that follow others, against the same tree with all coordinates free.

With positions g(q) of the free tree and G = dg/dq, tau = G^T ID(g, G v, G a + dG/dt v)
and H = G^T H G.
"""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import dynamics as hd
from support.trees import coupled_tree, random_state


@pytest.fixture(scope="module")
def models():
    coupled = coupled_tree()
    return coupled, replace(coupled, couplers=())


def spread(coupled, free, q, v, a):
    """State of the free tree, and G."""
    positions = np.zeros(free.nq)
    bias, G = np.zeros(free.nv), np.zeros((free.nv, coupled.nv))
    laws = {coupler.coordinate: coupler for coupler in coupled.couplers}
    positions[:7] = q[:7]
    for k, name in enumerate(free.coordinate_names):
        law = laws.get(name)
        source = coupled.coordinate_index(law.of if law else name)
        G[k, source] = law.function.slope(q[source + 1]) if law else 1.0
        if k >= 6:
            positions[k + 1] = law.function.value(q[source + 1]) if law else q[source + 1]
        if law:
            bias[k] = law.function.curvature(q[source + 1]) * v[source] ** 2
    return (positions, G @ v, G @ a + bias), G


def test_following_coordinates_pass_their_forces_on(models):
    coupled, free = models
    assert (coupled.nv, free.nv) == (9, 13)
    q, v, a = random_state(coupled, 3)
    state, G = spread(coupled, free, q, v, a)
    wrench = {"hand": np.array([1.0, -2.0, 0.5, 3.0, 4.0, -5.0])}
    ours = hd.inverse_dynamics(coupled, q, v, a, external=wrench)
    theirs = G.T @ hd.inverse_dynamics(free, *state, external=wrench)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
    mass = G.T @ hd.mass_matrix(free, state[0]) @ G
    np.testing.assert_allclose(hd.mass_matrix(coupled, q), mass, rtol=0, atol=1e-12)
    forward = hd.forward_dynamics(coupled, q, v, ours, external=wrench)
    np.testing.assert_allclose(forward, a, rtol=0, atol=1e-9)


def test_following_coordinates_move_points_and_masses(models):
    coupled, free = models
    q, v, a = random_state(coupled, 4)
    (positions, speeds, changes), G = spread(coupled, free, q, v, a)
    pairs = (
        (hd.position(coupled, q, "hand"), hd.position(free, positions, "hand")),
        (hd.velocity(coupled, q, v, "hand"), hd.velocity(free, positions, speeds, "hand")),
        (hd.jacobian(coupled, q, "hand"), hd.jacobian(free, positions, "hand") @ G),
        (hd.center_of_mass_jacobian(coupled, q), hd.center_of_mass_jacobian(free, positions) @ G),
        (hd.momentum(coupled, q, v), hd.momentum(free, positions, speeds)),
        (hd.kinetic_energy(coupled, q, v), hd.kinetic_energy(free, positions, speeds)),
        (
            hd.acceleration(coupled, q, v, a, "hand"),
            hd.acceleration(free, positions, speeds, changes, "hand"),
        ),
    )
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
