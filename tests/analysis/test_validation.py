"""Deviations from references: known offsets are found, and rows say what they compare with."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.validation import (
    Deviation,
    ValidationRow,
    angle_deviations,
    center_distances,
    torque_deviations,
    validate,
)
from homodyn.analysis.validation_cases import ValidationCase
from homodyn.capture import Table, write_table
from support import strolls

OFFSET_DEG, OFFSET_N_M = 3.0, 2.5


def write_reference(path, names, time, values, degrees=True):
    write_table(Table(tuple(names), time, values, degrees=degrees), path)
    return path


@pytest.fixture(scope="module")
def angles_file(analysis, tmp_path_factory):
    """The angles of the analysis; the right knee is 3 deg larger, under a path of OpenSim."""
    model, motion = analysis.model, analysis.motion
    names = ["KneeRight_RY", "HipRight_RY"]
    columns = [model.position_index[model.coordinate_index(name)] for name in names]
    values = np.rad2deg(motion.q[:, columns]) + np.array([OFFSET_DEG, 0.0])
    heads = [f"/jointset/joint/{name}/value" for name in names]
    path = tmp_path_factory.mktemp("reference") / "ik.sto"
    return write_reference(path, heads, motion.time, values)


def test_the_bias_of_an_angle_is_the_known_offset(analysis, angles_file):
    found = {d.name: d for d in angle_deviations(analysis, angles_file)}
    assert set(found) == {"KneeRight_RY", "HipRight_RY"}
    assert found["KneeRight_RY"].bias == pytest.approx(-OFFSET_DEG, abs=1e-4)
    assert found["KneeRight_RY"].rms == pytest.approx(OFFSET_DEG, abs=1e-4)
    assert found["HipRight_RY"].rms == pytest.approx(0.0, abs=1e-4)


def test_a_table_in_radians(analysis, tmp_path):
    motion = analysis.motion
    column = motion.model.position_index[motion.model.coordinate_index("KneeRight_RY")]
    path = write_reference(
        tmp_path / "ik.sto", ["KneeRight_RY"], motion.time, motion.q[:, [column]], degrees=False
    )
    (found,) = angle_deviations(analysis, path)
    assert found.rms == pytest.approx(0.0, abs=1e-4)


def test_torques_are_compared_in_frames_with_known_forces(analysis, tmp_path):
    loads = analysis.loads
    k = analysis.model.coordinate_index("KneeRight_RY")
    root = analysis.model.coordinate_names[analysis.model.root.v[-1]]
    values = np.column_stack([loads.tau[:, k] + OFFSET_N_M, loads.tau[:, 0]])
    values[~loads.valid] += 1000.0
    path = write_reference(
        tmp_path / "id.sto",
        ["KneeRight_RY_moment", f"{root}_moment"],
        loads.motion.time,
        values,
    )
    (found,) = torque_deviations(analysis, path)
    assert found.name == "KneeRight_RY"
    assert found.bias == pytest.approx(-OFFSET_N_M, abs=1e-3)


def test_a_recording_with_an_expert_model_and_one_that_cannot_be_read(
    analysis, angles_file, tmp_path
):
    hd.capture.write(strolls.recording(forces=False).crop(0.0, 0.4), tmp_path / "walk.trc")
    (tmp_path / "broken.trc").write_text("nothing")
    hd.save(hd.catalog.heiman(height=strolls.HEIGHT, mass=strolls.MASS), tmp_path / "expert.toml")
    cases = [
        ValidationCase(
            str(tmp_path / f"{name}.trc"),
            expert=str(tmp_path / "expert.toml"),
            angles=str(angles_file),
        )
        for name in ("walk", "broken")
    ]
    stages = []
    walk, broken = validate(cases, tmp_path, progress=stages.append)
    assert stages == ["1 of 2: walk.trc, expert", "2 of 2: broken.trc, expert"]
    assert (walk.recording, walk.method, walk.reference) == ("walk.trc", "expert", "ik.sto")
    assert walk.light in ("good", "fair", "poor")
    body = hd.load(tmp_path / "expert.toml")
    fit = hd.capture.inverse_kinematics(body, hd.capture.read(tmp_path / "walk.trc"))
    assert walk.marker_rms == pytest.approx(fit.rms, rel=1e-3)
    assert walk.residual_force is None  # No plates.
    bias = {d.name: d.bias for d in walk.angles}
    assert bias["KneeRight_RY"] == pytest.approx(-OFFSET_DEG, abs=1.0)
    assert broken.failed
    assert str(tmp_path) not in broken.reason
    assert broken.reason


def test_a_recorded_walk_against_the_published_results(shared_data):
    folder = shared_data / "gait10dof"
    cases = [case for case in hd.analysis.find_cases(folder) if case.expert]
    (row,) = validate(cases, folder)
    assert (row.recording, row.method, row.reference) == ("walk.trc", "expert", "ref_ik.mot")
    assert len(row.sagittal) == 7
    assert max(d.rms for d in row.sagittal) < 1.0  # deg; the reference is not filtered.
    assert max(d.rms for d in row.torques) < 10.0  # N m; other filters.
    assert row.residual_force > 0


def test_distances_of_joint_centers_are_those_of_the_models(analysis):
    motion = analysis.motion
    assert center_distances(motion, motion) == pytest.approx({"hip": 0, "knee": 0, "ankle": 0})
    shifted = motion.q.copy()
    shifted[:, :3] += np.array([0.03, 0.0, 0.04])
    found = center_distances(replace(motion, q=shifted), motion)
    assert found == pytest.approx({"hip": 0.05, "knee": 0.05, "ankle": 0.05})


def test_the_pelvis_convention_moves_tilt_and_hip_flexion_in_opposite_directions():
    angles = tuple(
        Deviation(name, bias, 9.0)
        for name, bias in (("pelvis_tilt", 12.0), ("hip_flexion_r", -11.0), ("knee_angle_r", 2.0))
    )
    row = ValidationRow("walk.trc", "scaled", expert_angles=angles, pelvis_convention=10.0)
    assert [d.bias for d in row.adjusted_sagittal] == [2.0, -1.0, 2.0]
    assert [d.bias for d in replace(row, pelvis_convention=None).adjusted_sagittal] == [12, -11, 2]
