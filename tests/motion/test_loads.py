"""Loads: names, root, power, and the loads that a motion carries."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.motion import ContactForce, Loads, Side, motion_from_poses, motion_from_states

MODEL = hd.catalog.heiman(height=1.79, mass=76)
TIME = np.linspace(0.0, 1.0, 101)
ROOT = tuple(range(6))


def foot(frames):
    force = np.tile([0.0, 0.0, 400.0], (frames, 1))
    point = np.tile([0.1, -0.1, 0.0], (frames, 1))
    return ContactForce("FootRight", Side.RIGHT, force, point, np.zeros((frames, 3)))


@pytest.fixture(scope="module")
def motion():
    v = np.outer(TIME, np.ones(MODEL.nv))
    q = np.tile(MODEL.neutral(), (len(TIME), 1))
    return motion_from_states(MODEL, TIME, q, v, tau=np.full_like(v, 3.0))


def test_loads_are_found_by_the_same_names(motion):
    none = np.zeros((len(TIME), 3))
    tau = np.tile(np.arange(float(MODEL.nv)), (len(TIME), 1))
    loads = Loads(motion, tau, ROOT, none, none, (foot(len(TIME)),))
    knee = MODEL.coordinate_index("KneeRight_RY")
    assert loads["KneeRight_RY"].values[0] == knee
    assert abs(loads["right knee flexion"].values[0]) == knee
    assert loads["knee_angle_r"].unit == "N m"
    frame = loads.to_pandas()
    assert {"FootRight force z (N)", "FootRight center of pressure x (m)"} <= set(frame.columns)
    assert "ground forces on FootRight" in repr(loads)


def test_power_is_torque_times_velocity_without_the_root(motion):
    loads = Loads.from_torques(motion, motion.tau, (foot(len(TIME)),))
    assert loads.root == ROOT
    assert not loads.power[:, ROOT].any()
    np.testing.assert_allclose(loads.power[:, 6:], np.outer(3 * TIME, np.ones(MODEL.nv - 6)))
    assert not loads.residual_force.any()
    np.testing.assert_array_equal(loads.ground_force[:, 2], 400.0)


def test_a_motion_with_torques_has_loads(motion):
    loads = Loads.from_motion(motion)
    np.testing.assert_array_equal(loads.tau, motion.tau)
    assert loads.motion is motion
    bare = motion_from_poses(MODEL, TIME, motion.q)
    with pytest.raises(HomodynError, match=r"has no torques; use hd\.capture\.inverse_dynamics"):
        Loads.from_motion(bare)
