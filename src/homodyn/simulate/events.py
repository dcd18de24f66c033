"""Functions of the state whose zeros matter: found within a step, located, acted upon.

Between the ends of a step the state is interpolated by cubics that fit positions and velocities at
both. An event function is looked at with its rate at several places in between; the cubic through
values and rates shows what passes zero and comes back between two looks. Halves of a stretch are
trusted where the cubic of the whole tells their middle well and stays clear of zero by more than
its error; elsewhere more looks are taken. The crossing is then located on true states, by steps of
other lengths from the same start, cut as those of networks are (`homodyn.integrate`), and landed on
just beyond the zero: what has been met lies on its new side, so that it can neither be met again
nor cut the next steps ever smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.integrate import crosses_zero
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.simulate.law_constants import BatchParameters
from homodyn.simulate.motion_system import MotionState
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

STEP_INTERVALS = 4
"""Parts of a step whose ends and middles are looked at in any case."""

MAX_EXTRA_SAMPLES = 200
"""Further looks that the function of an event may ask for in one step."""

MAX_CUBIC_DEVIATION = 0.25
"""How much of its largest value a function may be off its cubic in the middle of a stretch."""

DIRECTIONS = ("rising", "falling", "both")

Action = str | Callable[..., Any]


@dataclass(frozen=True)
class StateEvent:
    """A function ``f(t, q, v, batch)`` over symbols, and what is done where it passes zero.

    ``direction`` says which way it has to pass. ``tolerance`` is how far from zero it may be when
    the event counts as met, in its own units. ``action`` is "log", "end", or a Python function of
    (t, q, v, batch) that returns changes as a mapping: new ``q`` or ``v``, and batch parameters by
    name, by which controllers and laws know their mode.
    """

    name: str
    function: Callable[..., Any]
    direction: str = "both"
    tolerance: float = 1e-9
    action: Action = "log"

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ModelError(
                f"event {self.name!r}: direction {self.direction!r} is none of "
                f"{', '.join(DIRECTIONS)}"
            )
        if not self.tolerance > 0:
            raise ModelError(f"event {self.name!r}: tolerance must be > 0, got {self.tolerance}")
        if isinstance(self.action, str) and self.action not in ("log", "end"):
            raise ModelError(
                f"event {self.name!r}: action {self.action!r} is none of log, end, a function"
            )

    def matches(self, side: float) -> bool:
        """Whether passing to this side of zero (-1, 1) is the event."""
        return self.direction != ("falling" if side > 0 else "rising")

    def value(self, t: Array, q: Array, v: Array, batch: BatchParameters) -> Array:
        """The function over symbols: one number."""
        found = ca.SX(self.function(t, q, v, batch))
        if found.shape != (1, 1):
            raise ModelError(
                f"the function of event {self.name!r} gives {found.shape[0]} x {found.shape[1]} "
                "numbers; one is needed"
            )
        return ca.densify(found)

    def crossing_condition(
        self,
        model: Model,
        t: Array,
        x0: MotionState,
        x1: MotionState,
        h: Array,
        batch: BatchParameters,
    ) -> Array:
        """Whether the function passes zero in a step of ``h`` (s) from x0 to x1, for kernels.

        Two crossings within the step count too, where the cubic through values and rates at its
        ends shows them.
        """
        symbols = [
            ca.SX.sym("t"),
            *(ca.SX.sym(n, model.nv) for n in "va"),
            ca.SX.sym("q", model.nq),
        ]
        at, speed, change, q = symbols
        value = self.value(at, q, speed, batch)
        parts = [value, _rate(model, value, at, q, speed, change)]
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
    """Change of a function of the state with time, under accelerations ``a``."""
    return (
        ca.jtimes(value, t, ca.SX(1.0))
        + ca.jtimes(value, q, rates(model, q, v))
        + ca.jtimes(value, v, a)
    )


def _has_dip(g0: Array, g1: Array, d0: Array, d1: Array) -> Array:
    """Whether the cubic with positive ends and these slopes passes below zero, over symbols.

    Its slope is a s^2 + b s + d0, below zero at the start and above at the end.
    """
    a = 6 * (g0 - g1) + 3 * (d0 + d1)
    b = -6 * (g0 - g1) - 4 * d0 - 2 * d1
    # The root at which the slope rises, in the form that holds for a = 0 as well.
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
    """An event function at a share of the step: its value, and its rate per step."""

    share: float
    value: float
    rate: float


@dataclass(frozen=True)
class EventCrossing:
    """Which event passes zero between two shares of a step, and the side that it comes to."""

    index: int
    low: float
    high: float
    side: float


class EventDetector:
    """Event functions and their rates as one kernel, and where in a step the first zero is."""

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
        given = {}
        if model.parameters:
            sizes["parameters"] = len(model.parameters)
            given["parameters"] = model.parameter_symbols
        outputs: dict[str, int | tuple[int, ...]] = {"value": count, "rate": count}
        self.kernel = Kernel(
            trace(body, sizes, outputs, f"events of {model.name}", given=given), mapping=True
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
        """The first event that passes zero in a step; None without one.

        ``interpolate`` gives q, v, a at shares of the step. ``sides`` are the signs that the
        functions are known to have come to, 0 where that is not known yet. What lies on the other
        side at the start already has passed at once.
        """

        def look(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            q, v, a = interpolate(shares)
            result = self.kernel(t=t + h * shares, q=q, v=v, a=a, **rest)
            return result["value"], h * result["rate"]

        shares = np.linspace(0.0, 1.0, 2 * STEP_INTERVALS + 1)
        values, slopes = look(shares)
        found: EventCrossing | None = None
        quiet = _is_far_from_zero(values, slopes / (2 * STEP_INTERVALS), sides)
        for k, event in enumerate(self.events):
            if quiet[k] or k in skipped:
                continue

            def more(places: np.ndarray, k: int = k) -> list[EventSample]:
                value, slope = look(places)
                return [EventSample(*x) for x in zip(places, value[:, k], slope[:, k], strict=True)]

            looks = [EventSample(*x) for x in zip(shares, values[:, k], slopes[:, k], strict=True)]
            crossing = _crossing(event, looks, float(sides[k]), more)
            if crossing and (found is None or crossing[0] < found.low):
                found = EventCrossing(k, *crossing)
        return found


def _is_far_from_zero(values: np.ndarray, rises: np.ndarray, sides: np.ndarray) -> np.ndarray:
    """Which functions, columns of ``values``, are so far from zero that no look at them is needed.

    ``rises`` are rates from one look to the next. What `_clear` asks for, with a bound in the place
    of the cubic: one over 0 to 1 with ends x, y and slopes d, e leaves their line by no more than
    4/27 (|d - (y - x)| + |e - (y - x)|).
    """
    a, m, b = values[:-1:2], values[1::2], values[2::2]
    off = np.abs((a + b) / 2 + (rises[:-1:2] - rises[2::2]) / 4 - m)
    rise = np.diff(values, axis=0)
    leaves = np.abs(rises[:-1] - rise) + np.abs(rises[1:] - rise)
    least = np.minimum(np.abs(values[:-1]), np.abs(values[1:])) - 4 / 27 * leaves
    trusted = off <= MAX_CUBIC_DEVIATION * np.maximum(np.maximum(np.abs(a), np.abs(m)), np.abs(b))
    far = trusted & (least[::2] > off / 4) & (least[1::2] > off / 4)
    return np.asarray(np.all(sides * values > 0, axis=0) & np.all(far, axis=0))


def _crossing(
    event: StateEvent,
    looks: Sequence[EventSample],
    side: float,
    more: Callable[[np.ndarray], list[EventSample]],
) -> tuple[float, float, float] | None:
    """Two shares between which an event first passes zero in its direction, and to which side."""
    if side * looks[0].value < 0:
        side = -side
        if event.matches(side):
            return 0.0, 0.0, side
    stretches = [tuple(looks[i : i + 3]) for i in range(0, len(looks) - 1, 2)][::-1]
    left = MAX_EXTRA_SAMPLES
    while stretches:
        a, m, b = stretches.pop()
        if left > 0 and not _is_resolved(a, m, b, side):
            first, second = more(np.array([a.share + m.share, m.share + b.share]) / 2)
            stretches += [(m, second, b), (a, first, m)]
            left -= 2
            continue
        for before, after in ((a, m), (m, b)):
            if side == 0:
                side = float(np.sign(after.value))
            elif side * after.value < 0 or (after.value == 0 and side * before.value > 0):
                side = -side
                if event.matches(side):
                    return before.share, after.share, side
    return None


def _is_resolved(a: EventSample, m: EventSample, b: EventSample, side: float) -> bool:
    """Whether the signs at three looks tell all crossings between them.

    The cubic through the outer two must come near the middle one; those of the halves, which are
    then better by 2^4, must not turn near or beyond zero.
    """
    whole = _cubic(a, b)
    off = abs(float(np.polyval(whole, 0.5)) - m.value)
    if not off <= MAX_CUBIC_DEVIATION * max(abs(a.value), abs(m.value), abs(b.value)):
        return False
    for before, after in ((a, m), (m, b)):
        ends = [np.sign(before.value) or side, np.sign(after.value)]
        turns = [float(np.polyval(_cubic(before, after), s)) for s in _extrema(before, after)]
        if len(turns) == 2 and ends[0] * ends[1] < 0:
            if not (min(turns) > off / 4 or max(turns) < -off / 4):
                return False
        elif ends[0] * ends[1] >= 0 and turns:
            sign = ends[0] or ends[1]
            if not min(sign * turn for turn in turns) > off / 4:
                return False
    return True


def _cubic(a: EventSample, b: EventSample) -> np.ndarray:
    """Coefficients, highest first, of the cubic over 0 to 1 that fits values and rates."""
    d0, d1 = (x.rate * (b.share - a.share) for x in (a, b))
    rise = b.value - a.value
    return np.array([d0 + d1 - 2 * rise, 3 * rise - 2 * d0 - d1, d0, a.value])


def _extrema(a: EventSample, b: EventSample) -> list[float]:
    """Where between two looks the cubic has its highest and lowest places."""
    c3, c2, c1, _ = _cubic(a, b)
    root = 4 * c2 * c2 - 12 * c3 * c1
    if not root > 0:
        return []
    # Both roots without a difference of nearly equal numbers.
    q = -(2 * c2 + np.copysign(np.sqrt(root), c2)) / 2
    places = [q / (3 * c3)] if c3 else []
    places += [c1 / q] if q else []
    return [float(s) for s in places if 0 < s < 1]


def hermite_states(
    model: Model, q0: np.ndarray, v0: np.ndarray, q1: np.ndarray, v1: np.ndarray, h: float
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Cubics from one state to the next, with their velocities and accelerations."""
    way = np.asarray(model.difference(q0, q1))

    def at(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = np.asarray(shares, dtype=float)[:, None]
        moved = (
            (s**3 - 2 * s**2 + s) * h * v0 + (3 * s**2 - 2 * s**3) * way + (s**3 - s**2) * h * v1
        )
        speed = (3 * s**2 - 4 * s + 1) * v0 + 6 * (s - s**2) * way / h + (3 * s**2 - 2 * s) * v1
        change = ((6 * s - 4) * v0 + 6 * (1 - 2 * s) * way / h + (6 * s - 2) * v1) / h
        q = model.integrate(np.broadcast_to(q0, (len(s), len(q0))), moved)
        return np.asarray(q), speed, change

    return at
