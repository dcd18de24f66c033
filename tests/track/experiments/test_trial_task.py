import numpy as np

from homodyn.track.experiments import ReachTarget, TracePath, TrialBlock, TrialStage, TrialTask
from homodyn.track.experiments.trial_task import TrialPlan

START = ReachTarget("start", np.zeros(3), 0.05)
TARGET = ReachTarget("far", np.array([0.5, 0.0, 0.0]), 0.05)


def reach(hold=0.0, limit=20.0):
    block = TrialBlock("b", "reach", ("far",), hold=hold, limit=limit)
    return TrialTask(TrialPlan(block, 1, target=TARGET), START, 0.02)


def advance(task, time, x):
    return task.advance(time, np.array([x, 0.0, 0.0]), task.center, task.radius)


def test_a_reach_there_and_back():
    task = reach()
    assert advance(task, 0.0, 1.0) is TrialStage.START
    assert advance(task, 1.0, 0.069) is TrialStage.REACH
    np.testing.assert_array_equal(task.center, TARGET.position)
    assert advance(task, 2.0, 0.42) is TrialStage.REACH
    assert advance(task, 2.1, 0.431) is TrialStage.RETURN
    assert advance(task, 3.0, 0.0) is TrialStage.DONE
    assert (task.began_at, task.touched_at, task.ended_at) == (1.0, 2.1, 3.0)


def test_a_target_is_held_without_interruption():
    task = reach(hold=0.5)
    advance(task, 0.0, 0.0)
    for time, x in ((1.0, 0.5), (1.4, 0.5), (1.45, 0.0), (1.5, 0.5), (1.9, 0.5)):
        assert advance(task, time, x) is TrialStage.REACH
    assert advance(task, 2.0, 0.5) is TrialStage.RETURN
    assert task.touched_at == 1.0


def test_a_pointer_that_is_not_seen_touches_nothing():
    task = reach()
    assert task.advance(0.0, np.full(3, np.nan), task.center, 100.0) is TrialStage.START


def test_a_trial_has_a_limit():
    task = reach(limit=5.0)
    advance(task, 10.0, 0.0)
    assert advance(task, 15.0, 0.2) is TrialStage.REACH
    assert advance(task, 15.1, 0.2) is TrialStage.TIMED_OUT
    assert task.stage.is_end


def test_the_target_of_a_path_moves_with_its_speed():
    path = TracePath("line", np.column_stack([np.linspace(0, 2, 41), np.zeros(41), np.zeros(41)]))
    block = TrialBlock("b", "trace", ("line",))
    task = TrialTask(TrialPlan(block, 1, path=path, speed=0.5), START, 0.02)
    advance(task, 0.0, 0.0)
    places = []
    time = 0.0
    while task.stage is TrialStage.TRACE:
        time += 0.01
        places.append(task.center[0])
        advance(task, time, task.center[0] + 0.03)
    assert task.stage is TrialStage.DONE
    speeds = np.diff(places) / 0.01
    assert speeds[0] < 0.15
    np.testing.assert_allclose(speeds[-50:], 0.5, rtol=1e-6)
    # Over the first ten vertices the target is slower.
    assert 2.0 / 0.5 < time < 2.0 / 0.5 + 3.0
    np.testing.assert_allclose(task.deviations, 0.03, atol=1e-9)
