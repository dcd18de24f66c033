"""Obstacles: full sizes, poses, read-only arrays and refusals that name the obstacle."""

import numpy as np
import pytest

from homodyn.errors import ModelError
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    Obstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.motion.obstacles import OBSTACLE_KINDS

YAW = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
TRIANGLES = {"vertices": np.eye(3), "faces": np.array([[0, 1, 2]])}
ALL = (
    PlaneObstacle(),
    BoxObstacle((0.4, 0.2, 0.6)),
    SphereObstacle(0.3),
    CylinderObstacle(0.1, 2.0),
    CapsuleObstacle(0.1, 0.5),
    RingObstacle(0.18, 0.02),
    MeshObstacle(**TRIANGLES),
    HeightField(np.zeros((2, 3))),
)


def test_sizes_are_full_sizes():
    box = BoxObstacle((0.4, 0.2, 0.6), position=(1, 2, 3), orientation=YAW)
    assert box.corners.min(axis=0) == pytest.approx([0.9, 1.8, 2.7])
    assert box.corners.max(axis=0) == pytest.approx([1.1, 2.2, 3.3])
    capsule = CapsuleObstacle(0.1, 0.5, position=(0, 0, 1))
    assert capsule.ends == pytest.approx(np.array([[0, 0, 0.75], [0, 0, 1.25]]))


def test_an_orientation_is_a_matrix_or_a_quaternion():
    half = np.sqrt(0.5)
    box = BoxObstacle((1, 2, 3), orientation=(half, 0, 0, half))
    assert box.orientation == pytest.approx(YAW)
    assert box.to_world(np.array([1.0, 0, 0])) == pytest.approx([0, 1, 0])


def test_every_kind_is_a_record():
    assert {type(each) for each in ALL} == set(OBSTACLE_KINDS.values())
    for obstacle in ALL:
        again = Obstacle.from_dict(obstacle.to_dict())
        assert type(again) is type(obstacle)
        assert again.to_dict() == obstacle.to_dict()
        assert len(repr(obstacle).splitlines()) <= 10
    with pytest.raises(ValueError, match="read-only"):
        ALL[1].size[0] = 1.0


@pytest.mark.parametrize(
    ("create", "message"),
    [
        (lambda: PlaneObstacle((0, 0, 0), name="wall"), "plane 'wall': the normal is zero"),
        (lambda: BoxObstacle((0, 1, 1)), "a box: size is three lengths above 0 m"),
        (lambda: BoxObstacle((1, 1)), "a box: size is three finite numbers"),
        (lambda: BoxObstacle((1, 1, 1), position=(0, 0, np.nan)), "position is three finite"),
        (lambda: BoxObstacle((1, 1, 1), orientation=-np.eye(3)), "rotation matrix"),
        (lambda: BoxObstacle((1, 1, 1), orientation=(2, 0, 0, 0)), "unit quaternion"),
        (lambda: BoxObstacle((1, 1, 1), friction=-0.1), "friction is a finite number from 0 up"),
        (lambda: SphereObstacle(0.0), "a sphere: radius is a length above 0 m"),
        (lambda: CylinderObstacle(0.1, -1.0), "a cylinder: length is a length above 0 m"),
        (lambda: RingObstacle(0.1, 0.2), "has no hole"),
        (lambda: MeshObstacle(), "either a file or vertices and faces"),
        (lambda: MeshObstacle("a.stl", **TRIANGLES), "either a file or vertices and faces"),
        (lambda: MeshObstacle(vertices=np.eye(3), faces=[[0, 1, 3]]), "vertices from 0 to 2"),
        (lambda: HeightField([[1.0]]), "at least 2 x 2"),
        (lambda: HeightField(np.zeros((100, 100))), "crop the field"),
        (lambda: HeightField(np.zeros((2, 2)), (0.0, 1.0)), "spacing is positive"),
    ],
)
def test_invalid_obstacles_are_refused(create, message):
    with pytest.raises(ModelError, match=message):
        create()
