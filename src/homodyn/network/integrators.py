"""Integration methods of fixed step, as formulas over a function that gives the rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

Rates = Callable[[ca.SX, float], ca.SX]
"""Rates of the states at a fraction (0, 1/2 or 1) of the step."""


def euler(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
    """Order 1."""
    return x + h * rates(x, 0.0)


def runge_kutta(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
    """The classical method of order 4."""
    k1 = rates(x, 0.0)
    k2 = rates(x + h / 2 * k1, 0.5)
    k3 = rates(x + h / 2 * k2, 0.5)
    k4 = rates(x + h * k3, 1.0)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def leap_frog(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
    """Kick, drift, kick: order 2 and symplectic where rates of velocities depend on positions.

    ``positions`` are the states whose rate is another state; the others are kicked.
    """
    drifts = ca.SX(ca.DM.zeros(x.numel(), 1))
    for k in positions:
        drifts[k] = 1
    kicks = 1 - drifts
    half = x + h / 2 * kicks * rates(x, 0.0)
    moved = half + h * drifts * rates(half, 0.5)
    return moved + h / 2 * kicks * rates(moved, 1.0)


def predictor_corrector(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
    """An Euler step corrected by the trapezoid rule: order 2."""
    k1 = rates(x, 0.0)
    k2 = rates(x + h * k1, 1.0)
    return x + h / 2 * (k1 + k2)


METHODS: dict[str, Callable[[ca.SX, ca.SX, Rates, Sequence[int]], ca.SX]] = {
    "euler": euler,
    "runge-kutta": runge_kutta,
    "leap-frog": leap_frog,
    "predictor-corrector": predictor_corrector,
}
