"""Plates at the frames of a motion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import homodyn as hd
from homodyn.capture.kinetics.plate_sampling import center_of_pressure, sample_plates
from homodyn.motion import (
    ForcePlate,
    Motion,
)

UPS = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
NUMBER = st.floats(-50, 50)


@given(st.tuples(*[NUMBER] * 7), st.sampled_from(range(2)))
def test_force_at_the_center_of_pressure_and_free_moment_are_the_same_wrench(numbers, which):
    up = UPS[which]
    force = np.array([numbers[:3]]) + 80 * up
    moment, height = np.array([numbers[3:6]]), numbers[6] / 50
    point, free = center_of_pressure(force, moment, up, height)
    np.testing.assert_allclose(free + np.cross(point, force), moment, atol=1e-9)
    np.testing.assert_allclose(np.cross(free, up), 0, atol=1e-9)
    np.testing.assert_allclose(point @ up, height, atol=1e-12)


def still(rate=100.0, seconds=2.0):
    model = hd.catalog.heiman()
    frames = int(seconds * rate) + 1
    zero = np.zeros((frames, model.nv))
    return Motion(
        model, np.arange(frames) / rate, np.tile(model.neutral(), (frames, 1)), zero, zero
    )


def step(on=0.5, off=1.5, rate=1000.0):
    """A plate loaded all at once and unloaded all at once, with a little noise elsewhere."""
    time = np.arange(2001) / rate
    loaded = (time >= on) & (time < off)
    force = np.zeros((2001, 3))
    force[:, 2] = np.where(loaded, 600.0, 5.0 * np.sin(40 * time))
    point = np.where(loaded[:, None], [0.1, 0.2, 0.0], np.nan)
    return ForcePlate("plate", rate, force, point, np.zeros((2001, 3)))


def test_noise_below_the_threshold_is_nothing():
    (plate,) = sample_plates(still(), [step()], cutoff=None, threshold=20.0)
    expected = np.where((still().time >= 0.5) & (still().time < 1.5), 600.0, 0.0)
    np.testing.assert_allclose(plate.force[:, 2], expected, atol=1e-9)
    assert plate.has_reading.all()
    point, _ = center_of_pressure(plate.force, plate.moment, UPS[0], plate.height)
    np.testing.assert_allclose(point[60:140], np.tile([0.1, 0.2, 0.0], (80, 1)), atol=1e-12)


def test_the_filter_does_not_spread_force_far_beyond_foot_off():
    (plate,) = sample_plates(still(), [step()], cutoff=6.0, threshold=20.0)
    loaded = plate.force[:, 2] != 0
    time = still().time
    assert plate.force[loaded, 2].min() >= 20.0
    assert time[loaded].min() > 0.5 - 0.08
    assert time[loaded].max() < 1.5 + 0.08
    assert plate.force[100, 2] == pytest.approx(600.0, rel=1e-3)


def test_filtering_keeps_the_impulse():
    (plate,) = sample_plates(still(), [step()], cutoff=6.0, threshold=1e-6)
    assert np.trapezoid(plate.force[:, 2], still().time) == pytest.approx(600.0, rel=0.03)
