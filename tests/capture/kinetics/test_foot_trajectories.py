"""Feet over a floor that the axes of a laboratory miss by a little."""

import numpy as np
import pytest

from homodyn.capture.kinetics.foot_trajectories import ground_tilt

UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[0.2, 0.05, 0.02], [0.2, -0.05, 0.0], [-0.08, 0.0, 0.03]])


def walking(rise: np.ndarray, *, steps: int = 3, way: float = 0.6) -> list[np.ndarray]:
    """Two feet (frames, points, 3) that step along x, on a ground that rises by m/m."""
    rate, stance, swing = 100, 0.6, 0.4
    time = np.arange(0, steps * (stance + swing), 1 / rate)
    feet = []
    for late, y in ((0.0, 0.1), (0.5, -0.1)):
        count, since = np.divmod(time + late, stance + swing)
        share = np.clip((since - stance) / swing, 0, 1)
        x = 2 * way * (count + share - np.sin(2 * np.pi * share) / (2 * np.pi))
        at = np.stack([x, np.full(len(time), y), 0.12 * np.sin(np.pi * share)], -1)
        points = CORNERS + at[:, None]
        feet.append(points + (points @ rise)[..., None] * UP)
    return feet


def tilt_of(feet: list[np.ndarray]) -> np.ndarray:
    return ground_tilt(feet, [np.gradient(points, 0.01, axis=0) for points in feet], UP)


def test_a_slightly_tilted_floor_is_found():
    # The points of a sole lie on the tilted ground too, so that they tell it with their places.
    assert tilt_of(walking(np.array([0.02, 0.0, 0.0]))) == pytest.approx([0.02, 0, 0], abs=1e-3)
    assert tilt_of(walking(np.array([-0.015, 0, 0]))) == pytest.approx([-0.015, 0, 0], abs=1e-3)
    assert tilt_of(walking(np.zeros(3))) == pytest.approx(np.zeros(3), abs=1e-3)


def test_ramps_and_steps_on_the_spot_give_no_tilt():
    assert not tilt_of(walking(np.array([0.27, 0.0, 0.0]))).any()
    assert not tilt_of(walking(np.array([0.02, 0.0, 0.0]), way=0.02)).any()
