"""The search space of robots: 126 subspaces, sizes of table 5.2, and which number goes where."""

import numpy as np
import pytest

from homodyn.codesign import DesignBounds, DesignSpace, PassiveElement, topologies
from homodyn.errors import HomodynError


@pytest.fixture(scope="module")
def designs():
    return DesignSpace(tuple(topologies()), DesignBounds(), PassiveElement.SPRING)


def test_there_are_126_subspaces_of_76_or_78_parameters(designs):
    """Check 39, and the size of topology 5 in section 5.4: 78 parameters."""
    assert designs.space.subspaces == 126
    sizes = {group.topology.number: designs.size(group) for group in designs.groups}
    assert sizes == {1: 76, 2: 76, 3: 76, **dict.fromkeys(range(4, 11), 78)}
    for k in (0, 60, 125):
        active = designs.space.active(np.array([[k]]))[0]
        assert active.sum() == designs.size(designs.groups[k])


def test_bounds_are_those_of_table_5_2(designs):
    by_name = {one.name: one for one in designs.space.parameters}
    for name, low, high in (
        ("thigh share", 0, 1), ("joint 4 x", -0.15, 0.15), ("joint 6 z", 0.1, 1.3),
        ("joint 2 target y3", -np.pi, np.pi),
    ):  # fmt: skip
        assert (by_name[name].lower, by_name[name].upper) == (low, high)


def test_numbers_reach_the_actuator_of_their_joint(designs):
    rng = np.random.default_rng(2)
    space = designs.space
    chosen = np.array([k for k, one in enumerate(designs.groups) if one.topology.number == 2][:5])
    values = space.values(rng.uniform(size=(5, space.size)))
    values[~space.active(chosen[:, None])] = np.nan  # as a search gives them
    topology = topologies()[1]
    pairs, shares, places = designs.places(values, chosen, topology)
    batch = designs.batch(values, pairs)
    assert not any(np.isnan(one).any() for one in (*batch.values(), shares, places))
    column = {name: k for k, name in enumerate(space.names)}
    for row, (first, second) in enumerate(pairs):
        for slot, number in (("first", first), ("second", second)):
            for what in ("target d6", "target y1", "stiffness 2", "damping share"):
                expected = values[row, column[f"joint {number} {what}"]]
                assert batch[f"{slot} {what}"][row] == expected
            drives = [batch[f"{slot} drives {n}"][row] for n in range(1, 7)]
            assert np.flatnonzero(drives).tolist() == [number - 1]
        for number in range(1, 7):
            spring = batch[f"joint {number} spring stiffness"][row]
            name = f"joint {number} spring stiffness"
            expected = 0.0 if number in (first, second) else values[row, column[name]]
            assert spring == expected
        assert shares[row, 1] == values[row, column["thigh share"]]
        assert places[row, 1, 1] == values[row, column["joint 6 z"]]


def test_a_design_has_the_places_of_its_parameters(designs):
    rng = np.random.default_rng(3)
    row = designs.space.values(rng.uniform(size=(1, designs.space.size)))[0]
    parameters = dict(zip(designs.space.names, row, strict=True))
    group = next(one for one in designs.groups if one.topology.number == 5)
    design = designs.design(parameters, {"robot": group.name})
    assert (design.topology.number, design.actuated) == (5, group.pair)
    assert design.free_places[2].tolist() == [parameters["joint 6 x"], parameters["joint 6 z"]]
    parameters.pop("joint 6 x")
    with pytest.raises(HomodynError, match="needs 'joint 6 x'"):
        designs.design(parameters, {"robot": group.name})


def test_bounds_in_disorder_are_refused():
    with pytest.raises(HomodynError, match="bounds of height are not in order"):
        DesignBounds(height=(1.0, 0.5))
