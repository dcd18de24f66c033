"""Stature of a model from the height of its hips."""

import pytest

import homodyn as hd
from homodyn.capture.scaling.stature import expected_size, stature
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
def test_the_hips_give_the_stature_within_a_few_percent(model, height):
    assert stature(model) == pytest.approx(height, rel=0.035)


def test_a_pendulum_has_no_stature():
    model = Assembly("pendulum").add(rod("bob", 1.0, (0, 0, 0), (0, 0, -1)), revolute("y")).model()
    assert stature(model) is None
    size, (note,) = expected_size(model, 1.8)
    assert size is None
    assert "not used" in note


def test_the_expected_size_is_the_ratio_of_statures():
    model = hd.catalog.heiman(height=1.79)
    size, (note,) = expected_size(model, 1.9)
    assert size == pytest.approx(1.9 / stature(model))
    assert note.startswith("height 1.900 m")
    assert expected_size(model, None) == (None, [])
