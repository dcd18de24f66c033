"""Poses that bring frames to targets, within the joint limits."""

import numpy as np
import pytest

from homodyn import ModelError, catalog, dynamics, joints
from homodyn.dynamics import FrameTarget, ReachStatus, reach
from homodyn.model import Assembly, rod
from homodyn.model.configuration import within_limits


@pytest.fixture(scope="module")
def person():
    return catalog.heiman(height=1.75, mass=70)


def arm(**limits):
    """Two links of 1 m along x that turn about y; at zero both point along +x."""
    return (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), (1, 0, 0)), joints.revolute("y", names="shoulder"))
        .add(
            rod("lower", 1.0, (0, 0, 0), (1, 0, 0)),
            joints.revolute("y", names="elbow", **limits),
            "upper",
            at=(1, 0, 0),
        )
        .frame("tip", "lower", (1, 0, 0))
        .model()
    )


def test_a_hand_reaches_its_target_with_the_root_in_place(person):
    q = person.neutral()
    target = dynamics.position(person, q, "HandRight") + np.array([0.3, 0.1, 0.4])
    found = reach(person, q, {"HandRight": target})
    assert found.status is ReachStatus.REACHED
    assert found.status.success
    assert found.reached
    np.testing.assert_allclose(
        dynamics.position(person, found.q, "HandRight"), target, rtol=0, atol=1e-4
    )
    root = list(person.root.q)
    np.testing.assert_array_equal(found.q[root], q[root])
    assert within_limits(person, found.q)


def test_two_hands_reach_together_and_fixed_joints_stay(person):
    q = person.pose({"Lumbar_RY": 0.1})
    targets = {
        name: dynamics.position(person, q, name) + np.array([0.25, 0.0, 0.3])
        for name in ("HandRight", "HandLeft")
    }
    found = reach(person, q, targets, fixed=["Lumbar", "HipRight_RY"])
    assert found.frames == ("HandRight", "HandLeft")
    assert (found.position_error < 1e-4).all()
    for name in person.coordinate_names:
        if name.startswith("Lumbar"):
            k = person.coordinate_index(name)
            assert found.q[k] == q[k]


def test_an_orientation_is_reached_too(person):
    q = person.neutral()
    goal = person.random(3)
    goal[list(person.root.q)] = q[list(person.root.q)]
    goal = 0.3 * goal
    target = FrameTarget(
        dynamics.position(person, goal, "FootLeft"), dynamics.orientation(person, goal, "FootLeft")
    )
    found = reach(person, q, {"FootLeft": target}, free_root=True)
    assert found.reached
    assert found.rotation_error[0] < 1e-3
    np.testing.assert_allclose(
        dynamics.orientation(person, found.q, "FootLeft"), target.rotation, atol=1e-3
    )


def test_a_target_out_of_reach_is_a_status(person):
    q = person.neutral()
    found = reach(person, q, {"HandRight": (5.0, 0.0, 1.0)})
    assert found.status is ReachStatus.NEAREST
    assert not found.status.success
    assert "HandRight stays" in found.sentence
    assert within_limits(person, found.q)


def test_the_nearest_pose_of_a_planar_arm_is_stretched_toward_the_target():
    found = reach(arm(), [0.3, 0.2], {"tip": (0.0, 0.0, -3.0)})
    assert found.status is ReachStatus.NEAREST
    assert not found.status.success
    np.testing.assert_allclose(found.q, [np.pi / 2, 0.0], atol=1e-3)
    assert found.position_error[0] == pytest.approx(1.0, abs=1e-5)


def test_a_limit_stops_one_joint_and_the_others_go_on():
    # The elbow may bend to 0.5 rad only, so that the tip cannot come closer than 2 cos(0.25).
    found = reach(arm(lower=0.0, upper=0.5), [0.1, 0.1], {"tip": (0.0, 0.0, -1.2)})
    assert found.at_limit == ("elbow",)
    nearest = 2 * np.cos(0.25)
    assert found.position_error[0] == pytest.approx(nearest - 1.2, abs=1e-5)
    assert "at their limits: elbow" in found.sentence


def test_the_iteration_limit_is_a_status(person):
    q = person.neutral()
    target = dynamics.position(person, q, "HandRight") + np.array([0.3, 0.1, 0.4])
    found = reach(person, q, {"HandRight": target}, max_iterations=1)
    assert found.status is ReachStatus.ITERATION_LIMIT
    assert found.iterations == 1


@pytest.mark.parametrize(
    ("targets", "fixed", "message"),
    [
        ({}, (), "at least one target"),
        ({"tup": (0, 0, 0)}, (), "tup"),
        ({"tip": (0, 0)}, (), "three finite numbers"),
        ({"tip": (0, 0, np.nan)}, (), "three finite numbers"),
        ({"tip": FrameTarget((0, 0, 0), 2 * np.eye(3))}, (), "rotation matrix"),
        ({"tip": (0, 0, 0)}, ["elbw"], "elbow"),
        ({"tip": (0, 0, 0)}, ["elbow", "shoulder"], "all coordinates are fixed"),
    ],
)
def test_wrong_input_is_refused(targets, fixed, message):
    with pytest.raises(ModelError, match=message):
        reach(arm(), [0.0, 0.0], targets, fixed=fixed)


def test_a_pose_of_the_wrong_size_is_refused():
    with pytest.raises(ModelError, match="2 finite numbers"):
        reach(arm(), [0.0], {"tip": (0, 0, 0)})


def test_a_target_in_millimeters_is_named_as_far_away(person):
    found = reach(person, person.neutral(), {"HandRight": (400, -200, 1110)}, max_iterations=5)
    assert not found.reached
    assert "m away, and the body extends over" in found.sentence
    assert found.sentence.endswith("Millimeters?")
    near = reach(person, person.neutral(), {"HandRight": (2.0, 0.0, 1.0)})
    assert near.far == ""
    assert "in the nearest pose" in near.sentence


def test_the_words_of_a_name_may_be_in_another_order(person):
    with pytest.raises(ModelError, match="did you mean 'HandRight'"):
        reach(person, person.neutral(), {"RightHand": (0.4, -0.2, 1.1)})
    with pytest.raises(ModelError, match="did you mean 'HandRight'"):
        person.with_numbers({"RightHand.mass": 1.0})
