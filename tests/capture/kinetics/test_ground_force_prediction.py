"""Ground forces without plates: exact in sum, close in share."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import predict_ground_forces
from homodyn.errors import CaptureError
from homodyn.motion import Motion
from support.swaying import sway
from support.walks import walk

# rms of predicted less measured force: forward and vertical, percent of weight; planar models
# cannot know the sideways part
LIMITS = {"gait10dof": (3.0, 8.0), "arnold2013": (3.0, 4.0), "gait23": (3.0, 5.0)}


@pytest.mark.parametrize("name", LIMITS)
def test_walking_is_predicted_close_to_what_plates_measured(shared_data, name):
    found = walk(shared_data, name)
    measured = inverse_dynamics(found.motion, found.plates)
    predicted = inverse_dynamics(found.motion)
    weight = found.motion.model.mass * 9.80665
    for mine, theirs in zip(predicted.feet, measured.feet, strict=True):
        assert mine.body == theirs.body
        rms = 100 * np.sqrt(np.mean((mine.force - theirs.force) ** 2, axis=0)) / weight
        assert (rms[:2] < LIMITS[name]).all(), rms
    assert predicted.predicted
    assert not measured.predicted
    assert np.abs(predicted.tau[:, list(predicted.root)]).max() < 1e-8
    assert any("predicted from the motion" in note for note in predicted.notes)


def test_what_the_feet_do_together_is_what_the_motion_needs():
    motion = sway(hd.catalog.heiman(height=1.75, mass=70))
    found = inverse_dynamics(motion, cutoff=None)
    assert np.abs(found.residual_force).max() < 1e-8
    assert np.abs(found.residual_moment).max() < 1e-8
    for foot in found.feet:
        assert (foot.force[:, 2] >= 0).all()
        assert foot.force[:, 2].mean() > 100


def test_one_foot_in_the_air_leaves_all_to_the_other():
    model = hd.catalog.heiman(height=1.75, mass=70)
    time = np.arange(200) / 100
    q = np.tile(model.neutral(), (200, 1))
    lift = 1.0 * np.clip(np.sin(np.pi * (time - 0.5)), 0, None) ** 2
    thigh = model.coordinate_names.index("HipLeft_RY")
    shank = model.coordinate_names.index("KneeLeft_RY")
    q[:, thigh] -= lift
    q[:, shank] += 1.5 * lift
    still = np.zeros((200, model.nv))
    found = inverse_dynamics(Motion(model, time, q, still, still))
    left, right = sorted(found.feet, key=lambda foot: foot.side)
    up = lift > 0.6
    assert not left.force[up].any()
    assert np.isnan(left.point[up]).all()
    assert right.force[up, 2].mean() == pytest.approx(70 * 9.81, rel=0.05)
    standing = slice(0, 40)
    assert left.force[standing, 2].mean() == pytest.approx(35 * 9.81, rel=0.25)
    jumps = np.abs(np.diff(left.force[:, 2]))
    assert jumps.max() < 0.5 * 70 * 9.81


def test_in_flight_nothing_pushes():
    model = hd.catalog.heiman(height=1.75, mass=70)
    time = np.arange(121) / 100
    height = np.maximum(4.0 * (time - 0.4) - 0.5 * 9.81 * (time - 0.4) ** 2, 0.0)
    height[time < 0.4] = 0.0
    q = np.tile(model.neutral(), (121, 1))
    q[:, 2] += height
    v, a = np.zeros((2, 121, model.nv))
    flying = height > 0
    a[flying, 2] = -9.81
    found = predict_ground_forces(Motion(model, time, q, v, a))
    for foot in found:
        assert not foot.force[flying].any()
        assert foot.force[~flying, 2].mean() == pytest.approx(35 * 9.81, rel=0.25)


def test_a_person_who_falls_throughout_is_refused():
    motion = sway(hd.catalog.heiman())
    a = np.zeros_like(motion.a)
    a[:, 2] = -9.81
    falling = replace(motion, v=0 * motion.v, a=a)
    with pytest.raises(CaptureError, match="falls freely throughout"):
        predict_ground_forces(falling)


def test_frames_in_which_the_feet_cannot_carry_the_body_are_not_valid():
    motion = sway(hd.catalog.heiman(height=1.75, mass=70))
    assert inverse_dynamics(motion, cutoff=None).covered.all()
    # Sitting: the center of mass is far behind the feet, over a chair that nobody recorded.
    q = np.array(motion.q)
    sitting = slice(len(q) // 2, None)
    for name in ("HipRight_RY", "HipLeft_RY"):
        q[sitting, motion.model.coordinate_index(name)] -= 1.5
    for name in ("KneeRight_RY", "KneeLeft_RY"):
        q[sitting, motion.model.coordinate_index(name)] += 1.5
    found = inverse_dynamics(replace(motion, q=q), cutoff=None)
    assert found.covered[: len(q) // 2].all()
    assert found.covered[sitting].mean() < 0.1
    assert any("the feet alone cannot carry the body" in note for note in found.notes)
