"""Implicit rows against closed forms of implicit spring-dampers."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate.rows import (
    ImplicitRow,
    erp_cfm_from_spring_damper,
    piecewise_spring,
    spring_damper_from_erp_cfm,
)

H = 1 / 60


def total_force(rows, u):
    kernel = hd.symbolic.kernel(lambda u: sum(row.force(u) for row in rows), u=())
    return kernel(np.asarray(u, dtype=float))


def test_implicit_springs_equal_error_reduction_and_constraint_force_mixing():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m, kp, kd, h = rng.uniform(0.1, 10), *10 ** rng.uniform(0, 6, 2), 10 ** rng.uniform(-4, -1)
        x, v = rng.normal(size=2)
        published = -(kd * v + kp * x + h * kp * v) / (1 + h * kd / m + h**2 * kp / m)
        erp, cfm = erp_cfm_from_spring_damper(kp, kd, h)
        beta = cfm / h
        mixed = (-erp / h**2 * x - v / h) / (1 / m + beta)
        row = ImplicitRow.spring(x, kp, kd, h)
        # End velocity u = v + h f / m with f = -slope u - offset.
        f = -(row.slope * v + row.offset) / (1 + h * row.slope / m)
        assert mixed == pytest.approx(published, rel=1e-9)
        assert f == pytest.approx(published, rel=1e-9)
        assert spring_damper_from_erp_cfm(erp, cfm, h) == pytest.approx((kp, kd), rel=1e-9)


@pytest.mark.parametrize(
    ("erp", "cfm", "stiffness"), [(0.2, 1e-5, 1.2e6), (0.2, 1e-4, 1.2e5), (0.2, 1e-10, 1.2e11)]
)
def test_constraint_force_mixing_is_a_stiffness(erp, cfm, stiffness):
    assert spring_damper_from_erp_cfm(erp, cfm, H).kp == pytest.approx(stiffness)


def test_a_row_lags_behind_a_marker_unless_it_has_its_velocity():
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-4, H)

    def lag(speed, acceleration, known, mass=5.0):
        x = v = 0.0
        for k in range(1, 600):
            target = speed * k * H + acceleration * (k * H) ** 2 / 2
            velocity = speed + acceleration * k * H
            # The step uses the position of the marker at its start and its velocity.
            row = ImplicitRow.spring(x - target, kp, kd, H, velocity=velocity if known else 0.0)
            f = -(row.slope * v + row.offset) / (1 + H * row.slope / mass)
            v += H * f / mass
            x += H * v
        return target + (velocity * H if known else 0.0) - x

    assert lag(1.0, 0.0, known=False) == pytest.approx(1.0 * H / 0.2 - H, rel=1e-3)
    assert lag(1.0, 0.0, known=False) + H == pytest.approx(0.0833, abs=5e-5)
    assert lag(1.0, 0.0, known=True) == pytest.approx(0.0, abs=1e-9)
    assert 5.0 * 3.0 / kp == pytest.approx(0.125e-3)


def test_a_dead_zone_has_no_force_within_its_band():
    h, kp, width = 0.01, 1e3, 0.1
    for error, expected in ((0.05, 0.0), (-0.09, 0.0), (0.15, -50.0), (-0.3, 200.0)):
        rows = ImplicitRow.dead_zone(error, width, kp, 0.0, h)
        assert total_force(rows, 0.0) == pytest.approx(expected, abs=1e-9)


def test_a_stop_acts_only_on_motion_into_it():
    h, kp, kd = 0.01, 1e4, 50.0
    row = ImplicitRow.stop(0.01, kp, kd, h)
    u = np.array([-0.5, -0.99, -1.0, -1.5])
    penetration = np.maximum(-(0.01 + h * u), 0)
    np.testing.assert_allclose(total_force([row], u), (kp + kd / h) * penetration, atol=1e-9)
    inside = ImplicitRow.stop(-0.01, kp, kd, h)
    np.testing.assert_allclose(
        total_force([inside], u), np.maximum(-kp * (-0.01 + h * u) - kd * u, 0), atol=1e-9
    )


def test_a_piecewise_spring_stiffens_at_its_breaks():
    h = 1e-9
    for error, expected in (
        (0.05, -5.0),
        (0.2, -10 - 0.1 * 300),
        (0.5, -10 - 0.2 * 300 - 0.2 * 900),
    ):
        rows = piecewise_spring((0.1, 0.3), (100.0, 300.0, 900.0), error, 0.0, h)
        assert total_force(rows, 0.0) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(hd.ModelError, match="one more slope than breaks, and increasing slopes"):
        piecewise_spring((0.1,), (100.0, 50.0), 0.0, 0.0, h)
