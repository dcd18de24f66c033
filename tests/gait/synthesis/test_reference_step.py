"""The reference of similarity: stored steps and recorded walks in any direction."""

from dataclasses import replace

import numpy as np
import pytest
import scipy

import homodyn as hd
from homodyn.errors import CaptureError
from homodyn.gait import synthesis


@pytest.fixture(scope="module")
def walk(model):
    """Two strides of a step, with their events."""
    return synthesis.stride_motion(model, hd.gait.stored_steps()["mixed free"], steps=4)


def test_a_stored_step_has_the_distance_of_steps(steps):
    stored = hd.gait.stored_steps()["walk"]
    reference = synthesis.ReferenceStep.from_step(stored)
    expected = synthesis.step_similarity(steps["mixed free"], stored)
    found = reference.similarity(steps["mixed free"])
    assert found.distance == pytest.approx(expected.distance, rel=1e-9)


def test_the_steps_of_both_feet_are_the_same_step(model, steps, walk):
    reference = synthesis.ReferenceStep.from_motion(walk, model, events=walk.events)
    assert reference.similarity(steps["mixed free"]).distance < 1e-5
    assert reference.duration == pytest.approx(steps["mixed free"].duration)
    stride = reference.stride(model)
    assert stride.time[-1] == pytest.approx(2 * reference.duration)
    np.testing.assert_allclose(stride.q[-1, 1:], stride.q[0, 1:], atol=0.02)


def test_a_walk_in_another_direction_is_turned(model, steps, walk):
    turn = scipy.spatial.transform.Rotation.from_euler("Z", 2.0)
    q = walk.q.copy()
    shift = np.array([3.0, -1.0, 0.0])
    q[:, :3] = turn.apply(q[:, :3]) + shift
    pelvis = scipy.spatial.transform.Rotation.from_euler("YXZ", q[:, 3:6])
    q[:, 3:6] = (turn * pelvis).as_euler("YXZ")
    toe = hd.dynamics.position(model, walk.q[7], "HalluxLeft")
    np.testing.assert_allclose(
        hd.dynamics.position(model, q[7], "HalluxLeft"), turn.apply(toe) + shift
    )
    turned = replace(walk, q=q)
    reference = synthesis.ReferenceStep.from_motion(turned, model, events=walk.events)
    straight = synthesis.ReferenceStep.from_motion(walk, model, events=walk.events)
    np.testing.assert_allclose(reference.q, straight.q, atol=1e-6)


def test_coordinates_that_no_marker_shows_are_not_compared(model, steps, walk):
    q = walk.q.copy()
    hidden = model.coordinate_index("Neck_RY")
    q[:, hidden] = 2.0
    wrong = synthesis.ReferenceStep.from_motion(replace(walk, q=q), model, events=walk.events)
    assert wrong.similarity(steps["mixed free"]).distance > 0.05
    marked = replace(walk, q=q, unobserved=("Neck_RY",))
    reference = synthesis.ReferenceStep.from_motion(marked, model, events=walk.events)
    assert reference.compared.count(False) == 1
    assert reference.similarity(steps["mixed free"]).distance < 1e-5


def test_a_walk_that_cannot_be_compared_is_refused(model, walk):
    with pytest.raises(CaptureError, match="no complete step"):
        synthesis.ReferenceStep.from_motion(walk, model, events=())
    still = walk.q.copy()
    still[:, 0] = 0.0
    with pytest.raises(CaptureError, match="not with one on a treadmill"):
        synthesis.ReferenceStep.from_motion(replace(walk, q=still), model, events=walk.events)
