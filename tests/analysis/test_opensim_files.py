"""OpenSim opens the files of a result: its inverse dynamics gives the torques of the result."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.opensim_files import (
    write_opensim_loads,
    write_opensim_model,
    write_opensim_motion,
)
from homodyn.capture import read_table
from homodyn.dynamics import inverse_dynamics, position
from homodyn.model import Assembly, box, joints
from homodyn.motion import ContactForce, Loads, Motion

EDGE_FRAMES = 15
"""Frames at the ends where the spline of OpenSim has no data on one side."""
TORQUE_TOLERANCE = 1e-3
"""N m and N: OpenSim differentiates splines through the coordinates."""


def smooth_motion(model, frames=120, rate=100.0):
    """Sines of different periods about the default pose, with exact derivatives."""
    time = np.arange(frames) / rate
    rng = np.random.default_rng(3)
    size, pace = 0.2 * rng.uniform(0.5, 1, model.nv), rng.uniform(1.0, 4.0, model.nv)
    phase = np.outer(time, pace) + rng.uniform(0, 6, model.nv)
    start = model.neutral()
    return Motion(
        model,
        time,
        start + size * np.sin(phase),
        size * pace * np.cos(phase),
        -size * pace**2 * np.sin(phase),
    )


def loads_with_a_push(motion, body):
    model, frames = motion.model, len(motion.time)
    force = np.array([20.0, -30.0, 400.0]) * np.sin(motion.time * 3)[:, None] ** 2
    point = position(model, motion.q, body) + np.array([0.1, 0.02, -0.05])
    torque = np.tile([1.0, -2.0, 3.0], (frames, 1))
    arm = point - position(model, motion.q, body)
    wrench = np.hstack([torque + np.cross(arm, force), force])
    tau = inverse_dynamics(model, motion.q, motion.v, motion.a, external={body: wrench})
    return Loads.from_torques(motion, tau, (ContactForce(body, None, force, point, torque),))


@pytest.fixture(params=["heiman", "winter_human"])
def model(request):
    return getattr(hd.catalog, request.param)()


def test_inverse_dynamics_of_opensim_gives_the_torques_of_the_result(model, opensim, tmp_path):
    motion = smooth_motion(model)
    body = model.body_names[-1]
    loads = loads_with_a_push(motion, body)
    write_opensim_motion(motion, tmp_path)
    write_opensim_model(model, tmp_path)
    write_opensim_loads(loads, tmp_path)
    assert hd.load(tmp_path / "model.osim").gravity[1] == model.gravity[2]
    opensim("run_tool", setup=str(tmp_path / "inverse_dynamics.xml"))
    table = read_table(tmp_path / "opensim_torques.sto")
    inner = slice(EDGE_FRAMES, -EDGE_FRAMES)
    for k, name in enumerate(model.coordinate_names):
        column = next(c for c in table.names if c in (f"{name}_moment", f"{name}_force"))
        assert np.abs(loads.tau[:, k]).max() >= 0
        difference = table.column(column)[inner] - loads.tau[inner, k]
        assert np.abs(difference).max() < TORQUE_TOLERANCE, name


def test_a_quaternion_is_written_as_continuous_angles(tmp_path):
    ball = joints.spherical()
    arm = box("arm", 2.0, (0.1, 0.2, 0.3), com=(0, 0, -0.2))
    model = Assembly("ball").add(arm, ball).marker("hand", "arm", (0.3, 0.4, 0.5)).model()
    time = np.arange(200) / 100.0
    v = np.tile([4.0, 1.0, -2.0], (200, 1))
    q = np.array([model.integrate(model.neutral(), t * v[0]) for t in time])
    motion = Motion(model, time, q, v, 0 * v)
    write_opensim_motion(motion, tmp_path)
    assert any("quaternion" in note for note in write_opensim_model(model, tmp_path))
    table = read_table(tmp_path / "motion.mot")
    assert table.degrees
    assert table.names == model.coordinate_names
    angles = np.radians(table.values)
    assert np.abs(np.diff(angles, axis=0)).max() < 0.5
    assert np.ptp(angles) > np.pi
    again = hd.load(tmp_path / "model.osim")
    np.testing.assert_allclose(
        position(again, angles, "hand")[:, [0, 2, 1]] * [1, -1, 1],
        position(model, q, "hand"),
        atol=1e-12,
    )


def test_angles_that_opensim_does_not_convert_are_written_in_radians(tmp_path):
    from homodyn.model.functions import Linear

    joint = joints.custom(joints.turn("x", 0, Linear(0.5)))
    model = Assembly("half").add(box("arm", 1.0, (0.1, 0.2, 0.3)), joint).model()
    q = np.linspace(0, 1, 20)[:, None]
    write_opensim_motion(Motion(model, q[:, 0], q, 0 * q + 1, 0 * q), tmp_path)
    table = read_table(tmp_path / "motion.mot")
    assert not table.degrees
    np.testing.assert_array_equal(table.values, q)


def test_a_model_that_opensim_cannot_have_gives_the_reason(tmp_path):
    arm = box("left arm", 1.0, (0.1, 0.2, 0.3))
    model = Assembly("blank").add(arm, joints.revolute("x")).model()
    (reason,) = write_opensim_model(model, tmp_path)
    assert reason.startswith("model.osim is not written")
    assert "no blanks" in reason
    assert not list(tmp_path.iterdir())
