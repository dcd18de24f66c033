"""Drawings of topologies: every bar and every joint number is there."""

from itertools import combinations, pairwise

import pytest
from matplotlib.figure import Figure

from homodyn.codesign import draw_topologies, topologies
from homodyn.codesign.drawing import LINK_COLORS
from homodyn.codesign.places import MIN_FREE_JOINT_DISTANCE_M, default_places


@pytest.mark.parametrize("number", [1, 5, 10])
def test_bars_and_numbers(number):
    topology = topologies()[number - 1]
    axes = topology.draw(Figure().subplots())
    bars = [line for line in axes.lines if line.get_color() in LINK_COLORS]
    expected = sum(
        len(list(combinations([p for p in topology.linkage.joints if link in p], 2)))
        for link in topology.linkage.robot_links
    )
    assert len(bars) == expected
    labels = ", ".join(text.get_text() for text in axes.texts)
    assert sorted(labels.split(", ")) == ["1", "2", "3", "4", "5", "6"]


def test_free_joints_do_not_coincide():
    from homodyn.codesign.drawing import _schematic_frame

    frame = _schematic_frame()
    for topology in topologies():
        places = default_places(topology, frame)
        heights = sorted(places[number][1] for number in topology.free_joints)
        gaps = [b - a for a, b in pairwise(heights)]
        assert min(gaps) >= MIN_FREE_JOINT_DISTANCE_M - 1e-12


def test_all_topologies_in_one_figure():
    figure = draw_topologies(topologies())
    assert len(figure.axes) == 10
    assert figure.axes[9].get_title().startswith("10")
