import subprocess
import sys
import time

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import SearchError
from homodyn.search import (
    GA,
    MMPSO,
    PSO,
    Job,
    Objective,
    Pool,
    SearchParameter,
    Study,
    minimize,
    run,
)
from homodyn.search.evaluation import EvaluationStatus
from homodyn.search.jobs import EvaluationSettings, ExecutionSettings
from homodyn.search.optimizers.benchmark_functions import six_hump
from homodyn.search.stopwatch import Stopwatch
from support.search_objectives import camel, child_environment, noisy, troubled
from support.search_objectives import camel_job as job

BOUNDS = {"x": (-2, 2), "y": (-1, 1)}


def test_a_function_is_minimized_in_one_line():
    result = hd.search.minimize(six_hump, BOUNDS, batch=True, iterations=60)
    assert result.status == "finished"
    assert result.best.objectives["value"] == pytest.approx(-1.0316, abs=1e-3)
    assert result.evaluations == 2400
    assert "finished after 60 generations and 2400 candidates" in str(result)


def test_batch_and_single_evaluation_find_the_same(tmp_path):
    one = minimize(camel, BOUNDS, where="serial", optimizer=PSO(10), iterations=20)
    many = minimize(six_hump, BOUNDS, batch=True, optimizer=PSO(10), iterations=20)
    assert one.best.parameters == pytest.approx(many.best.parameters)


def test_everything_is_recorded(tmp_path):
    result = run(job(), troubled, database=tmp_path / "a.db")
    pieces = list(result.study.all_candidates())
    assert sum(len(piece) for piece in pieces) == 80
    values = np.concatenate([piece.values for piece in pieces])
    status = np.concatenate([piece.status for piece in pieces])
    results = np.concatenate([piece.results for piece in pieces])[:, 0]
    x = values[:, 0]
    assert (status[x > 1.5] == EvaluationStatus.FAILED).all()
    assert (status[(x > 1) & (x <= 1.5)] == EvaluationStatus.NOT_FINITE).all()
    assert (status[(x > 0.5) & (x <= 1)] == EvaluationStatus.INVALID).all()
    good = status == EvaluationStatus.OK
    np.testing.assert_array_equal(results[good], six_hump(values[good]))
    assert np.isnan(results[~good]).all()
    assert result.failed == (~good).sum() > 0
    assert "the knee broke" in "".join(m or "" for p in pieces for m in p.message)
    assert result.best.objectives["f"] == results[good].min()


def test_the_state_of_the_generator_is_recorded(tmp_path):
    study = run(job(), camel, database=tmp_path / "a.db").study
    states = [row.random for row in study.generations()]
    assert len(set(states)) == 8
    assert "PCG64" in states[0]


def test_a_study_continues_where_it_was_to_the_bit(tmp_path):
    whole = run(job(), camel, database=tmp_path / "whole.db")
    for iterations in (2, 5, 8):
        part = run(job(iterations=iterations), camel, database=tmp_path / "parts.db")
        assert part.generations == iterations
    assert part.study.fingerprint() == whole.study.fingerprint()
    assert part.best == whole.best
    other = run(job(seed=1, name="other"), camel, database=tmp_path / "other.db")
    assert other.study.fingerprint() != whole.study.fingerprint()


@pytest.mark.parametrize("kind", ["pso", "ga", "mmpso", "spsa", "cma", "grid"])
def test_every_optimizer_resumes_in_the_middle_of_a_generation(kind, tmp_path):
    described = job(optimizer={"kind": kind, "population": 6}, iterations=6)

    def stops_at(count):
        calls = iter(range(10**6))

        def grade(parameters):
            if next(calls) >= count:
                raise KeyboardInterrupt
            return camel(parameters)

        return grade

    whole = run(described, camel, database=tmp_path / "whole.db")
    for count in (4, 9, 5):
        stopped = run(described, stops_at(count), database=tmp_path / "parts.db")
        assert stopped.status == "stopped"
    finished = run(described, camel, database=tmp_path / "parts.db")
    assert finished.status == "finished"
    assert finished.study.fingerprint() == whole.study.fingerprint()
    assert "interrupted by the user" in finished.study.notes()


def test_half_a_generation_is_not_evaluated_twice(tmp_path, monkeypatch):
    calls = []

    def counting(parameters):
        calls.append(1)
        time.sleep(0.12)  # Such candidates are evaluated in small tasks.
        return camel(parameters)

    def has_five_calls(stopwatch):
        return stopwatch.remaining < float("inf") and len(calls) >= 5

    # The time limit is reached by the fifth call, however busy the machine is.
    with monkeypatch.context() as patch:
        patch.setattr(Stopwatch, "expired", property(has_five_calls))
        stopped = run(job(), counting, database=tmp_path / "a.db", stop_after=3600.0)
    assert stopped.status == "stopped"
    assert stopped.generations == 0
    recorded = len(stopped.study.candidates(0))
    assert 0 < recorded <= len(calls) < 10
    calls.clear()
    run(job(iterations=1), counting, database=tmp_path / "a.db")
    assert len(calls) == 10 - recorded


def test_random_numbers_of_the_objective_belong_to_the_study(tmp_path):
    whole = run(job(), noisy, database=tmp_path / "whole.db")
    run(job(iterations=3), noisy, database=tmp_path / "parts.db")
    parts = run(job(), noisy, database=tmp_path / "parts.db")
    assert parts.study.fingerprint() == whole.study.fingerprint()


def test_another_job_on_the_same_study_is_refused_with_the_differences(tmp_path):
    run(job(), camel, database=tmp_path / "a.db")
    with pytest.raises(SearchError, match=r"optimizer.population was 10 and is 12; seed was 0 and"):
        run(job(optimizer=PSO(12), seed=4), camel, database=tmp_path / "a.db")


def test_a_changed_record_is_detected(tmp_path):
    import sqlite3

    run(job(iterations=3), camel, database=tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("update candidate set value = -9 where generation = 0 and member = 7")
    database.close()
    with pytest.raises(SearchError, match="candidates of generation 1 differ from the recorded"):
        run(job(), camel, database=tmp_path / "a.db")


def test_a_search_ends_at_its_target():
    result = minimize(six_hump, BOUNDS, batch=True, iterations=500, target=-1.0)
    assert result.status == "target"
    assert result.generations < 100
    up = minimize(
        lambda v: -six_hump(v),
        BOUNDS,
        batch=True,
        objectives=Objective("height", maximize=True),
        iterations=500,
        target=1.0,
    )
    assert up.status == "target"
    assert up.best.objectives["height"] >= 1.0


def test_a_run_stops_at_its_time_limit_without_failed_candidates(tmp_path):
    def slow(parameters):
        time.sleep(0.05)
        return camel(parameters)

    result = run(job(iterations=1000), slow, database=tmp_path / "a.db", stop_after=0.6)
    assert result.status == "stopped"
    assert result.generations < 1000
    assert set(result.study.statuses()) <= {EvaluationStatus.OK}


def test_a_jumping_system_clock_has_no_influence(monkeypatch, tmp_path):
    times = iter(range(10**9, 0, -(10**5)))
    monkeypatch.setattr("time.time", lambda: float(next(times)))
    result = run(job(), camel, database=tmp_path / "a.db", stop_after=600)
    assert result.status == "finished"
    assert result.seconds >= 0
    assert all(row.seconds >= 0 for row in result.study.generations())


def test_progress_is_reported_after_every_generation():
    reports = []
    minimize(six_hump, BOUNDS, batch=True, iterations=12, progress=reports.append)
    assert [p.generation for p in reports] == list(range(1, 13))
    bests = [p.best for p in reports]
    assert bests == sorted(bests, reverse=True)
    assert reports[-1].seconds_left == 0
    assert reports[0].seconds_left > 0
    assert reports[-1].evaluations == 480
    assert reports[-1].mean >= reports[-1].best


def test_progress_is_reported_within_a_long_generation_too(monkeypatch, tmp_path):
    monkeypatch.setattr("homodyn.search.generation_results.PROGRESS_INTERVAL_S", 0.0)
    described = job(iterations=2, run=ExecutionSettings(where="serial", group=1))
    reports = []
    run(described, camel, progress=reports.append)
    size = described.optimizer.population
    assert [(p.generation, p.evaluated) for p in reports] == [
        *((0, k) for k in range(1, size)),
        (1, 0),
        *((1, k) for k in range(1, size)),
        (2, 0),
    ]
    assert [p.evaluations for p in reports] == list(range(1, 2 * size + 1))
    assert all(p.seconds_left > 0 for p in reports[:-1])


def test_progress_counts_the_visits_of_subspaces_also_of_earlier_runs(tmp_path):
    described = Job(
        [SearchParameter("x", -2, 2)],
        [Objective("f")],
        pools=[Pool("form", {"a": ("x",), "b": ("x",), "c": ()})],
        optimizer=MMPSO(30, explore=0.2),
        iterations=6,
        run=ExecutionSettings(where="serial"),
    )

    def grade(parameters, structure):
        return parameters.get("x", 0.0) + (structure["form"] == "a")

    short = described.model_copy(update={"iterations": 3})
    run(short, grade, database=tmp_path / "a.db")
    reports = []
    study = run(described, grade, database=tmp_path / "a.db", progress=reports.append).study
    assert [sum(count for _, count in p.visits) for p in reports] == [120, 150, 180]
    counts = dict(reports[-1].visits)
    for k, name in enumerate(("form a", "form b", "form c")):
        assert counts[name] == sum(n for _, groups, n in study.visits() if groups[0] == k)


def test_a_search_in_which_every_candidate_failed_raises_the_first_cause(tmp_path):
    def broken(parameters):
        raise RuntimeError("no ground")

    place = tmp_path / "study.db"
    with pytest.raises(
        SearchError, match="all 20 candidates failed; the first cause: RuntimeError: no ground"
    ):
        run(job(iterations=2), broken, database=place)
    # All generations ran, and the study has recorded them.
    study = Study.open(place)
    assert study.statuses() == {EvaluationStatus.FAILED: 20}
    assert "no ground" in study.notes()[0]


SCRIPT = """
import homodyn as hd

def bowl(parameters):
    return parameters["x"] ** 2 + parameters["y"] ** 2

class Slow:
    def __call__(self, parameters):
        import time
        time.sleep(0.03)
        return bowl(parameters)

space = {"x": (-1, 1), "y": (-1, 1)}
print(hd.search.minimize(bowl, space, iterations=20).best.value < 1e-2)
print(hd.search.minimize(lambda p: bowl(p), space, iterations=3, where="pool").failed)
print(hd.search.minimize(Slow(), space, iterations=1).failed)
hd.search.minimize(lambda p: 1 / 0, space, iterations=2)
"""


def test_a_plain_script_needs_no_guard_and_fails_with_the_cause(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=180,
        env=child_environment(),
    )
    assert done.stdout.split() == ["True", "0", "0"]
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert (
        "SearchError: all 80 candidates failed; the first cause: ZeroDivisionError" in done.stderr
    )


def test_a_study_begins_from_the_best_of_another(tmp_path):
    first = run(job(iterations=20), camel, database=tmp_path / "first.db")
    seeded = job(
        name="second", seed=9, seeding={"studies": [str(tmp_path / "first.db")], "best": 3}
    )
    second = run(seeded, camel, database=tmp_path / "second.db")
    population = second.study.candidates(0)
    assert population.results[0, 0] == pytest.approx(first.best.objectives["f"])
    # The solutions are copied into the job, so the other study is no longer needed.
    (tmp_path / "first.db").unlink()
    again = run(
        seeded.model_copy(update={"iterations": 10}), camel, database=tmp_path / "second.db"
    )
    assert again.generations == 10


def test_repeats_take_the_worst(tmp_path):
    once = run(job(), noisy).study
    thrice = run(job(evaluate=EvaluationSettings(repeats=3)), noisy).study
    a, b = once.candidates(0), thrice.candidates(0)
    np.testing.assert_array_equal(a.values, b.values)
    assert (b.results >= a.results).all()
    assert (b.results > a.results).any()


def test_a_job_without_a_function_is_refused():
    with pytest.raises(SearchError, match="no function that evaluates candidates"):
        run(job())
    with pytest.raises(SearchError, match="it can be 'serial', 'pool'"):
        run(job(run=ExecutionSettings(where="moon")), camel)


def test_groups_keep_their_names_in_any_order(tmp_path):
    def described(**groups):
        pool = {"name": "p", "groups": groups}
        return job(pools=[pool], optimizer=GA(20))

    def grade(parameters, structure):
        return abs(parameters["x"]) + {"z": 0, "m": 5, "a": 9}[structure["p"]]

    whole = described(z=["x"], m=["x", "y"], a=["x"])
    result = run(whole, grade, database=tmp_path / "a.db")
    assert result.best.structure == {"p": "z"}
    assert Study.open(tmp_path / "a.db").job["pool"][0]["groups"] == {
        "z": ["x"],
        "m": ["x", "y"],
        "a": ["x"],
    }
    with pytest.raises(SearchError, match="the groups of a pool have another order"):
        run(described(a=["x"], m=["x", "y"], z=["x"]), grade, database=tmp_path / "a.db")


def test_a_function_that_cannot_be_loaded_is_an_error_of_the_job(tmp_path):
    (tmp_path / "grade.py").write_text("import no_such_module")
    described = job(evaluate=EvaluationSettings(python="grade.py:grade"))
    with pytest.raises(SearchError, match="cannot be loaded: ModuleNotFoundError"):
        run(described, folder=tmp_path)


def test_ga_over_structures_records_groups(tmp_path):
    described = job(
        pools=[{"name": "p", "groups": {"one": ["x"], "two": ["x", "y"]}}], optimizer=GA(20)
    )

    def grade(parameters, structure):
        assert ("y" in parameters) == (structure["p"] == "two")
        return abs(parameters["x"] - 1) + (structure["p"] == "one")

    result = run(described, grade, database=tmp_path / "a.db")
    assert result.failed == 0
    assert result.best.structure == {"p": "two"}
    assert sum(count for _, _, count in result.study.visits()) == 160
