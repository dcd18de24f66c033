"""Motions from result folders and tables of coordinates."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import RecordedMotion, Settings, read_motion
from homodyn.analysis.result_tables import write_csv, write_loads, write_motion
from homodyn.errors import FormatError
from homodyn.gait.reconstruction.tracking_weights import tracking_weights


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, variation=0.0, mass=70, plates=2
    )


def test_coordinates_without_torques_are_unobserved(tmp_path, walk):
    hd.save(walk.model, tmp_path / "model.toml")
    motion, neck = walk.truth.motion, walk.model.coordinate_index("Neck_RY")
    q, v, a = motion.q.copy(), motion.v.copy(), motion.a.copy()
    for values in (q, v, a):
        values[:, neck] = 0.0
    hidden = replace(motion, q=q, v=v, a=a, unobserved=("Neck_RY",))
    write_motion(hidden, walk.truth.events, tmp_path)
    write_loads(replace(walk.truth.loads, motion=hidden), tmp_path)
    found = read_motion(tmp_path, Settings(mass=70))
    assert found.motion.unobserved == ("Neck_RY",)
    knee = walk.model.coordinate_index("KneeRight_RY")
    np.testing.assert_allclose(
        found.loads.tau[:, knee], walk.truth.loads.tau[:, knee], rtol=1e-6, atol=1e-6
    )


@pytest.fixture
def folder(walk, tmp_path):
    """A folder with coordinates, forces, torques and events, as analyze writes it."""
    hd.save(walk.model, tmp_path / "model.toml")
    write_motion(walk.truth.motion, walk.truth.events, tmp_path)
    write_loads(walk.truth.loads, tmp_path)
    return tmp_path


def test_a_result_folder_gives_motion_loads_and_events(folder, walk):
    truth = walk.truth
    found = read_motion(folder, Settings(mass=70))
    np.testing.assert_allclose(found.motion.q, truth.motion.q, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.motion.v, truth.motion.v, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.loads.tau, truth.loads.tau, rtol=1e-6, atol=1e-6)
    assert [foot.side for foot in found.loads.feet] == ["left", "right"]
    right = next(foot for foot in truth.loads.feet if foot.side == "right")
    np.testing.assert_allclose(found.loads.feet[1].force, right.force, rtol=1e-6, atol=1e-5)
    assert [event.label for event in found.events] == [e.label for e in truth.events]
    assert found.headline().startswith(f"RecordedMotion {folder.name!r}: Motion of")


def test_a_result_folder_says_which_markers_were_seen(folder, walk):
    time = walk.truth.motion.time
    marker = walk.model.markers[0].name
    distances = np.full((len(time), 2), 0.002)
    distances[3, 0] = np.nan
    write_csv(folder / "markers.csv", time, [f"{marker} (m)", "foreign (m)"], distances)
    motion = read_motion(folder, Settings(mass=70)).motion
    assert motion.markers == (marker,)
    np.testing.assert_array_equal(motion.residual[:, 0], distances[:, 0])
    place = hd.dynamics.marker_positions(motion.model, motion.q)[:, :1]
    np.testing.assert_allclose(motion.measured[4:], place[4:])
    assert np.isnan(motion.measured[3]).all()
    # One marker shows hardly any coordinate.
    assert np.median(tracking_weights(motion)) < 0.1


def test_the_folder_of_a_single_trial_stands_for_it(folder, tmp_path, walk):
    study = tmp_path / "study"
    for name in ("first", "second"):
        own = study / name
        own.mkdir(parents=True)
        for file in folder.iterdir():
            if file.is_file():
                (own / file.name).write_bytes(file.read_bytes())
    with pytest.raises(FormatError, match="several trials: first, second; name one"):
        read_motion(study, Settings(mass=70))
    (study / "second" / "motion.csv").unlink()
    found = read_motion(study, Settings(mass=70))
    assert found.name == "first"
    np.testing.assert_allclose(found.motion.q, walk.truth.motion.q, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("share", [0.5, 0.0])
def test_frames_that_plates_did_not_measure_are_not_usable(folder, walk, share):
    time = walk.truth.motion.time
    measured = time > time[0] + (1 - share) * np.ptp(time)
    write_loads(replace(walk.truth.loads, usable=measured), folder)
    found = read_motion(folder, Settings(mass=70)).loads
    if share:
        np.testing.assert_array_equal(found.usable, measured)
    else:
        assert found is None


def test_folders_without_clinical_names_are_read_too(tmp_path, walk):
    motion, loads = walk.truth.motion, walk.truth.loads
    names = motion.model.coordinate_names
    hd.save(walk.model, tmp_path / "model.toml")
    heads = [f"{n}{word} (rad)" for word in ("", " speed", " acceleration") for n in names]
    columns = np.column_stack([motion.q, motion.v, motion.a])
    write_csv(tmp_path / "motion.csv", motion.time, heads, columns)
    write_csv(tmp_path / "torques.csv", motion.time, [f"{n} (N m)" for n in names], loads.tau)
    found = read_motion(tmp_path, Settings(mass=70))
    np.testing.assert_allclose(found.motion.v, motion.v, rtol=1e-6, atol=1e-7)
    assert found.loads is None
    assert found.events is None


def test_a_table_may_have_clinical_names(tmp_path, walk):
    motion = walk.truth.motion
    model = motion.model
    names = {name: name for name in model.coordinate_names}
    values = motion.q.copy()
    names["HipRight_RY"], names["KneeLeft_RY"] = "right hip flexion", "knee_angle_l"
    values[:, model.coordinate_index("HipRight_RY")] *= -1
    table = hd.capture.Table(tuple(names.values()), motion.time, values)
    hd.capture.write_table(table, tmp_path / "walk.sto")
    hd.save(model, tmp_path / "model.toml")
    found = read_motion(
        tmp_path / "walk.sto", Settings(model=str(tmp_path / "model.toml"), cutoff=20.0)
    )
    inner = slice(20, -20)
    np.testing.assert_allclose(found.motion.q[inner], motion.q[inner], atol=0.01)


def test_missing_columns_and_files_are_refused(tmp_path, walk):
    motion = walk.truth.motion
    names = motion.model.coordinate_names
    hd.save(walk.model, tmp_path / "model.toml")
    hd.capture.write_table(
        hd.capture.Table(names[:-1], motion.time, motion.q[:, :-1]), tmp_path / "walk.sto"
    )
    settings = Settings(model=str(tmp_path / "model.toml"))
    with pytest.raises(FormatError, match=rf"no column for .*\({names[-1]}\)|{names[-1]}"):
        read_motion(tmp_path / "walk.sto", settings)
    with pytest.raises(FormatError, match=r"motion\.csv is missing"):
        read_motion(tmp_path, settings)
    with pytest.raises(FormatError, match="there is no such file"):
        read_motion(tmp_path / "absent.c3d", settings)


def test_the_first_measured_step_is_preferred(walk):
    motion, loads, events = walk.truth.motion, walk.truth.loads, walk.truth.events
    steps = hd.gait.contact_schedule.complete_steps(events)
    assert len(steps) > 1
    later = replace(loads, usable=motion.time > steps[0][1] - 0.02)
    assert RecordedMotion("", motion, loads, events).measured_step == steps[0]
    assert RecordedMotion("", motion, later, events).measured_step == steps[1]
    none = replace(loads, usable=np.zeros(len(motion.time), dtype=bool))
    assert RecordedMotion("", motion, none, events).measured_step is None
    assert RecordedMotion("", motion, None, events).measured_step is None


def test_coordinates_that_no_marker_shows_have_no_torque(walk, tmp_path):
    still = ("Neck_RX", "Neck_RY", "Neck_RZ")
    motion = walk.truth.motion
    columns = [walk.model.coordinate_index(name) for name in still]
    q, v = motion.q.copy(), motion.v.copy()
    q[:, columns], v[:, columns] = 0.0, 0.0
    motion = replace(motion, q=q, v=v, unobserved=still)
    hd.save(walk.model, tmp_path / "model.toml")
    write_motion(motion, walk.truth.events, tmp_path)
    write_loads(replace(walk.truth.loads, motion=motion), tmp_path)
    found = read_motion(tmp_path, Settings(mass=70)).loads
    assert not found.tau[:, columns].any()
    others = [k for k in range(walk.model.nv) if k not in columns]
    np.testing.assert_allclose(found.tau[:, others], walk.truth.loads.tau[:, others], atol=1e-5)
    # A column of a coordinate that moves must not be missing.
    unobserved = replace(motion, unobserved=("KneeRight_RY",))
    write_loads(replace(walk.truth.loads, motion=unobserved), tmp_path)
    with pytest.raises(FormatError, match="columns are missing: KneeRight_RY"):
        read_motion(tmp_path, Settings(mass=70))
