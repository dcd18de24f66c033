"""Time derivatives, derivatives of functions, delays, draws."""

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse


def test_the_time_derivative_of_a_state_is_its_equation():
    net = parse(
        'x = 2\nx\' = "-3 * x + t"\na = "x\'"\nb = "dt[x^2]()"\n'
        'c = "dt[x, 2]()"\nd = "dt[t * x]()"\n'
    )
    record = net.run(1, 0.01)
    x, t = record["x"], record.t
    rate = -3 * x + t
    np.testing.assert_allclose(record["a"], rate, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(record["b"], 2 * x * rate, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(record["c"], -3 * rate + 1, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(record["d"], x + t * rate, rtol=1e-12, atol=1e-13)


def test_derivatives_go_through_functions_and_variables():
    net = parse(
        'p\' = "2"\nf(a) = "sin(a) * k"\nk = 3\nw = "2 * p"\nslope = "f(w)\'"\n'
        'second = "diff[f, 2; a](p)"\n'
    )
    record = net.run(1, 0.1)
    p = record["p"]
    np.testing.assert_allclose(record["slope"], 3 * np.cos(2 * p) * 4, rtol=1e-12)
    np.testing.assert_allclose(record["second"], -3 * np.sin(p), rtol=1e-12, atol=1e-14)


def test_an_argument_that_is_listed_twice_is_refused_without_warnings(capfd):
    with pytest.raises(NetworkError, match="a is listed twice; list each argument once"):
        parse('f(a) = "a^2"\nb = "diff[f, 2; a, a](3)"\n').run(0)
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_the_partial_derivative_of_a_column_is_its_jacobian():
    net = parse(
        'v(q, dq) = "[q[0] * dq; dq[0] * dq[1]; sin(q[1]) * dq[2]; 1]"\n'
        'J = "∂[v; dq]([0.3; 0.7], [1; 2; 3])"\nboth = "diff[v; q, dq]([0.3; 0.7], [1; 2; 3])"\n'
    )
    record = net.run(0)
    expected = np.zeros((6, 3))
    expected[:3] = 0.3 * np.eye(3)
    expected[3] = [2, 1, 0]
    expected[4, 2] = np.sin(0.7)
    np.testing.assert_allclose(record["J"][0], expected, atol=1e-15)
    assert record["both"][0].shape == (6, 5)


@pytest.mark.parametrize("tier", ["interpreted", "compiled"])
def test_delays_reproduce_a_shifted_sine_and_honor_the_start(tier):
    net = parse(
        'integrator { method = "runge-kutta" }\n'
        'a = "delayed[sin(t)](0.3)"\n'
        'b = "delayed[sin(t), cos(t)](0.3)"\n'
        'x = 1\nx\' = "-delayed[x, 1](0.5)"\n'
    )
    record = net.run(1, 0.01, tier=tier)
    t = record.t
    late = t > 0.3 + 1e-9
    np.testing.assert_allclose(record["a"][late], np.sin(t[late] - 0.3), atol=2e-5)
    np.testing.assert_allclose(record["a"][t < 0.29], 0)
    early = t < 0.3 - 1e-9
    np.testing.assert_allclose(record["b"][early], np.cos(t[early] - 0.3), atol=1e-12)
    # Constant past: the first half second is a straight line, the second a parabola.
    np.testing.assert_allclose(record["x"][t <= 0.5], 1 - t[t <= 0.5], atol=1e-12)
    s = t[t > 0.5] - 0.5
    np.testing.assert_allclose(record["x"][t > 0.5], 0.5 - s + s**2 / 2, atol=1e-4)


def test_draws_hold_in_a_step_change_between_steps_and_follow_the_seed():
    net = parse('a = "rand(2, 5)"\nb = "a + 0"\nc = "rand(2, 5)"\nx\' = "a"\n')
    record = net.run(0.2, seed=4)
    a = record["a"]
    assert len(np.unique(a)) == len(a)
    assert np.all((a > 2) & (a < 5))
    np.testing.assert_array_equal(a, record["b"])
    assert np.all(a != record["c"])
    np.testing.assert_array_equal(net.run(0.2, seed=4)["a"], a)
    assert np.all(net.run(0.2, seed=5)["a"] != a)
    # The draw of a step is the one its rate was taken with.
    np.testing.assert_allclose(np.diff(record["x"]), 0.001 * a[1:], rtol=1e-12)


def test_draws_are_spread_evenly_and_do_not_follow_each_other():
    draws = parse('a = "rand(0, 1)"\n').run(20, tier="compiled")["a"][1:]
    assert abs(draws.mean() - 0.5) < 0.01
    assert abs(draws.var() - 1 / 12) < 0.002
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.02


def test_draws_do_not_depend_on_the_order_of_definitions():
    one = parse('node "a" { x = "rand(0, 1)" x\' = "1" }\nnode "b" { y = "a.x" }\n')
    other = parse('node "b" { y = "a.x" }\nnode "a" { x = "rand(0, 1)" x\' = "1" }\n')
    assert one.run(0)["b.y"][0] == one.run(0)["a.x"][0]
    assert other.run(0)["b.y"][0] == other.run(0)["a.x"][0]
