"""The workflow of the style guide runs as it stands, on a synthetic trial written to files."""

from __future__ import annotations

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workflow")
    made = hd.synthetic.walking_trial(height=1.79, mass=76.0, strides=2, gaps=0.0)
    hd.capture.write(made.trial, folder / "walk.c3d")
    first = made.trial.positions[:1]
    still = np.repeat(first, 40, axis=0)
    static = hd.capture.Trial("static", made.trial.markers, still, made.trial.rate)
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


def test_a_user_format_reads_and_writes(folder, tmp_path):
    class Text(hd.capture.formats.FileFormat):
        extensions = (".walk",)

        def read_trial(self, path, options):
            return hd.capture.Trial(path.stem, ("A",), np.loadtxt(path).reshape(-1, 1, 3), 100.0)

        def write_trial(self, trial, path):
            np.savetxt(path, trial.marker("A"))

    hd.capture.formats.register_format(Text())
    try:
        points = np.arange(12.0).reshape(4, 1, 3)
        hd.capture.write(hd.capture.Trial("t", ("A",), points, 100.0), tmp_path / "a.walk")
        assert np.array_equal(hd.capture.read(tmp_path / "a.walk").positions, points)
        with pytest.raises(FormatError, match=r"tables cannot be read from '\.walk'; accepted:"):
            hd.capture.read_table(tmp_path / "a.walk")
    finally:
        from homodyn.capture.formats import file_format

        del file_format._FORMATS[".walk"]


def test_a_format_without_a_proper_extension_is_refused():
    class Nameless(hd.capture.formats.FileFormat):
        pass

    with pytest.raises(FormatError, match="names no extension"):
        hd.capture.formats.register_format(Nameless())
