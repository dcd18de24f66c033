"""Constrained forward dynamics: four methods, dependent rows, and what the equations say."""

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics import (
    ConstrainedMotion,
    ConstraintSet,
    PointContact,
    RollingSphere,
    Weld,
    bias_force,
    constrained_dynamics,
    forward_dynamics,
    inverse_dynamics,
    mass_matrix,
    position,
)
from homodyn.dynamics.constraint_rows import constraint_bias, constraint_jacobian
from homodyn.errors import ModelError
from homodyn.model import Body, Coordinate, Coupler, Joint, JointAxis, Model, parametric
from homodyn.model.functions import Linear
from homodyn.spatial import Transform
from homodyn.symbolic.passes.pipeline import lower_and_contract

METHODS = ("range", "direct", "null", "recursive")
AGREEMENT = 1e-9
"""Relative difference allowed between methods."""
MET = 1e-10
"""Largest |G a - gamma| (m/s2, rad/s2), with accelerations in the hundreds."""


def walking(model, kit, count, seed, constraints=None):
    """States with soles near level, and velocities that the constraints allow."""
    q, v, tau = kit.states(model, count, seed, spread=0.25)
    if model.nq > model.nv:
        tilt = np.concatenate([np.ones((count, 1)), 0.1 * q[:, 4:7]], axis=1)
        q[:, 3:7] = tilt / np.linalg.norm(tilt, axis=1, keepdims=True)
    if constraints is not None:
        G = constraint_jacobian(model, q, constraints)
        v = v - np.einsum("kij,kj->ki", np.linalg.pinv(G, rcond=1e-9) @ G, v)
    return q, v, tau


def difference(a, b):
    """Largest difference, relative to the largest number."""
    return np.abs(a - b).max() / np.abs(b).max()


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ("euler", "heel"),
        ("euler", "forefoot"),
        ("euler", "flat"),
        ("euler", "forefoot and heel"),
        ("euler", "forefoot and flat"),
        ("euler", "corners"),
        ("free", "forefoot and flat"),
    ],
)
def test_methods_agree_and_constraints_are_met(kit, root, name):
    model = kit.human(root)
    constraints = kit.contact_sets()[name]
    q, v, tau = walking(model, kit, 20, 1, constraints)
    G, gamma = constraint_jacobian(model, q, constraints), constraint_bias(model, q, v, constraints)
    results = {m: constrained_dynamics(model, q, v, tau, constraints, m) for m in METHODS}
    reference = dense(model, q, v, tau, G, gamma)
    for method, result in results.items():
        reached = np.einsum("kij,kj->ki", G, result.acceleration)
        assert (result.rank == kit.RANKS[name]).all(), method
        assert np.abs(reached - gamma).max() < MET, method
        assert result.residual.max() < 1e-11, method
        assert difference(result.acceleration, results["range"].acceleration) < AGREEMENT, method
        assert difference(result.force, results["range"].force) < AGREEMENT, method
        assert difference(result.acceleration, reference[0]) < 1e-8, method
        assert difference(result.force, reference[1]) < 1e-8, method


def dense(model, q, v, tau, G, gamma):
    """Accelerations and forces of minimum norm by dense linear algebra, state by state."""
    H, c = mass_matrix(model, q), tau - bias_force(model, q, v)
    accelerations, forces = [], []
    for k in range(len(q)):
        back = np.linalg.solve(H[k], np.column_stack([G[k].T, c[k]]))
        A, b = G[k] @ back[:, :-1], gamma[k] - G[k] @ back[:, -1]
        force = np.linalg.lstsq((A + A.T) / 2, b, rcond=1e-10)[0]
        accelerations.append(back[:, -1] + back[:, :-1] @ force)
        forces.append(force)
    return np.array(accelerations), np.array(forces)


def test_dependent_rows_give_the_motion_of_a_weld_and_forces_of_least_norm(kit):
    model = kit.human()
    corners, weld = kit.corners("right"), Weld("foot_right")
    q, v, tau = walking(model, kit, 10, 2, corners)
    many = constrained_dynamics(model, q, v, tau, corners)
    few = constrained_dynamics(model, q, v, tau, weld)
    assert (many.rank == 6).all()
    assert (few.rank == 6).all()
    assert difference(many.acceleration, few.acceleration) < AGREEMENT
    G = constraint_jacobian(model, q, corners)
    for k in range(len(q)):
        # Minimum norm: nothing of the forces lies where they do nothing.
        within = G[k] @ np.linalg.lstsq(G[k], many.force[k], rcond=1e-9)[0]
        assert difference(within, many.force[k]) < AGREEMENT
    np.testing.assert_allclose(
        many.force.reshape(-1, 4, 3).sum(axis=1), few.force[:, :3], rtol=1e-7, atol=1e-6
    )


def test_rows_that_contradict_each_other_are_met_as_well_as_can_be_and_said_so(kit):
    model = kit.human()
    corners = kit.corners("right")
    q, v, tau = walking(model, kit, 5, 3)
    G, gamma = constraint_jacobian(model, q, corners), constraint_bias(model, q, v, corners)
    reference = dense(model, q, v, tau, G, gamma)
    for method in METHODS:
        result = constrained_dynamics(model, q, v, tau, corners, method)
        assert (result.residual > 1e-6).all(), method
        assert difference(result.acceleration, reference[0]) < 1e-8, method
        assert difference(result.force, reference[1]) < 1e-7, method


def test_a_row_written_twice_changes_no_motion(kit):
    model = kit.human()
    q, v, tau = walking(model, kit, 5, 4)
    once = PointContact("foot_left", (0.1, 0.0, -0.07))
    tilted = ((0.6, 0.0, 0.8), (0.0, 1.0, 0.0))
    twice = once + PointContact("foot_left", (0.1, 0.0, -0.07), tilted)
    one = constrained_dynamics(model, q, v, tau, once)
    two = constrained_dynamics(model, q, v, tau, twice)
    assert (two.rank == 3).all()
    assert difference(two.acceleration, one.acceleration) < AGREEMENT


def test_forces_are_those_that_inverse_dynamics_needs(kit):
    model = kit.human("free")
    constraints = kit.contact_sets()["forefoot and heel"]
    q, v, tau = walking(model, kit, 5, 5)
    result = constrained_dynamics(model, q, v, tau, constraints)
    pushed = np.einsum("kij,ki->kj", constraint_jacobian(model, q, constraints), result.force)
    needed = inverse_dynamics(model, q, v, result.acceleration)
    assert difference(tau + pushed, needed) < 1e-11


def test_forces_carry_the_weight_of_a_standing_body_upwards(kit):
    model = Model(
        "block",
        (Body("block", 2.0, inertia=np.diag([0.1, 0.2, 0.3])),),
        (Joint("root", "world", "block", "free", tuple(Coordinate(f"c{k}") for k in range(6))),),
    )
    feet = PointContact("block", (0.3, 0.0, -0.1))
    for place in ((-0.3, 0.2, -0.1), (-0.3, -0.2, -0.1)):
        feet = feet + PointContact("block", place)
    q = np.array([0.0, 0, 0, 1, 0, 0, 0])
    result = constrained_dynamics(model, q, np.zeros(6), np.zeros(6), feet)
    np.testing.assert_allclose(result.acceleration, 0, atol=1e-13)
    assert result.rank == 6
    assert (result.force[2::3] > 0).all()
    np.testing.assert_allclose(result.force[2::3].sum(), 2.0 * 9.81, rtol=1e-13)


def test_without_need_of_forces_the_motion_is_the_free_one(kit):
    model = kit.human()
    q, v, tau = walking(model, kit, 3, 6)
    free = forward_dynamics(model, q, v, tau)
    heel = RollingSphere("heel_right")
    result = constrained_dynamics(model, q, v, tau, heel)
    push = np.einsum("kij,ki->kj", constraint_jacobian(model, q, heel), result.force)
    again = forward_dynamics(model, q, v, tau + push)
    assert difference(again, result.acceleration) < 1e-11
    assert difference(free, result.acceleration) > 1e-3


def test_without_constraints_the_body_flies(kit):
    model = kit.human()
    q, v, tau = walking(model, kit, 3, 11)
    for method in METHODS:
        result = constrained_dynamics(model, q, v, tau, ConstraintSet(), method)
        assert result.force.shape == (3, 0)
        assert (result.rank == 0).all()
        assert difference(result.acceleration, forward_dynamics(model, q, v, tau)) < 1e-10


def test_external_wrenches_enter(kit):
    model = kit.human()
    q, v, tau = walking(model, kit, 3, 7)
    heel = RollingSphere("heel_right")
    wrench = {"hallux_left": np.array([1.0, 2, 3, 40, 50, 60])}
    for method in METHODS:
        result = constrained_dynamics(model, q, v, tau, heel, method, external=wrench)
        load = tau + bias_force(model, q, v) - bias_force(model, q, v, external=wrench)
        expected = constrained_dynamics(model, q, v, load, heel, method)
        assert difference(result.acceleration, expected.acceleration) < 1e-10, method


def test_coupled_coordinates_are_constrained_and_the_recursive_method_says_it_cannot(kit):
    model = chain(kit, couplers=(Coupler("third_y", "second_y", Linear(0.5)),))
    tip = PointContact("c", (0.0, 0.0, -1.0), "z")
    rng = np.random.default_rng(8)
    q, v, tau = rng.uniform(-1, 1, (3, 4, model.nv))
    results = [constrained_dynamics(model, q, v, tau, tip, m) for m in METHODS[:3]]
    G = constraint_jacobian(model, q, tip)
    for result in results:
        reached = np.einsum("kij,kj->ki", G, result.acceleration)
        np.testing.assert_allclose(reached, constraint_bias(model, q, v, tip), atol=MET)
        assert difference(result.acceleration, results[0].acceleration) < AGREEMENT
    with pytest.raises(ModelError, match="use range, direct or null"):
        constrained_dynamics(model, q, v, tau, tip, "recursive")


def test_parameters_of_the_model_reach_the_constraints(kit):
    def pendulum(length):
        bodies = (
            Body("a", 1.0, [0, 0, -0.5 * length], np.eye(3) * 0.1),
            Body("b", 1.0, [0, 0, -0.5], np.eye(3) * 0.1),
        )
        joints = (
            kit.turning("first", "world", "a", "y"),
            Joint(
                "second",
                "a",
                "b",
                "revolute",
                (Coordinate("second_y"),),
                (JointAxis("turn", kit.AXES["y"]),),
                placement=Transform(np.eye(3), ca.vertcat(0, 0, -length)),
            ),
        )
        return Model("pendulum", bodies, joints)

    model = parametric(pendulum, length=1.0)
    tip = PointContact("b", (0.0, 0.0, -1.0), "x")
    q, v, tau = np.array([0.3, 0.4]), np.array([1.0, -0.5]), np.zeros(2)
    for length in (1.0, 1.7):
        expected = constrained_dynamics(pendulum(length), q, v, tau, tip)
        result = constrained_dynamics(model, q, v, tau, tip, parameters={"length": length})
        np.testing.assert_allclose(result.acceleration, expected.acceleration, rtol=1e-12)


def test_it_can_stand_inside_a_larger_function_and_be_differentiated(kit):
    model = chain(kit)
    tip = PointContact("c", (0.0, 0.0, -1.0), "xz")
    x = ca.SX.sym("q", model.nq)
    v, tau = np.array([0.5, -0.3, 0.2]), np.array([1.0, 2.0, 3.0])
    inside = constrained_dynamics(model, x, v, tau, tip)
    assert isinstance(inside, ConstrainedMotion)
    slope = ca.Function("slope", [x], [ca.jacobian(inside.force, x)])
    q = np.array([0.3, -0.5, 0.7])
    step = 1e-6 * np.eye(3)
    by_steps = [
        (
            constrained_dynamics(model, q + d, v, tau, tip).force
            - constrained_dynamics(model, q - d, v, tau, tip).force
        )
        / 2e-6
        for d in step
    ]
    np.testing.assert_allclose(slope(q).full(), np.transpose(by_steps), rtol=1e-6, atol=1e-6)


def test_rank_falls_where_a_chain_is_stretched(kit):
    model = chain(kit)
    tip = PointContact("c", (0.0, 0.0, -1.0), "xz")
    q = np.array([[0.0, 0.0, 0.0], [0.3, -0.5, 0.7]])
    for method in METHODS:
        result = constrained_dynamics(model, q, np.zeros((2, 3)), np.zeros((2, 3)), tip, method)
        np.testing.assert_array_equal(result.rank, [1, 2])
        assert np.isfinite(result.force).all()


def test_unknown_methods_are_refused_with_the_known_ones(kit):
    model = kit.human()
    q, v, tau = walking(model, kit, 1, 9)
    with pytest.raises(ModelError, match="range, direct, null, recursive"):
        constrained_dynamics(model, q, v, tau, RollingSphere("heel_left"), "magic")


def test_contacts_cost_little_beside_the_tree(kit):
    """Instructions, not time: 11 rows within 1.5 of forward dynamics and mass matrix together."""
    model = kit.human()
    args = [np.zeros(model.nv)] * 3
    constraints = kit.contact_sets()["forefoot and flat"]
    count = {
        method: length(constrained_dynamics.kernel(model, *args, constraints, method))
        for method in METHODS
    }
    tree = length(forward_dynamics.kernel(model, *args)) + length(
        mass_matrix.kernel(model, args[0])
    )
    assert count["range"] < 1.5 * tree
    assert min(count, key=count.get) == "range"


def test_cost_falls_with_branching(kit):
    """The branch-sparse factor: 12 joints in one chain, or in 4 chains of 3."""
    tip = PointContact("b11", (0.0, 0.0, -1.0), "xz")
    costs, solutions = [], []
    for branches in (1, 4):
        model = brush(kit, 12, branches)
        q, v, tau = np.random.default_rng(10).uniform(-1, 1, (3, model.nv))
        costs.append(length(constrained_dynamics.kernel(model, q, v, tau, tip)))
        G, gamma = constraint_jacobian(model, q, tip), constraint_bias(model, q, v, tip)
        reference = dense(model, q[None], v[None], tau[None], G[None], gamma[None])[0][0]
        solutions.append(
            difference(constrained_dynamics(model, q, v, tau, tip).acceleration, reference)
        )
    assert costs[1] < 0.6 * costs[0]
    assert max(solutions) < 1e-9


def length(kernel):
    """Instructions of a kernel after simplification."""
    return len(lower_and_contract(kernel.traced.graph))


def chain(kit, couplers=()):
    """Three rods in a vertical plane."""
    names = ("world", "a", "b", "c")
    bodies = tuple(kit.rod(name, 1.0, 1.0) for name in names[1:])
    joints = tuple(
        kit.turning(f"{word}", names[k], names[k + 1], "y", (0, 0, -1.0 if k else 0.0))
        for k, word in enumerate(("first", "second", "third"))
    )
    return Model("chain", bodies, joints, couplers=couplers)


def brush(kit, count, branches):
    """Rods in equal chains that hang on the world."""
    bodies, joints = [], []
    per = count // branches
    for k in range(count):
        parent = "world" if k % per == 0 else f"b{k - 1}"
        bodies.append(kit.rod(f"b{k}", 1.0, 1.0))
        joints.append(kit.turning(f"j{k}", parent, f"b{k}", "y", (0, 0, -1.0 if k % per else 0)))
    return Model(f"brush of {branches}", tuple(bodies), tuple(joints))


def test_a_contact_point_does_not_move_when_the_motion_is_integrated(kit):
    model = chain(kit)
    tip = PointContact("c", (0.0, 0.0, -1.0), "xz")
    start = np.array([0.3, -0.5, 0.7])

    def acceleration(q, v):
        return constrained_dynamics(model, q, v, np.zeros(3), tip).acceleration

    q, _, _ = kit.rk4(acceleration, start, np.zeros(3), 1e-3, 300)
    end = np.array([0.0, 0.0, -1.0])
    drift = position(model, q, "c", end) - position(model, start, "c", end)
    assert np.abs(drift).max() < 1e-9
    assert np.abs(q - start).max() > 0.1


def test_a_result_prints_one_line_per_field():
    result = ConstrainedMotion(np.zeros((100, 40)), np.ones((100, 18)), np.zeros(100), np.ones(100))
    lines = repr(result).splitlines()
    assert lines[0] == "ConstrainedMotion"
    assert lines[1] == "  acceleration  100 x 40, 0 to 0"
    assert len(lines) == 5
    assert result.summary() == repr(result)
