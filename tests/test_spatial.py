"""Spatial algebra: the compact operators against 6 x 6 matrices, and the errata of the sources."""

from collections import Counter

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from homodyn import spatial
from homodyn.spatial import (
    ArticulatedInertia,
    Inertia,
    Transform,
    cross_force,
    cross_motion,
    quaternion_product,
    quaternion_rotation,
    rotation,
    rpy_rotation,
    skew,
    unskew,
)

TOLERANCE = {"rtol": 1e-13, "atol": 1e-13}
seeds = st.integers(0, 2**32 - 1)


def some_rotation(rng: np.random.Generator) -> np.ndarray:
    q = rng.standard_normal(4)
    return quaternion_rotation(q / np.linalg.norm(q))


def some_transform(rng: np.random.Generator) -> Transform:
    return Transform(some_rotation(rng), rng.uniform(-1, 1, 3))


def some_inertia(rng: np.random.Generator) -> Inertia:
    points = rng.uniform(-1, 1, (3, 5))
    inertia = np.trace(points @ points.T) * np.eye(3) - points @ points.T
    return Inertia.at_com(rng.uniform(0.5, 2), rng.uniform(-1, 1, 3), inertia)


def matrix_cross_motion(v: np.ndarray) -> np.ndarray:
    """The 6 x 6 operator as printed (Felis eq. 3.21)."""
    w, linear = skew(v[:3]), skew(v[3:])
    return np.block([[w, np.zeros((3, 3))], [linear, w]])


def force_matrix(X):
    """The 6x6 force transform, the inverse transpose of the motion transform."""
    upper = np.hstack([X.E, -X.E @ skew(X.r)])
    return np.vstack([upper, np.hstack([np.zeros((3, 3)), X.E])])


@given(seeds)
def test_compact_transforms_equal_six_by_six_algebra(seed):
    rng = np.random.default_rng(seed)
    X, Y, v = some_transform(rng), some_transform(rng), rng.uniform(-1, 1, (6, 4))
    big, force = X.motion_matrix(), force_matrix(X)
    assert_allclose(force, np.linalg.inv(big).T, **TOLERANCE)
    assert_allclose(X.motion(v), big @ v, **TOLERANCE)
    assert_allclose(X.motion(v[:, 0]), big @ v[:, 0], **TOLERANCE)
    assert_allclose(X.force(v), force @ v, **TOLERANCE)
    assert_allclose(X.motion_back(v), np.linalg.solve(big, v), **TOLERANCE)
    assert_allclose(X.force_back(v), big.T @ v, **TOLERANCE)
    assert_allclose((X @ Y).motion_matrix(), big @ Y.motion_matrix(), **TOLERANCE)
    assert_allclose(X.inverse().motion_matrix(), np.linalg.inv(big), **TOLERANCE)
    p = rng.uniform(-1, 1, 3)
    assert_allclose(X.point_back(X.point(p)), p, **TOLERANCE)
    assert_allclose((X @ Y).point(p), X.point(Y.point(p)), **TOLERANCE)


@given(seeds)
def test_cross_operators_are_minus_each_others_transpose(seed):
    rng = np.random.default_rng(seed)
    v, m = rng.uniform(-1, 1, 6), rng.uniform(-1, 1, (6, 3))
    assert_allclose(cross_motion(v, m), matrix_cross_motion(v) @ m, **TOLERANCE)
    assert_allclose(cross_force(v, m), -matrix_cross_motion(v).T @ m, **TOLERANCE)


@given(seeds)
def test_compact_inertias_equal_six_by_six_algebra(seed):
    rng = np.random.default_rng(seed)
    X, body, other = some_transform(rng), some_inertia(rng), some_inertia(rng)
    v = rng.uniform(-1, 1, (6, 3))
    big = X.motion_matrix()
    assert_allclose(body @ v, body.matrix() @ v, **TOLERANCE)
    assert_allclose((body + other).matrix(), body.matrix() + other.matrix(), **TOLERANCE)
    assert_allclose(body.transform_back(X).matrix(), big.T @ body.matrix() @ big, **TOLERANCE)
    # Felis eq. 3.20 with the stars where they belong: I_B = X* I_A X^-1.
    back = force_matrix(X) @ body.transform_back(X).matrix() @ np.linalg.inv(big)
    assert_allclose(back, body.matrix(), **TOLERANCE)


@given(seeds)
def test_articulated_inertias_equal_six_by_six_algebra(seed):
    rng = np.random.default_rng(seed)
    X, v, U = some_transform(rng), rng.uniform(-1, 1, (6, 3)), rng.uniform(-1, 1, (6, 2))
    half = rng.uniform(-1, 1, (6, 6))
    full = half @ half.T
    body = ArticulatedInertia(full[:3, :3], full[:3, 3:], full[3:, 3:])
    big = X.motion_matrix()
    assert_allclose(body @ v, full @ v, **TOLERANCE)
    assert_allclose(body.transform_back(X).matrix(), big.T @ full @ big, **TOLERANCE)
    assert_allclose(body.minus_outer(U, U).matrix(), full - U @ U.T, **TOLERANCE)
    single = some_inertia(rng)
    assert_allclose(ArticulatedInertia.of(single).matrix(), single.matrix(), **TOLERANCE)


def test_printed_inertia_with_outer_product_of_the_center_fails():
    """Felis eq. 3.15 prints m c c^T where m c^ (c^)^T is meant."""
    c = np.array([0.1, -0.2, 0.3])
    point = Inertia.at_com(2.0, c, np.zeros((3, 3)))
    w = np.array([0.3, 0.5, -0.2])
    energy = 0.5 * 2.0 * np.sum(np.cross(w, c) ** 2)
    assert_allclose(0.5 * w @ point.I @ w, energy, **TOLERANCE)
    assert abs(0.5 * w @ (2.0 * np.outer(c, c)) @ w - energy) > 1e-3


def test_offset_in_the_composition_needs_the_transpose():
    """Felis eq. 3.77: E^T r^ E = (E^T r)^, printed without the transpose on the right."""
    rng = np.random.default_rng(0)
    E, r = some_rotation(rng), rng.uniform(-1, 1, 3)
    assert_allclose(E.T @ skew(r) @ E, skew(E.T @ r), **TOLERANCE)
    assert np.abs(E.T @ skew(r) @ E - skew(E @ r)).max() > 1e-3


@given(seeds)
def test_one_body_moves_as_newton_and_euler_say(seed):
    """At the center of mass f = I a + v x* I v is (3.26) and (3.27)."""
    rng = np.random.default_rng(seed)
    inertia = some_inertia(rng).I
    mass = rng.uniform(0.5, 2)
    body = Inertia.at_com(mass, np.zeros(3), inertia)
    w, wdot, velocity, acceleration = rng.uniform(-1, 1, (4, 3))
    v = np.concatenate([w, velocity])
    a = np.concatenate([wdot, acceleration - np.cross(w, velocity)])
    f = body @ a + cross_force(v, body @ v)
    assert_allclose(f[:3], inertia @ wdot + np.cross(w, inertia @ w), **TOLERANCE)
    assert_allclose(f[3:], mass * acceleration, **TOLERANCE)


@given(seeds)
def test_rotations_keep_lengths_and_agree_with_each_other(seed):
    rng = np.random.default_rng(seed)
    axis, angle = rng.standard_normal(3), rng.uniform(-4, 4)
    axis /= np.linalg.norm(axis)
    E = rotation(axis, angle)
    assert_allclose(E @ E.T, np.eye(3), **TOLERANCE)
    assert_allclose(E @ axis, axis, **TOLERANCE)
    q = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    assert_allclose(quaternion_rotation(q), E, **TOLERANCE)
    p = rng.standard_normal(4)
    p /= np.linalg.norm(p)
    both = quaternion_rotation(quaternion_product(p, q))
    assert_allclose(both, E @ quaternion_rotation(p), **TOLERANCE)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("k", range(3))
def test_main_axes_turn_like_any_other(k, sign):
    axis = sign * np.eye(3)[k]
    nearly = axis + 1e-12 * np.ones(3)
    assert_allclose(rotation(axis, 0.7), rotation(nearly, 0.7), atol=1e-11)


def test_printed_rotations_about_main_axes():
    """Van den Kieboom, table 2.8: Xrot, Xtr, Xquat and what is read back from a 6 x 6 matrix."""
    s, c = np.sin(0.4), np.cos(0.4)
    printed = {
        0: [[1, 0, 0], [0, c, s], [0, -s, c]],
        1: [[c, 0, -s], [0, 1, 0], [s, 0, c]],
        2: [[c, s, 0], [-s, c, 0], [0, 0, 1]],
    }
    for k, E in printed.items():
        assert_allclose(rotation(np.eye(3)[k], 0.4), E, **TOLERANCE)
    q = np.array([0.5, -0.1, 0.7, 0.2])
    q /= np.linalg.norm(q)
    a, b, d, e = q
    half = [
        [a * a + b * b - 0.5, b * d + e * a, b * e - d * a],
        [b * d - e * a, a * a + d * d - 0.5, d * e + b * a],
        [b * e + d * a, d * e - b * a, a * a + e * e - 0.5],
    ]
    assert_allclose(quaternion_rotation(q), 2 * np.array(half), **TOLERANCE)
    X = Transform(quaternion_rotation(q), np.array([0.3, -0.2, 0.9]))
    big, E = X.motion_matrix(), X.E
    inverse = np.block([[E.T, np.zeros((3, 3))], [(-E @ skew(X.r)).T, E.T]])
    assert_allclose(X.inverse().motion_matrix(), inverse, **TOLERANCE)
    shift = -np.array([big[4, :3] @ E[2], big[5, :3] @ E[0], big[3, :3] @ E[1]])
    assert_allclose(shift, -E @ X.r, **TOLERANCE)
    p = np.array([1.0, 2.0, 3.0])
    assert_allclose(X.point(p), E @ p + shift, **TOLERANCE)


def test_roll_pitch_yaw_are_turns_about_fixed_axes():
    r, p, y = 0.3, -0.5, 1.1
    x_axis, y_axis, z_axis = np.eye(3)
    vectors = rotation(z_axis, y).T @ rotation(y_axis, p).T @ rotation(x_axis, r).T
    assert_allclose(rpy_rotation([r, p, y]).T, vectors, **TOLERANCE)


def test_symbols_and_numbers_give_the_same_algebra():
    rng = np.random.default_rng(3)
    X, body, v = some_transform(rng), some_inertia(rng), rng.uniform(-1, 1, 6)
    inputs = [ca.SX.sym("E", 3, 3), ca.SX.sym("r", 3), ca.SX.sym("I", 3, 3), ca.SX.sym("h", 3)]
    w = ca.SX.sym("v", 6)
    E, r, I, h = inputs
    shifted = Inertia(body.m, h, I).transform_back(Transform(E, r))
    outputs = [Transform(E, r).motion(w), cross_force(w, shifted @ w), shifted.matrix(), unskew(E)]
    values = ca.Function("f", [*inputs, w], outputs)(X.E, X.r, body.I, body.h, v)
    there = body.transform_back(X)
    expected = [X.motion(v), cross_force(v, there @ v), there.matrix(), unskew(X.E)]
    for value, number in zip(values, expected, strict=True):
        assert_allclose(np.squeeze(value.full()), number, **TOLERANCE)


def operations(*outputs: ca.SX) -> tuple[int, int]:
    """Multiplications, and additions with subtractions, that an expression costs."""
    function = ca.Function("f", ca.symvar(ca.veccat(*outputs)), list(outputs))
    counts = Counter(function.instruction_id(k) for k in range(function.n_instructions()))
    products = counts[ca.OP_MUL] + counts[ca.OP_SQ] + counts[ca.OP_TWICE]
    return products, counts[ca.OP_ADD] + counts[ca.OP_SUB]


def test_structure_saves_the_operations_that_the_source_counts():
    """Felis section 3.5.4: X v and I_a + I_b cost what it says.

    X_i X_j costs 36 and 27 here against 33 and 24, which take the third row of a rotation as the
    cross product of the others; X* I X costs 75 and 57 against 52 and 56, since the inertia is
    turned by matrix products, but far less than the 432 and 360 of naive 6 x 6 algebra. Main axes
    and fixed offsets bring all of them down when a whole tree is traced.
    """
    X = Transform(ca.SX.sym("E", 3, 3), ca.SX.sym("r", 3))
    Y = Transform(ca.SX.sym("F", 3, 3), ca.SX.sym("s", 3))
    assert operations(X.motion(ca.SX.sym("v", 6))) == (24, 18)
    both = X @ Y
    assert operations(both.E, both.r) == (36, 27)
    body, other = (
        Inertia(ca.SX.sym("m"), ca.SX.sym("h", 3), spatial.symmetric(ca.SX.sym("I", 3, 3)))
        for _ in range(2)
    )
    total = body + other
    assert operations(total.m, total.h, ca.triu2symm(ca.triu(total.I))) == (0, 10)
    shifted = body.transform_back(X)
    assert operations(shifted.h, shifted.I) == (75, 57)


def test_a_reused_graph_is_the_formula():
    traced = []

    @spatial.reuse_graph
    def formula(a, b, c):
        traced.append((a, b, c))
        return a @ b + c, c * b

    A, b, c = ca.SX.sym("A", 3, 3), ca.SX.sym("b", 3), ca.SX.sym("c")
    x = np.array([1.0, -2.0, 0.5])
    for arguments in ((A, b, c), (A, x, 2.0), (np.eye(3), b, c), (ca.SX.eye(3), x, c)):
        first, second, third = map(ca.SX, arguments)
        expected = (first @ second + third, third * second)
        for created, plain in zip(formula(*arguments), expected, strict=True):
            assert created.shape == (3, 1)
            difference = ca.Function("d", [A, b, c], [created - plain])
            assert not difference(np.arange(9.0).reshape(3, 3), x, 3.0).full().any()
    assert len(traced) == 1, "shapes alike are traced once"
    values = formula(np.eye(3), x, 2.0)
    assert all(isinstance(value, np.ndarray) for value in values)


def test_a_reused_graph_is_as_short_as_its_arguments_allow():
    q, v = ca.SX.sym("q"), ca.SX.sym("v", 6)
    about_z = Transform(rotation(np.array([0.0, 0.0, 1.0]), q), np.zeros(3))
    graph = ca.Function("g", [q, v], [about_z.motion(v)])
    products = [k for k in range(graph.n_instructions()) if graph.instruction_id(k) == ca.OP_MUL]
    assert len(products) == 8


def test_what_does_not_turn_or_shift_is_passed_on_untouched():
    v = ca.SX.sym("v", 6)
    assert Transform.identity().motion(v) is v
    assert Transform.identity().force_back(v) is v
    X = Transform(rotation(np.array([0.0, 0.6, 0.8]), ca.SX.sym("q")), spatial.ORIGIN)
    assert (X @ Transform.identity()).E is X.E
    assert (Transform.identity() @ X).E is X.E
