"""Integration methods on their own: orders, shares of the step, numbers and symbols alike."""

import casadi as ca
import numpy as np
import pytest

from homodyn import network
from homodyn.errors import ModelError
from homodyn.integrate import FIXED_STEP_METHODS, METHODS, fixed_step_method
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import SimulationOptions, run

DAMPED = 0.3
"""Rate of decay (1/s) of the oscillator x'' = -x - 2 d x' + t."""


def rate(t, x, v):
    return v, -x - 2 * DAMPED * v + t


class Oscillator:
    """The oscillator as a system of one position and one velocity."""

    def __init__(self, t, h):
        self.t, self.h = t, h

    def rate(self, fraction, state):
        return rate(self.t + fraction * self.h, *state)

    def kick(self, state, slope, time):
        return state[0], state[1] + time * slope[1]

    def drift(self, state, time):
        return state[0] + time * state[1], state[1]

    def project(self, state):
        return state


def stepping(name):
    def step(t, state, h):
        return FIXED_STEP_METHODS[name].step(Oscillator(t, h), state, h)

    return step


def reached(step, count):
    state, h = (1.0, 0.5), 1.0 / count
    for k in range(count):
        state = step(k * h, state, h)
    return np.array(state)


@pytest.mark.parametrize("name", FIXED_STEP_METHODS)
def test_errors_fall_with_the_order_of_the_method(name):
    """The leapfrog has order 2 with forces that depend on velocity and time too."""
    exact = reached(stepping("rk4"), 2000)
    coarse, fine = (np.abs(reached(stepping(name), n) - exact).max() for n in (20, 40))
    assert np.log2(coarse / fine) == pytest.approx(METHODS[name].order, abs=0.15)


def test_the_table_names_every_method_once_with_its_order():
    assert {name: method.order for name, method in METHODS.items()} == {
        "explicit_euler": 1,
        "semi_implicit_euler": 1,
        "heun": 2,
        "leapfrog": 2,
        "rk4": 4,
        "dormand_prince": 5,
        "implicit_midpoint": 2,
    }
    assert all(method.name == name and method.description for name, method in METHODS.items())
    assert set(network.METHODS.values()) == set(FIXED_STEP_METHODS)


def test_an_unknown_method_is_refused_with_the_list():
    with pytest.raises(ModelError, match=r"no integrator 'rk5'; accepted: explicit_euler, .*rk4"):
        fixed_step_method("rk5")
    own = FIXED_STEP_METHODS["heun"]
    assert fixed_step_method(own) is own


def test_symbols_give_what_numbers_give():
    x, v, h = (ca.SX.sym(name) for name in "xvh")
    for step in (stepping("rk4"), stepping("leapfrog")):
        graph = ca.Function("step", [x, v, h], list(step(0.2, (x, v), h)))
        found = [float(one) for one in graph(1.0, 0.5, 0.1)]
        assert found == pytest.approx(step(0.2, (1.0, 0.5), 0.1), rel=1e-15)


def test_bodies_and_networks_take_the_same_steps():
    """A mass on a damped spring as a body and as a network, one step by each method of both."""
    created = Assembly("mass").add(
        sphere("ball", 2.0, 0.1), joints.prismatic("x", stiffness=50.0, damping=1.5)
    )
    model = created.model()
    for method, integrator in network.METHODS.items():
        if integrator == "semi_implicit_euler":
            # Bodies take springs and dampers of joints at the end of the step.
            continue
        net = network.parse(
            f'integrator {{ method = "{method}" }}\nx = 0.1\ndx = 0.3\n'
            "x'' = \"(-50 * x - 1.5 * dx) / 2\"\n"
        )
        record = net.run(0.2, 0.02, tier="interpreted")
        body = run(
            model,
            [0.1],
            [0.3],
            0.2,
            0.02,
            contact=None,
            options=SimulationOptions(integrator=integrator),
        )
        np.testing.assert_allclose(body.q[:, 0], record["x"], rtol=0, atol=1e-13)
        np.testing.assert_allclose(body.v[:, 0], record["dx"], rtol=0, atol=1e-12)
