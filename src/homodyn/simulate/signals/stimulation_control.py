"""Impulses of a stimulator as signals: given, or from a controller that is called every period."""

from __future__ import annotations

import math

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.muscle.stimulation.command_signal import CLOCK_TOLERANCE_S, CommandSignal
from homodyn.muscle.stimulation.impulse_train import LONG_AGO_S, ImpulseTrain
from homodyn.simulate.signals.signal import Signal, SignalFunction, SignalInput, StepSample
from homodyn.spatial import Array


@record
class ImpulseSchedule(Record, Signal):
    """The last impulses that act on all muscles, of impulses at given times.

    The value is that of `StimulationControl`. It is held during a step, so that all stages of an
    integration method have the same impulses; impulses are exact where they begin to act at
    multiples of the step.
    """

    train: ImpulseTrain
    command: CommandSignal = CommandSignal()

    def initial_memory(self, at: SignalInput) -> Array:
        """A number that is not used; signals with memory are held during a step.

        Args:
            at: Initial state.

        Returns:
            (1,).
        """
        return ca.SX(0.0)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """Times and charges of the last impulses.

        Args:
            at: State at the start of the step.
            memory: Not used.

        Returns:
            (2 muscles,).
        """
        return ca.vertcat(*self.train.last_impulses(at.t, self.command.delay_s))


@record
class StimulationControl(Record, Signal):
    """The last impulses that act on all muscles, from a law that is called every period.

    The law is called at the start and then every period. Its impulses wait in a queue, first in,
    first out, until the delay of the command signal is over; an impulse of 0 leaves its muscle as
    it is. Calls and impulses are exact where period and delay are multiples of the step, else they
    come at the next step.

    The value is a column: for all muscles the time at which the last impulse began to act (s;
    minus `LONG_AGO_S` before the first), then their charges, 0 to 1.

    Raises:
        ModelError: The period is not positive.
    """

    law: SignalFunction
    """``f(t, q, v, batch)`` over symbols: pulse width times intensity of all muscles, as a part of
    the largest; limited to 0 to 1."""
    period_s: float
    command: CommandSignal = CommandSignal()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.period_s) and self.period_s > 0):
            raise ModelError(f"a period above zero is needed (s), got {self.period_s}")

    @property
    def queue_size(self) -> int:
        """Impulses that can wait: all calls within one delay, and one more."""
        return math.ceil(self.command.delay_s / self.period_s - 1e-9) + 1

    def initial_memory(self, at: SignalInput) -> Array:
        """Time of the next call, an empty queue, and no impulse so far.

        Args:
            at: Initial state.

        Returns:
            A column.
        """
        muscles = at.evaluate(self.law, "law of StimulationControl").numel()
        none = [ca.repmat(ca.SX(-LONG_AGO_S), muscles, 1), ca.SX.zeros(muscles)]
        queue = [ca.repmat(ca.SX(LONG_AGO_S), self.queue_size, 1)]
        charges = ca.SX.zeros(self.queue_size * muscles)
        return ca.vertcat(at.t, *queue, charges, *none)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """Times and charges of the last impulses.

        Args:
            at: State at the start of the step.
            memory: Next call, queue and last impulses.

        Returns:
            (2 muscles,).
        """
        muscles = self._muscles(memory)
        return self._advance(at, memory)[-2 * muscles :]

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Next call, queue and last impulses.

        Args:
            step: The step.
            memory: The memory before it.

        Returns:
            A column.
        """
        return self._advance(step, memory)

    def _muscles(self, memory: Array) -> int:
        return int((memory.numel() - 1 - self.queue_size) // (self.queue_size + 2))

    def _advance(self, at: SignalInput, memory: Array) -> Array:
        """The memory after a call that is due, and after impulses that begin to act."""
        size, muscles = self.queue_size, self._muscles(memory)
        now = at.t + CLOCK_TOLERANCE_S
        due = now >= memory[0]
        asked = at.evaluate(self.law, "law of StimulationControl")
        # Not fmin and fmax, which would turn NaN into a bound.
        asked = ca.if_else(asked > 1, 1.0, ca.if_else(asked < 0, 0.0, asked))
        times = memory[1 : 1 + size]
        charges = ca.reshape(memory[1 + size : 1 + size + size * muscles], muscles, size)
        # The newest impulse is the first of the queue.
        all_times = ca.vertcat(at.t + self.command.delay_s, times)
        all_charges = ca.horzcat(asked, charges)
        kept_times = ca.if_else(due, all_times[:size], times)
        kept_charges = ca.if_else(due, all_charges[:, :size], charges)
        begun, charge = memory[-2 * muscles : -muscles], memory[-muscles:]
        for k in range(size, -1, -1):
            acts = all_times[k] <= now
            if k == 0:
                acts = ca.logic_and(acts, due)
            new = ca.logic_and(acts, all_charges[:, k] != 0)
            begun = ca.if_else(new, all_times[k], begun)
            charge = ca.if_else(new, all_charges[:, k], charge)
        next_call = ca.if_else(due, memory[0] + self.period_s, memory[0])
        return ca.vertcat(next_call, kept_times, ca.vec(kept_charges), begun, charge)
