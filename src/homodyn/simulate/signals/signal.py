"""The interface of signals: named values that controllers compute, with memory where they need it.

The signals of a simulation are computed at the start of each step, in their order. Everything that
looks up batch parameters by name (actuations, gains, forces, contact laws, events and later
signals) finds them under their names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import Record, record, unknown_name
from homodyn.model import Model
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.geometry import Gap
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches

SignalFunction = Callable[..., Any]
"""``f(t, q, v, batch)`` over symbols; ``batch`` has batch parameters and earlier signals."""

Quantity = float | str | SignalFunction
"""A number, the name of a batch parameter or an earlier signal, or a `SignalFunction`."""


@dataclass(frozen=True, eq=False)
class SignalInput:
    """What a signal can use, over symbols: the state at the start of a step."""

    model: Model
    t: Array
    """Time (s)."""
    h: Array
    """Length of the step (s)."""
    q: Array
    """Positions, (nq,)."""
    v: Array
    """Velocities, (nv,)."""
    batch: BatchParameters
    """Batch parameters and the signals that come earlier, by name."""

    def evaluate(self, quantity: Quantity, what: str) -> Array:
        """The value of a quantity.

        Args:
            quantity: A number, a name, or a function of (t, q, v, batch).
            what: What the quantity is, for messages.

        Returns:
            A column.

        Raises:
            ModelError: The name is unknown.
        """
        if isinstance(quantity, str):
            if quantity not in self.batch:
                message = unknown_name("batch parameter or earlier signal", quantity, self.batch)
                raise ModelError(f"{what}: {message}")
            return ca.SX(self.batch[quantity])
        if callable(quantity):
            with explain_branches(what):
                value = quantity(self.t, self.q, self.v, self.batch)
            return ca.densify(ca.SX(value))
        return ca.SX(float(quantity))

    def scalar(self, quantity: Quantity, what: str) -> Array:
        """The value of a quantity that must be one number.

        Args:
            quantity: A number, a name, or a function of (t, q, v, batch).
            what: What the quantity is, for messages.

        Returns:
            A scalar.

        Raises:
            ModelError: The name is unknown, or the value is not one number.
        """
        value = self.evaluate(quantity, what)
        if value.shape != (1, 1):
            raise ModelError(f"{what}: one number is needed, got {value.shape[0]}")
        return value


@dataclass(frozen=True, eq=False)
class StepSample(SignalInput):
    """A step that was taken, over symbols: state at its start, and forces and velocities in it.

    ``batch`` has all signals.
    """

    next_q: Array
    """Positions at the end of the step, (nq,)."""
    next_v: Array
    """Velocities at the end of the step, (nv,)."""
    torque: Array
    """Torques of actuators in the step (N m, N), (nv,)."""
    gaps: list[Gap]
    """Gaps of the contact shapes at the start of the step."""
    gap_forces: list[Array]
    """Force on the body of each gap (N, world), (3,) each."""
    row_forces: Array = field(default_factory=lambda: ca.SX(0, 1))
    """Forces of constraints and rows (N, N m), in the order of `row_names`."""
    row_names: tuple[str, ...] | None = None
    """Names of constraints and rows; None where only the sizes of values count."""

    def row_force(self, name: str) -> Array:
        """Force of a constraint or a row.

        Args:
            name: Its name.

        Returns:
            Force (N) or torque (N m).

        Raises:
            ModelError: No constraint or row has that name.
        """
        if self.row_names is None:
            return ca.SX(0.0)
        if name not in self.row_names:
            raise ModelError(unknown_name("constraint or row", name, self.row_names))
        return self.row_forces[self.row_names.index(name)]

    @cached_property
    def mean_v(self) -> Array:
        """Mean of the velocities at the ends of the step, (nv,).

        The work of torques in the step is ``h * dot(torque, mean_v)``.
        """
        return (self.v + self.next_v) / 2

    @cached_property
    def power(self) -> Array:
        """Power of each actuator (W), (nv,); its integral is the work in the energy balance."""
        return self.torque * self.mean_v

    def force(self, name: str) -> Array:
        """Sum of the contact forces on a contact shape or a body.

        Args:
            name: Name of a contact shape or a body.

        Returns:
            Force (N, world), (3,).

        Raises:
            ModelError: No contact shape or body has that name.
        """
        shapes = [shape.name for shape in self.model.contacts]
        bodies = self.model.body_names
        if name not in (*shapes, *bodies):
            raise ModelError(unknown_name("contact shape or body", name, (*shapes, *bodies)))
        total: Array = ca.SX.zeros(3)
        for gap, force in zip(self.gaps, self.gap_forces, strict=True):
            if name in shapes:
                total = total + force if shapes[gap.shape] == name else total
                continue
            if gap.body >= 0 and bodies[gap.body] == name:
                total = total + force
            if gap.other >= 0 and bodies[gap.other] == name:
                total = total - force
        return total

    @property
    def total_force(self) -> Array:
        """Sum of the contact forces on the model (N, world), (3,); pairs of bodies cancel."""
        outside = [f for g, f in zip(self.gaps, self.gap_forces, strict=True) if g.other < 0]
        return sum(outside, ca.SX.zeros(3))

    def distance(self, name: str) -> Array:
        """Smallest distance of a contact shape.

        Args:
            name: Name of the contact shape.

        Returns:
            Distance (m), negative where bodies overlap; infinite where nothing can be touched.

        Raises:
            ModelError: No contact shape has that name.
        """
        shapes = [shape.name for shape in self.model.contacts]
        if name not in shapes:
            raise ModelError(unknown_name("contact shape", name, shapes))
        found = [gap.distance for gap in self.gaps if shapes[gap.shape] == name]
        smallest: Array = ca.SX(np.inf)
        for distance in found:
            smallest = ca.fmin(smallest, distance)
        return smallest


class Signal(ABC):
    """A named value of a simulation; derive from it to add your own.

    A signal is traced once over symbols, so it must not branch on values. What it stores from step
    to step is its memory, a column of numbers.
    """

    def initial_memory(self, at: SignalInput) -> Array:
        """The memory at the start of the simulation.

        Args:
            at: Initial state and batch parameters. The length of the step is 0.

        Returns:
            A column, empty for signals without memory. Its size must not depend on values.
        """
        return ca.SX(0, 1)

    @abstractmethod
    def value(self, at: SignalInput, memory: Array) -> Array:
        """The value at the start of a step.

        Args:
            at: State, batch parameters and earlier signals.
            memory: The memory of the signal.

        Returns:
            A column.
        """

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The memory after a step.

        Args:
            step: The step, with the forces in it.
            memory: The memory before it.

        Returns:
            A column of the same size.
        """
        return memory


@record
class FunctionSignal(Record, Signal):
    """A signal without memory: a function of time, state, batch parameters and earlier signals."""

    function: Quantity
    """A number, a name, or ``f(t, q, v, batch)`` over symbols, which may return a column."""

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The value of the function.

        Args:
            at: State, batch parameters and earlier signals.
            memory: Not used.

        Returns:
            A column.
        """
        return at.evaluate(self.function, "signal function")


def as_signal(given: Signal | Quantity) -> Signal:
    """A signal from a signal, a function, a name or a number."""
    return given if isinstance(given, Signal) else FunctionSignal(given)
