"""Weights of coordinates by what the markers show."""

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.gait.reconstruction.tracking_weights import MIN_TRACKING_WEIGHT, tracking_weights
from homodyn.motion import motion_from_poses


def test_a_coordinate_counts_as_much_as_it_moves_markers():
    trial = hd.synthetic.walking_trial(noise=0.0, gaps=0.0, strides=2, mass=70.0, plates=0)
    motion = hd.capture.inverse_kinematics(trial.truth.motion.model, trial.trial)
    names = motion.model.coordinate_names
    full = dict(zip(names, tracking_weights(motion), strict=True))
    assert full["KneeRight_RY"] > 0.5
    forearm = {m.name for m in motion.model.markers if m.body in ("LowerArmLeft", "HandLeft")}
    keep = np.array([name not in forearm for name in motion.markers])
    hidden = replace(
        motion,
        measured=np.where(keep[None, :, None], motion.measured, np.nan),
    )
    fewer = dict(zip(names, tracking_weights(hidden), strict=True))
    assert fewer["ElbowLeft_RY"] < 0.1 < full["ElbowLeft_RY"]
    assert fewer["KneeRight_RY"] > 0.5


def test_a_motion_without_markers_counts_fully():
    model = hd.catalog.heiman(height=1.75, mass=70)
    motion = motion_from_poses(model, np.linspace(0, 1, 5), np.zeros((5, model.nq)))
    np.testing.assert_array_equal(tracking_weights(motion), 1.0)
    assert MIN_TRACKING_WEIGHT < 1
    named = replace(motion, unobserved=("ElbowLeft_RY",))
    weights = dict(zip(model.coordinate_names, tracking_weights(named), strict=True))
    assert weights.pop("ElbowLeft_RY") == MIN_TRACKING_WEIGHT
    assert set(weights.values()) == {1.0}
