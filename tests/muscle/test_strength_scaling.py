"""Strengths of scaled models."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle import scale_strengths
from support import muscled_leg


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build()


def forces(model):
    return np.array([muscle.max_isometric_force for muscle in model.muscles])


def test_similar_bodies_have_forces_as_their_cross_sections(leg):
    larger = hd.catalog.scale(leg, 1.2, mass="density")
    np.testing.assert_allclose(forces(larger), forces(leg))
    np.testing.assert_allclose(forces(scale_strengths(leg, larger)), 1.2**2 * forces(leg))


def test_forces_follow_the_muscle_volume(leg):
    larger = hd.muscle.scale_fibers(leg, hd.catalog.scale(leg, 1.1, mass=14.0))
    found = forces(scale_strengths(leg, larger, "volume", heights=(1.7, 1.87)))
    volumes = [47.05e-6 * mass * height + 1289.6e-6 for mass, height in ((12, 1.7), (14, 1.87))]
    longer = [
        after.optimal_fiber_length / before.optimal_fiber_length
        for before, after in zip(leg.muscles, larger.muscles, strict=True)
    ]
    assert np.ptp(longer) > 0.01
    np.testing.assert_allclose(found, forces(leg) * volumes[1] / volumes[0] / longer)


def test_forces_can_stay_as_they_are(leg):
    larger = hd.catalog.scale(leg, 1.2, mass="density")
    np.testing.assert_array_equal(forces(scale_strengths(leg, larger, "keep")), forces(leg))


def test_refusals(leg):
    with pytest.raises(hd.ModelError, match="no law 'age'; accepted: mass, volume, keep"):
        scale_strengths(leg, leg, "age")
    with pytest.raises(hd.ModelError, match="'volume' needs the statures of both persons"):
        scale_strengths(leg, leg, "volume", heights=(1.7, 0.0))
    with pytest.raises(hd.ModelError, match="different muscles"):
        scale_strengths(leg, hd.catalog.human36())
