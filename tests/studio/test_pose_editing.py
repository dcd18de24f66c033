"""Poses by hand, and bodies that follow a pull."""

import numpy as np
import pytest

from homodyn import catalog, dynamics
from homodyn.errors import HomodynError
from homodyn.model.configuration import within_limits
from homodyn.studio.pose_editing import (
    GROUPS,
    coordinate_sliders,
    load_pose,
    mirror_pose,
    random_pose,
    save_pose,
    sliders_by_limb,
    with_value,
    zero_pose,
)


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_every_coordinate_of_the_catalog_has_one_slider_in_one_limb(entry):
    model = catalog.build(entry)
    members = [slot for group in sliders_by_limb(model).values() for slot in group]
    assert sorted(s.name for s in members) == sorted(s.name for s in coordinate_sliders(model))
    quaternion = sum(place is None for place in model.position_index)
    assert len(members) == model.nv - quaternion
    assert all(slot.lower < slot.upper for slot in members)


def test_coordinates_are_grouped_by_limb():
    limbs = {slot.name: slot.group for slot in coordinate_sliders(catalog.heiman())}
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


def test_a_saved_pose_is_loaded_again(tmp_path):
    model = catalog.heiman()
    q = model.random(2)
    save_pose(model, q, tmp_path / "pose.csv")
    np.testing.assert_allclose(load_pose(model, tmp_path / "pose.csv"), q, atol=1e-7)
    (tmp_path / "bad.csv").write_text("Nose_RX\n1.0\n")
    with pytest.raises(HomodynError, match="Nose_RX"):
        load_pose(model, tmp_path / "bad.csv")


def test_one_slider_changes_one_coordinate():
    model = catalog.heiman()
    slot = next(s for s in coordinate_sliders(model) if s.name == "KneeLeft_RY")
    q = with_value(model.neutral(), slot, 0.5)
    changed = np.flatnonzero(q != model.neutral())
    assert changed.tolist() == [slot.index]


@pytest.mark.parametrize(
    ("header", "sign"),
    [
        ("HipRight_RY", 1.0),
        ("Right hip flexion", -1.0),
        ("right_hip_flexion", -1.0),
        ("hip_flexion_r", -1.0),
    ],
)
def test_a_pose_file_names_coordinates_by_any_of_their_names(tmp_path, header, sign):
    model = catalog.heiman()
    (tmp_path / "pose.csv").write_text(f"{header}\n0.5\n")
    q = load_pose(model, tmp_path / "pose.csv")
    slider = next(s for s in coordinate_sliders(model) if s.name == "HipRight_RY")
    assert q[slider.index] == sign * 0.5


def test_a_slider_shows_the_clinical_value_of_its_coordinate():
    sliders = {s.name: s for s in coordinate_sliders(catalog.heiman())}
    hip, root = sliders["HipRight_RY"], sliders["Pelvis_TX"]
    assert (hip.title, hip.sign) == ("Right hip flexion", -1.0)
    assert hip.range == (-np.degrees(hip.upper), -np.degrees(hip.lower))
    assert (root.title, root.scale) == ("Pelvis_TX", 1.0)
