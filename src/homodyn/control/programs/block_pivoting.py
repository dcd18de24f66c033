"""Quadratic programs by block principal pivoting, in a compiled loop with one SIMD lane per state.

Each iteration guesses which bounds are active and solves the equations that remain. Free variables
beyond a bound become active, active ones with a multiplier of the wrong sign become free, all at
once. Where that does not reduce the number of violations for some iterations, only the last one is
exchanged, which ends after finitely many steps (Murty 1974). Source: Portugal, Judice and Vicente
1994, Math. Comp. 63:625; with two bounds: Judice and Pires 1992, Math. Program. 57:59.

With the diagonal D of the free variables, rows A and multipliers y, the equations are
``(A D^-1 A^T + C) y = b - A x_0`` and ``x = x_0 + D^-1 A^T y`` (Woodbury), where C is 1 for costs
and 0 for constraints: as many unknowns as rows, usually fewer than variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.control.programs.quadratic_program import ProgramPattern, RowKind
from homodyn.spatial import Array
from homodyn.symbolic import Kernel
from homodyn.symbolic.solver_loop import iterate
from homodyn.symbolic.trace import trace

MAX_ITERATIONS = 60
"""Largest number of exchanges; daqp solves what needs more."""
BLOCK_PATIENCE = 3
"""Iterations without fewer violations after which exchanges become single."""
BOUND_TOLERANCE = 1e-10
"""Violation of a bound (unit of the variable) that counts as rounding."""
MULTIPLIER_TOLERANCE = 1e-11
"""Multiplier of the wrong sign, relative to the gradients it balances, that counts as rounding."""
DEPENDENT_PIVOT = 1e-10
"""Pivot of a constraint, relative to its diagonal entry, below which the row depends on others: an
equality is left out, and the result is checked against it."""
SOFT_PIVOT = 1e-8
"""Pivot of an inequality that depends on others or on active bounds, relative to its diagonal entry
without bounds: where it is violated, its large multiplier releases bounds."""
EQUALITY_TOLERANCE = 1e-6
"""Residual of an equality, relative to its size, that counts as violated."""


@dataclass(frozen=True)
class ProgramSymbols:
    """The numbers of a program as symbols; entries of rows by the pattern, row by row."""

    curvature: Array
    gradient: Array
    lower: Array
    upper: Array
    entries: Array
    target: Array
    row_lower: Array
    row_upper: Array


@dataclass(frozen=True)
class SolutionSymbols:
    """The result of the loop as symbols."""

    x: Array
    """(variables,)."""
    multipliers: Array
    """(rows,): of constraints; residuals b - a . x of costs."""
    active: Array
    """(variables,): -1 at the lower bound, 1 at the upper bound, 0 between."""
    iterations: Array
    violations: Array
    """Number of conditions that the last iterate violates; 0: solved."""


@lru_cache(maxsize=64)
def pivoting_kernel(pattern: ProgramPattern) -> Kernel:
    """The solver of programs of one pattern.

    Inputs are those of `ProgramSymbols`; outputs those of `SolutionSymbols`.

    Args:
        pattern: Sizes, columns and kinds of rows.

    Returns:
        The kernel.
    """
    n, m = pattern.variables, pattern.rows
    sizes: dict[str, int | tuple[int, ...]] = {
        **dict.fromkeys(("curvature", "gradient", "lower", "upper"), n),
        "entries": len(pattern.entries[0]),
        **dict.fromkeys(("target", "row_lower", "row_upper"), m),
    }
    outputs: dict[str, int | tuple[int, ...]] = {
        "x": n,
        "multipliers": m,
        "active": n,
        "iterations": (),
        "violations": (),
    }

    def solve(*inputs: ca.SX) -> tuple[ca.SX, ...]:
        found = solve_symbolically(pattern, ProgramSymbols(*inputs))
        return found.x, found.multipliers, found.active, found.iterations, found.violations

    return Kernel(trace(solve, sizes, outputs, f"quadratic program of {n} variables, {m} rows"))


def solve_symbolically(pattern: ProgramPattern, program: ProgramSymbols) -> SolutionSymbols:
    """The solution of a program inside a traced function.

    Args:
        pattern: Sizes, columns and kinds of rows.
        program: Its numbers.

    Returns:
        The solution.
    """
    n, m, hard = pattern.variables, pattern.rows, pattern.indices(RowKind.INEQUALITY)
    fields = [ca.densify(ca.SX(part)) for part in vars(program).values()]
    symbols = [ca.SX.sym("c", part.numel()) for part in fields]
    lengths = [n, len(hard), n, m, 1, 1, 1, 1, 1]
    state = ca.SX.sym("state", sum(lengths))
    after = _Iteration(pattern, ProgramSymbols(*symbols)).advance(_split_state(state, lengths))
    body = ca.Function("pivoting", [state, ca.vertcat(*symbols)], [after])
    start = ca.vertcat(ca.SX.zeros(2 * n + len(hard) + m), n + m + 1.0, BLOCK_PATIENCE, 0, 0, 1)
    end = _split_state(iterate(body, start, ca.vertcat(*fields), MAX_ITERATIONS), lengths)
    return SolutionSymbols(end[2], end[3], end[0], end[6], end[7])


def _split_state(state: Array, lengths: list[int]) -> list[Array]:
    places = [0]
    for length in lengths:
        places.append(places[-1] + length)
    return list(ca.vertsplit(state, places))


@dataclass(frozen=True)
class _Iteration:
    """One exchange over symbols."""

    pattern: ProgramPattern
    program: ProgramSymbols

    def advance(self, state: list[Array]) -> Array:
        """The state after an exchange: active bounds, solution, counters and flag."""
        box, held, _, _, best, patience, count, _, _ = state
        x, y, slope = self._solve_equations(box, held)
        box_error = self._box_changes(box, x, slope)
        held_error = self._row_changes(held, x, y)
        errors = ca.vertcat(*box_error[0], *held_error[0])
        wanted = ca.vertcat(*box_error[1], *held_error[1])
        total = ca.sum1(errors)
        fewer = total < best
        block = ca.logic_or(fewer, patience > 0)
        later: list[Array] = []
        seen: Array = 0.0
        for k in reversed(range(errors.numel())):
            later.append(ca.logic_and(errors[k] > 0, seen == 0))
            seen = seen + errors[k]
        single = ca.vertcat(*reversed(later))
        change = ca.logic_and(errors > 0, ca.logic_or(block, single))
        codes = ca.if_else(change, wanted, ca.vertcat(box, held))
        # A NaN violates nothing: it ends the loop, and the count says that nothing was solved.
        finite = ca.sum1(x) == ca.sum1(x)
        broken = self._broken_equalities(x) + self._broken_inequalities(held, x)
        return ca.vertcat(
            codes,
            x,
            y,
            ca.if_else(fewer, total, best),
            ca.if_else(fewer, BLOCK_PATIENCE, ca.fmax(patience - 1, 0)),
            count + 1,
            ca.if_else(finite, total + broken, 1.0),
            ca.logic_and(finite, total > 0),
        )

    def _solve_equations(self, box: Array, held: Array) -> tuple[Array, Array, Array]:
        """Variables, multipliers, and the gradient of the Lagrangian for these active bounds."""
        program, n = self.program, self.pattern.variables
        inverse = [ca.if_else(box[i] == 0, 1 / program.curvature[i], 0.0) for i in range(n)]
        base = [
            ca.if_else(
                box[i] == 0,
                inverse[i] * program.gradient[i],
                ca.if_else(box[i] > 0, program.upper[i], program.lower[i]),
            )
            for i in range(n)
        ]
        on, target = self._row_targets(held)
        factors = self._factorize(inverse, on)
        right = [
            switch * (b - sum((a * base[i] for i, a in row), start=ca.SX(0.0)))
            for switch, b, row in zip(on, target, self._rows, strict=True)
        ]
        y = _solve_factorized(factors, right)
        pull: list[Array] = [ca.SX(0.0)] * n
        for k, row in enumerate(self._rows):
            for i, a in row:
                pull[i] = pull[i] + a * y[k]
        x = [base[i] + inverse[i] * pull[i] for i in range(n)]
        slope = [program.curvature[i] * x[i] - program.gradient[i] - pull[i] for i in range(n)]
        return ca.vertcat(*x), ca.vertcat(ca.SX(0, 1), *y), ca.vertcat(*slope)

    @property
    def _rows(self) -> list[list[tuple[int, Array]]]:
        """Column and value of the entries of each row."""
        place, rows = 0, []
        for columns in self.pattern.columns:
            rows.append([(i, self.program.entries[place + k]) for k, i in enumerate(columns)])
            place += len(columns)
        return rows

    def _row_targets(self, held: Array) -> tuple[list[Array], list[Array]]:
        """Whether each row counts (1 or 0), and its value."""
        on: list[Array] = []
        target: list[Array] = []
        place = 0
        for k, kind in enumerate(self.pattern.kinds):
            if kind is not RowKind.INEQUALITY:
                on.append(ca.SX(1.0))
                target.append(self.program.target[k])
                continue
            code = held[place]
            place += 1
            on.append(ca.if_else(code == 0, 0.0, 1.0))
            low, high = self.program.row_lower[k], self.program.row_upper[k]
            target.append(ca.if_else(code == 0, 0.0, ca.if_else(code > 0, high, low)))
        return on, target

    def _factorize(
        self, inverse: list[Array], on: list[Array]
    ) -> tuple[list[list[Array]], list[Array]]:
        """L and D of ``A D^-1 A^T + C`` with rows that do not count replaced by unit rows."""
        rows = self._rows
        lower: list[list[Array]] = []
        pivots: list[Array] = []
        scaled: list[dict[int, Array]] = []
        for k, row in enumerate(rows):
            values = dict(row)
            below: list[Array] = []
            work: list[Array] = []
            for j in range(k):
                entry: Array = ca.SX(0.0)
                for i, a in row:
                    if i in scaled[j]:
                        entry = entry + a * scaled[j][i]
                entry = on[k] * on[j] * entry
                for p in range(j):
                    entry = entry - work[p] * lower[j][p]
                work.append(entry)
                below.append(entry / pivots[j])
            scaled.append({i: inverse[i] * a for i, a in row})
            own: Array = ca.SX(0.0)
            for i, a in values.items():
                own = own + a * scaled[k][i]
            kind = self.pattern.kinds[k]
            if kind is RowKind.COST:
                pivot = own + 1
            elif kind is RowKind.EQUALITY:
                pivot = own
            else:
                pivot = ca.if_else(on[k] == 0, 1.0, own)
            for p in range(k):
                pivot = pivot - work[p] * below[p]
            if kind is not RowKind.COST:
                # An infinite pivot leaves the row out: its multiplier is zero.
                rest: Array = ca.SX(np.inf)
                if kind is RowKind.INEQUALITY:
                    rest = SOFT_PIVOT * sum(
                        (a * a / self.program.curvature[i] for i, a in row), start=ca.SX(0.0)
                    )
                pivot = ca.if_else(pivot <= DEPENDENT_PIVOT * own, rest, pivot)
            lower.append(below)
            pivots.append(pivot)
        return lower, pivots

    def _box_changes(self, box: Array, x: Array, slope: Array) -> tuple[list[Array], list[Array]]:
        """Which bounds are violated (1 or 0), and the codes that would mend it."""
        errors, wanted = [], []
        program = self.program
        for i in range(self.pattern.variables):
            above = x[i] > program.upper[i] + BOUND_TOLERANCE
            below = x[i] < program.lower[i] - BOUND_TOLERANCE
            gradient = program.gradient[i]
            size = (
                ca.fabs(program.curvature[i] * x[i])
                + ca.fabs(gradient)
                + ca.fabs(slope[i] + gradient)
            )
            inward = ca.logic_or(
                ca.logic_and(box[i] > 0, slope[i] > MULTIPLIER_TOLERANCE * size),
                ca.logic_and(box[i] < 0, slope[i] < -MULTIPLIER_TOLERANCE * size),
            )
            # A variable without range has a bound that is never left.
            released = ca.logic_and(inward, program.upper[i] - program.lower[i] > BOUND_TOLERANCE)
            free = box[i] == 0
            errors.append(ca.if_else(free, ca.logic_or(above, below), released))
            wanted.append(ca.if_else(free, ca.if_else(above, 1.0, -1.0), 0.0))
        return errors, wanted

    def _broken_equalities(self, x: Array) -> Array:
        """Number of equalities that do not hold: those that contradict others or bounds."""
        count: Array = ca.SX(0.0)
        for k in self.pattern.indices(RowKind.EQUALITY):
            target = self.program.target[int(k)]
            parts = [a * x[i] for i, a in self._rows[int(k)]]
            error = ca.fabs(sum(parts, start=-target))
            size = sum((ca.fabs(part) for part in parts), start=ca.fabs(target))
            count = count + (error > EQUALITY_TOLERANCE * (1e-3 + size))
        return count

    def _broken_inequalities(self, held: Array, x: Array) -> Array:
        """Number of active inequalities that do not hold."""
        count: Array = ca.SX(0.0)
        for place, k in enumerate(self.pattern.indices(RowKind.INEQUALITY)):
            k = int(k)
            parts = [a * x[i] for i, a in self._rows[k]]
            value = sum(parts, start=ca.SX(0.0))
            low, high = self.program.row_lower[k], self.program.row_upper[k]
            error = ca.fmax(low - value, value - high)
            size = sum((ca.fabs(part) for part in parts), start=ca.SX(1e-3))
            count = count + ca.if_else(held[place] != 0, error > EQUALITY_TOLERANCE * size, 0.0)
        return count

    def _row_changes(self, held: Array, x: Array, y: Array) -> tuple[list[Array], list[Array]]:
        """The same for inequalities."""
        errors, wanted = [], []
        rows = self._rows
        for place, k in enumerate(self.pattern.indices(RowKind.INEQUALITY)):
            k = int(k)
            value = sum((a * x[i] for i, a in rows[k]), start=ca.SX(0.0))
            low, high = self.program.row_lower[k], self.program.row_upper[k]
            above, below = value > high + BOUND_TOLERANCE, value < low - BOUND_TOLERANCE
            code = held[place]
            inward = ca.logic_or(
                ca.logic_and(code > 0, y[k] > MULTIPLIER_TOLERANCE),
                ca.logic_and(code < 0, y[k] < -MULTIPLIER_TOLERANCE),
            )
            free = code == 0
            errors.append(ca.if_else(free, ca.logic_or(above, below), inward))
            wanted.append(ca.if_else(free, ca.if_else(above, 1.0, -1.0), 0.0))
        return errors, wanted


def _solve_factorized(
    factors: tuple[list[list[Array]], list[Array]], right: list[Array]
) -> list[Array]:
    lower, pivots = factors
    y = list(right)
    for k, below in enumerate(lower):
        for j, factor in enumerate(below):
            y[k] = y[k] - factor * y[j]
    y = [value / pivot for value, pivot in zip(y, pivots, strict=True)]
    for k in reversed(range(len(y))):
        for j, factor in enumerate(lower[k]):
            y[j] = y[j] - factor * y[k]
    return y
