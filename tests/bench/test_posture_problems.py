"""Random postures: every problem of a small sample has the outcome by construction."""

import homodyn as hd
from homodyn.bench.posture_problems import solvable_problems, unsolvable_problems
from homodyn.control import CollisionLimit


def test_solvable_problems_are_solved() -> None:
    model = hd.catalog.manikin()
    for problem in solvable_problems(model, 6, seed=7):
        result = problem.solve(model)
        assert result.solved, result.sentence


def test_postures_among_spheres_touch_none() -> None:
    model = hd.catalog.manikin()
    for problem in solvable_problems(model, 3, seed=8, among_spheres=True):
        result = problem.solve(model)
        assert result.solved, result.sentence
        (limit,) = problem.limits
        assert isinstance(limit, CollisionLimit)
        assert limit.violation(model, result.q) <= 1e-4


def test_impossible_postures_are_refused_with_the_reason() -> None:
    model = hd.catalog.manikin()
    for problem in unsolvable_problems(model, 4, seed=9):
        result = problem.solve(model)
        assert problem.is_named(result), result.sentence
        assert problem.reason in result.sentence
