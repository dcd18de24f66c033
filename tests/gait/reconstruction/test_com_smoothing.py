"""The center of mass of a walk whose markers swing with the skin."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import center_of_mass
from homodyn.gait.contact_schedule import contact_phases
from homodyn.gait.reconstruction.com_smoothing import mean_step_duration, smooth_center_of_mass


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70
    ).truth


def test_fast_motion_of_the_center_of_mass_is_removed(walk):
    motion = walk.motion
    height = motion.model.coordinate_index("Pelvis_TZ")
    artefact = 0.002 * np.sin(2 * np.pi * 9.0 * motion.time)
    q = np.array(motion.q)
    q[:, height] += artefact
    smooth = smooth_center_of_mass(replace(motion, q=q), 0.55)
    inner = slice(len(motion.time) // 5, -len(motion.time) // 5)
    before, after = (
        np.asarray(center_of_mass(motion.model, m.q))[inner, 2] for m in (motion, smooth)
    )
    assert np.sqrt(((after - before) ** 2).mean()) < 0.2 * np.sqrt((artefact**2).mean())
    joints = [k for k in range(motion.model.nv) if k not in motion.model.root.v]
    np.testing.assert_array_equal(smooth.q[:, joints], q[:, joints])


def test_velocity_and_acceleration_belong_to_the_shifted_coordinates(walk):
    motion = walk.motion
    smooth = smooth_center_of_mass(motion, 0.55)
    shift, rate = smooth.q - motion.q, smooth.v - motion.v
    inner = slice(10, -10)
    slope = np.gradient(shift, motion.time, axis=0)
    error = (rate - slope)[inner]
    assert np.sqrt((error**2).mean(axis=0)).max() < 0.02 * np.abs(rate).max()


def test_a_step_lasts_from_foot_off_to_foot_off(walk):
    phases = contact_phases(walk.motion, events=walk.events)
    assert mean_step_duration(phases) == pytest.approx(phases[-1].end - phases[0].begin)
    assert mean_step_duration(phases[:1]) is None
