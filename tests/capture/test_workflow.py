"""The workflow of the style guide runs as it stands, on a synthetic trial written to files."""

from __future__ import annotations

import numpy as np
import pytest

import homodyn as hd


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workflow")
    synthetic = hd.synthetic.walking_trial(height=1.79, mass=76.0, strides=2, gaps=0.0)
    hd.capture.write(synthetic.trial, folder / "walk.c3d")
    first = synthetic.trial.positions[:1]
    still = np.repeat(first, 40, axis=0)
    static = hd.capture.Trial("static", synthetic.trial.markers, still, synthetic.trial.rate)
    hd.capture.write(static, folder / "static.c3d")
    return folder


def test_the_workflow_of_a_recording_runs_as_written(folder, monkeypatch):
    monkeypatch.chdir(folder)
    subject = hd.catalog.heiman(height=1.79, mass=76)
    static = hd.capture.read("static.c3d")
    trial = hd.capture.read("walk.c3d")
    scaled = hd.capture.scale(subject, static)
    motion = hd.capture.inverse_kinematics(scaled.model, trial)
    loads = hd.capture.inverse_dynamics(motion, trial.plates)
    assert loads.tau.shape == (trial.frames, subject.nv)
    assert motion.rms < 0.02
    same = hd.capture.inverse_kinematics(scaled, trial)
    assert np.array_equal(same.q, motion.q)


def test_a_trial_is_indexed_by_marker_and_prints_briefly(folder):
    trial = hd.capture.read(folder / "walk.c3d")
    assert np.array_equal(np.asarray(trial["RHEE"]), trial.marker("RHEE"), equal_nan=True)
    assert len(repr(trial).splitlines()) <= 10
    assert repr(trial).startswith("Trial 'walk':")
    with pytest.raises(hd.CaptureError, match="RHEEL"):
        trial["RHEEL"]
    assert list(trial.to_pandas().columns)[:3] == [
        f"{trial.markers[0]} {axis} (m)" for axis in "xyz"
    ]
    axes = trial.plot("RHEE")
    assert axes.get_xlabel() == "time (s)"
