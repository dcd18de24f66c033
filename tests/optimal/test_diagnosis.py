"""Problems that cannot be solved end soon and name the cause."""

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


def test_a_long_jump_on_ice_is_infeasible_and_tells_why():
    problem = jump(6, friction=0.01)
    aside = oc.require("aside", lambda i: i.position("trunk")[0], lower=1.0, upper=1.5).at("end")
    push, fly = problem.phases
    fly = oc.Phase(**{**fly.__dict__, "conditions": [aside]})
    solution = oc.Problem(problem.model, [push, fly]).solve(iterations=60, seconds=30)
    assert not solution.status.good
    text = solution.explain()
    assert "friction" in text or "aside" in text
    assert "try:" in text


def test_out_of_iterations_is_not_called_solved():
    solution = jump(6).solve(iterations=2)
    assert solution.status is oc.Status.OUT_OF_ITERATIONS
    assert solution.violations
    assert solution.sentence.startswith("out of iterations")


def test_saturated_controls_are_named():
    solution = block_move(20, bounds={"tau": {"box": (-5.0, 5.0)}}).solve()
    assert solution.status is oc.Status.SOLVED
    assert any("tau of box" in name for name in solution.saturated)


def test_names_that_do_not_exist_are_refused_with_those_that_do():
    with pytest.raises(HomodynError, match="'bix'"):
        block_move(bounds={"v": {"bix": (0, 1)}}).build()
    with pytest.raises(HomodynError, match=r"'torque'.*tau"):
        oc.Phase("move", 1.0, bounds={"torque": (0, 1)})
