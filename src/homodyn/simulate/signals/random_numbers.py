"""Random numbers inside kernels, by seed.

The generator combines two multiplicative congruential generators (L'Ecuyer, Communications of the
ACM 31, 1988; period 2.3e18). Its integers are below 2^47, so that doubles represent all of them
exactly: the numbers of a seed do not depend on the machine, the batch or the threads.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

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

MODULI = (2147483563.0, 2147483399.0)
MULTIPLIERS = (40014.0, 40692.0)
SEED_SPREAD = 69069.0
"""Factor between the seeds of the two generators."""
WARM_UP_DRAWS = 4
"""Draws that are discarded, so that neighboring seeds have unrelated first numbers."""
MAX_SEED = 2**31
"""Seeds are whole numbers below this."""

DISTRIBUTIONS = ("uniform", "normal")


class _Draw(NamedTuple):
    """A number and the state of the generator after it."""

    number: Array
    state: Array


@record
class RandomNumber(Record, Signal):
    """A random number that is drawn at the start and again where a condition begins to hold.

    Signals of different names draw different numbers from one seed.

    Raises:
        ModelError: The distribution is unknown.
    """

    distribution: str
    """``"uniform"`` between two limits, or ``"normal"`` with mean and standard deviation."""
    first: Quantity
    """Lower limit, or mean."""
    second: Quantity
    """Upper limit, or standard deviation."""
    seed: Quantity
    """A whole number from 0 below 2^31; in a batch usually the name of a batch parameter."""
    redraw: SignalFunction | None = None
    """``f(t, q, v, batch)``: the condition; None: the first number is kept."""
    stream: str = ""
    """Name that selects the numbers of the seed; signals of equal streams draw equal numbers."""

    def __post_init__(self) -> None:
        if self.distribution not in DISTRIBUTIONS:
            raise ModelError(unknown_name("distribution", self.distribution, DISTRIBUTIONS))
        if isinstance(self.seed, (int, float)) and not (
            0 <= self.seed < MAX_SEED and float(self.seed).is_integer()
        ):
            raise ModelError(f"a seed is a whole number from 0 below 2^31, got {self.seed}")

    def initial_memory(self, at: SignalInput) -> Array:
        """Drawn number in units of the distribution, condition, and state of the generator.

        Args:
            at: Initial state.

        Returns:
            (4,).
        """
        offset = float(crc32(self.stream.encode()) % MAX_SEED)
        seed = at.scalar(self.seed, "seed of RandomNumber") + offset
        state = ca.vertcat(
            1 + _remainder(seed, MODULI[0] - 1), 1 + _remainder(SEED_SPREAD * seed, MODULI[1] - 1)
        )
        for _ in range(WARM_UP_DRAWS):
            state = _uniform(state).state
        drawn = self._draw(state)
        return ca.vertcat(drawn.number, 1.0, drawn.state)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The number.

        Args:
            at: State at the start of the step.
            memory: Number, condition and state of the generator.

        Returns:
            A scalar.
        """
        first = at.scalar(self.first, "first parameter of RandomNumber")
        second = at.scalar(self.second, "second parameter of RandomNumber")
        unit = self._redraw(at, memory)[0]
        scale = second - first if self.distribution == "uniform" else second
        return first + scale * unit

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """Number, condition and state of the generator.

        Args:
            step: The step.
            memory: The same before it.

        Returns:
            (4,).
        """
        return self._redraw(step, memory)

    def _redraw(self, at: SignalInput, memory: Array) -> Array:
        """The memory after a redraw where the condition begins to hold."""
        if self.redraw is None:
            return memory
        condition = at.scalar(self.redraw, "redraw of RandomNumber") != 0
        begins = ca.logic_and(condition, memory[1] == 0)
        drawn = self._draw(memory[2:])
        return ca.vertcat(
            ca.if_else(begins, drawn.number, memory[0]),
            condition,
            ca.if_else(begins, drawn.state, memory[2:]),
        )

    def _draw(self, state: Array) -> _Draw:
        """A number with limits 0 and 1, or with mean 0 and standard deviation 1."""
        one = _uniform(state)
        if self.distribution == "uniform":
            return one
        # Box and Muller; the uniform numbers are never 0.
        two = _uniform(one.state)
        radius = ca.sqrt(-2 * ca.log(one.number))
        return _Draw(radius * ca.cos(2 * np.pi * two.number), two.state)


def _uniform(state: Array) -> _Draw:
    """A number above 0 and below 1."""
    a = _remainder(MULTIPLIERS[0] * state[0], MODULI[0])
    b = _remainder(MULTIPLIERS[1] * state[1], MODULI[1])
    z = a - b
    z = ca.if_else(z < 1, z + (MODULI[0] - 1), z)
    return _Draw(z / MODULI[0], ca.vertcat(a, b))


def _remainder(x: Array, m: float) -> Array:
    """X modulo m for whole numbers below 2^53, exact for any rounding of the quotient."""
    r = x - m * ca.floor(x / m)
    r = ca.if_else(r < 0, r + m, r)
    return ca.if_else(r >= m, r - m, r)
