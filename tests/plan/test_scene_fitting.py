"""Scenes for people of other heights and masses."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.plan.scene_fitting import fit_scene


def test_heights_above_the_supports_scale_with_the_person():
    car = hd.plan.load_case("car")
    small = fit_scene(car, 1.60, 58.0)
    ratio = 1.60 / 1.75
    # From the ground outside, 0.485 m below the hips of the driver, to the seat.
    assert small.plan.start[2] == pytest.approx(-0.485 + ratio * (0.4659 + 0.485))
    assert small.plan.reach == pytest.approx(ratio * 1.08)
    assert small.limit == pytest.approx(1000.0 * 58 / 60)
    assert small.mass == 58.0
    np.testing.assert_array_equal(small.plan.start[:2], car.plan.start[:2])


def test_the_reference_person_changes_nothing():
    board = hd.plan.load_case("board")
    same = fit_scene(board, 1.75, board.mass)
    np.testing.assert_allclose(same.plan.start, board.plan.start)
    np.testing.assert_allclose(same.plan.finish, board.plan.finish)
    assert same.plan.upper == board.plan.upper


def test_a_person_without_height_is_refused():
    with pytest.raises(hd.ModelError, match="above 0"):
        fit_scene(hd.plan.load_case("board"), 0.0, 70.0)
