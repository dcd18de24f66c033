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

from typing import ClassVar

import casadi as ca

from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.simulate.constants import BatchParameters, Constant, gap_constant, gap_friction
from homodyn.simulate.geometry import ContactGeometry, Gap, surface_speeds
from homodyn.simulate.laws.contact_law import StepLaw, StepProblem, VelocityStep
from homodyn.simulate.laws.newton_step import (
    MAX_ITERATIONS,
    RELATIVE_TOLERANCE,
    ContactRows,
    NewtonStep,
)
from homodyn.simulate.rows import ImplicitRow
from homodyn.spatial import Array


@record(eq=True)
class ImplicitSprings(StepLaw, Record):
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
    iterations: int = MAX_ITERATIONS
    """Largest number of iterations of Newton's method in a step."""
    tolerance: float = RELATIVE_TOLERANCE
    """Residual at which the iterations of a step end, relative to its largest momentum or impulse.
    A step that does not reach it ends the simulation with the status ``NOT_CONVERGED``."""
    name: str = "implicit"
    residual_unit: ClassVar[str] = "kg m/s"
    takes_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ModelError(f"iterations of implicit springs: at least 1, got {self.iterations}")
        if not self.tolerance > 0:
            raise ModelError(f"tolerance of implicit springs: positive, got {self.tolerance}")

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Entries of the tangential deflections (m, world axes)."""
        return 3 * len(geometry.names)

    def step(self, problem: StepProblem) -> VelocityStep:
        """Velocities at the end of a step by Newton's method."""
        geometry, tree, h, z = problem.geometry, problem.tree, problem.h, problem.memory
        batch, step_rows = problem.batch, problem.rows
        gaps = geometry.gaps(tree)
        contacts = WrenchRows(tree, [wrench for gap in gaps for wrench in gap.wrenches])
        rows = [
            self._contact_rows(geometry, gap, z[3 * k : 3 * k + 3], h, batch)
            for k, gap in enumerate(gaps)
        ]
        bounded = [*(joint.step_row for joint in problem.joints), *step_rows.bounded]
        surface = [surface_speeds([gap])[i] for gap in gaps for i in range(3)]
        H, bodies = step_rows.inertia, step_rows.bodies
        solver = NewtonStep(tree, H, bodies, contacts.entries, rows, bounded, h, surface)
        load = problem.tau - newton_euler(tree, None) + step_rows.load
        solution = solver.solve(load, self.iterations, self.tolerance)
        w = solution.w
        local, row_forces = solution.contacts, solution.rows
        count = len(problem.joints)
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
            row_forces[:count],
            ca.vertcat(ca.SX(0, 1), *memory),
            solution.residual,
            row_forces[count:],
            solution.residual > solution.tolerance,
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
