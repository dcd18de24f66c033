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
    buffer = np.empty((10, model.nv))
    tau: np.ndarray = dynamics.inverse_dynamics(model, q, v, a)
    tau = dynamics.inverse_dynamics(model, q, v, a, {"trunk": push}, out=buffer)
    tau = dynamics.inverse_dynamics(model, q=q, v=v, a=a, external={"trunk": push})
    tau = dynamics.inverse_dynamics(model, q, v, a, parameters={"thigh.mass": 9.0})
    tau = dynamics.inverse_dynamics(model, q, v, a, parameters=np.ones((10, 1)))
    dynamics.forward_dynamics(model, [0.0, 0.1], v, tau, parameters=[1.0, 2.0])
    dynamics.position(model, q, "heel", np.zeros(3))
    dynamics.position(model, q, "heel", point=(0.0, 0.0, 0.1))
    dynamics.marker_positions(model, q, out=buffer)
    energy: float = float(dynamics.kinetic_energy(model, q, v))
    kernel = dynamics.mass_matrix.kernel(model, q)
    kernel.compile()
    print(energy)


def call_constraints(model: hd.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    standing = PointContact("heel", directions="xz") + Weld("sole", anchor=np.zeros(3))
    result: ConstrainedMotion = dynamics.constrained_dynamics(model, q, v, tau, standing)
    force: np.ndarray = result.force
    landing: Impact = dynamics.impact(model, q, v, standing, restitution=0.5, method="direct")
    dynamics.constraint_rows.constraint_jacobian(model, q, standing, parameters={"shank.mass": 3.0})
    dynamics.constraint_rows.anchor_constraints(model, q, standing)
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


def call_models(model: hd.Model) -> None:
    hinge = hd.joints.revolute("y", lower=-1.0, upper=1.0, names="knee", actuated=False)
    ball = hd.joints.euler("yxz", stiffness=[1.0, 2.0, 3.0])
    custom = hd.joints.custom(hd.joints.turn("x", 0), hd.joints.slide("z", 1), damping=0.1)
    assembly = hd.model.Assembly("leg").add("shank", hinge, at=(0.0, 0.0, -0.4), mass=3.0)
    data: dict[str, object] = model.to_dict()
    again: hd.Model = hd.Model.from_dict(data)
    hd.save(assembly.model(), "leg.toml")
    q: np.ndarray = model.pose({"knee": 0.3})
    hd.model.configuration.clamp(again, q)
    print(ball, custom, hd.load("leg.urdf", base="fixed", as_measured=True))


def call_search(job: hd.search.Job) -> None:
    result: hd.search.SearchResult = hd.search.minimize(
        lambda candidate: candidate["x"] ** 2,
        {"x": (-1.0, 2.0)},
        optimizer=hd.search.PSO(20, inertia=0.7),
        iterations=30,
        seed=1,
        workers=2,
        time_limit=1.0,
    )
    hd.search.Space((hd.search.SearchParameter("mass", 1.0, 5.0, "kg", scale="log"),))
    options = hd.search.SearchOptions(database="study.db", stop_after=60.0)
    result = hd.search.run(job, options=options, where="serial")
    result = hd.search.run(job, "model.py:cost", progress=lambda progress: print(progress.best))
    best: hd.search.SearchSolution | None = result.best
    print(best, result.study.to_pandas())


def call_network(text: str) -> None:
    network = hd.network.parse(text)
    result: hd.network.NetworkResult = network.run(2.0, dt=1e-3)
    values: np.ndarray = result["x"]
    print(values, result.to_pandas())


def call_capture(model: hd.Model, static: hd.capture.Trial, trial: hd.capture.Trial) -> None:
    scaled: hd.capture.ScalingResult = hd.capture.scale(model, static)
    hd.capture.scale(model, static, mass=72.0, fixed_markers=["LASI"], scale_groups=[("a", "b")])
    hd.capture.scale(model, static, hd.capture.ScalingOptions(symmetric=True), height=1.78)
    hd.capture.calibrate(model, trial)
    hd.capture.calibrate(model, [static, trial], frames=[1, 2], huber_distance=0.02)
    hd.capture.calibrate(model, trial, hd.capture.CalibrationOptions(mass=72.0), progress=print)
    motion: hd.motion.Motion = hd.capture.inverse_kinematics(scaled, trial)
    options = hd.capture.InverseKinematicsOptions(robust=("huber", 0.01), smooth=6.0)
    hd.capture.inverse_kinematics(scaled.model, trial, options, weights={"LKNE": 0.2})
    hd.capture.inverse_kinematics(model, trial, track={"right knee flexion": (0.1, [0.2, 0.3])})
    hd.capture.inverse_kinematics(model, trial, start=motion, progress=lambda share: None)
    loads: hd.motion.Loads = hd.capture.inverse_dynamics(motion, trial.plates)
    light: hd.analysis.QualityLight = hd.analysis.overall_light(())
    print(loads, light)


def call_cycles(motion: hd.motion.Motion, knee: np.ndarray) -> None:
    events = hd.gait.find_events(motion)
    over: hd.gait.GaitCycles = hd.gait.cycles(motion, "right knee flexion")
    over = hd.gait.cycles(motion, "Pelvis_TX", side="left", points=51)
    over = hd.gait.cycles(motion.time, knee, events, "right")
    over.plot()
    over.to_pandas()
