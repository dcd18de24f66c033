"""Positions: the same manifolds as Pinocchio's, exact derivatives also at zero."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, sphere
from homodyn.model.configuration import (
    clamp,
    difference,
    integrate,
    neutral,
    normalize,
    random,
    rates,
    within_limits,
)
from homodyn.model.functions import Linear

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
seeds = st.integers(0, 2**32 - 1)


def some_model():
    return (
        Assembly("mixed")
        .add(sphere("trunk", 10.0, 0.2), joints.free(), joint_name="root")
        .add(sphere("arm", 1.0, 0.1), joints.spherical(), "trunk", joint_name="shoulder")
        .add(
            sphere("forearm", 1.0, 0.1),
            joints.universal("x", "y", lower=[-0.5, 0.2], upper=[1.0, np.inf], default=[0.1, 0.3]),
            "arm",
            joint_name="elbow",
        )
        .add(sphere("finger", 0.1, 0.01), joints.revolute("z"), "forearm")
        .add(sphere("slider", 0.1, 0.01), joints.prismatic("z"), "trunk")
        .couple("finger", "elbow_rx", Linear(2.0, 0.1))
        .model()
    )


MODEL = some_model()
BALL = Assembly("ball").add(sphere("ball", 1.0, 0.1), joints.free()).model()


def to_pinocchio(q: np.ndarray) -> np.ndarray:
    """(w, x, y, z) behind a position to (x, y, z, w)."""
    return q[..., [0, 1, 2, 4, 5, 6, 3]]


def test_sizes_leave_out_coordinates_that_follow():
    assert (MODEL.nq, MODEL.nv) == (14, 12)
    assert "finger" not in MODEL.coordinate_names
    assert MODEL.position_index == (*[None] * 9, 11, 12, 13)
    assert MODEL.lower.shape == (12,)


def test_neutral_holds_the_defaults():
    q = neutral(MODEL)
    assert_allclose(q, [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.1, 0.3, 0])
    turned = Assembly("b").add(sphere("b", 1, 1), joints.spherical(default=[0, 0, np.pi / 2]))
    assert_allclose(turned.model().neutral(), [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)


def test_random_poses_are_unit_within_limits_and_repeatable():
    q = random(MODEL, seed=4, size=(50, 3))
    assert q.shape == (50, 3, 14)
    assert within_limits(MODEL, q).all()
    assert_allclose(np.linalg.norm(q[..., 3:7], axis=-1), 1, **TOLERANCE)
    assert_allclose(np.linalg.norm(q[..., 7:11], axis=-1), 1, **TOLERANCE)
    assert (np.abs(q[..., 13]) <= 1).all()
    assert np.array_equal(q, random(MODEL, seed=4, size=(50, 3)))
    assert random(MODEL, seed=1).shape == (14,)


def test_clamping_brings_every_coordinate_into_its_range():
    q = neutral(MODEL)
    q[11], q[12] = 3.0, -1.0
    assert not within_limits(MODEL, q)
    kept = clamp(MODEL, q)
    assert within_limits(MODEL, kept)
    assert_allclose(kept[11:13], [1.0, 0.2])
    assert within_limits(MODEL, q, tolerance=5.0)
    with pytest.raises(ModelError, match="14 entries"):
        clamp(MODEL, np.zeros(13))


@given(seeds)
def test_difference_undoes_integrate(seed):
    rng = np.random.default_rng(seed)
    q = random(MODEL, rng, 5)
    scale = 10.0 ** rng.uniform(-12, 0, (5, 1))
    dv = rng.uniform(-1, 1, (5, MODEL.nv)) * scale
    assert_allclose(difference(MODEL, q, integrate(MODEL, q, dv)), dv, **TOLERANCE)
    p = random(MODEL, rng, 5)
    there = integrate(MODEL, q, difference(MODEL, q, p))
    quaternions = np.sign(np.sum(there[:, 3:7] * p[:, 3:7], axis=-1, keepdims=True))
    assert_allclose(there[:, :3], p[:, :3], rtol=1e-10, atol=1e-10)
    assert_allclose(there[:, 3:7] * quaternions, p[:, 3:7], rtol=1e-10, atol=1e-10)
    assert_allclose(there[:, 11:], p[:, 11:], **TOLERANCE)


@given(seeds)
def test_free_joint_moves_as_in_pinocchio(seed):
    pin = pytest.importorskip("pinocchio")
    peer = pin.Model()
    peer.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    rng = np.random.default_rng(seed)
    q, p = random(BALL, rng), random(BALL, rng)
    dv = rng.uniform(-2, 2, 6) * 10.0 ** rng.uniform(-8, 0)
    shifted = BALL.integrate(q, dv)
    theirs = pin.integrate(peer, to_pinocchio(q), dv)
    assert_allclose(to_pinocchio(shifted)[:3], theirs[:3], rtol=1e-11, atol=1e-11)
    sign = np.sign(to_pinocchio(shifted)[3:] @ theirs[3:])
    assert_allclose(sign * to_pinocchio(shifted)[3:], theirs[3:], rtol=1e-11, atol=1e-11)
    step = pin.difference(peer, to_pinocchio(q), to_pinocchio(p))
    assert_allclose(BALL.difference(q, p), step, rtol=1e-8, atol=1e-8)


@given(seeds)
def test_rates_are_the_derivative_of_integrate_and_keep_length(seed):
    rng = np.random.default_rng(seed)
    q, v = random(MODEL, rng), rng.uniform(-1, 1, MODEL.nv)
    t = ca.SX.sym("t")
    path = integrate(MODEL, ca.SX(q), ca.SX(v) * t)
    slope = ca.Function("f", [t], [ca.jacobian(path, t)])(0.0).full()[:, 0]
    assert_allclose(rates(MODEL, q, v), slope, **TOLERANCE)
    assert_allclose(q[3:7] @ slope[3:7], 0, **TOLERANCE)


def test_derivatives_exist_at_zero_in_both_directions():
    q, dv = ca.SX.sym("q", 7), ca.SX.sym("dv", 6)
    at = neutral(BALL)
    shifted, step = integrate(BALL, q, dv), difference(BALL, q, integrate(BALL, q, dv))
    weights = np.linspace(0.5, 1.5, 6)
    forward = ca.jtimes(step, dv, ca.SX(weights))
    reverse = ca.gradient(ca.dot(step, step), dv)
    outputs = [
        ca.jacobian(shifted, dv),
        ca.jacobian(step, dv),
        forward,
        reverse,
        ca.hessian(ca.dot(shifted, shifted), dv)[0],
        ca.hessian(ca.dot(step, step), dv)[0],
    ]
    values = ca.Function("f", [q, dv], outputs)(at, np.zeros(6))
    assert all(np.isfinite(value.full()).all() for value in values)
    assert_allclose(values[1].full(), np.eye(6), **TOLERANCE)
    assert_allclose(values[2].full()[:, 0], weights, **TOLERANCE)
    assert_allclose(values[5].full(), 2 * np.eye(6), **TOLERANCE)


def test_normalizing_divides_by_the_length_and_not_by_its_square():
    """Van den Kieboom's listing divides by q . q, which sends 1 + e to 1 - e for ever."""
    q = random(BALL, seed=2)
    q[3:] *= 1.1
    assert_allclose(np.linalg.norm(normalize(BALL, q)[3:]), 1, **TOLERANCE)
    printed = q[3:] / (q[3:] @ q[3:])
    assert_allclose(np.linalg.norm(printed), 1 / 1.1, **TOLERANCE)


def test_a_model_without_degrees_of_freedom_has_empty_positions():
    welded = Assembly("stone").add(sphere("stone", 1, 1), joints.fixed()).model()
    assert welded.neutral().shape == (0,)
    assert welded.random(0, 4).shape == (4, 0)


@pytest.mark.parametrize("name", ["right knee flexion", "knee_angle_r"])
def test_a_clinical_name_is_answered_with_the_coordinate(name):
    model = hd.catalog.heiman()
    for call in (lambda: model.pose({name: 0.5}), lambda: model.coordinate_index(name)):
        with pytest.raises(hd.ModelError, match=r"did you mean 'KneeRight_RY'\?.*resolve_values"):
            call()
    q = model.pose(hd.motion.resolve_values(model, {name: 0.5}))
    assert q[model.coordinate_index("KneeRight_RY")] == 0.5
    with pytest.raises(hd.ModelError, match="one of HipLeft_R"):
        model.pose({"left hip flexion": 0.5})
    with pytest.raises(hd.ModelError, match="did you mean 'KneeRight_RY'"):
        model.pose({"KneeRigth_RY": 0.5})
