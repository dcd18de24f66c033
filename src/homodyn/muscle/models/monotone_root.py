"""Root of an increasing function in a bracket, by a fixed number of safeguarded Newton steps."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from homodyn.spatial import Array

MAX_ROOT_STEPS = 24
"""Steps after which roots of the curves of muscles are exact to rounding; see the tests."""


def monotone_root(
    residual: Callable[[Array], tuple[Array, Array]],
    lower: Array,
    upper: Array,
    guess: Array,
    steps: int = MAX_ROOT_STEPS,
) -> Array:
    """Where an increasing function is zero.

    A Newton step goes no further than the middle of the bracket, which halves the bracket where
    the function is flat.

    Args:
        residual: The function: its value and its slope at a place.
        lower: Start of the bracket; the result if the function is positive there.
        upper: End of the bracket; the result if the function is negative there.
        guess: First place, in the bracket.
        steps: Number of evaluations.
    """
    x = guess
    for _ in range(steps):
        value, slope = residual(x)
        lower = ca.if_else(value <= 0, x, lower)
        upper = ca.if_else(value >= 0, x, upper)
        middle = 0.5 * (lower + upper)
        newton = x - value / ca.fmax(slope, 1e-12)
        # Never further than the middle: a flat function would send Newton's steps across.
        x = ca.if_else(value > 0, ca.fmax(newton, middle), ca.fmin(newton, middle))
    return x
