import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import Goal, Objective, Score

STAGED = Goal([Objective("fx", until="< 0.5"), Objective("fy", until="< -0.9"), Objective("f")])


def brute_force_best(rows):
    """The definition of section 3.3.2 written out, candidate by candidate."""

    def key(row):
        passed = 0
        for value, limit in zip(row[:2], (0.5, -0.9), strict=True):
            if value < limit:
                passed += 1
            else:
                break
        return (-passed, row[passed])

    return min(range(len(rows)), key=lambda k: key(rows[k]))


def test_stages_come_before_values():
    results = np.array([[0.6, -5, -9], [0.4, 0, -9], [0.4, -1, 5], [0.4, -1, 4], [0.6, 0, 0]])
    score = STAGED.score(results)
    assert score.stage.tolist() == [0, 1, 2, 2, 0]
    assert score.value.tolist() == [0.6, 0, 5, 4, 0.6]
    assert score.order().tolist() == [3, 2, 1, 0, 4]
    assert score.ranks().tolist() == [3, 2, 1, 0, 3]


def test_a_later_condition_does_not_count_before_an_earlier_one():
    assert STAGED.score(np.array([[1.0, -1.0, 0.0]])).stage[0] == 0


def test_the_order_is_that_of_the_definition():
    random = np.random.default_rng(0)
    for _ in range(200):
        rows = random.normal(0, 1, (7, 3))
        assert STAGED.score(rows).best() == brute_force_best(rows)


def test_maximized_objectives_are_negated_and_described_as_measured():
    goal = Goal([Objective("speed", maximize=True, until="> 1"), Objective("cost")])
    score = goal.score(np.array([[0.5, 9.0], [0.9, 1.0], [2.0, 7.0]]))
    assert score.order().tolist() == [2, 1, 0]
    assert goal.describe(int(score.stage[1]), float(score.value[1])) == ("speed", 0.9)


def test_sums_products_and_expressions():
    two = [Objective("a", weight=2), Objective("b", maximize=True, weight=3)]
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert Goal(two, combine="sum").score(rows).value.tolist() == [2 - 6, 6 - 12]
    np.testing.assert_allclose(
        Goal(two, combine="product").score(rows).value, [1 / 8, 9 / 64], rtol=1e-15
    )
    named = Goal(["radius", "from_origin"], expression="radius - from_origin", maximize=True)
    assert named.score(rows).value.tolist() == [1, 1]


def test_failures_rank_last_or_get_the_penalty():
    rows = np.array([[1.0], [np.nan], [1e300]])
    failed = np.array([False, True, False])
    assert Goal("f").score(rows, failed).order().tolist() == [0, 2, 1]
    score = Goal(["f"], penalty=5.0).score(rows, failed)
    assert score.value.tolist() == [1, 5, 1e300]
    assert score.stage.tolist() == [0, 0, 0]


def test_a_product_that_is_not_a_number_is_a_failure():
    goal = Goal([Objective("a", weight=0.5)], combine="product")
    assert goal.score(np.array([[-1.0], [4.0]])).stage.tolist() == [-1, 0]


def test_plain_numbers_with_nan_make_a_score():
    assert Score.of([3.0, np.nan, 1.0]).order().tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Goal(["a", "b"]), "objective 'a' needs until"),
        (lambda: Goal(["a", "a"], combine="sum"), "two objectives are named 'a'"),
        (lambda: Goal(["a"], expression="a - b"), r"unknown objectives \['b'\]"),
        (lambda: Goal(["a"], expression="a -"), "column"),
        (lambda: Objective("a", until="about 3"), "until must be like"),
        (lambda: Goal(["a"]).score(np.zeros((3, 2))), "one column for each"),
    ],
)
def test_invalid_goals_are_refused(make, message):
    with pytest.raises(SearchError, match=message):
        make()
