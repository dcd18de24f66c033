"""Verdicts on synthesized steps: solved, contact forces and friction that a ground can give."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.analysis import overall_light
from homodyn.analysis.step_comparison import StepComparison
from homodyn.analysis.step_quality import (
    GOOD_FRICTION,
    MAX_FRICTION,
    quality_summary,
    required_friction,
    synthesis_verdicts,
)


@pytest.fixture(scope="module")
def compared():
    bundled = StepComparison.from_bundled_steps(hd.gait.walking_model())
    return StepComparison(
        bundled.model, bundled.steps[:2], bundled.statuses[:2], bundled.searches[:2]
    )


def test_each_step_has_a_verdict_on_solution_and_friction(compared):
    found = synthesis_verdicts(compared)
    for subject in ("solution", "friction"):
        assert sum(v.subject == subject for v in found) == len(compared.steps)
    ranks = [v.light.rank for v in found]
    assert ranks == sorted(ranks, reverse=True)
    summary = quality_summary(found)
    assert summary["light"] == overall_light(found)
    assert len(summary["verdicts"]) == len(found)


def test_friction_is_graded_by_what_the_step_needs(compared):
    weight = compared.model.mass * 9.81
    grades = {
        v.sentence.split(":")[0]: v.light
        for v in synthesis_verdicts(compared)
        if v.subject == "friction"
    }
    for step in compared.steps:
        needed = required_friction(step, weight)
        expected = "good" if needed <= GOOD_FRICTION else "fair"
        assert grades[step.name] == (expected if needed <= MAX_FRICTION else "poor")


def test_a_search_that_failed_is_poor(compared):
    failed = replace(compared, statuses=("infeasible", "stored"))
    found = [v for v in synthesis_verdicts(failed) if v.subject == "solution"]
    assert sorted(v.light for v in found) == ["good", "poor"]
