"""Paths of flying bodies: ends at rest, heights of arcs, limits of speed."""

import numpy as np

from homodyn.plan.flight_path import arc, largest_rates, minimum_jerk, slerp
from homodyn.spatial import quaternion_rotation

TURN = np.asarray(quaternion_rotation(np.array([0.8, 0.0, 0.0, 0.6]))).T
FIRST = (np.array([0.1, 0.0, 0.1]), np.eye(3))
LAST = (np.array([0.7, 0.4, 0.3]), TURN)


def test_minimum_jerk_starts_and_ends_at_rest():
    s = np.linspace(0.0, 1.0, 2001)
    x = minimum_jerk(s)
    rate = np.gradient(x, s)
    assert x[0] == 0
    assert x[-1] == 1
    assert (np.diff(x) >= 0).all()
    assert abs(rate[0]) < 1e-5
    assert abs(rate[-1]) < 1e-5
    assert abs(rate.max() - 1.875) < 1e-3  # 15/8, at the middle


def test_arc_joins_its_poses_and_rises():
    path = arc("right_foot", (1.0, 1.8), FIRST, LAST, 0.2)
    position, rotation = path.pose(np.array([0.5, 1.0, 1.4, 1.8, 2.0]))
    for k, (place, turn) in ((0, FIRST), (1, FIRST), (3, LAST), (4, LAST)):
        np.testing.assert_allclose(position[k], place, atol=1e-12)
        np.testing.assert_allclose(rotation[k], turn, atol=1e-12)
    np.testing.assert_allclose(position[2], [0.4, 0.2, 0.4], atol=1e-12)
    np.testing.assert_allclose(rotation[2] @ rotation[2], TURN, atol=1e-12)


def test_largest_rates_are_those_of_the_middle_of_a_line():
    path = arc("right_hand", (0.0, 0.5), FIRST, LAST)
    speed, rate = largest_rates(path, 2001)
    distance = np.linalg.norm(LAST[0] - FIRST[0])
    angle = np.arccos((np.trace(TURN) - 1) / 2)
    np.testing.assert_allclose([speed, rate], np.array([distance, angle]) / 0.5 * 1.875, rtol=1e-4)


def test_slerp_turns_about_one_axis():
    half = slerp(np.eye(3), TURN, np.array([0.5]))[0]
    np.testing.assert_allclose(half @ half, TURN, atol=1e-12)
