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

    A Newton step that leaves the bracket, or is longer than half the step before the last, is
    replaced by a bisection.

    Args:
        residual: The function: its value and its slope at a place.
        lower: Start of the bracket; the result if the function is positive there.
        upper: End of the bracket; the result if the function is negative there.
        guess: First place, in the bracket.
        steps: Number of evaluations.
    """
    x, before = guess, upper - lower
    last = before
    for _ in range(steps):
        value, slope = residual(x)
        lower = ca.if_else(value <= 0, x, lower)
        upper = ca.if_else(value >= 0, x, upper)
        move = value / ca.fmax(slope, 1e-12)
        newton = x - move
        poor = ca.logic_or(
            ca.logic_or(newton < lower, newton > upper), 2 * ca.fabs(move) > ca.fabs(before)
        )
        after = ca.if_else(poor, 0.5 * (lower + upper), newton)
        before, last = last, after - x
        x = after
    return x
