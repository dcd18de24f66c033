"""Derivatives by recursion, against differentiation of the recursion, differences and Pinocchio."""

import casadi as ca
import numpy as np
import pytest

from homodyn import dynamics as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, Model, box, joints, parametric
from homodyn.model.configuration import integrate, rates
from homodyn.symbolic import kernel
from support.trees import ALL_KINDS, coupled_tree, human_tree, random_state, random_tree

CONSTANT_SUBSPACE = ("revolute", "oblique revolute", "prismatic", "oblique prismatic", "helical")
CONSTANT_SUBSPACE = (*CONSTANT_SUBSPACE, "translation", "spherical", "free", "fixed")


def assert_same(ours, theirs, tolerance):
    scale = max(1.0, np.abs(theirs).max())
    np.testing.assert_allclose(
        ours, np.reshape(theirs, np.shape(ours)), rtol=0, atol=tolerance * scale
    )


MODELS = {
    "all kinds": (lambda: random_tree(3, 18, ALL_KINDS, armature=True), ("tip17", "tip9", "b4")),
    "coupled": (coupled_tree, ("hand", "beside")),
    "human": (human_tree, ("hand_l", "foot_r")),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    build, frames = MODELS[request.param]
    model = build()
    rng = np.random.default_rng(2)
    return model, random_state(model, 4), {name: 10 * rng.normal(size=6) for name in frames}


@pytest.fixture(scope="module")
def differentiated(case):
    """Jacobians of the recursion itself, along the directions that ``rates`` gives to ``v``."""
    model, _, external = case
    q, v, a = (ca.SX.sym(n, k) for n, k in (("q", model.nq), ("v", model.nv), ("a", model.nv)))
    wrenches = {name: ca.SX.sym(name, 6) for name in external}
    tau = hd.inverse_dynamics(model, q, v, a, wrenches)
    along = ca.jacobian(rates(model, q, v), v)
    jacobians = [ca.jacobian(tau, q) @ along, ca.jacobian(tau, v), ca.jacobian(tau, a)]
    return ca.Function("jacobians", [q, v, a, *wrenches.values()], jacobians)


def test_equal_differentiation_of_the_recursion(case, differentiated):
    model, state, external = case
    free = hd.derivatives.inverse_dynamics_derivatives(model, *state)
    pushed = hd.derivatives.inverse_dynamics_derivatives(model, *state, external=external)
    nothing = {name: np.zeros(6) for name in external}
    for ours, wrenches in ((free, nothing), (pushed, external)):
        exact = differentiated(*state, *wrenches.values())
        for mine, expected in zip((ours.q, ours.v, ours.a), exact, strict=True):
            assert_same(mine, expected.full(), 1e-12)
    assert np.abs(free.q - pushed.q).max() > 1e-3


def test_take_a_fraction_of_the_instructions(case, differentiated):
    model, state, external = case
    ours = hd.derivatives.inverse_dynamics_derivatives.kernel(model, *state, external)
    if model.name == "human":
        assert ours.instructions < 0.45 * differentiated.n_instructions()
    else:
        assert ours.instructions < differentiated.n_instructions()


def test_forward_derivatives_follow_small_steps(case):
    model, (q, v, tau), external = case
    ours = hd.derivatives.forward_dynamics_derivatives(model, q, v, tau, external)
    steps = 1e-5 * np.eye(model.nv)

    def forward(q, v, tau):
        return hd.forward_dynamics(model, q, v, tau, external=external)

    def slope(plus, minus):
        return (plus - minus).T / 2e-5

    shifted, back = integrate(model, q, steps), integrate(model, q, -steps)
    assert_same(ours.q, slope(forward(shifted, v, tau), forward(back, v, tau)), 1e-6)
    assert_same(ours.v, slope(forward(q, v + steps, tau), forward(q, v - steps, tau)), 1e-6)
    assert_same(ours.tau @ hd.mass_matrix(model, q), np.eye(model.nv), 1e-10)


def test_inverse_derivatives_follow_small_steps(case):
    model, (q, v, a), external = case
    ours = hd.derivatives.inverse_dynamics_derivatives(model, q, v, a, external)
    steps = 1e-5 * np.eye(model.nv)
    plus = hd.inverse_dynamics(model, integrate(model, q, steps), v, a, external=external)
    minus = hd.inverse_dynamics(model, integrate(model, q, -steps), v, a, external=external)
    assert_same(ours.q, (plus - minus).T / 2e-5, 1e-7)
    assert_same(ours.a, hd.mass_matrix(model, q), 1e-13)


def test_derivatives_of_forward_and_inverse_dynamics_belong_together(case):
    model, (q, v, tau), external = case
    forward = hd.derivatives.forward_dynamics_derivatives(model, q, v, tau, external)
    a = hd.forward_dynamics(model, q, v, tau, external=external)
    inverse = hd.derivatives.inverse_dynamics_derivatives(model, q, v, a, external)
    assert_same(inverse.a @ forward.q, -inverse.q, 1e-10)
    assert_same(inverse.a @ forward.v, -inverse.v, 1e-10)


def test_equal_pinocchio_on_joints_with_constant_subspace():
    pin = pytest.importorskip("pinocchio")
    from support.peers import Peer

    model = random_tree(11, 20, CONSTANT_SUBSPACE, armature=True)
    peer = Peer.of(model)
    q, v, a = random_state(model, 6)
    there = peer.q(q)
    by_q, by_v, by_a = pin.computeRNEADerivatives(peer.pin, peer.data, there, v, a)
    by_a = np.triu(by_a) + np.triu(by_a, 1).T
    ours = hd.derivatives.inverse_dynamics_derivatives(model, q, v, a)
    for mine, theirs in zip((ours.q, ours.v, ours.a), (by_q, by_v, by_a), strict=True):
        assert_same(mine, theirs, 1e-9)
    by_q, by_v, by_tau = pin.computeABADerivatives(peer.pin, peer.data, there, v, a)
    by_tau = np.triu(by_tau) + np.triu(by_tau, 1).T
    ours = hd.derivatives.forward_dynamics_derivatives(model, q, v, a)
    for mine, theirs in zip((ours.q, ours.v, ours.tau), (by_q, by_v, by_tau), strict=True):
        assert_same(mine, theirs, 1e-9)


@pytest.mark.parametrize("base", [joints.free(), joints.euler_free("zyx")], ids=["free", "euler"])
def test_keep_their_digits_a_kilometer_away(base):
    model = human_tree(base)
    q, v, a = random_state(model, 8)
    away = q + np.eye(model.nq)[0] * 1000.0 - np.eye(model.nq)[1] * 700.0
    here, there = (hd.derivatives.inverse_dynamics_derivatives(model, x, v, a) for x in (q, away))
    for name in "qva":
        assert_same(getattr(there, name), getattr(here, name), 1e-13)


def test_stand_inside_a_larger_traced_function():
    model = coupled_tree()
    q, v, a = random_state(model, 1)
    pushed = {"hand": np.arange(6.0)}

    def weighted(q, v, a):
        parts = hd.derivatives.inverse_dynamics_derivatives(
            model, 1.0 * q, v, 2 * a, pushed_symbols
        )
        return ca.sum1(parts.q) + ca.sum1(parts.v)

    pushed_symbols = {"hand": ca.SX(pushed["hand"])}
    traced = kernel(weighted, q=model.nq, v=model.nv, a=model.nv)
    parts = hd.derivatives.inverse_dynamics_derivatives(model, q, v, 2 * a, external=pushed)
    np.testing.assert_allclose(
        traced(q, v, a).ravel(), (parts.q + parts.v).sum(axis=0), rtol=0, atol=1e-11
    )


def test_take_any_batch_and_return_a_record():
    model = coupled_tree()
    q, v, a = random_state(model, 1, (2, 3))
    batch = hd.derivatives.inverse_dynamics_derivatives(model, q, v[0], a)
    assert isinstance(batch, hd.derivatives.InverseDynamicsDerivatives)
    assert batch.q.shape == (2, 3, model.nv, model.nv)
    one = hd.derivatives.inverse_dynamics_derivatives(model, q[1, 2], v[0, 2], a[1, 2])
    for name in "qva":
        np.testing.assert_array_equal(getattr(batch, name)[1, 2], getattr(one, name))


def lever(length, mass) -> Model:
    return (
        Assembly("lever")
        .add(box("upper", mass, (0.1, 0.1, length), com=(0, 0, -length / 2)), joints.revolute("y"))
        .add(
            box("lower", 1.0, (0.1, 0.1, 0.5), com=(0, 0, -0.25)),
            joints.spherical(),
            "upper",
            at=(0, 0, -length),
        )
        .model()
    )


def test_parameter_jacobian_follows_small_steps():
    model = parametric(lever, length=0.8, mass=2.0)
    q, v, a = random_state(model, 2, 4)
    pushed = {"lower": np.arange(6.0)}
    ours = hd.derivatives.inverse_dynamics_parameter_jacobian(model, q, v, a, pushed)
    assert ours.shape == (4, model.nv, 2)
    for k, name in enumerate(model.parameter_names):
        usual = model.parameter_values[k]
        plus, minus = (
            hd.inverse_dynamics(model, q, v, a, external=pushed, parameters={name: usual + step})
            for step in (1e-6, -1e-6)
        )
        assert_same(ours[..., k], (plus - minus) / 2e-6, 1e-8)


def test_parameter_jacobian_needs_parameters():
    model = lever(0.8, 2.0)
    with pytest.raises(ModelError, match="no parameters"):
        hd.derivatives.inverse_dynamics_parameter_jacobian(model, *random_state(model, 2))


def test_derivatives_of_a_parametric_model_are_those_of_the_plain_one():
    model, plain = parametric(lever, length=0.8, mass=2.0), lever(0.6, 3.0)
    state = random_state(plain, 5)
    values = {"length": 0.6, "mass": 3.0}
    ours = hd.derivatives.inverse_dynamics_derivatives(model, *state, parameters=values)
    theirs = hd.derivatives.inverse_dynamics_derivatives(plain, *state)
    for name in "qva":
        assert_same(getattr(ours, name), getattr(theirs, name), 1e-13)
