"""Functions of the state whose zeros matter: found within a step, located, acted upon.

Between the ends of a step the state is interpolated by cubics that fit positions and velocities at
both. An event function is looked at with its rate at several places in between; a pair of crossings
that leaves all those values on one side is still seen, because the cubic through values and rates
dips through zero. The crossing is then located on true states, by steps of other lengths from the
same start: the linear estimate of van den Kieboom eq. 2.7 to begin with, secants with halving
after. Once a crossing has been seen a value within tolerance counts as it; the estimate may land
just before the zero, and judging that as "not yet" would cut the following steps ever smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.configuration import rates
from homodyn.simulate.constants import Lane
from homodyn.simulate.integrators import State
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

LOOKS = 5
"""Places of a step at which event functions are evaluated, its ends included."""

DEPTH = 30
"""Halvings that follow a dip which is seen by slopes before it is seen by values."""

DIRECTIONS = ("rising", "falling", "both")

Action = str | Callable[..., Any]


@dataclass(frozen=True)
class Event:
    """A function ``f(t, q, v, lane)`` over symbols, and what is done where it passes zero.

    ``direction`` says which way it has to pass. ``tolerance`` is how far from zero it may be when
    the event counts as met, in its own units. ``action`` is "log", "end", or a Python function of
    (t, q, v, lane) that returns changes as a mapping: new ``q`` or ``v``, and lane parameters by
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

    def crossed(self, t0: Array, x0: State, t1: Array, x1: State, lane: Lane) -> Array:
        """Whether the function passed zero between two states, for use in kernels."""
        before = ca.SX(self.function(t0, x0.q, x0.v, lane))
        after = ca.SX(self.function(t1, x1.q, x1.v, lane))
        rising = ca.logic_and(before < 0, after >= 0)
        falling = ca.logic_and(before > 0, after <= 0)
        if self.direction == "both":
            return ca.logic_or(rising, falling)
        return rising if self.direction == "rising" else falling


class Watch:
    """Event functions and their rates as one kernel, and where in a step the first zero is."""

    def __init__(self, model: Model, events: Sequence[Event], lane: Sequence[str]) -> None:
        self.model = model
        self.events = tuple(events)
        names = tuple(lane)

        def body(*symbols: ca.SX) -> dict[str, Array]:
            t, q, v, a, numbers, *_ = symbols
            by_name = {name: numbers[k] for k, name in enumerate(names)}
            values = [ca.SX(e.function(t, q, v, by_name)) for e in self.events]
            value = ca.vertcat(ca.SX(0, 1), *values)
            rate = (
                ca.jtimes(value, t, ca.SX(1.0))
                + ca.jtimes(value, q, rates(model, q, v))
                + ca.jtimes(value, v, a)
            )
            return {"value": value, "rate": rate}

        count = len(self.events)
        sizes: dict[str, int | tuple[int, ...]] = {
            "t": (),
            "q": model.nq,
            "v": model.nv,
            "a": model.nv,
            "lane": len(names),
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
    ) -> tuple[float, int] | None:
        """Share of the step at which the first event passes zero, and which; None without one.

        ``interpolate`` gives q, v, a at shares of the step. ``sides`` are the signs at its start:
        where a function is within rounding of zero, the side that it came to lie on.
        """
        shares = np.linspace(0.0, 1.0, LOOKS)
        found = None
        values, slopes = self._look(interpolate, shares, t, h, rest)
        for k, event in enumerate(self.events):
            share = self._root(interpolate, t, h, rest, k, shares, values, slopes, sides[k], event)
            if share is not None and (found is None or share < found[0]):
                found = (share, k)
        return found

    def _look(
        self, interpolate: Any, shares: np.ndarray, t: float, h: float, rest: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        q, v, a = interpolate(shares)
        result = self.kernel(t=t + h * shares, q=q, v=v, a=a, **rest)
        return result["value"], h * result["rate"]

    def _root(
        self,
        interpolate: Any,
        t: float,
        h: float,
        rest: Mapping[str, Any],
        k: int,
        shares: np.ndarray,
        values: np.ndarray,
        slopes: np.ndarray,
        side: float,
        event: Event,
    ) -> float | None:
        """The first share at which event k passes zero in its direction, on the interpolant."""
        stretches = [
            (
                shares[i],
                shares[i + 1],
                values[i, k],
                values[i + 1, k],
                slopes[i, k],
                slopes[i + 1, k],
            )
            for i in range(len(shares) - 1)
        ]
        stretches[0] = (*stretches[0][:2], side * abs(stretches[0][2]), *stretches[0][3:])
        depth = 0
        before = side
        while stretches:
            s0, s1, g0, g1, d0, d1 = stretches.pop(0)
            sign0 = np.sign(g0) or before
            if sign0 * g1 < 0 or (g1 == 0 and sign0 != 0):
                rising = sign0 < 0
                before = -sign0
                if event.direction != ("falling" if rising else "rising"):
                    return float(s0 + (s1 - s0) * g0 / (g0 - g1)) if g0 != g1 else float(s1)
                continue
            before = sign0
            width = s1 - s0
            if depth < DEPTH and _dips(
                sign0 * g0, sign0 * g1, sign0 * d0 * width, sign0 * d1 * width
            ):
                depth += 1
                middle = np.array([(s0 + s1) / 2])
                value, slope = self._look(interpolate, middle, t, h, rest)
                gm, dm = value[0, k], slope[0, k]
                stretches[:0] = [
                    (s0, middle[0], g0, gm, d0, dm),
                    (middle[0], s1, gm, g1, dm, d1),
                ]
        return None


def _dips(g0: float, g1: float, d0: float, d1: float) -> bool:
    """Whether the cubic with positive end values and these slopes passes below zero inside."""
    if d0 >= 0 or d1 <= 0:
        return False
    # Slope of the cubic: a s^2 + b s + d0.
    a = 6 * (g0 - g1) + 3 * (d0 + d1)
    b = -6 * (g0 - g1) - 4 * d0 - 2 * d1
    root = b * b - 4 * a * d0
    if root < 0:
        return False
    s = (-b + np.sqrt(root)) / (2 * a) if abs(a) > 1e-300 else -d0 / b
    if not 0 < s < 1:
        return False
    lowest = (
        (2 * s**3 - 3 * s**2 + 1) * g0
        + (s**3 - 2 * s**2 + s) * d0
        + (3 * s**2 - 2 * s**3) * g1
        + (s**3 - s**2) * d1
    )
    return bool(lowest < 0)


def between(
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
