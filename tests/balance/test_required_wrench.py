"""Required wrenches: whole bodies against point masses, by differences and sums over bodies."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance.wrenches import whole_body_wrench
from support.swaying_human import swaying


def test_the_whole_body_differs_from_the_point_mass_by_angular_momentum():
    """dL/dt about the center of mass, by differences of the momentum of ``dynamics``."""
    motion = swaying()
    required = whole_body_wrench(motion)
    dt = 1e-4
    for k in (5, 20, 33):
        ends = []
        for s in (-dt, dt):
            dq = s * motion.v[k] + 0.5 * s * s * motion.a[k]
            q = motion.model.integrate(motion.q[k], dq)
            ends.append(hd.dynamics.momentum(motion.model, q, motion.v[k] + s * motion.a[k]))
        rate = (np.asarray(ends[1]) - np.asarray(ends[0])) / (2 * dt)
        assert required.angular_momentum_rate[k] == pytest.approx(
            rate[:3], abs=1e-3 * np.abs(rate).max()
        )
        weight = motion.model.mass * np.asarray(motion.model.gravity)
        assert required.force[k] == pytest.approx(rate[3:] - weight, abs=1e-3 * np.abs(rate).max())
    single = required.point_mass
    assert np.cross(single.com, single.force) == pytest.approx(single.moment)


def test_angular_momentum_is_that_of_the_point_mass_plus_that_about_the_center_of_mass():
    """Qiu (2012), section 4.3: L_w = L_s + L_pos, with L_w summed over bodies by hand."""
    motion = swaying(5)
    model = motion.model
    for q, v in zip(motion.q, motion.v, strict=True):
        whole = np.zeros(3)
        for body in model.bodies:
            if not body.mass:
                continue
            rotation = np.asarray(hd.dynamics.orientation(model, q, body.name))
            omega = np.asarray(hd.dynamics.angular_velocity(model, q, v, body.name))
            at = np.asarray(hd.dynamics.position(model, q, body.name, body.com))
            velocity = np.asarray(hd.dynamics.velocity(model, q, v, body.name, body.com))
            inertia = rotation @ np.asarray(body.inertia) @ rotation.T
            whole += np.cross(at, body.mass * velocity) + inertia @ omega
        com = np.asarray(hd.dynamics.center_of_mass(model, q))
        speed = np.asarray(hd.dynamics.center_of_mass_velocity(model, q, v))
        single = np.cross(com, model.mass * speed)
        about = np.asarray(hd.dynamics.momentum(model, q, v))[:3]
        assert whole - single == pytest.approx(about, abs=1e-8)
        assert np.abs(about).max() > 1e-3
