"""The prior over the parameters of a subject."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import ScalingPrior
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.parameter_prior import parameter_prior, scale_ties
from homodyn.errors import CaptureError


def test_left_is_tied_to_right_and_groups_share_their_factors():
    model = hd.catalog.heiman()
    plain, symmetric = scale_ties(model), scale_ties(model, symmetric=True)
    np.testing.assert_array_equal(plain, np.eye(3 * len(model.bodies)))
    right, left = (model.body_names.index(name) for name in ("ThighRight", "ThighLeft"))
    np.testing.assert_array_equal(
        symmetric[3 * right : 3 * right + 3], symmetric[3 * left : 3 * left + 3]
    )
    trunk = scale_ties(model, groups=[("MiddleTrunk", "UpperTrunk")])
    assert trunk.shape[1] == plain.shape[1] - 3
    with pytest.raises(CaptureError, match=r"scale_groups.*ThighRigth"):
        scale_ties(model, groups=[("ThighRigth", "ThighLeft")])


def test_the_precision_is_the_inverse_of_the_covariance():
    model = hd.catalog.heiman()
    names = [marker.name for marker in model.markers]
    spread = ScalingPrior(center=0.01)
    options = SubjectScalingOptions(prior=spread)
    prior = parameter_prior(model, names, options, size=1.1)
    product = prior.precision(spread) @ prior.covariance(spread)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-9)


def test_a_known_size_is_the_mean_and_narrows_the_scales():
    model = hd.catalog.heiman()
    options = SubjectScalingOptions()
    known = parameter_prior(model, ["LASI"], options, size=1.1)
    unknown = parameter_prior(model, ["LASI"], options, size=None)
    count = known.unknowns.logarithms
    np.testing.assert_allclose(known.mean[:count], np.log(1.1))
    np.testing.assert_array_equal(unknown.mean, 0.0)
    assert known.size_covariance[0, 3] < unknown.size_covariance[0, 3]
    uniform = parameter_prior(model, ["LASI"], options, size=None, uniform=True)
    assert uniform.unknowns.logarithms == count // 3
