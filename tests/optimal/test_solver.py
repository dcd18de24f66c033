"""Two solvers and two kinds of second derivatives: the same answers, and honest ends."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError
from homodyn.optimal.calls import Calls
from homodyn.optimal.one_thread import _blas, one_thread
from homodyn.optimal.stages import Stages, arranged
from support.optimal import block_move, jump, pendulum, swing_up


@pytest.mark.parametrize("hessian", ["exact", "gauss-newton"])
@pytest.mark.parametrize("method", ["ipopt", "fatrop"])
def test_all_ways_lead_to_the_same_answer(method, hessian):
    solution = swing_up().solve(method=method, hessian=hessian)
    assert solution.status is oc.Status.SOLVED
    assert solution.objective == pytest.approx(8.93124, abs=1e-4)


def test_gauss_newton_is_exact_where_residuals_and_rows_are_linear():
    exact = block_move().build().program
    again = exact.with_hessian("gauss-newton")
    x = np.linspace(0.0, 1.0, exact.size)
    lam = np.ones(exact.rows)
    one, two = (np.array(Calls(p).curvature(x, 1.0, lam)).sum() for p in (exact, again))
    assert one == pytest.approx(two, rel=1e-12)
    assert one > 0


def test_gauss_newton_has_no_negative_curvature():
    built = swing_up(6).build()
    calls = Calls(built.program.with_hessian("gauss-newton"), both_triangles=True)
    rng = np.random.default_rng(1)
    x = rng.normal(size=built.program.size)
    entries = calls.curvature(x, 1.0, rng.normal(size=built.program.rows))
    rows, columns = calls.hessian_sparsity.get_triplet()
    hessian = np.zeros((built.program.size, built.program.size))
    hessian[rows, columns] = entries
    assert np.linalg.eigvalsh(hessian).min() > -1e-12


def test_a_chain_of_intervals_falls_into_stages():
    built = swing_up(7).build()
    staged = arranged(built, built.program)
    assert isinstance(staged, Stages)
    assert staged.states == [2] * 8
    # Acceleration and torque; the duration, which is known, goes with the last node.
    assert staged.controls == [2] * 7 + [1]
    assert staged.own == [1] * 7 + [0]
    assert sorted(staged.unknowns) == list(range(built.program.size))
    assert sorted(staged.rows) == list(range(built.program.rows))


def two_phases(**link):
    """A pendulum that swings in two phases which continue one another."""
    whole = swing_up(6).phases[0]
    half = {**vars(whole), "duration": 1.0}
    first = oc.Phase(**{**half, "name": "one", "end": {}})
    second = oc.Phase(**{**half, "name": "two", "start": {}})
    return oc.Problem(pendulum(), [first, second], **link)


def test_phases_that_continue_fall_into_stages_and_give_what_one_would():
    solution = two_phases().solve(method="fatrop", between=None)
    assert solution.status is oc.Status.SOLVED
    assert solution.objective == pytest.approx(swing_up(12).solve(between=None).objective, rel=1e-4)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (lambda: jump(3), "duration belongs to no single instant"),
        (lambda: two_phases(links=[oc.periodic()]), "couples distant instants"),
        (
            lambda: block_move(terms=[oc.torque_change()]),
            "objective couples .* with .*tau of box",
        ),
    ],
)
def test_what_couples_distant_instants_is_named(problem, reason):
    with pytest.raises(HomodynError, match=f"falls into stages: .*{reason}"):
        problem().solve(method="fatrop")


def test_what_does_not_fall_into_stages_is_solved_all_the_same():
    assert block_move(terms=[oc.torque_change()]).solve().status is oc.Status.SOLVED


def test_what_cannot_be_is_not_called_solved_by_either():
    problem = block_move(bounds={"v": {"box": (-0.5, 0.5)}})
    assert problem.solve(method="fatrop").status is oc.Status.FAILED
    assert problem.solve().status is oc.Status.INFEASIBLE


@pytest.mark.parametrize("method", ["ipopt", "fatrop"])
def test_a_search_ends_with_its_iterations_and_with_its_time(method):
    few = swing_up().solve(method=method, iterations=2)
    assert few.status is oc.Status.OUT_OF_ITERATIONS
    late = swing_up().solve(method=method, seconds=1e-3)
    assert late.status is oc.Status.OUT_OF_TIME


def test_unknown_methods_are_refused_with_those_there_are():
    with pytest.raises(HomodynError, match=r"no method 'snopt'.*fatrop"):
        swing_up().solve(method="snopt")
    with pytest.raises(HomodynError, match=r"no hessian 'bfgs'.*gauss-newton"):
        swing_up().solve(hessian="bfgs")


def test_the_time_is_split():
    seconds = swing_up().solve().seconds
    assert set(seconds) == {"preparing", "functions", "linear algebra", "solving", "checking"}
    assert min(seconds.values()) >= 0
    parts = seconds["functions"] + seconds["linear algebra"]
    assert parts == pytest.approx(seconds["solving"])


def test_threads_of_linear_algebra_are_given_back():
    library = _blas()
    if library is None:
        pytest.skip("CasADi brings no OpenBLAS here")
    before = library.openblas_get_num_threads()
    with one_thread():
        assert library.openblas_get_num_threads() == 1
    assert library.openblas_get_num_threads() == before


def test_a_mesh_is_refined_until_intervals_arrive():
    coarse = swing_up(8).solve()
    assert coarse.status is oc.Status.COARSE
    fine = swing_up(8).solve(refinements=3)
    assert fine.status is oc.Status.SOLVED
    assert fine.between_nodes <= 0.02
    # The error foretells what is needed: one refinement, not intervals by the dozen.
    assert 12 <= fine.built.phases[0].intervals <= 20


def test_an_answer_starts_the_search_on_another_mesh():
    coarse = swing_up(20).solve()
    again = swing_up(33).solve(guess=coarse, method="ipopt")
    anew = swing_up(33).solve(method="ipopt")
    assert again.objective == pytest.approx(anew.objective, rel=1e-6)
    assert again.iterations < anew.iterations
