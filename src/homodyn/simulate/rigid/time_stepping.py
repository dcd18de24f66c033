"""Rigid contacts by time-stepping: one velocity-level problem a step, no events, no branches.

    H' (v+ - v) = dt (tau - C + passive) - dt^2 K v + G^T p,     H' = H + dt B + dt^2 K
    normals:   p_n >= 0  against  u_n >= -gap / dt,  or -e u_n at a bounce,   u = G v+
    friction:  |p_t| <= mu p_n, against slip, round cones                     q+ = q (+) dt v+

(Stewart and Trinkle 1996; Anitescu and Potra 1997, with springs and dampers taken at the end of the
step.) A contact may close its gap within the step and no more, so that nothing passes through; what
overlaps is pushed apart by a share of the overlap a step. The impulses are found by a fixed number
of Gauss-Seidel sweeps from those of the step before; the residual (m/s) of each step says how far
they came. Everything is one traced expression: lanes of a batch run it together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.factor import Factor, factorized
from homodyn.dynamics.rnea import newton_euler, passive_force
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.simulate.geometry import Gap, Scene
from homodyn.simulate.rigid.coordinates import CoordinateRows
from homodyn.simulate.rigid.surfaces import per_contact
from homodyn.simulate.solvers import ConeProblem, gauss_seidel
from homodyn.spatial import Array

LIMITS = ("rigid", "implicit", "off")


@dataclass(frozen=True)
class TimeStepping:
    """Rigid contacts with Coulomb friction, advanced in steps of fixed length.

    ``friction`` and ``restitution`` are numbers for all contacts or go by the names of contact
    shapes. Bounces slower than ``rest_speed`` (m/s) are not answered. ``correction`` is the share
    of an overlap that one step removes, never faster than ``push_speed`` (m/s). ``limits`` of
    coordinates and their dry friction are "rigid" rows beside the contacts; or "implicit", springs
    as stiff as the step allows and friction that creeps below ``creep`` (rad/s, m/s), which cost
    next to nothing; or "off".
    """

    friction: float | Mapping[str, float] = 0.8
    restitution: float | Mapping[str, float] = 0.0
    rest_speed: float = 0.01
    correction: float = 0.2
    push_speed: float = 1.0
    sweeps: int = 20
    limits: str = "rigid"
    creep: float = 1e-3

    def __post_init__(self) -> None:
        if self.limits not in LIMITS:
            raise ModelError(f"limits may be {', '.join(LIMITS)}, not {self.limits!r}")
        if self.sweeps < 1:
            raise ModelError(f"at least one sweep a step is needed, got {self.sweeps}")
        if not 0 <= self.correction <= 1:
            raise ModelError(f"correction is a share from 0 to 1, got {self.correction}")


class Stepped(NamedTuple):
    """The state a step later, and what the contacts did on the way."""

    q: Array
    v: Array
    impulse: Array
    """N s: normal and two tangents of each gap, then of each limit and rubbing coordinate."""
    residual: Array
    """m/s: the largest violation of the contact law left by the sweeps."""
    overlap: Array
    """m: the deepest overlap at the start of the step."""


@dataclass(frozen=True, eq=False)
class VelocityProblem:
    """The rows of a step at one state, over symbols."""

    law: TimeStepping
    scene: Scene
    tree: Tree
    tau: Array
    dt: Array
    spring: Array | None = None
    """Gains of a spring and damper that the torques contain: (stiffness, damping), taken at the
    end of the step."""
    gaps: list[Gap] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gaps", self.scene.gaps(self.tree))

    @property
    def model(self) -> Model:
        """The model that moves."""
        return self.tree.model

    @cached_property
    def coordinates(self) -> CoordinateRows:
        """What holds the coordinates."""
        return CoordinateRows(self.model)

    @cached_property
    def _limit_gaps(self) -> list[tuple[Array, Array]]:
        return self.coordinates.limit_gaps(self.tree.q) if self.law.limits != "off" else []

    @cached_property
    def _held(self) -> tuple[Array, Array]:
        """Stiffness and damping along each entry of v that count at the end of the step."""
        K = ca.SX(ca.vertcat(*self.coordinates.stiffness()))
        B = ca.SX(ca.vertcat(*self.coordinates.damping()))
        if self.spring is not None:
            K, B = K + self.spring[0], B + self.spring[1]
        return K, B

    @cached_property
    def _soft(self) -> tuple[Array, Array]:
        """Diagonal of H' - H and impulse, of limits and friction that are taken implicitly."""
        v, dt = self.tree.v, self.dt
        added, impulse = ca.SX.zeros(self.model.nv), ca.SX.zeros(self.model.nv)
        if self.law.limits != "implicit":
            return added, impulse
        H = self._inertia
        for i, (inside, gap) in zip(self.coordinates.limited, self._limit_gaps, strict=True):
            # Reached within the step: as heavy as a hundred of its own inertia, towards the limit.
            near = gap + dt * inside * v[i] < 0
            weight = ca.if_else(near, 100.0 * H[i, i], 0.0)
            share = ca.if_else(gap < 0, self.law.correction, 1.0)
            wanted = -inside * share * gap / dt
            added[i] += weight
            impulse[i] += weight * (wanted - v[i])
        for i, strength in zip(self.coordinates.rubbing, self.coordinates.strengths(), strict=True):
            rate = dt * strength / ca.fmax(ca.fabs(v[i]), self.law.creep)
            added[i] += rate
            impulse[i] -= rate * v[i]
        return added, impulse

    @cached_property
    def _inertia(self) -> Array:
        return composite_inertia(self.tree)

    @cached_property
    def factor(self) -> Factor:
        """Of H'."""
        K, B = self._held
        H = self._inertia + ca.diag(self.dt * (B + self.dt * K) + self._soft[0])
        return factorized(self.tree, ca.SX(H))

    @cached_property
    def free(self) -> list[Array]:
        """D^-1 L^-T of the impulse without contacts: half of the way to the change of velocity."""
        K, _ = self._held
        load = self.tau - newton_euler(self.tree, None)
        load = load + passive_force(self.model, self.tree.q, self.tree.v)
        impulse = self.dt * (load - self.dt * K * self.tree.v) + self._soft[1]
        half = self.factor.half(impulse)
        return [x * d for x, d in zip(half, self.factor.reciprocal, strict=True)]

    @cached_property
    def rows(self) -> list[dict[int, Array]]:
        """Row by row, the entries of G."""
        wrenches = [wrench for gap in self.gaps for wrench in gap.wrenches]
        rows = list(WrenchRows(self.tree, wrenches).entries)
        if self.law.limits == "rigid":
            limited = zip(self.coordinates.limited, self._limit_gaps, strict=True)
            rows += [{i: ca.SX(inside)} for i, (inside, _) in limited]
            rows += [{i: ca.SX(1.0)} for i in self.coordinates.rubbing]
        return rows

    @cached_property
    def Y(self) -> list[dict[int, Array]]:
        """Columns of L^-T G^T, without zeros."""
        columns = []
        for row in self.rows:
            full = ca.vertcat(*[row.get(i, ca.SX(0)) for i in range(self.model.nv)])
            columns.append(
                {i: y for i, y in enumerate(self.factor.half(full)) if not ca.SX(y).is_zero()}
            )
        return columns

    @cached_property
    def problem(self) -> ConeProblem:
        """A, b, cones and bounds."""
        d, m, count = self.factor.reciprocal, len(self.rows), len(self.gaps)
        A = ca.SX(m, m)
        scaled = [{i: y * d[i] for i, y in column.items()} for column in self.Y]
        for i in range(m):
            for j in range(i + 1):
                shared = scaled[i].keys() & self.Y[j].keys()
                if shared:
                    A[i, j] = A[j, i] = sum(scaled[i][k] * self.Y[j][k] for k in sorted(shared))
        before = [_dot(row, self.tree.v) for row in self.rows]
        b = [
            u + sum((y * self.free[k] for k, y in column.items()), ca.SX(0))
            for u, column in zip(before, self.Y, strict=True)
        ]
        bounce = per_contact(self.law.restitution, self.scene, self.gaps, "restitution")
        for k, gap in enumerate(self.gaps):
            b[3 * k] -= self._least_speed(gap.distance, before[3 * k], bounce[k])
        low: list[Array] = [0.0] * (3 * count)
        high: list[Array] = [np.inf] * (3 * count)
        if self.law.limits == "rigid":
            for k, (_, gap) in enumerate(self._limit_gaps):
                row = 3 * count + k
                b[row] -= self._least_speed(gap, before[row], 0.0)
                low.append(0.0)
                high.append(np.inf)
            for strength in self.coordinates.strengths():
                low.append(-self.dt * strength)
                high.append(self.dt * strength)
        cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(count))
        friction = per_contact(self.law.friction, self.scene, self.gaps, "friction")
        return ConeProblem(A, ca.vertcat(ca.SX(0, 1), *b), cones, friction, low, high)

    def _least_speed(self, gap: Array, before: Array, bounce: Array) -> Array:
        """The slowest speed (m/s) at which a normal may part after the step."""
        law = self.law
        push = ca.fmin(-law.correction * gap / self.dt, law.push_speed)
        least = ca.if_else(gap < 0, push, -gap / self.dt)
        if isinstance(bounce, (int, float)) and bounce == 0:
            return least
        struck = ca.logic_and(gap + self.dt * before < 0, before < -law.rest_speed)
        return ca.if_else(struck, ca.fmax(-bounce * before, least), least)

    def velocity(self, impulse: Array) -> Array:
        """v+ under the impulses of the rows."""
        half = list(self.free)
        d = self.factor.reciprocal
        for k, column in enumerate(self.Y):
            for i, y in column.items():
                half[i] = half[i] + d[i] * y * impulse[k]
        return self.tree.v + self.factor.rest(half)


def time_step(
    law: TimeStepping,
    scene: Scene,
    q: Array,
    v: Array,
    tau: Array,
    memory: Array,
    dt: Array,
    spring: Array | None = None,
) -> Stepped:
    """One step of length ``dt`` (s) under generalised forces ``tau``, over symbols.

    ``memory`` holds the impulses of the step before (zeros at first) from which sweeps start.
    """
    step = VelocityProblem(law, scene, Tree(scene.model, q, v), tau, dt, spring)
    problem = step.problem
    if problem.size:
        found = gauss_seidel(problem, start=memory, sweeps=law.sweeps)
        impulse, residual = found.force, found.residual
    else:
        impulse, residual = ca.SX(0, 1), ca.SX(0)
    after = step.velocity(impulse)
    deepest = ca.SX(0)
    for gap in step.gaps:
        deepest = ca.fmax(deepest, -gap.distance)
    return Stepped(scene.model.integrate(q, dt * after), after, impulse, residual, deepest)


def memory_size(law: TimeStepping, scene: Scene) -> int:
    """Number of impulses that one step hands to the next."""
    count = 3 * len(scene.names)
    if law.limits == "rigid":
        count += len(CoordinateRows(scene.model).names)
    return count


def _dot(row: dict[int, Array], v: Array) -> Any:
    return sum((value * v[entry] for entry, value in row.items()), ca.SX(0))
