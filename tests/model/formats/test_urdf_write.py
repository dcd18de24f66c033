"""URDF export: Pinocchio and our own loader find the same mechanics in what was written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.dynamics import bias_force, mass_matrix, position
from homodyn.errors import FormatError
from homodyn.model import (
    Body,
    Capsule,
    ContactShape,
    Coupler,
    Frame,
    Marker,
    Model,
    joints,
    load,
    save,
)
from homodyn.model.functions import Linear, Polynomial
from homodyn.spatial import Transform, rpy_rotation

TOLERANCE = 1e-9
TURNED = Transform(rpy_rotation(np.array([0.3, -0.5, 0.7])), np.array([0.1, 0.2, -0.3]))


def body(name, k):
    inertia = np.array([[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]]) * (1 + 0.1 * k)
    return Body(name, 1.0 + 0.3 * k, [0.05, -0.02 * k, 0.1], inertia)


def zoo(base="euler", **others):
    """A tree with every joint that URDF can express, some away from the origins of bodies."""
    root = {"euler": joints.euler_free("zyx"), "free": joints.free(), "fixed": joints.fixed()}[base]
    kinds = {
        "hip": (joints.euler("yxz"), "trunk", "thigh"),
        "knee": (
            joints.revolute("y", lower=-2.0, upper=0.1, damping=0.5, friction=0.2),
            "thigh",
            "shank",
        ),
        "ankle": (joints.universal("y", "x", max_force=30.0), "shank", "foot"),
        "rail": (joints.prismatic([0.6, 0.0, 0.8]), "trunk", "slider"),
        "table": (joints.planar("y"), "slider", "plate"),
        "lift": (joints.translation(), "trunk", "load"),
        "grip": (joints.fixed(), "load", "tool"),
        "tube": (joints.cylindrical("z"), "tool", "rod"),
    }
    created = [root.joint("root", "world", "trunk")]
    bodies = [body("trunk", 0)]
    for k, (name, (kind, parent, child)) in enumerate(kinds.items(), 1):
        child_at = TURNED if name in ("hip", "knee", "grip") else (0.0, 0.0, 0.0)
        created.append(kind.joint(name, parent, child, at=TURNED, child_at=child_at))
        bodies.append(body(child, k))
    return Model("zoo & <co>", tuple(bodies), tuple(created), **others)


def pinocchio_of(pin, path, model, base):
    roots = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    return pin.buildModelFromUrdf(str(path), *roots)


@pytest.mark.parametrize("base", ["euler", "fixed", "free"])
def test_pinocchio_finds_the_same_mass_matrix_and_bias(tmp_path, base):
    pin = pytest.importorskip("pinocchio")
    model = zoo(base)
    save(model, tmp_path / "zoo.urdf")
    peer = pinocchio_of(pin, tmp_path / "zoo.urdf", model, base)
    assert (peer.nv, peer.nq - peer.nv) == (model.nv, (base == "free") + count_turns(pin, peer))
    data = peer.createData()
    generator = np.random.default_rng(4)
    order = order_of(peer, model, base)
    for q in model.random(seed=2, size=4):
        v = generator.normal(size=model.nv)
        theirs_q, theirs_v = state_of(peer, model, q, v, order, base)
        M = pin.crba(peer, data, theirs_q)
        M = np.triu(M) + np.triu(M, 1).T
        assert_allclose(mass_matrix(model, q), M[np.ix_(order, order)], atol=TOLERANCE)
        bias = pin.nonLinearEffects(peer, data, theirs_q, theirs_v)
        assert_allclose(bias_force(model, q, v), bias[order], atol=1e-8)


def count_turns(pin, peer):
    """Continuous joints, whose angle Pinocchio keeps as cosine and sine."""
    return sum(joint.nq == 2 for joint in peer.joints)


def order_of(peer, model, base):
    """For each of our velocities, its place in Pinocchio's."""
    order = []
    for k, name in enumerate(model.coordinate_names):
        free = base == "free" and k < 6
        order.append(k if free else peer.joints[peer.getJointId(name)].idx_v)
    return order


def state_of(peer, model, q, v, order, base):
    theirs = np.zeros(peer.nq)
    theirs_v = np.zeros(peer.nv)
    theirs_v[order] = v
    if base == "free":
        theirs[:7] = q[[0, 1, 2, 4, 5, 6, 3]]
    for name, at in zip(model.coordinate_names, model.position_index, strict=True):
        if at is None:
            continue
        joint = peer.joints[peer.getJointId(name)]
        value = [q[at]] if joint.nq == 1 else [np.cos(q[at]), np.sin(q[at])]
        theirs[joint.idx_q : joint.idx_q + joint.nq] = value
    return theirs, theirs_v


@pytest.mark.parametrize("base", ["euler", "fixed", "free"])
def test_our_loader_finds_the_same_mechanics(tmp_path, base):
    model = zoo(base, couplers=(Coupler("rail", "knee", Linear(-0.5, 0.1)),))
    save(model, tmp_path / "zoo.urdf")
    again = load(tmp_path / "zoo.urdf")
    assert set(again.coordinate_names) == set(model.coordinate_names)
    assert again.name == "zoo & <co>"
    order = [again.coordinate_index(name) for name in model.coordinate_names]
    places = dict(zip(again.coordinate_names, again.position_index, strict=True))
    for q in model.random(seed=5, size=3):
        theirs = again.neutral()
        if base == "free":
            theirs[:7] = q[:7]
        for name, at in zip(model.coordinate_names, model.position_index, strict=True):
            if at is not None:
                theirs[places[name]] = q[at]
        M = mass_matrix(again, theirs)[np.ix_(order, order)]
        assert_allclose(mass_matrix(model, q), M, atol=TOLERANCE)


def test_limits_damping_markers_and_shapes_are_kept(tmp_path):
    model = zoo(
        markers=(Marker("toe", "foot", [0.1, 0, 0]),),
        frames=(Frame("tip", "rod", TURNED),),
        contacts=(ContactShape("sole", "foot", "box", [0, 0, -0.1], size=[0.1, 0.05, 0.02]),),
        capsules=(Capsule("bone", "thigh", [0, 0, 0], [0.1, 0.2, -0.4], 0.05),),
    )
    save(model, tmp_path / "zoo.urdf")
    again = load(tmp_path / "zoo.urdf")
    knee = again.joint("knee").coordinates[0]
    assert (knee.lower, knee.upper, knee.damping, knee.friction) == (-2.0, 0.1, 0.5, 0.2)
    assert again.joint("ankle_ry").coordinates[0].max_force == 30
    assert_allclose(again.contacts[0].size, [0.1, 0.05, 0.02])
    assert_allclose(
        [again.capsules[0].start, again.capsules[0].end], [[0, 0, 0], [0.1, 0.2, -0.4]], atol=1e-12
    )
    q = model.neutral()
    for name in ("toe", "tip"):
        assert_allclose(
            position(again, again.neutral(), name), position(model, q, name), atol=1e-12
        )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            joints.spherical(),
            "joint 'odd' is spherical, which URDF does not have; use an euler joint",
        ),
        (joints.helical("x", 0.1), "joint 'odd' is a screw"),
        (
            joints.custom(joints.turn("x", 0, Polynomial((0, 1, 2)))),
            "axis 0 is a Polynomial function",
        ),
        (joints.custom(joints.turn("x", 0), joints.slide("y", 0)), "driven by 'odd'"),
    ],
)
def test_what_urdf_has_not_is_refused_by_name(tmp_path, kind, words):
    model = Model("odd", (body("a", 0),), (kind.joint("odd", "world", "a"),))
    with pytest.raises(FormatError, match=words):
        save(model, tmp_path / "odd.urdf")
    assert not (tmp_path / "odd.urdf").exists()


def test_nonlinear_couplers_and_parameters_are_refused(tmp_path):
    coupled = zoo(couplers=(Coupler("rail", "knee", Polynomial((0, 0, 1))),))
    with pytest.raises(FormatError, match="'rail' follows 'knee' by a Polynomial"):
        save(coupled, tmp_path / "zoo.urdf")
    with pytest.raises(FormatError, match=r"parameters thigh.mass; set them to values first"):
        save(zoo().with_parameters("thigh.mass"), tmp_path / "zoo.urdf")


def test_unknown_extensions_are_refused_with_the_accepted_ones(tmp_path):
    with pytest.raises(FormatError, match=r"accepted: .toml, .lua, .osim, .xml, .urdf, .mjcf"):
        save(zoo(), tmp_path / "zoo.stl")
    with pytest.raises(FormatError, match=r"like does not apply to URDF"):
        save(zoo(), tmp_path / "zoo.urdf", like="a.lua")
