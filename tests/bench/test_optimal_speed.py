"""The benchmark of solution times of optimal control."""

import numpy as np

from homodyn.bench import optimal_speed, squat
from homodyn.dynamics import position
from homodyn.motion import Side
from support.optimal import swing_up


def test_time_and_memory_of_a_solution_are_measured():
    found = optimal_speed._time_search(swing_up(10).solve)
    assert found["status"] == "solved" or found["status"] == "too coarse"
    assert 0 < found["solving"] < found["seconds"]
    assert 20 < found["memory"] < 5000  # MB
    assert found["iterations"] > 3


def test_every_case_has_a_limit():
    assert set(optimal_speed.LIMITS) == set(optimal_speed.NAMES)
    problem = optimal_speed.problem_of("squat")
    assert problem.model.nv == 39
    assert problem.phases[0].intervals == 50
    step = optimal_speed.problem_of("step")
    assert step.model.nv == 34
    assert sum(phase.intervals for phase in step.phases) >= 20


def test_rows_fail_above_a_limit(monkeypatch):
    slow = {"seconds": 5.0, "processor": 4.0, "memory": 1e2, "status": "solved", "iterations": 9}
    monkeypatch.setattr(optimal_speed, "_child", lambda what, case, **_: dict(slow))
    rows = {row.name: row for row in optimal_speed.speed_rows(True)}
    assert rows["squat, 39 dof, 50 intervals"].passes is False
    assert rows["memory, squat"].passes is True


def test_soles_stay_level_and_on_the_ground_through_the_squat():
    model = squat.body()
    q = squat.poses(model, np.linspace(0.0, 1.0, 7))
    names = [f"{side}_{point}" for side in Side for point in squat.POINTS]
    heights = np.stack([np.asarray(position(model, q, name))[:, 2] for name in names])
    np.testing.assert_allclose(heights, 0.0, atol=1e-12)
    assert np.ptp(q[:, model.coordinate_index("root_tz")]) > 0.1  # m
