"""The tracking benchmark: its data, its problem and its rows."""

import numpy as np
import pytest

from homodyn.bench import optimal_track


def test_missing_recordings_are_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    (row,) = optimal_track.track_rows(quick=True)
    assert row.ours is None
    assert str(tmp_path) in row.note


def test_without_the_peer_our_time_and_objective_are_measured(monkeypatch, shared_data):
    monkeypatch.setenv("HOMODYN_DATA", str(shared_data))
    monkeypatch.setattr(optimal_track, "missing", lambda package: f"{package} is not installed")
    time, objective = optimal_track.track_rows(quick=True)
    assert time.ours > 0
    assert time.ratio is None
    assert "opensim is not installed" in time.note
    assert objective.ours > 0
    assert objective.peer is None


def test_the_walk_that_is_tracked_is_consistent_with_its_plates(shared_data):
    walk = optimal_track.read_walk(shared_data / optimal_track.DATA_SET)
    solution = optimal_track.tracking_problem(walk, 25).solve("collocation", defect_tolerance=0.05)
    assert solution.status.success
    # The residual forces at the root, from inconsistencies of motion and plates, are small.
    left = np.sqrt((solution.phases[0].tau[:, :3] ** 2).mean(axis=0))
    assert (left < 0.05 * walk.motion.model.mass * 9.81).all()


def test_the_quadrature_is_near_the_objective_of_the_solver(shared_data):
    walk = optimal_track.read_walk(shared_data / optimal_track.DATA_SET)
    for transcription, _, intervals in optimal_track.RUNS:
        problem = optimal_track.tracking_problem(walk, intervals)
        solution = optimal_track._best_solution(problem, transcription, 1)
        assert solution.success
        assert solution.objective(walk) == pytest.approx(solution.own, rel=0.05)
