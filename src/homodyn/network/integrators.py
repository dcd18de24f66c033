"""Integration methods of fixed step, as formulas over a function that gives the rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from homodyn.symbolic.tableaus import CLASSICAL, EULER, HEUN, Tableau

Rates = Callable[[ca.SX, float], ca.SX]
"""Rates of the states at a fraction (0, 1/2 or 1) of the step."""
Method = Callable[[ca.SX, ca.SX, Rates, Sequence[int]], ca.SX]
"""States at the end of a step: from those at its start, its length, rates, and which drift."""


def explicit(tableau: Tableau) -> Method:
    """A method of Runge and Kutta, by its table."""

    def step(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
        slopes: list[ca.SX] = []
        for row in tableau.stages:
            slopes.append(rates(_moved(x, h, row, slopes), sum(row)))
        return _moved(x, h, tableau.weights, slopes)

    return step


def _moved(x: ca.SX, h: ca.SX, weights: Sequence[float], slopes: Sequence[ca.SX]) -> ca.SX:
    for weight, slope in zip(weights, slopes, strict=False):
        if weight:
            x = x + weight * h * slope
    return x


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


METHODS: dict[str, Method] = {
    "euler": explicit(EULER),
    "runge-kutta": explicit(CLASSICAL),
    "leap-frog": leap_frog,
    "predictor-corrector": explicit(HEUN),
}
