"""Exponential and logarithm of rotations and rigid motions, smooth through zero.

Everything is built on the Stumpff functions c_k(y) = sum (-y)^n / (2n + k)!, which are entire in
y = angle^2: c_0 = cos, c_1 = sin / angle, c_2 = (1 - cos) / angle^2, c_3 = (angle - sin) / angle^3.
Below one they are computed by their series, above by the closed form. The arguments keep the branch
that is not selected finite, so derivatives of any order exist at zero.
"""

from __future__ import annotations

from math import factorial, pi

import casadi as ca
import scipy

from homodyn.spatial import Array, cross, quaternion_product, stack

SERIES_TERMS = 11
SERIES_MAX_ARGUMENT = 1e-2


def stumpff(k: int, y: Array) -> Array:
    """c_k(y) for k from 0 to 3."""
    large = y > 1
    safe = ca.if_else(large, y, 1.0)
    near = ca.if_else(large, 0.0, y)
    series = _horner([(-1) ** n / factorial(2 * n + k) for n in range(SERIES_TERMS)], near)
    angle = ca.sqrt(safe)
    if k == 0:
        closed = ca.cos(angle)
    elif k == 1:
        closed = ca.sin(angle) / angle
    elif k == 2:
        closed = 2 * ca.sin(angle / 2) ** 2 / safe
    else:
        closed = (angle - ca.sin(angle)) / (safe * angle)
    return ca.if_else(large, closed, series)


def quaternion_exp(w: Array) -> Array:
    """The unit quaternion (w, x, y, z) of the rotation vector ``w`` (rad)."""
    quarter = ca.dot(w, w) / 4
    return stack(stumpff(0, quarter), w * (stumpff(1, quarter) / 2))


def quaternion_log(q: Array) -> Array:
    """The rotation vector (rad, length up to pi) of a unit quaternion, of either sign."""
    sign = ca.if_else(q[0] < 0, -1.0, 1.0)
    real, vector = sign * q[0], sign * q[1:4]
    square = ca.dot(vector, vector)
    small = square < SERIES_MAX_ARGUMENT
    near = ca.if_else(small, real, 1.0)
    ratio = ca.if_else(small, square, 0.0) / near**2
    series = _horner([(-1) ** n / (2 * n + 1) for n in range(SERIES_TERMS)], ratio) / near
    length = ca.sqrt(ca.if_else(small, 1.0, square))
    closed = ca.atan2(length, real) / length
    return vector * (2 * ca.if_else(small, series, closed))


def translation_of_twist(w: Array, v: Array) -> Array:
    """Translation of a body with the constant twist (w, v) in its own frame, after unit time.

    V(w) v = v + c_2 w x v + c_3 w x (w x v), in the frame at the start.
    """
    y = ca.dot(w, w)
    wv = cross(w, v)
    return v + stumpff(2, y) * wv + stumpff(3, y) * cross(w, wv)


def twist_of_translation(w: Array, p: Array) -> Array:
    """The inverse of `translation_of_twist`: V(w)^-1 p = p - w x p / 2 + b w x (w x p).

    b = (1 - c_1 / (2 c_2)) / angle^2 = sum of |B_(2n+2)| / (2n+2)! angle^(2n), Bernoulli numbers.
    """
    y = ca.dot(w, w)
    large = y > 1
    safe = ca.if_else(large, y, 1.0)
    closed = (1 - stumpff(1, safe) / (2 * stumpff(2, safe))) / safe
    numbers = [2 * scipy.special.zeta(k) / (2 * pi) ** k for k in range(2, 2 * SERIES_TERMS + 1, 2)]
    series = _horner(numbers, ca.if_else(large, 0.0, y))
    wp = cross(w, p)
    return p - wp / 2 + ca.if_else(large, closed, series) * cross(w, wp)


def quaternion_rate(q: Array, w: Array) -> Array:
    """dq/dt of a quaternion at body angular velocity ``w``: q (0, w) / 2.

    Equals half of a 4 x 3 matrix times w (van den Kieboom eq. 2.50, where a row is missing).
    """
    return quaternion_product(q, stack(0.0, w)) / 2


def quaternion_normalized(q: Array) -> Array:
    """``q`` divided by its length (van den Kieboom divides by the squared length)."""
    return q / ca.norm_2(q)


def _horner(coefficients: list[float], y: Array) -> Array:
    total: Array = 0.0
    for coefficient in reversed(coefficients):
        total = total * y + coefficient
    return total
