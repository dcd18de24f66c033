"""Checks of models: each planted error is found, and valid models have no warnings."""

import json
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import (
    ModelCheck,
    check_model,
    check_model_file,
)
from homodyn.foundation import Severity
from homodyn.model import Assembly, Body, ContactShape, Coupler, Marker, joints
from homodyn.model.functions import Spline


@pytest.fixture(scope="module")
def person():
    return hd.catalog.heiman()


def sentences(model, severity=Severity.WARNING):
    found = check_model(model).findings
    return [f"{f.subject}: {f.sentence}" for f in found if f.severity is severity]


def changed(model, part, name, **numbers):
    records = [
        replace(record, **numbers) if record.name == name else record
        for record in getattr(model, part)
    ]
    return replace(model, **{part: tuple(records)})


def test_a_sound_person_has_notes_only(person):
    checked = check_model(person)
    assert checked.passes(strict=True)
    assert {f.severity for f in checked.findings} == {Severity.INFO}
    assert any("76 kg in 19 bodies" in f.sentence for f in checked.findings)
    assert any("condition number" in f.sentence for f in checked.findings)
    assert checked.sentence == f"HeiMan: {len(checked.findings)} notes"


def test_sides_of_different_mass_are_found(person):
    assert sentences(person.with_numbers({"ThighLeft.mass": 10.86})) == []
    (sentence,) = sentences(person.with_numbers({"ThighLeft.mass": 12.0}))
    assert "the masses of 'ThighLeft', 12 kg, and 'ThighRight', 10.76 kg" in sentence


def test_sides_of_different_inertia_are_found(person):
    inertia = person.body("HandLeft").inertia
    (sentence,) = sentences(person.with_numbers({"HandLeft.inertia": 1.2 * inertia}))
    assert "inertias of 'HandLeft' and 'HandRight' differ by 17 %" in sentence


def test_shares_that_no_person_has_are_notes(person):
    heavy = person.with_numbers({"ShankLeft.mass": 9.0, "ShankRight.mass": 9.0})
    assert any("one shank has 10 % of the mass" in note for note in sentences(heavy, Severity.INFO))
    assert not any("of people" in note for note in sentences(person, Severity.INFO))


def test_a_range_without_the_default_or_without_width_is_found(person):
    (sentence,) = sentences(person.with_numbers({"KneeLeft_RY.lower": 0.5}))
    assert "'KneeLeft_RY': its default 0 is outside its range" in sentence
    fixed = person.with_numbers({"KneeLeft_RY.lower": 0.0, "KneeLeft_RY.upper": 0.0})
    (sentence,) = sentences(fixed)
    assert "'KneeLeft_RY' cannot move: its range is 0 alone" in sentence


def test_a_spline_that_ends_within_the_range_is_found():
    spline = Spline((0.0, 0.5, 1.0), (0.0, 0.1, 0.3))
    model = (
        Assembly("knee")
        .add(Body("thigh", 8, (0, 0, -0.2), (0.1, 0.1, 0.01)), joints.revolute("y"))
        .add(
            Body("shank", 3, (0, 0, -0.2), (0.04, 0.04, 0.01)),
            joints.revolute("y", lower=-0.1, upper=2.0),
            "thigh",
            at=(0, 0, -0.4),
            joint_name="knee",
        )
        .add(
            Body("patella", 0.1, (0, 0, 0.0), (1e-4, 1e-4, 1e-4)),
            joints.prismatic("x"),
            "thigh",
            at=(0, 0, -0.4),
            joint_name="glide",
        )
        .model()
    )
    model = replace(model, couplers=(Coupler("glide", "knee", spline),))
    assert any("ranges from -0.1 to 2 but its spline" in sentence for sentence in sentences(model))


@pytest.mark.parametrize(
    ("part", "record"),
    [
        ("markers", Marker("far", "Head", (0, 0, 120.0))),
        ("contacts", ContactShape("far", "Head", "point", (0, 0, 1.6))),
    ],
)
def test_distant_attachments_are_found(person, part, record):
    model = replace(person, **{part: (*getattr(person, part), record)})
    assert any("'far' is 1" in s and "millimeters?" in s for s in sentences(model))


def test_a_sphere_without_a_radius_is_found(person):
    (sentence,) = sentences(changed(person, "contacts", "HeelLeft", radius=0.0))
    assert sentence == "contact: contact 'HeelLeft' is a sphere of radius zero"


def test_markers_without_mass_under_them_are_a_note(person):
    model = replace(person, markers=(*person.markers, Marker("SC", "ClaviculaLeft")))
    assert "marker: on bodies without mass: SC" in sentences(model, Severity.INFO)
    assert check_model(model).passes(strict=True)


def test_a_center_of_mass_outside_its_segment_is_found(person):
    found = sentences(person.with_numbers({"ThighLeft.com": (0.0, 0.0, 1.5)}))
    assert any("that of 'ThighLeft' is" in sentence for sentence in found)


def test_placeholders_for_inertias_are_one_finding(person):
    model = person
    for name in ("HandLeft", "HandRight"):
        model = model.with_numbers({f"{name}.inertia": np.eye(3)})
    found = sentences(model)
    assert (
        "inertia: 1 kg m2 about every axis looks like a placeholder: HandRight, HandLeft" in found
    )
    assert any("too large for mass and size of HandRight, HandLeft" in s for s in found)


def test_a_mass_matrix_that_cannot_be_inverted_is_an_error(person):
    model = replace(person, as_measured=True)
    model = changed(model, "bodies", "Head", mass=0.0, inertia=np.zeros((3, 3)))
    checked = check_model(model)
    assert not checked.passes()
    assert checked.findings[0].severity is Severity.ERROR
    assert "(Neck_R" in checked.findings[0].sentence
    assert "Neck flexion" in checked.findings[0].sentence
    assert "not positive definite in the neutral pose" in checked.findings[0].sentence


def test_findings_come_in_order_of_severity(person):
    model = changed(replace(person, as_measured=True), "bodies", "Head", mass=0.0)
    model = model.with_numbers({"ThighLeft.mass": 12.0})
    order = [list(Severity).index(f.severity) for f in check_model(model).findings]
    assert order == sorted(order)


def test_a_file_that_cannot_be_a_model_lists_all_of_its_faults(tmp_path, person):
    path = tmp_path / "person.toml"
    hd.save(person, path)
    text = path.read_text()
    first, second = (f"mass = {person.body(name).mass!r}" for name in ("Pelvis", "Head"))
    path.write_text(text.replace(first, "mass = -1.0").replace(second, "mass = -2.0"))
    checked = check_model_file(path)
    assert checked.model is None
    assert [f.severity for f in checked.findings] == [Severity.ERROR] * 2
    assert not checked.passes()


def test_inertias_that_no_body_has_are_errors_but_the_rest_is_judged_too(tmp_path):
    path = tmp_path / "rod.urdf"
    path.write_text(
        """<robot name="rod"><link name="base"/><link name="bar"><inertial>
        <origin xyz="0 0 -0.5"/><mass value="2"/>
        <inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="turn" type="revolute"><parent link="base"/><child link="bar"/>
        <axis xyz="0 1 0"/><limit lower="1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    )
    checked = check_model_file(path)
    sentences = [f.sentence for f in checked.findings]
    assert "no rigid body has principal moments" in sentences[0]
    assert sum("no rigid body has principal moments" in s for s in sentences) == 1
    assert any("'turn' cannot move" in sentence for sentence in sentences)


def test_parameters_are_checked_at_their_nominal_values(person):
    model = person.with_parameters("ThighLeft.mass")
    assert [f.sentence for f in check_model(model).findings] == [
        f.sentence for f in check_model(person).findings
    ]


def test_placeholders_of_a_published_robot_are_found(shared_data):
    checked = check_model_file(shared_data / "urdf" / "simple_humanoid.urdf")
    assert any("1 kg m2 about every axis" in f.sentence for f in checked.findings)


def test_the_faults_of_a_published_person_are_found(shared_data):
    path = shared_data / "arnold2013" / "generic" / "unscaled_generic.osim"
    found = [f.sentence for f in check_model_file(path).findings]
    assert any("toes_r" in sentence and "no rigid body" in sentence for sentence in found)
    assert any("talus_r" in sentence and "placeholder" in sentence for sentence in found)
    assert check_model_file(path).passes()


def test_the_check_is_a_record(person):
    checked = check_model(person)
    assert len(repr(checked).splitlines()) <= 10
    assert checked.summary().splitlines()[-1] == checked.sentence
    restored = ModelCheck.from_dict(json.loads(json.dumps(checked.to_dict())))
    assert restored.findings == checked.findings
    assert restored.model == checked.model
