"""Constraints whose removal makes an infeasible problem solvable."""

import homodyn.optimal as oc
from support.optimal import block_move, jump


def leap(friction):
    """A jump that has to end a meter ahead."""
    problem = jump(6, friction=friction)
    forward = oc.require("forward", lambda i: i.position("trunk")[0], lower=1.0, upper=1.5).at(
        "end"
    )
    push, fly = problem.phases
    return oc.Problem(problem.model, [push, oc.Phase(**{**vars(fly), "constraints": [forward]})])


def test_friction_is_the_conflicting_constraint_of_a_long_jump_on_ice():
    attempts = oc.conflicting_constraints(leap(0.01), max_iterations=150)
    assert [attempt.removed for attempt in attempts if attempt.conflicting] == ["friction cone"]
    nodes = ", but only at the nodes of a coarse mesh"
    assert str(attempts[0]) == f"without friction cone it can be solved{nodes}"
    assert {"forward", "bounds of tau", "bounds of durations"} <= {
        attempt.removed for attempt in attempts
    }


def test_bounds_that_exclude_the_end_are_in_conflict():
    problem = block_move(10, bounds={"v": {"box": (-0.5, 0.5)}})
    conflicting = [t.removed for t in oc.conflicting_constraints(problem) if t.conflicting]
    assert conflicting == ["bounds of v", "bounds at the start", "bounds at the end"]
