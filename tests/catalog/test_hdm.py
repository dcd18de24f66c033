"""The Human Dynamic Model against the counts, masses and stance of its companion programs."""

import csv
from pathlib import Path

import numpy as np
import pytest

from homodyn.catalog import hdm, mirror_map
from homodyn.dynamics import bias_force, center_of_mass
from homodyn.errors import ModelError
from homodyn.model.plausibility import implausibilities
from homodyn.spatial import quaternion_rotation

TO_OURS = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])


@pytest.fixture(scope="module")
def model():
    return hdm()


def golden():
    text = (Path(__file__).parent / "golden" / "hdm_default_pose.csv").read_text()
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))


def numbers(row, *names):
    return np.array([float(row[name]) for name in names])


def test_the_counts_are_those_of_the_paper(model):
    assert len(model.bodies) == 21
    assert len(model.joints) == 20 + 1
    assert model.nv == 48 + 6
    rows = sum(6 - joint.nv for joint in model.joints if joint.parent != "world")
    assert rows == 72
    assert 3 * len(model.markers) == 123
    kinds = [joint.nv for joint in model.joints if joint.parent != "world"]
    assert [kinds.count(n) for n in (3, 2, 1)] == [10, 8, 2]


def test_masses_and_inertias_are_those_of_the_shapes(model):
    for row in golden():
        body = model.body(row["segment"])
        assert body.mass == pytest.approx(float(row["mass"]), abs=6e-6)
        inertia = numbers(row, "ixx", "iyy", "izz")
        np.testing.assert_allclose(np.diag(body.inertia), inertia, rtol=0, atol=6e-9)
        assert not body.com.any()
    assert model.mass == pytest.approx(87.58, abs=5e-3)


@pytest.mark.parametrize(
    ("sizes", "total"), [("default", 87.58), ("tracing", 82.68), ("program", 106.78)]
)
def test_each_set_of_sizes_has_its_mass(sizes, total):
    column = {"default": "mass", "tracing": "tracing_mass", "program": "program_mass"}[sizes]
    other = hdm(sizes, markers="none")
    assert other.mass == pytest.approx(total, abs=5e-3)
    assert other.mass == pytest.approx(sum(float(row[column]) for row in golden()), abs=1e-4)
    assert implausibilities(other) == []


def test_the_default_stance_is_that_of_the_program(model, placements):
    places = placements(model, model.neutral())
    for row in golden():
        place = places[row["segment"]]
        center = TO_OURS @ numbers(row, "x", "y", "z")
        np.testing.assert_allclose(place.r, center, atol=1e-6)
        turn = quaternion_rotation(numbers(row, "qw", "qx", "qy", "qz")).T
        np.testing.assert_allclose(place.E.T, TO_OURS @ turn, atol=1e-8)


def test_stature_limbs_and_center_of_mass_in_the_default_stance(model, placements):
    q = model.neutral()
    places = placements(model, q)
    assert places["head"].r[2] + 0.13 == pytest.approx(1.822, abs=5e-4)
    assert center_of_mass(model, q)[2] == pytest.approx(1.030, abs=5e-4)
    centers = {
        joint.name: places[joint.parent].point_back(joint.placement.r)
        for joint in model.joints
        if joint.parent != "world"
    }
    for one, other, length in (
        ("right_hip", "right_knee", 0.450),
        ("left_knee", "left_ankle", 0.456),
        ("right_shoulder", "right_elbow", 0.301),
        ("left_elbow", "left_wrist", 0.299),
        ("right_hip", "left_hip", 0.186),
    ):
        assert np.linalg.norm(centers[one] - centers[other]) == pytest.approx(length, abs=5e-4)


def test_it_weighs_on_the_ground_what_the_notes_say(model):
    q = model.neutral()
    force = bias_force(model, q, np.zeros(model.nv))
    assert force[model.coordinate_index("root_tz")] == pytest.approx(858.3, abs=0.05)


def test_feet_touch_the_ground_in_the_default_stance(model, place):
    q = model.neutral()
    for contact in model.contacts:
        if contact.name.endswith(("heel_contact", "toe_contact")):
            height = place(model, q, contact.name)[2]
            assert height == pytest.approx(contact.radius, abs=1e-12)


@pytest.mark.parametrize(
    ("coordinate", "body", "axis", "way"),
    [
        ("right_knee_pitch", "right_heel", 0, -1),  # a knee bends backwards, to positive angles
        ("left_knee_pitch", "left_heel", 0, -1),
        ("right_elbow_pitch", "right_hand", 0, -1),  # an elbow bends forwards, to negative ones
        ("right_hip_pitch", "right_lower_leg", 0, -1),
        ("right_hip_roll", "right_lower_leg", 1, -1),  # 120 deg of abduction to the right
        ("left_hip_roll", "left_lower_leg", 1, -1),  # and -120 to the left
        ("right_clavicle_roll", "right_upper_arm", 2, +1),  # 45 deg of lifting
        ("lumbar_pitch", "head", 0, -1),  # 45 deg of bending forwards are negative
        ("cervical_roll", "head", 1, -1),  # first segment to the right relative to the second
    ],
)
def test_positive_angles_move_segments_the_way_their_ranges_mean(
    model, place, coordinate, body, axis, way
):
    q = model.neutral()
    before = place(model, q, body)
    dv = np.zeros(model.nv)
    dv[model.coordinate_index(coordinate)] = 0.01
    shifted = place(model, model.integrate(q, dv), body) - before
    assert np.sign(shifted[axis]) == way
    assert abs(shifted[axis]) > 1e-4


def test_ranges_are_those_of_the_programs(model):
    degrees = {
        "cervical_pitch": (-60, 45),
        "right_shoulder_roll": (-45, 120),
        "left_shoulder_roll": (-120, 45),
        "left_elbow_pitch": (-144, 0.572958),
        "right_knee_pitch": (-0.572958, 144),
        "sacral_yaw": (-60, 60),
        "left_tarsal_roll": (-11.25, 11.25),
    }
    for name, expected in degrees.items():
        k = model.coordinate_index(name)
        np.testing.assert_allclose(np.degrees([model.lower[k], model.upper[k]]), expected)


def test_marker_sets(model):
    assert {m.body for m in model.markers if m.name in ("RBHD", "LFHD")} == {"head"}
    assert {m.body for m in model.markers if m.name in ("RBWT", "LFWT")} == {"pelvis"}
    assert len(hdm(markers="suit").markers) == 35
    diodes = hdm("tracing", "tracing").markers
    assert len(diodes) == 50
    assert sum(not marker.position.any() for marker in diodes) == 9


def test_sides_exchange_exactly(model):
    mirror = mirror_map(model)
    hip = model.coordinate_index("right_hip_roll"), model.coordinate_index("left_hip_roll")
    assert mirror.v_index[hip[0]] == hip[1]
    assert mirror.v_sign[hip[0]] == -1.0
    lower, upper = mirror.velocity(model.lower), mirror.velocity(model.upper)
    np.testing.assert_array_equal(np.minimum(lower, upper), model.lower)


def test_unknown_sets_are_refused_with_the_known_ones():
    with pytest.raises(ModelError, match="cmu, suit, tracing, none"):
        hdm(markers="vicon")
