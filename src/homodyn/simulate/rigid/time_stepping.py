"""Rigid contacts by time-stepping: one velocity-level problem a step, no events, no branches.

    H' (w - v) = h (tau - C) + impulses of joint rows + G^T p,        q+ = q (+) h w
    normals:   p_n >= 0  against  u_n >= -gap / h,  or -e u_n at a bounce,      u = G w
    friction:  |p_t| <= mu p_n, against slip, in round cones

(Stewart and Trinkle 1996; Anitescu and Potra 1997.) H' holds what springs, dampers and motors along
coordinates do at the end of the step. A contact may close its gap within the step and no more, so
that nothing passes through; what overlaps is pushed apart by a share of the overlap a step. The
impulses are found by a fixed number of Gauss-Seidel sweeps from those of the step before; the
residual (m/s) of each step says how far they came. All of it is one traced expression without
branches: lanes of a batch run it together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.factor import Factor, factorized
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows, as_column
from homodyn.errors import ModelError
from homodyn.simulate.constants import Constant, Lane, constant
from homodyn.simulate.geometry import Gap, Scene
from homodyn.simulate.joint_rows import JointRow
from homodyn.simulate.loops import LoopRow, loop_load, stiffened
from homodyn.simulate.rows import unbounded
from homodyn.simulate.solvers import ConeProblem, gauss_seidel
from homodyn.simulate.springs import Stepped
from homodyn.spatial import Array, stack

JOINTS = ("tangent", "exact")


@dataclass(frozen=True)
class TimeStepping:
    """Rigid contacts with Coulomb friction, advanced in steps of fixed length.

    ``friction`` and ``restitution`` are numbers for all contact shapes or, as mappings, for each by
    name. Bounces slower than ``rest_speed`` (m/s) are not answered. ``correction`` is the share of
    an overlap that one step removes, never faster than ``push_speed`` (m/s). ``sweeps`` of
    Gauss-Seidel are done in every step. What acts along coordinates within bounds (limits, dry
    friction, motors) is, with ``joints`` "tangent", taken as straight as it is at the velocity
    before the step, which costs nothing; "exact" makes it rows beside those of the contacts.
    """

    friction: Constant = 0.8
    restitution: Constant = 0.0
    rest_speed: float = 0.01
    correction: float = 0.2
    push_speed: float = 1.0
    sweeps: int = 10
    joints: str = "tangent"
    name: str = "time_stepping"

    def __post_init__(self) -> None:
        if self.joints not in JOINTS:
            raise ModelError(f"joints may be {', '.join(JOINTS)}, not {self.joints!r}")
        if self.sweeps < 1:
            raise ModelError(f"at least one sweep a step is needed, got {self.sweeps}")
        if not 0 <= self.correction <= 1:
            raise ModelError(f"correction is a share from 0 to 1, got {self.correction}")

    def memory(self, scene: Scene) -> int:
        """Contact forces of the step before (N): normal and two tangents of each gap."""
        return 3 * len(scene.names)

    def step(
        self,
        scene: Scene,
        tree: Tree,
        tau: Array,
        rows: Sequence[JointRow],
        h: Array,
        z: Array,
        lane: Lane,
        loops: Sequence[LoopRow] = (),
    ) -> Stepped:
        """Velocities at the end of a step under generalised forces ``tau``, joint rows, loops."""
        step = VelocityProblem(self, scene, tree, tau, rows, h, lane, loops)
        problem, count = step.problem, 3 * len(step.gaps)
        if problem.size:
            held = ca.SX.zeros(problem.size - count)
            start = ca.vertcat(h * z, held)
            found = gauss_seidel(problem, start=start, sweeps=self.sweeps)
            impulse, residual = found.force, found.residual
        else:
            impulse, residual = ca.SX(0, 1), ca.SX(0.0)
        w = step.velocity(impulse)
        force = impulse / h
        on_bodies = []
        for k, gap in enumerate(step.gaps):
            n, (t1, t2) = gap.normal, gap.tangents
            on_bodies.append(force[3 * k] * n + force[3 * k + 1] * t1 + force[3 * k + 2] * t2)
        along = step.joint_forces(w, force[count:])
        return Stepped(w, step.gaps, on_bodies, along, force[:count], residual)


@dataclass(frozen=True, eq=False)
class VelocityProblem:
    """The problem of a step at one state, over symbols."""

    law: TimeStepping
    scene: Scene
    tree: Tree
    tau: Array
    joints: Sequence[JointRow]
    h: Array
    lane: Lane
    loops: Sequence[LoopRow] = ()

    @cached_property
    def gaps(self) -> list[Gap]:
        """Places that may touch."""
        return self.scene.gaps(self.tree)

    # -- what acts along coordinates

    @cached_property
    def exact(self) -> list[int]:
        """Joint rows that are rows of the problem: dry friction always, others if asked for."""
        chosen = []
        for k, joint in enumerate(self.joints):
            free = unbounded(joint.row.lower) and unbounded(joint.row.upper)
            both = not (unbounded(joint.row.lower) or unbounded(joint.row.upper))
            rubs = both and not joint.motor
            if not free and (rubs or self.law.joints == "exact"):
                chosen.append(k)
        return chosen

    @cached_property
    def tangents(self) -> dict[int, tuple[Array, Array]]:
        """For every other joint row, force and slope: f = base - slope (w - v)."""
        found = {}
        for k, joint in enumerate(self.joints):
            if k not in self.exact:
                u = self.tree.v[joint.entry]
                found[k] = (joint.row.force(u), joint.row.slope * joint.row.active(u))
        return found

    def joint_forces(self, w: Array, exact: Array) -> list[Array]:
        """Force of each joint row (N m, N) at the end velocities, from those of exact rows."""
        place = {k: i for i, k in enumerate(self.exact)}
        forces = []
        for k, joint in enumerate(self.joints):
            if k in place:
                forces.append(exact[place[k]])
            else:
                base, slope = self.tangents[k]
                forces.append(base - slope * (w[joint.entry] - self.tree.v[joint.entry]))
        return forces

    @cached_property
    def factor(self) -> Factor:
        """Of H' = H + h (slopes of joint rows and loops)."""
        added = [ca.SX(0.0)] * self.tree.model.nv
        for k, (_, slope) in self.tangents.items():
            entry = self.joints[k].entry
            added[entry] = added[entry] + self.h * slope
        H = composite_inertia(self.tree) + ca.diag(stack(*added))
        return factorized(self.tree, stiffened(H, self.loops, self.h))

    @cached_property
    def free(self) -> list[Array]:
        """D^-1 L^-T of the impulse without contacts: half of the way to the change of velocity."""
        load = self.tau - newton_euler(self.tree, None)
        if self.loops:
            load = load + loop_load(self.tree, self.loops, self.tree.v)
        along = [load[i] for i in range(self.tree.model.nv)]
        for k, (base, _) in self.tangents.items():
            entry = self.joints[k].entry
            along[entry] = along[entry] + base
        half = self.factor.half(self.h * stack(*along))
        return [x * d for x, d in zip(half, self.factor.reciprocal, strict=True)]

    # -- the rows

    @cached_property
    def rows(self) -> list[dict[int, Array]]:
        """Row by row, the entries of G: contacts, then exact joint rows."""
        wrenches = [wrench for gap in self.gaps for wrench in gap.wrenches]
        own = [{self.joints[k].entry: ca.SX(1.0)} for k in self.exact]
        return [*WrenchRows(self.tree, wrenches).entries, *own]

    @cached_property
    def Y(self) -> list[dict[int, Array]]:
        """Columns of L^-T G^T, without zeros."""
        columns = []
        for row in self.rows:
            full = stack(*[row.get(i, ca.SX(0)) for i in range(self.tree.model.nv)])
            half = self.factor.half(full)
            columns.append({i: y for i, y in enumerate(half) if not ca.SX(y).is_zero()})
        return columns

    @cached_property
    def problem(self) -> ConeProblem:
        """A, b, cones and bounds, for impulses."""
        d, m, count = self.factor.reciprocal, len(self.rows), len(self.gaps)
        A = ca.SX(m, m)
        for i in range(m):
            scaled = {k: y * d[k] for k, y in self.Y[i].items()}
            for j in range(i + 1):
                shared = sorted(scaled.keys() & self.Y[j].keys())
                if shared:
                    A[i, j] = A[j, i] = sum(scaled[k] * self.Y[j][k] for k in shared)
        before = [_dot(row, self.tree.v) for row in self.rows]
        b = [
            u + sum((y * self.free[k] for k, y in column.items()), ca.SX(0))
            for u, column in zip(before, self.Y, strict=True)
        ]
        for k, gap in enumerate(self.gaps):
            bounce = self._constant(gap, self.law.restitution, "restitution")
            b[3 * k] = b[3 * k] - self._least_speed(gap.distance, before[3 * k], bounce)
        low: list[Array] = [0.0] * (3 * count)
        high: list[Array] = [np.inf] * (3 * count)
        for i, k in enumerate(self.exact, start=3 * count):
            # f = -slope u - offset within bounds: u + offset / slope + p / (h slope) = 0.
            row = self.joints[k].row
            A[i, i] = A[i, i] + 1 / (self.h * row.slope)
            b[i] = b[i] + row.offset / row.slope
            low.append(row.lower if unbounded(row.lower) else self.h * row.lower)
            high.append(row.upper if unbounded(row.upper) else self.h * row.upper)
        cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(count))
        friction = [self._constant(gap, self.law.friction, "friction") for gap in self.gaps]
        return ConeProblem(A, as_column(b), cones, friction, low, high)

    def _constant(self, gap: Gap, value: Any, what: str) -> Array:
        name = self.scene.model.contacts[gap.shape].name
        return constant(value, name, self.lane, what)

    def _least_speed(self, gap: Array, before: Array, bounce: Array) -> Array:
        """The slowest speed (m/s) at which a normal may part after the step."""
        law = self.law
        push = ca.fmin(-law.correction * gap / self.h, law.push_speed)
        least = ca.if_else(gap < 0, push, -gap / self.h)
        if isinstance(bounce, float) and bounce == 0:
            return least
        struck = ca.logic_and(gap + self.h * before < 0, before < -law.rest_speed)
        return ca.if_else(struck, ca.fmax(-bounce * before, least), least)

    def velocity(self, impulse: Array) -> Array:
        """Velocities at the end under the impulses of the rows."""
        half, d = list(self.free), self.factor.reciprocal
        pushed: dict[int, list[Array]] = {}
        for k, column in enumerate(self.Y):
            for i, y in column.items():
                pushed.setdefault(i, []).append(y * impulse[k])
        for i, parts in pushed.items():
            half[i] = half[i] + d[i] * sum(parts[1:], parts[0])
        return self.tree.v + self.factor.rest(half)


def _dot(row: dict[int, Array], v: Array) -> Any:
    return sum((value * v[entry] for entry, value in row.items()), ca.SX(0))
