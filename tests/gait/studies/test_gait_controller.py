"""Rhythmic impedance control: parameters of each modulation, antiphase, and switching gains."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.gait.studies import GaitController, JointBounds
from homodyn.gait.studies.gait_controller import LegJoints, leg_joints
from homodyn.simulate import BatchSimulator, SimulationOptions

HUMAN = hd.catalog.winter_human()


def sampled(controller, values, frequency=1.0, steps=200):
    """Signals of a controller over one cycle."""
    names = [one.name for one in controller.parameters]
    simulator = BatchSimulator(
        HUMAN,
        contact=None,
        options=SimulationOptions(
            signals=controller.signals(),
            batch_parameters=dict(zip(names, values, strict=True)),
            recorded_quantities=("signals",),
        ),
    )
    rolled = simulator(HUMAN.neutral()[None], None, 1 / frequency, 1 / frequency / steps)
    return {name: np.ravel(x[0]) for name, x in rolled.records["signals"].items()}


@pytest.mark.parametrize(("modulation", "count"), [("constant", 33), ("step", 45), ("ppoly", 81)])
def test_parameter_counts_of_table_4_1(modulation, count):
    controller = GaitController(leg_joints(HUMAN), modulation)
    names = [one.name for one in controller.parameters]
    assert len(names) == len(set(names)) == count
    searched = GaitController(leg_joints(HUMAN), modulation, frequency=(0.4, 1.2))
    assert len(searched.parameters) == count + 1


def test_both_legs_have_the_same_curves_half_a_cycle_apart():
    controller = GaitController(leg_joints(HUMAN), "step", frequency=1.0)
    rng = np.random.default_rng(2)
    values = [rng.uniform(one.lower, one.upper) for one in controller.parameters]
    found = sampled(controller, values)
    for name in ("hip target", "knee stiffness", "ankle damping"):
        right, left = found[f"right {name}"][:200], found[f"left {name}"][:200]
        assert np.ptp(right) > 0
        # Phases are sums of steps: a switch may come one sample later.
        assert np.mean(np.isclose(np.roll(right, 100), left, rtol=1e-6)) > 0.98


def test_stepped_gains_switch_at_the_times_of_the_joint():
    controller = GaitController(leg_joints(HUMAN), "step", frequency=1.0)
    names = [one.name for one in controller.parameters]
    values = dict.fromkeys(names, 0.5)
    values |= {"hip start": 0.7, "hip share": 0.5}
    values |= {"hip stiffness 1": 900.0, "hip stiffness 2": 100.0}
    found = sampled(controller, [values[name] for name in names])
    phase = (np.arange(200) + 0.5) / 200
    inside = (phase > 0.7) | (phase < 0.2)  # the window goes on into the next cycle
    curve = np.where(inside, 900.0, 100.0)
    assert np.mean(found["right hip stiffness"][:200] == curve) > 0.98


def test_joints_are_those_of_the_model_or_given():
    bounds = leg_joints(HUMAN, LegJoints(("knee",), {"knee": (0.0, 1.0)}))
    assert bounds == {"knee": JointBounds("right_knee", "left_knee", 0.0, 1.0)}
    assert leg_joints(HUMAN)["ankle"].upper == pytest.approx(0.6)
    with pytest.raises(ModelError, match="left_elbow"):
        leg_joints(HUMAN, LegJoints(("elbow",)))


def test_wrong_controllers_are_refused():
    with pytest.raises(ModelError, match="constant, step, ppoly"):
        GaitController(leg_joints(HUMAN), "sine")
    with pytest.raises(ModelError, match="not in order"):
        GaitController({"hip": JointBounds("right_hip", "left_hip", 0.5, -0.5)})


def test_oscillators_drive_the_legs_in_antiphase_and_feel_the_load():
    """Without feedback the oscillators are the clock; load changes the rhythm of a walk."""
    from homodyn.gait.studies import load_study

    clock = load_study("human-normative", duration=0.5)
    driven = load_study("human-normative", duration=0.5, driver="oscillators")
    assert len(driven.space.names) == len(clock.space.names) + 2
    values = {"coupling": 5.0, "load feedback": 0.0, **clock.initial_values}
    names = driven.space.names
    rows = [[values[n] for n in names], [{**values, "load feedback": 6.0}[n] for n in names]]
    found = driven.evaluate(rows)
    own = clock.evaluate([[values[n] for n in clock.space.names]])
    assert not found.broken.any()
    unlike = found.objectives["unlikeness"]
    assert unlike[0] == pytest.approx(own.objectives["unlikeness"][0], rel=1e-3)
    assert abs(unlike[1] - unlike[0]) > 1e-3
