"""Velocities in rotating axes, compared with velocities in the world."""

import casadi as ca
import numpy as np

from homodyn.dynamics import velocity
from homodyn.model import Assembly, box, joints
from homodyn.simulate.rotating_axes import axes_rotation_rate, rotate_velocities

MODEL = (
    Assembly("box with a wheel")
    .add(box("base", 3.0, (0.2, 0.3, 0.4)), joints.free())
    .add(box("wheel", 1.0, (0.1, 0.1, 0.1)), joints.revolute("y"), "base", at=(0.1, 0, 0))
    .model()
)
V = np.array([0.5, -1.0, 2.0, 1.5, 0.7, -2.2, 4.0])


def function(expression):
    v, h = ca.SX.sym("v", MODEL.nv), ca.SX.sym("h")
    return ca.Function("f", [v, h], [expression(MODEL, v, h)])


def test_the_rate_is_the_derivative_of_the_velocities_in_fixed_axes():
    rotate = function(rotate_velocities)
    rate = function(lambda model, v, h: axes_rotation_rate(model, v))(V, 0.0).full().ravel()
    h = 1e-6
    difference = (rotate(V, h) - rotate(V, -h)).full().ravel() / (2 * h)
    # Fixed in the world, a velocity turns backwards in the axes of the body.
    np.testing.assert_allclose(difference, -rate, atol=1e-8)
    assert np.abs(rate[:3]).max() > 1.0
    np.testing.assert_array_equal(rate[3:], 0.0)


def test_the_velocity_in_the_world_stays_while_the_axes_turn():
    q = MODEL.integrate(MODEL.neutral(), np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.1]))
    h = 0.3
    after = function(rotate_velocities)(V, h).full().ravel()
    turned = MODEL.integrate(q, np.concatenate([np.zeros(3), h * V[3:6], [0.0]]))
    np.testing.assert_allclose(
        velocity(MODEL, turned, after, "base"), velocity(MODEL, q, V, "base"), atol=1e-12
    )
    np.testing.assert_array_equal(after[3:], V[3:])
