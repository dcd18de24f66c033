"""Execution of plans: tracked without a fall, supports held; what fails is said."""

import json

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import RecordedMotion
from homodyn.analysis.plan_comparison import PlanComparison
from homodyn.bench.plan import execution_rows
from homodyn.errors import ModelError
from homodyn.plan import ExecutionOptions, ExecutionStatus, MotionPlan, PlanExecution
from homodyn.plan.execution.plan_references import PlanReferences
from homodyn.report.motion_plan_folder import write_motion_plan
from homodyn.simulate import ImplicitSprings


@pytest.fixture(scope="module")
def executed(step_plan: MotionPlan) -> PlanExecution:
    return hd.plan.execute(step_plan, options=ExecutionOptions(speed=1.0, settle=0.2))


def test_a_step_over_a_bar_is_tracked_without_a_fall(executed, step_plan):
    """V33 of Qiu (2012): no fall, supports held, center of mass within 2 cm rms."""
    assert executed.status is ExecutionStatus.FINISHED, executed.message
    assert executed.status.success
    assert executed.com_rms < 0.01
    assert executed.com_error[-1] < 0.01
    assert executed.largest_slip < 0.015
    assert max(hold.placement for hold in executed.holds) < 0.02
    assert executed.relaxed_times == ()
    assert executed.simulation.time[-1] == pytest.approx(step_plan.duration + 0.2)
    foot = hd.dynamics.position(step_plan.model, executed.motion.q[-1], "right_foot")
    planned = hd.dynamics.position(step_plan.model, step_plan.motion.q[-1], "right_foot")
    np.testing.assert_allclose(foot, planned, atol=0.015)


def test_the_simulation_is_no_replay_of_the_plan(executed, step_plan):
    """Ground forces come from the contact law, and carry the weight at the end."""
    weight = 9.81 * step_plan.model.mass
    vertical = executed.simulation.total_force[:, 2]
    assert vertical[-1] == pytest.approx(weight, rel=0.02)
    root = executed.simulation.torques[:, :6]
    np.testing.assert_array_equal(root, 0.0)
    assert [hold.support for hold in executed.holds] == ["left", "right 0", "right 1"]
    assert executed.rows()[0]["included"] is False, "the plan uses whole soles"


def test_the_page_has_the_execution_and_a_recording_beside_the_plan(executed, step_plan, tmp_path):
    recording = RecordedMotion("simulated", executed.motion)
    files = write_motion_plan(
        step_plan,
        tmp_path / "out",
        execution=executed,
        comparison=PlanComparison(step_plan, recording),
    )
    assert {path.name for path in files} >= {"motion.mot", "executed.mot", "report.html"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["execution"]["status"] == "finished"
    assert summary["execution"]["weights"]["feet"] == 5e4
    assert summary["comparison"]["com_distance_rms_m"] < 0.05
    page = (tmp_path / "out" / "report.html").read_text()
    for words in (
        "Execution",
        "Beside the recording",
        "planned forces available",
        "recorded phase",
    ):
        assert words in page


def test_the_benchmark_states_time_and_error(executed):
    rows = list(execution_rows("step", executed, 3.0, 6.0))
    assert [row.unit for row in rows] == ["s", "mm", "runs"]
    assert rows[0].ratio == pytest.approx(10.0)
    assert rows[1].ratio > 2.0
    assert rows[2].ratio == 1.0


def test_without_friction_the_body_falls_and_slower_speeds_are_not_a_success(step_plan):
    options = ExecutionOptions(speed=1.0, contact=ImplicitSprings(2e5, 2e3, friction=0.01))
    result = hd.plan.execute(step_plan, options=options)
    assert result.status is not ExecutionStatus.FINISHED
    assert "fell" in result.message or "stopped" in result.message or "torques" in result.message


def test_references_follow_the_plan_at_any_speed(step_plan):
    weights = ExecutionOptions().weights
    slow = PlanReferences(step_plan, weights, 0.5)
    full = PlanReferences(step_plan, weights, 1.0)
    assert slow.duration == pytest.approx(2 * step_plan.duration)
    t = 0.4 * step_plan.duration
    np.testing.assert_allclose(slow.center_of_mass(2 * t), full.center_of_mass(t))
    fast, late = full.tasks(t)[0], slow.tasks(2 * t)[0]
    np.testing.assert_allclose(np.asarray(late.velocity), 0.5 * np.asarray(fast.velocity))
    np.testing.assert_allclose(np.asarray(late.acceleration), 0.25 * np.asarray(fast.acceleration))
    h = 1e-4
    numeric = (full.center_of_mass(t + h) - full.center_of_mass(t - h)) / (2 * h)
    np.testing.assert_allclose(np.asarray(fast.velocity), numeric, atol=1e-5)


def test_options_out_of_range_are_refused():
    with pytest.raises(ModelError, match=r"from 0\.1 to 1"):
        ExecutionOptions(speed=2.0)
    with pytest.raises(ModelError, match="above 0 s"):
        ExecutionOptions(period=0.0)
