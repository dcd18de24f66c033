"""Integration methods of fixed step, over states in parts of any array type.

A method asks for rates at a share of the step (0 at its start, 1 at its end) and a state, and gives
the state at the end. Explicit Runge-Kutta methods are tables. Methods that split the motion move
what has a velocity (``drift``) and what has a rate (``kick``) in turns; how is told by the caller,
so that positions may live on a manifold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import add
from typing import Any, NamedTuple, TypeVar

from homodyn.spatial import Array

Parts = tuple[Array, ...]
"""Arrays that make up a state, or its rates."""

Rate = Callable[[float, Any], Any]
"""Rates of a state at a share of the step."""

State = TypeVar("State")

Kick = Callable[[State, Any, Array], State]
"""The state after all but the positions went along given rates for a time."""

Drift = Callable[[State, Array], State]
"""The state after the positions went along their velocities for a time."""


class Tableau(NamedTuple):
    """An explicit Runge-Kutta method.

    A stage looks at x + h sum(row * slopes so far), at the share sum(row) of the step; the step
    ends at x + h sum(weights * slopes).
    """

    stages: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]


_NONE, _ALL, _HALF, _THIRD, _SIXTH = map(Fraction, ("0", "1", "1/2", "1/3", "1/6"))

EULER = Tableau(((),), (_ALL,))
"""The slope at the start; order 1."""
HEUN = Tableau(((), (_ALL,)), (_HALF, _HALF))
"""Euler predicts, the trapezoid of both ends corrects; order 2."""
CLASSICAL = Tableau(
    ((), (_HALF,), (_NONE, _HALF), (_NONE, _NONE, _ALL)), (_SIXTH, _THIRD, _THIRD, _SIXTH)
)
"""The four stages of Kutta (1901); order 4."""


def runge_kutta(tableau: Tableau, rate: Rate, x: Parts, h: Array) -> Parts:
    """The parts of a state ``h`` later, by the stages of a table."""
    slopes: list[Parts] = []
    for row in tableau.stages:
        slopes.append(rate(float(sum(row)), _moved(x, slopes, row, h)))
    return _moved(x, slopes, tableau.weights, h)


def _moved(x: Parts, slopes: Sequence[Parts], weights: Sequence[Fraction], h: Array) -> Parts:
    """X + h / n (sum of whole numbers times slopes): fewest products, and slopes stay whole."""
    counted = [(one, slope) for one, slope in zip(weights, slopes, strict=False) if one]
    if not counted:
        return x
    below = lcm(*[one.denominator for one, _ in counted])
    pace = h if below == 1 else h / below
    parts = []
    for k, start in enumerate(x):
        terms = [_times(int(one * below), slope[k]) for one, slope in counted]
        parts.append(start + pace * reduce(add, terms))
    return tuple(parts)


def _times(count: int, slope: Array) -> Array:
    return slope if count == 1 else count * slope


def kick_drift(rate: Rate, kick: Kick[State], drift: Drift[State], x: State, h: Array) -> State:
    """Semi-implicit Euler: the new velocity moves the position; order 1, symplectic for springs."""
    return drift(kick(x, rate(0.0, x), h), h)


def leap_frog(rate: Rate, kick: Kick[State], drift: Drift[State], x: State, h: Array) -> State:
    """Half a kick, a whole drift, half a kick (velocity Verlet); order 2, symplectic for springs.

    For rates that depend on velocities the last kick looks at extrapolated ones: those of the
    middle would leave it at order 1.
    """
    begin = rate(0.0, x)
    there = drift(kick(x, begin, h / 2), h)
    end = rate(1.0, kick(there, begin, h / 2))
    return kick(there, end, h / 2)
