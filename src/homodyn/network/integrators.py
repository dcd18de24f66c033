"""Integration methods of networks: those of `homodyn.integrate`, on a vector of states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from homodyn.integrate import FIXED_STEP_METHODS, METHOD_KEYWORDS

Rates = Callable[[ca.SX, float], ca.SX]
"""Rates of the states at a fraction (0, 1/2 or 1) of the step."""

METHODS: dict[str, str] = {**METHOD_KEYWORDS, **{name: name for name in FIXED_STEP_METHODS}}
"""Accepted names of integration methods, with their names in `homodyn.integrate`."""


class StateVector:
    """The states of a network as a system for the integration methods.

    Args:
        rates: Rates of the states.
        positions: Indices of states whose rate is another state. Splitting methods drift these and
            kick the others.
    """

    def __init__(self, rates: Rates, positions: Sequence[int]) -> None:
        self._rates = rates
        self._positions = positions

    def _drifts(self, x: ca.SX) -> ca.SX:
        """1 for positions, 0 for other states."""
        drifts = ca.SX(ca.DM.zeros(x.numel(), 1))
        for k in self._positions:
            drifts[k] = 1
        return drifts

    def rate(self, fraction: float, state: tuple[ca.SX]) -> tuple[ca.SX]:
        """Rates of all states."""
        return (self._rates(state[0], fraction),)

    def kick(self, state: tuple[ca.SX], rate: tuple[ca.SX], time: ca.SX) -> tuple[ca.SX]:
        """Advance all states but positions by their rates."""
        (x,) = state
        return (x + time * (1 - self._drifts(x)) * rate[0],)

    def drift(self, state: tuple[ca.SX], time: ca.SX) -> tuple[ca.SX]:
        """Advance positions by their rates."""
        (x,) = state
        return (x + time * self._drifts(x) * self._rates(x, 0.5),)

    def project(self, state: tuple[ca.SX]) -> tuple[ca.SX]:
        """The same states: a vector space needs no projection."""
        return state


def integrate_step(
    method: str, x: ca.SX, h: ca.SX, rates: Rates, positions: Sequence[int]
) -> ca.SX:
    """Integrate one step.

    Args:
        method: Name of a method in `METHODS`.
        x: States.
        h: Length of the step (s).
        rates: Rates of the states.
        positions: Indices of states whose rate is another state.

    Returns:
        The states after the step.
    """
    integrator = FIXED_STEP_METHODS[METHODS[method]]
    (end,) = integrator.step(StateVector(rates, positions), (x,), h)
    return end
