"""Points on the surfaces of obstacles."""

import numpy as np
import pytest

from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    MeshObstacle,
    PlaneObstacle,
    RingObstacle,
    SphereObstacle,
)
from homodyn.motion.obstacle_points import surface_points


@pytest.mark.parametrize(
    ("obstacle", "size"),
    [
        (BoxObstacle((0.4, 0.2, 0.6)), (0.4, 0.2, 0.6)),
        (SphereObstacle(0.3), (0.6, 0.6, 0.6)),
        (CylinderObstacle(0.1, 2.0), (0.2, 0.2, 2.0)),
        (CapsuleObstacle(0.1, 0.5), (0.2, 0.2, 0.7)),
        (RingObstacle(0.18, 0.02), (0.4, 0.4, 0.04)),
        (MeshObstacle(vertices=np.eye(3), faces=[[0, 1, 2]], scale=0.1), (0.1, 0.1, 0.1)),
        (HeightField([[0, 1], [2, 3]], (0.5, 0.25)), (0.5, 0.25, 3.0)),
    ],
)
def test_surface_points_span_the_obstacle(obstacle, size):
    assert np.ptp(surface_points(obstacle), axis=0) == pytest.approx(size)


def test_a_plane_has_no_surface_points():
    assert surface_points(PlaneObstacle()).shape == (0, 3)
