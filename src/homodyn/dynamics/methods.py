"""Four methods for H x = load + G^T force, G x = target; all give the same x and forces.

Where rows depend on each other, forces are those of minimum norm and G x = target holds in the
sense of least squares; the rank that was found is returned beside.

"range"      A = G H^-1 G^T from the branch-sparse factor of H (Felis eq. 3.68; Kieboom eq. 2.86
             with Y = L^-T G^T), the sparsity of the rows kept. The fastest, and the default.
"direct"     the whole matrix [H G^T; G 0] = L D L^T, and one step of refinement against the
             matrix itself. With the joints first, from the leaves on, no pivoting is needed and
             the corner is -A, so the elimination is that of "range"; what differs is the
             refinement, which brings G x = target to the last digit for twice the solving.
"null"       an orthonormal basis of the rows, accelerations along and across it (Felis eq.
             3.70-3.75). A is not formed, so its condition does not enter the accelerations.
"recursive"  columns of A from unit test forces through articulated bodies (Kokkevis and Metaxas);
             for few rows on long chains. Not for models in which coordinates follow others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.dynamics.articulated import ArticulatedBodies
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.factor import factorized
from homodyn.dynamics.rows import ConstraintRows
from homodyn.dynamics.semidefinite import NullSpace, Semidefinite, accepted
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.spatial import Array, stack


@dataclass(frozen=True, eq=False)
class Problem:
    """H x = load + G^T force, G x = target; without a load x is what the constraints add."""

    rows: ConstraintRows
    load: Array | None
    target: list[Array]

    @property
    def tree(self) -> Tree:
        """The tree the rows are on."""
        return self.rows.tree

    @cached_property
    def H(self) -> Array:
        """The mass matrix."""
        return composite_inertia(self.tree)

    @cached_property
    def c(self) -> Array:
        """The load, or zeros."""
        return ca.SX(self.tree.model.nv, 1) if self.load is None else self.load


Result = tuple[Array, Array, Array]
"""Accelerations, forces, rank."""


def range_space(problem: Problem) -> Result:
    """Forces from A = Y^T D^-1 Y, accelerations from the same factor."""
    factor = factorized(problem.tree, problem.H)
    Y = [factor.half(_column(problem, row)) for row in problem.rows.entries]
    support = [[i for i, y in enumerate(column) if not _is_zero(y)] for column in Y]
    scaled = [
        {i: column[i] * factor.reciprocal[i] for i in places}
        for column, places in zip(Y, support, strict=True)
    ]
    free = factor.half(problem.c)
    A = [
        [sum(scaled[k][i] * Y[j][i] for i in support[k] if i in scaled[j]) for j in range(k + 1)]
        for k in range(len(Y))
    ]
    b = [
        wanted - sum(column[i] * free[i] for i in column)
        for wanted, column in zip(problem.target, scaled, strict=True)
    ]
    semidefinite = Semidefinite.of(A)
    force = semidefinite.solve(b)
    x = [entry * inverse for entry, inverse in zip(free, factor.reciprocal, strict=True)]
    for column, strength in zip(scaled, force, strict=True):
        for i, y in column.items():
            x[i] = x[i] + y * strength
    return factor.rest(x), stack(*force), semidefinite.rank


def direct(problem: Problem) -> Result:
    """Factorise [H G^T; G 0] with the joints first, solve, and refine once."""
    rows, target = problem.rows, problem.target
    factor = factorized(problem.tree, problem.H)
    # Rows of L below H: eliminating the joints leaves -A = -G H^-1 G^T, negative semidefinite.
    n, m = problem.tree.model.nv, len(target)
    below = [factor.half(_column(problem, row)) for row in rows.entries]
    lower = [[y * d for y, d in zip(row, factor.reciprocal, strict=True)] for row in below]
    A = [[sum(lower[k][i] * below[j][i] for i in range(n)) for j in range(k + 1)] for k in range(m)]
    corner = Semidefinite.of(A)

    def solve(upper: Array, wanted: list[Array]) -> tuple[Array, list[Array]]:
        x = factor.half(upper)
        reached = [sum(y * e for y, e in zip(row, x, strict=True)) for row in lower]
        b = [w - r for w, r in zip(wanted, reached, strict=True)]
        force = corner.solve(b)
        x = [
            x[i] * factor.reciprocal[i] + sum(lower[k][i] * force[k] for k in range(m))
            for i in range(n)
        ]
        return factor.rest(x), force

    x, force = solve(problem.c, target)
    pushed = problem.c - problem.H @ x + rows.jacobian.T @ stack(*force)
    missing = [wanted - reached for wanted, reached in zip(target, rows.times(x), strict=True)]
    dx, dforce = solve(pushed, missing)
    return x + dx, stack(*force) + stack(*dforce), corner.rank


def null_space(problem: Problem) -> Result:
    """G^T = Q R; accelerations in the span of Q from the rows, the rest from P H P, P = 1 - Q Q^T.

    Q has a zero column for each row that depends on earlier ones, so all sizes are fixed:
    P H P + Q Q^T stands for Z^T H Z of Felis eq. 3.73.
    """
    n, m = problem.tree.model.nv, len(problem.target)
    Q: list[dict[int, Array]] = []
    R: dict[tuple[int, int], Array] = {}
    inverse: list[Array] = []
    independent: list[Array] = []
    for k, row in enumerate(problem.rows.entries):
        rest = dict(row)
        size = _square(row)
        for j in range(k):
            shared = [i for i in Q[j] if i in rest]
            R[j, k] = sum((Q[j][i] * rest[i] for i in shared), ca.SX(0))
            if shared:
                for i, entry in Q[j].items():
                    rest[i] = rest.get(i, ca.SX(0)) - R[j, k] * entry
        used, reciprocal = accepted(_square(rest), size)
        independent.append(used)
        inverse.append(ca.sqrt(reciprocal))
        Q.append({i: entry * inverse[k] for i, entry in rest.items()})
    unit = {(k, j): R[j, k] * inverse[j] for j in range(m) for k in range(j + 1, m)}
    null = NullSpace.of(unit, independent)

    along: list[Array] = []
    for k, wanted in enumerate(null.removed(problem.target)):
        known = sum((R[j, k] * along[j] for j in range(k)), ca.SX(0))
        along.append((wanted - known) * inverse[k])
    x = _combination(Q, along, n)
    basis = _matrix(Q, n)
    HQ = problem.H @ basis
    # P H P = H - Q B^T - B Q^T with B = H Q - Q (Q^T H Q) / 2.
    B = HQ - basis @ (basis.T @ HQ) / 2
    M = ca.SX(problem.H)
    touched = sorted({i for q in Q for i in q})
    reached = [i for i in range(n) if any(B.has_nz(i, k) for k in range(m))]
    for i in reached:
        for j in reached:
            if j <= i and (i in touched or j in touched):
                change = sum(
                    Q[k].get(i, 0) * (Q[k].get(j, 0) - B[j, k]) - B[i, k] * Q[k].get(j, 0)
                    for k in range(m)
                )
                M[i, j] = M[i, j] + change
                M[j, i] = M[i, j]
    load = problem.c - problem.H @ x
    x = x + factorized(problem.tree, M).solve(load - basis @ (basis.T @ load))

    needed = basis.T @ (problem.H @ x - problem.c)
    force: list[Array] = [ca.SX(0)] * m
    for k in reversed(range(m)):
        known = sum((R[k, j] * force[j] for j in range(k + 1, m)), ca.SX(0))
        force[k] = (needed[k] - known) * inverse[k]
    return x, stack(*null.removed(force)), sum(independent, ca.SX(0))


def recursive(problem: Problem) -> Result:
    """Columns of A as responses of articulated bodies to unit test forces."""
    tree, rows = problem.tree, problem.rows
    if tree.model.couplers:
        raise ModelError(
            f"model {tree.model.name!r} has coordinates that follow others, which the recursive "
            "method does not know; use range, direct or null"
        )
    bodies = ArticulatedBodies(tree)
    tests = [rows.wrenches(k) for k in range(len(rows.rows))]
    touched = sorted({body for test in tests for body in test})
    A = []
    for k, test in enumerate(tests):
        moving = bodies.response(test, reaching=touched)[1]
        A.append([_power(tests[j], moving) for j in range(k + 1)])
    free = bodies.solve(problem.c)
    b = [w - reached for w, reached in zip(problem.target, rows.times(free), strict=True)]
    semidefinite = Semidefinite.of(A)
    force = semidefinite.solve(b)
    total: dict[int, Array] = {}
    for test, strength in zip(tests, force, strict=True):
        for body, wrench in test.items():
            part = wrench * strength
            total[body] = total[body] + part if body in total else part
    added = bodies.response(total, reaching=range(len(tree.model.bodies)))[0]
    return free + added, stack(*force), semidefinite.rank


METHODS: dict[str, Callable[[Problem], Result]] = {
    "range": range_space,
    "direct": direct,
    "null": null_space,
    "recursive": recursive,
}


def solved(problem: Problem, method: str) -> Result:
    """The solution of a problem by the method of that name."""
    if method not in METHODS:
        raise ModelError(f"there is no method {method!r}; there are {', '.join(METHODS)}")
    return METHODS[method](problem)


def _column(problem: Problem, row: dict[int, Array]) -> Array:
    return stack(*[row.get(i, ca.SX(0)) for i in range(problem.tree.model.nv)])


def _is_zero(value: Array) -> bool:
    return not isinstance(value, ca.SX) or value.is_zero()


def _square(row: dict[int, Array]) -> Array:
    return sum((entry * entry for entry in row.values()), ca.SX(0))


def _combination(columns: list[dict[int, Array]], weights: list[Array], n: int) -> Array:
    result: list[Array] = [ca.SX(0)] * n
    for column, weight in zip(columns, weights, strict=True):
        for i, entry in column.items():
            result[i] = result[i] + entry * weight
    return stack(*result)


def _matrix(columns: list[dict[int, Array]], n: int) -> Array:
    result = ca.SX(n, len(columns))
    for k, column in enumerate(columns):
        for i, entry in column.items():
            result[i, k] = entry
    return result


def _power(wrenches: dict[int, Array], moving: dict[int, Array]) -> Array:
    return sum(wrench.T @ moving[body] for body, wrench in wrenches.items())
