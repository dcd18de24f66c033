"""One step of an ordinary differential equation on positions with quaternions.

The state is (q, v, z, w): positions, velocities, what contacts remember, and work done so far.
``rate(t, q, v, z)`` gives their derivatives but for q, whose rate follows from v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from homodyn.model import Model, normalize, rates
from homodyn.spatial import Array


class Flow(NamedTuple):
    """Rates of velocity, memory and work, and the forces that hold constraints."""

    a: Array
    z: Array
    w: Array
    held: Array


class State(NamedTuple):
    """Positions, velocities, memory and work."""

    q: Array
    v: Array
    z: Array
    w: Array


Rate = Callable[[Array, State], Flow]


def explicit_euler(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Everything moves with its rate at the start; order 1, adds energy."""
    f = rate(t, x)
    return State(model.integrate(x.q, h * x.v), x.v + h * f.a, x.z + h * f.z, x.w + h * f.w)


def semi_implicit_euler(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """The new velocity moves the position; order 1, symplectic for springs."""
    f = rate(t, x)
    v = x.v + h * f.a
    return State(model.integrate(x.q, h * v), v, x.z + h * f.z, x.w + h * f.w)


def leap_frog(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Half a kick, a whole drift, half a kick (velocity Verlet); order 2.

    For forces that depend on velocity the last kick looks at the extrapolated one.
    """
    f = rate(t, x)
    half = x.v + h / 2 * f.a
    q = model.integrate(x.q, h * half)
    g = rate(t + h, State(q, half + h / 2 * f.a, x.z + h * f.z, x.w))
    v = half + h / 2 * g.a
    return State(q, v, x.z + h / 2 * (f.z + g.z), x.w + h / 2 * (f.w + g.w))


def predictor_corrector(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Euler predicts, the trapezoid of both ends corrects (Heun); order 2."""
    return _runge_kutta(((), (1.0,)), (0.5, 0.5), model, rate, t, x, h)


def runge_kutta_4(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """The classical four stages; order 4."""
    stages = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))
    return _runge_kutta(stages, (1 / 6, 1 / 3, 1 / 3, 1 / 6), model, rate, t, x, h)


def _runge_kutta(
    stages: tuple[tuple[float, ...], ...],
    weights: tuple[float, ...],
    model: Model,
    rate: Rate,
    t: Array,
    x: State,
    h: Array,
) -> State:
    """Explicit stages. Quaternions go straight and are brought back to length one at the end.

    Their equation keeps that length exactly, so the projection does not cost an order.
    """
    slopes: list[tuple[Array, ...]] = []
    for row in stages:
        at = _moved(x, slopes, row, h)
        f = rate(t + sum(row) * h, at)
        slopes.append((rates(model, at.q, at.v), f.a, f.z, f.w))
    end = _moved(x, slopes, weights, h)
    return end._replace(q=normalize(model, end.q))


def _moved(x: State, slopes: Any, weights: tuple[float, ...], h: Array) -> State:
    parts = []
    for k, start in enumerate(x):
        for slope, weight in zip(slopes, weights, strict=False):
            if weight:
                start = start + weight * h * slope[k]
        parts.append(start)
    return State(*parts)


INTEGRATORS: dict[str, Callable[..., State]] = {
    "explicit_euler": explicit_euler,
    "semi_implicit_euler": semi_implicit_euler,
    "leap_frog": leap_frog,
    "predictor_corrector": predictor_corrector,
    "rk4": runge_kutta_4,
}
"""Fixed-step integrators that can be part of a kernel, by name."""
