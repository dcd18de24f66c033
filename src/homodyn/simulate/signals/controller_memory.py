"""Signals with memory: filters, delays, holds, phases, timers, finite states and pulses.

Conditions are functions of (t, q, v, batch) that are nonzero where they hold, such as
``lambda t, q, v, batch: q[3] > 0.1``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

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
class LowPass(Record, Signal):
    """A low-pass filter of first order: y' = (x - y) / T, exact for an input held over the step.

    It starts at the initial value of its input.
    """

    input: Quantity
    """The input x: a name, or ``f(t, q, v, batch)``, which may return a column."""
    time_constant: Quantity
    """T (s); the cut-off frequency is 1 / (2 pi T)."""

    def initial_memory(self, at: SignalInput) -> Array:
        """The input at the start.

        Args:
            at: Initial state.

        Returns:
            A column.
        """
        return at.evaluate(self.input, "input of LowPass")

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The filtered input.

        Args:
            at: State at the start of the step.
            memory: y.

        Returns:
            y.
        """
        return memory

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The filtered input a step later.

        Args:
            step: The step.
            memory: y.

        Returns:
            The next y.
        """
        time_constant = step.scalar(self.time_constant, "time_constant of LowPass")
        x = step.evaluate(self.input, "input of LowPass")
        return x + ca.exp(-step.h / time_constant) * (memory - x)


@record
class Delay(Record, Signal):
    """The input some time ago, linear between the starts of steps of equal length.

    Before that time has passed it is the initial value of the input.

    Raises:
        ModelError: ``max_steps`` is less than 1.
    """

    input: Quantity
    """A name, or ``f(t, q, v, batch)``, which may return a column."""
    time: Quantity
    """The delay (s), at most ``max_steps`` steps; longer delays are as long as that."""
    max_steps: int
    """Number of past values that are stored."""

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise ModelError(f"a delay needs max_steps of at least 1, got {self.max_steps}")

    def initial_memory(self, at: SignalInput) -> Array:
        """The input at the start, as if it had been constant before.

        Args:
            at: Initial state.

        Returns:
            (max_steps * size,).
        """
        return ca.repmat(at.evaluate(self.input, "input of Delay"), self.max_steps, 1)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The delayed input.

        Args:
            at: State at the start of the step.
            memory: Past inputs, the last one first.

        Returns:
            A column.
        """
        now = at.evaluate(self.input, "input of Delay")
        past = ca.horzcat(now, ca.reshape(memory, now.shape[0], self.max_steps))
        steps = ca.fmin(at.scalar(self.time, "time of Delay") / at.h, float(self.max_steps))
        weights = [ca.fmax(0.0, 1.0 - ca.fabs(steps - k)) for k in range(self.max_steps + 1)]
        return past @ ca.vertcat(*weights)

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Past inputs a step later.

        Args:
            step: The step.
            memory: Past inputs, the last one first.

        Returns:
            The next past inputs.
        """
        now = step.evaluate(self.input, "input of Delay")
        kept, _ = ca.vertsplit(memory, [0, memory.numel() - now.numel(), memory.numel()])
        return ca.vertcat(now, kept)


@record
class Hold(Record, Signal):
    """The input at the last start of a step at which a condition held; at first its initial value.

    It samples and holds: angles at touchdown, or a controller that runs at its own rate.
    """

    input: Quantity
    """A name, or ``f(t, q, v, batch)``, which may return a column."""
    when: SignalFunction
    """``f(t, q, v, batch)``: the condition."""

    def initial_memory(self, at: SignalInput) -> Array:
        """The input at the start.

        Args:
            at: Initial state.

        Returns:
            A column.
        """
        return at.evaluate(self.input, "input of Hold")

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The held input.

        Args:
            at: State at the start of the step.
            memory: The held input so far.

        Returns:
            A column.
        """
        condition = at.scalar(self.when, "condition of Hold")
        return ca.if_else(condition, at.evaluate(self.input, "input of Hold"), memory)

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The held input.

        Args:
            step: The step.
            memory: The held input so far.

        Returns:
            A column.
        """
        return self.value(step, memory)


@record
class DynamicState(Record, Signal):
    """A state x of the controller with x' = rate, by explicit Euler steps; an oscillator, say."""

    initial: Quantity | Sequence[float]
    """x at the start: numbers, a name, or ``f(t, q, v, batch)``."""
    rate: Callable[[Any, Any, Any, Any, Any], Any]
    """``f(t, q, v, batch, x)`` over symbols: the derivative of x (1/s), of its size."""

    def initial_memory(self, at: SignalInput) -> Array:
        """The initial x.

        Args:
            at: Initial state.

        Returns:
            A column.
        """
        if callable(self.initial) or isinstance(self.initial, str):
            return at.evaluate(self.initial, "initial value of DynamicState")
        return ca.SX(np.atleast_1d(np.asarray(self.initial, dtype=float)))

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The state.

        Args:
            at: State at the start of the step.
            memory: x.

        Returns:
            x.
        """
        return memory

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The state a step later.

        Args:
            step: The step.
            memory: x.

        Returns:
            The next x.
        """
        rate = ca.SX(self.rate(step.t, step.q, step.v, step.batch, memory))
        if rate.shape != memory.shape:
            raise ModelError(
                f"the rate of a DynamicState has {rate.shape[0]} entries, its state has "
                f"{memory.shape[0]}"
            )
        return memory + step.h * rate


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


@record
class ForceFeedback(Record, Signal):
    """Force on a contact shape or a body in the last step (N, world), (3,); zero at the start."""

    name: str
    """Name of the contact shape or body."""

    def initial_memory(self, at: SignalInput) -> Array:
        """No force.

        Args:
            at: Initial state.

        Returns:
            (3,).
        """
        return ca.SX.zeros(3)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The force in the last step.

        Args:
            at: State at the start of the step.
            memory: The force.

        Returns:
            N, (3,).
        """
        return memory

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The force in this step.

        Args:
            step: The step.
            memory: Not used.

        Returns:
            N, (3,).
        """
        return step.force(self.name)


def covered_fraction(t: Array, h: Array, start: Array, duration: Array) -> Array:
    """The fraction of a step from ``t`` to ``t + h`` that an interval covers (s)."""
    covered = ca.fmin(t + h, start + duration) - ca.fmax(t, start)
    return ca.fmax(covered, 0.0) / h


def _begins(condition: Array, before: Array) -> Array:
    """Whether a condition holds and did not before."""
    return ca.logic_and(condition != 0, before == 0)
