"""A model in motion as a system for the methods of `homodyn.integrate`.

The state is (q, v, z, w): positions, velocities, memory of the contact law, and work so far.
``rate(t, state)`` returns their derivatives except that of q, which follows from v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from homodyn.model import Model
from homodyn.model.configuration import normalize, rates
from homodyn.spatial import Array

WORK_NAMES = ("actuators", "contacts", "joints", "external", "events", "event springs")
"""Entries of the work of a simulation (J): that of actuators, contacts, joint rows and forces
on bodies; energy that actions of events added, and the part of it stored in springs."""
WORK_SIZE = len(WORK_NAMES)


class MotionRates(NamedTuple):
    """Rates of velocity, memory and work, and constraint forces."""

    a: Array
    z: Array
    w: Array
    constraint_force: Array


class MotionState(NamedTuple):
    """Positions, velocities, memory and work."""

    q: Array
    v: Array
    z: Array
    w: Array


Rate = Callable[[Array, MotionState], MotionRates]


class MotionSystem:
    """Rates, kicks and drifts of a model in a step of ``h`` (s) from the time ``t`` (s)."""

    def __init__(self, model: Model, rate: Rate, t: Array, h: Array) -> None:
        self.model, self._rate, self.t, self.h = model, rate, t, h

    def rate(self, fraction: float, state: MotionState) -> MotionState:
        """Rates of all parts of a state."""
        at = MotionState(*state)
        f = self._rate(self.t + fraction * self.h, at)
        return MotionState(rates(self.model, at.q, at.v), f.a, f.z, f.w)

    def kick(self, state: MotionState, rate: MotionState, time: Array) -> MotionState:
        """The state after velocities, memory and work advance along their rates."""
        parts = (start + time * change for start, change in zip(state[1:], rate[1:], strict=True))
        return MotionState(state.q, *parts)

    def drift(self, state: MotionState, time: Array) -> MotionState:
        """The state after positions advance along the velocities, on their manifold."""
        return state._replace(q=self.model.integrate(state.q, time * state.v))

    def project(self, state: Any) -> MotionState:
        """The state with normalized quaternions.

        Their equation preserves the norm exactly, so the projection does not reduce the order.
        """
        end = MotionState(*state)
        return end._replace(q=normalize(self.model, end.q))
