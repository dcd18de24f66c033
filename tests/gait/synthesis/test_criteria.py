"""Criteria of steps, their distances, and contact forces."""

from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.gait import synthesis

CRITERIA = ("torque", "angular-momentum", "head", "time")


def test_each_criterion_is_smallest_for_the_step_that_minimizes_it(model, steps):
    free = [step for name, step in steps.items() if name.endswith("free")]
    table = synthesis.cross_evaluation(model, free)
    assert len(free) == 5
    assert table.best == {name: f"{name} free" for name in CRITERIA}
    assert table.diagonal
    assert "angular-momentum" in str(table)
    values = {
        name: dict(zip(CRITERIA, row, strict=True))
        for name, row in zip(table.steps, table.values, strict=True)
    }
    # Each is better at its own than the step of least torque by more than three orders.
    assert values["angular-momentum free"]["angular-momentum"] < (
        1e-3 * values["torque free"]["angular-momentum"]
    )
    assert values["head free"]["head"] < 1e-3 * values["torque free"]["head"]


def test_criteria_are_the_integrals_that_the_solver_sees(model, steps):
    step = steps["mixed free"]
    count = [len(phase.time) - 1 for phase in step.phases]
    every = synthesis.WalkingObjective("all", 1.0, 1.0, 1.0, 1.0)
    problem = synthesis.synthesis_problem(model, objective=every, intervals=count)
    built = step.warm_start(problem).transcribe(step.transcription)
    total = dict.fromkeys(CRITERIA, 0.0)
    for block in built.blocks:
        costs, _ = block.evaluate(built.guess)
        for name, values in zip(block.terms, costs.T, strict=True):
            total[name] += float(values.sum())
    found = synthesis.step_criteria(model, step)
    for name in CRITERIA:
        assert found[name] == pytest.approx(total[name], rel=1e-3)


def test_similarity_has_the_parts_of_the_thesis(steps):
    walk, step = hd.gait.stored_steps()["walk"], steps["mixed free"]
    assert synthesis.step_similarity(step, step).distance == 0
    near = synthesis.step_similarity(step, walk)
    assert near.duration == pytest.approx((step.duration - walk.duration) ** 2)
    assert near.distance == near.posture + near.duration
    later = replace(
        walk,
        phases=tuple(
            replace(
                p, time=1.5 * p.time, control_time=1.5 * p.control_time, v=p.v / 1.5, a=p.a / 2.25
            )
            for p in walk.phases
        ),
    )
    assert synthesis.step_similarity(walk, later).posture == pytest.approx(0, abs=1e-6)
    # Table 6.5: a neutral step of 0.660 s explains the parts of all rows.
    printed = {0.484: 0.0309, 0.389: 0.0732, 0.265: 0.1562, 0.200: 0.2116, 0.504: 0.0244}
    for duration, squared in printed.items():
        assert (0.660 - duration) ** 2 == pytest.approx(squared, abs=3e-4)


def test_the_table_of_criteria_is_a_data_frame(model, steps):
    chosen = [steps["mixed free"], steps["time free"]]
    table = synthesis.cross_evaluation(model, chosen)
    frame = table.to_pandas()
    assert list(frame.columns) == list(CRITERIA)
    assert frame.loc["time free", "time"] == pytest.approx(steps["time free"].duration)
    assert table.summary().count("\n") == 2
