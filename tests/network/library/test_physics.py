"""Rigid bodies written in the language, against the recursions of dynamics and known motions."""

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from homodyn import dynamics
from homodyn.model import Assembly, Body, joints
from homodyn.network import load, parse
from homodyn.spatial import quaternion_rotation

FOLDER = Path(__file__).parents[3] / "examples" / "networks" / "bodies"
PHYSICS = """
include "physics/physics.cdn"
include "physics/cjoints.cdn"
include "physics/contacts.cdn"
integrator { method = "runge-kutta" }
"""

TREE = {
    "base": ("float", "", [0.9, 0.1, -0.3, 0.2, 0.4, -0.2, 1.1], [0.3, -0.7, 0.5, 1.0, -0.4, 0.2]),
    "arm": ("revoluteX", "base", [0.7], [1.3]),
    "hand": ("spherical", "arm", [0.5, -0.4, 0.6, 0.3], [-0.8, 0.2, 1.5]),
    "rail": ("prismaticZ", "base", [0.25], [-0.6]),
    "cross": ("universalXY", "rail", [0.4, -0.9], [0.9, -1.1]),
    "wheel": ("revoluteZ", "cross", [2.1], [-2.0]),
    "leg": ("revoluteY", "base", [-0.5], [0.8]),
    "slide": ("prismaticX", "leg", [0.3], [0.7]),
    "side": ("prismaticY", "leg", [-0.2], [0.4]),
}
"""Joint, parent, positions and velocities of a tree with joints of all kinds."""


def random_tree(seed):
    """The same joints in another order, with random parents and another state."""
    rng = np.random.default_rng(seed)
    names = list(rng.permutation(list(TREE)))
    tree = {}
    for k, name in enumerate(names):
        joint, _, q, dq = TREE[name]
        parent = ["", *names[:k]][rng.integers(k + 1)]
        tree[str(name)] = (joint, str(parent), rng.normal(size=len(q)), rng.normal(size=len(dq)))
    return tree


TREES = {"by hand": TREE, "random 1": random_tree(1), "random 2": random_tree(2)}
EVERY_TREE = pytest.mark.parametrize("which", TREES)

BIASES = 'node "{cross,hand}" { bias = "joint.BiasVelocityProduct(q, dq, qdot)" }'


def column(values):
    return "[" + "; ".join(repr(float(value)) for value in values) + "]"


def numbers(name):
    """Mass, center, inertia and place of a body, from its name."""
    rng = np.random.default_rng(sum(map(ord, name)))
    root = rng.normal(size=(3, 3))
    spread = root @ root.T
    inertia = np.trace(spread) * np.eye(3) - spread
    return 0.5 + rng.random(), rng.normal(size=3) / 4, inertia, rng.normal(size=3)


def unit(joint, q):
    q = np.array(q, dtype=float)
    if joint in ("float", "spherical"):
        q[:4] /= np.linalg.norm(q[:4])
    return q


@cache
def tree_network(which, extra=""):
    tree = TREES[which]
    lines = [PHYSICS, 'node "tree" : physics.system {']
    for name, (joint, _, q, dq) in tree.items():
        m, com, inertia, tr = numbers(name)
        rows = "; ".join(", ".join(repr(float(x)) for x in row) for row in inertia)
        lines.append(
            f'node "{name}" : physics.joints.{joint} {{ m = {m!r} com = "{column(com)}" '
            f'I = "[{rows}]" tr = "{column(tr)}" q = "{column(unit(joint, q))}" '
            f'dq = "{column(dq)}" tau = "{column(np.sin(np.arange(len(dq)) + len(name)))}" }}'
        )
    # Edges against the order of the bodies: the library numbers parents first by itself.
    for name, (_, parent, *_) in reversed(tree.items()):
        if parent:
            lines.append(f'edge from "{parent}" to "{name}" : physics.joint {{}}')
    files = ("model", "dynamics", "reactions")
    lines += [f'include "physics/{file}.cdn"' for file in files]
    return parse("\n".join([*lines, extra, "}"]))


@cache
def tree_model(which):
    kinds = {
        "float": joints.free(),
        "spherical": joints.spherical(),
        "universalXY": joints.universal("x", "y"),
        **{f"revolute{a.upper()}": joints.revolute(a) for a in "xyz"},
        **{f"prismatic{a.upper()}": joints.prismatic(a) for a in "xyz"},
    }
    tree = Assembly("tree")
    for name, (joint, parent, *_) in TREES[which].items():
        m, com, inertia, tr = numbers(name)
        given = (Body(name, m, com, inertia), kinds[joint], *([parent] if parent else []))
        tree = tree.add(*given, at=tr)
    return tree.model()


def in_order_of_model(which):
    """Name and joint of every body, as the model orders them: branch by branch."""
    return [(name, TREES[which][name]) for name in tree_model(which).body_names]


def state_of_model(which):
    """The same state in the coordinates of the model: positions before quaternions, world axes."""
    q, v, tau = [], [], []
    for name, (joint, _, here, speed) in in_order_of_model(which):
        here, speed = unit(joint, here), np.array(speed)
        force = np.sin(np.arange(len(speed)) + len(name))
        if joint == "float":
            turn = np.array(quaternion_rotation(here[:4]), dtype=float)
            here = np.concatenate([turn.T @ here[4:], here[:4]])
            speed, force = np.roll(speed, 3), np.roll(force, 3)
        q.append(here)
        v.append(speed)
        tau.append(force)
    return map(np.concatenate, (q, v, tau))


def order_of_model(which):
    """A record of the network, and where the degrees of freedom of the model are in its vectors."""
    places = []
    record = tree_network(which, BIASES).run(0)
    for name, (joint, _, _, dq) in in_order_of_model(which):
        first = int(record[f"tree.{name}.first"][0])
        own = first + np.arange(len(dq))
        places.append(np.roll(own, 3) if joint == "float" else own)
    return record, np.concatenate(places)


@EVERY_TREE
def test_a_tree_of_all_joints_has_the_mass_matrix_bias_and_accelerations_of_dynamics(which):
    record, order = order_of_model(which)
    model = tree_model(which)
    q, v, tau = state_of_model(which)
    expected = dynamics.mass_matrix(model, q)
    found = record["tree.dynamics.H"][0][np.ix_(order, order)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    expected = dynamics.bias_force(model, q, v)
    found = record["tree.dynamics.C"][0][order]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    expected = dynamics.forward_dynamics(model, q, v, tau)
    found = record["tree.dynamics.ddq"][0][order]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(record["tree.model.com"][0], dynamics.center_of_mass(model, q))
    total = dynamics.kinetic_energy(model, q, v) + dynamics.potential_energy(model, q)
    assert record["tree.dynamics.energy"][0] == pytest.approx(total, rel=1e-12)


@EVERY_TREE
def test_inverse_dynamics_takes_back_what_forward_dynamics_did(which):
    record = tree_network(which, BIASES).run(0)
    for name, (_, _, _, dq) in TREES[which].items():
        subspace = np.reshape(record[f"tree.{name}.S"][0], (6, -1))
        given = np.sin(np.arange(len(dq)) + len(name))
        reaction = record[f"tree.{name}.reaction"][0]
        np.testing.assert_allclose(
            subspace.T @ reaction, given, rtol=0, atol=1e-12 * np.abs(reaction).max()
        )


def test_motion_subspaces_and_biases_are_those_derived_by_hand():
    record = tree_network("by hand", BIASES).run(0)
    cosine, sine = np.cos(-0.9), np.sin(-0.9)
    by_hand = {
        "base": np.eye(6),
        "arm": np.eye(6)[:, :1],
        "hand": np.eye(6)[:, :3],
        "rail": np.eye(6)[:, 5:],
        "cross": np.array([[cosine, 0], [0, 1], [sine, 0], [0, 0], [0, 0], [0, 0]]),
        "leg": np.eye(6)[:, 1:2],
    }
    for name, expected in by_hand.items():
        found = np.reshape(record[f"tree.{name}.S"][0], (6, -1))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    rate = -1.1 * np.array([-sine, 0, cosine]) * 0.9
    np.testing.assert_allclose(record["tree.cross.bias"][0], [*rate, 0, 0, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(record["tree.hand.bias"][0], np.zeros(6))


def test_a_free_body_keeps_its_momentum_and_its_quaternion_its_length():
    net = parse(
        PHYSICS + 'node "s" : physics.system { g = 0\n'
        'node "b" : physics.joints.float { m = 2 com = "[0.1; -0.2; 0.05]" '
        'I = "[2, 0.1, 0; 0.1, 3, 0.2; 0, 0.2, 1]" dq = "[0.5; 3; -1; 0.2; 0.1; -0.4]"\n'
        'momentum = "baseToLocalTransformᵀ * spI * velocity" }\n'
        'include "physics/model.cdn"\ninclude "physics/dynamics.cdn" }\n'
    )
    record = net.run(3, 0.002)
    momentum = record["s.b.momentum"]
    np.testing.assert_allclose(
        momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=1e-8
    )
    length = np.linalg.norm(record["s.b.q"][:, :4], axis=1)
    np.testing.assert_allclose(length, 1, rtol=0, atol=1e-14)
    assert np.abs(record["s.b.q"][-1, 1:4]).max() > 0.1


def test_a_planar_body_falls_freely_while_it_turns():
    net = parse(
        PHYSICS + 'node "s" : physics.system {\n'
        'node "b" : physics.joints.planarY { q = "[0.3; 0.2; 1]" dq = "[4; 1; 0.5]" '
        'com = "[0.1; 0; -0.2]" }\n'
        'include "physics/model.cdn"\ninclude "physics/dynamics.cdn" }\n'
    )
    record = net.run(1)
    com, t = record["s.model.com"], record.t
    start = (com[1] - com[0]) / 0.001
    np.testing.assert_allclose(com[:, 0], com[0, 0] + start[0] * t, rtol=0, atol=1e-8)
    fall = com[0, 2] + (start[2] + 9.81 * 0.0005) * t - 9.81 / 2 * t**2
    np.testing.assert_allclose(com[:, 2], fall, rtol=0, atol=1e-8)
    np.testing.assert_allclose(record["s.b.q"][:, 0], 0.3 + 4 * t, rtol=0, atol=1e-9)


def test_the_chain_of_the_library_moves_as_known():
    record = load(FOLDER / "n_pendulum.cdn").run(5)
    diagonal = np.diag(record["system.dynamics.H"][0])
    np.testing.assert_allclose(
        diagonal, [41.66770833, 21.33416667, 9.000625, 2.66708333, 0.33354167], rtol=0, atol=1e-8
    )
    known = {
        0.5: [0.440657, -0.028235, 0.028236, 0.032602, 0.013752],
        1.0: [0.122701, -0.137884, -0.022118, 0.011432, 0.009821],
        2.0: [-0.267400, -0.200431, -0.078413, -0.044237, -0.014306],
        5.0: [-0.043907, -0.073833, -0.032980, -0.009953, 0.000584],
    }
    for time, angles in known.items():
        found = [record[f"system.p{k}.q"][round(1000 * time)] for k in range(1, 6)]
        np.testing.assert_allclose(found, angles, rtol=0, atol=1e-6)


def test_the_chain_of_the_library_keeps_its_energy_without_damping():
    net = load(FOLDER / "n_pendulum.cdn")
    net.set({f"system.p{k}.damping": 0 for k in range(1, 6)})
    energy = net.run(5)["system.dynamics.energy"]
    assert energy[0] == pytest.approx(-99.205709, abs=1e-6)
    assert np.ptp(energy) < 1e-9 * 99


def test_jacobians_are_the_derivatives_of_places():
    net = load(FOLDER / "jacobians.cdn")
    record = net.run(0)
    names = [f"system.p{k}.q" for k in range(1, 5)]
    start = [net.get(name) for name in names]
    h = 1e-6

    def places(q):
        result = net.set(dict(zip(names, q, strict=True))).run(0)
        return result["system.p4.jac.position"][0], result["system.model.com"][0]

    tip, whole = np.zeros((3, 4)), np.zeros((3, 4))
    for k in range(4):
        step = h * np.eye(4)[k]
        (a, c), (b, d) = places(start + step), places(start - step)
        tip[:, k], whole[:, k] = (a - b) / (2 * h), (c - d) / (2 * h)
    J = record["system.p4.jac.J"][0]
    np.testing.assert_allclose(J[3:], tip, rtol=0, atol=1e-8)
    np.testing.assert_allclose(J[:3], [[0] * 4, [1] * 4, [0] * 4], rtol=0, atol=1e-15)
    np.testing.assert_allclose(record["system.jacobian.Jcom"][0][3:], whole, rtol=0, atol=1e-8)


def test_a_rebased_jacobian_gives_the_motion_seen_from_a_body():
    record = load(FOLDER / "jacobians.cdn").run(0)
    dq = np.array([record[f"system.p{k}.dq"][0] for k in range(1, 5)])
    # Of the body the observer sits on: what its points would do at the center of mass.
    tip, at = record["system.p4.jac.J"][0] @ dq, record["system.p4.jac.position"][0]
    com = record["system.model.com"][0]
    carried = tip[3:] + np.cross(tip[:3], com - at)
    seen = (record["system.jacobian.Jcom"][0] @ dq)[3:] - carried
    np.testing.assert_allclose((record["system.p4.JComInP4"][0] @ dq)[3:], seen, rtol=0, atol=1e-12)


def test_factors_along_branches_take_less_work_than_those_of_a_chain():
    def instructions(parents):
        text = "[" + ", ".join(map(str, parents)) + "]"
        net = parse(
            f"defines {{ n = {len(parents)} }}\n"
            'b = "rand(zeros(@n, 1), zeros(@n, 1) + 1)"\nH = "b * bᵀ + eye(@n)"\n'
            f'x = "slinsolve(H, b, {text})"\n'
        )
        value = net.system.value(net.variables["x"])
        return ca.Function("x", ca.symvar(value), [value]).n_instructions()

    chain = instructions([-1, *range(14)])
    branched = instructions([-1, *[k if (k + 1) % 3 else -1 for k in range(14)]])
    assert branched < chain / 3
