"""Curves of quintic Bezier sections."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.models.bezier_curve import BezierCurve, CurvePoint

POINTS = [CurvePoint(-1.0, 0.0, 0.5), CurvePoint(0.0, 1.0, 2.0), CurvePoint(2.0, 2.0, 0.1)]


def bernstein(section, u):
    """Abscissa and ordinate of a section, from the definition of Bezier curves."""
    start, width = section.x_start, section.width
    inner = [start + width * f for f in (section.x_first, section.x_second)]
    xs = [start, inner[0], inner[0], inner[1], inner[1], start + width]
    ys = [section.y[0], section.y[1], section.y[1], section.y[2], section.y[2], section.y[3]]
    weights = [1, 5, 10, 10, 5, 1]
    terms = [w * u**k * (1 - u) ** (5 - k) for k, w in enumerate(weights)]
    return np.dot(terms, xs), np.dot(terms, ys)


@pytest.mark.parametrize("curviness", [0.0, 0.5, 1.0])
def test_values_are_those_of_the_bezier_sections(curviness):
    curve = BezierCurve.through(POINTS, [curviness] * 2)
    for section in curve.sections:
        for u in np.linspace(0, 1, 37):
            x, y = bernstein(section, u)
            assert curve.value(x) == pytest.approx(y, abs=1e-12)
    assert curve.newton_steps <= 6


def test_lines_continue_the_curve_at_both_ends():
    curve = BezierCurve.through(POINTS, [0.6, 0.6])
    assert curve.value(-3.0) == pytest.approx(0.0 - 2 * 0.5)
    assert curve.value(5.0) == pytest.approx(2.0 + 3 * 0.1)


def test_slopes_are_continuous_and_those_of_the_points():
    curve = BezierCurve.through(POINTS, [0.6, 0.6])
    x = ca.SX.sym("x")
    slope = ca.Function("slope", [x], [ca.gradient(curve.value(x), x)])
    for point in POINTS:
        for side in (-1e-9, 1e-9):
            assert float(slope(point.x + side)) == pytest.approx(point.slope, abs=1e-6)
    for place in np.linspace(-1.5, 2.5, 41):
        step = 1e-6
        difference = (curve.value(place + step) - curve.value(place - step)) / (2 * step)
        assert float(slope(place)) == pytest.approx(difference, abs=1e-5)


def test_a_corner_needs_tangents_that_meet_between_its_points():
    with pytest.raises(hd.ModelError, match="tangents must meet between the points"):
        BezierCurve.through(
            [CurvePoint(0, 0, 1), CurvePoint(1, 1, 5), CurvePoint(2, 2, 5)], [0.5] * 2
        )
