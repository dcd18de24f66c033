"""A force plate: its samples, and its wrench in other axes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn.errors import CaptureError
from homodyn.motion import ForcePlate
from homodyn.motion.force_plate import PlateChannels

CORNERS = np.array([[0.0, 0, 0], [0.6, 0, 0], [0.6, 0.4, 0], [0, 0.4, 0]])


def plate(**changes):
    rng = np.random.default_rng(5)
    fields = {
        "force": rng.normal(size=(7, 3)) + np.array([0, 0, 600]),
        "point": rng.uniform(0, 0.4, (7, 3)),
        "torque": rng.normal(size=(7, 3)),
        "corners": CORNERS,
    }
    return ForcePlate("left", 500.0, **{**fields, **changes})


def test_samples_are_spaced_by_the_rate_from_the_start():
    np.testing.assert_allclose(plate(start=2.0).time, 2.0 + np.arange(7) * 0.002, atol=1e-15)


def test_the_wrench_about_any_point_rotates_with_the_axes():
    turn = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    before = plate()
    after = before.rotate(turn)
    about = np.array([0.2, -1.0, 0.4])
    moment = before.torque + np.cross(before.point - about, before.force)
    rotated = after.torque + np.cross(after.point - turn @ about, after.force)
    np.testing.assert_allclose(rotated, moment @ turn.T, atol=1e-10)
    np.testing.assert_allclose(after.force, before.force @ turn.T, atol=1e-10)
    sides = [np.linalg.norm(np.diff(p.corners, axis=0), axis=1) for p in (before, after)]
    np.testing.assert_allclose(*sides, atol=1e-12)
    assert plate(corners=None).rotate(turn).corners is None


def test_rotating_back_gives_the_same_plate():
    turn = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix()
    back = plate().rotate(turn).rotate(turn.T)
    for name in ("force", "point", "torque", "corners"):
        np.testing.assert_allclose(getattr(back, name), getattr(plate(), name), atol=1e-10)


def test_the_headline_has_the_largest_force_also_with_missing_samples():
    force = np.array([[3.0, 0.0, 4.0], [np.nan] * 3, [0.0, 0.0, 12.0]])
    found = plate(force=force, point=np.zeros((3, 3)), torque=np.zeros((3, 3)))
    assert found.headline() == "ForcePlate 'left': 3 samples, peak 12 N"
    empty = plate(force=np.zeros((0, 3)), point=np.zeros((0, 3)), torque=np.zeros((0, 3)))
    assert empty.headline() == "ForcePlate 'left': 0 samples, peak 0 N"


def test_arrays_of_other_shapes_are_refused_by_name():
    with pytest.raises(CaptureError, match=r"plate 'left': point has shape \(6, 3\), \(7, 3\)"):
        plate(point=np.zeros((6, 3)))
    with pytest.raises(CaptureError, match="corners has shape"):
        plate(corners=CORNERS[:3])
    with pytest.raises(CaptureError, match=r"channels of a plate: origin has shape \(2,\)"):
        PlateChannels(2, ("Fx",), CORNERS, np.zeros(2))
