"""Springs at the end of a step: against closed forms of implicit spring-dampers."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import homodyn as hd
from homodyn.model import Assembly, box, joints, sphere
from homodyn.simulate import (
    ImplicitRow,
    SimulationOptions,
    erp_cfm_from_spring_damper,
    piecewise_spring,
    spring_damper_from_erp_cfm,
)

H = 1 / 60


def forces(rows, u):
    kernel = hd.symbolic.kernel(lambda u: sum(row.force(u) for row in rows), u=())
    return kernel(np.asarray(u, dtype=float))


def test_implicit_springs_are_error_reduction_and_force_mixing():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m, kp, kd, h = rng.uniform(0.1, 10), *10 ** rng.uniform(0, 6, 2), 10 ** rng.uniform(-4, -1)
        x, v = rng.normal(size=2)
        printed = -(kd * v + kp * x + h * kp * v) / (1 + h * kd / m + h**2 * kp / m)
        erp, cfm = erp_cfm_from_spring_damper(kp, kd, h)
        beta = cfm / h
        mixed = (-erp / h**2 * x - v / h) / (1 / m + beta)
        row = ImplicitRow.spring(x, kp, kd, h)
        # End velocity u = v + h f / m with f = -slope u - offset.
        f = -(row.slope * v + row.offset) / (1 + h * row.slope / m)
        assert mixed == pytest.approx(printed, rel=1e-9)
        assert f == pytest.approx(printed, rel=1e-9)
        assert spring_damper_from_erp_cfm(erp, cfm, h) == pytest.approx((kp, kd), rel=1e-9)


@pytest.mark.parametrize(
    ("erp", "cfm", "stiffness"), [(0.2, 1e-5, 1.2e6), (0.2, 1e-4, 1.2e5), (0.2, 1e-10, 1.2e11)]
)
def test_mixing_of_older_engines_is_a_stiffness(erp, cfm, stiffness):
    assert spring_damper_from_erp_cfm(erp, cfm, H).kp == pytest.approx(stiffness)


def slider(**numbers):
    return (
        Assembly("slider").add(sphere("ball", 1.0, 0.1), joints.prismatic("x", **numbers)).model()
    )


def test_damping_by_forces_explodes_and_at_the_end_of_the_step_never_does():
    def left(kd, integrator):
        run = hd.simulate.run(
            slider(damping=kd),
            [0.0],
            [1.0],
            200 * H,
            H,
            contact=None,
            options=SimulationOptions(integrator=integrator),
        )
        return abs(run.v[-1, 0])

    assert left(119.0, "explicit_euler") == pytest.approx(0.035, abs=5e-4)
    assert left(121.0, "explicit_euler") == pytest.approx(27.3, abs=0.05)
    assert left(1e9, "semi_implicit_euler") < 1e-12


def test_marker_lags_by_its_speed_unless_the_row_knows_it():
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-4, H)

    def lag(speed, acceleration, known, mass=5.0):
        x = v = 0.0
        for k in range(1, 600):
            target = speed * k * H + acceleration * (k * H) ** 2 / 2
            moving = speed + acceleration * k * H
            # The marker stands at its new place while the step is solved, its motion is ahead.
            row = ImplicitRow.spring(x - target, kp, kd, H, velocity=moving if known else 0.0)
            f = -(row.slope * v + row.offset) / (1 + H * row.slope / mass)
            v += H * f / mass
            here = target
            x += H * v
        return here + (moving * H if known else 0.0) - x

    assert lag(1.0, 0.0, known=False) == pytest.approx(1.0 * H / 0.2 - H, rel=1e-3)
    assert lag(1.0, 0.0, known=False) + H == pytest.approx(0.0833, abs=5e-5)
    assert lag(1.0, 0.0, known=True) == pytest.approx(0.0, abs=1e-9)
    assert 5.0 * 3.0 / kp == pytest.approx(0.125e-3)


def test_a_dead_zone_leaves_its_band_free():
    h, kp, width = 0.01, 1e3, 0.1
    for error, expected in ((0.05, 0.0), (-0.09, 0.0), (0.15, -50.0), (-0.3, 200.0)):
        rows = ImplicitRow.dead_zone(error, width, kp, 0.0, h)
        assert forces(rows, 0.0) == pytest.approx(expected, abs=1e-9)


def test_a_stop_is_felt_only_by_what_enters_it():
    h, kp, kd = 0.01, 1e4, 50.0
    row = ImplicitRow.stop(0.01, kp, kd, h)
    u = np.array([-0.5, -0.99, -1.0, -1.5])
    entered = np.maximum(-(0.01 + h * u), 0)
    np.testing.assert_allclose(forces([row], u), (kp + kd / h) * entered, atol=1e-9)
    inside = ImplicitRow.stop(-0.01, kp, kd, h)
    np.testing.assert_allclose(
        forces([inside], u), np.maximum(-kp * (-0.01 + h * u) - kd * u, 0), atol=1e-9
    )


def test_a_piecewise_spring_stiffens_at_its_breaks():
    h = 1e-9
    for error, expected in (
        (0.05, -5.0),
        (0.2, -10 - 0.1 * 300),
        (0.5, -10 - 0.2 * 300 - 0.2 * 900),
    ):
        rows = piecewise_spring((0.1, 0.3), (100.0, 300.0, 900.0), error, 0.0, h)
        assert forces(rows, 0.0) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(hd.ModelError, match="each above the last"):
        piecewise_spring((0.1,), (100.0, 50.0), 0.0, 0.0, h)


def test_a_hanging_mass_is_held_upwards():
    """The sign of gravity in the constraint equation (HDM eq. 10, whose print pushes it down)."""
    model = (
        Assembly("hanging").add(box("mass", 2.0, (0.1, 0.1, 0.1)), joints.prismatic("z")).model()
    )
    servo = hd.simulate.PD(1e6, 1e4, stable=True)
    held = hd.simulate.run(model, [0.0], None, 1.0, H, contact=None, actuation=servo)
    assert held.torques[-1, 0] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert held.q[-1, 0] == pytest.approx(-2.0 * 9.81 / 1e6, rel=1e-6)


def test_spinning_body_loses_its_direction_as_the_scheme_says():
    """I = diag(1, 2, 3), omega = (1, 2, 3), h = 1/60 s: 0.63 degrees in 1 s, x 1.87 in 10 s."""
    model = (
        Assembly("top")
        .add("top", joints.free(), mass=1.0, inertia=np.diag([1.0, 2.0, 3.0]))
        .model(gravity=(0.0, 0.0, 0.0))
    )
    v = np.array([0, 0, 0, 1.0, 2.0, 3.0])
    spun = hd.simulate.run(model, model.neutral(), v, 10.0, H, contact=None)
    L = hd.dynamics.momentum(model, spun.q, spun.v)[:, :3]
    cosine = L[60] @ L[0] / np.linalg.norm(L[60]) / np.linalg.norm(L[0])
    assert np.degrees(np.arccos(cosine)) == pytest.approx(0.63, abs=0.01)
    assert spun.energy.kinetic[-1] / spun.energy.kinetic[0] == pytest.approx(1.87, abs=0.01)
    fine = hd.simulate.run(
        model,
        model.neutral(),
        v,
        10.0,
        H,
        contact=None,
        options=SimulationOptions(integrator="dormand_prince", tolerance=1e-12),
    )
    L = hd.dynamics.momentum(model, fine.q, fine.v)
    np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(fine.q[:, 3:7], axis=1), 1, atol=1e-14)


def test_gyroscopic_torque_in_its_three_forms():
    """Explicit, implicit, and with the printed sign: 0.63, 0.47 and 113 degrees in 1 s.

    The torque is -omega x L. The form (I - h hat(L)) omega* = L is safe: energy falls to 0.94 in
    10 s where the explicit form has 1.87 (HDM, supplement 1).
    """
    body = np.diag([1.0, 2.0, 3.0])

    def spun(rate, steps):
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

    assert spun(explicit(-1), 60)[0] == pytest.approx(0.63, abs=0.005)
    assert spun(implicit, 60)[0] == pytest.approx(0.47, abs=0.005)
    assert spun(explicit(+1), 60)[0] == pytest.approx(113, abs=0.5)
    assert spun(explicit(-1), 600)[1] == pytest.approx(1.87, abs=0.005)
    assert spun(implicit, 600)[1] == pytest.approx(0.94, abs=0.005)
