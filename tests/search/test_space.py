import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import LinearConstraint, Pool, SearchParameter, Space

NO_GROUPS = np.zeros((500, 0), dtype=np.int32)


def figure_3_3() -> Space:
    """The pools of figure 3.3 of van den Kieboom 2014: nine parameters, three pools."""
    return Space(
        {str(k): (0, 1) for k in range(1, 10)},
        [
            Pool("A", {"a": ("1",), "b": ("2", "3")}),
            Pool("B", {"a": ("4", "5"), "b": ("5", "6"), "c": ("6", "7")}),
            Pool("C", {"a": ("8",), "b": ("9",)}),
        ],
    )


def roombots() -> Space:
    """Six modules that oscillate, rotate or are locked (section 3.2.3)."""
    names = [f"{letter}{k}" for k in range(6) for letter in "RX"]
    pools = [
        Pool(f"m{k}", {"oscillate": (f"R{k}", f"X{k}"), "rotate": (), "locked": (f"X{k}",)})
        for k in range(6)
    ]
    return Space(dict.fromkeys(names, (0, 1)), pools)


def test_subspaces_are_counted_as_published():
    assert figure_3_3().subspaces == 12
    assert len(list(figure_3_3().structures())) == 12
    assert roombots().subspaces == 729
    # The wearable robot: ten topologies with so many valid pairs of actuators each.
    pairs = (9, 12, 12, 12, 12, 12, 12, 15, 15, 15)
    groups = {f"{t}.{p}": ("k",) for t, count in enumerate(pairs) for p in range(count)}
    assert Space({"k": (0, 1)}, [Pool("device", groups)]).subspaces == 126


def test_a_space_of_astronomical_size_is_counted_and_not_listed():
    pools = [Pool(f"p{k}", {"a": (), "b": ("x",), "c": ()}) for k in range(2000)]
    assert Space({"x": (0, 1)}, pools).subspaces == 3**2000


def test_a_subspace_has_its_groups_parameters_and_those_of_no_pool():
    space = Space(
        {"x": (0, 1), "y": (0, 1), "z": (0, 1)},
        [Pool("p", {"one": ("x",), "two": ("x", "y")})],
    )
    active = space.active(np.array([[0], [1]]))
    assert active.tolist() == [[True, False, True], [True, True, True]]
    assert space.structure([1]) == {"p": "two"}
    assert space.group_numbers({"p": "two"}).tolist() == [1]


def test_values_and_unit_cube_are_inverse_on_both_scales():
    space = Space(
        [SearchParameter("k", 1e-3, 1e5, "N/m", scale="log"), SearchParameter("d", -2, 7)]
    )
    unit = np.random.default_rng(0).random((500, 2))
    np.testing.assert_allclose(space.unit(space.values(unit)), unit, atol=1e-13)
    middle = space.values(np.full((1, 2), 0.5))[0]
    np.testing.assert_allclose(middle, [np.sqrt(1e-3 * 1e5), 2.5])
    ends = space.values(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert ends.tolist() == [[1e-3, -2.0], [1e5, 7.0]]


def test_repaired_points_meet_constraints_and_are_the_nearest():
    space = Space(
        {"x": (0, 2), "y": (0, 1)},
        constraints=[
            LinearConstraint({"x": 1, "y": 1}, 1.0),
            LinearConstraint({"x": 1, "y": -1}, lower=0.2),
        ],
    )
    unit = np.random.default_rng(1).random((500, 2))
    repaired = space.repair(unit, NO_GROUPS)
    values = space.values(repaired)
    assert (values.sum(axis=1) <= 1 + 1e-8).all()
    assert (values[:, 0] - values[:, 1] >= 0.2 - 1e-8).all()
    feasible = space.excess(space.values(unit), NO_GROUPS) == 0
    assert feasible.any()
    np.testing.assert_array_equal(repaired[feasible], unit[feasible])
    # No point of a fine grid that meets the constraints is nearer.
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201)), -1).reshape(-1, 2)
    fits = (grid @ [2, 1] <= 1) & (grid @ [2, -1] >= 0.2)
    for point, found in zip(unit[:50], repaired[:50], strict=True):
        nearest = np.linalg.norm(grid[fits] - point, axis=1).min()
        assert np.linalg.norm(found - point) <= nearest + 1e-6


def test_an_equality_can_be_met():
    space = Space(
        {"a": (0, 1), "b": (0, 1), "c": (0, 1)},
        constraints=[LinearConstraint({"a": 1, "b": 1, "c": 1}, lower=1.0, upper=1.0)],
    )
    unit = np.random.default_rng(2).random((500, 3))
    np.testing.assert_allclose(space.repair(unit, NO_GROUPS).sum(axis=1), 1.0, atol=1e-8)


def test_a_constraint_applies_where_all_its_parameters_exist():
    space = Space(
        {"x": (0, 1), "y": (0, 1)},
        [Pool("p", {"one": ("x",), "two": ("x", "y")})],
        [LinearConstraint({"x": 1, "y": 1}, 0.5)],
    )
    unit = np.array([[0.9, 0.9], [0.9, 0.9]])
    repaired = space.repair(unit, np.array([[0], [1]]))
    np.testing.assert_allclose(repaired, [[0.9, 0.9], [0.25, 0.25]], atol=1e-8)


def test_constraints_that_cannot_be_met_are_refused():
    space = Space({"x": (0, 1)}, constraints=[LinearConstraint({"x": 1}, lower=2.0)])
    with pytest.raises(SearchError, match="no values within the bounds meet all"):
        space.repair(np.array([[0.5]]), np.zeros((1, 0), dtype=int))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SearchParameter("x", 2, 1), r"lower \(2\) must be below upper \(1\)"),
        (lambda: SearchParameter("x", 0, 1, scale="log"), "log scale needs a lower bound above 0"),
        (lambda: SearchParameter("x", 0, float("inf")), "finite"),
        (lambda: SearchParameter("x", 0, 1, start=(0.5, 2)), "start"),
        (lambda: SearchParameter("x", 0, 1, bound=3), "bound: is unknown"),
        (
            lambda: Space({"x": (0, 1)}, [Pool("p", {"g": ("z",)})]),
            "unknown parameter 'z'",
        ),
        (lambda: Space([SearchParameter("x", 0, 1)] * 2), "two parameters are named 'x'"),
        (lambda: Space({}), "expected at least one parameter"),
        (lambda: LinearConstraint({"x": 1}), "needs lower, upper or both"),
        (
            lambda: Space({"x": (0, 1)}, [], [LinearConstraint({"y": 1}, 1)]),
            "unknown parameter 'y'",
        ),
    ],
)
def test_invalid_spaces_are_refused_with_a_sentence(make, message):
    with pytest.raises(SearchError, match=message):
        make()
