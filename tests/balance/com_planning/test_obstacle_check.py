"""Obstacles across the path of the center of mass are refused, with name, time and depth."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance.com_planning.obstacle_check import require_free_path
from homodyn.motion import BoxObstacle
from homodyn.motion.bspline import ComSpline

SCENE = hd.motion.Scene(
    "corridor", obstacles=(BoxObstacle((0.2, 4.0, 2.0), position=(1.0, 0.0, 1.0), name="wall"),)
)


def line(start, finish) -> ComSpline:
    points = np.linspace(start, finish, 6)
    return ComSpline(5, np.array([0.0, 2.0]), points)


def test_path_through_a_wall_is_refused_with_time_and_depth():
    # The line enters the wall at x = 0.9 after 0.9 s and leaves it at 1.1 s; it is 100 mm deep.
    with pytest.raises(hd.NoSolution, match=r"box 'wall' from 0\.90 to 1\.10 s, up to 100 mm deep"):
        require_free_path(SCENE, line((0.0, 0.0, 0.9), (2.0, 0.0, 0.9)))


def test_path_beside_a_wall_is_accepted():
    require_free_path(SCENE, line((0.0, 0.0, 0.9), (0.85, 0.0, 0.9)))
    require_free_path(SCENE, line((0.0, 0.0, 2.1), (2.0, 0.0, 2.1)))


def test_plan_across_a_wall_is_refused():
    scene = hd.motion.load_scene("biped")
    wall = BoxObstacle((4.0, 0.1, 3.0), position=(0.0, 0.75, 1.5), name="wall")
    with pytest.raises(hd.NoSolution, match="passes through box 'wall'"):
        hd.balance.plan_com(replace(scene, obstacles=(wall,)))
