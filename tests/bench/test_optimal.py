"""The rows of optimal control."""

import json

import numpy as np
import pytest

from homodyn.bench import optimal, optimal_speed, optimal_track, squat
from homodyn.dynamics import position
from support.optimal import block_move, swing_up


def test_without_recordings_the_row_says_where_they_were_looked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("HOMODYN_DATA", str(tmp_path))
    (row,) = optimal_track.track_rows(quick=True)
    assert row.ours is None
    assert str(tmp_path) in row.note


def test_without_the_peer_our_own_time_and_objective_are_told(monkeypatch, shared_data):
    monkeypatch.setenv("HOMODYN_DATA", str(shared_data))
    monkeypatch.setattr(optimal_track, "missing", lambda package: f"{package} is not installed")
    time, objective = optimal_track.track_rows(quick=True)
    assert time.ours > 0
    assert time.ratio is None
    assert "opensim is not installed" in time.note
    assert objective.ours > 0
    assert objective.peer is None


def test_the_walk_that_is_tracked_is_consistent_with_its_plates(shared_data):
    walk = optimal_track.read_walk(shared_data / optimal_track.PLACE)
    solution = optimal_track.tracking_problem(walk, 25).solve("collocation", defect_tolerance=0.05)
    assert solution.status.success
    # At the root, little is left of what the recording and the plates do not agree upon.
    left = np.sqrt((solution.phases[0].tau[:, :3] ** 2).mean(axis=0))
    assert (left < 0.05 * walk.motion.model.mass * 9.81).all()


def test_the_quadrature_of_an_answer_is_near_its_own_objective(shared_data):
    walk = optimal_track.read_walk(shared_data / optimal_track.PLACE)
    for transcription, _, intervals in optimal_track.RUNS:
        problem = optimal_track.tracking_problem(walk, intervals)
        answer = optimal_track._best_answer(problem, transcription, 1)
        assert answer.success
        assert answer.objective(walk) == pytest.approx(answer.own, rel=0.05)


def test_a_search_is_timed_by_the_clock_and_by_processors():
    found = optimal_speed._time_search(lambda: block_move(5).solve())
    assert found["status"] == "solved"
    assert found["processor"] > 0
    assert found["seconds"] > 0
    assert json.loads(json.dumps(found))["iterations"] == found["iterations"]


def test_iterations_are_told_for_each_mesh(monkeypatch):
    monkeypatch.setattr(squat, "problem", lambda intervals: swing_up(intervals))
    rows = list(optimal.growth_rows((10, 20)))
    assert [row.name for row in rows] == [
        "squat, 10 intervals, an iteration",
        "squat, 20 intervals, an iteration",
    ]
    assert all(row.ours > 0 for row in rows)


def test_the_squat_keeps_its_soles_where_they_are():
    model = squat.body()
    assert model.nv == 39
    q = squat.poses(model, np.linspace(0, 1, 5))
    for point in ("right_toe", "left_heel", "left_lateral_ball"):
        path = np.asarray(position(model, q, point))
        np.testing.assert_allclose(path, np.tile(path[0], (5, 1)), atol=1e-9)
    assert "24 contact rows" in squat.problem(3).describe()
