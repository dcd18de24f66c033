"""Location of zero crossings: where in an interval of time a quantity Z crosses zero upwards.

An interval in which Z crosses zero is cut at the zero of the secant between its ends (van den
Kieboom, eq. 2.7), and cut again until Z is within its tolerance. Two rules guarantee progress. The
secant of a curved Z may fall short of the zero repeatedly: every third cut is a bisection, so the
bracket always shrinks. And a cut may end just before the zero, so that the rest of the step crosses
once more: callers count Z within its tolerance as reached after a crossing was detected, or
continue until Z is beyond zero.

All functions work on numbers and on symbols alike; truth values are 0 or 1.
"""

from __future__ import annotations

import casadi as ca

from homodyn.spatial import Array

MIN_CUT_FRACTION = 1e-6
MAX_CUT_FRACTION = 1 - 1e-3
"""Limits of the fraction of an interval at which it is cut."""


def is_reached(z: Array, strict: bool = False) -> Array:
    """Test whether Z has reached zero.

    Args:
        z: Value of Z.
        strict: Whether Z must be beyond zero.

    Returns:
        1 where it has, else 0.
    """
    return z > 0 if strict else z >= 0


def crosses_zero(before: Array, after: Array, strict: bool = False) -> Array:
    """Test whether Z is below zero at the start of an interval and has reached it at the end.

    Args:
        before: Z at the start.
        after: Z at the end.
        strict: Whether Z must be beyond zero to have reached it.

    Returns:
        1 where it crosses, else 0.
    """
    return ca.logic_and(ca.logic_not(is_reached(before, strict)), is_reached(after, strict))


def secant_fraction(before: Array, rise: Array, target: Array = 0.0) -> Array:
    """Fraction of an interval at which the secant reaches a value: -Z0 / (Z1 - Z0) for zero.

    Args:
        before: Z at the start.
        rise: Change of Z over the interval.
        target: Value to reach.

    Returns:
        The fraction, 0 at the start and 1 at the end.
    """
    return (target - before) / rise


def cut_fraction(fraction: Array, tries: Array) -> Array:
    """Fraction at which to cut an interval next: the secant's, every third time the middle.

    Args:
        fraction: Zero of the secant.
        tries: Number of cuts so far.

    Returns:
        The fraction, within `MIN_CUT_FRACTION` and `MAX_CUT_FRACTION`.
    """
    middle = ca.eq(tries - 3 * ca.floor(tries / 3), 2)
    secant = ca.fmin(ca.fmax(fraction, MIN_CUT_FRACTION), MAX_CUT_FRACTION)
    return middle * 0.5 + (1 - middle) * secant


def is_located(miss: Array, tolerance: Array, length: Array, shortest: Array) -> Array:
    """Test whether a crossing needs no further cut.

    Args:
        miss: Distance of Z from zero.
        tolerance: Distance that is small enough.
        length: Length of the bracket (s).
        shortest: Length of a bracket that is too short to cut (s).

    Returns:
        1 where it is located, else 0.
    """
    return ca.logic_or(miss <= tolerance, length <= shortest)
