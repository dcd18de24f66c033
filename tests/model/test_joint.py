"""Joints: velocity and bias follow from the transform, for every type and every order of turns."""

from itertools import product

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from homodyn.model import Joint, joints
from homodyn.model.functions import Constant, Linear, Polynomial, ScaledFunction, Spline
from homodyn.model.joints import JointType, slide, turn
from homodyn.model.manifold import quaternion_rate
from homodyn.spatial import Transform, quaternion_rotation, rotation, stack, unskew

TOLERANCE = {"rtol": 1e-11, "atol": 1e-11}


ORDERS = ["".join(o) for o in product("xyz", repeat=3) if o[0] != o[1] and o[1] != o[2]]


SPLINE = Spline((-1.0, -0.2, 0.5, 1.0), (0.1, -0.3, 0.2, 0.6))


ZOO: dict[str, JointType] = {
    "fixed": joints.fixed(),
    "revolute x": joints.revolute("x"),
    "revolute -y": joints.revolute("-y"),
    "revolute oblique": joints.revolute((1, -2, 0.5)),
    "prismatic z": joints.prismatic("z"),
    "helical": joints.helical((0, 1, 1), 0.03),
    "universal": joints.universal("x", "z"),
    "universal oblique": joints.universal((1, 1, 0), (0, 0.2, 1)),
    "cylindrical": joints.cylindrical("y"),
    "planar y": joints.planar("y"),
    "planar oblique": joints.planar((1, 2, 3)),
    "translation": joints.translation(),
    "euler free": joints.euler_free(),
    "spherical": joints.spherical(),
    "free": joints.free(),
    "custom": joints.custom(
        turn("z", 0),
        slide("x", 0, Polynomial((0.1, -0.2, 0.3, 0.05))),
        slide("y", 0, ScaledFunction(SPLINE, 0.5)),
        turn((1, 0, 1), None, Constant(0.3)),
        turn("x", 1, Linear(-2.0, 0.1)),
    ),
} | {f"euler {order}": joints.euler(order) for order in ORDERS}


PLACED = {
    "at": Transform(rotation(np.array([0.6, 0.8, 0]), 0.4), [0.1, -0.2, 0.3]),
    "child_at": Transform(rotation(np.array([0, 0.6, 0.8]), -0.9), [0.2, 0.1, -0.4]),
}


def velocity_by_differentiation(joint: Joint) -> ca.Function:
    """Spatial velocity of the child in its own frame and (dS/dt) v, from the transform alone."""
    q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    if joint.kind == "free":
        qdot = stack(quaternion_rotation(q[3:7]).T @ v[0:3], quaternion_rate(q[3:7], v[3:6]))
    elif joint.kind == "spherical":
        qdot = quaternion_rate(q, v)
    else:
        qdot = v
    X = joint.child_placement.inverse() @ joint.transform(q) @ joint.placement
    E, r = ca.SX(X.E), ca.SX(X.r)
    Edot = ca.reshape(ca.jtimes(ca.vec(E), q, qdot), 3, 3)
    # Felis 3.17: E turns into body coordinates, so its rate is -w^ E.
    velocity = ca.vertcat(unskew(-Edot @ E.T), E @ ca.jtimes(r, q, qdot))
    S = ca.jacobian(velocity, v)
    bias = ca.reshape(ca.jtimes(ca.vec(S), q, qdot), 6, joint.nv) @ v
    return ca.Function("oracle", [q, v], [E, r, S, velocity, bias])


ORACLES = {
    (name, placed): velocity_by_differentiation(kind.joint("j", "a", "b", **options))
    for name, kind in ZOO.items()
    for placed, options in (("plain", {}), ("placed", PLACED))
    if kind.coordinates
}


def some_state(joint: Joint, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-1.4, 1.4, joint.nq), rng.uniform(-2, 2, joint.nv)
    if joint.quaternion:
        q[-4:] /= np.linalg.norm(q[-4:])
    return q, v


@pytest.mark.parametrize("placed", ["plain", "placed"])
@pytest.mark.parametrize("name", [name for name, kind in ZOO.items() if kind.coordinates])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_velocity_and_bias_are_derivatives_of_the_transform(name, placed, seed):
    joint = ZOO[name].joint("j", "a", "b", **(PLACED if placed == "placed" else {}))
    q, v = some_state(joint, seed)
    E, r, S, velocity, bias = (m.full() for m in ORACLES[name, placed](q, v))
    state = joint.state(q, v)
    assert_allclose(state.X.E, E, **TOLERANCE)
    assert_allclose(state.X.r, r[:, 0], **TOLERANCE)
    assert_allclose(state.S, S, **TOLERANCE)
    assert_allclose(state.v, velocity[:, 0], **TOLERANCE)
    assert_allclose(state.S @ v, velocity[:, 0], **TOLERANCE)
    assert_allclose(state.c, bias[:, 0], **TOLERANCE)


@pytest.mark.parametrize("name", [n for n, k in ZOO.items() if k.axes])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_joint_equals_chain_of_joints_with_one_motion(name, seed):
    joint = ZOO[name].joint("j", "a", "b")
    q, _ = some_state(joint, seed)
    total = Transform.identity()
    for motion in joint.axes:
        amount = motion.function.value(0.0 if motion.coordinate is None else q[motion.coordinate])
        turns = motion.kind == "turn"
        single = joints.revolute(motion.axis) if turns else joints.prismatic(motion.axis)
        if turns and motion.pitch:
            single = joints.helical(motion.axis, motion.pitch)
        total = single.joint("k", "a", "b").transform(np.array([amount])) @ total
    whole = joint.transform(q)
    assert_allclose(whole.E, total.E, **TOLERANCE)
    assert_allclose(whole.r, total.r, **TOLERANCE)


def printed_euler(q, d):
    """E, S and c as Felis prints them (3.36, 3.38, 3.39), under the label YXZ."""
    (s0, s1, s2), (c0, c1, c2) = np.sin(q), np.cos(q)
    d0, d1, d2 = d
    E = [
        [c2 * c1, s2 * c0 + c2 * s1 * s0, s2 * s0 - c2 * s1 * c0],
        [-s2 * c1, c2 * c0 - s2 * s1 * s0, c2 * s0 + s2 * s1 * c0],
        [s1, -c1 * s0, c1 * c0],
    ]
    S = [[c2 * c1, s2, 0], [-s2 * c1, c2, 0], [s1, 0, 1]]
    c = [
        -s2 * c1 * d2 * d0 - c2 * s1 * d1 * d0 + c2 * d2 * d1,
        -c2 * c1 * d2 * d0 + s2 * s1 * d1 * d0 - s2 * d2 * d1,
        c1 * d1 * d0,
    ]
    return np.array(E), np.array(S), np.array(c)


def corrected_yxz(q, d):
    """The YXZ joint that the label promises."""
    (s0, s1, s2), (c0, c1, c2) = np.sin(q), np.cos(q)
    d0, d1, d2 = d
    E = [
        [c2 * c0 + s2 * s1 * s0, s2 * c1, -c2 * s0 + s2 * s1 * c0],
        [-s2 * c0 + c2 * s1 * s0, c2 * c1, s2 * s0 + c2 * s1 * c0],
        [c1 * s0, -s1, c1 * c0],
    ]
    S = [[s2 * c1, c2, 0], [c2 * c1, -s2, 0], [-s1, 0, 1]]
    c = [
        c2 * c1 * d2 * d0 - s2 * s1 * d1 * d0 - s2 * d2 * d1,
        -s2 * c1 * d2 * d0 - c2 * s1 * d1 * d0 - c2 * d2 * d1,
        -c1 * d1 * d0,
    ]
    return np.array(E), np.array(S), np.array(c)


def test_printed_euler_formulas_are_xyz_and_not_yxz():
    q, v = np.array([0.3, -0.5, 0.8]), np.array([0.7, -1.1, 0.4])
    for order, formulas in (("xyz", printed_euler), ("yxz", corrected_yxz)):
        state = joints.euler(order).joint("j", "a", "b").state(q, v)
        E, S, c = formulas(q, v)
        assert_allclose(state.X.E, E, **TOLERANCE)
        assert_allclose(state.S[:3], S, **TOLERANCE)
        assert_allclose(state.c[:3], c, **TOLERANCE)
    labeled = joints.euler("yxz").joint("j", "a", "b").state(q, v)
    for mine, printed in zip(
        (labeled.X.E, labeled.S[:3], labeled.c[:3]), printed_euler(q, v), strict=True
    ):
        assert np.abs(mine - printed).max() > 0.1
