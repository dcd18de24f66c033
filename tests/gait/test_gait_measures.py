"""The table of gait measures: rows, missing measures, text, CSV and data frame."""

import csv
import io

import numpy as np
import pytest

from homodyn.errors import CaptureError
from homodyn.gait import GaitMeasure, GaitMeasures, MissingMeasure, measures
from support import strolls
from support.walker import Walker


def measured(walker):
    motion = walker.motion()
    return measures(motion)


def test_the_table_has_one_row_per_measure():
    found = measured(Walker())
    table = found.to_table()
    assert [row["name"] for row in table] == [row.name for row in found.rows]
    first = table[0]
    assert first["mean"] == pytest.approx(np.mean(first["values"]))
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(rows) == len(table)
    assert float(rows[0]["mean"]) == pytest.approx(first["mean"], rel=1e-5)
    assert "nan" not in found.to_csv().lower()
    one = next(row for row in found.rows if len(row.values) == 1)
    assert one.sd is None
    with pytest.raises(CaptureError, match="no measure 'pace"):
        found["pace"]


def test_a_missing_measure_is_refused_with_its_reason():
    row = GaitMeasure("cadence", "steps/min", "both", np.array([110.0, 112.0]), np.arange(2.0))
    gap = MissingMeasure("step width", "left", "the model is planar")
    table = GaitMeasures((row,), (gap,))
    assert "cadence" in table
    assert ("step width", "left") not in table
    with pytest.raises(CaptureError, match=r"step width \(left\) is missing: the model is planar"):
        table["step width", "left"]
    assert row.mean == 111.0
    assert row.sd == pytest.approx(np.sqrt(2.0))
    assert table.summary().splitlines()[-1] == "step width (left): the model is planar"
    frame = table.to_pandas()
    assert frame.loc[0, "mean"] == 111.0
    assert GaitMeasures.from_dict(table.to_dict()).missing == (gap,)


def two_sides():
    left = GaitMeasure("step length", "m", "left", np.array([0.6, 0.7]), np.array([1.0, 3.0]))
    right = GaitMeasure("step length", "m", "right", np.array([0.8]), np.array([2.0]))
    speed = GaitMeasure("velocity", "m/s", "both", np.array([1.2]), np.array([0.0]))
    index = GaitMeasure(
        "symmetry index of step length", "%", "both", np.array([20.0]), np.array([0.0])
    )
    gaps = tuple(MissingMeasure("step width", side, "planar") for side in ("left", "right"))
    return GaitMeasures((left, right, speed, index), gaps, notes=("One.", "Two."))


def test_both_sides_are_columns_of_one_line():
    text = str(two_sides()).splitlines()
    assert text[0].split() == ["left", "right", "both", "symmetry", "index"]
    assert text[1].split() == ["step", "length", "m", "0.650", "±", "0.071", "0.800", "20.0", "%"]
    assert text[2].split() == ["velocity", "m/s", "1.200"]
    assert text[3:] == [
        "step width (left): planar (and 1 more: see summary())",
        "One. (and 1 more: see summary())",
    ]
    assert two_sides().summary().splitlines()[-3:] == ["step width (right): planar", "One.", "Two."]


def test_a_measure_without_side_has_the_values_of_both_in_order_of_time():
    pooled = two_sides()["step length"]
    assert pooled.side == "both"
    assert pooled.values.tolist() == [0.6, 0.8, 0.7]
    assert pooled.times.tolist() == [1.0, 2.0, 3.0]
    assert "step length" in two_sides()
    assert ("velocity", "left") not in two_sides()


@pytest.mark.parametrize("name", ["speed", "walking speed", "Speed"])
def test_speed_is_velocity(name):
    assert two_sides()[name].mean == 1.2
    assert name in two_sides()


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (("velocity", "left"), "velocity has no side 'left'; accepted: both"),
        ("step width", r"step width \(left\) is missing: planar"),
        ("step lenght", "did you mean 'step length'"),
    ],
)
def test_an_unknown_measure_is_refused_in_a_sentence(key, message):
    with pytest.raises(CaptureError, match=message):
        two_sides()[key]


def test_a_whole_table_prints_in_24_lines():
    walk = measures(strolls.fitted())
    assert len(str(walk).splitlines()) <= 24
    assert max(map(len, str(walk).splitlines())) <= 110
    assert len(repr(walk).splitlines()) <= 10
