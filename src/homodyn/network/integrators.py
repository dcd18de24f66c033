"""Integration methods of networks: those of all steps, on a column of states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from homodyn.integrate import CLASSICAL, EULER, HEUN, Tableau, leap_frog, runge_kutta

Rates = Callable[[ca.SX, float], ca.SX]
"""Rates of the states at a fraction (0, 1/2 or 1) of the step."""

Method = Callable[[ca.SX, ca.SX, Rates, Sequence[int]], ca.SX]
"""States after a step: from those before, its length, rates, and the states that are positions."""


def explicit(tableau: Tableau) -> Method:
    """The Runge-Kutta method of a table."""

    def step(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
        return runge_kutta(tableau, lambda share, at: (rates(at[0], share),), (x,), h)[0]

    return step


def leaping(x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]) -> ca.SX:
    """Leap-frog; ``positions`` are the states whose rate is another state, others are kicked."""
    drifts = ca.SX(ca.DM.zeros(x.numel(), 1))
    for k in positions:
        drifts[k] = 1

    def kick(at: ca.SX, rate: ca.SX, time: ca.SX) -> ca.SX:
        return at + time * (1 - drifts) * rate

    def drift(at: ca.SX, time: ca.SX) -> ca.SX:
        return at + time * drifts * rates(at, 0.5)

    return leap_frog(lambda share, at: rates(at, share), kick, drift, x, h)


METHODS: dict[str, Method] = {
    "euler": explicit(EULER),
    "runge-kutta": explicit(CLASSICAL),
    "leap-frog": leaping,
    "predictor-corrector": explicit(HEUN),
}
