"""Equilibrium of fibers and compliant tendons at given lengths, speeds and activations.

The tendon keeps its length for the moment: all of the lengthening speed is that of the fibers along
it. Then the force of the tendon and that of the fibers along it are functions of one length, and
the equilibrium lies between the shortest fibers and a tendon at its slack length. It is found by
the method of Chandrupatla, which keeps the equilibrium between two lengths and halves their
distance where interpolation does not do better, so that it always converges.

Chandrupatla T. R., "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
function without using derivatives", Advances in Engineering Software 28, 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from homodyn.model.muscles import Muscle
from homodyn.muscle.geometry.selects import is_constant
from homodyn.muscle.models.muscle_model import FiberState, HillModel
from homodyn.spatial import Array
from homodyn.symbolic.solver_loop import iterate

LENGTH_TOLERANCE = 1e-13
"""Of the bracket, in lengths of the path."""
MAX_ITERATIONS = 120
SHORTEST_ALONG = 0.01
"""Of fibers along the tendon, in optimal fiber lengths, in models without a lower bound."""
FOUND, SHORTEST, UNLOADED = 0, 1, 2
"""Status: forces are equal; the fibers are at their shortest length, where they could still pull
more than the tendon does; the fibers would have to push the tendon, which has its slack length."""
STATE_ENTRIES = 7
"""State of the solver by muscle: three lengths with their residuals, and the next place."""


def residual(
    muscle: Muscle, law: HillModel, along: Array, activation: Array, length: Array, speed: Array
) -> Array:
    """Force of the fibers along the tendon minus that of the tendon, in maximal isometric forces.

    Args:
        muscle: Its parameters.
        law: Its model.
        along: Length of the fibers along the tendon, m.
        activation: 0 to 1.
        length: Length of the path, m.
        speed: Rate of change of ``along``, m/s.
    """
    fiber = FiberState.of(muscle, along, speed)
    pull = law.fiber_force(muscle, activation, fiber).total * fiber.cosine
    return pull - _tendon_force(muscle, law, along, length)


@dataclass(frozen=True)
class TracedEquilibrium:
    """Equilibrium of some muscles over symbols."""

    along: list[Array]
    """Lengths of the fibers along the tendons, m."""
    forces: list[Array]
    """Forces of the tendons, N."""
    status: list[Array]
    """``FOUND``, ``SHORTEST`` or ``UNLOADED``."""


def solve_equilibrium(
    muscles: Sequence[Muscle],
    laws: Sequence[HillModel],
    activations: Sequence[Array],
    path_lengths: Sequence[Array],
    speeds: Sequence[Array],
) -> TracedEquilibrium:
    """Lengths of fibers at which they pull as their tendons do.

    Args:
        muscles: Parameters of all muscles.
        laws: Their models.
        activations: 0 to 1.
        path_lengths: Lengths of the paths, m.
        speeds: Their rates of change, m/s.

    Raises:
        KernelError: The call is not part of a function that is being traced.
    """
    count = len(muscles)
    names = ("along", "activation", "length", "speed")
    symbols = [[ca.SX.sym(f"{name}_{k}") for k in range(count)] for name in names]
    rows = [
        residual(muscle, law, *(column[k] for column in symbols))
        for k, (muscle, law) in enumerate(zip(muscles, laws, strict=True))
    ]
    inputs = [ca.vertcat(*column) for column in symbols]
    known = {hash(symbol) for column in symbols for symbol in column}
    others = [s for s in ca.symvar(ca.vertcat(*rows)) if hash(s) not in known]
    evaluate = ca.Function("residuals", [*inputs, ca.vertcat(*others)], [ca.vertcat(*rows)])
    constants = ca.vertcat(*activations, *path_lengths, *speeds, *others)
    lower = ca.vertcat(*[_shortest_along(m, law) for m, law in zip(muscles, laws, strict=True)])
    slack = ca.vertcat(*[ca.SX(m.tendon_slack_length) for m in muscles])
    upper = ca.fmax(ca.vertcat(*path_lengths) - slack, lower)
    tail = _split_constants(constants, count, len(others))
    at_lower = evaluate.call([lower, *tail], True, False)[0]
    at_upper = evaluate.call([upper, *tail], True, False)[0]
    status = ca.if_else(at_lower >= 0, SHORTEST, ca.if_else(at_upper <= 0, UNLOADED, FOUND))
    # Without an equilibrium in between, one of the ends is the answer and needs no iteration.
    first = ca.if_else(status == UNLOADED, upper, lower)
    second = ca.if_else(status == SHORTEST, lower, upper)
    below, above = ca.fmin(at_lower, 0), ca.fmax(at_upper, 0)
    halves = 0.5 * ca.SX.ones(count)
    start = ca.vertcat(first, below, second, above, second, above, halves, 1.0)
    end = iterate(_bracket_step(evaluate, count, len(others)), start, constants, MAX_ITERATIONS)
    x, fx, y, fy = (end[entry * count : (entry + 1) * count] for entry in range(4))
    along = ca.if_else(ca.fabs(fx) < ca.fabs(fy), x, y)
    found = [along[k] for k in range(count)]
    forces = [
        muscle.max_isometric_force * ca.fmax(_tendon_force(muscle, law, one, length), 0.0)
        for muscle, law, one, length in zip(muscles, laws, found, path_lengths, strict=True)
    ]
    return TracedEquilibrium(found, forces, [status[k] for k in range(count)])


def _shortest_along(muscle: Muscle, law: HillModel) -> ca.SX:
    bound = law.shortest_fiber_along(muscle)
    if is_constant(bound) and float(bound) == 0:
        bound = SHORTEST_ALONG * muscle.optimal_fiber_length
    return ca.SX(bound)


def _tendon_force(muscle: Muscle, law: HillModel, along: Array, length: Array) -> Array:
    return law.tendon_force_length(muscle, (length - along) / muscle.tendon_slack_length)


def _split_constants(constants: ca.SX, count: int, others: int) -> list[ca.SX]:
    """Activations, lengths, speeds and other symbols of the residuals."""
    columns = [constants[k * count : (k + 1) * count] for k in range(3)]
    return [*columns, constants[3 * count :] if others else ca.SX(0, 1)]


def _bracket_step(evaluate: ca.Function, count: int, others: int) -> ca.Function:
    """One step of the method for all muscles; the last entry of the state is the flag."""
    state = ca.SX.sym("state", STATE_ENTRIES * count + 1)
    constants = ca.SX.sym("constants", 3 * count + others)
    x1, f1, x2, f2, x3, f3, part = (
        state[k * count : (k + 1) * count] for k in range(STATE_ENTRIES)
    )
    columns = _split_constants(constants, count, others)
    x = x1 + part * (x2 - x1)
    f = evaluate.call([x, *columns], True, False)[0]
    same = f * f1 > 0
    x3, f3 = ca.if_else(same, x1, x2), ca.if_else(same, f1, f2)
    x2, f2 = ca.if_else(same, x2, x1), ca.if_else(same, f2, f1)
    x1, f1 = x, f
    width = ca.fabs(x2 - x1)
    tolerance = LENGTH_TOLERANCE * columns[1]
    done = ca.logic_or(width <= 2 * tolerance, f1 == 0)
    xi = (x1 - x2) / _nonzero(x3 - x2)
    phi = (f1 - f2) / _nonzero(f3 - f2)
    smooth = ca.logic_and(phi**2 < xi, (1 - phi) ** 2 < 1 - xi)
    inverse = f1 / _nonzero(f2 - f1) * f3 / _nonzero(f2 - f3)
    inverse += (x3 - x1) / _nonzero(x2 - x1) * f1 / _nonzero(f3 - f1) * f2 / _nonzero(f3 - f2)
    edge = ca.fmin(tolerance / ca.fmax(width, 1e-300), 0.5)
    part = ca.fmin(ca.fmax(ca.if_else(smooth, inverse, 0.5), edge), 1 - edge)
    # Where a muscle has converged, both ends are its answer.
    x2, f2 = ca.if_else(f1 == 0, x1, x2), ca.if_else(f1 == 0, f1, f2)
    flag = 1 - ca.mmin(done)
    after = ca.vertcat(x1, f1, x2, f2, x3, f3, part, flag)
    return ca.Function("bracket", [state, constants], [after])


def _nonzero(x: ca.SX) -> ca.SX:
    """The number, or one where it is zero; such quotients are not used."""
    return ca.if_else(x == 0, 1.0, x)
