"""Explicit Runge-Kutta methods of fixed step as tables, for bodies and for networks alike.

A stage looks at x + h sum(row * slopes before), at the time t + h sum(row); the step ends at
x + h sum(weights * slopes).
"""

from __future__ import annotations

from typing import NamedTuple


class Tableau(NamedTuple):
    """Rows of the stages, and the weights of their slopes."""

    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]


EULER = Tableau(((),), (1.0,))
"""The slope at the start; order 1."""
HEUN = Tableau(((), (1.0,)), (0.5, 0.5))
"""Euler predicts, the trapezoid of both ends corrects; order 2."""
CLASSICAL = Tableau(((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
"""Four stages; order 4."""
