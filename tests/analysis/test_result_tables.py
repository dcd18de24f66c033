"""Tables of a result: headings with clinical names and units, and the way back."""

import csv

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.result_tables import (
    column_name,
    coordinate_headings,
    position_headings,
    write_coordinates,
    write_csv,
)
from homodyn.motion.coordinate_columns import position_columns


def test_headings_have_clinical_names_with_their_sign():
    model = hd.catalog.heiman()
    heads = dict(zip(model.coordinate_names, position_headings(model), strict=True))
    assert heads["KneeRight_RY"] == "KneeRight_RY = Right knee flexion (rad)"
    assert heads["HipRight_RY"] == "HipRight_RY = -Right hip flexion (rad)"
    assert heads["Pelvis_TX"] == "Pelvis_TX (m)"
    speeds = coordinate_headings(model, quantity="speed", units=("rad/s", "m/s"))
    assert "HipRight_RY speed = -Right hip flexion speed (rad/s)" in speeds
    assert "Pelvis_TX speed (m/s)" in speeds
    powers = coordinate_headings(model, quantity="power", units=("W", "W"), signed=False)
    assert "HipRight_RY power = Right hip flexion power (W)" in powers


@pytest.mark.parametrize("name", ["heiman", "human36", "hdm", "coman"])
def test_headings_give_the_names_back(name):
    model = hd.catalog.build(name)
    names = [column.name for column in position_columns(model)]
    assert [column_name(head) for head in position_headings(model)] == names
    torques = coordinate_headings(model, units=("N m", "N"))
    assert [column_name(head) for head in torques] == list(model.coordinate_names)
    assert column_name("time (s)") == "time"
    assert column_name("measured") == "measured"


def test_the_sign_in_the_heading_is_that_of_the_values(tmp_path):
    """The column, times the sign in its heading, is the clinical reading of the motion."""
    model = hd.catalog.heiman()
    q = model.random(0, 8)
    zeros = np.zeros((8, model.nv))
    motion = hd.motion.Motion(model, np.arange(8) / 100, q, zeros, zeros)
    write_coordinates(motion, tmp_path)
    with open(tmp_path / "motion.csv", encoding="utf-8", newline="") as stream:
        head, *rows = csv.reader(stream)
    values = np.array(rows, dtype=float)
    checked = 0
    for column, heading in enumerate(head):
        _, equals, clinical = heading.rpartition(" (")[0].partition(" = ")
        if equals and "speed" not in clinical and "acceleration" not in clinical:
            sign = -1.0 if clinical.startswith("-") else 1.0
            reading = motion[clinical.removeprefix("-")].values
            np.testing.assert_allclose(sign * values[:, column], reading, rtol=1e-7, atol=1e-9)
            checked += 1
    assert checked == 28


def test_headings_with_commas_are_read_again(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, np.arange(2.0), ["a = Trunk rotation, side forward (rad)", "b"], np.eye(2))
    table = hd.capture.read_table(path)
    assert table.names == ("a = Trunk rotation, side forward (rad)", "b")
    np.testing.assert_array_equal(table.values, np.eye(2))
