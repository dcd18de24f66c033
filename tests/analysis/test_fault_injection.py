"""Planted faults change what they say, and nothing else."""

import numpy as np
import pytest

from homodyn.analysis.fault_injection import (
    axis_faults,
    belt_faults,
    force_faults,
    gap_exchange_faults,
    harmless_changes,
    label_faults,
    partial_bodies,
    rate_faults,
    sequence_faults,
    unit_faults,
)
from homodyn.analysis.recording_changes import (
    arms_and_box,
    exchange_labels,
    exchange_plates,
    plate_count,
)
from homodyn.gait import GaitMeasure, GaitMeasures
from support import strolls


@pytest.fixture(scope="module")
def trial():
    return strolls.recording()


def test_twenty_of_the_axis_permutations_are_wrong():
    faults = list(axis_faults(np.random.default_rng(0), 5))
    assert sum(fault.kind == "axes permuted" for fault in faults) == 20
    assert sum(fault.kind == "rotated laboratory frame" for fault in faults) == 5
    for fault in faults:
        assert np.linalg.norm(fault.up) == pytest.approx(1.0)
        assert fault.up[2] < np.cos(np.radians(25.0))


def test_rotations_move_the_vertical_where_they_say(trial):
    for fault in axis_faults(np.random.default_rng(0), 2):
        wrong = fault.apply(trial)
        np.testing.assert_allclose(wrong.positions @ fault.up, trial.positions[..., 2], atol=1e-9)


def test_exchanges_undo_themselves(trial):
    for part in (False, True):
        for fault in label_faults(trial, np.random.default_rng(1), 3, part=part):
            wrong = fault.apply(trial)
            changed = np.any(~np.isclose(wrong.positions, trial.positions), axis=(0, 2))
            names = {n for n, c in zip(trial.markers, changed, strict=True) if c}
            assert names <= set(fault.labels)
            again = fault.apply(wrong)
            np.testing.assert_array_equal(again.positions, trial.positions)
    assert exchange_labels(trial, 0, 1).markers == trial.markers


def test_exchanges_after_a_gap_begin_where_the_gap_ends(trial):
    for fault in gap_exchange_faults(trial, np.random.default_rng(1), 3):
        wrong = fault.apply(trial)
        columns = [trial.markers.index(name) for name in fault.detail.split(" and ")]
        gap = np.flatnonzero(np.isnan(wrong.positions[:, columns]).all(axis=(1, 2)))
        assert len(gap) == int(0.1 * trial.rate)
        np.testing.assert_array_equal(wrong.positions[: gap[0]], trial.positions[: gap[0]])
        later = slice(gap[-1] + 1, None)
        np.testing.assert_array_equal(
            wrong.positions[later][:, columns], trial.positions[later][:, columns[::-1]]
        )


def test_frames_are_cut_out_or_repeated(trial):
    cut, stopped, repeated = (fault.apply(trial) for fault in sequence_faults(trial))
    assert cut.frames == trial.frames - int(0.2 * trial.rate)
    assert stopped.frames == repeated.frames == trial.frames
    still = [
        (np.nan_to_num(np.diff(t.positions, axis=0)) == 0).all(axis=(1, 2)).sum()
        for t in (stopped, repeated)
    ]
    assert still == [int(0.2 * trial.rate) - 1, trial.frames - 1 - (trial.frames - 1) // 4]


def test_plates_with_a_short_range_keep_smaller_forces(trial):
    (fault,) = [fault for fault in force_faults() if fault.kind == "plates saturated"]
    whole, limited = trial.plates[0].force[:, 2], fault.apply(trial).plates[0].force[:, 2]
    assert limited.max() == pytest.approx(0.7 * whole.max())
    np.testing.assert_array_equal(limited[whole < limited.max()], whole[whole < limited.max()])


def test_units_rates_and_forces_are_scaled(trial):
    sizes = [np.nanmax(f.apply(trial).positions) for f in unit_faults()]
    assert max(sizes) == pytest.approx(1e3 * np.nanmax(trial.positions))
    assert [f.apply(trial).rate / trial.rate for f in rate_faults()] == [0.5, 0.833, 1.2, 2.0]
    heavy = next(f for f in force_faults() if f.detail == "model -20 %").apply(trial)
    ratio = heavy.plates[0].force.sum() / trial.plates[0].force.sum()
    assert ratio == pytest.approx(1.25)


def test_exchanged_plates_stay_where_they_are(trial):
    if plate_count(trial) < 2:
        pytest.skip("the recording has one plate only")
    wrong = exchange_plates(trial)
    assert [p.name for p in wrong.plates] == [p.name for p in trial.plates]
    assert not np.allclose(wrong.plates[0].force, trial.plates[0].force)


def test_parts_of_the_body(trial):
    faults = list(partial_bodies(trial))
    labels = {fault.detail or fault.kind: set(fault.apply(trial).markers) for fault in faults}
    assert {"LASI", "LHEE", "RHEE"} <= labels["legs and pelvis"]
    assert "C7" in labels["trunk and arms"] - labels["legs and pelvis"]
    assert not {"LHEE", "LASI"} & labels["right side"]
    assert not {"RHEE", "RASI"} & labels["left side"]
    assert {"Box1", "LELB"} <= labels["arms and a box only"]
    assert arms_and_box(trial).plates == ()


def test_a_part_that_is_the_whole_recording_is_no_fault(trial):
    legs = trial.select_markers(["LASI", "RASI", "LKNE", "RKNE", "LHEE", "RHEE"])
    details = {fault.detail or fault.kind for fault in partial_bodies(legs)}
    assert details == set()
    assert arms_and_box(legs).markers == ()


def test_belts_move_markers_and_centers_of_pressure(trial):
    row = GaitMeasure("velocity", "m/s", "both", np.array([1.2]), np.array([0.5]))
    walk = GaitMeasures((row,), direction=np.array([1.0, 0.0]))
    faults = list(belt_faults(walk))
    (belt,) = [fault for fault in faults if fault.kind == "treadmill"]
    assert belt.belt == 1.2
    moved = belt.apply(trial)
    shift = trial.positions[-1] - moved.positions[-1]
    expected = [1.2 * (trial.frames - 1) / trial.rate, 0.0, 0.0]
    np.testing.assert_allclose(shift[np.isfinite(shift).all(-1)], [expected] * len(shift))
    np.testing.assert_array_equal(moved.plates[0].force, trial.plates[0].force)
    assert [f.given_belt for f in faults if f.kind == "wrong belt speed"] == pytest.approx(
        [0.0, 1.8, 1.2]
    )
    on_a_belt = GaitMeasures((row,), belt_speed=1.0)
    assert [f.given_belt for f in belt_faults(on_a_belt)] == [0.0, 1.5]
    assert list(belt_faults(GaitMeasures(()))) == []


def test_harmless_changes_keep_the_vertical(trial):
    for _, version in harmless_changes(trial, np.random.default_rng(2), 3):
        assert version.duration <= trial.duration
        np.testing.assert_allclose(version.axes @ trial.axes.T @ [0, 0, 1], [0, 0, 1], atol=1e-12)
