"""Interpolation between the ends of a step."""

from __future__ import annotations

import numpy as np


def hermite_interpolation(
    fraction: float | np.ndarray,
    h: float,
    y0: np.ndarray,
    k0: np.ndarray,
    y1: np.ndarray,
    k1: np.ndarray,
) -> np.ndarray:
    """Evaluate the cubic with given values and slopes at both ends of a step.

    Args:
        fraction: Where in the step, from 0 to 1; a column (k, 1) for several places.
        h: Length of the step (s).
        y0: State at the start, (n,).
        k0: Rate at the start, (n,).
        y1: State at the end, (n,).
        k1: Rate at the end, (n,).

    Returns:
        The state there, (n,) or (k, n).
    """
    s, r = fraction, 1 - fraction
    return r * r * ((1 + 2 * s) * y0 + s * h * k0) + s * s * ((1 + 2 * r) * y1 - r * h * k1)
