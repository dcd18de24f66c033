"""Implicit spring contact, solved at the end of the step: any stiffness at any step.

With velocities v before and w after a step of length h,

    H (w - v) = h (tau - C) + h sum J_i^T f_i(J_i w),

where every f_i is an `ImplicitRow`: compressive normals, friction in its cone, joint limits,
motors. For fixed cones this is the optimality condition of a convex function, piecewise quadratic
in w, which Newton's method with a line search minimizes. Contacts with the world, and all rows
along coordinates, keep the sparsity of the tree in H + h sum s_i J_i^T J_i, so one iteration costs
little more than a factorization of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import casadi as ca

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.errors import ModelError
from homodyn.simulate.constants import BatchParameters, Constant, gap_constant, gap_friction
from homodyn.simulate.geometry import ContactGeometry, Gap, surface_speeds
from homodyn.simulate.laws.contact_law import StepLaw, StepProblem, VelocityStep
from homodyn.simulate.rows import ImplicitRow, JointRow
from homodyn.simulate.rows.loop_rows import (
    add_loop_inertia,
    add_products,
    loop_load,
    row_product,
)
from homodyn.spatial import Array, stack

MAX_EXTRAPOLATION_RATIO = 0.8
"""Largest ratio of two changes of an iteration that is extrapolated."""

STOPPING_STEPS = 4.0
"""Number of steps: dry friction that stops a joint within them is replaced by its secant."""

LINE_SEARCH_SAMPLES = 3
"""Evaluations of the slope along a step that overshoots."""

ContactRows = tuple[ImplicitRow, ImplicitRow, ImplicitRow, Array]
"""Normal and two tangential rows of a gap, and the coefficient of friction."""


@dataclass(frozen=True)
class ImplicitSprings(StepLaw):
    """Spring-dampers at every contact, solved at the end of the step: any stiffness at any step.

    Constants are one number for all contact shapes, numbers by name of the shape with ``"*"`` for
    the others, or names of batch parameters. The residual (kg m/s, kg m2/s) is the largest entry of
    the equations of motion that the iterations leave.

    Raises:
        ModelError: There is not at least one iteration.
    """

    stiffness: Constant = 1e5
    """Along the normal (N/m)."""
    damping: Constant = 1e3
    """Along the normal (N s/m)."""
    friction: Constant = 0.8
    """Coefficient of friction."""
    tangential_stiffness: Constant | None = None
    """Perpendicular to the normal (N/m); None: as along it."""
    tangential_damping: Constant | None = None
    """Perpendicular to the normal (N s/m); None: as along it."""
    max_force: float = float("inf")
    """Bound of the normal force (N)."""
    iterations: int = 3
    """Iterations of Newton's method in every step."""
    name: str = "implicit"
    residual_unit: ClassVar[str] = "kg m/s"

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ModelError(f"iterations of implicit springs: at least 1, got {self.iterations}")

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Entries of the tangential deflections (m, world axes)."""
        return 3 * len(geometry.names)

    def step(self, problem: StepProblem) -> VelocityStep:
        """Velocities at the end of a step by Newton's method."""
        geometry, tree, h, z = problem.geometry, problem.tree, problem.h, problem.memory
        batch, loops = problem.batch, problem.loops
        gaps = geometry.gaps(tree)
        contacts = WrenchRows(tree, [wrench for gap in gaps for wrench in gap.wrenches])
        rows = [
            self._contact_rows(geometry, gap, z[3 * k : 3 * k + 3], h, batch)
            for k, gap in enumerate(gaps)
        ]
        H = add_loop_inertia(composite_inertia(tree), loops, h)
        surface = [surface_speeds([gap])[i] for gap in gaps for i in range(3)]
        solver = _Newton(tree, H, contacts.entries, rows, problem.joints, h, surface)
        load = problem.tau - newton_euler(tree, None)
        if loops:
            load = load + loop_load(tree, loops, tree.v)
        w = solver.solve(load, self.iterations)
        local, joint_forces = solver.contact_forces(w), solver.joint_forces(w)
        forces, memory = [], []
        for k, gap in enumerate(gaps):
            n, (t1, t2) = gap.normal, gap.tangents
            f = local[k]
            forces.append(f[0] * n + f[1] * t1 + f[2] * t2)
            constants = self._constants(geometry, gap, batch)
            memory.append(_deflection(gap, constants, solver.velocities(w, k), f))
        return VelocityStep(
            w,
            gaps,
            forces,
            joint_forces,
            ca.vertcat(ca.SX(0, 1), *memory),
            solver.residual(w, load),
        )

    def _constants(
        self, geometry: ContactGeometry, gap: Gap, batch: BatchParameters
    ) -> tuple[Array, ...]:
        """Stiffness and damping along and perpendicular to the normal, and friction."""

        def number(value: Constant, what: str) -> Array:
            return gap_constant(value, geometry, gap, batch, what)

        k, d = number(self.stiffness, "stiffness"), number(self.damping, "damping")
        kt = k if self.tangential_stiffness is None else number(self.tangential_stiffness, "kt")
        dt = d if self.tangential_damping is None else number(self.tangential_damping, "dt")
        return k, d, kt, dt, gap_friction(self.friction, geometry, gap, batch)

    def _contact_rows(
        self, geometry: ContactGeometry, gap: Gap, z: Array, h: Array, batch: BatchParameters
    ) -> ContactRows:
        k, d, kt, dt, mu = self._constants(geometry, gap, batch)
        normal = ImplicitRow.stop(gap.distance, k, d, h, self.max_force)
        first, second = (ImplicitRow.spring(ca.dot(t, z), kt, dt, h) for t in gap.tangents)
        return normal, first, second, mu


def _deflection(gap: Gap, constants: tuple[Array, ...], u: list[Array], f: list[Array]) -> Array:
    """Tangential deflection after a step: that of the friction force, zero without contact.

    While a point sticks, it is the old deflection plus the displacement; while it slips, the damper
    takes part of the force. ``u`` and ``f`` are velocity and force along normal and tangents.
    """
    _, _, kt, dt, mu = constants
    in_contact = ca.if_else(f[0] > 0, 1.0, 0.0)
    safe = kt if isinstance(kt, float) and kt > 0 else ca.if_else(kt > 0, kt, 1.0)
    if isinstance(kt, float) and kt == 0:
        return ca.SX.zeros(3)
    parts = [-(f[1 + k] + dt * u[1 + k]) / safe for k in range(2)]
    t1, t2 = gap.tangents
    # The deflection of a slipping point does not exceed that of the cone without the damper.
    size = ca.sqrt(parts[0] ** 2 + parts[1] ** 2)
    limit = mu * f[0] / safe
    scale = ca.if_else(size > limit, limit / ca.if_else(size > 0, size, 1.0), 1.0)
    return in_contact * scale * (parts[0] * t1 + parts[1] * t2)


@dataclass(frozen=True, eq=False)
class _Newton:
    """The minimization over end velocities w."""

    tree: Tree
    H: Array
    entries: list[dict[int, Array]]
    """Rows of the contact Jacobian: normal and two tangents per gap."""
    contacts: list[ContactRows]
    joints: Sequence[JointRow]
    h: Array
    surface: list[Array]
    """Velocity of the surface along each row (m/s)."""

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

    def joint_forces(self, w: Array) -> list[Array]:
        """Force of each joint row."""
        return [joint.row.force(w[joint.entry]) for joint in self.joints]

    def residual(self, w: Array, free: Array) -> Array:
        """Largest entry of H (w - v) - h (free + forces)."""
        slope = self._slope(w, self.H @ (w - self.tree.v) - self.h * free, self.contact_forces(w))
        largest = ca.SX(0.0)
        for k in range(slope.numel()):
            largest = ca.fmax(largest, ca.fabs(slope[k]))
        return largest

    def solve(self, free: Array, iterations: int) -> Array:
        """Newton's method from the velocities before the step.

        One iteration is traced over its own symbols and then repeated as a graph: thousands of
        operations called from Python would take seconds each time.
        """
        nv, H = self.tree.model.nv, self.H
        leaves = _Leaves()
        copy = replace(
            self,
            entries=[{e: leaves.of(x) for e, x in row.items()} for row in self.entries],
            contacts=[
                (leaves.row(n), leaves.row(t1), leaves.row(t2), leaves.of(mu))
                for n, t1, t2, mu in self.contacts
            ],
            joints=[
                replace(
                    joint,
                    row=leaves.row(joint.row),
                    friction_deceleration=None
                    if joint.friction_deceleration is None
                    else leaves.of(joint.friction_deceleration),
                )
                for joint in self.joints
            ],
            h=leaves.of(self.h),
            surface=[leaves.of(x) for x in self.surface],
        )
        symbols = [ca.SX.sym(name, nv) for name in ("w", "v", "free")]
        symbols += [ca.SX.sym("H", H.sparsity()), ca.vertcat(ca.SX(0, 1), *leaves.symbols)]
        after = copy.iteration(*symbols[:4])
        graph = ca.Function("iteration", symbols, [ca.densify(after)])
        inputs = [self.tree.v, ca.densify(free), H, ca.vertcat(ca.SX(0, 1), *leaves.values)]
        iterates = [self.tree.v]
        for _ in range(iterations):
            iterates += graph.call([iterates[-1], *inputs], True, False)
        return self._extrapolate(iterates, free) if iterations > 2 else iterates[-1]

    def _extrapolate(self, iterates: list[Array], free: Array) -> Array:
        """The last iterate, or the limit extrapolated from the last three if its residual is less.

        Normals converge at once; friction on its cone converges linearly (Aitken 1926).
        """
        last, before = iterates[-1] - iterates[-2], iterates[-2] - iterates[-3]
        size = ca.dot(before, before)
        factor = ca.dot(last, before) / ca.if_else(size > 0, size, 1.0)
        factor = ca.fmin(ca.fmax(factor, 0.0), MAX_EXTRAPOLATION_RATIO)
        extrapolated = iterates[-1] + factor / (1 - factor) * last
        better = self.residual(extrapolated, free) < self.residual(iterates[-1], free)
        return ca.if_else(better, extrapolated, iterates[-1])

    def iteration(self, w: Array, v: Array, free: Array, H: Array) -> Array:
        """One Newton step from the end velocities ``w``."""
        forces = self.contact_forces(w)
        limits = [rows[3] * force[0] for rows, force in zip(self.contacts, forces, strict=True)]
        slope = self._slope(w, H @ (w - v) - self.h * free, forces)
        d = -factorize_mass_matrix(self.tree, self._curvature(H, w, limits)).solve(slope)
        return w + self._step_length(w, d, slope, H, limits) * d

    def _slope(self, w: Array, inertial: Array, forces: list[list[Array]]) -> Array:
        """Gradient: inertial momentum minus that of all rows."""
        total = [inertial[k] for k in range(self.tree.model.nv)]
        for k, row in enumerate(self.entries):
            f = self.h * forces[k // 3][k % 3]
            for entry, value in row.items():
                total[entry] = total[entry] - value * f
        for joint, force in zip(self.joints, self.joint_forces(w), strict=True):
            total[joint.entry] = total[joint.entry] - self.h * force
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
        for joint in self.joints:
            e, row = joint.entry, joint.row
            fraction = row.active(w[e])
            if joint.friction_deceleration is not None:
                # The same for dry friction of joints that are about to stop: its tangent is zero
                # until the velocity has changed its sign.
                stopping = ca.fabs(w[e]) < STOPPING_STEPS * self.h * joint.friction_deceleration
                secant = _cone_fraction(row.raw(w[e]), 0.0, row.upper)
                fraction = ca.if_else(stopping, secant, fraction)
            A[e, e] = A[e, e] + self.h * row.slope * fraction
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
        for joint in self.joints:
            bounded.append((joint.row, w[joint.entry], d[joint.entry]))
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


class _Leaves:
    """Expressions and the symbols that replace them; constants are not replaced."""

    def __init__(self) -> None:
        self.symbols: list[Array] = []
        self.values: list[Array] = []

    def of(self, value: Array) -> Array:
        """The symbol that replaces a scalar expression."""
        if not isinstance(value, ca.SX) or value.is_constant():
            return value
        self.symbols.append(ca.SX.sym("x"))
        self.values.append(value)
        return self.symbols[-1]

    def row(self, row: ImplicitRow) -> ImplicitRow:
        """A row with symbols instead of its expressions."""
        return ImplicitRow(
            self.of(row.slope), self.of(row.offset), self.of(row.lower), self.of(row.upper)
        )


def _cone_fraction(first: Array, second: Array, limit: Array) -> Array:
    """Fraction of a tangential force that its limit allows."""
    size = ca.sqrt(first * first + second * second)
    return ca.if_else(size > limit, limit / ca.if_else(size > 0, size, 1.0), 1.0)


def _project_on_cone(first: Array, second: Array, limit: Array) -> list[Array]:
    """A tangential force scaled to its limit."""
    fraction = _cone_fraction(first, second, limit)
    return [fraction * first, fraction * second]
