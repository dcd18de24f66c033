"""Poses by hand, and bodies that follow a pull."""

import numpy as np
import pytest

from homodyn import catalog, dynamics
from homodyn.errors import HomodynError
from homodyn.model import within_limits
from homodyn.studio.drag_ik import DragTarget, frame_placement, solve_drag_pose
from homodyn.studio.pose_editing import (
    GROUPS,
    load_pose,
    mirror_pose,
    random_pose,
    save_pose,
    sliders_by_limb,
    slots,
    with_value,
    zero_pose,
)


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_every_coordinate_of_every_ready_body_has_one_slider_in_one_limb(entry):
    model = catalog.build(entry)
    members = [slot for group in sliders_by_limb(model).values() for slot in group]
    assert sorted(s.name for s in members) == sorted(s.name for s in slots(model))
    quaternion = sum(place is None for place in model.position_index)
    assert len(members) == model.nv - quaternion
    assert all(slot.lower < slot.upper for slot in members)


def test_limbs_of_a_person_are_told_apart():
    limbs = {slot.name: slot.group for slot in slots(catalog.heiman())}
    assert limbs["KneeLeft_RY"] == "Left leg"
    assert limbs["ShoulderRight_RX"] == "Right arm"
    assert limbs["Lumbar_RY"] == "Trunk and head"
    assert limbs["Pelvis_TX"] == GROUPS[0]


def test_a_mirrored_pose_is_the_mirror_image_of_the_body():
    model = catalog.heiman()
    q = random_pose(model, model.neutral(), 3)
    image = mirror_pose(model, q)
    before = dynamics.position(model, q, "HandLeft")
    after = dynamics.position(model, image, "HandRight")
    np.testing.assert_allclose(after, before * [1, -1, 1], atol=1e-9)
    np.testing.assert_allclose(mirror_pose(model, image), q, atol=1e-12)


def test_random_and_zero_stay_within_limits_and_leave_the_root():
    model = catalog.heiman()
    start = model.neutral()
    start[:3] = 0.3, -0.2, 1.1
    for q in (random_pose(model, start, 5), zero_pose(model, random_pose(model, start, 5))):
        np.testing.assert_array_equal(q[:6], start[:6])
        assert within_limits(model, q)


def test_a_saved_pose_comes_back(tmp_path):
    model = catalog.heiman()
    q = model.random(2)
    save_pose(model, q, tmp_path / "pose.csv")
    np.testing.assert_allclose(load_pose(model, tmp_path / "pose.csv"), q, atol=1e-7)
    (tmp_path / "bad.csv").write_text("Nose_RX\n1.0\n")
    with pytest.raises(HomodynError, match="Nose_RX"):
        load_pose(model, tmp_path / "bad.csv")


def test_a_hand_that_is_pulled_within_reach_gets_there():
    model = catalog.heiman()
    rng = np.random.default_rng(4)
    for _ in range(5):
        start = 0.3 * random_pose(model, model.neutral(), rng)
        goal = 0.4 * random_pose(model, model.neutral(), rng)
        target, _ = frame_placement(model, goal, "HandRight")
        q = solve_drag_pose(model, start, DragTarget("HandRight"), target)
        reached, _ = frame_placement(model, q, "HandRight")
        assert np.linalg.norm(reached - target) < 2e-3
        assert within_limits(model, q, tolerance=1e-9)
        np.testing.assert_array_equal(q[:6], start[:6])


def test_out_of_reach_the_body_comes_as_near_as_limits_allow():
    model = catalog.heiman()
    start = model.neutral()
    far = np.array([5.0, 0.0, 1.0])
    before, _ = frame_placement(model, start, "HandLeft")
    q = solve_drag_pose(model, start, DragTarget("HandLeft"), far)
    after, _ = frame_placement(model, q, "HandLeft")
    assert np.linalg.norm(after - far) < np.linalg.norm(before - far) - 0.2
    assert within_limits(model, q, tolerance=1e-9)


def test_with_the_root_free_the_whole_body_comes_along_and_turns_hold():
    model = catalog.heiman()
    start = model.neutral()
    place, turn = frame_placement(model, start, "FootLeft")
    there = place + np.array([1.0, 0.5, 0.2])
    q = solve_drag_pose(model, start, DragTarget("FootLeft", turn=True), there, turn, root=True)
    reached, turned = frame_placement(model, q, "FootLeft")
    np.testing.assert_allclose(reached, there, atol=2e-3)
    np.testing.assert_allclose(turned, turn, atol=2e-2)


def test_one_slider_changes_one_coordinate():
    model = catalog.heiman()
    slot = next(s for s in slots(model) if s.name == "KneeLeft_RY")
    q = with_value(model.neutral(), slot, 0.5)
    changed = np.flatnonzero(q != model.neutral())
    assert changed.tolist() == [slot.place]
