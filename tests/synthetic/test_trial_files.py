import json

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.synthetic import (
    compare_with_truth,
    read_truth,
    write_trial,
)


@pytest.fixture(scope="module")
def folder(synthetic, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trial")
    paths = write_trial(synthetic, folder)
    assert all(path.is_file() for path in paths)
    return folder


def test_the_walk_reads_back_from_c3d(synthetic, folder):
    trial = hd.capture.read(folder / "walk.c3d")
    assert trial.markers == synthetic.trial.markers
    assert trial.rate == synthetic.trial.rate
    np.testing.assert_array_equal(trial.seen, synthetic.trial.seen)
    np.testing.assert_allclose(trial.positions, synthetic.trial.positions, atol=1e-6)
    assert len(trial.plates) == len(synthetic.trial.plates)
    for read, plate in zip(trial.plates, synthetic.trial.plates, strict=True):
        np.testing.assert_allclose(read.force, plate.force, atol=1e-3)
        np.testing.assert_allclose(read.corners, plate.corners, atol=1e-6)
        loaded = plate.force[:, 2] > 50
        np.testing.assert_allclose(read.point[loaded], plate.point[loaded], atol=1e-4)
        np.testing.assert_allclose(read.torque[loaded], plate.torque[loaded], atol=1e-2)
    emg = [name for name in trial.analog.names if name in synthetic.trial.analog.names]
    assert emg == list(synthetic.trial.analog.names)
    for name in emg:
        np.testing.assert_allclose(
            trial.analog.channel(name), synthetic.trial.analog.channel(name), atol=1e-8
        )
    assert [(e.label, e.context) for e in trial.events] == [
        (e.label, e.context) for e in synthetic.trial.events
    ]
    times = [[event.time for event in t.events] for t in (trial, synthetic.trial)]
    np.testing.assert_allclose(times[0], times[1], atol=1e-4)


def test_the_standing_trial_reads_back(synthetic, folder):
    static = hd.capture.read(folder / "static.c3d")
    np.testing.assert_allclose(static.positions, synthetic.static.positions, atol=1e-6)


def test_the_truth_reads_back(synthetic, folder):
    truth = read_truth(folder)
    assert truth.model == synthetic.model
    np.testing.assert_array_equal(truth.motion.q, synthetic.truth.motion.q)
    np.testing.assert_array_equal(truth.loads.tau, synthetic.truth.loads.tau)
    np.testing.assert_array_equal(truth.markers, synthetic.truth.markers)
    for read, foot in zip(truth.loads.feet, synthetic.truth.loads.feet, strict=True):
        assert (read.body, read.side) == (foot.body, foot.side)
        np.testing.assert_array_equal(read.force, foot.force)
        np.testing.assert_array_equal(read.point, foot.point)
    assert truth.events == synthetic.truth.events
    assert truth.gaps == synthetic.truth.gaps
    assert truth.clean_strikes == synthetic.truth.clean_strikes
    np.testing.assert_array_equal(truth.drive.values, synthetic.truth.drive.values)
    same = compare_with_truth(truth, loads=synthetic.truth.loads, events=synthetic.truth.events)
    assert max(same.angles.values()) < 1e-9


def test_facts_are_json(folder):
    facts = json.loads((folder / "truth" / "walk.json").read_text())
    assert facts["speed"] == 1.2
    assert facts["cadence"] == pytest.approx(60 * 1.2 / facts["step_length"])


def test_files_that_are_there_are_kept(synthetic, folder):
    with pytest.raises(FormatError, match="exists already"):
        write_trial(synthetic, folder)
    write_trial(synthetic, folder, overwrite=True)


def test_a_folder_without_truth_is_refused(tmp_path):
    with pytest.raises(FormatError, match="not the ground truth of a synthetic trial"):
        read_truth(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(synthetic, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="folder cannot be created"):
        write_trial(synthetic, tmp_path / "file")
