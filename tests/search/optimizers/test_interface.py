import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import (
    CMAES,
    GA,
    MMPSO,
    PSO,
    SPSA,
    Grid,
    Job,
    LinearConstraint,
    Pool,
    SearchParameter,
    Space,
)
from homodyn.search.optimizers.benchmark_functions import BENCHMARK_FUNCTIONS, six_hump, sphere
from homodyn.search.optimizers.interface import initial_solutions

CAMEL = Space({"x": (-2, 2), "y": (-1, 1)})
ALL = [PSO(12), PSO(12, neighbors="ring"), MMPSO(12), GA(12), SPSA(12), Grid(5), CMAES(12)]


def best(settings, space, function, evaluations, seed=0):
    population = settings.population
    search = settings.start(space, seed=seed, iterations=evaluations // population)
    found = np.inf
    for _ in range(evaluations // population):
        if search.finished:
            break
        values = function(search.ask().values)
        found = min(found, float(values.min()))
        search.tell(values)
    return found


@pytest.mark.parametrize("settings", ALL, ids=lambda s: s.kind)
def test_equal_scores_give_equal_candidates(settings):
    def sequence():
        search = settings.start(CAMEL, seed=5, iterations=10)
        candidates = []
        while not search.finished and len(candidates) < 10:
            candidates.append(search.ask().values.tobytes())
            search.tell(six_hump(search.ask().values))
        return candidates

    np.random.seed(0)  # the global generator must have no influence
    first = sequence()
    np.random.seed(1)
    assert sequence() == first


@pytest.mark.parametrize("settings", ALL, ids=lambda s: s.kind)
def test_candidates_stay_within_bounds_when_candidates_fail(settings):
    search = settings.start(CAMEL, seed=0, iterations=20)
    for k in range(20):
        if search.finished:
            break
        values = search.ask().values
        assert (values >= CAMEL.lower).all()
        assert (values <= CAMEL.upper).all()
        scores = six_hump(values)
        scores[:: 2 if k % 3 else 1] = np.nan
        search.tell(scores)


@pytest.mark.parametrize("settings", [PSO(12), GA(12), SPSA(12), CMAES(12)], ids=lambda s: s.kind)
def test_all_optimizers_meet_constraints(settings):
    space = Space(
        {"x": (-2, 2), "y": (-1, 1)}, constraints=[LinearConstraint({"x": 1, "y": 2}, -1.0)]
    )
    search = settings.start(space, seed=0, iterations=30)
    for _ in range(30):
        values = search.ask().values
        assert (values @ [1, 2] <= -1 + 1e-7).all()
        search.tell(sphere(values))
    # The point of the line x + 2 y = -1 that is nearest to the origin.
    if settings.kind != "spsa":
        assert sphere(values).min() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize(
    ("settings", "name", "size", "evaluations", "limit"),
    [
        (PSO(20), "sphere", 2, 2000, 1e-4),
        (PSO(40), "sphere", 10, 20_000, 1e-10),
        (PSO(50), "sphere", 50, 100_000, 1e-2),
        (PSO(40), "rosenbrock", 2, 8000, 1e-3),
        (PSO(40, neighbors="ring"), "rosenbrock", 10, 40_000, 10),
        (PSO(40, neighbors="ring"), "rastrigin", 10, 40_000, 10),
        (PSO(40, neighbors="ring"), "ackley", 10, 20_000, 1e-4),
        (MMPSO(40), "sphere", 10, 20_000, 1e-10),
        (GA(40), "sphere", 10, 20_000, 1),
        (GA(40), "rastrigin", 2, 8000, 0.1),
        (SPSA(11), "sphere", 10, 5000, 1),
        (CMAES(10), "sphere", 10, 3000, 1e-8),
        (CMAES(20), "rosenbrock", 5, 6000, 1e-3),
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_standard_functions_are_minimized(settings, name, size, evaluations, limit):
    benchmark = BENCHMARK_FUNCTIONS[name]
    runs = 1 if settings.kind == "cma" else 3
    space = benchmark.space(size)
    found = [best(settings, space, benchmark.function, evaluations, k) for k in range(runs)]
    assert np.median(found) < limit


def test_earlier_solutions_come_first_and_then_mutated_copies():
    space = Space({f"x{k}": (0, 1) for k in range(20)})
    earlier = [{f"x{k}": 0.25 for k in range(20)}, {f"x{k}": 0.75 for k in range(20)}]
    population = PSO(200).start(space, seed=0, initial=initial_solutions(space, earlier, 0.1)).ask()
    np.testing.assert_allclose(population.values[:2], [[0.25] * 20, [0.75] * 20])
    copied = np.where(np.arange(200) % 2, 0.75, 0.25)[:, None]
    redrawn = np.abs(population.values - copied)[2:] > 1e-9
    assert redrawn.mean() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("solution", "message"),
    [({"z": 1.0}, r"has \['z'\], which are not in this space"), ({"x": 9.0}, "outside -2 to 2")],
)
def test_earlier_solutions_that_do_not_fit_are_refused(solution, message):
    with pytest.raises(SearchError, match=message):
        initial_solutions(CAMEL, [solution], 0.1)


@pytest.mark.parametrize(
    ("optimizer", "message"),
    [
        (PSO(10), "pso searches one structure"),
        (SPSA(10), "spsa searches one structure"),
        (CMAES(10), "cma searches one structure"),
        (Grid({"x": 3}), "steps has no 'y'"),
        (Grid({"x": 3, "y": 0, "w": 1}), "steps has an unknown parameter 'w'"),
    ],
)
def test_optimizers_refuse_spaces_that_they_cannot_search(optimizer, message):
    with pytest.raises(SearchError, match=message):
        Job(
            [SearchParameter("x", 0, 1), SearchParameter("y", 0, 1)],
            [{"name": "f"}],
            pools=[Pool("p", {"a": ("x",), "b": ()})],
            optimizer=optimizer,
        )


def test_too_few_scores_are_refused():
    with pytest.raises(SearchError, match="3 scores for 12 candidates"):
        PSO(12).start(CAMEL).tell([1.0, 2.0, 3.0])
