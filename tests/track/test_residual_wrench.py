"""Force and moment of the residual joint do the work of its generalized forces."""

import numpy as np

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.motion import motion_from_states
from homodyn.track.residual_wrench import residual_wrench
from support.standing_block import standing_block


def test_power_of_the_wrench_is_that_of_the_root(monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    model = standing_block()
    rng = np.random.default_rng(0)
    q = np.array([model.random(rng) for _ in range(5)])
    tau = rng.standard_normal((5, model.nv))
    motion = motion_from_states(model, np.arange(5) * 0.1, q, np.zeros((5, model.nv)))
    force, moment = residual_wrench(motion, tau)
    rate = np.zeros((5, model.nv))
    rate[:, :6] = rng.standard_normal((5, 6))
    turning = hd.dynamics.angular_velocity(model, q, rate, "block")
    moving = hd.dynamics.center_of_mass_velocity(model, q, rate)
    power = (turning * moment + moving * force).sum(axis=1)
    np.testing.assert_allclose(power, (tau * rate)[:, :6].sum(axis=1), atol=1e-9)


def test_a_model_that_is_fixed_has_no_residual():
    fixed = (
        Assembly("arm").add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    )
    motion = motion_from_states(fixed, np.arange(3) * 0.1, np.zeros((3, 1)), np.zeros((3, 1)))
    force, moment = residual_wrench(motion, np.ones((3, 1)))
    assert not force.any()
    assert not moment.any()
