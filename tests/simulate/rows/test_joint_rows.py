"""Rows of joints: limits, dry friction and implicit damping."""

import pytest

from homodyn.model import Assembly, joints, rod, sphere
from homodyn.simulate import run

H = 1 / 60


def test_limits_and_dry_friction_stop_joints():
    model = (
        Assembly("door")
        .add(rod("door", 2.0, (0, 0, 0), (1, 0, 0)), joints.revolute("z", upper=0.5))
        .model()
    )
    for law in (None, "implicit"):
        limited = run(model, [0.0], [2.0], 2.0, contact=law)
        assert limited.q.max() < 0.53
        assert limited.energy.dissipated[-1] > 0
    rough = (
        Assembly("rough")
        .add(rod("door", 2.0, (0, 0, 0), (1, 0, 0)), joints.revolute("z", friction=0.5))
        .model()
    )
    inertia = 2.0 / 3
    stopped = run(rough, [0.0], [2.0], 4.0, contact=None)
    assert stopped.q[-1, 0] == pytest.approx(2.0**2 / 2 * inertia / 0.5, rel=2e-3)
    assert abs(stopped.v[-1, 0]) < 1e-6
    assert stopped.energy.dissipated[-1] == pytest.approx(inertia * 2.0, rel=1e-3)


def slider(**numbers):
    return (
        Assembly("slider").add(sphere("ball", 1.0, 0.1), joints.prismatic("x", **numbers)).model()
    )


def test_explicit_damping_is_unstable_and_implicit_damping_is_not():
    def last_speed(kd, integrator):
        result = run(
            slider(damping=kd), [0.0], [1.0], 200 * H, H, contact=None, integrator=integrator
        )
        return abs(result.v[-1, 0])

    assert last_speed(119.0, "explicit_euler") == pytest.approx(0.035, abs=5e-4)
    assert last_speed(121.0, "explicit_euler") == pytest.approx(27.3, abs=0.05)
    assert last_speed(1e9, "semi_implicit_euler") < 1e-12
