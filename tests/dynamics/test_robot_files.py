"""Models read from URDF, against Pinocchio and MuJoCo reading the same files."""

import re

import numpy as np
import pytest

import homodyn
from homodyn import dynamics as hd
from support.trees import random_state

FILES = ("simple_humanoid.urdf", "humanSubject01_48dof.urdf")


def assert_same(ours, theirs, tolerance):
    scale = max(1.0, np.abs(theirs).max())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


@pytest.fixture(scope="module", params=FILES)
def path(request, shared_data):
    return shared_data / "urdf" / request.param


@pytest.fixture(scope="module", params=["free", "fixed"])
def robot(request, path):
    """Model, Pinocchio's model and data, and the two orders of the hinges."""
    pin = pytest.importorskip("pinocchio")
    model = homodyn.load(path, base=request.param)
    root = (pin.JointModelFreeFlyer(),) if request.param == "free" else ()
    peer = pin.buildModelFromUrdf(str(path), *root)
    return pin, model, peer, peer.createData(), hinge_order(model, peer, bool(root))


def hinge_order(model, peer, free):
    """For each velocity of Pinocchio, which of ours it is."""
    order = list(range(6)) if free else []
    for index, name in list(enumerate(peer.names))[1 + free :]:
        assert peer.joints[index].nv == 1
        order.append(model.coordinate_index(name))
    return np.array(order)


def there(q, order, free):
    """Our positions in Pinocchio's order."""
    if not free:
        return q[order]
    return np.concatenate([q[:3], q[4:7], q[3:4], q[order[6:] + 1]])


def test_robot_moves_as_in_pinocchio(robot):
    pin, model, peer, data, order = robot
    free = model.nq > model.nv
    assert model.nv == peer.nv
    for q, v, a in zip(*random_state(model, 3, 3), strict=True):
        x, y, z = there(q, order, free), v[order], a[order]
        inverse = pin.rnea(peer, data, x, y, z)
        assert_same(hd.inverse_dynamics(model, q, v, a)[order], inverse, 1e-10)
        forward = pin.aba(peer, data, x, y, z)
        assert_same(hd.forward_dynamics(model, q, v, a)[order], forward, 1e-8)
        upper = np.triu(pin.crba(peer, data, x))
        mass = hd.mass_matrix(model, q)[np.ix_(order, order)]
        assert_same(mass, upper + np.triu(upper, 1).T, 1e-10)


def test_robot_links_are_where_pinocchio_has_them(robot):
    pin, model, peer, data, order = robot
    q, _, _ = random_state(model, 4)
    pin.framesForwardKinematics(peer, data, there(q, order, model.nq > model.nv))
    chosen = [name for name in model.body_names if peer.existBodyName(name)]
    assert len(chosen) > 10
    for name in chosen[:: max(1, len(chosen) // 6)]:
        placed = data.oMf[peer.getBodyId(name)]
        assert_same(hd.position(model, q, name), placed.translation, 1e-12)
        assert_same(hd.orientation(model, q, name), placed.rotation, 1e-12)


def test_robot_derivatives_are_those_of_pinocchio(robot):
    pin, model, peer, data, order = robot
    q, v, a = random_state(model, 5)
    x, y, z = there(q, order, model.nq > model.nv), v[order], a[order]
    by_q, by_v, by_a = pin.computeRNEADerivatives(peer, data, x, y, z)
    ours = hd.derivatives.inverse_dynamics_derivatives(model, q, v, a)
    place = np.ix_(order, order)
    assert_same(ours.q[place], by_q, 1e-9)
    assert_same(ours.v[place], by_v, 1e-9)
    assert_same(ours.a[place], np.triu(by_a) + np.triu(by_a, 1).T, 1e-10)


def test_robot_on_a_fixed_base_moves_as_in_mujoco(path):
    mujoco = pytest.importorskip("mujoco")
    # MuJoCo loads meshes that it does not need for dynamics; links without mass get a speck.
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", path.read_text(), flags=re.S)
    text = re.sub(r"<(visual|collision)\b[^>]*/>", "", text)
    speck = 'boundmass="1e-10" boundinertia="1e-10"'
    options = f'<mujoco><compiler fusestatic="true" balanceinertia="false" {speck}/></mujoco>'
    text = re.sub(r"(<robot\b[^>]*>)", rf"\1{options}", text, count=1)
    peer = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(peer)
    model = homodyn.load(path, base="fixed")
    names = [mujoco.mj_id2name(peer, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(peer.njnt)]
    order = [model.coordinate_index(name) for name in names]
    assert sorted(order) == list(range(model.nv))
    q, v, _ = random_state(model, 6)
    data.qpos[:], data.qvel[:] = q[order], v[order]
    peer.opt.gravity[:] = model.gravity
    mujoco.mj_forward(peer, data)
    mass = np.zeros((peer.nv, peer.nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(peer, mass, data.qM)
    else:
        mujoco.mj_fullM(peer, data, mass)
    assert_same(hd.mass_matrix(model, q)[np.ix_(order, order)], mass, 1e-8)
    assert_same(hd.bias_force(model, q, v)[order], data.qfrc_bias, 1e-8)
