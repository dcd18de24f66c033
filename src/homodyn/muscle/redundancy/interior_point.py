"""The convex program of one frame, solved by a primal-dual interior-point method.

Activations a and reserves r of a frame minimize

    sum w_i a_i^p + sum t_i (a_i - m_i)^2 + sum (r_k / S_k)^2

subject to A a + r = b and lower <= a <= upper. Every iteration takes Mehrotra's predictor and
corrector (Mehrotra 1992, SIAM J. Optim. 2:575) with one factorization of A D^-1 A^T + C, where D is
the diagonal of the reduced Hessian and C that of the compliances S_k^2 / 2 of the reserves. The
matrix has one row per coordinate and the sparsity of the coordinates that share muscles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.solver_loop import iterate
from homodyn.symbolic.trace import trace

MAX_ITERATIONS = 60
"""Largest number of iterations of a frame."""
GAP_TOLERANCE = 1e-14
"""Mean complementarity (activation times multiplier) at which iterations end."""
RESIDUAL_TOLERANCE = 1e-10
"""Scaled residual of torques and of the gradient at which iterations end."""
STEP_FRACTION = 0.995
"""Part of the distance to the nearest bound that a step covers at most."""
START_FRACTION = 0.2
"""Part of the range of an activation, above its lower bound, at which iterations start."""
START_MULTIPLIER = 0.1
"""Multipliers of the bounds at the start."""
PIVOT_REGULARIZATION = 1e-13
"""Added to the diagonal of the factorized matrix, relative to it."""
PROXIMAL_CURVATURE = 1e-8
"""Added to the curvature of the cost of every activation in the matrix, not in the residuals: it
bounds steps where costs are linear or flat, and does not change the solution."""


@dataclass(frozen=True)
class FrameProgram:
    """What the kernel of a frame depends on: sizes, the nonzero torques and the power."""

    pattern: tuple[tuple[bool, ...], ...]
    """(muscles, coordinates): True where a muscle may act on a coordinate."""
    power: float
    """The power of activations, 1 or more."""

    @property
    def muscles(self) -> int:
        """Number of muscles."""
        return len(self.pattern)

    @property
    def coordinates(self) -> int:
        """Number of coordinates."""
        return len(self.pattern[0])

    @property
    def entries(self) -> tuple[np.ndarray, np.ndarray]:
        """Muscle and coordinate of every torque that is not zero."""
        muscles, coordinates = np.nonzero(np.array(self.pattern))
        return muscles, coordinates

    def kernel(self) -> Kernel:
        """The kernel: torques at full activation, loads and costs to activations.

        Inputs are ``torques`` (nonzero entries), ``loads`` (coordinates), ``compliance``
        (coordinates), and ``lower``, ``upper``, ``weight``, ``pull`` and ``target`` (muscles).
        Outputs are ``activations`` (muscles), ``multipliers`` (coordinates), and ``iterations``.
        """
        return _frame_kernel(self)


@lru_cache(maxsize=32)
def _frame_kernel(program: FrameProgram) -> Kernel:
    n, m = program.muscles, program.coordinates
    sizes: dict[str, int | tuple[int, ...]] = {
        "torques": len(program.entries[0]),
        "loads": m,
        "compliance": m,
        **dict.fromkeys(("lower", "upper", "weight", "pull", "target"), n),
    }
    outputs: dict[str, int | tuple[int, ...]] = {
        "activations": n,
        "multipliers": m,
        "iterations": (),
    }

    def solve(*inputs: ca.SX) -> tuple[ca.SX, ...]:
        constants = ca.vertcat(*inputs)
        symbols = [ca.SX.sym(name, size) for name, size in sizes.items()]
        iteration = _Iteration(program, *symbols)
        state = ca.SX.sym("state", 3 * n + m + 2)
        body = ca.Function(
            "interior_point", [state, ca.vertcat(*symbols)], [iteration.advance(state)]
        )
        lower, upper = inputs[3], inputs[4]
        start = ca.vertcat(
            lower + START_FRACTION * (upper - lower),
            ca.SX.zeros(m),
            START_MULTIPLIER * ca.SX.ones(2 * n),
            0.0,
            1.0,
        )
        end = iterate(body, start, constants, MAX_ITERATIONS)
        return end[:n], end[n : n + m], end[3 * n + m]

    name = f"static optimization of {n} muscles and {m} coordinates"
    return Kernel(trace(solve, sizes, outputs, name))


def effort_gradient(activation: Array, weight: Array, power: float) -> Array:
    """Derivative of ``weight * activation ** power`` by the activation.

    Args:
        activation: Above zero, numbers or symbols.
        weight: Of the activation.
        power: 1 or more.
    """
    return power * weight * _raise(activation, power - 1)


def _effort_curvature(activation: Array, weight: Array, power: float) -> Array:
    if power == 1:
        return 0.0 * weight
    return power * (power - 1) * weight * _raise(activation, power - 2)


def _raise(base: Array, exponent: float) -> Array:
    """A power by multiplications where the exponent is a small whole number."""
    if exponent == 0:
        return 1.0
    if 0 < exponent <= 8 and exponent == int(exponent):
        result = base
        for _ in range(int(exponent) - 1):
            result = result * base
        return result
    return ca.exp(exponent * ca.log(base)) if isinstance(base, ca.SX) else base**exponent


@dataclass(frozen=True)
class _Point:
    """The variables of an iteration."""

    a: Array
    y: Array
    """Multipliers of the torques."""
    zl: Array
    zu: Array
    """Multipliers of the bounds."""


@dataclass(frozen=True)
class _Iteration:
    """One iteration over symbols."""

    program: FrameProgram
    torques: Array
    loads: Array
    compliance: Array
    lower: Array
    upper: Array
    weight: Array
    pull: Array
    target: Array

    def advance(self, state: Array) -> Array:
        """The state after a step of Mehrotra's method."""
        n, m = self.program.muscles, self.program.coordinates
        point = _Point(*ca.vertsplit(state[: 3 * n + m], [0, n, n + m, 2 * n + m, 3 * n + m]))
        below, above = point.a - self.lower, self.upper - point.a
        dual, primal = self._dual_residual(point), self._primal_residual(point)
        gap = (ca.dot(below, point.zl) + ca.dot(above, point.zu)) / (2 * n)
        curvature = _effort_curvature(point.a, self.weight, self.program.power) + 2 * self.pull
        D = curvature + PROXIMAL_CURVATURE + point.zl / below + point.zu / above
        solve = self._factorize(1 / D)
        step = self._step(point, solve, dual, primal, -point.zl * below, -point.zu * above)
        length = _step_length(point, step, below, above, 1.0)
        after = (
            ca.dot(below + length * step.a, point.zl + length * step.zl)
            + ca.dot(above - length * step.a, point.zu + length * step.zu)
        ) / (2 * n)
        center = (after / gap) ** 3 * gap
        low = center - point.zl * below - step.a * step.zl
        high = center - point.zu * above + step.a * step.zu
        step = self._step(point, solve, dual, primal, low, high)
        length = _step_length(point, step, below, above, STEP_FRACTION)
        new = _Point(*(x + length * d for x, d in zip(_fields(point), _fields(step), strict=True)))
        left = new.a - self.lower, self.upper - new.a
        gap = (ca.dot(left[0], new.zl) + ca.dot(left[1], new.zu)) / (2 * n)
        error = ca.fmax(
            ca.mmax(ca.fabs(self._dual_residual(new))), ca.mmax(ca.fabs(self._primal_residual(new)))
        )
        # Both comparisons are false for NaN: a step that rounding spoils is not taken.
        valid = ca.logic_and(gap >= 0, error >= 0)
        more = ca.logic_and(valid, ca.logic_or(gap > GAP_TOLERANCE, error > RESIDUAL_TOLERANCE))
        variables = ca.if_else(valid, ca.vertcat(*_fields(new)), state[: 3 * n + m])
        return ca.vertcat(variables, state[3 * n + m] + 1, more)

    def _dual_residual(self, point: _Point) -> Array:
        gradient = effort_gradient(point.a, self.weight, self.program.power)
        gradient = gradient + 2 * self.pull * (point.a - self.target)
        return gradient - self._multiplier_torque(point.y) - point.zl + point.zu

    def _primal_residual(self, point: _Point) -> Array:
        return self._torque(point.a) + self.compliance * point.y - self.loads

    def _torque(self, a: Array) -> Array:
        """Torques of activations, A a."""
        total: list[Array] = [0.0] * self.program.coordinates
        for k, (i, j) in enumerate(zip(*self.program.entries, strict=True)):
            total[j] = total[j] + self.torques[k] * a[i]
        return ca.vertcat(*total)

    def _multiplier_torque(self, y: Array) -> Array:
        """A^T y."""
        total: list[Array] = [0.0] * self.program.muscles
        for k, (i, j) in enumerate(zip(*self.program.entries, strict=True)):
            total[i] = total[i] + self.torques[k] * y[j]
        return ca.vertcat(*total)

    def _factorize(self, inverse: Array) -> _Factors:
        m = self.program.coordinates
        rows: dict[int, list[tuple[int, Array]]] = {}
        for k, (i, j) in enumerate(zip(*self.program.entries, strict=True)):
            rows.setdefault(int(i), []).append((int(j), self.torques[k]))
        entries: dict[tuple[int, int], Array] = {(k, k): self.compliance[k] for k in range(m)}
        for i, parts in rows.items():
            for j, left in parts:
                scaled = left * inverse[i]
                for k, right in parts:
                    if k <= j:
                        entries[j, k] = entries.get((j, k), 0.0) + scaled * right
        return _Factors.of(m, entries, inverse)

    def _step(
        self,
        point: _Point,
        factors: _Factors,
        dual: Array,
        primal: Array,
        low: Array,
        high: Array,
    ) -> _Point:
        """Newton's step towards given products of distances to the bounds and multipliers."""
        below, above = point.a - self.lower, self.upper - point.a
        right = low / below - high / above - dual
        y = factors.solve(-primal - self._torque(factors.inverse * right))
        a = factors.inverse * (right + self._multiplier_torque(y))
        return _Point(a, y, (low - point.zl * a) / below, (high + point.zu * a) / above)


@dataclass(frozen=True)
class _Factors:
    """L D L^T of the matrix of an iteration, and the inverse of its reduced Hessian."""

    inverse: Array
    lower: dict[int, list[tuple[int, Array]]]
    """Entries of L below the diagonal, by column: row and value."""
    pivots: list[Array]
    order: Sequence[int]

    @staticmethod
    def of(size: int, entries: dict[tuple[int, int], Array], inverse: Array) -> _Factors:
        """Factorize a symmetric matrix given by its entries on and below the diagonal."""
        order = _elimination_order(size, list(entries))
        place = {row: k for k, row in enumerate(order)}
        work: dict[tuple[int, int], Array] = {}
        for (i, j), value in entries.items():
            i, j = place[i], place[j]
            work[max(i, j), min(i, j)] = value
        lower: dict[int, list[tuple[int, Array]]] = {}
        pivots: list[Array] = []
        for k in range(size):
            pivot = work[k, k] * (1 + PIVOT_REGULARIZATION)
            pivots.append(pivot)
            column = [(i, work[i, k]) for i in range(k + 1, size) if (i, k) in work]
            lower[k] = [(i, value / pivot) for i, value in column]
            for i, factor in lower[k]:
                for j, value in column:
                    if j <= i:
                        work[i, j] = work.get((i, j), 0.0) - factor * value
        return _Factors(inverse, lower, pivots, order)

    def solve(self, right: Array) -> Array:
        """The solution of the factorized system."""
        x: list[Array] = [right[k] for k in self.order]
        for k in range(len(x)):
            for i, factor in self.lower[k]:
                x[i] = x[i] - factor * x[k]
        x = [value / pivot for value, pivot in zip(x, self.pivots, strict=True)]
        for k in reversed(range(len(x))):
            for i, factor in self.lower[k]:
                x[k] = x[k] - factor * x[i]
        result: list[Array] = [0.0] * len(x)
        for k, row in enumerate(self.order):
            result[row] = x[k]
        return ca.vertcat(*result)


def _elimination_order(size: int, entries: list[tuple[int, int]]) -> list[int]:
    """Rows by minimum degree: few entries appear during the elimination."""
    neighbors: list[set[int]] = [set() for _ in range(size)]
    for i, j in entries:
        if i != j:
            neighbors[i].add(j)
            neighbors[j].add(i)
    left, order = set(range(size)), []
    while left:
        k = min(left, key=lambda row: (len(neighbors[row]), row))
        left.remove(k)
        order.append(k)
        for i in neighbors[k]:
            neighbors[i] |= neighbors[k] - {i}
            neighbors[i].discard(k)
    return order


def _step_length(point: _Point, step: _Point, below: Array, above: Array, part: float) -> Array:
    """The longest step, at most 1, that covers a part of the distance to every bound."""
    ratios = ca.vertcat(-step.a / below, step.a / above, -step.zl / point.zl, -step.zu / point.zu)
    return part / ca.fmax(part, ca.mmax(ratios))


def _fields(point: _Point) -> tuple[Array, Array, Array, Array]:
    return point.a, point.y, point.zl, point.zu
