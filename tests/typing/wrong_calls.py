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


def call_models(model: hd.Model) -> None:
    hd.joints.revolute("y", lowr=-1.0)  # error
    hd.joints.revolute("y", names=3)  # error
    hd.joints.euler("yxz", actuated="no")  # error
    hd.load("leg.urdf", bas="fixed")  # error
    hd.save("leg", "leg.toml")  # error
    model.pose(["knee"])  # error
    model.name = "leg"  # error
    hd.model.configuration.clamp("model", model.neutral())  # error
    hd.model.formats.register_format("urdf")  # error


def call_search(job: hd.search.Job) -> None:
    bounds = {"x": (-1.0, 2.0)}
    hd.search.minimize(lambda candidate: 0.0, bounds, generations=30)  # error
    hd.search.minimize(lambda candidate: 0.0, bounds, workers="two")  # error
    hd.search.minimize(lambda candidate: 0.0, bounds, optimizer="pso")  # error
    hd.search.minimize(lambda candidate: 0.0)  # error
    hd.search.run("job.toml")  # error
    hd.search.run(job, iterations=30)  # error
    hd.search.run(job, options={"workers": 2})  # error
    hd.search.SearchOptions(stop_after="1 h")  # error


def call_network(text: str) -> None:
    network = hd.network.parse(text)
    network.run("2 s")  # error
    network.run(2.0, tolerance=1e-3)  # error


def call_capture(model: hd.Model, trial: hd.capture.Trial) -> None:
    hd.capture.scale(model, trial, mass="heavy")  # error
    hd.capture.scale(model, trial, together=[("a", "b")])  # error
    hd.capture.scale(model, trial, hd.capture.CalibrationOptions())  # error
    hd.capture.scale(model, [trial])  # error
    hd.capture.calibrate(model, trial, robust=0.02)  # error
    hd.capture.calibrate(model, trial, fixed_markers=["LASI"])  # error
    hd.capture.inverse_kinematics(model, trial, reject=0.1)  # error
    hd.capture.inverse_kinematics(model, trial, weights=["LKNE"])  # error
    hd.capture.inverse_kinematics(model, trial, track={"knee": 0.1})  # error
    hd.capture.inverse_kinematics(model, trial, {"robust": "huber"})  # error
    hd.capture.InverseKinematicsOptions(limit=False)  # error


def call_cycles(motion: hd.motion.Motion, knee: np.ndarray) -> None:
    hd.gait.cycles(motion.time, knee)  # error
    hd.gait.cycles(motion, 3.0)  # error
    hd.gait.cycles(motion, "right knee flexion", sides="right")  # error
