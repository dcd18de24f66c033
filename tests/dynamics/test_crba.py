"""The mass matrix by the composite rigid body algorithm."""

import numpy as np

from homodyn import dynamics as hd
from support.trees import (
    ALL_KINDS,
    human_tree,
    pendulums,
    random_state,
    random_tree,
    relative_error,
)


def test_mass_matrix_is_symmetric_and_positive(model, state):
    mass = hd.mass_matrix(model, state[0])
    np.testing.assert_array_equal(mass, np.swapaxes(mass, -1, -2))
    assert np.linalg.eigvalsh(mass).min() > 0


def test_mass_matrix_is_zero_exactly_between_branches():
    model = human_tree()
    mass = hd.mass_matrix(model, random_state(model, 1)[0])
    owner = [i for i, joint in enumerate(model.joints) for _ in range(joint.nv)]

    def above(i):
        return {i} | (above(model.parents[i]) if model.parents[i] >= 0 else set())

    for r, i in enumerate(owner):
        for c, j in enumerate(owner):
            if i not in above(j) and j not in above(i):
                assert mass[r, c] == 0
    connected = sum(i in above(j) or j in above(i) for i in owner for j in owner)
    assert np.count_nonzero(mass) > 0.8 * connected


def test_mass_matrix_gathers_every_body():
    model = random_tree(21, 6, ALL_KINDS)
    q, v, _ = random_state(model, 2)
    total = np.zeros((model.nv, model.nv))
    for body in model.bodies:
        linear = hd.jacobian(model, q, body.name, body.com)
        angular = hd.angular_jacobian(model, q, body.name)
        turn = hd.orientation(model, q, body.name)
        total += body.mass * linear.T @ linear + angular.T @ turn @ body.inertia @ turn.T @ angular
    assert relative_error(hd.mass_matrix(model, q), total) < 1e-13
    assert relative_error(hd.kinetic_energy(model, q, v), v @ total @ v / 2) < 1e-13


def test_rotors_add_to_the_diagonal():
    plain, geared = pendulums(2, 2), pendulums(2, 2, armature=0.3)
    q, v, a = random_state(plain, 1)
    added = hd.mass_matrix(geared, q) - hd.mass_matrix(plain, q)
    np.testing.assert_allclose(added, 0.3 * np.eye(4), atol=1e-15)
    energy = hd.kinetic_energy(geared, q, v) - hd.kinetic_energy(plain, q, v)
    assert relative_error(energy, 0.15 * v @ v) < 1e-14
    tau = hd.inverse_dynamics(plain, q, v, a) + 0.3 * a
    assert relative_error(hd.inverse_dynamics(geared, q, v, a), tau) < 1e-14
    assert relative_error(hd.forward_dynamics(geared, q, v, tau), a) < 1e-13
