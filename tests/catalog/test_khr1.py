"""KHR-1 has the masses, joints and signs of its document and says that its lengths are not."""

import numpy as np
import pytest

from homodyn.catalog import from_humans, khr1, mirror_map, to_humans
from homodyn.catalog.khr1 import humans_order
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod


@pytest.fixture(scope="module")
def model():
    return khr1()


def test_counts_are_those_of_the_document(model):
    assert len(model.bodies) == 18
    assert model.nv == model.nq == 17 + 6
    assert len(model.markers) == 34


def test_masses_are_round_grams_that_make_1300_and_are_symmetric(model):
    grams = {
        "trunk": 525, "right_hip": 10, "right_thigh": 100, "right_leg": 50, "right_ankle": 10,
        "right_foot": 70, "right_shoulder": 10, "right_arm": 50, "right_hand": 65, "head": 45,
    }  # fmt: skip
    for name, value in grams.items():
        assert model.body(name).mass == pytest.approx(value / 1000, rel=1e-12)
        other = model.body(name.replace("right", "left"))
        assert other.mass == model.body(name).mass
    assert model.mass == pytest.approx(1.3, rel=1e-12)


def test_percentages_of_the_document_follow_from_the_grams(model):
    percent = {
        "trunk": 40.38,
        "left_thigh": 7.69,
        "right_foot": 5.38,
        "left_hand": 5.0,
        "head": 3.46,
    }
    for name, value in percent.items():
        assert 100 * model.body(name).mass / model.mass == pytest.approx(value, abs=5e-3)


def test_every_solid_turns_like_a_box(model):
    foot = model.body("left_foot")
    a, b, c = 0.10, 0.06, 0.035
    expected = foot.mass / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    np.testing.assert_allclose(np.diag(foot.inertia), expected, rtol=1e-12)


def test_it_stands_on_its_soles_with_the_given_stature(model, place):
    q = model.neutral()
    assert place(model, q, "right_foot_toe_left")[2] == pytest.approx(0.0, abs=1e-12)
    assert place(model, q, "head")[2] + 0.05 == pytest.approx(0.340, abs=1e-12)
    fingers = place(model, q, "left_fist") - place(model, q, "right_fist")
    assert fingers[1] == pytest.approx(0.13, abs=1e-12)


@pytest.mark.parametrize(
    ("number", "tag", "axis", "way"),
    [
        (3, "right_ankle_on_foot", 0, -1),  # sagittal turns move the part backwards
        (9, "left_knee_point", 0, -1),
        (12, "right_fist", 0, -1),
        (16, "left_fist", 0, -1),
        (5, "right_knee_point", 1, -1),  # frontal turns move it away from the middle
        (10, "left_knee_point", 1, 1),
        (11, "right_fist", 1, -1),
        (14, "left_fist", 1, 1),
        (17, "nose", 1, 1),  # the head turns counter-clockwise seen from above
        (19, "nose", 2, 1),  # the document's second translation is upwards
        (20, "nose", 1, -1),  # and its third to the right
    ],
)
def test_coordinates_move_the_way_the_document_says(model, place, number, tag, axis, way):
    change = np.zeros(23)
    change[number - 1] = 0.1
    q = from_humans(model, change)
    shifted = place(model, q, tag) - place(model, model.neutral(), tag)
    assert np.sign(shifted[axis]) == way
    assert abs(shifted[axis]) > 1e-4


def test_the_order_of_the_document_and_back(model):
    assert len(humans_order()) == 23
    q = model.random(seed=1)
    assert np.array_equal(from_humans(model, to_humans(model, q)), q)


def test_bodies_unknown_to_humans_have_no_such_order():
    arm = Assembly("arm").add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1)), joints.revolute("y")).model()
    with pytest.raises(ModelError, match="human36, khr1, bip"):
        to_humans(arm, [0.0])


def test_sides_exchange_exactly(model):
    mirror = mirror_map(model)
    sided = [k for k, n in enumerate(model.coordinate_names) if n.startswith(("right", "left"))]
    assert all(mirror.q_sign[k] == 1.0 for k in sided)


def test_notes_state_what_is_a_surrogate(model):
    assert any(note.startswith("SURROGATE") for note in model.notes)
