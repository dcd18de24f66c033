"""Movements in sequence: one time axis, and at a joint the later part counts."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.motion import (
    ContactForce,
    Event,
    Motion,
    Side,
    advance_motion,
    join_motions,
    repeat_step,
)

MODEL = hd.catalog.heiman(height=1.79, mass=76)


def part(first, last, value, body="", frames=5):
    """A motion whose coordinates, rates and torques all have one value."""
    q = np.full((frames, MODEL.nq), value)
    forces = ()
    if body:
        force = np.full((frames, 3), value)
        forces = (ContactForce(body, Side.LEFT, force, force, force),)
    time = np.linspace(first, last, frames)
    events = (Event(first, "Begin"), Event(last, "End"))
    return Motion(MODEL, time, q, q, q, tau=q, contact_forces=forces, events=events)


def test_the_later_part_counts_where_two_meet():
    joined = join_motions([part(0.0, 1.0, 1.0), part(1.0, 2.0, 2.0)])
    np.testing.assert_allclose(joined.time, [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2])
    for name in ("q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(joined, name)[:, 3], [1.0] * 4 + [2.0] * 5)
    assert [event.label for event in joined.events] == ["Begin", "End", "Begin", "End"]


def test_parts_that_do_not_meet_keep_all_frames():
    assert join_motions([part(0.0, 1.0, 1.0), part(1.5, 2.0, 2.0)]).frames == 10


def test_a_body_is_unloaded_in_parts_that_it_does_not_touch_in():
    joined = join_motions([part(0.0, 1.0, 3.0, "FootLeft"), part(1.0, 2.0, 2.0)])
    (force,) = joined.contact_forces
    assert force.side is Side.LEFT
    np.testing.assert_array_equal(force.force[:, 2], [3.0] * 4 + [0.0] * 5)
    assert np.isfinite(force.point[:4]).all()
    assert np.isnan(force.point[4:]).all()


def test_what_a_part_lacks_is_left_out():
    one, two = part(0.0, 1.0, 1.0), part(1.0, 2.0, 2.0)
    assert not join_motions([one, replace(two, tau=np.zeros((0, 0)))]).tau.size


def test_parts_that_overlap_or_differ_are_refused():
    with pytest.raises(HomodynError, match=r"begins at 0\.5 s cannot follow one that ends at 1 s"):
        join_motions([part(0.0, 1.0, 1.0), part(0.5, 2.0, 2.0)])
    other = hd.catalog.heiman(height=1.6, mass=55)
    with pytest.raises(HomodynError, match="different models"):
        join_motions([part(0.0, 1.0, 1.0), replace(part(1.0, 2.0, 2.0), model=other)])
    with pytest.raises(HomodynError, match="no motion to join"):
        join_motions([])


def test_advancing_moves_the_pose_the_forces_and_the_clock():
    begin = part(0.0, 1.0, 0.5, "FootLeft")
    ahead = advance_motion(begin, time=2.0, distance=0.7)
    column = MODEL.coordinate_index("Pelvis_TX")
    np.testing.assert_allclose(ahead.q[:, column], 1.2)
    np.testing.assert_array_equal(np.delete(ahead.q, column, 1), np.delete(begin.q, column, 1))
    np.testing.assert_allclose(ahead.contact_forces[0].point, [[1.2, 0.5, 0.5]] * 5)
    assert ahead.time[0] == 2.0
    assert [event.time for event in ahead.events] == [2.0, 3.0]


def test_a_repeated_step_is_continuous_and_has_gait_measures():
    model = hd.gait.walking_model()
    stored = hd.gait.stored_steps()["mixed free"]
    step = hd.gait.synthesis.step_motion(model, stored)
    stride = repeat_step(step, 5)
    assert stride.duration == pytest.approx(5 * stored.duration, abs=1e-9)
    for count in range(1, 5):
        # The step that begins has the pose with which the one before ends.
        seam = int(np.argmin(np.abs(stride.time - count * stored.duration)))
        np.testing.assert_allclose(stride.q[seam], repeat_step(step, count).q[-1], atol=1e-5)
    found = hd.gait.measures(stride)
    assert found["velocity"].mean == pytest.approx(stored.speed, rel=2e-3)
    assert found["step length", "right"].mean == pytest.approx(
        found["step length", "left"].mean, abs=1e-3
    )
    with pytest.raises(HomodynError, match="at least one step"):
        repeat_step(stride, 0)
