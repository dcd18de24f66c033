"""What is known of people beforehand."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import ScalingPrior
from homodyn.capture.scaling.prior import expected_size, parameter_prior, scale_ties, stature
from homodyn.errors import CaptureError
from homodyn.model import Assembly, rod
from homodyn.model.joints import revolute


@pytest.mark.parametrize(
    ("model", "height"),
    [
        (hd.catalog.heiman(height=1.79), 1.79),
        (hd.catalog.heiman(height=1.6), 1.6),
        (hd.catalog.human36(size=1.741), 1.741),
    ],
)
def test_the_hips_tell_the_stature_within_a_few_percent(model, height):
    assert stature(model) == pytest.approx(height, rel=0.035)


def test_a_pendulum_has_no_stature():
    model = Assembly("pendulum").add(rod("bob", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y")).model()
    assert stature(model) is None
    size, (note,) = expected_size(model, 1.8)
    assert size is None
    assert "not used" in note


def test_sizes_of_one_body_go_together_more_than_those_of_two():
    covariance = ScalingPrior().log_scales(2, stature_known=True)
    assert covariance[0, 0] > covariance[0, 1] > covariance[0, 3] > 0
    unknown = ScalingPrior().log_scales(2, stature_known=False)
    assert unknown[0, 3] == pytest.approx(ScalingPrior().size ** 2)


def test_left_is_tied_to_right_and_bodies_named_together():
    model = hd.catalog.heiman()
    plain, symmetric = scale_ties(model), scale_ties(model, symmetric=True)
    np.testing.assert_array_equal(plain, np.eye(3 * len(model.bodies)))
    right, left = (model.body_names.index(name) for name in ("ThighRight", "ThighLeft"))
    np.testing.assert_array_equal(
        symmetric[3 * right : 3 * right + 3], symmetric[3 * left : 3 * left + 3]
    )
    trunk = scale_ties(model, together=[("MiddleTrunk", "UpperTrunk")])
    assert trunk.shape[1] == plain.shape[1] - 3
    with pytest.raises(CaptureError, match="ThighRigth"):
        scale_ties(model, together=[("ThighRigth", "ThighLeft")])


def test_the_precision_is_the_inverse_of_the_covariance():
    model = hd.catalog.heiman()
    names = [marker.name for marker in model.markers]
    belief = parameter_prior(model, names, ScalingPrior(center=0.01), size=1.1, stature_known=True)
    product = belief.precision(0.02) @ belief.covariance(0.02)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-9)


def test_bony_landmarks_are_placed_better_than_markers_on_muscle():
    prior = ScalingPrior()
    assert prior.marker_ratio("RASI") == prior.marker_ratio("L.Knee.Lat") == prior.landmark
    assert prior.marker_ratio("RTH1") == prior.marker_ratio("R.Thigh.Front") == 1.0


@pytest.mark.parametrize("height", [180.0, 0.0, -1.0, float("nan")])
def test_a_height_in_other_units_is_refused(height):
    with pytest.raises(CaptureError, match="metres"):
        expected_size(hd.catalog.heiman(), height)
