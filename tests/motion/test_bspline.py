"""B-splines against scipy's, and the conditions at their ends."""

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import BSpline

from homodyn.errors import ModelError
from homodyn.motion.bspline import (
    ComSpline,
    basis_matrix,
    clamped_knots,
    first_points,
    last_points,
    span_derivatives,
)


def random_spline(degree, spans, seed=3):
    rng = np.random.default_rng(seed)
    instants = 0.3 + np.r_[0.0, np.cumsum(rng.uniform(0.05, 1.0, spans))]
    return ComSpline(degree, instants, rng.normal(size=(spans + degree, 3)))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("spans", [1, 2, 7])
def test_values_and_derivatives_are_those_of_scipy(degree, spans):
    spline = random_spline(degree, spans)
    peer = BSpline(spline.knots, spline.points, degree)
    time = np.linspace(*spline.instants[[0, -1]], 101)
    assert np.allclose(basis_matrix(spline.instants, degree, time).sum(axis=1), 1, atol=1e-13)
    for d in range(degree):
        theirs = peer.derivative(d)(time) if d else peer(time)
        tolerance = 1e-11 if d else 1e-12
        assert np.allclose(
            spline.at(time, d), theirs, rtol=0, atol=tolerance * (1 + np.abs(theirs).max())
        )
    assert np.abs(spline.at(time, degree + 1)).max() == 0


def test_the_derivative_is_a_spline_with_one_control_point_less():
    spline = random_spline(5, 6)
    rate = spline.derivative()
    time = np.linspace(*spline.instants[[0, -1]], 57)
    assert len(rate.points) == len(spline.points) - 1
    assert np.allclose(rate.at(time), spline.at(time, 1), atol=1e-12)
    assert np.allclose(rate.derivative().at(time), spline.at(time, 2), atol=1e-10)


@pytest.mark.parametrize(
    ("degree", "phases", "knots", "points"), [(4, 9, 18, 13), (5, 7, 18, 12), (5, 6, 17, 11)]
)
def test_counts_of_knots_and_control_points(degree, phases, knots, points):
    spline = random_spline(degree, phases)
    assert (len(spline.knots), len(spline.points)) == (knots, points)


def test_end_points_give_the_value_and_derivatives():
    spline = random_spline(5, 6)
    start, end = spline.instants[[0, -1]]
    first = first_points(spline.instants, 5, [spline.at(start, d) for d in range(3)])
    last = last_points(spline.instants, 5, [spline.at(end, d) for d in range(3)])
    assert np.allclose(first, spline.points[:3], atol=1e-10)
    assert np.allclose(last, spline.points[-3:], atol=1e-10)


def test_end_points_are_the_corrected_printed_formulas():
    spline = random_spline(5, 6)
    t, k, n = spline.knots - spline.knots[0], 5, len(spline.points) - 1
    v0, v1 = spline.at(spline.instants[0], 1), spline.at(spline.instants[-1], 1)
    a0, an = spline.points[0], spline.points[-1]
    assert np.allclose(a0 + t[k + 1] / k * v0, spline.points[1])
    assert np.allclose(an - (t[n + k] - t[n]) / k * v1, spline.points[-2])
    printed = an - (t[n + k - 1] - t[n - 1]) / k * v1
    assert not np.allclose(printed, spline.points[-2], atol=1e-2)


def test_one_text_serves_symbols_with_derivatives_through_the_knots():
    spline, degree, span = random_spline(4, 5), 4, 2
    knots = clamped_knots(spline.instants, degree)[span + 1 : span + 1 + 2 * degree]
    control = spline.points[span : span + degree + 1]
    around, share = ca.SX.sym("t", 2 * degree), 0.4
    u = around[degree - 1] + share * (around[degree] - around[degree - 1])
    rows = [ca.SX(ca.DM(row)).T for row in control]
    acceleration = span_derivatives(ca.vertsplit(around), rows, u, 2)[2]
    slope = ca.Function("slope", [around], [acceleration, ca.jacobian(acceleration, around)])
    value, exact = (np.array(x) for x in slope(knots))
    instant = knots[degree - 1] + share * (knots[degree] - knots[degree - 1])
    assert np.allclose(value[0], spline.at(instant, 2))
    step = 1e-6
    for r in range(2 * degree):
        shifted = [knots + step * sign * np.eye(2 * degree)[r] for sign in (1, -1)]
        ends = [np.array(slope(m)[0])[0] for m in shifted]
        assert np.allclose((ends[0] - ends[1]) / (2 * step), exact[:, r], rtol=1e-5, atol=1e-4)


def test_invalid_splines_are_refused():
    with pytest.raises(ModelError, match="increase"):
        ComSpline(3, np.array([0.0, 1.0, 1.0]), np.zeros((5, 3)))
    with pytest.raises(ModelError, match="need 5 control points"):
        ComSpline(3, np.array([0.0, 1.0, 2.0]), np.zeros((4, 3)))
    with pytest.raises(ModelError, match="lasts from 0 to 2 s"):
        ComSpline(3, np.array([0.0, 1.0, 2.0]), np.zeros((5, 3))).at(2.5)


def test_a_path_is_the_b_spline_of_the_recursion():
    """Cox and de Boor's recursion with corrected loops (the printed one is wrong)."""
    rng = np.random.default_rng(0)
    k, instants = 5, np.r_[0, np.sort(rng.uniform(0.3, 3.7, 5)), 4.0]
    path = ComSpline(k, instants, rng.normal(size=(k + 6, 3)))
    t, n = path.knots / 4.0, k + 5
    for u in (0.1, 0.37, 0.8):
        N = np.zeros(n + 1)
        j = int(np.searchsorted(t, u, side="right")) - 1
        N[j] = 1
        for d in range(1, k + 1):
            N[j - d] = (t[j + 1] - u) / (t[j + 1] - t[j - d + 1]) * N[j - d + 1]
            for i in range(j - d + 1, j):
                left = (u - t[i]) / (t[i + d] - t[i]) * N[i]
                right = (t[i + d + 1] - u) / (t[i + d + 1] - t[i + 1]) * N[i + 1]
                N[i] = left + right
            N[j] *= (u - t[j]) / (t[j + d] - t[j])
        assert N.sum() == pytest.approx(1, abs=1e-12)
        assert path.at(4.0 * u) == pytest.approx(N @ path.points, abs=1e-12)
    a = path.points
    speed = path.at(0.0, 1) * 4
    assert a[1] == pytest.approx(a[0] + t[k + 1] / k * speed, abs=1e-9)
    last = path.at(4.0, 1) * 4
    assert a[n - 1] == pytest.approx(a[n] - (t[n + k] - t[n]) / k * last, abs=1e-9)
    step = 1e-5
    slope = (path.at(1.7 + step) - path.at(1.7 - step)) / (2 * step)
    assert path.at(1.7, 1) == pytest.approx(slope, abs=1e-6)
