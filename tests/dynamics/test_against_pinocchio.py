"""Every law on random trees of all joints, against Pinocchio on the same trees."""

import numpy as np
import pytest

from homodyn import dynamics as hd
from support.trees import PLAIN_KINDS, random_state, random_tree

pin = pytest.importorskip("pinocchio")
from support.peers import Peer  # noqa: E402

TOLERANCE = 1e-10
SIZES = (1, 2, 7, 16, 40)
STATES = 3


def assert_same(ours, theirs, tolerance=TOLERANCE):
    scale = max(1.0, np.abs(theirs).max())
    # Pinocchio drops the dimension of a single column.
    np.testing.assert_allclose(
        ours, np.reshape(theirs, np.shape(ours)), rtol=0, atol=tolerance * scale
    )


@pytest.fixture(scope="module", params=SIZES)
def peer(request):
    model = random_tree(request.param, request.param, PLAIN_KINDS, armature=request.param % 2 == 0)
    return Peer.of(model)


@pytest.fixture(scope="module")
def state(peer):
    return random_state(peer.model, 5, STATES)


@pytest.fixture(scope="module")
def external(peer):
    rng = np.random.default_rng(9)
    last = len(peer.model.bodies) - 1
    names = {f"tip{last}", f"b{last}", f"tip{last // 2}"}
    return {name: rng.normal(size=(STATES, 6)) * 10 for name in sorted(names)}


def at(external, k):
    return {name: wrench[k] for name, wrench in external.items()}


def test_the_peer_has_the_same_layout(peer):
    assert (peer.pin.nq, peer.pin.nv) == (peer.model.nq, peer.model.nv)


def test_inverse_dynamics(peer, state):
    tau = hd.inverse_dynamics(peer.model, *state)
    for k, (q, v, a) in enumerate(zip(*state, strict=True)):
        assert_same(tau[k], pin.rnea(peer.pin, peer.data, peer.q(q), v, a))


def test_inverse_dynamics_under_wrenches(peer, state, external):
    tau = hd.inverse_dynamics(peer.model, *state, external=external)
    for k, (q, v, a) in enumerate(zip(*state, strict=True)):
        forces = peer.forces(q, at(external, k))
        assert_same(tau[k], pin.rnea(peer.pin, peer.data, peer.q(q), v, a, forces))


def test_forward_dynamics(peer, state, external):
    free = hd.forward_dynamics(peer.model, *state)
    pushed = hd.forward_dynamics(peer.model, *state, external=external)
    for k, (q, v, tau) in enumerate(zip(*state, strict=True)):
        forces = peer.forces(q, at(external, k))
        assert_same(free[k], pin.aba(peer.pin, peer.data, peer.q(q), v, tau), 1e-9)
        assert_same(pushed[k], pin.aba(peer.pin, peer.data, peer.q(q), v, tau, forces), 1e-9)


def test_mass_matrix_and_bias(peer, state):
    mass = hd.mass_matrix(peer.model, state[0])
    bias = hd.bias_force(peer.model, *state[:2])
    for k, (q, v, _) in enumerate(zip(*state, strict=True)):
        upper = np.triu(pin.crba(peer.pin, peer.data, peer.q(q)))
        assert_same(mass[k], upper + np.triu(upper, 1).T)
        assert_same(bias[k], pin.nonLinearEffects(peer.pin, peer.data, peer.q(q), v))


def test_points(peer, state):
    model, axes = peer.model, pin.LOCAL_WORLD_ALIGNED
    name = f"tip{len(model.bodies) - 1}"
    index = peer.pin.getFrameId(name)
    ours = (
        hd.position(model, state[0], name),
        hd.orientation(model, state[0], name),
        hd.velocity(model, *state[:2], name),
        hd.angular_velocity(model, *state[:2], name),
        hd.acceleration(model, *state, name),
        hd.angular_acceleration(model, *state, name),
        hd.jacobian(model, state[0], name),
        hd.angular_jacobian(model, state[0], name),
    )
    for k, (q, v, a) in enumerate(zip(*state, strict=True)):
        pin.forwardKinematics(peer.pin, peer.data, peer.q(q), v, a)
        pin.computeJointJacobians(peer.pin, peer.data, peer.q(q))
        placed = pin.updateFramePlacement(peer.pin, peer.data, index)
        moving = pin.getFrameVelocity(peer.pin, peer.data, index, axes)
        changing = pin.getFrameClassicalAcceleration(peer.pin, peer.data, index, axes)
        columns = pin.getFrameJacobian(peer.pin, peer.data, index, axes)
        theirs = (
            placed.translation,
            placed.rotation,
            moving.linear,
            moving.angular,
            changing.linear,
            changing.angular,
            columns[:3],
            columns[3:],
        )
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine[k], other)


def test_a_point_is_given_in_the_axes_of_its_frame(peer, state):
    name, point = f"tip{len(peer.model.bodies) - 1}", np.array([0.1, -0.2, 0.3])
    there = hd.position(peer.model, state[0], name, point)
    turned = hd.orientation(peer.model, state[0], name) @ point
    assert_same(there, hd.position(peer.model, state[0], name) + turned)


def test_center_of_mass(peer, state):
    center = hd.center_of_mass(peer.model, state[0])
    speed = hd.center_of_mass_velocity(peer.model, *state[:2])
    columns = hd.center_of_mass_jacobian(peer.model, state[0])
    # What is fixed to the world has mass here but belongs to no joint there.
    still = peer.pin.inertias[0]
    share = sum(i.mass for i in peer.pin.inertias[1:]) / peer.model.mass
    for k, (q, v, _) in enumerate(zip(*state, strict=True)):
        theirs = pin.centerOfMass(peer.pin, peer.data, peer.q(q), v)
        whole = share * theirs + still.mass * still.lever / peer.model.mass
        assert_same(center[k], whole)
        assert_same(speed[k], share * peer.data.vcom[0])
        jacobian = pin.jacobianCenterOfMass(peer.pin, peer.data, peer.q(q))
        assert_same(columns[k], share * jacobian)


def test_momentum_and_energy(peer, state):
    total = hd.momentum(peer.model, *state[:2])
    kinetic = hd.kinetic_energy(peer.model, *state[:2])
    potential = hd.potential_energy(peer.model, state[0])
    still = peer.pin.inertias[0]
    for k, (q, v, _) in enumerate(zip(*state, strict=True)):
        centroidal = pin.computeCentroidalMomentum(peer.pin, peer.data, peer.q(q), v)
        shift = peer.data.com[0] - hd.center_of_mass(peer.model, q)
        about = centroidal.angular + np.cross(shift, centroidal.linear)
        assert_same(total[k], np.concatenate([about, centroidal.linear]))
        # Its computeKineticEnergy misses rotors inside composite joints; its mass matrix does not.
        upper = np.triu(pin.crba(peer.pin, peer.data, peer.q(q)))
        mass = upper + np.triu(upper, 1).T
        assert_same(kinetic[k], v @ mass @ v / 2)
        fixed = -still.mass * peer.pin.gravity.linear @ still.lever
        expected = pin.computePotentialEnergy(peer.pin, peer.data, peer.q(q)) + fixed
        assert_same(potential[k], expected)
