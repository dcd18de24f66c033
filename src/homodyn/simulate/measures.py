"""Measures: numbers about a whole simulation, accumulated step by step inside its kernel.

A measure is a function of the step, ``f(step)`` over symbols; `StepSample` lists what a step knows.
Steps whose middle lies in the window of a measure count. A simulation that ends or fails keeps the
measures of the steps before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.signals import Quantity, StepSample
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches

MeasureFunction = Callable[[StepSample], Any]
"""``f(step)`` over symbols: a number, or a column of numbers."""


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A number, or a column of numbers, about a whole simulation.

    Derive from it to add your own: ``initial``, ``accumulate`` and ``result``.
    """

    start: Quantity = 0.0
    """Start of the window (s): a number, or the name of a batch parameter or signal."""
    end: Quantity = np.inf
    """End of the window (s)."""
    during: MeasureFunction | None = None
    """``f(step)``: a condition; only steps where it holds count."""

    @abstractmethod
    def initial(self, step: StepSample) -> Array:
        """The memory before the first step: numbers without symbols.

        Args:
            step: A step, for the sizes of its quantities.

        Returns:
            A column.
        """

    @abstractmethod
    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """The memory after a step in the window.

        Args:
            step: The step.
            memory: The memory before it.

        Returns:
            A column of the same size.
        """

    def result(self, memory: np.ndarray) -> np.ndarray:
        """The value of the measure.

        Args:
            memory: (batch, size) after the last step.

        Returns:
            (batch, ...).
        """
        return memory

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The memory after any step.

        Args:
            step: The step.
            memory: The memory before it.

        Returns:
            A column of the same size.
        """
        after = self.accumulate(step, memory)
        middle = step.t + step.h / 2
        conditions = []
        if self.start != 0.0:
            conditions.append(middle > step.scalar(self.start, "start of a measure"))
        if self.end != np.inf:
            conditions.append(middle < step.scalar(self.end, "end of a measure"))
        if self.during is not None:
            conditions.append(_evaluate(self.during, step, "during of a measure") != 0)
        for condition in conditions:
            after = ca.if_else(condition, after, memory)
        return after


def _evaluate(function: MeasureFunction, step: StepSample, what: str) -> Array:
    with explain_branches(what):
        value = ca.densify(ca.SX(function(step)))
    if value.shape[1] != 1:
        raise ModelError(f"{what} returns {value.shape[0]} x {value.shape[1]} numbers, no column")
    return value


@dataclass(frozen=True)
class _FunctionMeasure(Measure):
    """A measure of one function of the step."""

    function: MeasureFunction
    """``f(step)`` over symbols: a number, or a column of numbers."""

    def _value(self, step: StepSample) -> Array:
        return _evaluate(self.function, step, f"function of {type(self).__name__}")

    def _size(self, step: StepSample) -> int:
        return int(self._value(step).shape[0])


@record
class Integral(Record, _FunctionMeasure):
    """Integral over time: the sum of the value times the length of the step.

    Work is the integral of ``step.power``, effort that of a squared torque, and the time in which a
    condition holds the integral of the condition.
    """

    def initial(self, step: StepSample) -> Array:
        """Zero.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return ca.SX.zeros(self._size(step))

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """The sum with this step.

        Args:
            step: The step.
            memory: The sum before.

        Returns:
            The sum.
        """
        return memory + step.h * self._value(step)


@record
class Mean(Record, _FunctionMeasure):
    """Mean over time; NaN where no step counts."""

    def initial(self, step: StepSample) -> Array:
        """Zero time and sums.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return ca.SX.zeros(1 + self._size(step))

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """Time and mean with this step (Welford 1962).

        Args:
            step: The step.
            memory: Time and mean before.

        Returns:
            Time and mean.
        """
        time = memory[0] + step.h
        mean = memory[1:]
        return ca.vertcat(time, mean + (step.h / time) * (self._value(step) - mean))

    def result(self, memory: np.ndarray) -> np.ndarray:
        """The mean.

        Args:
            memory: (batch, 1 + size).

        Returns:
            (batch, size).
        """
        return np.where(memory[:, :1] > 0, memory[:, 1:], np.nan)


@record
class StandardDeviation(Record, _FunctionMeasure):
    """Standard deviation over time; NaN where no step counts."""

    def initial(self, step: StepSample) -> Array:
        """Zero time, means and sums of squares.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return ca.SX.zeros(1 + 2 * self._size(step))

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """Time, mean and sum of squared deviations with this step (Welford 1962).

        Args:
            step: The step.
            memory: The same before it.

        Returns:
            A column.
        """
        value = self._value(step)
        size = value.shape[0]
        time = memory[0] + step.h
        mean, squares = memory[1 : 1 + size], memory[1 + size :]
        deviation = value - mean
        after = mean + (step.h / time) * deviation
        return ca.vertcat(time, after, squares + step.h * deviation * (value - after))

    def result(self, memory: np.ndarray) -> np.ndarray:
        """The standard deviation.

        Args:
            memory: (batch, 1 + 2 size).

        Returns:
            (batch, size).
        """
        size = (memory.shape[1] - 1) // 2
        time = memory[:, :1]
        variance = memory[:, 1 + size :] / np.where(time > 0, time, 1.0)
        return np.where(time > 0, np.sqrt(np.maximum(variance, 0.0)), np.nan)


@record
class Minimum(Record, _FunctionMeasure):
    """Smallest value at the start of a step; infinite where no step counts."""

    def initial(self, step: StepSample) -> Array:
        """Infinity.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return ca.SX.ones(self._size(step)) * np.inf

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """The smaller of the smallest value so far and that of this step.

        Args:
            step: The step.
            memory: The smallest value so far.

        Returns:
            A column.
        """
        return ca.fmin(memory, self._value(step))


@record
class Maximum(Record, _FunctionMeasure):
    """Largest value at the start of a step; minus infinity where no step counts."""

    def initial(self, step: StepSample) -> Array:
        """Minus infinity.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return -ca.SX.ones(self._size(step)) * np.inf

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """The larger of the largest value so far and that of this step.

        Args:
            step: The step.
            memory: The largest value so far.

        Returns:
            A column.
        """
        return ca.fmax(memory, self._value(step))


@record
class Count(Record, _FunctionMeasure):
    """How often a condition begins to hold; one that holds at the first step does not count.

    Outside the window the condition is not looked at: one that begins there and still holds in the
    window counts once.
    """

    def initial(self, step: StepSample) -> Array:
        """Zero counts, and conditions that hold.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        size = self._size(step)
        return ca.vertcat(ca.SX.zeros(size), ca.SX.ones(size))

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """Counts and conditions with this step.

        Args:
            step: The step.
            memory: Counts and conditions before.

        Returns:
            A column.
        """
        condition = self._value(step) != 0
        size = condition.shape[0]
        begins = ca.logic_and(condition, memory[size:] == 0)
        return ca.vertcat(memory[:size] + begins, condition)

    def result(self, memory: np.ndarray) -> np.ndarray:
        """The counts.

        Args:
            memory: (batch, 2 size).

        Returns:
            (batch, size).
        """
        return memory[:, : memory.shape[1] // 2]


@record
class FirstTime(Record, _FunctionMeasure):
    """Time (s) of the first step at whose start a condition holds; infinite where it never does."""

    def initial(self, step: StepSample) -> Array:
        """Infinity.

        Args:
            step: A step, for the size.

        Returns:
            A column.
        """
        return ca.SX.ones(self._size(step)) * np.inf

    def accumulate(self, step: StepSample, memory: Array) -> Array:
        """The first time so far.

        Args:
            step: The step.
            memory: The first time before this step.

        Returns:
            A column.
        """
        return ca.if_else(self._value(step) != 0, ca.fmin(memory, step.t), memory)


def measure_values(measure: Any, memory: np.ndarray) -> np.ndarray:
    """The value of a measure, without the last axis where it is a single number."""
    values = np.asarray(measure.result(memory))
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
