"""Signals of time: phases, timers, finite states and pulses.

Conditions are functions of (t, q, v, batch) that are nonzero where they hold, such as
``lambda t, q, v, batch: q[3] > 0.1``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.simulate.signals.signal import (
    Quantity,
    Signal,
    SignalFunction,
    SignalInput,
    StepSample,
)
from homodyn.spatial import Array

LONG_AGO_S = 1e9
"""Time since an event that has not occurred (s)."""


@record
class PhaseVariable(Record, Signal):
    """The phase of a rhythm, from 0 to below 1: it grows by the frequency and starts again."""

    frequency: Quantity
    """Cycles per second; a name makes it a variable of a search."""
    start: Quantity = 0.0
    """Phase at the start, in cycles."""
    reset: SignalFunction | None = None
    """``f(t, q, v, batch)``: a condition that sets the phase to 0 where it begins to hold."""

    def initial_memory(self, at: SignalInput) -> Array:
        """Phase, and whether the reset condition held before.

        Args:
            at: Initial state.

        Returns:
            (2,).
        """
        start = at.scalar(self.start, "start of the phase")
        return ca.vertcat(start - ca.floor(start), 1.0)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The phase.

        Args:
            at: State at the start of the step.
            memory: Phase and reset condition.

        Returns:
            A number from 0 to 1.
        """
        if self.reset is None:
            return memory[0]
        condition = at.scalar(self.reset, "reset of the phase")
        return ca.if_else(ca.logic_and(condition, memory[1] == 0), 0.0, memory[0])

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Phase and reset condition a step later.

        Args:
            step: The step.
            memory: Phase and reset condition.

        Returns:
            (2,).
        """
        after = self.value(step, memory) + step.h * step.scalar(self.frequency, "frequency")
        before = memory[1]
        if self.reset is not None:
            before = step.scalar(self.reset, "reset of the phase") != 0
        return ca.vertcat(after - ca.floor(after), before)


@record
class Timer(Record, Signal):
    """Time (s) since a condition began to hold; `LONG_AGO_S` before it first did."""

    since: SignalFunction
    """``f(t, q, v, batch)``: the condition."""

    def initial_memory(self, at: SignalInput) -> Array:
        """Time since the condition began to hold, and whether it did at the last step.

        Args:
            at: Initial state.

        Returns:
            (2,).
        """
        return ca.SX([LONG_AGO_S, 0.0])

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The time.

        Args:
            at: State at the start of the step.
            memory: Time and condition.

        Returns:
            s.
        """
        begins = _begins(at.scalar(self.since, "condition of Timer"), memory[1])
        return ca.if_else(begins, 0.0, memory[0])

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Time and condition a step later.

        Args:
            step: The step.
            memory: Time and condition.

        Returns:
            (2,).
        """
        condition = step.scalar(self.since, "condition of Timer")
        return ca.vertcat(self.value(step, memory) + step.h, condition != 0)


class Transition(NamedTuple):
    """A change of a `StateMachine` from one state to another where a condition holds."""

    source: str
    target: str
    when: SignalFunction
    """``f(t, q, v, batch)``: the condition."""


@record
class StateMachine(Record, Signal):
    """Finite states, such as stance and swing. The value is the index of the state.

    At the start of each step the first transition whose source is the state and whose condition
    holds is taken; at most one a step.

    Raises:
        ModelError: A transition names an unknown state, or states repeat.
    """

    states: tuple[str, ...]
    """Names of the states; the first one is that of the start."""
    transitions: Sequence[Transition | tuple[str, str, SignalFunction]]
    """Source, target and condition of each transition."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", tuple(self.states))
        object.__setattr__(self, "transitions", tuple(Transition(*t) for t in self.transitions))
        if len(set(self.states)) != len(self.states):
            raise ModelError(f"states of a StateMachine repeat: {', '.join(self.states)}")
        for source, target, _ in self.transitions:
            for name in (source, target):
                if name not in self.states:
                    raise ModelError(f"StateMachine: {unknown_name('state', name, self.states)}")

    def initial_memory(self, at: SignalInput) -> Array:
        """The first state.

        Args:
            at: Initial state.

        Returns:
            Its index, 0.
        """
        return ca.SX(0.0)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """Index of the state.

        Args:
            at: State at the start of the step.
            memory: Index of the state before.

        Returns:
            An index into ``states``.
        """
        state = memory
        for source, target, when in reversed(self.transitions):
            condition = at.scalar(when, f"transition from {source!r} to {target!r}")
            taken = ca.logic_and(memory == self.states.index(source), condition)
            state = ca.if_else(taken, float(self.states.index(target)), state)
        return state

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Index of the state.

        Args:
            step: The step.
            memory: Index of the state before.

        Returns:
            An index into ``states``.
        """
        return self.value(step, memory)


@record
class Pulse(Record, Signal):
    """1 during an interval after a condition begins to hold, else 0.

    In a step that the interval covers partly, it is the covered fraction, so that a force times the
    pulse has the same impulse for all steps. The condition restarts the interval.
    """

    when: SignalFunction
    """``f(t, q, v, batch)``: the condition."""
    duration: Quantity
    """Length of the interval (s)."""
    delay: Quantity = 0.0
    """Time from the condition to the interval (s)."""

    def initial_memory(self, at: SignalInput) -> Array:
        """Time since the condition began to hold, and whether it did at the last step.

        Args:
            at: Initial state.

        Returns:
            (2,).
        """
        return ca.SX([LONG_AGO_S, 0.0])

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The fraction of the step that the interval covers.

        Args:
            at: State at the start of the step.
            memory: Time and condition.

        Returns:
            A number from 0 to 1.
        """
        elapsed = Timer(self.when).value(at, memory)
        delay = at.scalar(self.delay, "delay of Pulse")
        duration = at.scalar(self.duration, "duration of Pulse")
        return covered_fraction(elapsed, at.h, delay, duration)

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Time and condition a step later.

        Args:
            step: The step.
            memory: Time and condition.

        Returns:
            (2,).
        """
        return Timer(self.when).next_memory(step, memory)


def covered_fraction(t: Array, h: Array, start: Array, duration: Array) -> Array:
    """The fraction of a step from ``t`` to ``t + h`` that an interval covers (s)."""
    covered = ca.fmin(t + h, start + duration) - ca.fmax(t, start)
    return ca.fmax(covered, 0.0) / h


def _begins(condition: Array, before: Array) -> Array:
    """Whether a condition holds and did not before."""
    return ca.logic_and(condition != 0, before == 0)
