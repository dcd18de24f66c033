"""Statuses, messages and notes of simulations that fail or exceed limits."""

import casadi as ca
import numpy as np
import pytest

from homodyn.model import Assembly, box, joints, rod
from homodyn.simulate import PD, Controller, SampledTorques, SimulationStatus, SoftContact, run


def test_joints_beyond_their_limits_are_noted():
    door = Assembly("door").add(
        rod("door", 2.0, (0, 0, 0), (1, 0, 0)), joints.revolute("z", upper=0.5)
    )
    result = run(door.model(), [0.0], [2.0], 0.5, contact=None)
    (note,) = result.notes
    assert (
        note == f"coordinates beyond their limits, by rad or m: door ({result.q.max() - 0.5:.2g})"
    )
    assert run(door.model(), [0.0], [0.1], 0.5, contact=None).notes == ()


def test_torques_that_are_not_finite_are_reported_with_time_and_joint(pendulum):
    torques = np.array([[0.0], [np.nan]])
    result = run(
        pendulum, [0.1], None, 1.0, contact=None,
        actuation=SampledTorques([0.0, 0.5], torques, zero_order_hold=True),
    )  # fmt: skip
    assert result.status is SimulationStatus.NOT_FINITE
    assert "0.5 s the torque of rod" in result.message
    assert np.all(np.isfinite(result.q))
    assert result.time[-1] == pytest.approx(0.5, abs=2e-3)
    python = Controller(lambda t, q, v: [np.nan if t > 0.25 else 0.0], 0.1)
    result = run(pendulum, [0.1], None, 1.0, contact=None, actuation=python)
    assert result.status is SimulationStatus.NOT_FINITE
    assert "0.3 s the torque of rod" in result.message


def test_steps_that_are_too_long_end_with_a_status(chain):
    v = 50 * np.random.default_rng(0).normal(size=chain.nv)
    for integrator in ("explicit_euler", "semi_implicit_euler", "rk4"):
        result = run(chain, chain.random(0), v, 200.0, 1.0, contact=None, integrator=integrator)
        assert np.all(np.isfinite(result.q))
        assert result.status in (SimulationStatus.FINISHED, SimulationStatus.NOT_FINITE)


def test_a_singular_mass_matrix_is_reported():
    model = (
        Assembly("ghost")
        .add(box("solid", 1.0, (0.1, 0.1, 0.1)), joints.revolute("y"))
        .add("ghost", joints.revolute("z"), "solid", mass=0.0)
        .model(as_measured=True)
    )
    result = run(model, [0.1, 0.0], None, 0.1, contact=None, joint_limits=None)
    assert result.status is SimulationStatus.NOT_FINITE
    assert "coordinate ghost has no inertia" in result.message
    assert np.all(np.isfinite(result.q))


def test_torque_limits_do_not_replace_torques_that_are_not_finite():
    limited = joints.revolute("y", max_force=5.0)
    model = Assembly("motor").add(rod("rod", 1.0, (0, 0, 0), (0, 0, -1.0)), limited).model()

    def root(t):
        return ca.vertcat(ca.sqrt(0.055 - t))

    for actuation in (
        SampledTorques([0.0, 0.06], [[0.0], [np.nan]], zero_order_hold=True),
        lambda t, q, v, batch: root(t),
        PD(1.0, 1.0, target=lambda t, batch: root(t)),
        PD(1.0, 1.0, target=lambda t, batch: root(t), stable=True),
    ):
        result = run(model, [0.1], None, 0.1, 1e-2, contact=None, actuation=actuation)
        assert result.status is SimulationStatus.NOT_FINITE
        assert result.message == "at 0.06 s the torque of rod is not finite"
        assert np.isfinite(result.torques).all()


def test_contacts_that_create_energy_are_reported_with_place_and_time(ball):
    """1e6 N/m with steps of 10 ms accelerates a ball upwards while all values are finite."""
    q = ball.neutral()
    q[2] = 0.15
    unstable = run(ball, q, None, 1.0, 1e-2, contact=SoftContact(1e6, 100.0))
    assert unstable.status is SimulationStatus.UNSTABLE
    assert "until 0.11 s contacts created" in unstable.message
    assert "with the largest force at skin: steps of 0.01 s are too long" in unstable.message
    assert unstable.time[-1] == pytest.approx(0.11)
    fine = run(ball, q, None, 1.0, 1e-4, contact=SoftContact(1e6, 100.0), record_interval=1e-3)
    assert fine.status is SimulationStatus.FINISHED
    # Springs may return the energy that they store at the start.
    inside = ball.neutral()
    inside[2] = 0.08
    released = run(
        ball, inside, None, 0.5, 1e-4, contact=SoftContact(1e5, 10.0), record_interval=1e-3
    )
    assert released.status is SimulationStatus.FINISHED
    assert released.energy.contacts.max() > 15
