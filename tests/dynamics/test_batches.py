"""Laws over many states at once, with parameters, and inside larger traced functions."""

import casadi as ca
import numpy as np
import pytest

from homodyn import dynamics as hd
from homodyn.errors import KernelError, ModelError
from homodyn.model import Assembly, Model, box, joints, parametric
from homodyn.symbolic import kernel
from support.trees import random_state, random_tree

LAWS = {
    "inverse dynamics": lambda m, q, v, a, **k: hd.inverse_dynamics(m, q, v, a, **k),
    "forward dynamics": lambda m, q, v, a, **k: hd.forward_dynamics(m, q, v, a, **k),
    "mass matrix": lambda m, q, v, a, **k: hd.mass_matrix(m, q, **k),
    "bias force": lambda m, q, v, a, **k: hd.bias_force(m, q, v, **k),
    "position": lambda m, q, v, a, **k: hd.position(m, q, "foot", **k),
    "acceleration": lambda m, q, v, a, **k: hd.acceleration(m, q, v, a, "foot", **k),
    "jacobian": lambda m, q, v, a, **k: hd.jacobian(m, q, "foot", **k),
    "center of mass": lambda m, q, v, a, **k: hd.center_of_mass(m, q, **k),
    "momentum": lambda m, q, v, a, **k: hd.momentum(m, q, v, **k),
    "kinetic energy": lambda m, q, v, a, **k: hd.kinetic_energy(m, q, v, **k),
    "potential energy": lambda m, q, v, a, **k: hd.potential_energy(m, q, **k),
    "passive force": lambda m, q, v, a, **k: hd.passive_force(m, q, v, **k),
}


def leg(length, mass, offset, stiffness, weight, rotor) -> Model:
    """A leg whose numbers may be parameters wherever a model has numbers."""
    thigh = box("thigh", mass, (0.1, 0.1, length), com=(offset, 0, -0.5 * length))
    shank = box("shank", 0.4 * mass, (0.1, 0.1, 0.4), com=(0, 0, -0.2))
    spring = {"stiffness": stiffness, "rest": 0.2, "damping": 0.1 * stiffness, "armature": rotor}
    return (
        Assembly("leg")
        .add(box("pelvis", 10.0, (0.2, 0.3, 0.1), com=(0, 0, 0.1)), joints.free())
        .add(thigh, joints.euler("yxz"), "pelvis", at=(0, offset, 0))
        .add(shank, joints.revolute((0.1, 1.0, 0.0), **spring), "thigh", at=(0, 0, -length))
        .frame("foot", "shank", (offset, 0, -0.4))
        .model(gravity=(0.0, 0.0, -weight))
    )


VALUES = {
    "length": 0.43,
    "mass": 8.0,
    "offset": 0.05,
    "stiffness": 3.0,
    "weight": 9.81,
    "rotor": 0.02,
}


@pytest.fixture(scope="module")
def plain():
    return leg(**VALUES)


@pytest.fixture(scope="module")
def varied():
    return parametric(leg, **VALUES)


@pytest.mark.parametrize("law", LAWS)
def test_any_batch_shape_gives_the_same_as_one_state_at_a_time(plain, law):
    q, v, a = random_state(plain, 1, (2, 3))
    many = LAWS[law](plain, q, v, a)
    for place in np.ndindex(2, 3):
        one = LAWS[law](plain, q[place], v[place], a[place])
        np.testing.assert_array_equal(many[place], one)
    flat = LAWS[law](plain, *(x.reshape(6, -1) for x in (q, v, a)))
    np.testing.assert_array_equal(flat, many.reshape(flat.shape))


def test_batches_of_arguments_broadcast(plain):
    q, v, a = random_state(plain, 2, (2, 3))
    expected = hd.inverse_dynamics(plain, q, np.broadcast_to(v[0], v.shape), 0 * a + a[0, 0])
    np.testing.assert_array_equal(hd.inverse_dynamics(plain, q, v[0], a[0, 0]), expected)
    rows = hd.inverse_dynamics(plain, q[:, :1], v[:1], a[0, 0])
    assert rows.shape == (2, 3, plain.nv)
    np.testing.assert_array_equal(rows[1, 2], hd.inverse_dynamics(plain, q[1, 0], v[0, 2], a[0, 0]))
    with pytest.raises(KernelError, match="do not broadcast"):
        hd.inverse_dynamics(plain, q, v[:, :2], a)


def test_wrenches_broadcast_too(plain):
    q, v, a = random_state(plain, 2, 4)
    wrenches = np.random.default_rng(1).normal(size=(4, 6))
    many = hd.inverse_dynamics(plain, q[0], v[0], a[0], external={"foot": wrenches})
    for k in range(4):
        one = hd.inverse_dynamics(plain, q[0], v[0], a[0], external={"foot": wrenches[k]})
        np.testing.assert_array_equal(many[k], one)


def test_arrays_need_not_lie_in_one_piece(plain):
    q, v, a = random_state(plain, 3, 8)
    expected = hd.inverse_dynamics(plain, q[::2], v[::2], a[::2])
    padded = np.zeros((8, plain.nv + 5))
    padded[:, 2 : plain.nv + 2] = v
    crooked = (np.asfortranarray(q)[::2], padded[::2, 2 : plain.nv + 2], a.T.copy().T[::2])
    assert not any(x.flags.c_contiguous for x in crooked)
    np.testing.assert_array_equal(hd.inverse_dynamics(plain, *crooked), expected)
    backwards = hd.inverse_dynamics(plain, *(x[::-1] for x in (q, v, a)))
    np.testing.assert_array_equal(backwards[::-1][::2], expected)


def test_no_states_give_no_results(plain):
    q, v, a = random_state(plain, 3, 0)
    assert hd.forward_dynamics(plain, q, v, a).shape == (0, plain.nv)
    assert hd.kinetic_energy(plain, q, v).shape == (0,)


@pytest.mark.parametrize("law", LAWS)
def test_parameters_at_values_are_the_plain_model(varied, law):
    changed = {**VALUES, "length": 0.5, "mass": 9.0, "weight": 1.62, "rotor": 0.1}
    state = random_state(varied, 4, 2)
    for values, numbers in (({}, VALUES), (changed, changed)):
        ours = LAWS[law](varied, *state, parameters=values)
        theirs = LAWS[law](leg(**numbers), *state)
        scale = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * scale)


def test_parameters_may_differ_from_state_to_state(varied):
    q, v, a = random_state(varied, 5, 3)
    values = varied.parameter_values * np.random.default_rng(0).uniform(0.8, 1.2, (3, 6))
    many = hd.inverse_dynamics(varied, q, v, a, parameters=values)
    shared = hd.inverse_dynamics(varied, q, v, a, parameters=values[1])
    np.testing.assert_array_equal(many[1], shared[1])
    for k in range(3):
        alone = leg(*values[k])
        expected = hd.inverse_dynamics(alone, q[k], v[k], a[k])
        np.testing.assert_allclose(many[k], expected, rtol=0, atol=1e-11)
    across = hd.inverse_dynamics(varied, q[0], v[0], a[0], parameters=values)
    assert across.shape == (3, varied.nv)


def test_unknown_parameters_are_refused_with_those_there_are(varied, plain):
    state = random_state(varied, 5)
    with pytest.raises(ModelError, match=r"no parameter girth; it has length, mass"):
        hd.inverse_dynamics(varied, *state, parameters={"girth": 1.0})
    with pytest.raises(ModelError, match="no parameters"):
        hd.inverse_dynamics(plain, *state, parameters={"mass": 1.0})


@pytest.mark.parametrize("law", LAWS)
def test_laws_stand_inside_larger_functions(plain, law):
    def doubled(q, v, a):
        return 2 * LAWS[law](plain, q, v + a, a)

    traced = kernel(doubled, q=plain.nq, v=plain.nv, a=plain.nv)
    q, v, a = random_state(plain, 6, 2)
    expected = 2 * LAWS[law](plain, q, v + a, a)
    np.testing.assert_allclose(traced(q, v, a), expected, rtol=1e-12, atol=1e-12)


def test_wrenches_and_parameters_may_be_symbols(varied):
    def pushed(q, v, a, push, length):
        external = {"foot": ca.vertcat(ca.SX.zeros(3), push)}
        parameters = {"length": length}
        return hd.inverse_dynamics(varied, q, v, a, external=external, parameters=parameters)

    sizes = {"q": varied.nq, "v": varied.nv, "a": varied.nv, "push": 3, "length": ()}
    fixed = {p.name: p.symbol for p in varied.parameters if p.name != "length"}

    def complete(q, v, a, push, length):
        usual = ca.SX([VALUES[name] for name in fixed])
        return ca.substitute(pushed(q, v, a, push, length), ca.vertcat(*fixed.values()), usual)

    traced = kernel(complete, sizes)
    q, v, a = random_state(varied, 7)
    push = np.array([1.0, 2.0, 3.0])
    expected = hd.inverse_dynamics(
        varied,
        q,
        v,
        a,
        external={"foot": np.concatenate([np.zeros(3), push])},
        parameters={"length": 0.6},
    )
    np.testing.assert_allclose(traced(q, v, a, push, 0.6), expected, rtol=1e-12, atol=1e-12)


def test_a_tree_may_hang_on_the_world_several_times():
    """Two trees in one model do not know of each other."""
    model = random_tree(2, 6, ("revolute", "universal"))
    copies = [
        (body, joint, suffix)
        for suffix in "ab"
        for body, joint in zip(model.bodies, model.joints, strict=True)
    ]
    from dataclasses import replace

    def named(name, suffix):
        return name if name == "world" else name + suffix

    both = Model(
        "both",
        tuple(replace(body, name=body.name + s) for body, _, s in copies),
        tuple(
            replace(
                joint,
                name=joint.name + s,
                parent=named(joint.parent, s),
                child=joint.child + s,
                coordinates=tuple(replace(c, name=c.name + s) for c in joint.coordinates),
            )
            for _, joint, s in copies
        ),
        gravity=model.gravity,
    )
    q, v, a = random_state(model, 1, 2)
    tau = hd.inverse_dynamics(both, *(x.ravel() for x in (q, v, a)))
    np.testing.assert_allclose(tau, hd.inverse_dynamics(model, q, v, a).ravel(), rtol=1e-12)
    by_q = hd.derivatives.inverse_dynamics_derivatives(both, *(x.ravel() for x in (q, v, a))).q
    assert not by_q[: model.nv, model.nv :].any()
