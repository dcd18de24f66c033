"""Pivoting with friction pyramids and round cones."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import ContactGeometry
from homodyn.simulate.rigid.contact_state import contact_states
from homodyn.simulate.solvers import ConeProblem, ConeStatus, gauss_seidel, pivot


def test_the_residual_of_a_pyramid_shows_its_deviation_from_the_cone():
    A, b = np.eye(3), np.array([-1.0, 1.0, 1.0])
    square = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5), facets=4, round_cones=False)
    cone = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5))
    assert square.status is cone.status is ConeStatus.SOLVED
    np.testing.assert_allclose(cone.force, [1, -0.5 / np.sqrt(2), -0.5 / np.sqrt(2)], atol=1e-9)
    assert np.abs(square.force[1:]).sum() == pytest.approx(0.5)
    assert square.residual > 0.01 > 1e-9 > cone.residual


def test_on_two_feet_pivoting_is_exact_where_as_many_sweeps_are_not():
    """Document 001, check 30: a pivot and a sweep of Gauss-Seidel both cost m^2 operations."""
    model = hd.catalog.hdm()
    geometry = ContactGeometry(model)
    q = hd.simulate.place_on_ground(model, model.neutral())
    state = contact_states(geometry, limits=False)(q, np.zeros(model.nv))
    count = len(geometry.names)
    rows = slice(0, 3 * count)
    b = state.G[rows] @ state.free_acceleration(np.zeros(model.nv)) + state.drift[rows]
    cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(count))
    problem = ConeProblem(state.A[rows, rows], b, cones, np.full(count, 0.8))
    exact = pivot(problem)
    assert exact.status is ConeStatus.SOLVED
    assert exact.residual < 1e-10
    pressed = [
        name for name, force in zip(geometry.names, exact.force[::3], strict=True) if force > 1.0
    ]
    assert {name.split("_")[0] for name in pressed} == {"left", "right"}
    swept = gauss_seidel(problem, sweeps=int(exact.iterations))
    assert swept.residual > 1e-2
    assert gauss_seidel(problem, sweeps=200).residual < 1e-8


def test_pivoting_from_known_friction_needs_fewer_pivots():
    rng = np.random.default_rng(8)
    J = rng.normal(size=(12, 20))
    cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(4))
    problem = ConeProblem(J @ J.T, 3 * rng.normal(size=12), cones, [0.3] * 4)
    cold = pivot(problem)
    warm = pivot(problem, start=cold.force + 1e-7 * rng.normal(size=12))
    assert cold.status is warm.status is ConeStatus.SOLVED
    np.testing.assert_allclose(warm.force, cold.force, atol=1e-7)
    assert warm.iterations < cold.iterations
