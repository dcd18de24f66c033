"""What must hold between the laws on any tree, and the slips in print that break it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn import dynamics as hd
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import Assembly, Model, integrate, joints, rod
from homodyn.spatial import Transform, cross_force, cross_motion, skew
from homodyn.symbolic import kernel
from support.trees import ALL_KINDS, human_tree, random_state, random_tree


def relative(ours, exact):
    return np.abs(ours - exact).max() / max(1.0, np.abs(exact).max())


@pytest.fixture(scope="module", params=["human", "all kinds"])
def model(request):
    return human_tree() if request.param == "human" else random_tree(7, 15, ALL_KINDS)


@pytest.fixture(scope="module")
def state(model):
    return random_state(model, 3, 4)


def test_inverse_dynamics_is_mass_times_acceleration_and_bias(model, state):
    q, v, a = state
    mass, bias = hd.mass_matrix(model, q), hd.bias_force(model, q, v)
    expected = (mass @ a[..., None])[..., 0] + bias
    assert relative(hd.inverse_dynamics(model, q, v, a), expected) < 2e-15


def test_forward_dynamics_solves_the_equations_of_motion(model, state):
    q, v, tau = state
    last = model.frames[-1].name if model.frames else "hand_l"
    wrench = np.array([1.0, -2.0, 3.0, 40.0, -50.0, 60.0])
    columns = np.concatenate(
        [hd.angular_jacobian(model, q, last), hd.jacobian(model, q, last)], axis=-2
    )
    pushed = tau - hd.bias_force(model, q, v) + np.swapaxes(columns, -1, -2) @ wrench
    expected = np.linalg.solve(hd.mass_matrix(model, q), pushed[..., None])[..., 0]
    ours = hd.forward_dynamics(model, q, v, tau, external={last: wrench})
    assert relative(ours, expected) < 1e-11


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 8))
def test_inverse_undoes_forward_dynamics(seed, count):
    model = random_tree(seed, count, ALL_KINDS)
    q, v, tau = random_state(model, seed, 2)
    a = hd.forward_dynamics(model, q, v, tau)
    assert relative(hd.inverse_dynamics(model, q, v, a), tau) < 1e-10


def test_mass_matrix_is_symmetric_and_positive(model, state):
    mass = hd.mass_matrix(model, state[0])
    np.testing.assert_array_equal(mass, np.swapaxes(mass, -1, -2))
    assert np.linalg.eigvalsh(mass).min() > 0


def test_mass_matrix_is_zero_exactly_between_branches():
    model = human_tree()
    mass = hd.mass_matrix(model, random_state(model, 1)[0])
    owner = [i for i, joint in enumerate(model.joints) for _ in range(joint.nv)]

    def above(i):
        return {i} | (above(model.parents[i]) if model.parents[i] >= 0 else set())

    for r, i in enumerate(owner):
        for c, j in enumerate(owner):
            if i not in above(j) and j not in above(i):
                assert mass[r, c] == 0
    connected = sum(i in above(j) or j in above(i) for i in owner for j in owner)
    assert np.count_nonzero(mass) > 0.8 * connected


def test_mass_matrix_gathers_every_body():
    model = random_tree(21, 6, ALL_KINDS)
    q, v, _ = random_state(model, 2)
    total = np.zeros((model.nv, model.nv))
    for body in model.bodies:
        linear = hd.jacobian(model, q, body.name, body.com)
        angular = hd.angular_jacobian(model, q, body.name)
        turn = hd.orientation(model, q, body.name)
        total += body.mass * linear.T @ linear + angular.T @ turn @ body.inertia @ turn.T @ angular
    assert relative(hd.mass_matrix(model, q), total) < 1e-13
    assert relative(hd.kinetic_energy(model, q, v), v @ total @ v / 2) < 1e-13


def test_rotors_add_to_the_diagonal():
    plain, geared = pendulums(2, 2), pendulums(2, 2, armature=0.3)
    q, v, a = random_state(plain, 1)
    added = hd.mass_matrix(geared, q) - hd.mass_matrix(plain, q)
    np.testing.assert_allclose(added, 0.3 * np.eye(4), atol=1e-15)
    energy = hd.kinetic_energy(geared, q, v) - hd.kinetic_energy(plain, q, v)
    assert relative(energy, 0.15 * v @ v) < 1e-14
    tau = hd.inverse_dynamics(plain, q, v, a) + 0.3 * a
    assert relative(hd.inverse_dynamics(geared, q, v, a), tau) < 1e-14
    assert relative(hd.forward_dynamics(geared, q, v, tau), a) < 1e-13


@pytest.fixture(scope="module")
def point():
    return np.array([0.1, 0.2, -0.3])


def test_velocity_and_acceleration_of_a_point_follow_small_steps(model, state, point):
    q, v, a = (x[0] for x in state)
    frame = model.bodies[-1].name
    h = 1e-4
    times = np.array([[-h], [0.0], [h]])
    path = integrate(model, q, v * times + a * times**2 / 2)
    before, now, after = hd.position(model, path, frame, point)
    velocity = hd.velocity(model, q, v, frame, point)
    acceleration = hd.acceleration(model, q, v, a, frame, point)
    measured = (after - 2 * now + before) / h**2
    assert relative(velocity, (after - before) / (2 * h)) < 1e-6
    assert relative(acceleration, measured) < 1e-5
    # The linear part of a spatial acceleration lacks w x v of the point (Felis eq. 3.59).
    trap = acceleration - np.cross(hd.angular_velocity(model, q, v, frame), velocity)
    assert relative(trap, measured) > 1e-3


def test_jacobian_gives_velocity_and_is_zero_beside_the_path(model, state, point):
    q, v, _ = (x[0] for x in state)
    frame = model.bodies[-1].name
    columns = hd.jacobian(model, q, frame, point)
    assert relative(columns @ v, hd.velocity(model, q, v, frame, point)) < 1e-13
    path = Tree(model, q).ancestors(len(model.bodies) - 1)
    owner = [i for i, joint in enumerate(model.joints) for _ in range(joint.nv)]
    beside = [k for k, i in enumerate(owner) if i not in path]
    assert beside
    assert not columns[:, beside].any()


def test_the_world_does_not_move():
    model = human_tree()
    q, v, a = random_state(model, 1, 2)
    assert not hd.velocity(model, q, v, "world").any()
    assert not hd.acceleration(model, q, v, a, "world").any()
    assert not hd.jacobian(model, q, "world").any()
    where = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(hd.position(model, q, "world", where), [where, where])
    with pytest.raises(ModelError, match="acts on the world"):
        hd.inverse_dynamics(model, q, v, a, external={"world": np.zeros(6)})


def test_jacobian_rebased_to_another_body():
    """Kieboom eq. 2.67: J_j - Xtr(r_j - r_i) J_i is the motion of j seen from body i."""
    model = human_tree()
    q, v, _ = random_state(model, 6)
    tip, base = "hand_l", "lumbar"
    arm = hd.position(model, q, tip) - hd.position(model, q, base)
    rebased = hd.jacobian(model, q, tip) - (
        hd.jacobian(model, q, base) - skew(arm) @ hd.angular_jacobian(model, q, base)
    )
    carrying_both = [model.coordinate_index("pelvis_tx"), model.coordinate_index("lumbar_ry")]
    assert np.abs(rebased[:, carrying_both]).max() < 1e-14
    assert np.abs(rebased[:, model.coordinate_index("arm_l_ry")]).max() > 0.1
    h = 1e-6
    path = integrate(model, q, np.array([[-h], [h]]) * v)
    turns = np.swapaxes(hd.orientation(model, path, base), -1, -2)
    apart = hd.position(model, path, tip) - hd.position(model, path, base)
    before, after = (turns @ apart[..., None])[..., 0]
    seen = hd.orientation(model, q, base) @ (after - before) / (2 * h)
    assert relative(rebased @ v, seen) < 1e-8


def test_centre_of_mass_jacobian_needs_the_masses():
    """Kieboom eq. 2.70 prints the Jacobian of all joints moved to the centre of mass."""
    model = human_tree()
    q, v, _ = random_state(model, 2)
    h = 1e-6
    before, after = hd.center_of_mass(model, integrate(model, q, np.array([[-h], [h]]) * v))
    measured = (after - before) / (2 * h)
    assert relative(hd.center_of_mass_velocity(model, q, v), measured) < 1e-8
    assert relative(hd.center_of_mass_jacobian(model, q) @ v, measured) < 1e-8
    center = hd.center_of_mass(model, q)
    tree = Tree(model, q, v)
    printed = sum(
        placed.E.T @ (joint.v[3:] + np.cross(joint.v[:3], placed.E @ (center - placed.r)))
        for joint, placed in zip(tree.joints, tree.placements, strict=True)
    )
    assert relative(printed, measured) > 1e-2


def test_momentum_moves_like_a_force():
    """Felis eq. 3.66 prints the transform of motions."""
    model = random_tree(14, 4)
    q, v, _ = random_state(model, 4)
    center = hd.center_of_mass(model, q)
    angular, linear = np.zeros(3), np.zeros(3)
    for body in model.bodies:
        turn = hd.orientation(model, q, body.name)
        speed = hd.velocity(model, q, v, body.name, body.com)
        spin = hd.angular_velocity(model, q, v, body.name)
        arm = hd.position(model, q, body.name, body.com)
        angular += turn @ body.inertia @ turn.T @ spin + np.cross(arm, body.mass * speed)
        linear += body.mass * speed
    at_origin = np.concatenate([angular, linear])
    shift = Transform(np.eye(3), center)
    ours = hd.momentum(model, q, v)
    assert relative(ours, shift.force(at_origin)) < 1e-12
    assert relative(ours, shift.motion(at_origin)) > 1e-2


def by_matrices(model, q, v, a, *, sweep=True):
    """Algorithm 1 with 6x6 matrices; ``sweep``: the term v x vJ that line 10 leaves out."""
    tree = Tree(model, q, v)
    above = {-1: (np.zeros(6), np.concatenate([np.zeros(3), -model.gravity]))}
    forces, start = [], 0
    for i, joint in enumerate(tree.joints):
        X = joint.X.motion_matrix()
        moving, changing = (X @ x for x in above[model.parents[i]])
        moving = moving + joint.v
        own = a[start : start + model.joints[i].nv]
        changing = changing + joint.S @ own + joint.c
        if sweep:
            changing = changing + cross_motion(moving, joint.v)
        above[i] = (moving, changing)
        inertia = model.bodies[i].spatial_inertia.matrix()
        forces.append(inertia @ changing + cross_force(moving, inertia @ moving))
        start += model.joints[i].nv
    tau = []
    for i in reversed(range(len(forces))):
        tau.append(tree.joints[i].S.T @ forces[i])
        if model.parents[i] >= 0:
            forces[model.parents[i]] += tree.joints[i].X.motion_matrix().T @ forces[i]
    return np.concatenate(tau[::-1])


def test_algorithm_1_needs_the_sweep_of_the_joint_velocity(model, state):
    q, v, a = (x[0] for x in state)
    ours = hd.inverse_dynamics(model, q, v, a)
    assert relative(by_matrices(model, q, v, a), ours) < 1e-13
    assert relative(by_matrices(model, q, v, a, sweep=False), ours) > 1e-3


def articulated_by_matrices(model, q, v, tau, base):
    """Algorithm 3 with 6x6 matrices, starting from the acceleration ``base`` of the world."""
    tree = Tree(model, q, v)
    count = len(model.bodies)
    inertia = [body.spatial_inertia.matrix() for body in model.bodies]
    moving, drift, bias = [], [], []
    for i, joint in enumerate(tree.joints):
        carried = np.zeros(6) if model.parents[i] < 0 else moving[model.parents[i]]
        moving.append(joint.X.motion_matrix() @ carried + joint.v)
        drift.append(joint.c + cross_motion(moving[i], joint.v))
        bias.append(cross_force(moving[i], inertia[i] @ moving[i]))
    stops = np.cumsum([joint.nv for joint in model.joints])
    own = [tau[stop - joint.nv : stop] for stop, joint in zip(stops, model.joints, strict=True)]
    for i in reversed(range(count)):
        S, X, p = tree.joints[i].S, tree.joints[i].X.motion_matrix(), model.parents[i]
        U = inertia[i] @ S
        inverse = np.linalg.inv(S.T @ U)
        u = own[i] - S.T @ bias[i]
        own[i] = (U, inverse, u)
        if p >= 0:
            passed = inertia[i] - U @ inverse @ U.T
            inertia[p] = inertia[p] + X.T @ passed @ X
            bias[p] = bias[p] + X.T @ (bias[i] + passed @ drift[i] + U @ inverse @ u)
    result, changing = [], []
    for i, (U, inverse, u) in enumerate(own):
        carried = base if model.parents[i] < 0 else changing[model.parents[i]]
        here = tree.joints[i].X.motion_matrix() @ carried + drift[i]
        a = inverse @ (u - U.T @ here)
        changing.append(here + tree.joints[i].S @ a)
        result.append(a)
    return np.concatenate(result)


def test_algorithm_3_needs_the_world_to_accelerate():
    model = human_tree()
    q, v, tau = random_state(model, 3)
    ours = hd.forward_dynamics(model, q, v, tau)
    upwards = np.concatenate([np.zeros(3), -model.gravity])
    assert relative(articulated_by_matrices(model, q, v, tau, upwards), ours) < 1e-11
    assert relative(articulated_by_matrices(model, q, v, tau, np.zeros(6)), ours) > 1e-3


def pendulums(branches: int, length: int, **settings: float) -> Model:
    """Hinges in a number of chains on the world."""
    build = Assembly(f"{branches}x{length}")
    for b in range(branches):
        for k in range(length):
            body = rod(f"b{b}_{k}", 1.0, (0.01, 0, 0), (0, 0.02, -1))
            parent = f"b{b}_{k - 1}" if k else "world"
            hinge = joints.revolute("xy"[k % 2], **settings)
            build = build.add(body, hinge, parent, at=(0, 0, -float(k > 0)))
    return build.model()


def factor_solver(model):
    def solve(q, b):
        tree = Tree(model, q)
        return factorize_mass_matrix(tree, composite_inertia(tree)).solve(b)

    return kernel(solve, q=model.nq, b=model.nv)


def test_sparse_factor_solves_like_a_dense_one_and_is_cheaper_with_branches():
    chain, branched = pendulums(1, 15), pendulums(5, 3)
    costs = []
    for model in (chain, branched):
        q, b, _ = random_state(model, 1)
        solve = factor_solver(model)
        assert relative(solve(q, b), np.linalg.solve(hd.mass_matrix(model, q), b)) < 1e-10
        costs.append(solve.instructions)
    assert costs[1] < costs[0] / 2


def test_passive_forces_pull_towards_rest_and_against_motion():
    springs = {"stiffness": (3.0, 5.0), "rest": (0.1, -0.2), "damping": (0.5, 0.7)}
    model = (
        Assembly("springs")
        .add(rod("a", 1.0, (0, 0, 0), (0.1, 0, -1)), joints.spherical(damping=0.2))
        .add(rod("b", 1.0, (0, 0.1, 0), (0.1, 0, -1)), joints.universal("x", "y", **springs), "a")
        .model()
    )
    q, v, _ = random_state(model, 1, 3)
    ours = hd.passive_force(model, q, v)
    turning, bending = v[:, :3], q[:, 4:]
    np.testing.assert_allclose(ours[:, :3], -0.2 * turning, rtol=1e-14)
    expected = np.array([3.0, 5.0]) * ([0.1, -0.2] - bending) - np.array([0.5, 0.7]) * v[:, 3:]
    np.testing.assert_allclose(ours[:, 3:], expected, rtol=1e-13)
