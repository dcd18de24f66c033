"""Pivoting with friction pyramids and round cones."""

import numpy as np
import pytest

from homodyn.simulate.solvers import ConeProblem, ConeStatus, pivot


def test_the_residual_of_a_pyramid_shows_its_deviation_from_the_cone():
    A, b = np.eye(3), np.array([-1.0, 1.0, 1.0])
    square = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5), facets=4, round_cones=False)
    cone = pivot(ConeProblem(A, b, ((0, 1, 2),), 0.5))
    assert square.status is cone.status is ConeStatus.SOLVED
    np.testing.assert_allclose(cone.force, [1, -0.5 / np.sqrt(2), -0.5 / np.sqrt(2)], atol=1e-9)
    assert np.abs(square.force[1:]).sum() == pytest.approx(0.5)
    assert square.residual > 0.01 > 1e-9 > cone.residual
