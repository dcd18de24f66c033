"""Titles and signs of a gait laboratory: checked by where limbs go."""

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.errors import HomodynError
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import (
    coordinate_label,
    coordinate_readings,
    pairs,
    readings,
    resolve_values,
)

PEOPLE = ("heiman", "human36", "hdm", "manikin")


def displacement(model, reading, frame, angle=0.2):
    """Displacement (m) of a frame as a coordinate changes in its clinically positive direction."""
    step = np.zeros(model.nv)
    step[reading.index] = reading.sign * angle
    q = model.neutral()
    return dynamics.position(model, model.integrate(q, step), frame) - dynamics.position(
        model, q, frame
    )


def end_of(model, reading):
    """A distal point that the coordinate moves: the joint below, or a marker."""
    body = next(
        joint.child
        for joint in model.joints
        if any(c.name == reading.name for c in joint.coordinates)
    )
    below = [joint.child for joint in model.joints if joint.parent == body]
    return below[0] if below else next(m.name for m in model.markers if m.body == body)


@pytest.mark.parametrize("name", PEOPLE)
@pytest.mark.parametrize("side", ["right", "left"])
def test_hip_and_knee_flex_and_adduct_the_way_they_are_called(name, side):
    model = hd.catalog.build(name)
    axes = Axes.of(model)
    found = {r.title: r for r in readings(model) if r.side == side}
    inward = axes.left if side == "right" else -axes.left
    hip = found["Hip flexion"]
    knee = end_of(model, found["Knee flexion"])
    assert displacement(model, hip, end_of(model, hip)) @ axes.forward > 0.03
    assert displacement(model, found["Knee flexion"], knee) @ axes.forward < -0.03
    assert displacement(model, found["Hip adduction"], knee) @ inward > 0.03


@pytest.mark.parametrize("name", ["heiman", "human36"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_feet_turn_the_way_they_are_called(name, side):
    model = hd.catalog.build(name)
    axes = Axes.of(model)
    found = {r.title: r for r in readings(model) if r.side == side}
    inward = axes.left if side == "right" else -axes.left
    toes = {"heiman": "Hallux{}", "human36": "{}_toe"}[name]
    toe = toes.format(side.capitalize() if name == "heiman" else side)
    assert displacement(model, found["Ankle dorsiflexion"], toe) @ axes.up > 0.01
    assert displacement(model, found["Hip internal rotation"], toe) @ inward > 0.01


@pytest.mark.parametrize("name", PEOPLE)
def test_every_coordinate_but_the_root_is_read_once(name):
    model = hd.catalog.build(name)
    indices = [reading.index for reading in readings(model)]
    assert indices == list(range(model.joints[0].nv, model.nv))
    found = [
        reading.index
        for pair in pairs(model)
        for reading in {id(r): r for r in (pair.right, pair.left) if r is not None}.values()
    ]
    assert sorted(found) == indices


def test_sides_of_a_pair_are_mirror_images():
    model = hd.catalog.heiman()
    mirrored = hd.catalog.mirror(model, np.arange(model.nq, dtype=float))
    for pair in pairs(model):
        if pair.middle:
            reading = pair.right
            assert mirrored[reading.q] * reading.sign == reading.q * reading.mirrored
        else:
            assert mirrored[pair.left.q] * pair.left.sign == pair.right.q * pair.right.sign


def test_opensim_names_are_understood(shared_data):
    model = hd.load(shared_data / "gait10dof" / "subject01.osim", as_measured=True)
    found = {(r.name, r.title, r.side, r.sign) for r in readings(model)}
    assert ("hip_flexion_r", "Hip flexion", "right", 1.0) in found
    assert ("knee_angle_l", "Knee flexion", "left", -1.0) in found
    assert ("lumbar_extension", "Trunk flexion", "middle", -1.0) in found


def test_rotations_of_the_forearm_are_pronation(shared_data):
    folder = shared_data / "real_subject4"
    model = hd.load(folder / "unscaled_generic.osim", as_measured=True)
    found = {r.name: (r.title, r.side, r.sign) for r in readings(model)}
    assert found["pro_sup_r"] == ("Forearm pronation", "right", 1.0)
    assert found["pro_sup_l"] == ("Forearm pronation", "left", 1.0)


def test_labels_have_the_clinical_name_and_the_name_in_the_model():
    model = hd.catalog.heiman()
    assert coordinate_label(model, "KneeRight_RY") == "Right knee flexion (KneeRight_RY)"
    assert coordinate_label(model, "HipRight_RY", signed=True) == "Right hip flexion (−HipRight_RY)"
    assert coordinate_label(model, "Pelvis_TX") == "Pelvis_TX"
    readings_by_name = coordinate_readings(model)
    assert list(readings_by_name) == list(model.coordinate_names)
    assert readings_by_name["HipRight_RY"].sign == -1.0


def test_a_coordinate_is_labeled_with_its_clinical_name():
    model = hd.catalog.heiman()
    assert coordinate_label(model, "KneeRight_RY") == "Right knee flexion (KneeRight_RY)"
    assert coordinate_label(model, "HipLeft_RY") == "Left hip flexion (HipLeft_RY)"
    assert coordinate_label(model, "HipLeft_RY", signed=True) == "Left hip flexion (−HipLeft_RY)"
    assert coordinate_label(model, "Pelvis_TX") == "Pelvis_TX"


@pytest.mark.parametrize("name", PEOPLE)
def test_every_coordinate_has_a_unique_title(name):
    model = hd.catalog.build(name)
    titles = [reading.title for reading in coordinate_readings(model).values()]
    assert len(titles) == len(set(titles)) == model.nv


def test_values_by_clinical_and_opensim_names_get_the_signs_of_the_model():
    model = hd.catalog.heiman()
    names = {"hip_flexion_r": 0.5, "Left hip flexion": 0.25, "KneeLeft_RY": 0.1}
    assert resolve_values(model, names) == {
        "HipRight_RY": -0.5,
        "HipLeft_RY": -0.25,
        "KneeLeft_RY": 0.1,
    }
    with pytest.raises(HomodynError, match="'HipRight_RY'"):
        resolve_values(model, {"hip_flexion_r": 0.5, "HipRight_RY": 0.5})
    with pytest.raises(HomodynError, match="no coordinate 'Nose'"):
        resolve_values(model, {"Nose": 0.5})


def test_a_part_of_a_clinical_name_lists_the_candidates():
    with pytest.raises(HomodynError, match=r"one of 'Right knee flexion'.*'Left knee flexion'"):
        hd.motion.clinical.resolve_coordinate(hd.catalog.heiman(), "knee")
