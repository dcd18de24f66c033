"""Four methods for H x = load + G^T force, G x = target; all give the same x and forces.

If rows are linearly dependent, forces are those of minimum norm and G x = target holds in the sense
of least squares. The methods also return the rank.

"range"      forces from A = G H^-1 G^T (Felis eq. 3.68-3.69) with the branch-sparse factor of H
             and the sparsity of the rows. The fastest, and the default.
"direct"     elimination of [H G^T; G 0] as in "range", and one step of iterative refinement:
             G x = target to the last digit, for one more solve.
"null"       an orthonormal basis of the rows, and accelerations in and orthogonal to its span
             (Felis eq. 3.70-3.75). A is not formed, so its condition does not matter.
"recursive"  columns of A from unit test forces on articulated bodies (Kokkevis and Metaxas), and
             one step of refinement; for few rows on long chains. Since A is formed, rows within an
             angle of 3e-4 of others count as dependent; otherwise the limit is 1e-5. Not for models
             with coupled coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import casadi as ca

from homodyn.dynamics.articulated_bodies import ArticulatedBodies
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import MassFactor, factorize_mass_matrix
from homodyn.dynamics.redundant_rows import RowReduction
from homodyn.dynamics.semidefinite import OrthogonalFactor, SemidefiniteFactor
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows, as_column
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.spatial import Array, stack


@dataclass(frozen=True, eq=False)
class KKTProblem:
    """H x = load + G^T force, G x = target; the load is zero if left out."""

    rows: WrenchRows
    load: Array | None
    target: list[Array]
    added: Array | None = None
    """Inertia along the degrees of freedom besides that of the bodies."""

    @property
    def tree(self) -> Tree:
        """The tree of the rows."""
        return self.rows.tree

    @cached_property
    def H(self) -> Array:
        """The mass matrix."""
        H = composite_inertia(self.tree)
        return H if self.added is None else H + ca.diag(self.added)

    @cached_property
    def c(self) -> Array:
        """The load, or zeros."""
        return ca.SX(self.tree.model.nv, 1) if self.load is None else self.load


KKTSolution = tuple[Array, Array, Array]
"""Accelerations, forces, rank."""


@dataclass(frozen=True, eq=False)
class KKTElimination:
    """[H G^T; G 0] = L D L^T with the joints first, from the leaves inward: without pivoting.

    Eliminating the joints leaves -A = -Y^T D^-1 Y in the corner, with Y = L^-T G^T (Kieboom eq.
    2.86-2.87, which prints L^-1). Y is orthogonalized, so that A itself is not formed. In the mass
    metric the constrained motion is the nearest to the free one (Gauss), and the orthogonal columns
    are the directions in which it deviates.
    """

    problem: KKTProblem

    @cached_property
    def joints(self) -> MassFactor:
        """The branch-sparse factor of H."""
        return factorize_mass_matrix(self.problem.tree, self.problem.H)

    @cached_property
    def Y(self) -> list[dict[int, Array]]:
        """The rows below H, nonzero entries only."""
        columns = [
            self.joints.solve_transposed(_column(self.problem, r))
            for r in self.problem.rows.entries
        ]
        return [
            {i: y for i, y in enumerate(column) if not ca.SX(y).is_zero()} for column in columns
        ]

    @cached_property
    def corner(self) -> OrthogonalFactor:
        """The factor of A."""
        return OrthogonalFactor.of(self.Y, self.joints.reciprocal)

    def solve(self, load: Array, target: list[Array]) -> tuple[Array, Array]:
        """Accelerations and forces."""
        weight, factor = self.joints.reciprocal, self.corner.factor
        free = [x * d for x, d in zip(self.joints.solve_transposed(load), weight, strict=True)]
        b = [
            value - sum((y * free[i] for i, y in column.items()), ca.SX(0))
            for value, column in zip(target, self.Y, strict=True)
        ]
        strengths = factor.forward(factor.null.project_out(b))
        added = self.corner.combine(strengths, len(free))
        x = [f + d * a for f, d, a in zip(free, weight, added, strict=True)]
        forces = factor.null.project_out(factor.backward(strengths))
        return self.joints.solve_lower(x), as_column(forces)


def range_space(problem: KKTProblem) -> KKTSolution:
    """Forces and accelerations by elimination."""
    elimination = KKTElimination(problem)
    return *elimination.solve(problem.c, problem.target), elimination.corner.factor.rank


def direct(problem: KKTProblem) -> KKTSolution:
    """Elimination, and one step of iterative refinement with the whole matrix."""
    elimination, rows = KKTElimination(problem), problem.rows
    x, force = elimination.solve(problem.c, problem.target)
    load_error = problem.c - problem.H @ x + rows.jacobian.T @ force
    row_error = [t - r for t, r in zip(problem.target, rows.times(x), strict=True)]
    dx, dforce = elimination.solve(load_error, row_error)
    return x + dx, force + dforce, elimination.corner.factor.rank


def null_space(problem: KKTProblem) -> KKTSolution:
    """Accelerations in the span of G^T from the rows, the rest from P H P with P = 1 - Q Q^T.

    Q has a zero column for each row that depends on earlier ones, so all sizes are fixed.
    P H P + Q Q^T takes the place of Z^T H Z of Felis eq. 3.73.
    """
    n, m = problem.tree.model.nv, len(problem.target)
    basis = OrthogonalFactor.of(problem.rows.entries, [1.0] * n)
    factor, null = basis.factor, basis.factor.null
    Q = ca.SX(n, m)
    for k, column in enumerate(basis.columns):
        length = ca.sqrt(factor.reciprocal[k])
        for i, y in column.items():
            Q[i, k] = y * length
    x = stack(*basis.combine(factor.forward(null.project_out(problem.target)), n))
    HQ = problem.H @ Q
    # P H P = H - Q B^T - B Q^T with B = H Q - Q (Q^T H Q) / 2.
    B = HQ - Q @ (Q.T @ HQ) / 2
    change = Q @ (Q - B).T - B @ Q.T
    M = problem.H + change
    load = problem.c - problem.H @ x
    x = x + factorize_mass_matrix(problem.tree, M).solve(load - Q @ (Q.T @ load))

    constraint_load = problem.H @ x - problem.c
    along = [
        sum((y * constraint_load[i] for i, y in column.items()), ca.SX(0)) * inverse
        for column, inverse in zip(basis.columns, factor.reciprocal, strict=True)
    ]
    return x, as_column(null.project_out(factor.backward(along))), factor.rank


def recursive(problem: KKTProblem) -> KKTSolution:
    """Columns of A as responses of articulated bodies to unit test forces."""
    tree, rows = problem.tree, problem.rows
    if tree.model.couplers:
        raise ModelError(
            f"model {tree.model.name!r} has coupled coordinates, which the recursive method does "
            "not support; use range, direct or null"
        )
    bodies = ArticulatedBodies(tree)
    tests = [rows.on_bodies(k) for k in range(len(rows.wrenches))]
    loaded = sorted({body for test in tests for body in test})
    A = []
    for k, test in enumerate(tests):
        response = bodies.response(test, reaching=loaded)[1]
        A.append([_power(tests[j], response) for j in range(k + 1)])
    semidefinite = SemidefiniteFactor.of(A)

    def corrected_solution(x: Array) -> tuple[Array, Array]:
        """Accelerations that satisfy the target, and the forces that correct x."""
        reached = rows.times(x)
        force = semidefinite.solve([t - r for t, r in zip(problem.target, reached, strict=True)])
        total: dict[int, Array] = {}
        for test, strength in zip(tests, force, strict=True):
            for body, wrench in test.items():
                part = wrench * strength
                total[body] = total[body] + part if body in total else part
        all_bodies = range(len(tree.model.bodies))
        return x + bodies.response(total, reaching=all_bodies)[0], as_column(force)

    x, force = corrected_solution(bodies.solve(problem.c))
    x, correction = corrected_solution(x)
    return x, force + correction, semidefinite.rank


KKTMethod: TypeAlias = Literal["range", "direct", "null", "recursive"]
"""Names of the methods."""

METHODS: dict[str, Callable[[KKTProblem], KKTSolution]] = {
    "range": range_space,
    "direct": direct,
    "null": null_space,
    "recursive": recursive,
}


def solve_constrained(
    rows: ConstraintRows,
    load: Array | None,
    target: list[Array],
    method: str,
    added: Array | None = None,
) -> KKTSolution:
    """The solution by the method of that name, for rows that may be linearly dependent.

    ``added`` is inertia along the degrees of freedom besides that of the bodies, which the method
    "recursive" does not take.
    """
    if method not in METHODS:
        raise ModelError(unknown_name("method", method, METHODS))
    reduction = RowReduction(rows)
    problem = KKTProblem(reduction.independent, load, reduction.reduce_target(target), added)
    x, force, rank = METHODS[method](problem)
    return x, reduction.expand_force(force), rank


def _column(problem: KKTProblem, row: dict[int, Array]) -> Array:
    return stack(*[row.get(i, ca.SX(0)) for i in range(problem.tree.model.nv)])


def _power(wrenches: dict[int, Array], motions: dict[int, Array]) -> Array:
    return sum(wrench.T @ motions[body] for body, wrench in wrenches.items())
