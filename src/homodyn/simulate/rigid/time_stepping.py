"""Time stepping of rigid contacts: one velocity problem per step, no events, no branches.

    H' (w - v) = h (tau - C) + impulses of joint rows + G^T p,        q+ = q (+) h w
    normals:   p_n >= 0  against  u_n >= -gap / h,  or -e u_n at a bounce,      u = G w
    friction:  |p_t| <= mu p_n, against slip, in round cones

(Stewart and Trinkle 1996; Anitescu and Potra 1997.) H' includes springs, dampers and motors along
coordinates at the end of the step. A contact may close its gap within the step but not penetrate;
an overlap is reduced by a fraction per step. The impulses result from a fixed number of
Gauss-Seidel sweeps from those of the step before, over the motion of the bodies in contact
(`contact_span`); the residual (m/s) of each step is the remaining violation. All of it is one
traced expression without branches, so all batch elements execute it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import casadi as ca
import numpy as np

from homodyn.dynamics.mass_factor import MassFactor, factorize_mass_matrix
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows, as_column
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.foundation.record import Record, record
from homodyn.simulate.constants import (
    BatchParameters,
    Constant,
    check_fractions,
    gap_constant,
    gap_friction,
)
from homodyn.simulate.geometry import ContactGeometry, Gap, surface_speeds
from homodyn.simulate.laws import StepLaw, StepProblem, VelocityStep
from homodyn.simulate.rigid.contact_span import (
    ContactSpan,
    Entries,
    combine,
    contact_span,
    product,
    span_sweeps,
)
from homodyn.simulate.rows import JointRow
from homodyn.simulate.rows.implicit_rows import is_unbounded
from homodyn.simulate.rows.loop_rows import row_product
from homodyn.simulate.rows.step_rows import StepRow
from homodyn.simulate.rows.target_forces import StepRows
from homodyn.simulate.solvers import ConeProblem
from homodyn.simulate.solvers import residual as cone_residual
from homodyn.spatial import Array, stack

JOINT_TREATMENTS = ("tangent", "exact")


@record(eq=True)
class TimeStepping(StepLaw, Record):
    """Rigid contacts with Coulomb friction, advanced in steps of fixed length.

    ``friction`` and ``restitution`` are one number for all contact shapes, numbers by name of the
    shape with ``"*"`` for the others, or names of batch parameters.

    Raises:
        ModelError: A constant is out of its range.
    """

    friction: Constant = 0.8
    """Coefficient of friction."""
    restitution: Constant = 0.0
    """Fraction of the approach speed that a bounce returns, 0 to 1."""
    rest_speed: float = 0.01
    """Impacts slower than this (m/s) do not bounce."""
    correction: float = 0.2
    """Fraction of an overlap that one step removes, 0 to 1."""
    max_correction_speed: float = 1.0
    """Largest speed (m/s) at which overlaps are removed."""
    sweeps: int = 10
    """Sweeps of Gauss-Seidel in every step."""
    tolerance: float = float("inf")
    """Residual (m/s) of a step above which the simulation ends with the status ``NOT_CONVERGED``;
    by default it goes on, and the result has the residuals."""
    joints: str = "tangent"
    """Treatment of bounded rows along coordinates (limits, dry friction, motors): "tangent"
    linearizes them at the velocity before the step, at no cost; "exact" makes them rows beside
    those of the contacts."""
    name: str = "time_stepping"
    residual_unit: ClassVar[str] = "m/s"
    takes_rows: ClassVar[bool] = True
    refinement: ClassVar[str] = "sweeps"

    def __post_init__(self) -> None:
        if self.joints not in JOINT_TREATMENTS:
            raise ModelError(unknown_name("joints", self.joints, JOINT_TREATMENTS))
        if self.sweeps < 1:
            raise ModelError(f"at least one sweep per step is needed, got {self.sweeps}")
        if not self.tolerance > 0:
            raise ModelError(f"tolerance of time stepping: positive, got {self.tolerance}")
        if not 0 <= self.correction <= 1:
            raise ModelError(f"correction is a fraction from 0 to 1, got {self.correction}")
        check_fractions(self.restitution, "restitution")

    def memory_size(self, geometry: ContactGeometry) -> int:
        """Entries of the contact forces of the step before (N): normal and two tangents each.

        Args:
            geometry: The gaps that the law acts in.

        Returns:
            Number of entries.
        """
        return 3 * len(geometry.names)

    def step(self, problem: StepProblem) -> VelocityStep:
        """Velocities at the end of a step by Gauss-Seidel sweeps.

        Args:
            problem: State, loads and rows of the step.

        Returns:
            Velocities, forces and memory at its end.
        """
        h = problem.h
        step = VelocityProblem(
            self,
            problem.geometry,
            problem.tree,
            problem.tau,
            problem.joints,
            h,
            problem.batch,
            problem.rows,
        )
        cones, count = step.problem, 3 * len(step.gaps)
        if cones.size:
            zero = ca.SX.zeros(cones.size - count)
            impulse = step.solve(ca.vertcat(h * problem.memory, zero))
            residual = cone_residual(cones, impulse)
        else:
            impulse, residual = ca.SX(0, 1), ca.SX(0.0)
        w = step.velocity(impulse)
        force = impulse / h
        forces = []
        for k, gap in enumerate(step.gaps):
            n, (t1, t2) = gap.normal, gap.tangents
            forces.append(force[3 * k] * n + force[3 * k + 1] * t1 + force[3 * k + 2] * t2)
        row_forces, joints = step.row_forces(w, force[count:]), len(problem.joints)
        failed = ca.SX(0.0) if np.isposinf(self.tolerance) else residual > self.tolerance
        return VelocityStep(
            w,
            step.gaps,
            forces,
            row_forces[:joints],
            force[:count],
            residual,
            row_forces[joints:],
            failed,
        )


@dataclass(frozen=True, eq=False)
class VelocityProblem:
    """The problem of a step at one state, over symbols."""

    law: TimeStepping
    geometry: ContactGeometry
    tree: Tree
    tau: Array
    joints: Sequence[JointRow]
    h: Array
    batch: BatchParameters
    other: StepRows
    """Closed loops and rows of the user."""

    @cached_property
    def gaps(self) -> list[Gap]:
        """Places that may touch."""
        return self.geometry.gaps(self.tree)

    # -- forces along coordinates

    @cached_property
    def along(self) -> list[StepRow]:
        """Rows besides the contacts: those along coordinates, then those of the user."""
        return [*(joint.step_row for joint in self.joints), *self.other.bounded]

    @cached_property
    def exact(self) -> list[int]:
        """Rows of the problem: dry friction and those of the user always, others if "exact"."""
        chosen = []
        for k, one in enumerate(self.along):
            free = is_unbounded(one.row.lower) and is_unbounded(one.row.upper)
            always = one.friction_deceleration is not None or k >= len(self.joints)
            if always or (not free and self.law.joints == "exact"):
                chosen.append(k)
        return chosen

    @cached_property
    def tangents(self) -> dict[int, tuple[Array, Array]]:
        """For every other joint row, force and slope: f = base - slope (w - v)."""
        tangents = {}
        for k, joint in enumerate(self.joints):
            if k not in self.exact:
                u = self.tree.v[joint.entry]
                tangents[k] = (joint.row.force(u), joint.row.slope * joint.row.active(u))
        return tangents

    def row_forces(self, w: Array, exact: Array) -> list[Array]:
        """Force of each of ``along`` (N m, N) at the end velocities, from those of exact rows."""
        place = {k: i for i, k in enumerate(self.exact)}
        forces = []
        for k in range(len(self.along)):
            if k in place:
                forces.append(exact[place[k]])
            else:
                (base, slope), entry = self.tangents[k], self.joints[k].entry
                forces.append(base - slope * (w[entry] - self.tree.v[entry]))
        return forces

    @cached_property
    def factor(self) -> MassFactor:
        """Factor of H' = H + h (slopes of joint rows and loops)."""
        added = [ca.SX(0.0)] * self.tree.model.nv
        for k, (_, slope) in self.tangents.items():
            entry = self.joints[k].entry
            added[entry] = added[entry] + self.h * slope
        return factorize_mass_matrix(self.tree, self.other.inertia + ca.diag(stack(*added)))

    @cached_property
    def free(self) -> list[Array]:
        """D^-1 L^-T times the impulse without contacts."""
        load = self.tau - newton_euler(self.tree, None) + self.other.load
        along = [load[i] for i in range(self.tree.model.nv)]
        for k, (base, _) in self.tangents.items():
            entry = self.joints[k].entry
            along[entry] = along[entry] + base
        half = self.factor.solve_transposed(self.h * stack(*along))
        return [x * d for x, d in zip(half, self.factor.reciprocal, strict=True)]

    # -- the rows

    @cached_property
    def span(self) -> list[Entries]:
        """Rows of the problem, contacts and then exact joint rows, as combinations of ``rows``."""
        first = len(self._contacts.wrenches)
        own = [{first + k: ca.SX(1.0)} for k in range(len(self.exact))]
        return [*self._contacts.rows, *own]

    @cached_property
    def _contacts(self) -> ContactSpan:
        return contact_span(self.tree, self.gaps)

    @cached_property
    def rows(self) -> list[Entries]:
        """Over the degrees of freedom: wrenches that span the contacts, then exact joint rows."""
        own = [{e: ca.SX(x) for e, x in self.along[k].entries.items()} for k in self.exact]
        return [*WrenchRows(self.tree, self._contacts.wrenches).entries, *own]

    @cached_property
    def Y(self) -> list[dict[int, Array]]:
        """Columns of L^-T times the transposed ``rows``, without zeros."""
        columns = []
        for row in self.rows:
            full = stack(*[row.get(i, ca.SX(0)) for i in range(self.tree.model.nv)])
            half = self.factor.solve_transposed(full)
            columns.append({i: y for i, y in enumerate(half) if not ca.SX(y).is_zero()})
        return columns

    @cached_property
    def response(self) -> list[Entries]:
        """Velocities of all ``rows`` for a unit impulse of each row of the problem."""
        d, size = self.factor.reciprocal, len(self.rows)
        inverse: dict[tuple[int, int], Array] = {}
        for i in range(size):
            scaled = {k: y * d[k] for k, y in self.Y[i].items()}
            for j in range(i + 1):
                shared = sorted(scaled.keys() & self.Y[j].keys())
                if shared:
                    inverse[i, j] = inverse[j, i] = sum(scaled[k] * self.Y[j][k] for k in shared)
        columns = []
        for row in self.span:
            parts = {
                k: [product(x, inverse[k, i]) for i, x in row.items() if (k, i) in inverse]
                for k in range(size)
            }
            columns.append({k: sum(x[1:], x[0]) for k, x in parts.items() if x})
        return columns

    @cached_property
    def soft(self) -> list[Array]:
        """Compliance of each row besides that of the bodies (1/kg)."""
        own = [1 / (self.h * self.along[k].row.slope) for k in self.exact]
        return [*[ca.SX(0.0)] * (3 * len(self.gaps)), *own]

    def solve(self, start: Array) -> Array:
        """Impulses after the sweeps of the law."""
        return span_sweeps(
            self.problem, self.span, self.response, self.soft, start, self.law.sweeps
        )

    @cached_property
    def problem(self) -> ConeProblem:
        """A, b, cones and bounds, for impulses."""
        m, count = len(self.span), len(self.gaps)
        A = ca.SX(m, m)
        for i, row in enumerate(self.span):
            for j in range(i + 1):
                shared = [
                    product(x, self.response[j][k]) for k, x in row.items() if k in self.response[j]
                ]
                if shared:
                    A[i, j] = A[j, i] = sum(shared[1:], shared[0])
        initial = [row_product(row, self.tree.v) for row in self.rows]
        free = [
            u + sum((y * self.free[k] for k, y in column.items()), ca.SX(0))
            for u, column in zip(initial, self.Y, strict=True)
        ]
        before = [combine(row, initial) for row in self.span]
        b = [combine(row, free) for row in self.span]
        for k, gap in enumerate(self.gaps):
            bounce = gap_constant(
                self.law.restitution, self.geometry, gap, self.batch, "restitution"
            )
            speeds = surface_speeds([gap])
            for i in (1, 2):
                b[3 * k + i] = b[3 * k + i] - speeds[i]
            b[3 * k] = b[3 * k] - self._min_separation_speed(gap.distance, before[3 * k], bounce)
        low: list[Array] = [0.0] * (3 * count)
        high: list[Array] = [np.inf] * (3 * count)
        for i, k in enumerate(self.exact, start=3 * count):
            # f = -slope u - offset within bounds: u + offset / slope + p / (h slope) = 0.
            law = self.along[k].row
            A[i, i] = A[i, i] + self.soft[i]
            b[i] = b[i] + law.offset / law.slope
            low.append(law.lower if is_unbounded(law.lower) else self.h * law.lower)
            high.append(law.upper if is_unbounded(law.upper) else self.h * law.upper)
        cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(count))
        friction = [
            gap_friction(self.law.friction, self.geometry, gap, self.batch) for gap in self.gaps
        ]
        return ConeProblem(A, as_column(b), cones, friction, low, high)

    def _min_separation_speed(self, gap: Array, before: Array, bounce: Array) -> Array:
        """Minimum normal velocity (m/s) after the step."""
        law = self.law
        correction = ca.fmin(-law.correction * gap / self.h, law.max_correction_speed)
        minimum = ca.if_else(gap < 0, correction, -gap / self.h)
        if isinstance(bounce, float) and bounce == 0:
            return minimum
        impact = ca.logic_and(gap + self.h * before < 0, before < -law.rest_speed)
        return ca.if_else(impact, ca.fmax(-bounce * before, minimum), minimum)

    def velocity(self, impulse: Array) -> Array:
        """Velocities at the end under the impulses of the problem."""
        half, d = list(self.free), self.factor.reciprocal
        sums: list[Array] = [ca.SX(0)] * len(self.rows)
        for i, row in enumerate(self.span):
            for k, x in row.items():
                sums[k] = sums[k] + product(x, impulse[i])
        contributions: dict[int, list[Array]] = {}
        for k, column in enumerate(self.Y):
            for i, y in column.items():
                contributions.setdefault(i, []).append(y * sums[k])
        for i, parts in contributions.items():
            half[i] = half[i] + d[i] * sum(parts[1:], parts[0])
        return self.tree.v + self.factor.solve_lower(half)
