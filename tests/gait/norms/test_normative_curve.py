"""Normative curves against the values that their studies print."""

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.gait.norms import NORM_SOURCES, normative_curve, normative_curves


def test_values_of_the_sources():
    knee = normative_curve("knee flexion")
    assert knee.unit == "deg"
    assert knee.percent[[0, -1]].tolist() == [0.0, 100.0]
    assert knee.mean[0] == pytest.approx(5.5537)
    assert knee.mean.max() == pytest.approx(58.8, abs=1.0)
    assert knee.at(np.array([11.0])) == pytest.approx((knee.mean[5] + knee.mean[6]) / 2)
    vertical = normative_curve("vertical", kind="force", group="very fast")
    assert 1.1 < vertical.mean.max() < 1.5
    hip = normative_curve("hip flexion", group="center 2", source="pinzone2014")
    assert hip.mean[0] == pytest.approx(35.0, abs=3.0)


def test_every_curve_is_complete():
    for source in NORM_SOURCES:
        for curve in normative_curves(source):
            assert curve.mean.shape == curve.sd.shape == (51,)
            assert np.isfinite(curve.mean).all()
            assert (curve.sd >= 0).all()
    # Faster walking flexes the hip more.
    slow, fast = (
        np.ptp(normative_curve("hip flexion", group=group).mean) for group in ("slow", "fast")
    )
    assert fast > slow


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"quantity": "knee flexoin"}, "knee flexion"),
        ({"quantity": "knee flexion", "group": "fastest"}, "free"),
        ({"quantity": "knee flexion", "kind": "torque"}, "moment"),
        ({"quantity": "knee flexion", "source": "winter"}, "schwartz2008"),
    ],
)
def test_unknown_curves_are_refused(wrong, words):
    with pytest.raises(HomodynError, match=words):
        normative_curve(**wrong)
