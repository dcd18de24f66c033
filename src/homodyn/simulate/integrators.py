"""One step of an ordinary differential equation on positions with quaternions.

The state is (q, v, z, w): positions, velocities, what contacts remember, and work done so far.
``rate(t, q, v, z)`` gives their derivatives but for q, whose rate follows from v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from homodyn import integrate as steps
from homodyn.integrate import CLASSICAL, EULER, HEUN, Tableau
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


class _Motion:
    """Rates, kicks and drifts of a model that is at the time ``t`` (s) when a step begins."""

    def __init__(self, model: Model, rate: Rate, t: Array, h: Array) -> None:
        self.model, self._rate, self.t, self.h = model, rate, t, h

    def rate(self, share: float, at: State) -> State:
        """Rates of all parts of a state."""
        at = State(*at)
        f = self._rate(self.t + share * self.h, at)
        return State(rates(self.model, at.q, at.v), f.a, f.z, f.w)

    def kick(self, x: State, slope: State, time: Array) -> State:
        """Velocities, memory and work moved along their rates."""
        moved = (start + time * change for start, change in zip(x[1:], slope[1:], strict=True))
        return State(x.q, *moved)

    def drift(self, x: State, time: Array) -> State:
        """Positions moved along the velocities, on their manifold."""
        return x._replace(q=self.model.integrate(x.q, time * x.v))


def explicit_euler(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Everything moves with its rate at the start; order 1, adds energy."""
    return _explicit(EULER, model, rate, t, x, h)


def semi_implicit_euler(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """The new velocity moves the position; order 1, symplectic for springs."""
    motion = _Motion(model, rate, t, h)
    return steps.kick_drift(motion.rate, motion.kick, motion.drift, x, h)


def leap_frog(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Half a kick, a whole drift, half a kick (velocity Verlet); order 2."""
    motion = _Motion(model, rate, t, h)
    return steps.leap_frog(motion.rate, motion.kick, motion.drift, x, h)


def predictor_corrector(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Euler predicts, the trapezoid of both ends corrects (Heun); order 2."""
    return _explicit(HEUN, model, rate, t, x, h)


def runge_kutta_4(model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """The classical four stages; order 4."""
    return _explicit(CLASSICAL, model, rate, t, x, h)


def _explicit(tableau: Tableau, model: Model, rate: Rate, t: Array, x: State, h: Array) -> State:
    """Explicit stages. Quaternions go straight and are brought back to length one at the end.

    Their equation keeps that length exactly, so the projection does not cost an order.
    """
    end = State(*steps.runge_kutta(tableau, _Motion(model, rate, t, h).rate, x, h))
    return end._replace(q=normalize(model, end.q))


INTEGRATORS: dict[str, Callable[..., State]] = {
    "explicit_euler": explicit_euler,
    "semi_implicit_euler": semi_implicit_euler,
    "leap_frog": leap_frog,
    "predictor_corrector": predictor_corrector,
    "rk4": runge_kutta_4,
}
"""Fixed-step integrators that can be part of a kernel, by name."""
