"""Integration methods on their own: orders, shares of the step, numbers and symbols alike."""

import casadi as ca
import numpy as np
import pytest

from homodyn.integrate import CLASSICAL, EULER, HEUN, kick_drift, leap_frog, runge_kutta
from homodyn.model import Assembly, joints, sphere
from homodyn.network import METHODS, parse
from homodyn.simulate import INTEGRATORS, run

DAMPED = 0.3
"""Rate of decay (1/s) of the oscillator x'' = -x - 2 d x' + t."""


def rate(t, x, v):
    return v, -x - 2 * DAMPED * v + t


def explicit(tableau):
    def step(t, state, h):
        return runge_kutta(tableau, lambda share, at: rate(t + share * h, *at), state, h)

    return step


def split(method):
    def step(t, state, h):
        return method(
            lambda share, at: rate(t + share * h, *at),
            lambda at, slope, time: (at[0], at[1] + time * slope[1]),
            lambda at, time: (at[0] + time * at[1], at[1]),
            state,
            h,
        )

    return step


def reached(step, count):
    state, h = (1.0, 0.5), 1.0 / count
    for k in range(count):
        state = step(k * h, state, h)
    return np.array(state)


@pytest.mark.parametrize(
    ("step", "order"),
    [
        (explicit(EULER), 1),
        (explicit(HEUN), 2),
        (explicit(CLASSICAL), 4),
        (split(kick_drift), 1),
        # Of order 2 with forces that depend on velocity and time too.
        (split(leap_frog), 2),
    ],
)
def test_errors_fall_with_the_order_of_the_method(step, order):
    exact = reached(explicit(CLASSICAL), 2000)
    coarse, fine = (np.abs(reached(step, n) - exact).max() for n in (20, 40))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("tableau", [EULER, HEUN, CLASSICAL])
def test_weights_sum_to_the_step_and_stages_lie_in_it(tableau):
    assert sum(tableau.weights) == pytest.approx(1, abs=1e-15)
    asked = []

    def slope(share, at):
        asked.append(share)
        return (0.0 * at[0],)

    runge_kutta(tableau, slope, (1.0,), 0.1)
    assert asked == [sum(row) for row in tableau.stages]
    assert all(share in (0, 0.5, 1) for share in asked)


def test_symbols_give_what_numbers_give():
    x, v, h = (ca.SX.sym(name) for name in "xvh")
    for step in (explicit(CLASSICAL), split(leap_frog)):
        graph = ca.Function("step", [x, v, h], list(step(0.2, (x, v), h)))
        found = [float(one) for one in graph(1.0, 0.5, 0.1)]
        assert found == pytest.approx(step(0.2, (1.0, 0.5), 0.1), rel=1e-15)


def test_bodies_and_networks_take_the_same_steps():
    """A mass on a damped spring as a body and as a network, one step by each method of both."""
    made = Assembly("mass").add(
        sphere("ball", 2.0, 0.1), joints.prismatic("x", stiffness=50.0, damping=1.5)
    )
    model = made.model()
    names = {
        "euler": "explicit_euler",
        "leap-frog": "leap_frog",
        "predictor-corrector": "predictor_corrector",
        "runge-kutta": "rk4",
    }
    assert set(names) == set(METHODS)
    assert set(names.values()) <= set(INTEGRATORS)
    for method, integrator in names.items():
        net = parse(
            f'integrator {{ method = "{method}" }}\nx = 0.1\ndx = 0.3\n'
            "x'' = \"(-50 * x - 1.5 * dx) / 2\"\n"
        )
        record = net.run(0.2, 0.02, tier="interpreted")
        body = run(model, [0.1], [0.3], 0.2, 0.02, contact=None, integrator=integrator)
        np.testing.assert_allclose(body.q[:, 0], record["x"], rtol=0, atol=1e-13)
        np.testing.assert_allclose(body.v[:, 0], record["dx"], rtol=0, atol=1e-12)
