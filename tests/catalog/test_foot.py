"""A foot in two parts is the whole foot while its toes are straight."""

import numpy as np
import pytest

from homodyn.catalog.foot import two_part_foot
from homodyn.model import Body
from homodyn.spatial import Transform


def test_parts_add_up_to_the_whole():
    whole = Body("foot", 1.2, [0.06, 0.0, -0.04], [0.001, 0.005, 0.005])
    ball = np.array([0.13, 0.0, -0.08])
    rear, toes = two_part_foot(whole, ("rear", "toes"), ball=ball, toes=[0.07, 0.1, 0.02])
    together = rear.spatial_inertia + toes.spatial_inertia.transform_back(
        Transform(np.eye(3), ball)
    )
    np.testing.assert_allclose(
        together.matrix(), whole.spatial_inertia.matrix(), rtol=0, atol=1e-15
    )
    assert toes.mass == pytest.approx(0.12)
    assert (np.linalg.eigvalsh(rear.inertia) > 0).all()
