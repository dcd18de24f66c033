"""Fits of real and published recordings against the answers that came with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_kinematics, match_labels, read
from homodyn.capture.kinematics import read_tasks, to_world_axes
from homodyn.dynamics import marker_positions
from homodyn.model import Model
from homodyn.motion import FitStatus, Motion

NONE = np.zeros((0, 0), dtype=bool)
"""No filled markers."""


@pytest.fixture(autouse=True)
def _without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """The virtual machine answers for a hundred frames sooner than a compiler is done."""
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")


def reference(path: Path, model: Model) -> np.ndarray:
    """Coordinates (rad, m) of an OpenSim motion file whose angles are in degrees."""
    lines = path.read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip().startswith("endheader")) + 1
    names = lines[head].split()
    rows = np.array(
        [[float(x) for x in line.split()] for line in lines[head + 1 :] if line.strip()]
    )
    q = np.tile(model.neutral(), (len(rows), 1))
    for name in model.coordinate_names:
        factor = 1.0 if name[-3:] in ("_tx", "_ty", "_tz") else np.pi / 180
        q[:, model.coordinate_index(name)] = factor * rows[:, names.index(name)]
    return q


def turns(model: Model) -> list[int]:
    return [k for k, n in enumerate(model.coordinate_names) if n[-3:] not in ("_tx", "_ty", "_tz")]


def weighted_error(motion: Motion, q: np.ndarray, weights: dict[str, float]) -> np.ndarray:
    """Sum of w d^2 of every frame (m2) for any poses, with the markers the motion was fitted to."""
    names = [marker.name for marker in motion.model.markers]
    places = marker_positions(motion.model, q)[:, [names.index(m) for m in motion.markers]]
    shares = np.array([weights[m] for m in motion.markers])
    return np.nansum(shares[:, None] * (places - motion.measured) ** 2, axis=(1, 2))


def test_synthetic_markers_of_a_gait_give_back_its_angles(shared_data: Path) -> None:
    folder = shared_data / "ik_synthetic"
    model = hd.load(folder / "subject01_simbody.osim")
    trial = read(folder / "subject01_synthetic_marker_data.trc")
    weights, track = read_tasks(folder / "gait2354_IK_Tasks.xml", model)
    assert set(track) == {"subtalar_angle_r", "subtalar_angle_l", "mtp_angle_r", "mtp_angle_l"}
    truth = reference(folder / "std_subject01_walk1_ik.mot", model)
    motion = inverse_kinematics(model, trial, weights=weights)
    # The markers are rounded to five digits: a hundredth of a millimeter.
    assert motion.rms < 2e-5
    error = np.degrees(motion.q - truth)[:, turns(model)]
    assert np.sqrt(np.mean(error**2, axis=0)).max() < 0.02
    assert np.abs(error).max() < 0.1
    tracked = inverse_kinematics(model, trial, weights=weights, track=track)
    error = np.degrees(tracked.q - truth)[:, turns(model)]
    assert np.sqrt(np.mean(error**2, axis=0)).max() < 0.02
    assert np.all(
        weighted_error(motion, motion.q, weights) <= weighted_error(motion, truth, weights)
    )


def test_a_recorded_walk_agrees_with_opensim_at_no_larger_error(shared_data: Path) -> None:
    folder = shared_data / "gait10dof"
    model = hd.load(folder / "subject01.osim")
    weights, track = read_tasks(folder / "setup_ik.xml", model)
    assert track == {}
    motion = inverse_kinematics(model, read(folder / "walk.trc"), weights=weights)
    theirs = reference(folder / "ref_ik.mot", model)
    assert set(motion.status) == {FitStatus.CONVERGED}
    assert len(motion.q) == len(theirs) == 151
    error = np.degrees(motion.q - theirs)[:, turns(model)]
    assert np.sqrt(np.mean(error**2, axis=0)).max() < 0.02
    error, other = (weighted_error(motion, q, weights) for q in (motion.q, theirs))
    assert np.all(error <= other * (1 + 1e-12))


def test_a_body_of_33_degrees_of_freedom_gives_back_the_truth(shared_data: Path) -> None:
    folder = shared_data / "arnold2013" / "subject01"
    model = hd.load(folder / "subject01.osim")
    trial = read(folder / "markers.trc")
    lines = (folder / "coordinates.sto").read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1
    names = lines[head].split()
    rows = np.array([[float(x) for x in line.split()] for line in lines[head + 1 :] if line])
    assert len(rows) == trial.frames == 223
    some = slice(0, 223, 6)
    truth = rows[some][:, [names.index(name) for name in model.coordinate_names]]
    motion = inverse_kinematics(model, replace(trial, positions=trial.positions[some], filled=NONE))
    assert motion.unobserved == ()
    assert np.abs(motion.q - truth).max() < 1e-6


def test_a_planar_walk_is_fitted_as_well_as_its_log_states(shared_data: Path) -> None:
    folder = shared_data / "rbdl_planar"
    model = hd.load(folder / "gait912.lua", as_measured=True)
    motion = inverse_kinematics(model, read(folder / "gaitDataPlanar.c3d"))
    assert set(motion.status) == {FitStatus.CONVERGED}
    header = (folder / "fitting_log.csv").read_text().splitlines()[0]
    names = [name.strip() for name in header.split(",")]
    rows = np.genfromtxt(folder / "fitting_log.csv", delimiter=",", skip_header=1)
    logged = rows[:, [names.index(m) for m in motion.markers]]
    # The same minimum: distances of 8.6 cm rms, markers of a person on a model in a plane.
    assert np.abs(motion.residual - logged).max() < 1e-4
    assert motion.rms <= np.sqrt(np.mean(logged**2))
    assert any("poor" in note for note in motion.notes)
    # The stored angles are not quite those of the log: they leave larger distances.
    stored = np.loadtxt(folder / "qIK.csv", delimiter=",")[:, 1:]
    assert np.abs(motion.q - stored).max() < 0.03
    equal = dict.fromkeys(motion.markers, 1.0)
    assert np.all(weighted_error(motion, motion.q, equal) < weighted_error(motion, stored, equal))


def test_the_walk_of_the_hdm_program_is_fitted(shared_data: Path) -> None:
    model = hd.catalog.hdm()
    trial = read(shared_data / "hdm" / "walk.c3d")
    trial = match_labels(model, trial.crop(trial.start + 1.0, trial.start + 1.3)).trial
    motion = inverse_kinematics(model, trial)
    assert len(motion.markers) == 41
    assert set(motion.status) == {FitStatus.CONVERGED}
    assert motion.rms < 0.018
    assert np.nanmax(np.nanmean(motion.residual, axis=0)) < 0.05
    assert np.abs(model.difference(motion.q[:-1], motion.q[1:])).max() < 0.35


def test_recordings_stand_in_the_world_of_the_model(shared_data: Path) -> None:
    folder = shared_data / "gait10dof"
    model = hd.load(folder / "subject01.osim")
    trial = read(folder / "walk.trc").crop(0.0, 0.1)
    motion = inverse_kinematics(model, trial)
    rotated = to_world_axes(model, trial)
    assert np.array_equal(
        motion.measured[:, motion.markers.index("R.ASIS")], rotated.marker("R.ASIS")
    )
    assert motion.measured[..., 1].max() > 1.5
