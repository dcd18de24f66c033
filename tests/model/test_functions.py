"""Functions of one coordinate: slope and curvature are the derivatives of the value."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from homodyn.model import Constant, Linear, Polynomial, Scaled, Spline

X, Y = (-1.0, -0.3, 0.2, 0.9, 1.5), (0.3, -0.1, 0.4, 0.2, 0.8)
FUNCTIONS = [
    Constant(0.3),
    Linear(2, 1),
    Polynomial((1, -2, 0.5, 3)),
    Spline(X, Y),
    Spline((0, 1), (1, 3)),
    Scaled(Spline(X, Y), -2),
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
