"""BipOneStep: the robot steps with its observer in the loop, and falls where it must."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import ContactCode, TaskFunction, TrajectoryPoints
from homodyn.control.robot_step import (
    RobotStepOptions,
    RobotStepResult,
    RobotStepStatus,
    bip_task,
    simulate_step,
    step_trajectory,
)
from homodyn.dynamics import position
from homodyn.errors import ModelError


@pytest.fixture(scope="module")
def step() -> RobotStepResult:
    return simulate_step(RobotStepOptions())


def test_the_robot_steps_and_stands(step: RobotStepResult) -> None:
    assert step.status is RobotStepStatus.STANDING
    found = step.measures
    assert found["step_length_m"] == pytest.approx(0.14, abs=5e-3)
    assert found["swing_height_m"] == pytest.approx(0.05, abs=8e-3)
    assert found["standing_foot_slip_m"] < 1e-3
    assert found["center_of_mass_advance_m"] == pytest.approx(0.07, abs=5e-3)
    assert not step.relaxed_times
    assert found["voltage_max_v"] <= 60.0


def test_the_observer_recovers_the_pose_from_joints_and_forces(step: RobotStepResult) -> None:
    """V35 in the loop: encoders of 5e-6 rad, forces with 2 N of noise."""
    assert step.root_error.max() < 2e-3
    assert step.supports[0] == "suspension"
    order = [s for k, s in enumerate(step.supports) if k == 0 or s != step.supports[k - 1]]
    assert order == ["suspension", "right", "left"]


def test_feet_carry_the_weight_by_the_contact_codes(step: RobotStepResult) -> None:
    weight = 9.81 * step.motion.model.mass
    total = step.foot_forces.sum(axis=1)
    assert np.median(total) == pytest.approx(weight, rel=0.02)
    single = (step.call_times > 1.25) & (step.call_times < 1.9)
    assert np.abs(step.foot_forces[single, 0]).max() < 20.0
    swing = (step.motion.time > 1.3) & (step.motion.time < 1.9)
    assert position(step.motion.model, step.motion.q[swing], "right_foot")[:, 2].min() > 0.085


def test_calls_come_every_period_and_the_state_has_53_entries(step: RobotStepResult) -> None:
    np.testing.assert_allclose(np.diff(step.call_times), 0.005, atol=1e-9)
    assert step.motor_state.to_array().shape == (53,)
    changes = np.flatnonzero(np.abs(np.diff(step.voltages, axis=0)).max(axis=1) > 0) + 1
    # Frame k is the end of the step that starts at k ms.
    np.testing.assert_array_equal(changes[:20] % 5, 2)


def test_the_trajectory_is_in_values_of_the_task_function() -> None:
    model = hd.catalog.bip()
    points = step_trajectory(model, RobotStepOptions(length=0.1))
    assert points.positions.shape == (7, 21)
    assert points.contacts == (ContactCode.DOUBLE, ContactCode.LEFT, ContactCode.DOUBLE)
    function = TaskFunction(model, bip_task)
    found = function.inverse(points.positions[4], model.neutral() + 0.1)
    if found.error < 1e-9:
        gap = position(model, found.q, "right_foot") - position(model, found.q, "left_foot")
        assert gap[0] == pytest.approx(0.1, abs=1e-3)


def test_a_trajectory_that_leaves_the_feet_makes_the_robot_fall() -> None:
    """The weight never moves to the standing foot before the other one lifts."""
    model = hd.catalog.bip()
    good = step_trajectory(model, RobotStepOptions())
    both, swing = good.positions[0], good.positions[3].copy()
    swing[[0, 1, 2, 3, 4, 5]] = both[[0, 1, 2, 3, 4, 5]]
    swing[2] -= 0.05
    bad = TrajectoryPoints(
        np.array([both, swing, both]), np.array([0.05, 1.2]), (ContactCode.LEFT,)
    )
    result = simulate_step(RobotStepOptions(), trajectory=bad, duration=2.0)
    assert result.status is not RobotStepStatus.STANDING
    assert "fell" in result.sentence or "could not" in result.sentence


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ModelError, match=r"up to 0\.2 m"):
        RobotStepOptions(length=0.5)
    with pytest.raises(ModelError, match="multiple of 1 ms"):
        RobotStepOptions(period=0.0055)
    with pytest.raises(ModelError, match="duration"):
        simulate_step(duration=0.0)
    short = TrajectoryPoints(np.zeros((1, 4)), np.array([0.0]), ())
    with pytest.raises(ModelError, match="21 values"):
        simulate_step(trajectory=short)
