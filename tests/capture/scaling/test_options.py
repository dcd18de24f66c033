"""Options of scaling and calibration: as records, as keywords, and checked when they are made."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import CalibrationOptions, ScalingOptions, ScalingPrior
from homodyn.capture.scaling.options import CalibrationKeywords, ScalingKeywords
from homodyn.errors import CaptureError
from support.subjects import subject


@pytest.fixture(scope="module")
def generic():
    return hd.catalog.heiman()


@pytest.fixture(scope="module")
def trial(generic):
    return subject(generic, 5, frames=4).trial


def test_scale_takes_a_record_or_keywords_and_keywords_override(generic, trial):
    options = ScalingOptions(mass=70.0, symmetric=True, move_markers=False)
    by_record = hd.capture.scale(generic, trial, options)
    by_keywords = hd.capture.scale(generic, trial, mass=70.0, symmetric=True, move_markers=False)
    np.testing.assert_array_equal(by_record.q, by_keywords.q)
    heavier = hd.capture.scale(generic, trial, options, mass=90.0)
    assert heavier.model.mass == pytest.approx(90.0)
    np.testing.assert_array_equal(heavier.scales["ThighLeft"], by_record.scales["ThighLeft"])


def test_calibrate_takes_a_record_or_keywords_and_keywords_override(generic, trial):
    spread = ScalingPrior(landmark=0.01, noise=0.002, learn=False)
    options = CalibrationOptions(mass=70.0, prior=spread, frames=2)
    by_record = hd.capture.calibrate(generic, trial, options)
    by_keywords = hd.capture.calibrate(generic, trial, mass=70.0, prior=spread, frames=2)
    np.testing.assert_array_equal(by_record.q, by_keywords.q)
    assert by_record.method == by_keywords.method
    uniform = hd.capture.calibrate(generic, trial, options, uniform=True, frames=[0, 3])
    assert "uniform" in uniform.method
    assert [index for _, index in uniform.frames] == [0, 3]
    assert np.ptp(uniform.scales["ThighLeft"]) == 0.0


@pytest.mark.parametrize(
    ("options", "keywords"),
    [(ScalingOptions, ScalingKeywords), (CalibrationOptions, CalibrationKeywords)],
)
def test_every_field_can_be_a_keyword(options, keywords):
    assert set(keywords.__annotations__) == set(options.__dataclass_fields__)


@pytest.mark.parametrize("options", [ScalingOptions, CalibrationOptions])
@pytest.mark.parametrize("height", [180.0, 0.0, -1.0, float("nan")])
def test_a_height_in_other_units_is_refused(options, height):
    with pytest.raises(CaptureError, match="meters"):
        options(height=height)


@pytest.mark.parametrize("mass", [0.0, -70.0, float("inf"), float("nan")])
def test_a_mass_that_no_person_has_is_refused(mass):
    with pytest.raises(CaptureError, match="above zero"):
        ScalingOptions(mass=mass)


def test_options_are_records():
    options = CalibrationOptions(mass=70.0, scale_groups=[("ulna_r", "radius_r")], frames=[1, 2])
    assert len(repr(options).splitlines()) <= 10
    restored = CalibrationOptions.from_dict(options.to_dict())
    assert restored.scale_groups == options.scale_groups == (("ulna_r", "radius_r"),)
    assert restored.prior == ScalingPrior()
