"""Closed loops: the parallel linkage and the pantograph of Kieboom 2014, models 2.20 and 2.21."""

import numpy as np
import pytest

from homodyn.dynamics import (
    Hinge,
    Pin,
    PointContact,
    Weld,
    center_of_mass,
    constrained_dynamics,
    inverse_dynamics,
    kinetic_energy,
    orientation,
    position,
)
from homodyn.dynamics.constraint_rows import (
    anchor_constraints,
    constraint_error,
    constraint_jacobian,
)
from homodyn.dynamics.constraints import Stabilization
from homodyn.model import Body, Coordinate, Frame, Joint, JointAxis, Model
from homodyn.spatial import Transform

OFFSET = 0.2 * np.pi
START = np.array([-OFFSET, 0.5 * np.pi + OFFSET, 0.5 * np.pi - OFFSET])
END = (0.0, 0.0, -1.0)
REST = np.zeros(3)


def box(mass, x, y, z):
    """Inertia of a box about its center."""
    return mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])


def link(name, parent, at, com, mass=1.0, size=(0.05, 0.05, 1.0), turn=None):
    """A box on a hinge about y, all turned by a rotation matrix if one is given."""
    R = np.eye(3) if turn is None else turn
    axis = R @ [0.0, 1.0, 0.0]
    body = Body(name, mass, R @ np.array(com), R @ box(mass, *size) @ R.T)
    joint = Joint(
        f"to_{name}",
        parent,
        name,
        "revolute",
        (Coordinate(f"{name}_y"),),
        (JointAxis("turn", axis),),
        placement=Transform(np.eye(3), R @ np.array(at, dtype=float)),
    )
    return body, joint


def linkage(turn=None):
    """Model 2.20: three unit links, of which the last is to be closed on the base."""
    parts = [
        link("p1", "world", (0, 0, 0), (0, 0, -0.5), turn=turn),
        link("p2", "p1", END, (0, 0, -0.5), turn=turn),
        link("p3", "p2", END, (0, 0, -0.5), turn=turn),
    ]
    bodies, joints = zip(*parts, strict=True)
    g = np.array([0.0, 0.0, -9.81])
    return Model("linkage", bodies, joints, gravity=g if turn is None else turn @ g)


LOOP = Hinge("p3", axis="y", point=END, anchor=(-1.0, 0.0, 0.0))


def motion(model, loop, method="range"):
    """Accelerations as a function of positions and velocities, without torques."""

    def acceleration(q, v):
        return constrained_dynamics(model, q, v, np.zeros(len(q)), loop, method).acceleration

    return acceleration


def weight(model, q):
    """Energy of gravity."""
    return -model.mass * model.gravity @ center_of_mass(model, q)


def test_linkage_starts_as_the_equation_of_its_parallelogram_says():
    model = linkage()
    np.testing.assert_allclose(position(model, START, "p3", np.array(END)), [-1, 0, 0], atol=1e-15)
    result = constrained_dynamics(model, START, REST, REST, LOOP)
    Ic = (0.05**2 + 1) / 12
    expected = 2 * 9.81 / (2 * (Ic + 0.25) + 1) * np.sin(OFFSET)
    assert expected == pytest.approx(6.917679, abs=1e-6)
    np.testing.assert_allclose(result.acceleration, expected * np.array([1, -1, 1]), rtol=1e-13)
    assert result.rank == 2


def test_linkage_swings_with_one_degree_of_freedom_at_its_period(kit):
    model = linkage()

    def watch(q, v):
        energy = kinetic_energy(model, q, v) + weight(model, q)
        return [*q, *v, energy]

    step = 2e-3
    _, _, seen = kit.rk4(motion(model, LOOP), START, REST, step, 1000, watch)
    q, v, energy = seen[:, :3], seen[:, 3:6], seen[:, 6]
    np.testing.assert_allclose(q[:, 0] + q[:, 1], np.pi / 2, atol=1e-9)
    np.testing.assert_allclose(q[:, 2] - q[:, 0], np.pi / 2, atol=1e-9)
    assert np.ptp(energy) < 1e-8
    turned = [k for k in range(1, len(v)) if v[k - 1, 0] < 0 <= v[k, 0]]
    k = turned[0]
    before, after = v[k - 1, 0], v[k, 0]
    # Row k is at time (k + 1) step; velocity is linear around the turning point.
    period = step * (k + before / (before - after))
    assert period == pytest.approx(1.877749, abs=2e-6)


GAINS = Stabilization(100.0, 20.0)


@pytest.mark.parametrize(("gains", "most"), [(None, 2.4e-10), (GAINS, 3e-14)])
def test_linkage_stays_closed_for_ten_seconds(kit, gains, most):
    """Within what double precision was found to keep, in steps of 2 ms."""
    model = linkage()
    loop = anchor_constraints(model, START, LOOP).with_stabilization(gains)
    _, _, poses = kit.rk4(motion(model, loop), START, REST, 2e-3, 5000, lambda q, v: q)
    open_by = np.linalg.norm(constraint_error(model, poses, loop)[:, :3], axis=1)
    assert 0 < open_by.max() < most


@pytest.mark.parametrize(("gains", "least", "most"), [(None, 5e-4, 1.0), (GAINS, 0.0, 1e-6)])
def test_stabilization_closes_a_loop_that_was_left_open(kit, gains, least, most):
    """A millimeter decays as (1 + 10 t) exp(-10 t), for gains of 10 rad/s and ratio 1."""
    model = linkage()
    loop = anchor_constraints(model, START, LOOP).with_stabilization(gains)
    start = START + np.array([1e-3, 0.0, 0.0])
    assert np.linalg.norm(constraint_error(model, start, loop)[:3]) > 5e-4
    q, _, _ = kit.rk4(motion(model, loop), start, REST, 2e-3, 750)
    assert least <= np.linalg.norm(constraint_error(model, q, loop)[:3]) < most


def test_redundant_rows_of_a_planar_loop_change_no_motion_in_any_attitude():
    """Out of the plane nothing can move: of 5 rows 2 are independent, the others are rounding."""
    rng = np.random.default_rng(3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn = turn * np.sign(np.linalg.det(turn))
    flat, tilted = linkage(), linkage(turn)
    v = np.array([0.7, -0.7, 0.7])
    plane = PointContact("p3", END, "xz")
    expected = constrained_dynamics(flat, START, v, REST, plane)
    axis, point = turn @ [0.0, 1.0, 0.0], turn @ END
    for method in ("range", "direct", "null", "recursive"):
        for loop in (Hinge("p3", axis=axis, point=point), Pin("p3", point=point)):
            result = constrained_dynamics(tilted, START, v, REST, loop, method)
            assert result.rank == 2, method
            np.testing.assert_allclose(
                result.acceleration, expected.acceleration, rtol=1e-10, atol=1e-10
            )
            force = turn.T @ result.force[:3]
            np.testing.assert_allclose(force[[0, 2]], expected.force, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(force[1], 0, atol=1e-9)


def test_two_equal_loops_share_the_force():
    model = linkage()
    once = constrained_dynamics(model, START, REST, REST, Pin("p3", point=END))
    slanted = PointContact("p3", END, ((0.6, 0.0, 0.8), (-0.8, 0.0, 0.6)))
    twice = constrained_dynamics(model, START, REST, REST, Pin("p3", point=END) + slanted)
    assert twice.rank == 2
    np.testing.assert_allclose(twice.acceleration, once.acceleration, rtol=1e-11)
    assert np.linalg.norm(twice.force) == pytest.approx(
        np.linalg.norm(once.force) / np.sqrt(2), rel=1e-10
    )


def test_loop_forces_leave_nothing_for_the_joints_to_do():
    """As external forces on the open chain they give the same motion without torques."""
    model = linkage()
    v = np.array([1.0, -1.0, 1.0])
    result = constrained_dynamics(model, START, v, REST, Pin("p3", point=END))
    arm = position(model, START, "p3", np.array(END)) - position(model, START, "p3")
    force = result.force[:3]
    wrench = {"p3": np.concatenate([np.cross(arm, force), force])}
    torque = inverse_dynamics(model, START, v, result.acceleration, external=wrench)
    np.testing.assert_allclose(torque, 0, atol=1e-12)


def test_torque_on_the_closing_joint_moves_as_in_the_tree_cut_elsewhere():
    """The same linkage as a tree whose base has both outer links, closed between p2 and p3."""
    parts = [
        link("p1", "world", (0, 0, 0), (0, 0, -0.5)),
        link("p2", "p1", END, (0, 0, -0.5)),
        link("p3", "world", (-1.0, 0, 0), (0, 0, 0.5)),
    ]
    other = Model("linkage cut elsewhere", *zip(*parts, strict=True))
    loop = Hinge("p2", "p3", axis="y", point=END, anchor=(0.0, 0.0, 1.0))
    model, torque = linkage(), 2.5
    q_other = np.array([START[0], START[1], START.sum()])
    assert np.abs(constraint_error(other, q_other, loop)).max() < 1e-15
    v = np.array([0.5, -0.5, 0.5])
    v_other = np.array([0.5, -0.5, 0.5])
    # The closing joint of the first turns p3 against the base: a pure moment on p3.
    first = constrained_dynamics(
        model, START, v, REST, LOOP, external={"p3": np.array([0, torque, 0, 0, 0, 0])}
    )
    second = constrained_dynamics(other, q_other, v_other, np.array([0, 0, torque]), loop)
    plain = constrained_dynamics(model, START, v, REST, LOOP)
    np.testing.assert_allclose(first.acceleration[:2], second.acceleration[:2], rtol=1e-12)
    np.testing.assert_allclose(first.acceleration.sum(), second.acceleration[2], rtol=1e-12)
    assert np.abs(first.acceleration - plain.acceleration).max() > 0.1


Q0 = np.pi * np.array([0.1, -0.4, 0.4, -0.4])


def pantograph():
    """Model 2.21: a leg of four links in a chain, closed from the last onto the first."""
    parts = [
        link("hip", "world", (0, 0, 0), (0, 0, -0.02), 0.01, (0.01, 0.005, 0.04)),
        link("knee", "hip", (0, 0, -0.04), (0, 0, -0.03), 0.02, (0.01, 0.005, 0.06)),
        link("ankle", "knee", (0, 0, -0.06), (0, 0, -0.025), 0.01, (0.01, 0.005, 0.05)),
        link("par", "ankle", (0, 0, 0.02), (0, 0, 0.025), 0.1, (0.01, 0.005, 0.05)),
    ]
    bodies, joints = zip(*parts, strict=True)
    closing = Frame("closing", "par", Transform(np.eye(3), np.array([0.0, 0.0, 0.06])))
    return Model("pantograph", bodies, joints, (closing,))


def test_pantograph_closes_on_the_hip_where_its_first_pose_says():
    model = pantograph()
    place = position(model, Q0, "closing") - position(model, Q0, "hip")
    local = orientation(model, Q0, "hip").T @ place
    np.testing.assert_allclose(local, [0, 0, -0.02], atol=1e-16)
    loop = anchor_constraints(model, Q0, Hinge("closing", "hip", axis="y"))
    np.testing.assert_allclose(loop.constraints[0].anchor, (0, 0, -0.02), atol=1e-16)
    result = constrained_dynamics(model, Q0, np.zeros(4), np.zeros(4), loop)
    assert model.nv - result.rank == 2


def test_pantograph_loses_energy_through_its_damper_alone(kit):
    model = pantograph()
    loop = anchor_constraints(model, Q0, Hinge("closing", "hip", axis="y"))
    damping, stiffness = 1e-3, 0.1

    def acceleration(q, v):
        tau = np.array([-damping * v[0], stiffness * (Q0[1] - q[1]), 0.0, 0.0])
        return constrained_dynamics(model, q, v, tau, loop).acceleration

    def watch(q, v):
        spring = stiffness * (q[1] - Q0[1]) ** 2 / 2
        energy = kinetic_energy(model, q, v) + weight(model, q) + spring
        return [energy, damping * v[0] ** 2]

    q, _, seen = kit.rk4(acceleration, Q0, np.zeros(4), 2e-4, 2000, watch)
    energy, power = seen.T
    assert np.diff(energy).max() < 1e-10
    lost = np.trapezoid(power, dx=2e-4)
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=1e-3)
    assert lost > 1e-4
    assert np.abs(constraint_error(model, q, loop)).max() < 1e-7


def test_weld_to_a_moving_body_makes_one_body_of_two():
    """A loop weld of two links of a chain: the joint between them cannot move."""
    model = linkage()
    weld = anchor_constraints(model, START, Weld("p2", "p1"))
    tau = np.array([1.0, 2.0, 3.0])
    result = constrained_dynamics(model, START, np.array([0.4, 0.0, 0.3]), tau, weld)
    assert result.rank == 1
    np.testing.assert_allclose(result.acceleration[1], 0, atol=1e-12)
    G = constraint_jacobian(model, START, weld)
    v = np.array([0.4, 0.0, 0.3])
    needed = inverse_dynamics(model, START, v, result.acceleration)
    np.testing.assert_allclose(tau + G.T @ result.force, needed, atol=1e-12)
