"""Branches and guarded functions for traced geometry.

A branch is a select: both sides are evaluated, so that SIMD lanes may differ. Arguments of square
roots and divisions are guarded where the side that is not selected would make derivatives infinite.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.spatial import Array

SMALLEST_SQUARE = 1e-30
"""Lower bound of the arguments of guarded square roots."""


def is_constant(x: Array) -> bool:
    """Whether a value has no symbol in it."""
    return not isinstance(x, ca.SX) or bool(x.is_constant())


def is_false(condition: Array) -> bool:
    """Whether a condition is false in every state."""
    return is_constant(condition) and not bool(float(condition))


def select(condition: Array, x: Array, y: Array) -> Array:
    """``x`` where the condition is true, else ``y``; numbers are not traced."""
    if is_constant(condition):
        return x if bool(float(condition)) else y
    return ca.if_else(condition, x, y)


def both(a: Array, b: Array) -> Array:
    """Logical and."""
    if is_constant(a):
        return b if bool(float(a)) else False
    if is_constant(b):
        return a if bool(float(b)) else False
    return ca.logic_and(a, b)


def either(a: Array, b: Array) -> Array:
    """Logical or."""
    if is_constant(a):
        return True if bool(float(a)) else b
    if is_constant(b):
        return True if bool(float(b)) else a
    return ca.logic_or(a, b)


def negate(a: Array) -> Array:
    """Logical not."""
    return not bool(float(a)) if is_constant(a) else ca.logic_not(a)


def root(x: Array) -> Array:
    """Square root of ``x``, and of `SMALLEST_SQUARE` below that."""
    return ca.sqrt(ca.fmax(x, SMALLEST_SQUARE))


def norm(v: Array) -> Array:
    """Length of a vector; finite derivatives where it is zero."""
    return root(ca.dot(v, v))


def length_and_inverse(v: Array) -> tuple[Array, Array]:
    """Length of a vector and its reciprocal, with one division; finite where the vector is zero.

    The reciprocal is a square root, so that products with it do not become divisions again.
    """
    square = ca.dot(v, v)
    inverse = ca.sqrt(1 / ca.fmax(square, SMALLEST_SQUARE))
    return square * inverse, inverse


def column(v: Array) -> ca.SX:
    """A vector as a symbolic column."""
    return v if isinstance(v, ca.SX) else ca.SX(np.asarray(v, dtype=float))
