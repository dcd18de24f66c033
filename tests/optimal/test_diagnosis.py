"""Problems that cannot be solved end soon and name the cause."""

import time

import casadi as ca
import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError, NoSolution
from support.optimal import block, block_move, jump


def test_contradictory_bounds_are_refused_by_name():
    phase = oc.Phase("move", 1.0, bounds={"v": {"box": (2.0, 1.0)}})
    with pytest.raises(HomodynError, match=r"phase 'move', v: bounds of 'box'.*2 and 1"):
        oc.Problem(block(), [phase]).build()


def test_a_guess_that_is_no_number_is_refused_by_name():
    problem = block_move(guess={"q": np.array([[0.0], [np.nan], [1.0]])})
    with pytest.raises(HomodynError, match=r"phase 'move', guess of q is nan for 'box' at"):
        problem.build()


def test_a_term_without_a_value_is_located():
    root = oc.Term("root", lambda i: ca.sqrt(i.q[0] - 0.52), squared=False)
    problem = block_move(4, terms=[root], guess={"q": np.array([[0.0], [1.0]])})
    with pytest.raises(NoSolution, match=r"phase 'move', node 0.5 of 4 .*term 'root' is nan"):
        problem.solve()


def test_a_move_too_far_for_the_speed_allowed_is_infeasible_and_says_where():
    solution = block_move(10, bounds={"v": {"box": (-0.5, 0.5)}}).solve(seconds=20)
    assert not solution.status.good
    text = solution.explain()
    assert "phase 'move'" in text
    assert "step of q: box" in text
    assert any("v of box" in name for name in solution.saturated)


def leap(friction):
    """A jump that has to end a metre ahead."""
    problem = jump(6, friction=friction)
    aside = oc.require("aside", lambda i: i.position("trunk")[0], lower=1.0, upper=1.5).at("end")
    push, fly = problem.phases
    return oc.Problem(problem.model, [push, oc.Phase(**{**vars(fly), "conditions": [aside]})])


def test_a_long_jump_on_ice_ends_soon_and_tells_what_it_pushes_against():
    began = time.perf_counter()
    solution = leap(0.01).solve(iterations=60, seconds=30)
    assert time.perf_counter() - began < 30
    assert not solution.status.good
    assert {g.what for g in solution.explanation.holding} & {
        "phase 'fly', aside",
        "phase 'push', friction cone: toe",
    }
    text = solution.explain()
    assert "not obeyed, worst first:\n  phase '" in text
    assert "try: oc.culprits(problem)" in text


def test_the_culprit_of_a_long_jump_on_ice_is_friction():
    tried = oc.culprits(leap(0.01), iterations=150, seconds=60)
    assert [trial.without for trial in tried if trial.guilty] == ["friction cone"]
    assert str(tried[0]) == "without friction cone it can be solved"
    assert {"aside", "bounds of tau", "bounds of durations"} <= {trial.without for trial in tried}


def test_demands_that_exclude_each_other_are_both_named():
    (move,) = block_move(10).phases
    above = oc.require("above", lambda i: i.q[0], lower=1.0, upper=np.inf).at("end")
    below = oc.require("below", lambda i: i.q[0], lower=-np.inf, upper=0.5).at("end")
    phase = oc.Phase(**{**vars(move), "end": {}, "conditions": [above, below]})
    problem = oc.Problem(block(), [phase])
    solution = problem.solve(seconds=20)
    assert solution.status is oc.Status.INFEASIBLE
    assert {g.what for g in solution.explanation.holding} == {
        "phase 'move', above",
        "phase 'move', below",
    }
    assert {t.without for t in oc.culprits(problem) if t.guilty} == {"above", "below"}


def test_bounds_that_hold_the_answer_back_are_named():
    solution = block_move(10, bounds={"tau": {"box": (-4.5, 4.5)}}).solve()
    assert solution.status.good
    (pressing,) = solution.explanation.pressing
    assert pressing.what == "phase 'move', tau of box"
    assert pressing.amount == pytest.approx(1.0)
    assert solution.explanation.holding == ()
    assert "bounds that it pushes against (share of their multipliers):\n  phase 'move', tau" in (
        solution.explain()
    )


def test_bounds_that_exclude_the_end_are_the_culprits():
    problem = block_move(10, bounds={"v": {"box": (-0.5, 0.5)}})
    guilty = [t.without for t in oc.culprits(problem) if t.guilty]
    assert guilty == ["bounds of v", "bounds at the start", "bounds at the end"]


def test_a_speed_that_no_step_has_is_named_by_its_link():
    """Three metres in half a second, with feet that stand and legs of 0.8 m."""
    push, _ = jump(6).phases
    fast = oc.periodic(forward="trunk_tx", speed=6.0)
    phase = oc.Phase(**{**vars(push), "duration": 0.5, "start": {}, "name": "stance"})
    solution = oc.Problem(push_model(), [phase], links=[fast]).solve(seconds=20, iterations=100)
    assert not solution.status.good
    assert "whole movement" in solution.explain(20)
    assert "periodicity: trunk_tx travel" in solution.explain(20)
    assert "another speed" in solution.explain()


def push_model():
    return jump(6).model


def test_terms_are_told_where_they_cost_most():
    solution = block_move(20).solve()
    (term,) = solution.explanation.costly
    assert term.what == "move: torque"
    assert term.amount == pytest.approx(solution.objective)
    assert term.worst in ("node 0.5 of 20 (0.025 s)", "node 19.5 of 20 (0.975 s)")


def test_unknowns_far_from_their_units_are_told():
    (move,) = block_move(10).phases
    far = oc.Phase(**{**vars(move), "end": {"q": {"box": 1e5}, "v": {"box": 0.0}}})
    found = oc.Problem(block(), [far]).solve().explanation.badly_scaled
    assert any(g.what == "phase 'move', q of box" and g.amount > 1e4 for g in found)
    assert not block_move(10).solve().explanation.badly_scaled


def test_out_of_iterations_is_not_called_solved():
    solution = jump(6).solve(iterations=2)
    assert solution.status is oc.Status.OUT_OF_ITERATIONS
    assert solution.violations
    assert solution.sentence.startswith("out of iterations")


def test_saturated_controls_are_named():
    solution = block_move(20, bounds={"tau": {"box": (-5.0, 5.0)}}).solve()
    assert solution.status is oc.Status.SOLVED
    assert any("tau of box" in name for name in solution.saturated)
    sides = {(g.what, g.amount) for g in solution.explanation.saturated}
    assert sides == {("phase 'move', tau of box", 5.0), ("phase 'move', tau of box", -5.0)}


def test_names_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(HomodynError, match="'bix'"):
        block_move(bounds={"v": {"bix": (0, 1)}}).build()
    with pytest.raises(HomodynError, match=r"'torque'.*tau"):
        oc.Phase("move", 1.0, bounds={"torque": (0, 1)})
