"""Fibers of simulated movements."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import MuscleActuation, fiber_history_of, run
from support import muscled_leg

KIND = "Millard2012EquilibriumMuscle"


def drive(t, q, v, batch):
    return 0.2 + 0.3 * batch["wave"]


@pytest.mark.parametrize("tendon", ["rigid", "compliant"])
def test_work_of_the_fibers_is_that_of_the_energy_balance(tendon):
    leg = muscled_leg.build(KIND)
    actuation = MuscleActuation(drive, tendon=tendon)
    result = run(
        leg, [0.1, 0.4], duration=0.2, dt=2e-3, contact=None, joint_limits=None,
        integrator="dormand_prince", actuation=actuation, compiled=False,
        signals={"wave": lambda t, q, v, batch: t / 0.2},
    )  # fmt: skip
    history = fiber_history_of(result, actuation)
    work = np.trapezoid(history.powers.sum(axis=1), result.time)
    assert work == pytest.approx(result.actuator_states["muscle active work"][-1], rel=2e-3)
    np.testing.assert_allclose(history.excitations[:, 0], 0.2 + 0.3 * result.time / 0.2)
    levels = result.actuator_states["vastus activation"]
    np.testing.assert_allclose(history.activations[:, 2], levels)
    power = hd.muscle.metabolic_power(history)
    assert (power.rates.total >= 0).all()
    assert power.mean_per_kg > 1.2


def test_another_actuation_is_refused():
    leg = muscled_leg.build(KIND)
    result = run(leg, [0.1, 0.4], duration=0.01, contact=None, compiled=False)
    with pytest.raises(hd.ModelError, match="had no such muscle actuation"):
        fiber_history_of(result, MuscleActuation(0.1))
