"""Newton's method for the end of a step under implicit rows, repeated until it has converged.

With velocities v before and w after a step of length h, the equations of motion of the step are

    slope(w) = H (w - v) - h free - h sum J_i^T f_i(J_i w) = 0,

where every f_i is an `ImplicitRow` or the friction of a contact in its cone. For fixed cones the
slope is the gradient of a convex function, piecewise quadratic in w. An iteration solves with the
secants of the friction and searches along the step; it ends when the slope is small enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.tree import Tree
from homodyn.simulate.laws.iteration_symbols import ExpressionSymbols, IterationSymbols
from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.simulate.rows.loop_rows import add_products, row_product
from homodyn.simulate.rows.step_rows import StepRow
from homodyn.simulate.solvers.tree_elimination import solve_along_tree
from homodyn.spatial import Array, stack
from homodyn.symbolic.solver_loop import iterate

STOPPING_STEPS = 4.0
"""Number of steps: dry friction that stops a joint within them is replaced by its secant."""

MAX_ITERATIONS = 50
"""Largest number of iterations of a step by default."""

RELATIVE_TOLERANCE = 1e-10
"""Residual of a step by default, relative to its largest momentum or impulse."""

MIN_SPEED = 1e-3
"""Speed (m/s, rad/s) whose momentum is the smallest to which the tolerance is relative."""

STEP_FRACTIONS = (0.5, 0.25, 0.0625)
"""Fractions of a Newton step that are tried where the whole step does not reduce the slope."""

SUFFICIENT_DECREASE = 0.99
"""Fraction of the squared size of the slope that a Newton step leaves at most."""

LINE_SEARCH_SAMPLES = 3
"""Evaluations of the slope along a step that overshoots."""

ContactRows = tuple[ImplicitRow, ImplicitRow, ImplicitRow, Array]
"""Normal and two tangential rows of a gap, and the coefficient of friction."""


@dataclass(frozen=True, eq=False)
class StepSolution:
    """The solution of the equations of motion of a step."""

    w: Array
    """Velocities at the end, (nv,)."""
    residual: Array
    """Largest entry of the slope (kg m/s, kg m2/s)."""
    tolerance: Array
    """The residual at which the iterations end, in the same unit."""
    iterations: Array
    """Number of iterations."""
    contacts: list[list[Array]]
    """Force of each gap along its normal and tangents (N)."""
    rows: list[Array]
    """Force of each row besides the contacts (N m, N)."""


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """The equations of motion of a step, and their solution."""

    tree: Tree
    H: Array
    """Inertia, with that of rows without bounds."""
    bodies: Array
    """Inertia of the bodies alone."""
    entries: list[dict[int, Array]]
    """Rows of the contact Jacobian: normal and two tangents per gap."""
    contacts: list[ContactRows]
    rows: Sequence[StepRow]
    """Rows besides those of the contacts."""
    h: Array
    surface: Sequence[Array]
    """Velocity of the surface along each row of the contacts (m/s)."""

    def velocities(self, w: Array, k: int) -> list[Array]:
        """Velocity of gap k along its normal and tangents, relative to a moving surface."""
        moving = self.surface[3 * k : 3 * k + 3]
        return [u - x for u, x in zip(self.changes(w, k), moving, strict=True)]

    def changes(self, d: Array, k: int) -> list[Array]:
        """Change of the velocity of gap k for a change of the velocities."""
        return [row_product(row, d) for row in self.entries[3 * k : 3 * k + 3]]

    def contact_forces(self, w: Array) -> list[list[Array]]:
        """Force of each gap along its normal and tangents."""
        forces = []
        for k, (normal, first, second, mu) in enumerate(self.contacts):
            u = self.velocities(w, k)
            pressure = normal.force(u[0])
            friction = _project_on_cone(first.raw(u[1]), second.raw(u[2]), mu * pressure)
            forces.append([pressure, *friction])
        return forces

    def row_forces(self, w: Array) -> list[Array]:
        """Force of each row besides the contacts."""
        return [row.row.force(row_product(row.entries, w)) for row in self.rows]

    def solve(self, free: Array, maximum: int, tolerance: float) -> StepSolution:
        """Iterations from the velocities before the step until the slope is small.

        Args:
            free: Generalized forces besides the rows (N m, N), (nv,).
            maximum: Largest number of iterations.
            tolerance: Largest slope, relative to the largest momentum or impulse.

        Returns:
            Velocities, residual and number of iterations.
        """
        v, H, n = self.tree.v, self.H, self.tree.model.nv
        impulse = ca.densify(self.h * free)
        before = self.slope(v, -impulse)
        speeds = ca.fmax(ca.fabs(v), MIN_SPEED)
        scale = ca.fmax(_largest(impulse), _largest(before))
        allowed = tolerance * ca.fmax(scale, _largest(ca.diag(self.bodies) * speeds))
        # The first iteration is symmetric, and usually the last.
        first = self._secant_step(v, before, H)
        forces = self.contact_forces(first), self.row_forces(first)
        slope = self._slope_of(H @ (first - v) - impulse, *forces)
        if maximum == 1:
            return StepSolution(first, _largest(slope), allowed, ca.SX(1.0), *forces)
        leaves = ExpressionSymbols()
        copy = self._with_symbols(leaves)
        at = IterationSymbols.of(n, H)
        constants = [at.before, at.load, at.limit, at.inertia, *leaves.symbols]
        body = ca.Function("newton", [at.state, ca.vertcat(*constants)], [copy._iteration(at)])
        merit = _merit(slope, H)
        start = ca.vertcat(first, slope, merit, 0.0, 1.0, 1.0, _largest(slope) > allowed)
        values = ca.vertcat(v, impulse, allowed, *ca.tril(H).nonzeros(), *leaves.values)
        end = iterate(body, start, values, maximum - 1)
        w, residual = end[:n], _largest(end[n : 2 * n])
        forces = self.contact_forces(w), self.row_forces(w)
        return StepSolution(w, residual, allowed, end[2 * n + 3], *forces)

    def _with_symbols(self, leaves: ExpressionSymbols) -> NewtonStep:
        """These equations with symbols instead of expressions."""
        return replace(
            self,
            entries=[{e: leaves.of(x) for e, x in row.items()} for row in self.entries],
            contacts=[
                (leaves.row(n), leaves.row(t1), leaves.row(t2), leaves.of(mu))
                for n, t1, t2, mu in self.contacts
            ],
            rows=[
                replace(
                    row,
                    entries={e: leaves.of(x) for e, x in row.entries.items()},
                    row=leaves.row(row.row),
                    friction_deceleration=None
                    if row.friction_deceleration is None
                    else leaves.of(row.friction_deceleration),
                )
                for row in self.rows
            ],
            h=leaves.of(self.h),
            surface=[leaves.of(x) for x in self.surface],
        )

    def _secant_step(self, w: Array, slope: Array, H: Array) -> Array:
        """The velocities after a step with the secants of all friction."""
        limits = self._friction_limits(w)
        d = -factorize_mass_matrix(self.tree, self._curvature(H, w, limits)).solve(slope)
        return w + self._step_length(w, d, slope, H, limits) * d

    def _iteration(self, at: IterationSymbols) -> Array:
        """The next state: a Newton step that reduces the slope, or else a step with secants.

        The tangent of sliding friction follows the normal force, which makes Newton's method
        converge quadratically near the solution and fail far from it. A step that does not reduce
        the slope is not taken, and the next ones use secants: more after every refusal.
        """
        newton = at.secants <= 0
        limits = self._friction_limits(at.w)
        d = -solve_along_tree(self._tangent(at.H, at.w, newton), at.slope)
        length = self._step_length(at.w, d, at.slope, at.H, limits)
        trial, slope, merit = self._trial(at, ca.if_else(newton, 1.0, length), d)
        for fraction in STEP_FRACTIONS:
            # Not a comparison that is true for NaN.
            enough = ca.logic_not(ca.logic_and(newton, ca.logic_not(_decreases(merit, at.merit))))
            shorter = self._trial(at, fraction, d)
            trial, slope, merit = (
                ca.if_else(enough, one, other)
                for one, other in zip((trial, slope, merit), shorter, strict=True)
            )
        refused = ca.logic_and(newton, ca.logic_not(_decreases(merit, at.merit)))
        w = ca.if_else(refused, at.w, trial)
        slope = ca.if_else(refused, at.slope, slope)
        merit = ca.if_else(refused, at.merit, merit)
        secants = ca.if_else(refused, at.patience, ca.fmax(at.secants - 1, 0.0))
        patience = ca.if_else(refused, 2 * at.patience, at.patience)
        flag = _largest(slope) > at.limit
        return ca.vertcat(w, slope, merit, secants, patience, at.count + 1, flag)

    def _trial(self, at: IterationSymbols, length: Array, d: Array) -> tuple[Array, Array, Array]:
        """Velocities, slope and its size after a fraction of the step d."""
        w = at.w + length * d
        slope = self.slope(w, at.H @ (w - at.before) - at.load)
        return w, slope, _merit(slope, at.H)

    def _friction_limits(self, w: Array) -> list[Array]:
        """Largest friction of each contact under its normal force."""
        limits = []
        for k, (normal, _, _, mu) in enumerate(self.contacts):
            limits.append(mu * normal.force(self.velocities(w, k)[0]))
        return limits

    def _tangent(self, H: Array, w: Array, newton: Array) -> dict[tuple[int, int], Array]:
        """The derivative of the slope, or that with secants of all friction."""
        rows, columns = H.sparsity().get_triplet()
        A = dict(zip(zip(rows, columns, strict=True), H.nonzeros(), strict=True))
        for k, (normal, first, second, mu) in enumerate(self.contacts):
            u = self.velocities(w, k)
            y = first.raw(u[1]), second.raw(u[2])
            size = ca.sqrt(y[0] * y[0] + y[1] * y[1])
            pressure = normal.force(u[0])
            stiff = self.h * normal.slope * normal.active(u[0])
            fraction = _cone_fraction(*y, mu * pressure)
            across = self.h * first.slope * fraction
            sliding = ca.if_else(ca.logic_and(newton, size > mu * pressure), 1.0, 0.0)
            safe = ca.if_else(size > 0, size, 1.0)
            e = [sliding * y[0] / safe, sliding * y[1] / safe]
            n, t1, t2 = self.entries[3 * k : 3 * k + 3]
            # -df/du; sliding friction turns with y and grows with the normal force.
            along = combine_rows((across, t1), (-across * e[0] * e[0], t1))
            along = combine_rows((1.0, along), (-across * e[0] * e[1], t2))
            second_along = combine_rows((across, t2), (-across * e[1] * e[1], t2))
            second_along = combine_rows((1.0, second_along), (-across * e[0] * e[1], t1))
            along = combine_rows((1.0, along), (mu * stiff * e[0], n))
            second_along = combine_rows((1.0, second_along), (mu * stiff * e[1], n))
            for direction, weighted in (
                (n, {q: stiff * x for q, x in n.items()}),
                (t1, along),
                (t2, second_along),
            ):
                _add_outer_product(A, direction, weighted)
        for step_row in self.rows:
            row, u = step_row.row, row_product(step_row.entries, w)
            part = ca.if_else(newton, row.active(u), self._secant_fraction(step_row, u))
            weight = self.h * row.slope * part
            _add_outer_product(
                A, step_row.entries, {q: weight * x for q, x in step_row.entries.items()}
            )
        return A

    def _secant_fraction(self, step_row: StepRow, u: Array) -> Array:
        """Fraction of the slope of a row: that of its secant, where its tangent is zero at a bound.

        That of dry friction is zero as long as it does not stop the joint.
        """
        row = step_row.row
        if step_row.friction_deceleration is None:
            return row.secant(u)
        stopping = ca.fabs(u) < STOPPING_STEPS * self.h * step_row.friction_deceleration
        return ca.if_else(stopping, _cone_fraction(row.raw(u), 0.0, row.upper), row.active(u))

    def slope(self, w: Array, inertial: Array) -> Array:
        """Inertial momentum minus the impulses of all rows at the velocities w, (nv,)."""
        return self._slope_of(inertial, self.contact_forces(w), self.row_forces(w))

    def _slope_of(self, inertial: Array, contacts: list[list[Array]], rows: list[Array]) -> Array:
        """Inertial momentum minus the impulses of known forces, (nv,)."""
        total = [inertial[k] for k in range(self.tree.model.nv)]
        for k, row in enumerate(self.entries):
            f = self.h * contacts[k // 3][k % 3]
            for entry, value in row.items():
                total[entry] = total[entry] - value * f
        for step_row, force in zip(self.rows, rows, strict=True):
            for entry, value in step_row.entries.items():
                total[entry] = total[entry] - value * (self.h * force)
        return stack(*total)

    def _curvature(self, H: Array, w: Array, limits: list[Array]) -> Array:
        """H + h sum of J^T s J over rows that are not at a bound.

        Friction on its cone counts with its secant, a viscous damper with the force of the cone.
        Its tangent would be steeper around the cone than along it, but the cone itself changes with
        the normal force, and Newton's method would then diverge.
        """
        A = ca.SX(H)
        for k, (normal, first, second, _) in enumerate(self.contacts):
            u = self.velocities(w, k)
            tangential = (
                self.h * first.slope * _cone_fraction(first.raw(u[1]), second.raw(u[2]), limits[k])
            )
            weights = [self.h * normal.slope * normal.active(u[0]), tangential, tangential]
            add_products(A, self.entries[3 * k : 3 * k + 3], weights)
        for step_row in self.rows:
            row, u = step_row.row, row_product(step_row.entries, w)
            fraction = self._secant_fraction(step_row, u)
            add_products(A, [step_row.entries], [self.h * row.slope * fraction])
        return A

    def _step_length(
        self, w: Array, d: Array, slope: Array, H: Array, limits: list[Array]
    ) -> Array:
        """Fraction of the step d to take: all of it, or less where that would overshoot.

        The slope along d increases from below zero, piecewise linearly. Its zero is bracketed and
        approached along the tangent at the last place, or the chord. A place where the slope is
        still below zero always decreases the objective, so a few evaluations are enough.
        """
        start = ca.dot(d, slope)
        inner = ca.dot(d, H @ d)
        bounded: list[tuple[ImplicitRow, Array, Array]] = []
        for k, (normal, first, second, _) in enumerate(self.contacts):
            u, du = self.velocities(w, k), self.changes(d, k)
            bounded.append((normal, u[0], du[0]))
            tangential = (
                self.h * first.slope * _cone_fraction(first.raw(u[1]), second.raw(u[2]), limits[k])
            )
            inner = inner + tangential * (du[1] * du[1] + du[2] * du[2])
        for step_row in self.rows:
            along = [row_product(step_row.entries, x) for x in (w, d)]
            bounded.append((step_row.row, *along))
        length = ca.SX(1.0)
        low, low_value = ca.SX(0.0), start
        high, high_value = ca.SX(1.0), ca.SX(0.0)
        for number in range(LINE_SEARCH_SAMPLES):
            value, growth = start + length * inner, inner
            for row, u0, change in bounded:
                at = u0 + length * change
                value = value - self.h * change * (row.force(at) - row.force(u0))
                growth = growth + self.h * row.slope * change * change * row.active(at)
            # Rounding may make a zero slope slightly positive.
            beyond = value > -1e-9 * start
            low, low_value = (
                ca.if_else(beyond, low, length),
                ca.if_else(beyond, low_value, value),
            )
            high, high_value = (
                ca.if_else(beyond, length, high),
                ca.if_else(beyond, value, high_value),
            )
            if number == 0:
                whole = ca.logic_not(beyond)
            tangent = length - value / ca.if_else(growth > 0, growth, 1.0)
            chord = low - low_value * (high - low) / ca.if_else(
                high_value > low_value, high_value - low_value, 1.0
            )
            inside = ca.logic_and(tangent > low, tangent < high)
            length = ca.if_else(inside, tangent, chord)
        return ca.if_else(whole, 1.0, ca.if_else(low > 0, low, length))


def combine_rows(*parts: tuple[Array, dict[int, Array]]) -> dict[int, Array]:
    """A sum of sparse rows with factors."""
    total: dict[int, Array] = {}
    for factor, row in parts:
        for place, value in row.items():
            term = factor * value
            total[place] = total[place] + term if place in total else term
    return total


def _add_outer_product(
    A: dict[tuple[int, int], Array], row: dict[int, Array], weighted: dict[int, Array]
) -> None:
    """Add the outer product of two sparse rows, in place."""
    for p, x in row.items():
        for q, y in weighted.items():
            A[p, q] = A[p, q] + x * y if (p, q) in A else x * y


def _decreases(merit: Array, before: Array) -> Array:
    return merit < SUFFICIENT_DECREASE * before


def _merit(slope: Array, H: Array) -> Array:
    """Size of the slope as the energy (J) that it would set free along single coordinates."""
    parts = [slope[k] * slope[k] / H[k, k] for k in range(slope.numel())]
    return sum(parts, ca.SX(0.0))


def _largest(x: Array) -> Array:
    """Largest absolute entry of a column."""
    largest = ca.SX(0.0)
    for k in range(x.numel()):
        largest = ca.fmax(largest, ca.fabs(x[k]))
    return largest


def _cone_fraction(first: Array, second: Array, limit: Array) -> Array:
    """Fraction of a tangential force that its limit allows."""
    size = ca.sqrt(first * first + second * second)
    return ca.if_else(size > limit, limit / ca.if_else(size > 0, size, 1.0), 1.0)


def _project_on_cone(first: Array, second: Array, limit: Array) -> list[Array]:
    """A tangential force scaled to its limit."""
    fraction = _cone_fraction(first, second, limit)
    return [fraction * first, fraction * second]
