"""Events: zeros of functions of the state, detected within a step and located.

Between the ends of a step the state is interpolated by cubics that match positions and velocities
at both. An event function is sampled with its rate at several fractions of the step; the cubic
through values and rates shows crossings in both directions between two samples. An interval is
resolved if its cubic predicts the sample in its middle and stays away from zero by more than its
error; otherwise more samples are taken. The crossing is then located on true states, by steps of
other lengths from the same start, with the bracketing of `homodyn.integrate`. The event is located
just beyond the zero: the function then has its new sign, so that the event cannot occur again at
once and does not shorten the next steps.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.record import Record, record
from homodyn.integrate import crosses_zero
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.simulate.constants import BatchParameters
from homodyn.simulate.motion_system import MotionState
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

STEP_INTERVALS = 4
"""Intervals of a step whose ends and middles are always sampled."""

MAX_EXTRA_SAMPLES = 200
"""Maximum number of further samples of an event function in one step."""

MAX_CUBIC_DEVIATION = 0.25
"""Largest deviation of a function from its cubic in the middle of an interval, relative to its
largest value there."""

DIRECTIONS = ("rising", "falling", "both")

Action = str | Callable[..., Any]


@record(eq=True)
class StateEvent(Record):
    """A function of the state whose zero crossings are located, and an action at them.

    Raises:
        ModelError: Direction, tolerance or action are not valid.
    """

    name: str
    function: Callable[..., Any]
    """``f(t, q, v, batch)`` over symbols: one number."""
    direction: str = "both"
    """Direction of the crossing: ``"rising"``, ``"falling"`` or ``"both"``."""
    tolerance: float = 1e-9
    """Largest absolute value of the function at the located event, in its own unit."""
    action: Action = "log"
    """``"log"``, ``"end"``, or a Python function of (t, q, v, batch) that returns changes as a
    mapping: new ``q`` or ``v``, and batch parameters by name, such as the mode of a controller."""

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ModelError(
                f"event {self.name!r}: {unknown_name('direction', self.direction, DIRECTIONS)}"
            )
        if not self.tolerance > 0:
            raise ModelError(f"event {self.name!r}: tolerance must be > 0, got {self.tolerance}")
        if isinstance(self.action, str) and self.action not in ("log", "end"):
            raise ModelError(
                f"event {self.name!r}: action is 'log', 'end' or a function, got {self.action!r}"
            )

    def matches(self, side: float) -> bool:
        """Whether a crossing to this side of zero is the event.

        Args:
            side: Sign after the crossing, -1 or 1.

        Returns:
            True if the direction fits.
        """
        return self.direction != ("falling" if side > 0 else "rising")

    def value(self, t: Array, q: Array, v: Array, batch: BatchParameters) -> Array:
        """The function over symbols.

        Args:
            t: Time (s).
            q: Positions, (nq,).
            v: Velocities, (nv,).
            batch: Batch parameters by name.

        Returns:
            A scalar expression.

        Raises:
            ModelError: The function does not return one number.
        """
        value = ca.SX(self.function(t, q, v, batch))
        if value.shape != (1, 1):
            raise ModelError(
                f"the function of event {self.name!r} returns {value.shape[0]} x {value.shape[1]} "
                "numbers; one is needed"
            )
        return ca.densify(value)

    def crossing_condition(
        self,
        model: Model,
        t: Array,
        x0: MotionState,
        x1: MotionState,
        h: Array,
        batch: BatchParameters,
    ) -> Array:
        """Whether the function crosses zero in a step, for kernels.

        Two crossings within the step count too, if the cubic through values and rates at its ends
        shows them.

        Args:
            model: The model.
            t: Time at the start (s).
            x0: State at the start.
            x1: State at the end.
            h: Length of the step (s).
            batch: Batch parameters by name.

        Returns:
            A logical expression.
        """
        symbols = [
            ca.SX.sym("t"),
            *(ca.SX.sym(n, model.nv) for n in "va"),
            ca.SX.sym("q", model.nq),
        ]
        time_symbol, v, a, q = symbols
        value = self.value(time_symbol, q, v, batch)
        parts = [value, _rate(model, value, time_symbol, q, v, a)]
        mean = (x1.v - x0.v) / h
        (g0, d0), (g1, d1) = (
            ca.substitute(parts, symbols, [time, x.v, mean, x.q])
            for time, x in ((t, x0), (t + h, x1))
        )
        rising, falling = crosses_zero(g0, g1), crosses_zero(-g0, -g1)
        side = ca.if_else(g0 < 0, -1.0, 1.0)
        there_and_back = ca.logic_and(
            side * g1 > 0, _has_dip(side * g0, side * g1, side * h * d0, side * h * d1)
        )
        if self.direction == "both":
            return ca.logic_or(ca.logic_or(rising, falling), there_and_back)
        return ca.logic_or(rising if self.direction == "rising" else falling, there_and_back)


def _rate(model: Model, value: Array, t: Array, q: Array, v: Array, a: Array) -> Array:
    """Time derivative of a function of the state under accelerations ``a``."""
    return (
        ca.jtimes(value, t, ca.SX(1.0))
        + ca.jtimes(value, q, rates(model, q, v))
        + ca.jtimes(value, v, a)
    )


def _has_dip(g0: Array, g1: Array, d0: Array, d1: Array) -> Array:
    """Whether the cubic with these positive ends and slopes is negative in between, over symbols.

    Its slope is a s^2 + b s + d0, negative at the start and positive at the end.
    """
    a = 6 * (g0 - g1) + 3 * (d0 + d1)
    b = -6 * (g0 - g1) - 4 * d0 - 2 * d1
    # The root at which the slope increases, in a form that is valid for a = 0 too.
    below = -b - ca.sqrt(ca.fmax(b * b - 4 * a * d0, 0.0))
    above = -b + ca.sqrt(ca.fmax(b * b - 4 * a * d0, 0.0))
    s = ca.if_else(
        b > 0, 2 * d0 / ca.if_else(b > 0, below, 1.0), above / ca.if_else(a > 0, 2 * a, 1.0)
    )
    lowest = (
        (2 * s**3 - 3 * s**2 + 1) * g0
        + (s**3 - 2 * s**2 + s) * d0
        + (3 * s**2 - 2 * s**3) * g1
        + (s**3 - s**2) * d1
    )
    turns = ca.logic_and(d0 < 0, d1 > 0)
    return ca.logic_and(turns, ca.logic_and(ca.logic_and(s > 0, s < 1), lowest < 0))


class EventSample(NamedTuple):
    """An event function at a fraction of a step."""

    fraction: float
    value: float
    rate: float
    """Change per step."""


@dataclass(frozen=True)
class EventCrossing:
    """An event that crosses zero between two fractions of a step."""

    index: int
    """Index of the event."""
    low: float
    high: float
    side: float
    """Sign of the function after the crossing."""


class EventDetector:
    """Event functions and their rates as one kernel, and the first crossing in a step."""

    def __init__(self, model: Model, events: Sequence[StateEvent], batch: Sequence[str]) -> None:
        self.model = model
        self.events = tuple(events)
        names = tuple(batch)

        def body(*symbols: ca.SX) -> dict[str, Array]:
            t, q, v, a, numbers, *_ = symbols
            by_name = {name: numbers[k] for k, name in enumerate(names)}
            values = [e.value(t, q, v, by_name) for e in self.events]
            value = ca.vertcat(ca.SX(0, 1), *values)
            rate = _rate(model, value, t, q, v, a)
            return {"value": value, "rate": rate}

        count = len(self.events)
        sizes: dict[str, int | tuple[int, ...]] = {
            "t": (),
            "q": model.nq,
            "v": model.nv,
            "a": model.nv,
            "batch": len(names),
        }
        symbols = {}
        if model.parameters:
            sizes["parameters"] = len(model.parameters)
            symbols["parameters"] = model.parameter_symbols
        outputs: dict[str, int | tuple[int, ...]] = {"value": count, "rate": count}
        self.kernel = Kernel(
            trace(body, sizes, outputs, f"events of {model.name}", given=symbols), mapping=True
        )

    def values(self, t: float, q: np.ndarray, v: np.ndarray, rest: Mapping[str, Any]) -> np.ndarray:
        """The event functions at one state."""
        zero = np.zeros(self.model.nv)
        return np.asarray(self.kernel(t=float(t), q=q, v=v, a=zero, **rest)["value"])

    def first(
        self,
        interpolate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
        t: float,
        h: float,
        sides: np.ndarray,
        rest: Mapping[str, Any],
        skipped: Container[int] = (),
    ) -> EventCrossing | None:
        """The first event that crosses zero in a step; None without one.

        ``interpolate`` returns q, v, a at fractions of the step. ``sides`` are the known signs of
        the functions, 0 where the sign is not known yet. A function with another sign at the start
        has crossed zero at once.
        """

        def sample(fractions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            q, v, a = interpolate(fractions)
            result = self.kernel(t=t + h * fractions, q=q, v=v, a=a, **rest)
            return result["value"], h * result["rate"]

        fractions = np.linspace(0.0, 1.0, 2 * STEP_INTERVALS + 1)
        values, slopes = sample(fractions)
        found: EventCrossing | None = None
        distant = _is_far_from_zero(values, slopes / (2 * STEP_INTERVALS), sides)
        for k, event in enumerate(self.events):
            if distant[k] or k in skipped:
                continue

            def more(places: np.ndarray, k: int = k) -> list[EventSample]:
                return _event_samples(places, *sample(places), k)

            samples = _event_samples(fractions, values, slopes, k)
            crossing = _crossing(event, samples, float(sides[k]), more)
            if crossing and (found is None or crossing[0] < found.low):
                found = EventCrossing(k, *crossing)
        return found


def _event_samples(
    fractions: np.ndarray, values: np.ndarray, slopes: np.ndarray, k: int
) -> list[EventSample]:
    """The samples of event ``k``."""
    return [EventSample(*x) for x in zip(fractions, values[:, k], slopes[:, k], strict=True)]


def _is_far_from_zero(values: np.ndarray, rises: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Which functions, columns of ``values``, are so far from zero that they need no analysis.

    ``rises`` are rates per sample interval. This is the condition of `_is_resolved` with a bound
    instead of the cubic: a cubic over 0 to 1 with ends x, y and slopes d, e deviates from their
    line by at most 4/27 (|d - (y - x)| + |e - (y - x)|).
    """
    a, m, b = values[:-1:2], values[1::2], values[2::2]
    error = np.abs((a + b) / 2 + (rises[:-1:2] - rises[2::2]) / 4 - m)
    rise = np.diff(values, axis=0)
    deviation = np.abs(rises[:-1] - rise) + np.abs(rises[1:] - rise)
    smallest = np.minimum(np.abs(values[:-1]), np.abs(values[1:])) - 4 / 27 * deviation
    largest = np.maximum(np.maximum(np.abs(a), np.abs(m)), np.abs(b))
    accurate = error <= MAX_CUBIC_DEVIATION * largest
    distant = accurate & (smallest[::2] > error / 4) & (smallest[1::2] > error / 4)
    return np.asarray(np.all(sides * values > 0, axis=0) & np.all(distant, axis=0))


def _crossing(
    event: StateEvent,
    samples: Sequence[EventSample],
    side: float,
    more: Callable[[np.ndarray], list[EventSample]],
) -> tuple[float, float, float] | None:
    """Two fractions between which an event first crosses zero in its direction, and the side."""
    if side * samples[0].value < 0:
        side = -side
        if event.matches(side):
            return 0.0, 0.0, side
    intervals = [tuple(samples[i : i + 3]) for i in range(0, len(samples) - 1, 2)][::-1]
    remaining = MAX_EXTRA_SAMPLES
    while intervals:
        a, m, b = intervals.pop()
        if remaining > 0 and not _is_resolved(a, m, b, side):
            middles = np.array([a.fraction + m.fraction, m.fraction + b.fraction]) / 2
            first, second = more(middles)
            intervals += [(m, second, b), (a, first, m)]
            remaining -= 2
            continue
        for before, after in ((a, m), (m, b)):
            if side == 0:
                side = float(np.sign(after.value))
            elif side * after.value < 0 or (after.value == 0 and side * before.value > 0):
                side = -side
                if event.matches(side):
                    return before.fraction, after.fraction, side
    return None


def _is_resolved(a: EventSample, m: EventSample, b: EventSample, side: float) -> bool:
    """Whether the signs at three samples determine all crossings between them.

    The cubic through the outer two must predict the middle one; the extrema of the cubics of the
    halves, which are more accurate by 2^4, must be away from zero.
    """
    whole = _cubic(a, b)
    error = abs(float(np.polyval(whole, 0.5)) - m.value)
    if not error <= MAX_CUBIC_DEVIATION * max(abs(a.value), abs(m.value), abs(b.value)):
        return False
    for before, after in ((a, m), (m, b)):
        signs = [np.sign(before.value) or side, np.sign(after.value)]
        extrema = [float(np.polyval(_cubic(before, after), s)) for s in _extrema(before, after)]
        if len(extrema) == 2 and signs[0] * signs[1] < 0:
            if not (min(extrema) > error / 4 or max(extrema) < -error / 4):
                return False
        elif signs[0] * signs[1] >= 0 and extrema:
            sign = signs[0] or signs[1]
            if not min(sign * value for value in extrema) > error / 4:
                return False
    return True


def _cubic(a: EventSample, b: EventSample) -> np.ndarray:
    """Coefficients, highest first, of the cubic over 0 to 1 that matches values and rates."""
    d0, d1 = (x.rate * (b.fraction - a.fraction) for x in (a, b))
    rise = b.value - a.value
    return np.array([d0 + d1 - 2 * rise, 3 * rise - 2 * d0 - d1, d0, a.value])


def _extrema(a: EventSample, b: EventSample) -> list[float]:
    """Places of the extrema of the cubic between two samples."""
    c3, c2, c1, _ = _cubic(a, b)
    discriminant = 4 * c2 * c2 - 12 * c3 * c1
    if not discriminant > 0:
        return []
    # Both roots without cancellation.
    q = -(2 * c2 + np.copysign(np.sqrt(discriminant), c2)) / 2
    places = [q / (3 * c3)] if c3 else []
    places += [c1 / q] if q else []
    return [float(s) for s in places if 0 < s < 1]


def hermite_states(
    model: Model, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, h: float
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Cubics from one state to the next, with their velocities and accelerations."""
    total = np.asarray(model.difference(q0, q1))

    def at(fractions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = np.asarray(fractions, dtype=float)[:, None]
        change = (
            (s**3 - 2 * s**2 + s) * h * v0 + (3 * s**2 - 2 * s**3) * total + (s**3 - s**2) * h * v1
        )
        v = (3 * s**2 - 4 * s + 1) * v0 + 6 * (s - s**2) * total / h + (3 * s**2 - 2 * s) * v1
        a = ((6 * s - 4) * v0 + 6 * (1 - 2 * s) * total / h + (6 * s - 2) * v1) / h
        q = model.integrate(np.broadcast_to(q0, (len(s), len(q0))), change)
        return np.asarray(q), v, a

    return at
