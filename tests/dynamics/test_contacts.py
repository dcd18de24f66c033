"""Contacts with the ground: rolling heels, balances of force, and rows that nearly depend."""

import numpy as np
import pytest

from homodyn.dynamics import (
    PointContact,
    RollingSphere,
    center_of_mass,
    center_of_mass_velocity,
    constrained_dynamics,
    orientation,
)
from homodyn.dynamics.constraint_rows import constraint_bias, constraint_error, constraint_jacobian
from homodyn.model import Body, Coordinate, Joint, JointAxis, Model

RADIUS = 0.07


def heel(kit):
    """A single body that can roll, its mass off the center of the sphere."""
    motions = [JointAxis("slide", kit.AXES[axis], k) for k, axis in enumerate("xyz")]
    motions += [JointAxis("turn", kit.AXES[axis], k + 3) for k, axis in enumerate("zyx")]
    joint = Joint(
        "root",
        "world",
        "foot",
        "custom",
        tuple(Coordinate(name) for name in ("x", "y", "z", "yaw", "pitch", "roll")),
        tuple(motions),
    )
    foot = Body("foot", 1.2, (0.03, 0.01, -0.02), np.diag([0.002, 0.004, 0.005]))
    return Model("heel", (foot,), (joint,))


def rolling_start(model, sphere, rates):
    """A pose on the ground, with turning rates and the velocity of the center that fits them."""
    q = np.array([0.0, 0.0, RADIUS, 0.2, 0.1, -0.1])
    v = np.array([0.0, 0.0, 0.0, *rates])
    G = constraint_jacobian(model, q, sphere)
    v[:3] = -np.linalg.solve(G[:, :3], G[:, 3:] @ v[3:])
    return q, v


def rolled(kit, model, sphere, q, v):
    """Slip, height and state after rolling freely for a quarter of a second."""

    def acceleration(q, v):
        return constrained_dynamics(model, q, v, np.zeros(6), sphere).acceleration

    q, v, _ = kit.rk4(acceleration, q, v, 2.5e-4, 1000)
    exact = RollingSphere("foot", (0, 0, 0), RADIUS)
    slip = constraint_jacobian(model, q, exact) @ v
    return slip[:2], constraint_error(model, q, exact)[2], q


def test_heel_rolls_without_slip_at_constant_height_also_when_it_spins(kit):
    model = heel(kit)
    sphere = RollingSphere("foot", (0.0, 0.0, 0.0), RADIUS)
    q, v = rolling_start(model, sphere, (2.0, 1.5, 0.5))
    slip, height, end = rolled(kit, model, sphere, q, v)
    assert np.abs(slip).max() < 1e-9
    assert abs(height) < 1e-10
    assert np.linalg.norm(end[:2]) > 0.02


def test_the_body_fixed_variant_slips_when_the_heel_spins_about_the_vertical(kit):
    model = heel(kit)
    sphere = RollingSphere("foot", (0.0, 0.0, 0.0), RADIUS, exact=False)
    q, v = rolling_start(model, sphere, (2.0, 1.5, 0.5))
    slip, height, _ = rolled(kit, model, sphere, q, v)
    assert np.abs(slip).max() > 1e-3
    assert abs(height) < 1e-10
    difference = constraint_bias(model, q, v, sphere) - constraint_bias(
        model, q, v, RollingSphere("foot", (0.0, 0.0, 0.0), RADIUS)
    )
    assert np.abs(difference[:2]).max() > 0.01
    assert difference[2] == 0


def test_both_variants_agree_for_rolling_in_a_vertical_plane(kit):
    model = heel(kit)
    exact = RollingSphere("foot", (0.0, 0.0, 0.0), RADIUS)
    fixed = RollingSphere("foot", (0.0, 0.0, 0.0), RADIUS, exact=False)
    q = np.array([0.0, 0.0, RADIUS, 0.0, 0.3, 0.0])
    v = np.array([RADIUS * 2.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    assert np.abs(constraint_jacobian(model, q, exact) @ v).max() < 1e-15
    np.testing.assert_allclose(
        constraint_bias(model, q, v, fixed), constraint_bias(model, q, v, exact), atol=1e-15
    )


def test_the_body_fixed_variant_is_a_point_contact_at_the_lowest_point(kit):
    """Felis' rows: the point under the center now, taken for one of the body."""
    model = heel(kit)
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-0.5, 0.5, 6), rng.uniform(-1, 1, 6)
    sphere = RollingSphere("foot", (0.01, 0.02, 0.03), RADIUS, exact=False)
    lowest = np.array([0.01, 0.02, 0.03]) - RADIUS * orientation(model, q, "foot")[2]
    point = PointContact("foot", lowest, "xy")
    np.testing.assert_allclose(
        constraint_jacobian(model, q, sphere)[:2], constraint_jacobian(model, q, point), atol=1e-14
    )
    np.testing.assert_allclose(
        constraint_bias(model, q, v, sphere)[:2], constraint_bias(model, q, v, point), atol=1e-14
    )


def test_ground_forces_balance_weight_and_change_of_momentum(kit):
    model = kit.human("free")
    constraints = kit.corners("right") + kit.corners("left")
    q, v, tau = kit.states(model, 4, 31, spread=0.25)
    tau[:, :6] = 0
    result = constrained_dynamics(model, q, v, tau, constraints)
    step = 1e-6
    after = center_of_mass_velocity(
        model, kit.shifted(model, q, v, step), v + step * result.acceleration
    )
    before = center_of_mass_velocity(
        model, kit.shifted(model, q, v, -step), v - step * result.acceleration
    )
    needed = model.mass * ((after - before) / (2 * step) - model.gravity)
    total = result.force.reshape(len(q), -1, 3).sum(axis=1)
    np.testing.assert_allclose(total, needed, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("tilt", [1e-2, 1e-4, 1e-5, 1e-6, 1e-8, 0.0])
def test_feet_that_are_nearly_level_lose_no_digits(kit, tilt):
    """Rows of two heel points along the line between them are nearly one, whatever their order."""
    model = kit.human()
    constraints = kit.corners("right") + kit.corners("left")
    rng = np.random.default_rng(5)
    q = tilt * rng.uniform(-1, 1, (5, model.nq))
    v = rng.uniform(-1, 1, (5, model.nv))
    G = constraint_jacobian(model, q, constraints)
    v = v - np.einsum("kij,kj->ki", np.linalg.pinv(G, rcond=1e-9) @ G, v)
    tau = 20 * rng.uniform(-1, 1, (5, model.nv))
    results = [
        constrained_dynamics(model, q, v, tau, constraints, method)
        for method in ("range", "direct", "null", "recursive")
    ]
    gamma = constraint_bias(model, q, v, constraints)
    for result in results:
        assert (result.rank == 12).all()
        reached = np.einsum("kij,kj->ki", G, result.acceleration)
        np.testing.assert_allclose(reached, gamma, atol=1e-10)
        np.testing.assert_allclose(result.force, results[0].force, rtol=1e-9, atol=1e-7)
        for k in range(len(q)):
            within = G[k] @ np.linalg.lstsq(G[k], result.force[k], rcond=1e-9)[0]
            np.testing.assert_allclose(within, result.force[k], rtol=1e-9, atol=1e-8)


def test_two_points_hold_all_but_the_turn_about_their_line(kit):
    """Six rows of rank five in every pose, also with the line along an axis of the world."""
    model = heel(kit)
    pair = PointContact("foot", (0.0, -0.1, 0.0)) + PointContact("foot", (0.0, 0.1, 0.0))
    q = np.zeros((4, 6))
    q[1:, 3:] = [[1e-5, 2e-5, -1e-5], [1e-3, 0, 0], [0.3, 0.2, 0.1]]
    for method in ("range", "direct", "null", "recursive"):
        result = constrained_dynamics(model, q, np.zeros((4, 6)), np.zeros((4, 6)), pair, method)
        np.testing.assert_array_equal(result.rank, 5)
        G = constraint_jacobian(model, q, pair)
        reached = np.einsum("kij,kj->ki", G, result.acceleration)
        np.testing.assert_allclose(reached, 0, atol=1e-12)
        # About the line the weight turns the foot: m g x / (I + m (x2 + z2)).
        about = 0.004 + 1.2 * (0.03**2 + 0.02**2)
        assert result.acceleration[0, 4] == pytest.approx(1.2 * 9.81 * 0.03 / about, rel=1e-12)


def test_parts_far_from_the_ground_do_not_feel_rounding_of_the_place(kit):
    """A walker a kilometer away has the same forces as at the origin."""
    model = kit.human()
    constraints = kit.contact_sets()["forefoot and flat"]
    q, v, tau = kit.states(model, 3, 32, spread=0.25)
    near = constrained_dynamics(model, q, v, tau, constraints)
    q[:, :2] += 1000.0
    far = constrained_dynamics(model, q, v, tau, constraints)
    np.testing.assert_allclose(far.force, near.force, rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(center_of_mass(model, q)[:, :2].mean(), 1000.0, atol=1.0)
