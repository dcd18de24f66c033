"""The mirror image of a movement obeys the same laws, with left and right exchanged."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import position
from homodyn.errors import ModelError
from homodyn.motion import Event, Side, mirror_motion
from support.equations import motion_residual


@pytest.fixture(scope="module")
def step():
    return hd.gait.synthesis.step_motion(
        hd.gait.walking_model(), hd.gait.stored_steps()["mixed free"]
    )


def test_feet_change_sides_and_the_lateral_axis_its_sign(step):
    image = mirror_motion(step)
    mirrored = np.array([1.0, -1.0, 1.0])
    for side in Side:
        here = position(step.model, step.q, f"Hallux{side.title}")
        there = position(step.model, image.q, f"Hallux{side.other.title}")
        np.testing.assert_allclose(there, here * mirrored, atol=1e-9)
    before = {force.body: force for force in step.contact_forces}
    after = {force.body: force for force in image.contact_forces}
    np.testing.assert_array_equal(after["FootLeft"].force, before["FootRight"].force * mirrored)
    assert after["FootLeft"].side is Side.LEFT
    assert [event.context for event in image.events] == ["Right"]


def test_the_equations_of_motion_hold_for_the_image(step):
    image = mirror_motion(step)
    np.testing.assert_allclose(
        np.abs(motion_residual(image)).max(axis=1),
        np.abs(motion_residual(step)).max(axis=1),
        atol=1e-8,
    )


def test_two_reflections_are_none(step):
    again = mirror_motion(mirror_motion(step))
    for name in ("q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, name), getattr(step, name))
    for one, two in zip(step.contact_forces, again.contact_forces, strict=True):
        assert (one.body, one.side) == (two.body, two.side)
        np.testing.assert_array_equal(one.torque, two.torque)


def test_events_without_a_side_stay(step):
    marked = replace(step, events=(Event(0.1, "Start", "General"),))
    assert mirror_motion(marked).events == marked.events


def test_a_model_without_symmetry_is_refused():
    model = hd.model.Assembly("arm").add(
        hd.model.sphere("HandRight", 1.0, 0.1), hd.joints.revolute("x"), at=(0, 0.3, 0)
    )
    poses = np.zeros((2, 1))
    motion = hd.motion.motion_from_poses(model.model(), np.arange(2.0), poses)
    with pytest.raises(ModelError):
        mirror_motion(motion)
