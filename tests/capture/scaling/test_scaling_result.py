"""Records of a scaling: warnings, tables and plain data."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import BodyScale, MarkerShift, ScalingResult
from homodyn.capture.scaling.scaling_result import center_shifts, scaling_warnings
from support.subjects import subject


@pytest.fixture(scope="module")
def result():
    generic = hd.catalog.heiman()
    return hd.capture.scale(generic, subject(generic, 5, frames=3).trial, mass=70.0)


def test_implausible_factors_shifts_and_errors_are_warnings():
    known = np.ones(3, dtype=bool)
    wide = BodyScale("pelvis", np.array([1.0, 1.5, 1.0]), np.zeros(3), known)
    guessed = BodyScale("hand", np.full(3, 1.5), np.zeros(3), ~known)
    shifted = MarkerShift("RKNE", "shank", np.array([0.06, 0.0, 0.0]), 0.0, 0.0, 0.0)
    first, second, third = scaling_warnings([wide, guessed], [shifted], 0.03)
    assert "'pelvis': scale y 1.500 outside 0.8 to 1.2" in first
    assert "RKNE 60 mm" in second
    assert "30 mm rms" in third
    assert scaling_warnings([guessed], [], 0.01) == []


def test_centers_of_the_root_are_left_out():
    model = hd.catalog.heiman()
    larger = hd.catalog.scale(model, 1.1)
    rows = center_shifts(model, larger)
    assert len(rows) == len(model.joints) - 1
    for row in rows:
        np.testing.assert_allclose(row.after, 1.1 * row.before)
        assert np.isnan(row.sd)


def test_it_prints_briefly_and_comes_back_from_plain_data(result):
    assert len(repr(result).splitlines()) <= 10
    assert "scale x y z" in result.summary()
    restored = ScalingResult.from_dict(result.to_dict())
    assert restored.status is result.status
    assert restored.model == result.model
    np.testing.assert_array_equal(restored.scales["ThighLeft"], result.scales["ThighLeft"])
    with pytest.raises(ValueError, match="read-only"):
        result.q[0, 0] = 1.0


def test_the_table_has_one_row_per_body(result):
    pytest.importorskip("pandas")
    table = result.to_pandas()
    assert list(table.index) == list(result.model.body_names)
    assert table.loc["ThighLeft", "scale z"] == result.scales["ThighLeft"][2]
    assert table["mass (kg)"].sum() == pytest.approx(70.0)
