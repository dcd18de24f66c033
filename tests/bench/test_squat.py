"""The squat that the optimal-control benchmark solves."""

import numpy as np

from homodyn.bench import squat
from homodyn.dynamics import position


def test_the_squat_keeps_its_soles_in_place():
    model = squat.body()
    assert model.nv == 39
    q = squat.poses(model, np.linspace(0, 1, 5))
    for point in ("right_toe", "left_heel", "left_lateral_ball"):
        path = np.asarray(position(model, q, point))
        np.testing.assert_allclose(path, np.tile(path[0], (5, 1)), atol=1e-9)
    assert "24 contact rows" in squat.problem(3).describe()
