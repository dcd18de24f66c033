from dataclasses import replace

import numpy as np
import pandas
import pytest

from homodyn.errors import CaptureError
from homodyn.foundation.toml import parse_toml
from homodyn.track.experiments import ExperimentRun, TrialStage, check_experiment, plan_trials
from homodyn.track.experiments.experiment_file import experiment_from_toml
from homodyn.track.experiments.experiment_run import live_quantity, pointer_position
from homodyn.track.streams import LiveSample
from support.live_arm import LABELS, arm, true_markers, true_state, true_torques
from support.reach_experiment import REACH

MODEL = arm()
EXPERIMENT = experiment_from_toml(parse_toml(REACH))


def sample(time, finger=None, effort=5.0):
    markers = true_markers(MODEL, time)
    if finger is not None:
        markers[LABELS.index("FIN")] = finger
    q, v, _ = true_state(time)
    return LiveSample(
        time=time,
        arrival=time,
        number=1,
        labels=LABELS,
        markers=markers,
        q=q,
        v=v,
        torques=true_torques(MODEL, time),
        power=20.0,
        effort=effort,
        marker_error=0.0,
    )


def perform(run, limit=20_000):
    """A person whose finger goes straight to what is shown."""
    finger, time = np.array([0.0, 0.0, 0.5]), 0.0
    stages = []
    for _ in range(limit):
        time += 0.02
        if run.shown is not None:
            way = run.shown.position - finger
            finger = finger + way * min(1.0, 0.04 / max(np.linalg.norm(way), 1e-9))
        stages.append(None if run.task is None else run.task.stage)
        run.advance(MODEL, sample(time, finger))
        if run.finished:
            return stages
    raise AssertionError("the experiment did not end")


def test_equal_seeds_give_equal_trials():
    one, two = plan_trials(EXPERIMENT), plan_trials(EXPERIMENT)
    assert [plan.target.name if plan.target else plan.path.name for plan in one] == [
        plan.target.name if plan.target else plan.path.name for plan in two
    ]
    assert one[-1].speed == two[-1].speed != 0.5
    assert sorted(plan.target.name for plan in one[:4]) == ["one", "one", "two", "two"]
    other = plan_trials(replace(EXPERIMENT, seed=4))
    assert other[-1].speed != one[-1].speed
    assert abs(one[-1].path.length - EXPERIMENT.paths[0].length) < 1e-12


def test_all_trials_are_done_and_written(tmp_path):
    run = ExperimentRun(EXPERIMENT, tmp_path)
    run.head = np.array([0.0, 0.1, 1.7])
    stages = perform(run)
    run.close()
    assert {TrialStage.START, TrialStage.REACH, TrialStage.RETURN, TrialStage.TRACE} <= set(stages)
    table = pandas.read_csv(tmp_path / "trials.csv")
    assert table["stage"].tolist() == ["done"] * 5
    assert table["condition"].tolist()[:4] == ["light"] * 4
    assert (table["end_s"] > table["begin_s"]).all()
    assert (table["touch_s"][:4] > table["begin_s"][:4]).all()
    assert table["mean_deviation_m"][4] < 0.05
    np.testing.assert_allclose(table["mean_effort_nm"], 5.0)
    np.testing.assert_allclose(
        table["work_j"], 20.0 * (table["end_s"] - table["begin_s"]), atol=0.5
    )
    files = sorted(path.name for path in tmp_path.glob("trial_*.csv"))
    assert files == [f"trial_{k:04d}.csv" for k in range(1, 6)]
    trial = pandas.read_csv(tmp_path / files[0])
    assert set(trial["stage"]) == {"start", "reach", "return", "done"}
    np.testing.assert_allclose(trial["head_z_m"], 1.7)
    np.testing.assert_allclose(trial["pointer_x_m"], trial["FIN_x_m"])


def test_stimuli_follow_effort_and_torque():
    run = ExperimentRun(EXPERIMENT)
    start = EXPERIMENT.start.position
    run.advance(MODEL, sample(0.0, start))
    assert run.task.stage is TrialStage.REACH
    radius = run.task.radius
    shown = run.advance(MODEL, sample(0.1, np.full(3, 9.0), effort=2.5))
    assert shown.radius == pytest.approx(1.25 * radius)
    shown = run.advance(MODEL, sample(0.2, np.full(3, 9.0), effort=1e4))
    assert shown.radius == pytest.approx(2.0 * radius)
    torque = live_quantity(MODEL, sample(0.3), "torque:elbow")
    assert torque == abs(true_torques(MODEL, 0.3)[1])


def test_the_pointer_is_a_marker_or_a_body():
    now = sample(0.4)
    np.testing.assert_array_equal(pointer_position(MODEL, now, "FIN"), now.markers[7])
    elbow = pointer_position(MODEL, now, "forearm")
    assert abs(np.linalg.norm(elbow - [0, 0, 1.4]) - 0.3) < 1e-9


def test_names_are_checked_against_the_model():
    check_experiment(EXPERIMENT, MODEL)
    with pytest.raises(CaptureError, match="marker or body"):
        check_experiment(replace(EXPERIMENT, pointer="NOSE"), MODEL)
    block = EXPERIMENT.blocks[1]
    stimulus = replace(block.stimuli[0], quantity="torque:tail")
    wrong = replace(EXPERIMENT, blocks=(replace(block, stimuli=(stimulus,)),))
    with pytest.raises(CaptureError, match="coordinate"):
        check_experiment(wrong, MODEL)
