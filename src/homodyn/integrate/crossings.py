"""Where in a stretch of time a quantity Z passes zero upwards: signs, a straight line, an end.

A step in which Z passed is cut where a straight line between its ends puts the zero (van den
Kieboom, eq. 2.7), and cut again until Z is within its tolerance. Two things keep that from going on
for ever. Of a bent Z the line may fall short of the zero again and again: every third cut is in the
middle, so the stretch that holds the zero always shrinks. And it may end just before the zero, so
that the rest of the step passes once more: whoever cuts steps counts Z within its tolerance as met
once it has been seen to pass, or goes on until it lies beyond.

All works on numbers and on symbols alike; truths are 0 or 1.
"""

from __future__ import annotations

import casadi as ca

from homodyn.spatial import Array

LEAST, MOST = 1e-6, 1 - 1e-3
"""Shares of a stretch between which it is cut."""


def holds(z: Array, strict: bool = False) -> Array:
    """Whether Z has come to zero or, if that is ``strict``, beyond it."""
    return z > 0 if strict else z >= 0


def passes(before: Array, after: Array, strict: bool = False) -> Array:
    """Whether Z does not hold at one end of a stretch and does at the other."""
    return ca.logic_and(ca.logic_not(holds(before, strict)), holds(after, strict))


def line_share(before: Array, rise: Array, aim: Array = 0.0) -> Array:
    """The share of a stretch at which a line from ``before`` that rises by ``rise`` is at ``aim``.

    -Z0 / (Z1 - Z0) for the zero itself (eq. 2.7).
    """
    return (aim - before) / rise


def cut(share: Array, tries: Array) -> Array:
    """Where to cut a stretch next: at a share kept off its ends, every third time in the middle."""
    middle = ca.eq(tries - 3 * ca.floor(tries / 3), 2)
    return middle * 0.5 + (1 - middle) * ca.fmin(ca.fmax(share, LEAST), MOST)


def settled(miss: Array, tolerance: Array, length: Array, shortest: Array) -> Array:
    """Whether a passed zero needs no further cut: near enough, or the stretch too short for one."""
    return ca.logic_or(miss <= tolerance, length <= shortest)
