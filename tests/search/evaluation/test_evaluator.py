import sys

import casadi
import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import SearchError
from homodyn.search import Goal, Objective, Pool, Space
from homodyn.search.evaluation import EvaluationStatus
from homodyn.search.evaluation.evaluator import Evaluator, import_target
from homodyn.search.optimizers.benchmark_functions import six_hump
from support.search_objectives import SPACE, tasks

ONE = Goal("f")
TWO = Goal([Objective("f", until="< 0"), Objective("g")])


def run(call, goal=ONE, **named):
    return Evaluator(named.pop("space", SPACE), goal, call=call, **named)(tasks())


def test_one_candidate_and_batch_agree():
    one = run(lambda p: float(six_hump(np.array([p["x"], p["y"]]))))
    many = run(six_hump, batch=True)
    np.testing.assert_allclose(one.results, many.results, rtol=1e-14)
    assert (one.status == EvaluationStatus.OK).all()
    np.testing.assert_array_equal(many.results[:, 0], six_hump(tasks().values))


def test_a_kernel_evaluates_a_batch():
    def bowl(p):
        return p[0] ** 2 + 2 * p[1]

    expected = tasks().values[:, 0] ** 2 + 2 * tasks().values[:, 1]
    whole = run(hd.symbolic.kernel(bowl, p=2))
    np.testing.assert_allclose(whole.results[:, 0], expected, rtol=1e-14)

    def by_name(y, x):
        return {"f": x**2 + 2 * y, "g": casadi.sin(x)}

    named = run(hd.symbolic.kernel(by_name, y=(), x=()), goal=TWO)
    assert (named.status == EvaluationStatus.OK).all(), named.messages
    np.testing.assert_allclose(named.results[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(named.results[:, 1], np.sin(tasks().values[:, 0]), rtol=1e-13)


def test_objectives_come_as_dictionary_or_sequence_and_other_entries_are_data():
    named = run(lambda p: {"g": 2.0, "f": 1.0, "steps": 9}, goal=TWO)
    assert named.results[0].tolist() == [1, 2]
    assert named.data[0] == '{"steps": 9}'
    assert run(lambda p: (1.0, 2.0), goal=TWO).results[0].tolist() == [1, 2]
    batch = run(lambda v: {"f": v[:, 0], "g": v[:, 1]}, goal=TWO, batch=True)
    np.testing.assert_array_equal(batch.results, tasks().values)


def test_functions_receive_structure_seed_and_settings_if_they_have_such_arguments():
    space = Space(
        {"x": (0, 1), "y": (0, 1)},
        [Pool("p", {"one": ("x",), "two": ("x", "y")})],
    )
    calls = []

    def record(parameters, structure, seed, settings):
        calls.append((parameters, structure, seed, settings))
        return 0.0

    two = tasks(2, space)
    two.values[:, 1] = np.nan  # as candidates of the first group are
    Evaluator(space, ONE, call=record, settings={"world": "flat"})(two)
    parameters, structure, seed, settings = calls[0]
    assert set(parameters) == {"x"}
    assert structure == {"p": "one"}
    assert settings == {"world": "flat"}
    assert seed != calls[1][2]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (lambda p: 1 / 0, EvaluationStatus.FAILED, "ZeroDivisionError"),
        (lambda p: float("nan"), EvaluationStatus.NOT_FINITE, "nan"),
        (lambda p: float("inf"), EvaluationStatus.NOT_FINITE, "inf"),
        (lambda p: [1, 2, 3], EvaluationStatus.INVALID, "3 numbers for 1 objectives"),
        (lambda p: {"h": 1}, EvaluationStatus.INVALID, r"lacks ['f']"),
        (lambda p: "fast", EvaluationStatus.FAILED, "ValueError"),
        (lambda p: None, EvaluationStatus.INVALID, "the result is None"),
        (lambda p: sys.exit(3), EvaluationStatus.FAILED, "the evaluation called exit: 3"),
        (
            lambda p: (_ for _ in ()).throw(Mute()),
            EvaluationStatus.FAILED,
            "Mute: its message cannot be",
        ),
        (lambda p: (_ for _ in ()).throw(MemoryError()), EvaluationStatus.MEMORY, "out of memory"),
        ("nowhere.py:f", EvaluationStatus.FAILED, "there is no file"),
        ("os:nothing", EvaluationStatus.FAILED, "has no 'nothing'"),
    ],
)
def test_every_failure_becomes_a_status(call, status, message):
    outcome = run(call)
    assert (outcome.status == status).all()
    assert message in outcome.messages[0]
    assert np.isnan(outcome.results).all()


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (lambda v: v[:3, 0], EvaluationStatus.INVALID),
        (lambda v: v, EvaluationStatus.INVALID),
        (lambda v: np.full(len(v), np.nan), EvaluationStatus.NOT_FINITE),
    ],
)
def test_wrong_results_of_batches_become_a_status(call, status):
    assert (run(call, batch=True).status == status).all()


def test_a_batch_that_raises_is_evaluated_one_by_one():
    bad = tasks().values[2, 0]

    def picky(values):
        if bad in values[:, 0]:
            raise RuntimeError("not this one")
        return values[:, 1]

    outcome = run(picky, batch=True)
    assert outcome.status.tolist() == [0, 0, EvaluationStatus.FAILED, 0, 0, 0]
    assert "not this one" in outcome.messages[2]
    others = np.arange(6) != 2
    np.testing.assert_array_equal(outcome.results[others, 0], tasks().values[others, 1])


def test_a_time_limit_stops_python_that_loops():
    def loop(p):
        while p["x"] > 0:
            pass
        return 1.0

    outcome = run(loop, time_limit=0.05)
    slow = tasks().values[:, 0] > 0
    assert slow.any()
    assert ((outcome.status == EvaluationStatus.SLOW) == slow).all()
    assert (outcome.results[~slow] == 1).all()


def test_a_function_cannot_swallow_the_time_limit():
    def stubborn(p):
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    outcome = Evaluator(SPACE, ONE, call=stubborn, time_limit=0.05)(tasks(1))
    assert outcome.status[0] == EvaluationStatus.SLOW


def test_repeats_keep_the_worst_or_the_mean():
    def noisy(p, seed):
        return np.random.default_rng(seed).normal()

    named = tasks(5, repeats=4)
    draws = np.array([[noisy({}, s) for s in row] for row in named.seeds])
    worst = Evaluator(SPACE, ONE, call=noisy, repeats=4, keep="worst")(named)
    np.testing.assert_array_equal(worst.results[:, 0], draws.max(axis=1))
    mean = Evaluator(SPACE, ONE, call=noisy, repeats=4, keep="mean")(named)
    np.testing.assert_allclose(mean.results[:, 0], draws.mean(axis=1))


def test_the_worst_of_stages_is_the_lower_stage():
    answers = iter([(-1.0, 5.0), (0.5, 1.0)])
    worst = Evaluator(SPACE, TWO, call=lambda p: next(answers), repeats=2)(tasks(1, repeats=2))
    assert worst.results[0].tolist() == [0.5, 1.0]


def test_a_candidate_that_fails_in_one_repeat_has_failed():
    for keep in ("worst", "mean"):
        answers = iter([1.0, float("nan"), 1.0])
        evaluator = Evaluator(SPACE, ONE, call=lambda p, a=answers: next(a), repeats=3, keep=keep)
        outcome = evaluator(tasks(1, repeats=3))
        assert outcome.status[0] == EvaluationStatus.NOT_FINITE


def test_functions_are_found_by_file_and_module(tmp_path):
    (tmp_path / "beside.py").write_text("FACTOR = 3.0\n")
    (tmp_path / "mine.py").write_text(
        "from beside import FACTOR\ndef f(p): return FACTOR * p['x']\n"
    )
    assert import_target("mine.py:f", tmp_path)({"x": 2}) == 6
    sphere = import_target("homodyn.search.optimizers.benchmark_functions:sphere", None)
    assert sphere(np.array([3.0])) == 9
    for text in ("mine.py", ":f", "mine.py:"):
        with pytest.raises(SearchError, match="must be like"):
            import_target(text, tmp_path)
