"""Functions of state: how calls find their kernels."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod
from homodyn.model.state_function import state_function

MODEL = (
    Assembly("pendulum")
    .add(rod("link", 1.0, (0, 0, 0), (0, 0, -1)), joints.revolute("y", names=["angle"]))
    .model()
)


@state_function(q="nq", gain=(), shift=(), returns={"value": "nq"})
def scaled(model, q, power, gain=2.0, shift=None):
    return gain * q**power + (0 if shift is None else shift)


def test_arguments_left_out_keep_their_defaults_on_every_call():
    q = np.array([3.0])
    for _ in range(3):
        assert scaled(MODEL, q, 2) == 18.0
        assert scaled(MODEL, q, 1) == 6.0
        assert scaled(MODEL, q, 2, 1.0) == 9.0
        assert scaled(MODEL, q, 2, shift=1.0) == 19.0
        assert scaled(MODEL, q, power=2, gain=1.0, shift=1.0) == 10.0
    np.testing.assert_array_equal(scaled(MODEL, np.ones((4, 1)), 2, np.arange(4.0))[:, 0], range(4))


def refuse_negative(model, value):
    if np.min(value) < 0:
        raise ModelError(f"negative numbers for {model.name}")


@state_function(q="nq", gain=(), returns={"value": "nq"}, checks={"gain": refuse_negative})
def with_gain(model, q, gain):
    return gain * q


def test_checks_refuse_numbers_but_not_symbols():
    q = np.array([3.0])
    for _ in range(2):
        assert with_gain(MODEL, q, 2.0) == 6.0
        for call in (lambda: with_gain(MODEL, q, -2.0), lambda: with_gain(MODEL, q, gain=-2.0)):
            with pytest.raises(ModelError, match="negative numbers for pendulum"):
                call()
    x = ca.SX.sym("x")
    traced = ca.Function("traced", [x], [with_gain(MODEL, q, x)])
    assert float(traced(-2.0)) == -6.0
