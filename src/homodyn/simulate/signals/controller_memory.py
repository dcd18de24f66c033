"""Signals that store values: filters, delays, holds, states with a rate, and forces.

Conditions are functions of (t, q, v, batch) that are nonzero where they hold, such as
``lambda t, q, v, batch: q[3] > 0.1``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.signals.signal import (
    Quantity,
    Signal,
    SignalFunction,
    SignalInput,
    StepSample,
)
from homodyn.spatial import Array


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
