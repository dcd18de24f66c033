"""Motion relative to the belt of a treadmill."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait.treadmill import belt_velocity, loads_over_ground, motion_over_ground
from homodyn.motion import motion_from_poses
from support.optimal import pendulum


@pytest.fixture(scope="module")
def truth():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70.0, plate_noise=0.0
    ).truth


@pytest.fixture(scope="module")
def speed(truth):
    return float(np.polyfit(truth.motion.time, truth.motion.q[:, 0], 1)[0])


def test_a_belt_is_found_and_its_removal_restores_the_walk(truth, speed):
    velocity = np.array([-speed, 0.0, 0.0])
    on_belt = motion_over_ground(truth.motion, -velocity)
    found = belt_velocity(on_belt)
    np.testing.assert_allclose(found, velocity, atol=0.05)
    assert not belt_velocity(truth.motion).any()
    back = motion_over_ground(on_belt, velocity)
    np.testing.assert_allclose(back.q, truth.motion.q, atol=1e-12)
    np.testing.assert_allclose(back.v, truth.motion.v, atol=1e-12)


def test_a_given_speed_is_taken_and_checked(truth, speed):
    on_belt = motion_over_ground(truth.motion, np.array([speed, 0.0, 0.0]))
    given = belt_velocity(on_belt, 1.05 * speed)
    assert np.linalg.norm(given) == pytest.approx(1.05 * speed)
    assert given[0] < 0
    assert not belt_velocity(truth.motion, 0.0).any()
    with pytest.raises(hd.CaptureError, match="0 m/s, but the stance feet move at"):
        belt_velocity(on_belt, 0.0)
    with pytest.raises(hd.CaptureError, match="but the stance feet move at"):
        belt_velocity(on_belt, 1000 * speed)
    with pytest.raises(hd.CaptureError, match="but the stance feet stand still"):
        belt_velocity(truth.motion, speed)
    with pytest.raises(hd.CaptureError, match="0 or more"):
        belt_velocity(on_belt, -1.0)


def test_a_model_with_y_up_follows_the_belt():
    model = replace(hd.catalog.heiman(height=1.75, mass=70), gravity=(0.0, -9.81, 0.0))
    q = np.zeros((5, model.nq))
    motion = motion_from_poses(model, np.linspace(0, 1, 5), q)
    shifted = motion_over_ground(motion, np.array([-1.2, 0.1, 0.0]))
    # Y of the laboratory is -Z of a model with Y up.
    np.testing.assert_allclose((shifted.q - q)[-1, :3], [1.2, 0.0, 0.1], atol=1e-12)


def test_forces_stay_and_their_points_move(truth):
    belt = np.array([-1.0, 0.0, 0.0])
    shifted = motion_over_ground(truth.motion, belt)
    loads = loads_over_ground(truth.loads, shifted, belt)
    elapsed = truth.motion.time - truth.motion.time[0]
    for before, after in zip(truth.loads.feet, loads.feet, strict=True):
        np.testing.assert_array_equal(before.force, after.force)
        shift = (after.point - before.point)[:, 0]
        known = np.isfinite(shift)
        np.testing.assert_allclose(shift[known], elapsed[known], atol=1e-12)


def test_a_model_without_root_translations_is_refused():
    model = pendulum()
    motion = motion_from_poses(model, np.linspace(0, 1, 5), np.zeros((5, model.nq)))
    with pytest.raises(hd.CaptureError, match="no root translations"):
        motion_over_ground(motion, np.ones(3))


def test_measures_and_angles_take_a_given_speed(truth, speed):
    on_belt = motion_over_ground(truth.motion, np.array([speed, 0.0, 0.0]))
    events = truth.events
    found = hd.gait.measures(on_belt, events)
    given = hd.gait.measures(on_belt, events, belt_speed=1.1 * speed)
    assert given.belt_speed == pytest.approx(1.1 * speed)
    ratio = given["velocity"].mean / found["velocity"].mean
    assert ratio == pytest.approx(1.1 * speed / found.belt_speed, rel=0.02)
    assert any("as given" in note for note in given.notes)
    for take in (hd.gait.find_events, hd.gait.elevation_angles, hd.gait.measures):
        with pytest.raises(hd.CaptureError, match="but the stance feet move at"):
            take(on_belt, belt_speed=3 * speed)
