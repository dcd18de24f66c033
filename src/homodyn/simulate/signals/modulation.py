"""Curves over the phase of a rhythm: periodic monotone cubics for targets and impedances."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.simulate.signals.signal import Quantity, Signal, SignalInput, StepSample
from homodyn.spatial import Array

SEGMENT_ENTRIES = 5
"""Numbers of a segment: its start, and the coefficients of its cubic."""


@record
class PeriodicCubic(Record, Signal):
    """A periodic piecewise cubic through points over a phase from 0 to 1, monotone between them.

    The places of the points are encoded by N + 1 positive intervals d: x_i = sum of the first i of
    them over the sum of all (Kieboom 2014, section 4.1), so that any positive numbers are valid.
    Slopes are the harmonic means of Fritsch and Butland (1984). With names of
    batch parameters the curve has 2 N + 1 variables. Its coefficients are computed once, at the
    start of the simulation.

    Raises:
        ModelError: There are fewer than two values, or not one interval more than values.
    """

    phase: Quantity
    """Phase (cycles), such as the name of a `PhaseVariable`; its fraction counts."""
    intervals: Sequence[Quantity]
    """N + 1 positive numbers, or names of batch parameters."""
    values: Sequence[Quantity]
    """N values at the points, or names of batch parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "intervals", tuple(self.intervals))
        object.__setattr__(self, "values", tuple(self.values))
        if len(self.values) < 2 or len(self.intervals) != len(self.values) + 1:
            raise ModelError(
                f"a periodic cubic has N > 1 values and N + 1 intervals; got {len(self.values)} "
                f"values and {len(self.intervals)} intervals"
            )

    def initial_memory(self, at: SignalInput) -> Array:
        """Starts and coefficients of the segments.

        Args:
            at: Batch parameters.

        Returns:
            (5 N,).
        """
        y = [at.scalar(value, "value of PeriodicCubic") for value in self.values]
        d = [at.scalar(interval, "interval of PeriodicCubic") for interval in self.intervals]
        total, count = sum(d, ca.SX(0.0)), len(y)
        x = [sum(d[: i + 1], ca.SX(0.0)) / total for i in range(count)]
        h = [*(d[i] / total for i in range(1, count)), (d[0] + d[-1]) / total]
        rise = [(y[(i + 1) % count] - y[i]) / h[i] for i in range(count)]
        m = [_slope(h[i - 1], h[i], rise[i - 1], rise[i]) for i in range(count)]
        rows = []
        for i in range(count):
            after = m[(i + 1) % count]
            c2 = (3 * rise[i] - 2 * m[i] - after) / h[i]
            c3 = (m[i] + after - 2 * rise[i]) / h[i] ** 2
            rows += [x[i], y[i], m[i], c2, c3]
        return ca.vertcat(*rows)

    def value(self, at: SignalInput, memory: Array) -> Array:
        """The curve at the phase.

        Args:
            at: State at the start of the step.
            memory: Starts and coefficients of the segments.

        Returns:
            A number.
        """
        phase = at.scalar(self.phase, "phase of PeriodicCubic")
        phase = phase - ca.floor(phase)
        segments = ca.vertsplit(memory, SEGMENT_ENTRIES)
        # Before the first point the last segment of the period before goes on.
        first, last = segments[0], segments[-1]
        chosen = last
        for k in range(len(segments) - 2, -1, -1):
            chosen = ca.if_else(phase < segments[k + 1][0], segments[k], chosen)
        before = phase < first[0]
        chosen = ca.if_else(before, last, chosen)
        s = phase - chosen[0] + ca.if_else(before, 1.0, 0.0)
        return chosen[1] + s * (chosen[2] + s * (chosen[3] + s * chosen[4]))

    def next_memory(self, step: StepSample, memory: Array) -> Array:
        """The same coefficients.

        Args:
            step: The step.
            memory: Starts and coefficients of the segments.

        Returns:
            The memory.
        """
        return memory


def _slope(before: Array, after: Array, rise: Array, next_rise: Array) -> Array:
    """Slope at a point between two segments of these lengths and mean slopes."""
    same = rise * next_rise > 0
    first, second = 2 * after + before, after + 2 * before
    a, b = ca.if_else(same, rise, 1.0), ca.if_else(same, next_rise, 1.0)
    return ca.if_else(same, (first + second) / (first / a + second / b), 0.0)
