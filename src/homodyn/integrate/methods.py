"""The integration methods of bodies, networks and optimal control, in one table.

A method integrates a `DynamicalSystem`: rates of a state at a fraction of the step (0 at its start,
1 at its end), and updates of the state along them. Explicit Runge-Kutta methods use rates alone.
Splitting methods alternate a *kick* (everything but positions is advanced along its rate) and a
*drift* (positions are advanced along their velocities, on their manifold).

`METHODS` lists every method by name. Those with a ``step`` (`Integrator`) have a fixed step and can
be traced into a kernel; ``dormand_prince`` and ``implicit_midpoint`` choose or solve their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import add
from typing import Any, Protocol, TypeVar, runtime_checkable

from homodyn.errors import ModelError
from homodyn.integrate.tableau import EXPLICIT_EULER, HEUN, RK4, Tableau
from homodyn.spatial import Array

Parts = tuple[Array, ...]
"""Arrays that make up a state, or its rates."""

Rate = Callable[[float, Any], Any]
"""Rates of a state at a fraction of the step."""

State = TypeVar("State")


class DynamicalSystem(Protocol[State]):
    """What a method integrates. A state is a tuple of arrays; so are its rates."""

    def rate(self, fraction: float, state: State) -> Any:
        """Rates of all parts of a state at a fraction of the step."""

    def kick(self, state: State, rate: Any, time: Array) -> State:
        """The state with everything but its positions advanced along ``rate`` by ``time`` (s)."""

    def drift(self, state: State, time: Array) -> State:
        """The state with its positions advanced along their velocities by ``time`` (s)."""

    def project(self, state: Any) -> State:
        """The state projected onto its manifold, after an update along straight lines."""


@runtime_checkable
class Integrator(Protocol):
    """A method of fixed step, over numbers and symbols alike.

    Implement this to add a method: pass an instance wherever the name of a method is accepted.

    Attributes:
        name: Name in messages.
        order: Order of the error after a fixed time, in the length of the step.
    """

    @property
    def name(self) -> str:
        """Name of the method in messages."""

    @property
    def order(self) -> int:
        """Order of the error after a fixed time."""

    def step(self, system: DynamicalSystem[Any], state: Any, h: Array) -> Any:
        """The state of ``system`` a step of ``h`` (s) later.

        The body must not branch on values: it is traced once over symbols.
        """


@dataclass(frozen=True)
class ExplicitRungeKutta:
    """An explicit Runge-Kutta method; the end of the step is projected onto the manifold.

    Attributes:
        name: Name of the method.
        order: Its order.
        tableau: Its coefficients.
        description: One sentence for a list of methods.
    """

    name: str
    order: int
    tableau: Tableau
    description: str = ""

    def step(self, system: DynamicalSystem[Any], state: Any, h: Array) -> Any:
        """The state of ``system`` a step of ``h`` (s) later."""
        return system.project(runge_kutta(self.tableau, system.rate, state, h))


@dataclass(frozen=True)
class SemiImplicitEuler:
    """Semi-implicit (symplectic) Euler: positions are advanced with the new velocities."""

    name: str = "semi_implicit_euler"
    order: int = 1
    description: str = "new velocities advance positions; symplectic for springs"

    def step(self, system: DynamicalSystem[Any], state: Any, h: Array) -> Any:
        """The state of ``system`` a step of ``h`` (s) later."""
        return system.drift(system.kick(state, system.rate(0.0, state), h), h)


@dataclass(frozen=True)
class Leapfrog:
    """Half a kick, a whole drift, half a kick (velocity Verlet).

    For rates that depend on velocities the last kick uses extrapolated ones: those of the middle
    would reduce the method to order 1.
    """

    name: str = "leapfrog"
    order: int = 2
    description: str = "kick, drift, kick (velocity Verlet); symplectic for springs"

    def step(self, system: DynamicalSystem[Any], state: Any, h: Array) -> Any:
        """The state of ``system`` a step of ``h`` (s) later."""
        start = system.rate(0.0, state)
        drifted = system.drift(system.kick(state, start, h / 2), h)
        end = system.rate(1.0, system.kick(drifted, start, h / 2))
        return system.kick(drifted, end, h / 2)


@dataclass(frozen=True)
class SolvedMethod:
    """A method that chooses the length of its steps or solves equations in each of them.

    It has no ``step`` that could be traced; the packages that offer it have their own loop.

    Attributes:
        name: Name of the method.
        order: Its order.
        description: One sentence for a list of methods.
    """

    name: str
    order: int
    description: str


Method = ExplicitRungeKutta | SemiImplicitEuler | Leapfrog | SolvedMethod

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        ExplicitRungeKutta("explicit_euler", 1, EXPLICIT_EULER, "rates of the start; adds energy"),
        SemiImplicitEuler(),
        ExplicitRungeKutta("heun", 2, HEUN, "Euler predictor, trapezoidal corrector"),
        Leapfrog(),
        ExplicitRungeKutta("rk4", 4, RK4, "the classical four stages"),
        SolvedMethod("dormand_prince", 5, "chooses its steps for a tolerance; dense output"),
        SolvedMethod("implicit_midpoint", 2, "solves each step by Newton's method; stiff springs"),
    )
}
"""All integration methods by name."""

FIXED_STEP_METHODS: dict[str, Integrator] = {
    name: method for name, method in METHODS.items() if not isinstance(method, SolvedMethod)
}
"""The methods of fixed step, which can be part of a kernel."""

METHOD_KEYWORDS = {
    "euler": "explicit_euler",
    "predictor-corrector": "heun",
    "leap-frog": "leapfrog",
    "runge-kutta": "rk4",
}
"""Keywords of the network language that name a method of the table."""


def fixed_step_method(name: str | Integrator) -> Integrator:
    """Look up a method of fixed step.

    Args:
        name: A name in `FIXED_STEP_METHODS`, or a method of your own.

    Returns:
        The method.

    Raises:
        ModelError: There is no such method.
    """
    if not isinstance(name, str):
        return name
    if name not in FIXED_STEP_METHODS:
        raise ModelError(f"no integrator {name!r}; accepted: {', '.join(FIXED_STEP_METHODS)}")
    return FIXED_STEP_METHODS[name]


def runge_kutta(tableau: Tableau, rate: Rate, x: Parts, h: Array) -> Parts:
    """Take one explicit Runge-Kutta step.

    Args:
        tableau: Coefficients of the method.
        rate: Rates of a state at a fraction of the step, ``rate(fraction, x)``.
        x: Parts of the state at the start.
        h: Length of the step.

    Returns:
        The parts of the state at the end.
    """
    slopes: list[Parts] = []
    for row in tableau.stages:
        slopes.append(rate(float(sum(row)), _advance(x, slopes, row, h)))
    return _advance(x, slopes, tableau.weights, h)


def _advance(x: Parts, slopes: Sequence[Parts], weights: Sequence[Fraction], h: Array) -> Parts:
    """X + h / n (sum of integers times slopes): few products, and exact integer weights."""
    weighted = [(one, slope) for one, slope in zip(weights, slopes, strict=False) if one]
    if not weighted:
        return x
    denominator = lcm(*[one.denominator for one, _ in weighted])
    length = h if denominator == 1 else h / denominator
    parts = []
    for k, start in enumerate(x):
        terms = [_times(int(one * denominator), slope[k]) for one, slope in weighted]
        parts.append(start + length * reduce(add, terms))
    return tuple(parts)


def _times(count: int, slope: Array) -> Array:
    return slope if count == 1 else count * slope
