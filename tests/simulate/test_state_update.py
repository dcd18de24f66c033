"""Updates of the state: free rotation of semi-implicit steps."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import homodyn as hd
from homodyn.dynamics import PointContact
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import PD, SimulationStatus, run

H = 1 / 60


@pytest.mark.parametrize("contact", ["none", "soft", "implicit", "time_stepping"])
def test_a_tumbling_body_keeps_its_momentum_and_its_energy_is_bounded(contact):
    """I = diag(1, 2, 3), omega = (1, 2, 3), h = 1/60 s.

    Explicit gyroscopic terms gain 87 % in 10 s, the published energy-safe form loses 6 %.
    """
    assembly = Assembly("top").add("top", joints.free(), mass=1.0, inertia=np.diag([1.0, 2.0, 3.0]))
    model = assembly.contact("tip", "top").model(gravity=(0.0, 0.0, 0.0))
    start = model.neutral()
    start[2] = 5.0
    v = np.array([0, 0, 0, 1.0, 2.0, 3.0])
    result = run(model, start, v, 60.0, H, contact=contact)
    L = hd.dynamics.momentum(model, result.q, result.v)
    np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), atol=1e-9)
    energy = result.energy.kinetic / result.energy.kinetic[0]
    assert np.abs(energy - 1).max() < 2e-4
    np.testing.assert_allclose(result.energy.error, result.energy.kinetic - 18.0, atol=1e-9)


@pytest.mark.parametrize("contact", ["none", "implicit"])
def test_a_body_in_flight_keeps_its_momentum_while_its_joints_move(contact):
    """The root of this body has axes and origin of its own, and servos move all joints."""
    model = hd.catalog.hdm()
    rng = np.random.default_rng(1)
    q, v = model.neutral(), rng.normal(size=model.nv)
    q[2], v[3:6] = 3.0, [2.0, 1.0, 4.0]
    target = model.integrate(q, np.r_[np.zeros(6), 0.3 * rng.normal(size=model.nv - 6)])
    servo = PD(300.0, 30.0, target=target, stable=True)
    result = run(model, q, v, 0.2, H, contact=contact, actuation=servo, compiled=False)
    change = hd.dynamics.momentum(model, result.q, result.v)
    change = change - change[0]
    weight = model.mass * np.array(model.gravity)
    np.testing.assert_allclose(change[:, :3], 0.0, atol=1e-10)
    np.testing.assert_allclose(change[:, 3:], np.outer(result.time, weight), atol=1e-10)


def test_a_symmetric_top_turns_at_the_exact_rate():
    """Its axis precesses at L / I_1; a rotation by the middle of the step is of second order."""
    assembly = Assembly("top").add("top", joints.free(), mass=1.0, inertia=np.diag([2.0, 2.0, 1.0]))
    model = assembly.model(gravity=(0.0, 0.0, 0.0))
    omega = np.array([0.5, 0.0, 3.0])
    errors = []
    for h in (0.02, 0.01):
        end = run(model, model.neutral(), np.r_[0, 0, 0, omega], 2.0, h, contact=None)
        L = np.diag([2.0, 2.0, 1.0]) @ omega
        body = Rotation.from_rotvec([0, 0, (3.0 - 1.5) * 2.0])
        exact = Rotation.from_rotvec(L / 2.0 * 2.0) * body
        turned = Rotation.from_quat(end.q[-1, [4, 5, 6, 3]])
        errors.append((exact.inv() * turned).magnitude())
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_energy_without_fixed_steps_is_exact():
    """The adaptive method has no need of the midpoint."""
    assembly = Assembly("top").add("top", joints.free(), mass=1.0, inertia=np.diag([1.0, 2.0, 3.0]))
    model = assembly.model(gravity=(0.0, 0.0, 0.0))
    v = np.array([0, 0, 0, 1.0, 2.0, 3.0])
    fine = run(
        model,
        model.neutral(),
        v,
        10.0,
        H,
        contact=None,
        integrator="dormand_prince",
        tolerance=1e-12,
    )
    L = hd.dynamics.momentum(model, fine.q, fine.v)
    np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(fine.q[:, 3:7], axis=1), 1, atol=1e-14)


def test_three_forms_of_the_gyroscopic_torque():
    """Explicit, implicit, and with the printed sign: 0.63, 0.47 and 113 degrees in 1 s.

    The torque is -omega x L. The form (I - h hat(L)) omega* = L is stable: energy decreases to 0.94
    in 10 s where the explicit form has 1.87 (HDM, supplement 1).
    """
    body = np.diag([1.0, 2.0, 3.0])

    def simulate_spin(rate, steps):
        R, omega = np.eye(3), np.array([1.0, 2.0, 3.0])
        L = [body @ omega]
        for _ in range(steps):
            omega = rate(R @ body @ R.T, omega)
            R = Rotation.from_rotvec(H * omega).as_matrix() @ R
            L.append(R @ body @ R.T @ omega)
        energy = omega @ L[-1] / 2
        cosine = L[0] @ L[-1] / np.linalg.norm(L[0]) / np.linalg.norm(L[-1])
        return np.degrees(np.arccos(cosine)), energy / 18.0

    def explicit(sign):
        return lambda I, omega: omega + sign * H * np.linalg.solve(I, np.cross(omega, I @ omega))

    def implicit(I, omega):
        L = I @ omega
        hat = np.array([[0, -L[2], L[1]], [L[2], 0, -L[0]], [-L[1], L[0], 0]])
        return np.linalg.solve(I - H * hat, L)

    assert simulate_spin(explicit(-1), 60)[0] == pytest.approx(0.63, abs=0.005)
    assert simulate_spin(implicit, 60)[0] == pytest.approx(0.47, abs=0.005)
    assert simulate_spin(explicit(+1), 60)[0] == pytest.approx(113, abs=0.5)
    assert simulate_spin(explicit(-1), 600)[1] == pytest.approx(1.87, abs=0.005)
    assert simulate_spin(implicit, 600)[1] == pytest.approx(0.94, abs=0.005)


@pytest.mark.parametrize("contact", ["none", "soft", "implicit", "time_stepping"])
def test_stable_servos_are_implicit_beside_closed_loops(contact):
    """Gains of 1e6 at 10 ms, where explicit servos leave the range of numbers in one step."""
    chain = Assembly("chain")
    chain = chain.add(rod("upper", 1, (0, 0, 0), (1, 0, 0)), joints.revolute("y"), at=(0, 0, 3))
    chain = chain.add(
        rod("lower", 1, (0, 0, 0), (1, 0, 0)), joints.revolute("y"), parent="upper", at=(1, 0, 0)
    )
    model = chain.contact("skin", "lower", position=(1, 0, 0)).model()
    start = np.array([-0.3, 0.6])
    slide = PointContact("lower", point=(1, 0, 0), directions="z")
    servo = PD({model.coordinate_names[0]: 1e6}, {model.coordinate_names[0]: 1e4},
               target=[-0.2, 0.0], stable=True)  # fmt: skip
    result = run(model, start, None, 1.0, 1e-2, contact=contact, actuation=servo, constraints=slide)
    assert result.status is SimulationStatus.FINISHED
    assert result.q[-1, 0] == pytest.approx(-0.2, abs=1e-4)
    height = np.sin(result.q[:, 0]) + np.sin(result.q.sum(axis=1))
    np.testing.assert_allclose(height, height[0], atol=1e-4)
    assert np.abs(result.constraint_forces[-1]).max() > 1.0


def test_stable_servos_are_refused_where_they_would_be_explicit():
    model = Assembly("arm").add(rod("arm", 1, (0, 0, 0), (1, 0, 0)), joints.revolute("y")).model()
    with pytest.raises(ModelError, match="stable=False"):
        run(model, [0.0], contact=None, integrator="rk4", actuation=PD(10.0, 1.0, stable=True))
