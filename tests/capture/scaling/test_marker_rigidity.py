"""Kinds of markers that have no flags and no telling names, by positions and rigidity."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial
from homodyn.capture.scaling import MarkerKind, calibrate, marker_kinds
from homodyn.capture.scaling.marker_kinds import unnamed_markers
from homodyn.capture.scaling.marker_rigidity import recorded_kinds
from homodyn.capture.scaling.shared_markers import shared_markers
from homodyn.dynamics import marker_positions
from homodyn.model import Assembly, Body, Marker, joints

PLATE_M = np.array(
    [[0.05, 0.02, -0.15], [0.04, -0.03, -0.20], [0.06, 0.0, -0.24], [0.0, 0.05, -0.2]]
)


def anonymous(model, trials):
    """Model and trials with names that say nothing and without flags, and the true names."""
    names = {marker.name: f"P{k}" for k, marker in enumerate(model.markers)}
    markers = tuple(replace(m, name=names[m.name], fixed=None) for m in model.markers)
    renamed = [
        Trial(t.name, tuple(names.get(n, f"{n} extra") for n in t.markers), t.positions, t.rate)
        for t in trials
    ]
    return replace(model, markers=markers), renamed, {new: old for old, new in names.items()}


def kinds_without_names(model, trials):
    """Pairs of the kind by flags and names and the kind without them, for each marker."""
    known = marker_kinds(model)
    blind, renamed, true = anonymous(model, trials)
    recording = shared_markers(blind, renamed)
    found = recorded_kinds(blind, recording)
    return {true[n]: (known[true[n]], k) for n, k in zip(recording.markers, found, strict=True)}


def test_flags_that_are_removed_change_nothing_where_names_are_known(shared_data):
    model = hd.load(shared_data / "real_subject4" / "unscaled_generic.osim")
    without = replace(model, markers=tuple(replace(m, fixed=None) for m in model.markers))
    assert marker_kinds(without) == marker_kinds(model)
    all_false = replace(model, markers=tuple(replace(m, fixed=False) for m in model.markers))
    assert marker_kinds(all_false) == marker_kinds(model)
    assert unnamed_markers(without) == set()


def test_kinds_of_subject_4_without_names_and_flags(shared_data):
    folder = shared_data / "real_subject4"
    model = hd.load(folder / "unscaled_generic.osim", as_measured=True)
    trials = [hd.capture.read(folder / f"{name}.trc") for name in ("static1", "squats1")]
    trials = [replace_frames(trial, 40) for trial in trials]
    kinds = kinds_without_names(model, trials)
    assert Counter(kinds.values()) == {
        (MarkerKind.LANDMARK, MarkerKind.LANDMARK): 31,
        (MarkerKind.TRACKING, MarkerKind.TRACKING): 16,
        (MarkerKind.JOINT_CENTER, MarkerKind.JOINT_CENTER): 2,
    }


def replace_frames(trial, count):
    rows = np.unique(np.linspace(0, trial.frames - 1, count).astype(int))
    return Trial(trial.name, trial.markers, trial.positions[rows], trial.rate)


@pytest.fixture(scope="module")
def walker():
    """HeiMan with two landmarks, a plate and a stray marker on the right thigh, who moves."""
    model = hd.catalog.heiman()
    thigh = [
        Marker("RLEC", "ThighRight", [0.0, -0.06, -0.42]),
        Marker("RMEC", "ThighRight", [0.0, 0.06, -0.42]),
    ]
    plate = [Marker(f"PL{k}", "ThighRight", place) for k, place in enumerate(PLATE_M)]
    others = [m for m in model.markers if m.body != "ThighRight"]
    return replace(
        model, markers=(*others, *thigh, *plate, Marker("X", "ThighRight", [0.07, 0, -0.05]))
    )


def recording_of(model, *, skin, offset):
    """Two seconds of stepping: skin moves over bones, the plate is elsewhere and rigid."""
    rng = np.random.default_rng(4)
    q = np.tile(model.neutral(), (40, 1))
    q[:, 6:] += 0.4 * np.sin(np.linspace(0, 6, 40))[:, None] * rng.uniform(-1, 1, q.shape[1] - 6)
    plate = [m.name.startswith("PL") for m in model.markers]
    displaced = replace(
        model,
        markers=tuple(
            replace(m, position=m.position + offset * on_plate)
            for m, on_plate in zip(model.markers, plate, strict=True)
        ),
    )
    positions = marker_positions(displaced, q)
    phase = np.linspace(0, 6, 40)[:, None, None]
    waves = np.sin(phase + rng.uniform(0, 6, (1, len(plate), 3)))
    positions = positions + skin * waves * ~np.array(plate)[:, None]
    return [Trial("walk", tuple(m.name for m in model.markers), positions, rate=20.0)]


def test_a_rigid_plate_is_a_cluster_wherever_the_model_has_it(walker):
    trials = recording_of(walker, skin=0.004, offset=np.array([-0.1, 0.09, 0.12]))
    blind, renamed, true = anonymous(walker, trials)
    recording = shared_markers(blind, renamed)
    found = {
        true[n]: kind
        for n, kind in zip(recording.markers, recorded_kinds(blind, recording), strict=True)
    }
    assert {found[f"PL{k}"] for k in range(4)} == {MarkerKind.TRACKING}
    pelvis = [m.name for m in walker.markers if m.body == "Pelvis"]
    assert {found[name] for name in pelvis} == {MarkerKind.LANDMARK}


def test_a_marker_that_is_far_from_its_place_is_no_landmark(walker):
    trials = recording_of(walker, skin=0.004, offset=np.zeros(3))
    blind, renamed, true = anonymous(walker, trials)
    moved = [
        replace(m, position=m.position + np.array([0.0, 0.09, 0.06])) if true[m.name] == "X" else m
        for m in blind.markers
    ]
    blind = replace(blind, markers=tuple(moved))
    recording = shared_markers(blind, renamed)
    found = dict(zip(recording.markers, recorded_kinds(blind, recording), strict=True))
    (stray,) = [name for name, old in true.items() if old == "X"]
    assert found[stray] is MarkerKind.TRACKING


def test_calibration_uses_the_kinds_of_the_recording():
    """Two links whose markers are where the model has them, but for one."""
    at = [(0.05, 0.0, -0.1), (-0.04, 0.03, -0.2), (0.0, -0.05, -0.3), (0.03, 0.04, -0.25)]
    assembly = (
        Assembly("arm")
        .add(Body("upper", 2.0, [0, 0, -0.15], np.eye(3) * 0.02), joints.spherical())
        .add(
            Body("lower", 1.0, [0, 0, -0.12], np.eye(3) * 0.01),
            joints.revolute("y"),
            "upper",
            at=(0.01, 0.02, -0.3),
        )
    )
    for body in ("upper", "lower"):
        for k, place in enumerate(at):
            assembly = assembly.marker(f"{body}{k}", body, place)
    model = assembly.model()
    rng = np.random.default_rng(2)
    positions = marker_positions(model, model.random(rng, 12))
    positions = positions + rng.normal(0.0, 0.002, positions.shape)
    names = tuple(marker.name for marker in model.markers)
    stray = replace(model.markers[-1], position=np.array([0.2, 0.2, 0.1]))
    generic = replace(model, markers=(*model.markers[:-1], stray))
    found = calibrate(generic, Trial("moving", names, positions, rate=20.0), mass=3.0)
    kinds = {row.marker: row.kind for row in found.marker_shifts}
    assert kinds.pop("lower3") is MarkerKind.TRACKING
    assert set(kinds.values()) == {MarkerKind.LANDMARK}
