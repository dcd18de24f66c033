"""The residual joint: a human on its feet, and limits of the forces."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import (
    PD,
    ImplicitSprings,
    ResidualJoint,
    SimulationStatus,
    SpringLaw,
    place_on_ground,
    run,
)
from homodyn.simulate.rows import spring_damper_from_erp_cfm

pytestmark = pytest.mark.usefixtures("interpreted")

H = 1 / 60


@pytest.fixture(scope="module")
def hdm():
    return hd.catalog.hdm()


def test_a_human_stands_in_its_default_pose_with_a_residual_joint(hdm):
    """858.3 N under the feet, no lean, pitch and roll within 30 N m, other root forces absent."""
    q = place_on_ground(hdm, hdm.neutral())
    joint = ResidualJoint(
        {"root_rx": 30.0, "root_ry": 30.0}, SpringLaw(kp=2000.0, kd=200.0), target=q
    )
    result = run(
        hdm, q, None, 1.0, H,
        contact=ImplicitSprings(*spring_damper_from_erp_cfm(0.2, 1e-5, H)),
        actuation=PD(3000.0, 300.0, target=q, stable=True),
        rows=[joint],
    )  # fmt: skip
    assert result.status is SimulationStatus.FINISHED, result.message
    assert result.total_force[-1, 2] == pytest.approx(858.3, abs=0.1)
    assert np.abs(hdm.difference(q, result.q[-1])).max() < 0.01
    assert set(result.residual_forces) == {"root_rx", "root_ry"}
    largest = max(np.abs(force).max() for force in result.residual_forces.values())
    assert 1.0 < largest <= 30.0
    np.testing.assert_array_equal(result.torques[:, list(hdm.root.v)], 0.0)


def test_residual_torques_stay_within_their_limits(hdm):
    q = hdm.neutral()
    q[2] += 1.0
    joint = ResidualJoint({"root_rx": 5.0}, SpringLaw(kp=1e5, kd=10.0), target=q)
    start = hdm.integrate(q, 0.5 * np.eye(hdm.nv)[hdm.coordinate_index("root_rx")])
    result = run(hdm, start, None, 0.1, H, contact="none", rows=[joint])
    np.testing.assert_allclose(np.abs(result.residual_forces["root_rx"][:-1]), 5.0)
