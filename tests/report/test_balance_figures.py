"""Figures of balance: supports have the color of their side."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Polygon

from homodyn.balance import evaluate, scene_phases, scene_stances, scene_wrench
from homodyn.balance.scene_phases import scene_mass
from homodyn.motion import load_scene
from homodyn.report.balance_figures import (
    margins_figure,
    path_figure,
    polygons_figure,
    polytopes_figure,
)
from homodyn.report.colors import SIDE_COLORS


@pytest.fixture(scope="module")
def scene():
    return load_scene("car")


@pytest.fixture(scope="module")
def evaluation(scene):
    time = np.linspace(scene.path.instants[0], scene.path.instants[-1], 41)
    return evaluate(scene_wrench(scene, time), scene_phases(scene))


def test_supports_of_each_side_have_its_color():
    scene = load_scene("biped")
    stances = scene_stances(scene)[:3]
    figure = polygons_figure(stances, mass=scene_mass(scene), gravity=scene.gravity)
    for plot, stance in zip(figure.axes, stances, strict=False):
        edges = {
            to_hex(patch.get_edgecolor()) for patch in plot.patches if isinstance(patch, Polygon)
        }
        for name in stance.names:
            side = "left" if "left" in name else "right"
            assert SIDE_COLORS[side] in edges, name
        absent = {"left", "right"} - {name.split()[0] for name in stance.names}
        assert not edges & {SIDE_COLORS[side] for side in absent}


def test_margins_are_plotted_against_time(evaluation):
    force, moment, wrench = margins_figure(evaluation).axes
    for plot, values in ((force, evaluation.force), (moment, evaluation.moment)):
        assert any(np.array_equal(line.get_ydata(), values) for line in plot.lines)
    worst = wrench.lines[-1]
    assert worst.get_xdata()[0] == evaluation.time[evaluation.worst]


def test_every_stance_has_a_polytope(scene):
    stances = scene_stances(scene)
    figure = polytopes_figure(
        stances[:4],
        com=np.array([0.0, 0.0, 0.9]),
        gravity=scene.gravity,
        force=-scene_mass(scene) * scene.gravity,
    )
    assert len(figure.axes) == min(len(stances), 4)


def test_the_path_is_drawn_at_every_instant(evaluation, scene):
    figure = path_figure(evaluation, scene.obstacles)
    sizes = [len(c.get_offsets()) for c in figure.axes[0].collections if hasattr(c, "get_offsets")]
    assert len(evaluation.time) in sizes
