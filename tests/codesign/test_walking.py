"""Walking by motors: torques, power and motion against the recorded simulation and each other."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.catalog import winter_human
from homodyn.codesign import PassiveElement, WalkingTask, attach_device, topologies
from homodyn.codesign.design_solution import solve_design
from homodyn.codesign.drive import DriveBounds
from homodyn.codesign.motor_set import SLOTS, device_motors
from homodyn.codesign.walking import Walker
from homodyn.errors import HomodynError

BOUNDS = DriveBounds(-1.0, 1.0, 0.3)
TASK = WalkingTask(duration=0.1, dt=1e-3)


@pytest.fixture(scope="module")
def solution(study, candidates):
    values, groups = candidates
    group = study.designs.groups[int(groups[0, 0])].name
    parameters = dict(zip(study.space.names, values[0], strict=True))
    return solve_design(study, parameters, {"robot": group})


def test_measures_are_those_of_the_recorded_simulation(study, candidates, solution):
    found = study.evaluate(*(one[:1] for one in candidates)).objectives
    window = solution.result.time[:-1] + study.task.dt / 2 > study.task.second_half
    power = sum(np.abs(motor.power[window]) for motor in solution.motors).mean()
    # Programs of batches and of single runs round differently, and stiff motors amplify it.
    assert found["power"][0] == pytest.approx(power, rel=1e-4)
    assert found["time"][0] == 1.0


def test_torques_are_those_of_the_servo_at_the_end_of_the_step(study, solution):
    """K (target - q') - D v' with angle and rate at the end of the step, recomputed by hand."""
    result, number = solution.result, solution.design.actuated[0]
    for slot, side in (("first", "left"), ("first", "right")):
        motor = next(one for one in solution.motors if one.name == f"{side} {slot} motor")
        joint = next(
            one for one in solution.device.joints if one.number == number and one.side.value == side
        )
        place = {name: result.model.coordinate_index(name) for name in joint.coefficients}
        angle = sum(c * result.q[:, place[name]] for name, c in joint.coefficients.items())
        rate = sum(c * result.v[:, place[name]] for name, c in joint.coefficients.items())
        k, d, target = (
            np.ravel(result.signals[f"{side} {slot} {what}"])
            for what in ("stiffness", "damping", "target")
        )
        h = study.task.dt
        expected = k[:-1] * (target[:-1] - angle[:-1] - h * rate[1:]) - d[:-1] * rate[1:]
        # Axes that turn with the bodies change the velocities after the step has been solved.
        assert np.allclose(motor.torque, expected, atol=2e-2 * np.abs(expected).max())


def test_an_actuated_closing_joint_moves_like_any_other_cut():
    """Check 32: joint 2 closes a loop in one tree and is a tree joint in the other."""
    topology, pair = topologies()[1], (2, 6)
    shares, places = (0.25, 0.6, 0.6), [(-0.2, 1.05), (-0.15, 0.75)]
    motions = []
    for closures in ((2, 3), (4, 3)):
        device = attach_device(winter_human(), replace(topology, closure_joints=closures))
        motors = device_motors(device, BOUNDS, PassiveElement.PIN)
        batch = dict.fromkeys(motors.batch_names, 0.0)
        for slot, number in zip(SLOTS, pair, strict=True):
            batch[f"{slot} drives {number}"] = _sign(device, number)
            for k in range(1, 7):
                batch[f"{slot} target d{k}"] = 1.0
            for k in range(1, 6):
                batch[f"{slot} target y{k}"] = 0.1 * k
            batch |= {f"{slot} stiffness 1": 300.0, f"{slot} stiffness 2": 100.0}
            batch |= {f"{slot} damping 1": 5.0, f"{slot} damping 2": 5.0}
        for k in range(1, 7):
            batch[f"ankle target d{k}"] = 1.0
        walker = Walker(device.model, motors, TASK, device.loops)
        values = device.parameter_values(pair, shares, places)
        result = walker.replay(batch, {name: float(value) for name, value in values.items()})
        person = [device.model.coordinate_index(name) for name in device.person.coordinate_names]
        motions.append(result.q[:, person])
        assert "left_robot_2" in "".join(result.constraint_names) or closures[0] != 2
    assert np.abs(motions[0][-1, 3:]).max() > 0.01
    assert np.allclose(motions[0], motions[1], atol=2e-4)


def _sign(device, number):
    """+1 if the joint turns its robot link relative to the body that comes first in the linkage."""
    joint = next(one for one in device.joints if one.number == number)
    first = device.topology.links_of(number)[0]
    names = dict(zip(device.topology.linkage.segments, device.frames[0].bodies, strict=True))
    return 1.0 if joint.links[0] == names.get(first, f"left_robot_{first}") else -1.0


def test_wrong_tasks_are_refused():
    with pytest.raises(HomodynError, match="dt of walking must be positive"):
        WalkingTask(dt=0.0)
    with pytest.raises(HomodynError, match="speed of walking"):
        WalkingTask(speed=float("nan"))
