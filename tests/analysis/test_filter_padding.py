"""Frames outside of the analyzed interval make the ends of the filter reliable."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.analysis import analyze
from homodyn.analysis.filter_padding import filter_with_padding
from homodyn.capture import InverseKinematicsOptions, filter_motion, inverse_kinematics

SPAN = (0.6, 1.9)


@pytest.fixture(scope="module")
def cropped(walk_file, settings):
    return analyze(walk_file, replace(settings, first=SPAN[0], last=SPAN[1]))


def test_a_cropped_motion_has_the_torques_of_the_whole_one(analysis, cropped):
    rows = np.flatnonzero((analysis.motion.time >= SPAN[0]) & (analysis.motion.time <= SPAN[1]))
    assert len(rows) == cropped.motion.frames
    assert analysis.loads.edge.any()
    assert not cropped.loads.edge.any()
    joints = list(cropped.loads.joints)
    error = np.abs(cropped.loads.tau - analysis.loads.tau[rows])[:, joints]
    assert error.max() < 3.0
    np.testing.assert_allclose(cropped.motion.q, analysis.motion.q[rows], atol=2e-3)


def test_an_interval_at_the_end_of_a_recording_keeps_that_end_marked(walk_file, settings):
    found = analyze(walk_file, replace(settings, first=SPAN[0]))
    edge = found.loads.edge
    assert edge[-1]
    assert not edge[: len(edge) // 2].any()


def test_frames_without_markers_are_not_used(analysis):
    trial = analysis.trial
    inside = trial.crop(*SPAN)
    fitted = inverse_kinematics(analysis.model, inside)
    labels = {name: name for name in fitted.markers}
    positions = trial.positions.copy()
    positions[trial.time < SPAN[0] - 0.5 / trial.rate, 3] = np.nan
    found = filter_with_padding(
        fitted, replace(trial, positions=positions), labels, 8.0, InverseKinematicsOptions()
    )
    assert found.edge[0]
    assert not found.edge[-1]
    assert found.markers == fitted.markers
    alone = filter_motion(fitted, cutoff=8.0)
    np.testing.assert_allclose(found.q[20], alone.q[20], atol=2e-3)
