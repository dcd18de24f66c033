"""Contact as springs solved together at the end of the step: any stiffness, any step.

With velocities v before and w after a step of length h,

    H (w - v) = h (tau - C) + h sum J_i^T f_i(J_i w),

where every f_i is a `Row`: normals that push, friction held in its cone, joint limits, motors. For
fixed cones this is the condition of a minimum of a convex function, piecewise quadratic in w, found
by Newton's method with an exact line search. Contacts with the world, and all that acts along
coordinates, keep the pattern of the tree in H + h sum s_i J_i^T J_i, so one iteration costs little
more than factorising the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.factor import factorized
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.errors import ModelError
from homodyn.simulate.constants import Constant, Lane, constant
from homodyn.simulate.geometry import Gap, Scene
from homodyn.simulate.joint_rows import JointRow
from homodyn.simulate.rows import Row, unbounded
from homodyn.spatial import Array, stack

LINE_SEARCH = 4
"""Steps of the line search: the slope it follows is piecewise linear, so few are enough."""


@dataclass(frozen=True, eq=False)
class Stepped:
    """A step of velocities: the new ones, forces on bodies (N, world), and what is left over.

    ``joint`` holds the force of each joint row (N m, N); ``residual`` (kg m/s, kg m2/s) is the
    largest momentum that the equations of motion are off by.
    """

    v: Array
    gaps: list[Gap]
    forces: list[Array]
    joint: list[Array]
    z: Array
    residual: Array


@dataclass(frozen=True)
class ImplicitSprings:
    """Spring-dampers at every contact, solved for at the end of the step.

    ``stiffness`` (N/m), ``damping`` (N s/m) along the normal and, where given, across it;
    ``friction``, a coefficient; ``max_force`` (N) bounds the normal force. ``iterations`` of
    Newton's method are taken in every step; what they leave is in the record as ``residual``.
    """

    stiffness: Constant = 1e5
    damping: Constant = 1e3
    friction: Constant = 0.8
    tangential_stiffness: Constant | None = None
    tangential_damping: Constant | None = None
    max_force: float = float("inf")
    iterations: int = 3
    name: str = "implicit"

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ModelError(f"iterations of implicit springs: at least 1, got {self.iterations}")

    def memory(self, scene: Scene) -> int:
        """Tangential deflections of the gaps, world axes (m)."""
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
    ) -> Stepped:
        """Velocities at the end of a step under generalised forces ``tau`` and joint rows."""
        gaps = scene.gaps(tree)
        contacts = WrenchRows(tree, [wrench for gap in gaps for wrench in gap.wrenches])
        springs = [
            self._rows(scene, gap, z[3 * k : 3 * k + 3], h, lane) for k, gap in enumerate(gaps)
        ]
        solver = _Newton(tree, contacts.entries, springs, rows, h)
        w = solver.solve(tau - newton_euler(tree, None), self.iterations)
        local, along = solver.contact_forces(w), solver.joint_forces(w)
        forces, memory = [], []
        for k, gap in enumerate(gaps):
            n, (t1, t2) = gap.normal, gap.tangents
            f = local[k]
            forces.append(f[0] * n + f[1] * t1 + f[2] * t2)
            memory.append(self._deflection(scene, gap, springs[k], solver.speeds(w, k), f, h, lane))
        return Stepped(
            w,
            gaps,
            forces,
            along,
            ca.vertcat(ca.SX(0, 1), *memory),
            solver.residual(w, tau - newton_euler(tree, None)),
        )

    def _constants(self, scene: Scene, gap: Gap, lane: Lane) -> tuple[Array, ...]:
        def number(value: Any, what: str) -> Array:
            return constant(value, scene.model.contacts[gap.shape].name, lane, what)

        k, d = number(self.stiffness, "stiffness"), number(self.damping, "damping")
        kt = k if self.tangential_stiffness is None else number(self.tangential_stiffness, "kt")
        dt = d if self.tangential_damping is None else number(self.tangential_damping, "dt")
        return k, d, kt, dt, number(self.friction, "friction")

    def _rows(
        self, scene: Scene, gap: Gap, z: Array, h: Array, lane: Lane
    ) -> tuple[Row, Row, Row, Array]:
        """Normal and two tangential rows, and the coefficient of friction."""
        k, d, kt, dt, mu = self._constants(scene, gap, lane)
        normal = Row.stop(gap.distance, k, d, h, self.max_force)
        first, second = (Row.spring(ca.dot(t, z), kt, dt, h) for t in gap.tangents)
        return normal, first, second, mu

    def _deflection(
        self,
        scene: Scene,
        gap: Gap,
        rows: tuple[Row, Row, Row, Array],
        u: list[Array],
        f: list[Array],
        h: Array,
        lane: Lane,
    ) -> Array:
        """Deflection after the step: what keeps the friction that acted, zero where none did.

        While a point sticks that is the old one moved on; while it slips the damper has its share.
        """
        _, _, kt, dt, _ = self._constants(scene, gap, lane)
        held = ca.if_else(f[0] > 0, 1.0, 0.0)
        safe = kt if isinstance(kt, float) and kt > 0 else ca.if_else(kt > 0, kt, 1.0)
        if isinstance(kt, float) and kt == 0:
            return ca.SX.zeros(3)
        parts = [-(f[1 + k] + dt * u[1 + k]) / safe for k in range(2)]
        t1, t2 = gap.tangents
        # A slipping point keeps no more than the cone holds without the damper.
        size = ca.sqrt(parts[0] ** 2 + parts[1] ** 2)
        most = rows[3] * f[0] / safe
        share = ca.if_else(size > most, most / ca.if_else(size > 0, size, 1.0), 1.0)
        return held * share * (parts[0] * t1 + parts[1] * t2)


@dataclass(frozen=True, eq=False)
class _Newton:
    """The minimisation over end velocities w."""

    tree: Tree
    entries: list[dict[int, Array]]
    springs: list[tuple[Row, Row, Row, Array]]
    joints: Sequence[JointRow]
    h: Array

    def speeds(self, w: Array, k: int) -> list[Array]:
        """Velocity of gap k along its normal and tangents."""
        return [_times(row, w) for row in self.entries[3 * k : 3 * k + 3]]

    def contact_forces(self, w: Array) -> list[list[Array]]:
        """Force of each gap along its normal and tangents."""
        forces = []
        for k, (normal, first, second, mu) in enumerate(self.springs):
            u = self.speeds(w, k)
            push = normal.force(u[0])
            share = self._share(push, mu, first.raw(u[1]), second.raw(u[2]))
            forces.append([push, share * first.raw(u[1]), share * second.raw(u[2])])
        return forces

    def joint_forces(self, w: Array) -> list[Array]:
        """Force of each joint row."""
        return [joint.row.force(w[joint.entry]) for joint in self.joints]

    def residual(self, w: Array, free: Array) -> Array:
        """Largest entry of H (w - v) - h (free + forces)."""
        H = composite_inertia(self.tree)
        slope = self._slope(w, H @ (w - self.tree.v) - self.h * free, self.contact_forces(w))
        largest = ca.SX(0.0)
        for k in range(slope.numel()):
            largest = ca.fmax(largest, ca.fabs(slope[k]))
        return largest

    def solve(self, free: Array, iterations: int) -> Array:
        """Newton's method from the velocities before the step."""
        H = composite_inertia(self.tree)
        w = self.tree.v
        for _ in range(iterations):
            forces = self.contact_forces(w)
            shares = [self._share_at(w, k, forces[k][0]) for k in range(len(self.springs))]
            slope = self._slope(w, H @ (w - self.tree.v) - self.h * free, forces)
            A = self._curvature(H, w, shares)
            d = -factorized(self.tree, A).solve(slope)
            w = w + self._reach(w, d, slope, H, shares) * d
        return w

    def _share_at(self, w: Array, k: int, push: Array) -> Array:
        _, first, second, mu = self.springs[k]
        u = self.speeds(w, k)
        return self._share(push, mu, first.raw(u[1]), second.raw(u[2]))

    @staticmethod
    def _share(push: Array, mu: Array, first: Array, second: Array) -> Array:
        """What the cone leaves of a tangential pull."""
        size = ca.sqrt(first * first + second * second)
        hold = mu * push
        return ca.if_else(size > hold, hold / ca.if_else(size > 0, size, 1.0), 1.0)

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

    def _curvature(self, H: Array, w: Array, shares: list[Array]) -> Array:
        """H + h sum of s J^T J over rows that give way; friction counts with its secant."""
        A = ca.SX(H)
        for k, (normal, first, second, _) in enumerate(self.springs):
            u = self.speeds(w, k)
            weights = [
                self.h * normal.slope * normal.active(u[0]),
                self.h * first.slope * shares[k],
                self.h * second.slope * shares[k],
            ]
            rows = self.entries[3 * k : 3 * k + 3]
            places = sorted(set().union(*rows))
            for i, p in enumerate(places):
                for q in places[: i + 1]:
                    value = sum(
                        weight * row[p] * row[q]
                        for weight, row in zip(weights, rows, strict=True)
                        if p in row and q in row
                    )
                    A[p, q] = A[p, q] + value
                    if p != q:
                        A[q, p] = A[p, q]
        for joint in self.joints:
            e, row = joint.entry, joint.row
            A[e, e] = A[e, e] + self.h * row.slope * row.active(w[e])
        return A

    def _reach(self, w: Array, d: Array, slope: Array, H: Array, shares: list[Array]) -> Array:
        """How far to go along d: the root of the directional slope, at most 1.

        The slope grows along the way by pieces of straight lines; its root is kept between two
        bounds and approached by Newton's method.
        """
        start = ca.dot(d, slope)
        inner = ca.dot(d, H @ d)
        bounded: list[tuple[Row, Array, Array]] = []
        for k, (normal, first, second, _) in enumerate(self.springs):
            u, du = self.speeds(w, k), self.speeds(d, k)
            bounded.append((normal, u[0], du[0]))
            for row, step in ((first, du[1]), (second, du[2])):
                inner = inner + self.h * row.slope * shares[k] * step * step
        for joint in self.joints:
            u0, step = w[joint.entry], d[joint.entry]
            if unbounded(joint.row.lower) and unbounded(joint.row.upper):
                inner = inner + self.h * joint.row.slope * step * step
            else:
                bounded.append((joint.row, u0, step))
        if not bounded:
            return ca.SX(1.0)
        before = [row.force(u) for row, u, _ in bounded]
        low, high, reach = ca.SX(0.0), ca.SX(1.0), ca.SX(1.0)
        for number in range(LINE_SEARCH):
            value, growth = start + reach * inner, inner
            for (row, u, du), f0 in zip(bounded, before, strict=True):
                at = u + reach * du
                value = value - self.h * du * (row.force(at) - f0)
                growth = growth + self.h * row.slope * du * du * row.active(at)
            beyond = value > 0
            high = ca.if_else(beyond, reach, high)
            low = ca.if_else(beyond, low, reach)
            if number == 0:
                whole = ca.logic_not(beyond)
            guess = reach - value / ca.if_else(growth > 0, growth, 1.0)
            inside = ca.logic_and(guess > low, guess < high)
            reach = ca.if_else(inside, guess, (low + high) / 2)
        return ca.if_else(whole, 1.0, reach)


def _times(row: dict[int, Array], w: Array) -> Array:
    return sum((value * w[entry] for entry, value in row.items()), ca.SX(0))
