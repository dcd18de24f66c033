"""MJCF export: MuJoCo finds the same mass matrix, bias force and places in what was written."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn import catalog
from homodyn.dynamics import bias_force, mass_matrix, orientation, position
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
from homodyn.model.coordinate_layout import joint_positions, joint_velocities
from homodyn.model.formats import losses
from homodyn.model.functions import Constant, Linear, Polynomial, Spline
from homodyn.spatial import Transform, quaternion_rotation, rpy_rotation

mujoco = pytest.importorskip("mujoco")
TOLERANCE = 1e-9
TURNED = Transform(rpy_rotation(np.array([0.3, -0.5, 0.7])), np.array([0.1, 0.2, -0.3]))


def body(name, k):
    inertia = np.array([[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]]) * (1 + 0.1 * k)
    return Body(name, 1.0 + 0.3 * k, [0.05, -0.02 * k, 0.1], inertia)


def zoo(base="euler", **others):
    """A tree with every joint that MuJoCo can express."""
    root = {"euler": joints.euler_free("zyx"), "free": joints.free(), "fixed": joints.fixed()}[base]
    kinds = {
        "hip": (joints.spherical(armature=0.1), "trunk", "thigh"),
        "knee": (joints.revolute("y", lower=-2.0, upper=0.1, armature=0.2), "thigh", "shank"),
        "ankle": (joints.euler("yxz", max_force=30.0), "shank", "foot"),
        "rail": (joints.prismatic([0.6, 0.0, 0.8]), "trunk", "slider"),
        "table": (joints.planar("y"), "slider", "plate"),
        "lift": (joints.translation(), "trunk", "load"),
        "grip": (joints.fixed(), "load", "tool"),
        "tube": (joints.cylindrical("z"), "tool", "rod"),
        "cross": (joints.universal("x", "z"), "trunk", "arm"),
    }
    created = [root.joint("root", "world", "trunk")]
    bodies = [body("trunk", 0)]
    for k, (name, (kind, parent, child)) in enumerate(kinds.items(), 1):
        child_at = TURNED if name in ("hip", "knee", "grip") else (0.0, 0.0, 0.0)
        created.append(kind.joint(name, parent, child, at=TURNED, child_at=child_at))
        bodies.append(body(child, k))
    return Model("zoo & <co>", tuple(bodies), tuple(created), gravity=(0.5, -1.0, -9.7), **others)


def state_of(model, peer, q, v):
    """Our state in MuJoCo's order, with the free joint's linear velocity turned into the world."""
    qpos, qvel = np.zeros(peer.nq), np.zeros(peer.nv)
    to_theirs = np.zeros((peer.nv, peer.nv))
    column = 0
    for joint, own_q in zip(model.joints, joint_positions(model.joint_slots, q), strict=True):
        if joint.quaternion:
            at = peer.joint(joint.name)
            qpos[at.qposadr[0] : at.qposadr[0] + joint.nq] = own_q
            turn = np.eye(joint.nv)
            if joint.kind == "free":
                turn[:3, :3] = quaternion_rotation(own_q[3:]).T
            rows = slice(at.dofadr[0], at.dofadr[0] + joint.nv)
            to_theirs[rows, column : column + joint.nv] = turn
        else:
            for k, coordinate in enumerate(joint.coordinates):
                at = peer.joint(coordinate.name)
                qpos[at.qposadr[0]] = own_q[k]
                to_theirs[at.dofadr[0], column + k] = 1.0
        column += joint.nv
    qvel = to_theirs @ np.concatenate([*joint_velocities(model.joint_slots, q, v)])
    return qpos, qvel, to_theirs


def mass_matrix_of(peer, data):
    """The mass matrix column by column, which every version of MuJoCo gives."""
    columns = []
    for unit in np.eye(peer.nv):
        column = np.zeros(peer.nv)
        mujoco.mj_mulM(peer, data, column, unit)
        columns.append(column)
    return np.array(columns)


def peer_of(model, path):
    save(model, path)
    return mujoco.MjModel.from_xml_path(str(path))


@pytest.mark.parametrize("base", ["euler", "fixed", "free"])
def test_mujoco_finds_the_same_mass_matrix_bias_and_places(tmp_path, base):
    model = zoo(
        base,
        markers=(Marker("toe", "foot", [0.1, 0, 0]),),
        frames=(Frame("tip", "rod", TURNED),),
    )
    peer = peer_of(model, tmp_path / "zoo.mjcf")
    assert (peer.nq, peer.nv) == (model.nq, model.nv)
    data = mujoco.MjData(peer)
    generator = np.random.default_rng(7)
    for q in model.random(seed=2, size=4):
        v = generator.normal(size=model.nv)
        data.qpos, data.qvel, turn = state_of(model, peer, q, v)
        mujoco.mj_forward(peer, data)
        M = mass_matrix_of(peer, data)
        assert_allclose(mass_matrix(model, q), turn.T @ M @ turn, atol=TOLERANCE)
        # In our coordinates the same motion has the bias and the force of the turning frame.
        bias = turn.T @ (data.qfrc_bias + M @ turning(model, q, v, turn))
        assert_allclose(bias_force(model, q, v), bias, atol=1e-8)
        for name in ("toe", "tip"):
            assert_allclose(data.site(name).xpos, position(model, q, name), atol=1e-10)
        for name in model.body_names:
            assert_allclose(data.body(name).xpos, position(model, q, name), atol=1e-10)
            there = data.body(name).xmat.reshape(3, 3)
            assert_allclose(there, orientation(model, q, name), atol=1e-10)


def test_links_without_mass_are_left_out(shared_data, tmp_path):
    model = load(shared_data / "urdf" / "humanSubject01_48dof.urdf")
    peer = peer_of(model, tmp_path / "human.mjcf")
    assert peer.nv == model.nv
    assert peer.nbody - 1 < len(model.bodies)
    data = mujoco.MjData(peer)
    q, v = model.random(seed=2), np.random.default_rng(7).normal(size=model.nv)
    data.qpos, data.qvel, turn = state_of(model, peer, q, v)
    mujoco.mj_forward(peer, data)
    M = mass_matrix_of(peer, data)
    assert_allclose(mass_matrix(model, q), turn.T @ M @ turn, atol=TOLERANCE)
    bias = turn.T @ (data.qfrc_bias + M @ turning(model, q, v, turn))
    assert_allclose(bias_force(model, q, v), bias, atol=1e-8)


def test_linked_joints_away_from_their_origins_move_alike(tmp_path):
    model = Model(
        "linked",
        (body("base", 0), Body("one"), Body("two"), body("end", 1)),
        (
            joints.revolute("z").joint("root", "world", "base"),
            joints.universal("x", "y").joint("a", "base", "one", at=TURNED, child_at=TURNED),
            joints.prismatic("y").joint("b", "one", "two", at=TURNED),
            joints.euler("zxy").joint("c", "two", "end", at=TURNED, child_at=TURNED),
        ),
    )
    peer = peer_of(model, tmp_path / "linked.mjcf")
    data = mujoco.MjData(peer)
    q, v = model.random(seed=2), np.random.default_rng(7).normal(size=model.nv)
    data.qpos, data.qvel, _ = state_of(model, peer, q, v)
    mujoco.mj_forward(peer, data)
    assert_allclose(mass_matrix(model, q), mass_matrix_of(peer, data), atol=TOLERANCE)
    assert_allclose(bias_force(model, q, v), data.qfrc_bias, atol=1e-8)
    assert_allclose(data.body("end").xpos, position(model, q, "end"), atol=1e-10)


def turning(model, q, v, turn):
    """MuJoCo's acceleration while ours is zero: of the free joint, omega x v in the world."""
    rate = np.zeros(len(turn))
    if model.joints[0].kind == "free":
        R = quaternion_rotation(q[3:7]).T
        rate[:3] = R @ np.cross(v[3:6], v[:3])
    return rate


def test_limits_springs_and_shapes_reach_mujoco(tmp_path):
    model = Model(
        "leg",
        (body("shank", 0),),
        (
            joints.revolute(
                "y", lower=-1.0, upper=2.0, stiffness=3.0, rest=0.4, damping=0.5, friction=0.1
            ).joint("knee", "world", "shank", at=[0, 0, 1]),
        ),
        contacts=(
            ContactShape("heel", "shank", "sphere", [0, 0, -0.5], radius=0.05),
            ContactShape("point", "shank", "point", [0.1, 0, -0.5]),
            ContactShape("edge", "shank", "line", [0, 0, -0.5], size=[0.4, 0, 0]),
            ContactShape("sole", "shank", "box", [0, 0, -0.5], size=[0.4, 0.2, 0.02]),
        ),
        capsules=(
            Capsule("bone", "shank", [0, 0, 0], [0, 0, -0.4], 0.04),
            Capsule("ball", "shank", [0, 0, 0], [0, 0, 0], 0.04),
        ),
    )
    peer = peer_of(model, tmp_path / "leg.xml")
    knee = peer.joint("knee")
    assert_allclose(knee.range, [-1, 2])
    assert (knee.stiffness[0], knee.qpos_spring[0], knee.damping[0]) == (3.0, 0.4, 0.5)
    assert knee.frictionloss[0] == 0.1
    assert peer.body_mass.sum() == pytest.approx(model.mass)
    touching = {
        peer.geom(k).name
        for k in range(peer.ngeom)
        if peer.geom_contype[k] & peer.geom("floor").conaffinity[0]
    }
    assert touching == {"heel", "point", "edge", "sole"}
    for name in touching:
        for other in touching:
            assert not peer.geom(name).contype[0] & peer.geom(other).conaffinity[0]
    data = mujoco.MjData(peer)
    data.qpos[0] = 0.9
    data.qvel[0] = 0.2
    mujoco.mj_forward(peer, data)
    assert_allclose(data.qfrc_passive, -3.0 * (0.9 - 0.4) - 0.5 * 0.2)


def test_a_coordinate_without_a_motor_is_taken_by_mujoco(tmp_path):
    """HeiMan's pelvis has a largest force of zero, which MuJoCo refuses as an empty range."""
    peer = peer_of(catalog.heiman(height=1.75, mass=75), tmp_path / "heiman.xml")
    assert not peer.jnt_actfrclimited[:6].any()
    assert peer.jnt_actfrclimited[6:].all()


@pytest.mark.parametrize(
    "function", [Linear(-0.5, 0.1), Polynomial((0.1, 0.0, 1.0)), Constant(0.2)]
)
def test_couplers_become_equalities(tmp_path, function):
    model = zoo(couplers=(Coupler("rail", "knee", function),))
    peer = peer_of(model, tmp_path / "zoo.mjcf")
    assert peer.neq == 1
    assert_allclose(function.value(0.7), np.polyval(peer.eq_data[0, :5][::-1], 0.7))
    # The reduced mass matrix is the one along the constraint.
    q, v = model.random(seed=1), np.zeros(model.nv)
    data = mujoco.MjData(peer)
    data.qpos = state_of(model, peer, q, v)[0]
    mujoco.mj_forward(peer, data)
    M = mass_matrix_of(peer, data)
    along = np.array([state_of(model, peer, q, unit)[1] for unit in np.eye(model.nv)]).T
    assert_allclose(mass_matrix(model, q), along.T @ M @ along, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (joints.helical("x", 0.1), "joint 'odd' is a screw"),
        (joints.custom(joints.turn("x", 0, Linear(2.0))), "axis 0 is a Linear function of 'odd'"),
        (joints.spherical(stiffness=3.0), "one stiffness for all coordinates of a spherical joint"),
    ],
)
def test_what_mujoco_has_not_is_refused_by_name(tmp_path, kind, words):
    model = Model("odd", (body("a", 0),), (kind.joint("odd", "world", "a"),))
    with pytest.raises(FormatError, match=words):
        save(model, tmp_path / "odd.mjcf")
    assert not (tmp_path / "odd.mjcf").exists()


def test_bodies_and_couplers_mujoco_would_refuse_are_named(tmp_path):
    empty = Model(
        "hollow",
        (Body("a"), body("b", 0), body("c", 0)),
        (
            joints.revolute("x").joint("one", "world", "a"),
            joints.revolute("y").joint("two", "a", "b"),
            joints.revolute("y").joint("three", "a", "c"),
        ),
    )
    with pytest.raises(FormatError, match="body 'a' moves and has no mass"):
        save(empty, tmp_path / "a.mjcf")
    spline = zoo(couplers=(Coupler("rail", "knee", Spline((0.0, 1.0, 2.0), (0.0, 1.0, 0.0))),))
    with pytest.raises(FormatError, match="'rail' follows 'knee' by a Spline function"):
        save(spline, tmp_path / "a.mjcf")
    flat = Model(
        "flat",
        (Body("a", 1.0, inertia=[0.1, 0.1, 0.3]),),
        (joints.revolute("x").joint("one", "world", "a"),),
        as_measured=True,
    )
    with pytest.raises(FormatError, match="the largest exceeds the sum"):
        save(flat, tmp_path / "a.mjcf")


def poses_of(model, path):
    """MuJoCo's model, and our neutral pose in its order."""
    peer = peer_of(model, path)
    return peer, state_of(model, peer, model.neutral(), np.zeros(model.nv))[0]


def test_the_default_pose_is_a_keyframe(tmp_path):
    model = catalog.heiman(height=1.75, mass=70)
    peer, neutral = poses_of(model, tmp_path / "heiman.xml")
    data = mujoco.MjData(peer)
    mujoco.mj_resetDataKeyframe(peer, data, peer.key("neutral").id)
    assert_allclose(data.qpos, neutral, atol=0)
    mujoco.mj_forward(peer, data)
    # It stands as it does here: the soles are on the floor.
    here = position(model, model.neutral(), "HalluxRight")
    assert_allclose(data.geom("HalluxRight").xpos, here, atol=TOLERANCE)
    assert abs(here[2]) < 1e-6


@pytest.mark.parametrize("function", [Linear(2.0, 0.1), Polynomial((0.1, 0.0, 0.5))])
def test_keyframes_of_trees_with_balls_and_couplers(tmp_path, function):
    model = zoo("free", couplers=(Coupler("rail", "knee", function),))
    # Joints in another order than that of the tree, and a pose that is not zero.
    values = {name: 0.1 * (k + 1) for k, name in enumerate(model.coordinate_names)}
    values["knee"] = -0.4
    joints_there = tuple(
        replace(
            joint,
            coordinates=tuple(
                replace(c, default=values.get(c.name, 0.0)) for c in joint.coordinates
            ),
        )
        for joint in model.joints
    )
    model = replace(model, joints=joints_there)
    peer, neutral = poses_of(model, tmp_path / "zoo.mjcf")
    assert_allclose(peer.key("neutral").qpos, neutral, atol=1e-15)
    # A free joint starts at its default place without the keyframe.
    root = peer.joint("root").qposadr[0]
    assert_allclose(peer.qpos0[root : root + 7], neutral[root : root + 7], atol=1e-15)


def test_save_returns_what_the_file_loses(tmp_path):
    model = catalog.heiman(height=1.75, mass=70)
    lost = save(model, tmp_path / "heiman.xml")
    assert lost == losses(model, ".xml")
    assert not any("default values" in sentence for sentence in lost)
    assert any("default values" in sentence for sentence in save(model, tmp_path / "heiman.urdf"))
    assert save(model, tmp_path / "heiman.toml") == []
