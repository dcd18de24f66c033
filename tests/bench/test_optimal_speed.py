"""What the benchmark of optimal control tells about a search, and what it is held against."""

import homodyn.optimal as oc
from homodyn.bench import optimal_speed
from support.optimal import swing_up


def test_a_search_is_told_with_its_time_and_memory():
    found = optimal_speed._timed(swing_up(10).solve)
    assert found["status"] == "solved" or found["status"] == "too coarse"
    assert 0 < found["solving"] < found["seconds"]
    assert 20 < found["memory"] < 5000  # MB
    assert found["iterations"] > 3


def test_cases_are_those_that_have_limits():
    assert set(optimal_speed.LIMITS) == set(optimal_speed.NAMES)
    problem = optimal_speed.problem_of("squat")
    assert problem.model.nv == 39
    assert problem.phases[0].intervals == 50
    step = optimal_speed.problem_of("step")
    assert step.model.nv == 34
    assert sum(phase.intervals for phase in step.phases) >= 20


def test_rows_fail_where_a_limit_is_passed(monkeypatch):
    slow = {"seconds": 5.0, "memory": 100.0, "status": "solved", "iterations": 9}
    monkeypatch.setattr(optimal_speed, "_child", lambda what, case, **_: dict(slow))
    rows = {row.name: row for row in optimal_speed.optimal_speed(True)}
    assert rows["squat, 39 dof, 50 intervals"].passes is False
    assert rows["memory, squat"].passes is True


def test_the_squat_begins_at_rest_with_level_soles():
    problem = optimal_speed.problem_of("squat")
    assert isinstance(problem, oc.Problem)
    assert problem.phases[0].start["v"] == 0.0
