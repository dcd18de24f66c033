"""Calls that a type checker must accept. Never executed: tests/test_typing.py runs mypy on it.

Add calls of any public function, each as a user would write it.
"""

import casadi as ca
import numpy as np

import homodyn as hd
from homodyn import dynamics
from homodyn.dynamics import ConstrainedMotion, Impact, PointContact, Weld


def call_dynamics(model: hd.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    push = np.array([0.0, 0.0, 0.0, 80.0, 0.0, 0.0])
    room = np.empty((10, model.nv))
    tau: np.ndarray = dynamics.inverse_dynamics(model, q, v, a)
    tau = dynamics.inverse_dynamics(model, q, v, a, {"trunk": push}, out=room)
    tau = dynamics.inverse_dynamics(model, q=q, v=v, a=a, external={"trunk": push})
    tau = dynamics.inverse_dynamics(model, q, v, a, parameters={"thigh.mass": 9.0})
    tau = dynamics.inverse_dynamics(model, q, v, a, parameters=np.ones((10, 1)))
    dynamics.forward_dynamics(model, [0.0, 0.1], v, tau, parameters=[1.0, 2.0])
    dynamics.position(model, q, "heel", np.zeros(3))
    dynamics.position(model, q, "heel", point=(0.0, 0.0, 0.1))
    dynamics.marker_positions(model, q, out=room)
    energy: float = float(dynamics.kinetic_energy(model, q, v))
    kernel = dynamics.mass_matrix.kernel(model, q)
    kernel.compile()
    print(energy)


def call_constraints(model: hd.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    standing = PointContact("heel", directions="xz") + Weld("sole", anchor=np.zeros(3))
    result: ConstrainedMotion = dynamics.constrained_dynamics(model, q, v, tau, standing)
    force: np.ndarray = result.force
    landing: Impact = dynamics.impact(model, q, v, standing, restitution=0.5, method="direct")
    dynamics.constraint_jacobian(model, q, standing, parameters={"shank.mass": 3.0})
    dynamics.anchor_constraints(model, q, standing)
    print(force, landing.velocity)


def call_with_symbols(model: hd.Model) -> None:
    q, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    dynamics.momentum(model, q, v)
    dynamics.bias_force(model, q, v, {"trunk": ca.SX.sym("w", 6)})


def call_symbolic(x: np.ndarray) -> None:
    square = hd.symbolic.kernel(lambda x: x * x, x=3)
    slope = hd.symbolic.jacobian(square, wrt="x")
    text: str = square.dump(after="fma_contraction")
    scan = hd.symbolic.Scan(square, ["output"], packed=True)
    states: dict[str, np.ndarray] = scan(10, {"x": x}, record=["output"]).states
    print(text, slope, states)
