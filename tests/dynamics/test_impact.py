"""Collisions: what velocities, impulses and energies do."""

import json

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics import Impact, PointContact, impact, kinetic_energy, mass_matrix, momentum
from homodyn.dynamics.constraint_rows import constraint_jacobian

METHODS = ("range", "direct", "null", "recursive")
SETS = ("heel", "forefoot and flat")


def speeds(model, q, v, constraints):
    """G v."""
    return np.einsum("kij,kj->ki", constraint_jacobian(model, q, constraints), v)


@pytest.fixture(scope="module")
def walker(kit):
    model = kit.human("free")
    q, v, _ = kit.states(model, 8, 21, spread=0.25)
    q[:, 3:7] = [1.0, 0.0, 0.0, 0.0]
    return model, q, v


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_rows_rebound_with_the_restitution_and_momentum_changes_by_the_impulse(
    walker, kit, name, restitution
):
    model, q, v = walker
    constraints = kit.contact_sets()[name]
    result = impact(model, q, v, constraints, restitution)
    after = speeds(model, q, result.velocity, constraints)
    np.testing.assert_allclose(after, -restitution * speeds(model, q, v, constraints), atol=1e-12)
    G = constraint_jacobian(model, q, constraints)
    change = np.einsum("kij,kj->ki", mass_matrix(model, q), result.velocity - v)
    np.testing.assert_allclose(
        change, np.einsum("kij,ki->kj", G, result.impulse), rtol=1e-9, atol=1e-10
    )
    assert (result.rank == kit.RANKS[name]).all()
    assert result.residual.max() < 1e-12


def test_energy_is_kept_by_an_elastic_collision_and_never_grows(walker, kit):
    model, q, v = walker
    constraints = kit.contact_sets()["forefoot and flat"]
    before = kinetic_energy(model, q, v)
    elastic = kinetic_energy(model, q, impact(model, q, v, constraints, 1.0).velocity)
    np.testing.assert_allclose(elastic, before, rtol=1e-11)
    lost = [
        before - kinetic_energy(model, q, impact(model, q, v, constraints, e).velocity)
        for e in (0.0, 0.5, 0.9)
    ]
    assert (lost[2] > 0).all()
    assert (lost[1] > lost[2]).all()
    assert (lost[0] > lost[1]).all()


def test_methods_agree(walker, kit):
    model, q, v = walker
    constraints = kit.contact_sets()["forefoot and flat"]
    reference = impact(model, q, v, constraints, 0.4)
    for method in METHODS[1:]:
        result = impact(model, q, v, constraints, 0.4, method)
        np.testing.assert_allclose(result.velocity, reference.velocity, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(result.impulse, reference.impulse, rtol=1e-8, atol=1e-8)


def test_dependent_rows_bring_the_same_velocities_with_impulses_of_least_norm(walker, kit):
    model, q, v = walker
    many, few = kit.corners("right"), kit.contact_sets()["flat"]
    result = impact(model, q, v, many)
    assert (result.rank == 6).all()
    assert result.residual.max() < 1e-12
    np.testing.assert_allclose(
        result.velocity, impact(model, q, v, few).velocity, rtol=1e-8, atol=1e-8
    )


def test_earlier_contacts_are_kept_when_they_are_part_of_the_set(walker, kit):
    model, q, v = walker
    stance, landing = kit.contact_sets()["forefoot"], PointContact("hallux_left")
    v = impact(model, q, v, stance).velocity
    both = impact(model, q, v, stance + landing).velocity
    alone = impact(model, q, v, landing).velocity
    assert np.abs(speeds(model, q, both, stance + landing)).max() < 1e-12
    assert np.abs(speeds(model, q, alone, stance)).max() > 1e-3
    assert (kinetic_energy(model, q, both) <= kinetic_energy(model, q, v)).all()


def test_a_vertical_row_changes_only_what_a_vertical_impulse_can(walker):
    model, q, v = walker
    result = impact(model, q, v, PointContact("hallux_left", directions="z"))
    change = momentum(model, q, result.velocity) - momentum(model, q, v)
    np.testing.assert_allclose(change[:, 3:5], 0, atol=1e-10)
    np.testing.assert_allclose(change[:, 5], result.impulse[:, 0], rtol=1e-10)


def test_restitution_may_differ_from_state_to_state(walker, kit):
    model, q, v = walker
    heel = kit.contact_sets()["heel"]
    e = np.linspace(0, 1, len(q))
    result = impact(model, q, v, heel, e)
    np.testing.assert_allclose(
        speeds(model, q, result.velocity, heel),
        -e[:, None] * speeds(model, q, v, heel),
        atol=1e-12,
    )


def test_velocities_that_meet_the_constraints_pass_unchanged(walker, kit):
    model, q, v = walker
    corners = kit.corners("right")
    once = impact(model, q, v, corners).velocity
    again = impact(model, q, once, corners)
    np.testing.assert_allclose(again.velocity, once, atol=1e-12)
    assert again.residual.max() < 1e-12


def test_it_can_stand_inside_a_larger_function(walker, kit):
    model, q, v = walker
    heel = kit.contact_sets()["heel"]
    x, y = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    inside = ca.Function("after", [x, y], [impact(model, x, y, heel).velocity])
    np.testing.assert_allclose(
        inside(q[0], v[0]).full()[:, 0], impact(model, q[0], v[0], heel).velocity, rtol=1e-12
    )


def test_a_result_is_a_record_with_read_only_arrays():
    result = Impact(np.array([0.5, -1.0]), np.array([3.0]), np.float64(0.0), np.float64(1.0))
    assert repr(result).splitlines()[1] == "  velocity  [0.5, -1]"
    assert not result.velocity.flags.writeable
    again = Impact.from_dict(json.loads(json.dumps(result.to_dict())))
    np.testing.assert_array_equal(again.velocity, result.velocity)
    assert again.rank == 1
