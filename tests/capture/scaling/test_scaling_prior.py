"""Standard deviations of people about a generic model."""

import pytest

from homodyn.capture.scaling import MarkerKind, ScalingPrior


def test_axes_of_one_body_correlate_more_than_those_of_two():
    covariance = ScalingPrior().log_scales(2, stature_known=True)
    assert covariance[0, 0] > covariance[0, 1] > covariance[0, 3] > 0
    unknown = ScalingPrior().log_scales(2, stature_known=False)
    assert unknown[0, 3] == pytest.approx(ScalingPrior().size ** 2)


def test_each_kind_of_marker_has_its_deviation():
    prior = ScalingPrior()
    assert prior.marker_deviation(MarkerKind.LANDMARK) == prior.landmark
    assert prior.marker_deviation(MarkerKind.JOINT_CENTER) == prior.joint_center
    assert prior.marker_deviation(MarkerKind.TRACKING) == prior.tracking > prior.landmark
