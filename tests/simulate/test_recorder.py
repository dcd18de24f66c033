"""Energy balance of recorded runs."""

import numpy as np
import pytest

from homodyn.model import Assembly, joints, rod
from homodyn.simulate import SoftContact, Torques, run


def test_the_energy_balance_closes_up_to_the_error_of_the_method(block):
    """Work of actuators, contacts and dampers explains the change of energy."""
    q = block.neutral()
    q[2] = 0.15
    fall = run(
        block,
        q,
        None,
        0.5,
        1e-4,
        contact=SoftContact(2e4, 100.0),
        integrator="rk4",
        record_interval=1e-2,
    )
    scale = 10 * 9.8 * 0.15
    assert np.abs(fall.energy.error).max() < 1e-3 * scale
    assert fall.energy.contacts[-1] < -0.2 * scale
    model = (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -0.5)), joints.revolute("y", damping=0.2))
        .add(
            rod("lower", 1.0, (0, 0, 0), (0, 0, -0.5)),
            joints.revolute("y", stiffness=3.0, rest=0.4),
            "upper",
            at=(0, 0, -0.5),
        )
        .model()
    )
    for integrator, bound in (("rk4", 1e-8), ("semi_implicit_euler", 5e-3)):
        result = run(
            model,
            [0.3, 0.0],
            None,
            2.0,
            1e-3,
            contact=None,
            actuation=Torques({"lower": 0.5}),
            integrator=integrator,
        )
        energy = result.energy
        assert np.abs(energy.error).max() < bound
        power = np.sum(result.torques * result.v, axis=1)
        work = np.trapezoid(power, result.time)
        assert energy.actuators[-1] == pytest.approx(work, abs=5e-3)
        loss = np.trapezoid(0.2 * result.v[:, 0] ** 2, result.time)
        # Implicit springs dissipate a little energy themselves.
        assert 0 <= energy.dissipated[-1] - loss + 1e-6 < (1e-5 if integrator == "rk4" else 0.06)
        change = energy.kinetic + energy.potential
        unexplained = change[-1] - change[0] - energy.actuators[-1] + energy.dissipated[-1]
        assert unexplained == pytest.approx(energy.error[-1], abs=1e-12)
