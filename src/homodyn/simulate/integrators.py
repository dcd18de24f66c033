"""A model in motion as a system that the methods of `homodyn.integrate` advance.

The state is (q, v, z, w): positions, velocities, memory of the contact law, and work done so far.
``rate(t, state)`` gives their derivatives except that of q, which follows from v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from homodyn.integrate import FIXED_STEP_METHODS, Integrator
from homodyn.model import Model, normalize, rates
from homodyn.spatial import Array


class Flow(NamedTuple):
    """Rates of velocity, memory and work, and the forces that hold constraints."""

    a: Array
    z: Array
    w: Array
    held: Array


class State(NamedTuple):
    """Positions, velocities, memory and work."""

    q: Array
    v: Array
    z: Array
    w: Array


Rate = Callable[[Array, State], Flow]


class MotionSystem:
    """Rates, kicks and drifts of a model that is at the time ``t`` (s) when a step begins."""

    def __init__(self, model: Model, rate: Rate, t: Array, h: Array) -> None:
        self.model, self._rate, self.t, self.h = model, rate, t, h

    def rate(self, fraction: float, state: State) -> State:
        """Rates of all parts of a state."""
        at = State(*state)
        f = self._rate(self.t + fraction * self.h, at)
        return State(rates(self.model, at.q, at.v), f.a, f.z, f.w)

    def kick(self, state: State, rate: State, time: Array) -> State:
        """Velocities, memory and work moved along their rates."""
        parts = (start + time * change for start, change in zip(state[1:], rate[1:], strict=True))
        return State(state.q, *parts)

    def drift(self, state: State, time: Array) -> State:
        """Positions moved along the velocities, on their manifold."""
        return state._replace(q=self.model.integrate(state.q, time * state.v))

    def project(self, state: Any) -> State:
        """Quaternions, which moved along straight lines, normalized.

        Their equation preserves the norm exactly, so the projection does not cost an order.
        """
        end = State(*state)
        return end._replace(q=normalize(self.model, end.q))


INTEGRATORS: dict[str, Integrator] = FIXED_STEP_METHODS
"""Fixed-step integrators that can be part of a kernel, by name."""
