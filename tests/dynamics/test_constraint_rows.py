"""Rows of constraints: Jacobian, bias and error against differences, and their kernels."""

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics import (
    Hinge,
    Pin,
    PointContact,
    RollingSphere,
    Weld,
    angular_velocity,
    orientation,
    position,
    velocity,
)
from homodyn.dynamics.constraint_rows import (
    anchor_constraints,
    constraint_bias,
    constraint_error,
    constraint_jacobian,
)
from homodyn.dynamics.constraints import Stabilization, row_names
from homodyn.dynamics.contacts import SlidingSole, flat_contact
from homodyn.errors import ModelError
from homodyn.model.state_function import STATE_KERNELS

TOLERANCE = 1e-11


STEP = 1e-6


def all_kinds():
    """Every kind of constraint, tilted where it can be."""
    slanted = (0.6, 0.0, 0.8)
    return {
        "point": PointContact("foot_left", (0.1, 0.02, -0.07)),
        "slanted point": PointContact("sole_left", (0.1, 0.0, 0.0), (slanted, (0.0, 1.0, 0.0))),
        "rolling": RollingSphere("foot_left", (-0.04, 0.0, 0.0), 0.07),
        "rolling on a slope": RollingSphere("heel_left", normal=slanted),
        "sliding": SlidingSole("sole_left"),
        "weld": Weld("sole_left"),
        "pin to a body": Pin("forearm_left", "thigh_right", (0.0, 0.0, -0.2), (0.1, 0.0, -0.1)),
        "hinge to a body": Hinge("forearm_left", "sole_right", slanted, (0.0, 0.01, -0.2)),
        "weld to a body": Weld("head", "thigh_right", (0.0, 0.0, 0.1)),
        "hinge within a branch": Hinge("foot_right", "thigh_right", (1.0, 0.0, 0.0)),
    }


@pytest.mark.parametrize("kind", all_kinds())
def test_bias_is_minus_the_rate_of_the_jacobian_times_velocity(person, kit, kind):
    constraints = all_kinds()[kind]
    q, v, _ = kit.states(person, 5, 1)
    after = constraint_jacobian(person, kit.shifted(person, q, v, STEP), constraints)
    before = constraint_jacobian(person, kit.shifted(person, q, v, -STEP), constraints)
    rate = np.einsum("kij,kj->ki", (after - before) / (2 * STEP), v)
    np.testing.assert_allclose(constraint_bias(person, q, v, constraints), -rate, atol=3e-8)


@pytest.mark.parametrize(
    "kind", [k for k in all_kinds() if k not in ("weld to a body", "weld", "sliding")]
)
def test_jacobian_is_the_rate_of_the_error_near_zero(person, kit, kind):
    q, v, _ = kit.states(person, 2, 2)
    for k in range(len(q)):
        anchored = anchor_constraints(person, q[k], all_kinds()[kind])
        after = constraint_error(person, kit.shifted(person, q[k], v[k], STEP), anchored)
        before = constraint_error(person, kit.shifted(person, q[k], v[k], -STEP), anchored)
        rate = (after - before) / (2 * STEP)
        rows = np.array(["rolling" not in name for name in row_names(anchored)])
        expected = constraint_jacobian(person, q[k], anchored) @ v[k]
        np.testing.assert_allclose(rate[rows], expected[rows], atol=1e-8)


@pytest.mark.parametrize("kind", ["weld to a body", "weld", "sliding"])
def test_anchored_constraints_have_no_error_and_attitudes_follow_turning(person, kit, kind):
    q, v, _ = kit.states(person, 2, 3)
    for k in range(len(q)):
        anchored = anchor_constraints(person, q[k], all_kinds()[kind])
        assert np.abs(constraint_error(person, q[k], anchored)).max() < TOLERANCE
        after = constraint_error(person, kit.shifted(person, q[k], v[k], STEP), anchored)
        expected = constraint_jacobian(person, q[k], anchored) @ v[k]
        np.testing.assert_allclose(after / STEP, expected, atol=2e-5)


def test_point_rows_are_velocities_of_the_point_and_leave_other_branches_out(person, kit):
    q, v, _ = kit.states(person, 4, 4)
    point = np.array([0.1, 0.02, -0.07])
    G = constraint_jacobian(person, q, PointContact("foot_left", point))
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", G, v), velocity(person, q, v, "foot_left", point), atol=TOLERANCE
    )
    moving = {name for k, name in enumerate(person.coordinate_names) if np.abs(G[:, :, k]).max()}
    path = ("root", "hip_left", "knee_left", "ankle_left")
    assert moving == {name for name in person.coordinate_names if name.startswith(path)}


def test_loops_leave_out_the_joints_that_carry_both_frames(person, kit):
    q, _, _ = kit.states(person, 2, 5)
    G = constraint_jacobian(person, q, Weld("foot_left", "thigh_right"))
    root = [k for k, name in enumerate(person.coordinate_names) if name.startswith("root")]
    assert not G[:, :, root].any()


def test_hinge_rows_forbid_everything_but_turning_about_the_axis(person, kit):
    q, v, _ = kit.states(person, 3, 6)
    hinge = Hinge("foot_right", "thigh_right", (0.0, 1.0, 0.0))
    for k in range(len(q)):
        anchored = anchor_constraints(person, q[k], hinge)
        free = null_space(constraint_jacobian(person, q[k], anchored)) @ v[k]
        relative = angular_velocity(person, q[k], free, "foot_right") - angular_velocity(
            person, q[k], free, "thigh_right"
        )
        axis = orientation(person, q[k], "thigh_right")[:, 1]
        np.testing.assert_allclose(np.cross(axis, relative), 0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["heel", "forefoot", "flat", "forefoot and heel", "corners"])
def test_contact_sets_have_the_ranks_of_walking(person, kit, name):
    q, _, _ = kit.states(person, 20, 7, spread=0.3)
    if person.nq > person.nv:
        q[:, 3:7] = [1.0, 0.0, 0.0, 0.0]
    G = constraint_jacobian(person, q, kit.contact_sets()[name])
    assert (np.linalg.matrix_rank(G, tol=1e-6) == kit.RANKS[name]).all()


def test_flat_foot_freezes_the_foot(person, kit):
    q, v, _ = kit.states(person, 1, 8, spread=0.3)
    G = constraint_jacobian(person, q[0], kit.contact_sets()["flat"])
    free = null_space(G) @ v[0]
    assert np.abs(velocity(person, q[0], free, "foot_right")).max() < 1e-9
    assert np.abs(angular_velocity(person, q[0], free, "foot_right")).max() < 1e-9
    assert np.abs(velocity(person, q[0], free, "foot_left")).max() > 0.01


def test_forefoot_leaves_one_turn_about_the_line_through_its_points(person, kit):
    q, v, _ = kit.states(person, 1, 9, spread=0.3)
    G = constraint_jacobian(person, q[0], kit.contact_sets()["forefoot"])
    turn = angular_velocity(person, q[0], null_space(G) @ v[0], "foot_right")
    line = position(person, q[0], "meta5_right") - position(person, q[0], "hallux_right")
    assert np.linalg.norm(turn) > 0.01
    np.testing.assert_allclose(np.cross(turn, line), 0, atol=1e-10)


def test_kernels_of_equal_sets_are_shared(person, kit):
    q, _, _ = kit.states(person, 2, 10)
    constraint_jacobian(person, q, flat_contact("sole_left"))
    known = len(STATE_KERNELS.of(person))
    constraint_jacobian(person, q, flat_contact("sole_left"))
    assert len(STATE_KERNELS.of(person)) == known


def test_stabilization_adds_spring_and_damper_of_the_error(person, kit):
    q, v, _ = kit.states(person, 3, 11)
    anchored = Pin("forearm_left", "thigh_right", (0.0, 0.0, -0.2)) + RollingSphere("heel_left")
    gains = Stabilization.oscillator(10.0, 0.5)
    assert (gains.stiffness, gains.damping) == (100.0, 10.0)
    plain = constraint_bias(person, q, v, anchored)
    added = constraint_bias(person, q, v, anchored.with_stabilization(gains)) - plain
    speed = np.einsum("kij,kj->ki", constraint_jacobian(person, q, anchored), v)
    expected = -10 * speed - 100 * constraint_error(person, q, anchored)
    np.testing.assert_allclose(added, expected, atol=1e-11)
    np.testing.assert_array_equal(
        constraint_bias(person, q, v, anchored.with_stabilization(gains).with_stabilization(None)),
        plain,
    )


def test_radius_comes_from_the_spherical_contact_of_the_model(person, kit):
    q, _v, _ = kit.states(person, 3, 12)
    named = RollingSphere("heel_left")
    written = RollingSphere("foot_left", (-0.04, 0.0, 0.0), 0.07)
    for function in (constraint_jacobian, constraint_error):
        np.testing.assert_array_equal(function(person, q, named), function(person, q, written))
    with pytest.raises(ModelError, match=r"not a spherical contact.*heel_right, heel_left"):
        constraint_jacobian(person, q, RollingSphere("foot_left"))


def test_rows_can_stand_inside_a_larger_traced_function(person, kit):
    q, v, _ = kit.states(person, 1, 14)
    heel = RollingSphere("heel_left")
    x, y = ca.SX.sym("q", person.nq), ca.SX.sym("v", person.nv)
    speed = ca.Function("speed", [x, y], [constraint_jacobian(person, x, heel) @ y])
    expected = constraint_jacobian(person, q[0], heel) @ v[0]
    np.testing.assert_allclose(speed(q[0], v[0]).full()[:, 0], expected, atol=TOLERANCE)


def null_space(G):
    """Projection onto velocities that the rows allow."""
    return np.eye(G.shape[1]) - np.linalg.pinv(G) @ G
