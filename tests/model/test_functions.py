"""Functions of one coordinate: slope and curvature are the derivatives of the value."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from homodyn.errors import ModelError
from homodyn.model.functions import Constant, Linear, Polyline, Polynomial, ScaledFunction, Spline

X, Y = (-1.0, -0.3, 0.2, 0.9, 1.5), (0.3, -0.1, 0.4, 0.2, 0.8)
FUNCTIONS = [
    Constant(0.3),
    Linear(2, 1),
    Polynomial((1, -2, 0.5, 3)),
    Spline(X, Y),
    Spline((0, 1), (1, 3)),
    Spline(X, Y, "simm"),
    Spline(X[:3], Y[:3], "simm"),
    ScaledFunction(Spline(X, Y), -2),
    Polyline(X, Y),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: type(f).__name__)
def test_slope_and_curvature_are_derivatives_on_numbers_and_symbols(function):
    points = np.linspace(-2.05, 2.45, 46)
    x = ca.SX.sym("x")
    value = function.value(x) + 0 * x
    slope = ca.jacobian(value, x)
    oracle = ca.Function("f", [x], [value, slope, ca.jacobian(slope, x)])
    traced = ca.Function("g", [x], [function.value(x), function.slope(x), function.curvature(x)])
    for derivative, mine in enumerate((function.value, function.slope, function.curvature)):
        expected = np.array([float(oracle(p)[derivative]) for p in points])
        assert_allclose(mine(points), expected, rtol=1e-12, atol=1e-12)
        assert_allclose([float(traced(p)[derivative]) for p in points], expected, atol=1e-12)


def test_spline_is_natural_and_goes_on_straight():
    spline, reference = Spline(X, Y), CubicSpline(X, Y, bc_type="natural")
    inside = np.linspace(-1, 1.5, 31)
    assert_allclose(spline.value(inside), reference(inside), rtol=1e-13)
    assert_allclose(spline.curvature(np.array([-1.0, 1.5])), 0, atol=1e-12)
    assert spline.curvature(np.array([3.0])) == 0
    assert_allclose(spline.value(np.array([3.5])), Y[-1] + 2 * reference(1.5, 1))


def test_simm_spline_ends_with_the_third_derivative_of_the_cubic_through_four_knots():
    spline = Spline(X, Y, "simm")
    for knots, inside in ((slice(0, 4), -0.7), (slice(1, 5), 1.2)):
        outer = np.polyfit(X[knots], Y[knots], 3)
        step = np.array([inside - 1e-3, inside + 1e-3])
        assert_allclose(np.diff(spline.curvature(step)) / 2e-3, 6 * outer[0], rtol=1e-9)
    cubic = np.polynomial.Polynomial([0.3, -1, 2, 0.7])
    points = np.linspace(-1, 1.5, 9)
    exact = Spline(X, tuple(cubic(np.array(X))), "simm")
    assert_allclose(exact.value(points), cubic(points), rtol=1e-12)


@pytest.mark.parametrize("knots", [2, 3, 4, 5, 12])
def test_simm_spline_is_that_of_opensim_within_and_beyond_its_knots(opensim, knots):
    rng = np.random.default_rng(knots)
    x, y = np.sort(rng.uniform(-2, 2, knots)).tolist(), rng.normal(size=knots).tolist()
    ours, points = Spline(tuple(x), tuple(y), "simm"), np.linspace(x[0] - 1, x[-1] + 1, 101)
    expected = np.array(opensim("spline", x=x, y=y, points=points.tolist()))
    for order, mine in enumerate((ours.value, ours.slope, ours.curvature)):
        assert_allclose(mine(points), expected[:, order], rtol=1e-10, atol=1e-9)


def test_value_slope_and_curvature_share_the_choice_of_the_piece():
    spline, x = Spline(X, Y), ca.SX.sym("x")
    alone = ca.Function("f", [x], [spline.value(x)]).n_instructions()
    parts = [spline.value(x), spline.slope(x), spline.curvature(x)]
    assert ca.Function("g", [x], parts).n_instructions() < 1.5 * alone


def test_an_unknown_end_is_refused_with_those_that_are():
    with pytest.raises(ModelError, match="no end 'clamped'; accepted: natural, simm"):
        Spline(X, Y, "clamped")
