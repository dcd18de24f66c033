import numpy as np
import pytest

from homodyn import CaptureError
from homodyn.dynamics import position
from homodyn.gait import elevation_angles, find_events
from homodyn.gait.elevation import planarity
from homodyn.motion import Motion
from support import recordings
from support.walker import INDEX, MODEL, THIGH, Walker, backward


def still(**angles):
    q = np.tile(MODEL.neutral(), (20, 1))
    for name, value in angles.items():
        q[:, INDEX[name]] = value
    return Motion(MODEL, np.arange(20) / 100, q, 0 * q, 0 * q)


def test_angles_of_a_known_pose():
    motion = still(HipRight_RY=-0.4, KneeRight_RY=0.3, AnkleRight_RY=0.25, HipLeft_RY=0.2)
    angles = elevation_angles(motion)
    flat = elevation_angles(still()).right[0]
    assert flat[:2] == pytest.approx([0, 0], abs=1e-9)
    assert flat[2] == pytest.approx(90, abs=1e-6)
    # A thigh ahead of the vertical is positive; turning toes down takes the foot below 90.
    turned = np.rad2deg([0.4, 0.4 - 0.3, 0.4 - 0.3 - 0.25])
    assert angles.right[0] == pytest.approx(flat + turned)
    assert angles.left[0] == pytest.approx(flat - np.rad2deg(0.2))


def test_angles_agree_with_joints_seen_from_the_side():
    motion = Walker(heading=0.7).motion()
    hip = position(MODEL, motion.q, "ThighLeft")
    knee = position(MODEL, motion.q, "ShankLeft")
    forward = (knee - hip)[:, :2] @ [np.cos(0.7), np.sin(0.7)]
    assert elevation_angles(motion).left[:, 0] == pytest.approx(
        np.rad2deg(np.arcsin(forward / THIGH)), abs=1e-6
    )


def test_walking_backward_turns_the_signs():
    motion = Walker().motion()
    ahead, back = elevation_angles(motion), elevation_angles(backward(motion))
    assert back.right[::-1, :2] == pytest.approx(-ahead.right[:, :2], abs=1e-6)
    assert "backward" in back.heading.notes[0]


def test_points_of_a_plane_have_its_normal():
    rng = np.random.default_rng(1)
    normal = np.array([0.3, -0.8, 0.5]) / np.linalg.norm([0.3, -0.8, 0.5])
    basis = np.linalg.svd(normal[None])[2][1:]
    found = planarity(rng.normal(size=(200, 2)) @ (basis * [[30], [10]]) + [5, 6, 7])
    assert found.share == pytest.approx(1)
    assert found.normal == pytest.approx(normal)
    assert found.shares.sum() == pytest.approx(1)
    assert planarity(rng.normal(size=(5000, 3))).share == pytest.approx(2 / 3, abs=0.03)
    with pytest.raises(CaptureError, match="do not change"):
        planarity(np.ones((10, 3)))


@pytest.mark.parametrize("name", recordings.WALKS)
def test_elevation_angles_of_people_are_planar(shared_data, name):
    motion, plates = recordings.walk(shared_data, name)
    angles = elevation_angles(motion, events=find_events(motion, plates))
    for side in ("left", "right"):
        assert angles.planarity(side).share > 0.99
        assert angles.side(side)[:, 2].max() > 100
        assert np.ptp(angles.side(side), axis=0) == pytest.approx([45, 75, 95], abs=15)
