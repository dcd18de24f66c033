import re

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from homodyn.catalog import CLEARANCES, PLANAR, SUBJECTS, heiman
from homodyn.catalog.data_tables import table_rows
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.dynamics.tree import Tree
from homodyn.model.plausibility import implausibilities

# Felis 2015, public model of Subject3: mass, center of mass along z, principal moments.
SUBJECT3 = {
    "Pelvis": (8.3775, 0.042646, 0.0382005, 0.0306635, 0.0348013),
    "Thigh": (10.62, -0.181859, 0.226714, 0.226714, 0.0465006),
    "Shank": (3.2475, -0.206272, 0.0452094, 0.0431069, 0.00737603),
    "Foot": (1.0275, -0.0384317, 0.00501844, 0.00456073, 0.00116828),
    "MiddleTrunk": (12.2475, 0.121817, 0.139683, 0.0881958, 0.131687),
    "UpperTrunk": (11.97, 0.163753, 0.335723, 0.134979, 0.284397),
    "UpperArm": (2.0325, -0.219105, 0.0237888, 0.0211928, 0.00731134),
    "LowerArm": (1.215, -0.124134, 0.00681682, 0.00628428, 0.00131019),
    "Hand": (0.4575, -0.0518957, 0.000778148, 0.000518099, 0.000317624),
    "Head": (5.205, 0.0884093, 0.0329244, 0.0355203, 0.0244574),
}
MIDLINE = {"Pelvis", "MiddleTrunk", "UpperTrunk", "Head"}


def position(model, frame, q=None):
    """World position of a frame, without a kernel for each."""
    body, placement = model.locate(frame)
    return Tree(model, model.neutral() if q is None else q).placements[body].point_back(placement.r)


def test_it_has_the_segments_and_coordinates_of_the_thesis_in_the_order_of_its_state():
    model = heiman()
    assert (len(model.bodies), model.nv, model.nq) == (19, 34, 34)
    assert model.coordinate_names == tuple(row["coordinate"] for row in table_rows("heiman_bounds"))
    assert model.coordinate_names[26:32] == (
        "ElbowRight_RY",
        "ShoulderLeft_RY",
        "ShoulderLeft_RX",
        "ShoulderLeft_RZ",
        "ElbowLeft_RY",
        "Neck_RY",
    )
    assert (model.max_force > 0).tolist() == [False] * 6 + [True] * 28


def test_the_worked_example_of_the_thesis():
    model = heiman(height=1.79, mass=76.0)
    assert model.mass == pytest.approx(76.0, rel=1e-14)
    assert heiman_parameters(1.79, 76.0)["PelvisHeight"] == pytest.approx(0.1498, abs=5e-5)
    trunk = model.body("UpperTrunk")
    assert trunk.mass == pytest.approx(12.13, abs=5e-3)
    assert trunk.com[2] == pytest.approx(0.123, abs=5e-4)
    assert np.diag(trunk.inertia) == pytest.approx([0.19135, 0.07693, 0.16210], abs=5e-6)


def test_it_stands_on_the_ground_with_its_center_of_mass_where_the_tables_put_it():
    model = heiman()
    assert dynamics.center_of_mass(model, model.neutral())[2] / 1.79 == pytest.approx(
        0.5838, abs=5e-5
    )
    assert position(model, "ThighRight")[2] / 1.79 == pytest.approx(0.5422, abs=5e-5)
    top = position(model, "Head")[2] + heiman_parameters(1.79, 76.0)["HeadLength"]
    assert top / 1.79 == pytest.approx(1.0283, abs=5e-5)
    for point in ("HalluxRight", "Meta5Left"):
        assert position(model, point)[2] == pytest.approx(0.0, abs=1e-12)
    heel = next(c for c in model.contacts if c.name == "HeelLeft")
    assert heel.kind == "sphere"
    assert position(model, "HeelLeft")[2] - heel.radius == pytest.approx(0.0, abs=1e-12)


def test_a_higher_pelvis_lifts_all_above_it_and_has_other_inertia():
    usual, high = heiman(), heiman(overrides={"PelvisHeight": 0.3})
    for body in usual.body_names:
        lifted = (position(high, body) - position(usual, body))[2]
        legs = ("Pelvis", "Thigh", "Shank", "Foot")
        expected = 0.0 if body.startswith(legs) else 0.1502
        assert lifted == pytest.approx(expected, abs=5e-5), body
    ratio = (0.3 / (0.0837 * 1.79)) ** 2
    assert high.body("Pelvis").inertia == pytest.approx(usual.body("Pelvis").inertia * ratio)


def test_subject3_has_the_inertias_of_the_public_model():
    model = heiman(**SUBJECTS["Subject3"])
    assert model.mass == pytest.approx(75.0)
    for kind, (mass, com, *moments) in SUBJECT3.items():
        for name in [kind] if kind in MIDLINE else [f"{kind}Right", f"{kind}Left"]:
            body = model.body(name)
            assert body.mass == pytest.approx(mass, rel=1e-12)
            # Its lengths are printed with four digits.
            assert body.com == pytest.approx([0, 0, com], abs=3e-5)
            assert np.diag(body.inertia) == pytest.approx(moments, rel=1e-3)
    assert position(model, "HalluxRight") == pytest.approx([0.18, -0.0832 + 0.03, 0], abs=1e-12)
    assert position(model, "Meta5Left") == pytest.approx([0.18, 0.0832 + 0.06, 0], abs=1e-12)


def test_printed_pelvis_radius_breaks_the_triangle_inequality():
    with pytest.raises(hd.ModelError, match=r"Pelvis.*no rigid body has principal moments"):
        heiman(overrides={"PelvisGyration": (1.615, 0.551, 0.587)})


def test_every_number_can_be_given_and_a_name_without_a_side_means_both():
    model = heiman(
        overrides={
            "ThighLength": 0.5,
            "ThighLeftMass": 9.0,
            "ShankRightCOM": (0.01, 0.0, -0.5),
            "LowerTrunkHeight": 0.2,
            "HandGyration": (0.1, 0.1, 0.1),
        }
    )
    for side in ("Right", "Left"):
        assert model.joint(f"Knee{side}").placement.r[2] == -0.5
    thigh = model.body("ThighLeft")
    assert (thigh.mass, thigh.inertia[0, 0]) == (9.0, 9.0 * (0.329 * 0.5) ** 2)
    shank = heiman_parameters(1.79, 76.0)["ShankRightLength"]
    assert model.body("ShankRight").com == pytest.approx([0.01 * shank, 0, -0.5 * shank])
    assert model.joint("Lumbar").placement.r[2] == 0.2
    usual = {
        name: value for name, value in heiman_parameters(1.79, 76.0).items() if name != "height"
    }
    assert heiman(overrides=usual) == heiman()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"overrides": {"ThighRightLenght": 0.4}}, "did you mean 'ThighRightLength'?"),
        ({"joints": {"Hipright": "RY"}}, "did you mean 'HipRight'?"),
        (
            {"joints": {"HipRight": "RY RW"}},
            "joint 'HipRight': degrees of freedom are some of TX TY TZ",
        ),
        ({"sex": "other"}, "no sex 'other'; accepted: male, female"),
        ({"limits": "wide"}, "accepted: anatomical, reconstruction, synthesis"),
        ({"foot": "big"}, "accepted: thesis, anatomical"),
    ],
)
def test_what_it_does_not_know_it_refuses_with_the_names_it_knows(arguments, message):
    with pytest.raises(hd.ModelError, match=re.escape(message)):
        heiman(**arguments)


def test_in_the_plane_it_has_15_degrees_of_freedom_and_moves_like_the_whole():
    plane, whole = heiman(joints=PLANAR), heiman()
    assert plane.nv == 15
    assert all(name.endswith(("_TX", "_TZ", "_RY")) for name in plane.coordinate_names)
    q = plane.random(3)
    full = whole.neutral()
    full[[whole.coordinate_index(name) for name in plane.coordinate_names]] = q
    for frame in ("HalluxLeft", "RWRA", "LFHD"):
        expected = position(whole, frame, full)
        assert position(plane, frame, q) == pytest.approx(expected, abs=1e-12)


def test_joints_take_any_degrees_of_freedom():
    model = heiman(joints={"WristRight": "RY", "Lumbar": "", "KneeLeft": ("RY", "RZ")})
    assert model.nv == 34 + 1 - 3 + 1
    wrist = model.joint("WristRight").coordinates[0]
    assert (wrist.name, wrist.upper) == ("WristRight_RY", np.deg2rad(80))
    assert [c.name for c in model.joint("KneeLeft").coordinates] == ["KneeLeft_RY", "KneeLeft_RZ"]


def test_turns_are_about_y_then_x_then_z():
    model = heiman()
    q = np.zeros(model.nq)
    angles = q[3:6] = [0.3, -0.5, 0.7]

    def turn(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        R = np.eye(3)
        R[[i, j, i, j], [i, j, j, i]] = [c, c, -s, s]
        return R

    expected = turn("y", angles[0]) @ turn("x", angles[1]) @ turn("z", angles[2])
    assert dynamics.orientation(model, q, "Pelvis") == pytest.approx(expected, abs=1e-14)


def test_the_anatomical_foot_weighs_in_front_of_the_ankle_and_is_long_along_x():
    thesis, flat = heiman().body("FootRight"), heiman(foot="anatomical").body("FootRight")
    length, behind = 0.1462 * 1.79, 0.04 * 1.79
    assert thesis.com[0] == 0
    assert flat.com == pytest.approx([0.4415 * length - behind, 0, -0.0468 * 1.79 / 2])
    assert np.argmin(np.diag(flat.inertia)) == 0
    assert sorted(np.diag(flat.inertia)) == pytest.approx(sorted(np.diag(thesis.inertia)))


def test_stature_and_mass_can_be_parameters():
    model = hd.parametric(heiman, height=1.79, mass=76.0)
    assert model.parameter_names == ("height", "mass")
    assert implausibilities(model) == []
    assert model.neutral() == pytest.approx(heiman().neutral())
    small, q = heiman(1.6, 50.0), heiman().random(2)
    for frame in ("RTOE", "HeelLeft", "Head"):
        given = dynamics.position(model, q, frame, parameters={"height": 1.6})
        assert given == pytest.approx(dynamics.position(small, q, frame), abs=1e-12)
    one, other = model.at({"height": 1.6, "mass": 50.0}), small
    for a, b in zip(one.bodies, other.bodies, strict=True):
        assert a.inertia == pytest.approx(b.inertia, rel=1e-12)
    for a, b in zip(one.capsules, other.capsules, strict=True):
        assert a.radius == pytest.approx(b.radius, rel=1e-12)


def test_any_of_its_numbers_can_be_a_parameter():
    def person(thigh):
        return heiman(overrides={"ThighLength": thigh})

    model = hd.parametric(person, thigh=0.43)
    expected = heiman(overrides={"ThighLength": 0.5})
    given = model.at({"thigh": 0.5})
    assert given.body("ThighLeft").inertia == pytest.approx(expected.body("ThighLeft").inertia)
    assert given.neutral() == pytest.approx(expected.neutral())


def test_joints_have_springs_only_when_given():
    model = heiman()
    moving = np.random.default_rng(2).normal(size=model.nv)
    assert not dynamics.passive_force(model, model.neutral(), moving).any()
    stiff = model.with_numbers({"KneeRight_RY.stiffness": 20.0, "KneeRight_RY.damping": 1.0})
    q, v, k = stiff.neutral(), np.zeros(stiff.nv), stiff.coordinate_index("KneeRight_RY")
    q[k], v[k] = 0.5, 2.0
    force = dynamics.passive_force(stiff, q, v)
    assert force[k] == pytest.approx(-20.0 * 0.5 - 1.0 * 2.0)


def test_it_has_the_32_markers_of_the_thesis_on_their_segments():
    model = heiman()
    on = {marker.name: marker.body for marker in model.markers}
    assert len(on) == 32
    assert on["RKNE"] == "ShankRight"
    assert on["LELB"] == "LowerArmLeft"
    assert on["RANK"] == "FootRight"
    assert on["T10"] == on["STRN"] == "MiddleTrunk"


def test_markers_of_subject3_are_the_means_of_his_sides_and_follow_the_lengths():
    subject = SUBJECTS["Subject3"]
    printed = {
        m["marker"]: [float(m[axis]) for axis in "xyz"] for m in table_rows("heiman_markers")
    }
    longer = {**subject["overrides"], "ShankLength": 2 * subject["overrides"]["ShankLeftLength"]}
    usual, stretched = (
        {m.name: m.position for m in heiman(**{**subject, "overrides": o}).markers}
        for o in (subject["overrides"], longer)
    )
    right, left = np.array(printed["RTIB"]), np.array(printed["LTIB"])
    mean = (right + left * [1, -1, 1]) / 2
    assert usual["RTIB"] == pytest.approx(mean, abs=1e-12)
    assert usual["LTIB"] == pytest.approx(mean * [1, -1, 1], abs=1e-12)
    assert stretched["LTIB"] == pytest.approx(mean * [1, -1, 2], abs=1e-12)
    assert stretched["LTOE"] == pytest.approx(usual["LTOE"])
    assert usual["C7"] == pytest.approx([printed["C7"][0], 0, printed["C7"][2]])


def test_capsules_of_limbs_have_the_volume_of_their_mass_and_the_feet_stand_on_the_ground():
    model = heiman()
    capsules = {capsule.name: capsule for capsule in model.capsules}
    assert set(capsules) == set(model.body_names)
    thigh = capsules["ThighRight"]
    length = np.linalg.norm(thigh.end - thigh.start)
    assert np.pi * thigh.radius**2 * length * 1000 == pytest.approx(model.body("ThighRight").mass)
    foot = capsules["FootLeft"]
    lowest = position(model, "FootLeft")[2] + foot.start[2] - foot.radius
    assert lowest == pytest.approx(0.0, abs=1e-12)
    for one, other in CLEARANCES:
        gap = position(model, other)[1] - position(model, one)[1]
        assert gap > capsules[one].radius + capsules[other].radius
