"""Soft contact: sag, bouncing and failure at long steps."""

import numpy as np
import pytest

from homodyn.simulate import SimulationStatus, SoftContact, run


def pose_at_height(model, height):
    """The neutral pose with its center at a height (m)."""
    q = model.neutral()
    q[2] = height
    return q


def test_the_penetration_at_rest_is_weight_over_stiffness(ball, block):
    q = ball.neutral()
    q[2] = 0.11
    rest = run(ball, q, None, 2.0, contact=SoftContact(stiffness=2e3, damping=60.0))
    assert 0.1 - rest.q[-1, 2] == pytest.approx(9.81 / 2e3, rel=1e-6)
    assert rest.total_force[-1, 2] == pytest.approx(9.81, rel=1e-6)
    assert np.all(rest.forces[..., 2] >= 0)
    # A box on four corners: m g / K of four parallel springs.
    lying = run(
        block,
        pose_at_height(block, 0.1),
        None,
        1.0,
        contact=SoftContact(stiffness=2e4, damping=400.0),
    )
    assert 0.1 - lying.q[-1, 2] == pytest.approx(98.0 / 8e4, rel=1e-6)
    np.testing.assert_allclose(lying.forces[-1, ::2, 2], 24.5, rtol=1e-6)


def test_the_restitution_of_a_bounce_follows_from_its_damping(ball):
    """Half a period of a spring-damper: e = exp(-zeta pi / sqrt(1 - zeta^2)), nearly."""
    k, ratio = 1e5, 0.1
    law = SoftContact(k, 2 * ratio * np.sqrt(k * 1.0), friction=0.0)
    q = ball.neutral()
    q[2] = 0.6
    result = run(ball, q, None, 0.6, 2e-5, contact=law, record_interval=1e-3)
    before = -np.min(result.v[:, 2])
    after = np.max(result.v[result.time > 0.33, 2])
    # Contacts do not pull: the contact ends while it is still compressed.
    expected = np.exp(-ratio * np.pi / np.sqrt(1 - ratio**2))
    assert after / before == pytest.approx(expected, rel=0.05)


def test_stiff_contact_with_long_steps_is_reported(block):
    result = run(block, pose_at_height(block, 0.3), None, 2.0, 1e-2, contact=SoftContact(1e12, 1e7))
    assert result.status is SimulationStatus.NOT_FINITE
    assert "shorter steps" in result.message
    assert f"at {result.time[-1]:.6g} s" in result.message
    assert np.all(np.isfinite(result.q))
    assert np.all(np.isfinite(result.v))
