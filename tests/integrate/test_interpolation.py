"""Hermite interpolation between the ends of a step."""

import numpy as np
import pytest

from homodyn.integrate import hermite_interpolation


@pytest.mark.parametrize("fraction", [0.0, 0.25, 0.7, 1.0])
def test_cubics_are_reproduced(fraction):
    coefficients = np.array([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, 4.0, -1.0]])
    start, h = 0.3, 0.8

    def value(t):
        return coefficients @ t ** np.arange(4)

    def slope(t):
        return coefficients[:, 1:] @ (np.arange(1, 4) * t ** np.arange(3))

    end = start + h
    inside = hermite_interpolation(fraction, h, value(start), slope(start), value(end), slope(end))
    np.testing.assert_allclose(inside, value(start + fraction * h), rtol=1e-13, atol=1e-14)
