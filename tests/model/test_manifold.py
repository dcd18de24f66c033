"""Exponential, logarithm and rates of quaternions."""

import numpy as np
from numpy.testing import assert_allclose

from homodyn.model.manifold import quaternion_rate

TOLERANCE = {"rtol": 1e-11, "atol": 1e-11}


def test_quaternion_rate_is_half_of_a_four_by_three_matrix():
    """Van den Kieboom eq. 2.50 with the row that its print lost."""
    q, w = np.array([0.5, -0.1, 0.7, 0.2]), np.array([0.3, -0.8, 0.4])
    q /= np.linalg.norm(q)
    a, b, c, d = q
    Q = np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
    rate = np.array(quaternion_rate(q, w))
    assert_allclose(rate, Q @ w / 2, **TOLERANCE)
    assert_allclose(q @ rate, 0, **TOLERANCE)
