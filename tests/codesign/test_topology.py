"""The ten topologies and table 5.1 of van den Kieboom (2014)."""

import pytest

from homodyn.codesign import Topology, topologies
from homodyn.errors import HomodynError

TABLE_5_1 = {
    1: "15 13 16 25 23 26 54 34 46",
    2: "15 13 16 52 53 54 56 23 26 34 36 46",
    3: "12 13 15 14 16 23 24 35 34 36 54 46",
    4: "13 15 16 23 25 26 34 35 36 45 46 56",
    5: "12 13 16 14 15 23 26 24 25 36 34 35 64 65 45",
    6: "12 13 15 16 14 25 24 35 34 56 54 64",
    7: "12 13 16 15 14 23 26 25 24 36 35 34 65 64 54",
    8: "13 15 16 23 25 26 34 35 36 45 46 56",
    9: "12 13 15 16 14 25 24 35 34 56 54 64",
    10: "12 13 14 15 16 23 24 25 26 34 35 36 45 46 56",
}


@pytest.fixture(scope="module")
def ten():
    return topologies()


def test_ten_topologies_of_mobility_two_with_126_pairs(ten):
    assert [one.number for one in ten] == list(range(1, 11))
    assert {one.mobility for one in ten} == {2}
    assert sum(len(one.pairs) for one in ten) == 126


def test_pairs_are_those_of_table_5_1(ten):
    for one in ten:
        printed = {tuple(sorted(map(int, pair))) for pair in TABLE_5_1[one.number].split()}
        assert set(one.pairs) == printed, one.number


def test_collapse_test_of_figure_5_6(ten):
    second = ten[1]
    assert not second.controls(1, 4)  # both in the four-bar linkage of the hip
    assert second.controls(1, 6)
    assert not second.controls(1)


def test_the_first_three_joints_are_the_attachments(ten):
    for one in ten:
        assert one.attachments == {"torso": 1, "thigh": 2, "shank": 3}
        assert one.closure_joints == ((2, 3) if one.number <= 5 else (1, 2))
    # Four parameters of places for topology 1 and six for topology 5, as section 5.4.2 says.
    assert len(ten[0].free_joints) == 2
    assert len(ten[4].free_joints) == 3


def test_no_two_topologies_are_the_same(ten):
    for k, one in enumerate(ten):
        assert not any(one.linkage.is_equivalent(other.linkage) for other in ten[:k])


def test_a_topology_is_a_record(ten):
    assert Topology.from_dict(ten[3].to_dict()) == ten[3]
    assert "12 actuator pairs" in repr(ten[3])
    with pytest.raises(HomodynError, match="joints 1 to 6, got 7"):
        ten[0].controls(1, 7)


def test_other_sizes_number_attachments_first():
    (four_bar,) = topologies(2, ("torso", "thigh"))
    assert four_bar.attachments == {"torso": 1, "thigh": 2}
    assert four_bar.mobility == 1
    assert four_bar.controls(3)
    assert four_bar.pairs == ()
