"""The rows of optimal control."""

import json

from homodyn.bench import optimal, optimal_speed, squat
from support.optimal import block_move, swing_up


def test_elapsed_and_processor_time_are_measured():
    found = optimal_speed._time_search(lambda: block_move(5).solve())
    assert found["status"] == "solved"
    assert found["processor"] > 0
    assert found["seconds"] > 0
    assert json.loads(json.dumps(found))["iterations"] == found["iterations"]


def test_each_mesh_has_a_row(monkeypatch):
    monkeypatch.setattr(squat, "problem", lambda intervals: swing_up(intervals))
    rows = list(optimal.growth_rows((10, 20)))
    assert [row.name for row in rows] == [
        "squat, 10 intervals, time per iteration",
        "squat, 20 intervals, time per iteration",
    ]
    assert all(row.ours > 0 for row in rows)
