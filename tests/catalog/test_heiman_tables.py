"""Tables of the HeiMan thesis, compared with de Leva and the printed deviations."""

import numpy as np
import pytest

from homodyn.catalog import SUBJECTS, heiman, typical_torques, walking_bounds
from homodyn.catalog.data_tables import table_rows
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.model.plausibility import implausibilities


@pytest.mark.parametrize("subject", ["Subject1", "Subject3"])
def test_deviations_of_the_subjects_are_those_printed(subject):
    uniform = heiman_parameters(SUBJECTS[subject]["height"], 70.0)
    table = table_rows("heiman_subjects")
    assert len(table) == 28
    for row in table:
        deviation = float(row[subject]) - uniform[row["parameter"]]
        # The columns are printed with four digits each.
        assert deviation == pytest.approx(float(row[f"{subject}_deviation"]), abs=1.5e-4), row


def test_the_printed_height_of_the_middle_trunk_is_refuted_by_the_subjects():
    row = next(
        row for row in table_rows("heiman_subjects") if row["parameter"] == "MiddleTrunkHeight"
    )
    printed = float(row["Subject1"]) - 0.3752 * 1.82
    assert abs(printed - float(row["Subject1_deviation"])) > 0.4


def test_default_ranges_contain_those_of_the_walking_subject_on_both_sides():
    model = heiman()
    for which in ("reconstruction", "synthesis"):
        for name, (lower, upper) in walking_bounds(which).items():
            k = model.coordinate_index(name)
            # Ranges are kept in tenths of a degree.
            assert model.lower[k] <= lower + 2e-3, name
            assert upper - 2e-3 <= model.upper[k], name


def test_ranges_of_the_thesis_can_be_had_as_printed():
    model = heiman(limits="synthesis")
    for name, (lower, upper) in walking_bounds("synthesis").items():
        k = model.coordinate_index(name)
        assert (model.lower[k], model.upper[k]) == (lower, upper)
    assert implausibilities(heiman(limits="reconstruction")) == []
    assert len(walking_bounds("torque")) == len(typical_torques()) == 28
    assert typical_torques()["AnkleRight_RY"] == 39.4


def test_women_have_the_masses_and_shapes_of_de_leva():
    woman = heiman(1.735, 61.9, sex="female")
    assert woman.mass == pytest.approx(61.9)
    de_leva = {
        (row["segment"], row["endpoints"]): row
        for row in table_rows("de_leva_1996")
        if row["sex"] == "female"
    }
    n = heiman_parameters(1.735, 61.9, "female")
    for name, length, key, from_far_end in (
        ("ThighRight", "ThighRightLength", ("thigh", "HJC-KJC"), False),
        ("ShankRight", "ShankRightLength", ("shank", "KJC-AJC"), False),
        ("UpperArmLeft", "UpperArmLeftLength", ("upper arm", "SJC-EJC"), False),
        ("LowerArmLeft", "LowerArmLeftLength", ("forearm", "EJC-WJC"), False),
        ("HandLeft", "HandLeftLength", ("hand", "WJC-DAC3"), False),
        ("Head", "HeadLength", ("head", "VERT-MIDG"), True),
        ("UpperTrunk", "UpperTrunkHeight", ("upper trunk", "SUPR-XYPH"), True),
        ("MiddleTrunk", "MiddleTrunkHeight", ("middle trunk", "XYPH-OMPH"), True),
        ("Pelvis", "PelvisHeight", ("lower trunk", "OMPH-MIDH"), True),
    ):
        row, body = de_leva[key], woman.body(name)
        long = float(row["length"])
        assert n[length] == pytest.approx(long, abs=1e-4), name
        assert body.mass == pytest.approx(float(row["mass"]) * 61.9, rel=2e-4)
        com = (1 - float(row["com"])) * long if from_far_end else -float(row["com"]) * long
        assert body.com[2] == pytest.approx(com, abs=1e-4), name
        radii = [float(row[axis]) * long for axis in ("sagittal", "transverse", "longitudinal")]
        assert np.sqrt(np.diag(body.inertia) / body.mass) == pytest.approx(radii, abs=1e-4)
    assert n["NeckLength"] == pytest.approx(0.228 - 0.1425 + 0.2437 - 0.2002, abs=1e-4)


def test_men_have_the_masses_of_de_leva_but_for_rounding():
    de_leva = {
        (row["segment"], row["endpoints"]): row
        for row in table_rows("de_leva_1996")
        if row["sex"] == "male"
    }
    n = heiman_parameters(1.741, 73.0)
    for length, key in (
        ("ThighRightLength", ("thigh", "HJC-KJC")),
        ("ShankRightLength", ("shank", "KJC-AJC")),
        ("PelvisHeight", ("lower trunk", "OMPH-MIDH")),
        ("MiddleTrunkHeight", ("middle trunk", "XYPH-OMPH")),
        ("HandLeftLength", ("hand", "WJC-DAC3")),
    ):
        assert n[length] == pytest.approx(float(de_leva[key]["length"]), abs=1e-4)
