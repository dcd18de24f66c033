"""Springs and clutches on joints without actuators."""

import numpy as np
import pytest

from homodyn.catalog import winter_human
from homodyn.codesign import DriveBounds, PassiveElement, WalkingTask, attach_device, topologies
from homodyn.codesign.motor_set import device_motors
from homodyn.codesign.walking import Walker

JOINT = 4
"""Between two robot links of topology 2."""


def walk(passive, **numbers):
    """A walk of 0.3 s in which joint 4 has a passive element; others are free."""
    device = attach_device(winter_human(), topologies()[1])
    motors = device_motors(device, DriveBounds(-1.0, 1.0, 0.3), passive)
    batch = dict.fromkeys(motors.batch_names, 0.0)
    batch |= {name: 1.0 for name in motors.batch_names if " target d" in name}
    batch |= {f"joint {JOINT} spring {name}": value for name, value in numbers.items()}
    walker = Walker(device.model, motors, WalkingTask(duration=0.2, dt=2e-3), device.loops)
    values = device.parameter_values((1, 6), (0.25, 0.6, 0.6), [(-0.2, 1.05), (-0.15, 0.75)])
    result = walker.replay(batch, {name: float(value) for name, value in values.items()})
    angle = result.q[:, result.model.coordinate_index(f"left_robot_{JOINT}")]
    names = result.constraint_names
    name = f"left joint {JOINT} spring"
    return result, angle, result.constraint_forces[:, names.index(name)] if name in names else None


def test_numbers_of_elements():
    assert [len(one.parameters("joint 1")) for one in PassiveElement] == [0, 3, 4]


def test_a_spring_pulls_to_its_rest_angle():
    _, angle, torque = walk(PassiveElement.SPRING, stiffness=40.0, damping=0.0, rest=0.2)
    # The spring acts at the end of its step: one sample later.
    assert torque[:-1] == pytest.approx(40.0 * (0.2 - angle[1:]), abs=0.05)
    assert np.ptp(angle) > 0.01


def test_a_clutch_holds_the_angle_at_which_it_engages_and_is_free_before():
    # The left leg begins at phase 0.5; the clutch closes at 0.6, after 0.1 / 0.9 s.
    result, angle, torque = walk(
        PassiveElement.CLUTCH, stiffness=40.0, damping=0.0, start=0.6, share=0.3
    )
    engaged = result.time >= 0.1 / 0.9
    assert not torque[result.time < 0.1 / 0.9 - 4e-3].any()
    held = angle[np.flatnonzero(~engaged)[-1] : np.flatnonzero(engaged)[0] + 1]
    rest = angle[1:] + torque[:-1] / 40.0
    inside = rest[np.flatnonzero(engaged)[2] : -1]
    assert np.ptp(inside) < 2e-3
    assert held.min() - 2e-3 <= inside.mean() <= held.max() + 2e-3


def test_pins_have_no_torque():
    _, angle, torque = walk(PassiveElement.PIN)
    assert torque is None
    assert np.ptp(angle) > 0.01
