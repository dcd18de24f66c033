"""Solvers and Hessians agree, and report how they ended."""

import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError
from support.optimal import block_move, jump, pendulum, swing_up


@pytest.mark.parametrize("hessian", ["exact", "gauss-newton"])
@pytest.mark.parametrize("solver", ["ipopt", "fatrop"])
def test_solvers_and_hessians_agree(solver, hessian):
    solution = swing_up().solve(solver=solver, hessian=hessian)
    assert solution.status is oc.SolveStatus.SOLVED
    assert solution.objective == pytest.approx(8.93124, abs=1e-4)


def two_phases(**link):
    """A pendulum that swings in two phases which continue one another."""
    whole = swing_up(6).phases[0]
    half = {**vars(whole), "duration": 1.0}
    first = oc.Phase(**{**half, "name": "one", "end": {}})
    second = oc.Phase(**{**half, "name": "two", "start": {}})
    return oc.Problem(pendulum(), [first, second], **link)


def test_continuous_phases_separate_into_stages_and_agree_with_one_phase():
    solution = two_phases().solve(solver="fatrop", defect_tolerance=None)
    assert solution.status is oc.SolveStatus.SOLVED
    assert solution.objective == pytest.approx(
        swing_up(12).solve(defect_tolerance=None).objective, rel=1e-4
    )


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (lambda: jump(3), "duration belongs to no single time point"),
        (lambda: two_phases(boundary_constraints=[oc.periodic()]), "couples distant time points"),
        (
            lambda: block_move(terms=[oc.torque_change()]),
            "objective couples .* with .*tau of box",
        ),
    ],
)
def test_terms_that_couple_distant_time_points_are_named(problem, reason):
    with pytest.raises(HomodynError, match=f"separates into stages: .*{reason}"):
        problem().solve(solver="fatrop")


def test_problems_without_stages_are_solved_by_ipopt():
    assert block_move(terms=[oc.torque_change()]).solve().status is oc.SolveStatus.SOLVED


def test_an_infeasible_problem_is_not_reported_as_solved_by_either_solver():
    problem = block_move(bounds={"v": {"box": (-0.5, 0.5)}})
    assert problem.solve(solver="fatrop").status is oc.SolveStatus.FAILED
    assert problem.solve().status is oc.SolveStatus.INFEASIBLE


@pytest.mark.parametrize("solver", ["ipopt", "fatrop"])
def test_a_solve_ends_at_its_iteration_and_time_limits(solver):
    few = swing_up().solve(solver=solver, max_iterations=2)
    assert few.status is oc.SolveStatus.OUT_OF_ITERATIONS
    late = swing_up().solve(solver=solver, time_limit=1e-3)
    assert late.status is oc.SolveStatus.OUT_OF_TIME


def test_unknown_options_are_refused_with_those_there_are():
    with pytest.raises(HomodynError, match=r"no solver 'snopt'.*fatrop"):
        swing_up().solve(solver="snopt")
    with pytest.raises(HomodynError, match=r"no hessian 'bfgs'.*gauss-newton"):
        swing_up().solve(hessian="bfgs")


def test_timings_are_split():
    seconds = swing_up().solve().timings
    assert set(seconds) == {"preparing", "functions", "linear algebra", "solving", "checking"}
    assert min(seconds.values()) >= 0
    parts = seconds["functions"] + seconds["linear algebra"]
    assert parts == pytest.approx(seconds["solving"])


def test_a_mesh_is_refined_until_defects_are_small():
    coarse = swing_up(8).solve()
    assert coarse.status is oc.SolveStatus.COARSE
    fine = swing_up(8).solve(refinements=3)
    assert fine.status is oc.SolveStatus.SOLVED
    assert fine.max_defect <= 0.02
    # The error foretells what is needed: one refinement, not intervals by the dozen.
    assert 12 <= fine.transcribed.phases[0].intervals <= 20
    assert "mesh refined" in fine.sentence
    again = swing_up(fine.transcribed.phases[0].intervals).solve(refinements=3)
    assert "mesh not refined: the first solution is within the tolerances" in again.sentence
