"""The manikin has the structure its source gives and stands as tall and heavy as asked."""

import numpy as np
import pytest

from homodyn.catalog import manikin, mirror_map
from homodyn.catalog.manikin import segment_numbers
from homodyn.dynamics import mass_matrix
from homodyn.errors import ModelError
from homodyn.model import parametric


@pytest.fixture(scope="module")
def model():
    return manikin()


def test_nineteen_segments_with_45_degrees_of_freedom_of_which_39_are_actuated(model):
    assert len(model.bodies) == 19
    assert model.nv == model.nq == 45
    assert sum(joint.nv for joint in model.joints if joint.parent != "world") == 39


def test_degrees_of_freedom_of_each_joint_are_those_of_the_table(model):
    expected = {
        "root": 6, "lumbar": 3, "torso": 3, "neck": 3, "head": 0, "right_shoulder": 3,
        "left_elbow": 2, "right_wrist": 2, "left_hip": 3, "right_knee": 2, "left_ankle": 2,
        "right_toe": 1,
    }  # fmt: skip
    for name, count in expected.items():
        assert model.joint(name).nv == count


def test_segments_keep_their_numbers(model):
    numbers = segment_numbers()
    assert list(numbers) == list(range(19))
    assert numbers[0] == "pelvis"
    assert numbers[7] == "right_hand"
    assert numbers[18] == "left_toes"
    assert tuple(numbers.values()) == model.body_names


@pytest.mark.parametrize(("height", "mass", "sex"), [(1.75, 79, "male"), (1.62, 58, "female")])
def test_stature_and_mass_are_as_asked(place, height, mass, sex):
    model = manikin(height, mass, sex)
    q = model.neutral()
    assert model.mass == pytest.approx(mass, rel=1e-12)
    assert place(model, q, "VERT")[2] == pytest.approx(height, abs=1e-12)
    assert place(model, q, "RHEEL")[2] == pytest.approx(0.0, abs=1e-12)


def test_sole_and_ankle_are_those_of_the_source(model, place):
    q = model.neutral()
    corners = np.array(
        [
            place(model, q, f"left_{end}_{edge}")
            for end in ("heel", "toe")
            for edge in ("outer", "inner")
        ]
    )
    np.testing.assert_allclose(np.ptp(corners, axis=0), [0.28, 0.12, 0.0], atol=1e-12)
    assert place(model, q, "LAJC")[2] == pytest.approx(0.10, abs=1e-12)


def test_segments_weigh_what_de_leva_says(model):
    parts = {"pelvis": 0.1117, "head": 0.0694, "left_thigh": 0.1416, "right_hand": 0.0061}
    for name, part in parts.items():
        assert model.body(name).mass == pytest.approx(part * 79, rel=1e-12)
    foot = model.body("right_foot").mass + model.body("right_toes").mass
    assert foot == pytest.approx(0.0137 * 79, rel=1e-12)
    assert not model.body("head").com.any()


@pytest.mark.parametrize(
    ("coordinate", "marker", "axis", "way"),
    [
        ("hip_flexion", "KJC", "x", 1),
        ("hip_abduction", "KJC", "out", 1),
        ("knee_flexion", "AJC", "x", -1),
        ("ankle_dorsiflexion", "TTIP", "z", 1),
        ("toe_extension", "TTIP", "z", 1),
        ("shoulder_flexion", "EJC", "x", 1),
        ("shoulder_abduction", "EJC", "out", 1),
        ("elbow_flexion", "WJC", "x", 1),
        ("wrist_flexion", "DAC3", "x", 1),
        ("hip_external_rotation", "TTIP", "out", 1),
    ],
)
def test_positive_coordinates_mean_the_same_movement_on_both_sides(
    model, place, coordinate, marker, axis, way
):
    for side, out in (("right", -1), ("left", 1)):
        q = model.neutral()
        before = place(model, q, f"{side[0].upper()}{marker}")
        q[model.coordinate_index(f"{side}_{coordinate}")] += 0.1
        shifted = place(model, q, f"{side[0].upper()}{marker}") - before
        amount = shifted[1] * out if axis == "out" else shifted["xyz".index(axis)]
        assert np.sign(amount) == way
        assert abs(amount) > 1e-4


def test_pronation_turns_the_palm_inwards(model, placements):
    for side, inwards in (("right", 1), ("left", -1)):
        q = model.neutral()
        q[model.coordinate_index(f"{side}_elbow_pronation")] = np.pi / 2
        palm = placements(model, q)[f"{side}_hand"].E.T @ [1, 0, 0]
        np.testing.assert_allclose(palm, [0, inwards, 0], atol=1e-12)


def test_sides_exchange_exactly_with_one_sign_for_all_limbs(model):
    mirror = mirror_map(model)
    limbs = [k for k, name in enumerate(model.coordinate_names) if name.startswith(("r", "l"))]
    sided = [k for k in limbs if model.coordinate_names[k].partition("_")[0] in ("right", "left")]
    assert len(sided) == 30
    assert all(mirror.q_sign[k] == 1.0 for k in sided)


def test_the_mass_matrix_is_positive_though_the_neck_has_no_mass(model):
    q = np.clip(model.random(seed=8, size=8), -1.2, 1.2)
    assert np.linalg.eigvalsh(mass_matrix(model, q)).min() > 0


def test_height_and_mass_may_be_parameters():
    created = parametric(manikin, height=1.75, mass=79.0).at({"height": 1.6, "mass": 60.0})
    assert created.mass == pytest.approx(60.0)
    assert created.joint("right_knee").placement.r[2] == pytest.approx(
        manikin(1.6, 60.0).joint("right_knee").placement.r[2], rel=1e-12
    )


def test_an_unknown_sex_is_refused_with_the_known_ones():
    with pytest.raises(ModelError, match="male, female"):
        manikin(sex="robot")


def test_notes_state_what_the_source_leaves_open(model):
    assert any("de Leva" in note for note in model.notes)
    assert any("height only" in note for note in model.notes)
