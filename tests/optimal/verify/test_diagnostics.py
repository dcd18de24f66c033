"""Infeasible problems end soon, and diagnostics name the cause."""

import time

import casadi as ca
import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError, NoSolution
from support.optimal import block, block_move, jump


def test_contradictory_bounds_are_refused_by_name():
    phase = oc.Phase("move", 1.0, bounds={"v": {"box": (2.0, 1.0)}})
    with pytest.raises(HomodynError, match=r"phase 'move', v: the bounds of 'box'.*from 2 to 1"):
        oc.Problem(block(), [phase]).transcribe()


def test_a_guess_with_nan_is_refused_by_name():
    problem = block_move(guess={"q": np.array([[0.0], [np.nan], [1.0]])})
    with pytest.raises(HomodynError, match=r"phase 'move', guess of q is nan for 'box' at"):
        problem.transcribe()


def test_a_term_without_a_value_is_located():
    root = oc.ObjectiveTerm("root", lambda i: ca.sqrt(i.q[0] - 0.52), squared=False)
    problem = block_move(4, terms=[root], guess={"q": np.array([[0.0], [1.0]])})
    with pytest.raises(NoSolution, match=r"phase 'move', node 0.5 of 4 .*term 'root' is nan"):
        problem.solve()


def test_a_move_too_far_for_the_speed_allowed_is_infeasible_and_says_where():
    solution = block_move(10, bounds={"v": {"box": (-0.5, 0.5)}}).solve()
    assert not solution.status.success
    text = solution.explain()
    assert "phase 'move'" in text
    assert "step of q: box" in text
    assert any("v of box" in name for name in solution.active_bounds)


def leap(friction):
    """A jump that has to end a meter ahead."""
    problem = jump(6, friction=friction)
    forward = oc.require("forward", lambda i: i.position("trunk")[0], lower=1.0, upper=1.5).at(
        "end"
    )
    push, fly = problem.phases
    return oc.Problem(problem.model, [push, oc.Phase(**{**vars(fly), "constraints": [forward]})])


def test_a_long_jump_on_ice_ends_soon_and_names_the_dominant_constraints():
    began = time.perf_counter()
    solution = leap(0.01).solve(max_iterations=60)
    assert time.perf_counter() - began < 30
    assert not solution.status.success
    assert {g.name for g in solution.diagnostics.dominant_constraints} & {
        "phase 'fly', forward",
        "phase 'push', friction cone: toe",
    }
    text = solution.explain()
    assert "violated constraints, worst first:\n  phase '" in text
    assert "try: oc.conflicting_constraints(problem)" in text


def test_constraints_that_exclude_each_other_are_both_named():
    (move,) = block_move(10).phases
    above = oc.require("above", lambda i: i.q[0], lower=1.0, upper=np.inf).at("end")
    below = oc.require("below", lambda i: i.q[0], lower=-np.inf, upper=0.5).at("end")
    phase = oc.Phase(**{**vars(move), "end": {}, "constraints": [above, below]})
    problem = oc.Problem(block(), [phase])
    solution = problem.solve()
    assert solution.status is oc.SolveStatus.INFEASIBLE
    assert {g.name for g in solution.diagnostics.dominant_constraints} == {
        "phase 'move', above",
        "phase 'move', below",
    }
    assert {t.removed for t in oc.conflicting_constraints(problem) if t.conflicting} == {
        "above",
        "below",
    }


def test_dominant_bounds_are_named():
    solution = block_move(10, bounds={"tau": {"box": (-4.5, 4.5)}}).solve()
    assert solution.status.success
    (pressing,) = solution.diagnostics.dominant_bounds
    assert pressing.name == "phase 'move', tau of box"
    assert pressing.amount == pytest.approx(1.0)
    assert solution.diagnostics.dominant_constraints == ()
    assert "dominant bounds (share of their multipliers):\n  phase 'move', tau" in (
        solution.explain()
    )


def test_an_infeasible_speed_is_named_by_its_boundary_constraint():
    """Three meters in half a second, with feet that stand and legs of 0.8 m."""
    push, _ = jump(6).phases
    fast = oc.periodic(forward="trunk_tx", speed=6.0)
    phase = oc.Phase(**{**vars(push), "duration": 0.5, "start": {}, "name": "stance"})
    solution = oc.Problem(push_model(), [phase], boundary_constraints=[fast]).solve(
        max_iterations=100
    )
    assert not solution.status.success
    assert "whole movement" in solution.explain(20)
    assert "periodicity: trunk_tx travel" in solution.explain(20)
    assert "another speed" in solution.explain()


def push_model():
    return jump(6).model


def test_terms_are_located_where_they_cost_most():
    solution = block_move(20).solve()
    (term,) = solution.diagnostics.costs
    assert term.name == "move: torque"
    assert term.amount == pytest.approx(solution.objective)
    assert term.location in ("node 0.5 of 20 (0.025 s)", "node 19.5 of 20 (0.975 s)")


def test_badly_scaled_variables_are_named():
    (move,) = block_move(10).phases
    distant = oc.Phase(**{**vars(move), "end": {"q": {"box": 1e5}, "v": {"box": 0.0}}})
    found = oc.Problem(block(), [distant]).solve().diagnostics.badly_scaled
    assert any(g.name == "phase 'move', q of box" and g.amount > 1e4 for g in found)
    assert not block_move(10).solve().diagnostics.badly_scaled


def test_out_of_iterations_is_not_reported_as_solved():
    solution = jump(6).solve(max_iterations=2)
    assert solution.status is oc.SolveStatus.OUT_OF_ITERATIONS
    assert solution.violations
    assert solution.sentence.startswith("out of iterations")


def test_active_bounds_are_named():
    solution = block_move(20, bounds={"tau": {"box": (-5.0, 5.0)}}).solve()
    assert solution.status is oc.SolveStatus.SOLVED
    assert any("tau of box" in name for name in solution.active_bounds)
    sides = {(g.name, g.amount) for g in solution.diagnostics.active_bounds}
    assert sides == {("phase 'move', tau of box", 5.0), ("phase 'move', tau of box", -5.0)}


def test_names_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(HomodynError, match="'bix'"):
        block_move(bounds={"v": {"bix": (0, 1)}}).transcribe()
    with pytest.raises(HomodynError, match=r"'torque'.*tau"):
        oc.Phase("move", 1.0, bounds={"torque": (0, 1)})


def test_times_are_those_of_the_solution_where_durations_are_free():
    """Two moves, of which the second is guessed at 1 s and slows down to its upper bound of 3 s."""
    (first,) = block_move(4).phases
    middle = {"q": {"box": 0.5}, "v": {"box": 0.0}}
    first = oc.Phase(**{**vars(first), "end": middle})
    second = oc.Phase(
        "return",
        (0.5, 3.0),
        terms=[oc.torque()],
        intervals=4,
        end={"q": {"box": 0.0}, "v": {"box": 0.0}},
        guess={"duration": 1.0},
    )
    solution = oc.Problem(block(), [first, second]).solve()
    assert solution.phases[1].time[-1] == pytest.approx(4.0, abs=1e-3)
    move, back = (cost.location for cost in solution.diagnostics.costs)
    assert move in ("node 0.5 of 4 (0.125 s)", "node 3.5 of 4 (0.875 s)")
    assert back in ("node 0.5 of 4 (1.375 s)", "node 3.5 of 4 (3.625 s)")
    assert back in solution.explain()
    assert "times of nodes are from the start of the movement" in solution.explain()


def test_violations_are_at_solved_times():
    """One meter in at most 2 s, at 0.1 m/s."""
    problem = block_move(4, duration=(0.5, 2.0), bounds={"v": {"box": (-0.1, 0.1)}})
    solution = problem.solve(max_iterations=60)
    assert not solution.status.success
    times = [solution.phases[0].time[-1] * k / 4 for k in np.arange(0, 4.5, 0.5)]
    expected = {f"({t:.3f} s)" for t in times}
    located = [v.location for v in solution.violations if "node" in v.location]
    assert located
    assert all(location.split(" ", 6)[-1] in expected for location in located)
