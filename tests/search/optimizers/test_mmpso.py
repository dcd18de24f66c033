import numpy as np
import pytest
from scipy.stats import chisquare

from homodyn.errors import SearchError
from homodyn.search import MMPSO, Job, Objective, Pool, SearchParameter, Space
from homodyn.search.optimizers import migration_probabilities

TOY = Space(
    [SearchParameter("x", 0, 1, start=(0, 0.25)), SearchParameter("y", 0, 1, start=(0, 0.25))],
    [Pool("form", {"one": ("x",), "two": ("x", "y")})],
)


def toy(population):
    """Minimize -x in one subspace, |x - 0.5| + |y - 0.5| - 2 in the other."""
    x, y = population.values.T
    return -np.where(population.groups[:, 0] == 0, x, 2 - (np.abs(x - 0.5) + np.abs(y - 0.5)))


def test_probabilities_are_those_of_the_definition_and_sum_to_one():
    # Eq. 3.7: three groups, at the first, own best in the second, best of all in the third.
    pe, pl, pg = 0.06, 0.2, 0.3
    row = migration_probabilities(
        3, np.array([0]), np.array([1]), 2, explore=pe, local=pl, globally=pg
    )[0]
    assert row[1] == pytest.approx(1 - (1 - pe / 2) * (1 - pl))
    assert row[2] == pytest.approx(1 - (1 - pe / 2) * (1 - pg))
    assert row.sum() == pytest.approx(1)
    both = migration_probabilities(
        3, np.array([0]), np.array([1]), 1, explore=pe, local=pl, globally=pg
    )[0]
    assert both[1] == pytest.approx(1 - (1 - pe / 2) * (1 - pl) * (1 - pg))
    assert both[2] == pytest.approx(pe / 2)


def test_probabilities_are_never_negative_while_their_sum_is_at_most_one():
    random = np.random.default_rng(0)
    for _ in range(150):
        pe, pl, pg = random.dirichlet([1, 1, 1]) * random.choice([1.0, 0.7])
        groups = random.integers(1, 6)
        row = migration_probabilities(
            groups,
            random.integers(groups, size=4),
            random.integers(groups, size=4),
            int(random.integers(groups)),
            explore=pe,
            local=pl,
            globally=pg,
        )
        assert row.min() >= -1e-12
        np.testing.assert_allclose(row.sum(axis=1), 1)


def test_particles_migrate_as_often_as_the_probabilities_say():
    space = Space(
        {"x": (0, 1)},
        [Pool("p", {"a": ("x",), "b": ("x",), "c": ("x",), "d": ("x",)})],
    )
    settings = MMPSO(20_000, explore=0.3, local=0.2, globally=0.15)
    swarm = settings.start(space, seed=4)
    before = swarm.ask().groups[:, 0].copy()
    # The best of all is in group 2; the best of every particle is in its own group.
    swarm.tell(np.where(before == 2, 0.0, 1.0))
    swarm.tell(np.where(swarm.ask().groups[:, 0] == 2, 0.0, 1.0))
    now, own = swarm.ask().groups[:, 0].copy(), swarm.lifetime_groups[:, 0].copy()
    swarm.tell(np.ones(len(now)) * 2)  # nothing improves: own bests stay
    after = swarm.ask().groups[:, 0]
    checked = 0
    for current in range(4):
        for best in range(4):
            rows = (now == current) & (own == best)
            if rows.sum() < 400:
                continue
            expected = migration_probabilities(
                4,
                np.array([current]),
                np.array([best]),
                2,
                explore=0.3,
                local=0.2,
                globally=0.15,
            )[0]
            counts = np.bincount(after[rows], minlength=4)
            assert chisquare(counts, expected * rows.sum()).pvalue > 1e-3
            checked += 1
    assert checked >= 6


def test_the_toy_ends_in_the_second_subspace_with_value_two():
    for seed in range(5):
        swarm = MMPSO(40).start(TOY, seed=seed, iterations=70)
        for _ in range(70):
            swarm.tell(toy(swarm.ask()))
        assert swarm.best_groups.tolist() == [1]
        assert -swarm.best_score.value[0] == pytest.approx(2, abs=0.01)


def test_the_populations_of_the_toy_converge_to_3_4_and_36_6():
    # P(2 -> 1) = 0.01 and P(1 -> 2) = 1 - 0.99 * 0.95 * 0.95 give 3.43 and 36.57 of 40.
    # Particles migrate independently once the best is known: 4000 are a hundred toys at once.
    swarm = MMPSO(4000).start(TOY, seed=0, iterations=240)
    counts = []
    for k in range(240):
        population = swarm.ask()
        swarm.tell(toy(population))
        if k >= 100:
            counts.append((population.groups[:, 0] == 0).mean() * 40)
    assert np.mean(counts) == pytest.approx(40 * 0.01 / (0.01 + 0.106525), abs=0.25)


def test_particles_begin_evenly_distributed():
    population = MMPSO(60).start(TOY, seed=0).ask()
    assert np.bincount(population.groups[:, 0]).tolist() == [30, 30]
    many = Space(
        {"x": (0, 1)},
        [Pool(f"p{k}", {"a": (), "b": (), "c": ("x",)}) for k in range(30)],
    )
    groups = MMPSO(60).start(many, seed=0).ask().groups
    for column in groups.T:
        assert np.bincount(column).tolist() == [20, 20, 20]


def test_thousands_of_subspaces_are_searched_without_storing_them():
    # 3^40 subspaces; the right group of every pool adds one.
    pools = [Pool(f"p{k}", {"a": (), "b": ("x",), "c": ()}) for k in range(40)]
    space = Space({"x": (0, 1)}, pools)
    swarm = MMPSO(60, explore=0.02, local=0.2, globally=0.2).start(space, seed=0, iterations=150)
    first = None
    for _ in range(150):
        population = swarm.ask()
        wrong = (population.groups != 1).sum(axis=1) + np.nan_to_num(population.values[:, 0]) * 0.1
        first = wrong.min() if first is None else first
        swarm.tell(wrong)
    assert len(swarm.subspace_best) <= 150 * 60
    assert swarm.best_score.value[0] < 0.4 * first


def test_swarms_of_different_subspaces_do_not_mix():
    swarm = MMPSO(40, explore=0, local=0, globally=0).start(TOY, seed=1, iterations=60)
    for _ in range(60):
        swarm.tell(toy(swarm.ask()))
    population = swarm.ask()
    one = population.groups[:, 0] == 0
    # Without migration each subspace converges to its own best: x = 1, and (0.5, 0.5).
    assert np.median(population.values[one, 0]) == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(np.median(population.values[~one], axis=0), [0.5, 0.5], atol=0.03)
    assert np.isnan(population.values[one, 1]).all()


def test_curves_over_iterations():
    settings = MMPSO(
        40,
        explore="0.05 * sigmoid((0.4 * N - k) / (0.05 * N))",
        local="0.1 * bump((k - 0.5 * N) / (0.1 * N))",
        globally="k < 0.7 * N ? 0 : 0.1",
    )
    curves = settings.probabilities(200)
    assert curves[0, 0] == pytest.approx(0.05, abs=1e-4)
    assert curves[-1, 0] < 1e-4
    assert curves[:, 1].argmax() == 100
    assert curves[139:141, 2].tolist() == [0, 0.1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"explore": 0.5, "local": 0.3, "globally": 0.3},
            "is 1.1 at iteration 0; expected at most 1",
        ),
        ({"explore": "k / 10"}, "explore is 1.1 at iteration 11"),
        ({"explore": "2 * q"}, r"unknown variables \['q'\]; accepted"),
        ({"explore": "1 +"}, "column"),
    ],
)
def test_invalid_probabilities_are_refused(settings, message):
    with pytest.raises(SearchError, match=message):
        Job(
            [SearchParameter("x", 0, 1)],
            [Objective("f")],
            optimizer={"kind": "mmpso", **settings},
            iterations=50,
        )
