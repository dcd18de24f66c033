"""Calls that a type checker must refuse. Never executed: tests/test_typing.py runs mypy on it.

Every line that must be refused ends in ``# error``; no other line may be.
"""

import numpy as np

import homodyn as hd
from homodyn import dynamics
from homodyn.dynamics import PointContact


def call_dynamics(model: hd.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    dynamics.inverse_dynamics(model, 1, "x", None, nonsense=3)  # error
    dynamics.inverse_dynamics(model, q, v)  # error
    dynamics.inverse_dynamics(model, q, v, a, wrench={"trunk": q})  # error
    dynamics.inverse_dynamics(model, q, v, a, external=q)  # error
    dynamics.inverse_dynamics(model, q, v, "x")  # error
    dynamics.inverse_dynamics(model, q, v, None)  # error
    dynamics.inverse_dynamics("model", q, v, a)  # error
    dynamics.inverse_dynamics(model, q, v, a, None, {"mass": 1.0})  # error
    dynamics.inverse_dynamics(model, q, v, a, parameters="mass")  # error
    dynamics.inverse_dynamics(model, q, v, a, out=[q])  # error
    dynamics.forward_dynamics(model, q, v, tau="x")  # error
    dynamics.position(model, q)  # error
    dynamics.position(model, q, 3)  # error
    dynamics.position(model, q, "heel", "x")  # error
    dynamics.orientation(model, q, "heel", np.zeros(3))  # error
    dynamics.mass_matrix(model, q, v)  # error
    dynamics.mass_matrix.kernel(model)  # error
    name: str = dynamics.mass_matrix(model, q)  # error
    print(name)


def call_constraints(model: hd.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    heel = PointContact("heel")
    dynamics.constrained_dynamics(model, q, v, tau)  # error
    dynamics.constrained_dynamics(model, q, v, tau, "heel")  # error
    dynamics.constrained_dynamics(model, q, v, tau, heel, method=1)  # error
    dynamics.constrained_dynamics(model, q, v, tau, heel, out=q)  # error
    print(dynamics.constrained_dynamics(model, q, v, tau, heel).forces)  # error
    dynamics.impact(model, q, v, heel, restitution="elastic")  # error
    PointContact(3)  # error
    PointContact("heel", along="xy")  # error


def call_symbolic(x: np.ndarray) -> None:
    square = hd.symbolic.kernel(lambda x: x * x, x=3)
    square.dump(before="scheduling")  # error
    square.dump(after=3)  # error
    hd.symbolic.jacobian(square, "output", wrt=3)  # error
    hd.symbolic.Scan(square, ["x"])(10)  # error
    hd.symbolic.Scan(square, ["x"])("ten", {"x": x})  # error
