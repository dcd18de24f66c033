"""The problem of contact solvers: forces in bounds and friction cones, and the motion they cause.

    w = A force + b,    A = G H^-1 G^T,    b the motion of the rows without these forces

A row is either *bounded*, ``lower <= force <= upper``: w = 0 strictly inside, w >= 0 at the lower
and w <= 0 at the upper bound (bounds at infinity make it an equation, 0 and infinity a contact
without friction, -f and f dry friction); or it belongs to a *cone* (normal, tangent[, tangent]):

    force_n >= 0,  w_n >= 0,  force_n w_n = 0,        |force_t| <= mu force_n,
    w_t = 0 strictly inside the cone,   w_t = -s force_t with some s >= 0 on its surface

which is Coulomb's law with a round cone, or bounds +-mu force_n for a single tangent. Forces may be
impulses (N s) with w in m/s, or forces (N) with w in m/s2: the solvers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation import Record, count_of, record
from homodyn.spatial import Array, is_symbolic

Cone = tuple[int, ...]
"""Rows of one contact with friction: the normal, then one or two tangents."""

MIN_DIVISOR = 1e-300
"""Lower bound of divisors."""


class ConeStatus(Enum):
    """How a solver ended, with a sentence for each status."""

    SOLVED = "solved to tolerance"
    UNSOLVED = "the tolerance was not reached"
    INCONSISTENT = "no motion satisfies the rows: they contradict each other"
    INVALID = "the problem holds numbers that are not finite"


@record
class ConeProblem(Record):
    """A problem for forces, over any leading batch shape of numbers, or over symbols.

    Raises:
        HomodynError: Shapes, cones, friction or bounds are not valid.
    """

    A: Array
    """(..., m, m): motion of the rows for unit forces; symmetric and positive semidefinite."""
    b: Array
    """(..., m): motion of the rows without forces."""
    cones: tuple[Cone, ...] = ()
    """Rows of each cone: normal, then one or two tangents."""
    friction: Array = ()
    """(..., number of cones), or one number for all."""
    lower: Array = 0.0
    """(..., m) or one number; entries of rows in cones are ignored."""
    upper: Array = np.inf
    """(..., m) or one number; entries of rows in cones are ignored."""

    def __post_init__(self) -> None:
        cones = tuple(tuple(int(row) for row in cone) for cone in self.cones)
        object.__setattr__(self, "cones", cones)
        m = self.b.shape[0] if is_symbolic(self.b) else np.shape(self.b)[-1]
        used = [row for cone in cones for row in cone]
        if len(used) != len(set(used)) or any(not 0 <= row < m for row in used):
            raise HomodynError(f"cones {cones} must have different rows from 0 to {m - 1}")
        if any(len(cone) not in (2, 3) for cone in cones):
            raise HomodynError("a cone has a normal and one or two tangents: 2 or 3 rows")
        if is_symbolic(self.A, self.b):
            return
        A, b = np.asarray(self.A, float), np.asarray(self.b, float)
        if A.shape[-2:] != (m, m):
            raise HomodynError(f"A must be (..., {m}, {m}) to fit b, got {A.shape}")
        if np.ndim(self.friction) and np.shape(self.friction)[-1] != len(cones):
            raise HomodynError(
                f"friction needs one coefficient per cone, {len(cones)}, "
                f"got {np.shape(self.friction)[-1]}"
            )
        batch = np.broadcast_shapes(A.shape[:-2], b.shape[:-1])
        mu = np.asarray(self.friction, float) if cones else np.zeros(0)
        arrays = {
            "A": np.broadcast_to(A, (*batch, m, m)),
            "b": np.broadcast_to(b, (*batch, m)),
            "friction": np.broadcast_to(mu, (*batch, len(cones))),
            "lower": np.broadcast_to(np.asarray(self.lower, float), (*batch, m)),
            "upper": np.broadcast_to(np.asarray(self.upper, float), (*batch, m)),
        }
        for name, array in arrays.items():
            object.__setattr__(self, name, array)
        if np.any(arrays["friction"] < 0):
            raise HomodynError("coefficients of friction cannot be negative")
        outside = [row for row in range(m) if row not in set(used)]
        if np.any(arrays["lower"][..., outside] > arrays["upper"][..., outside]):
            raise HomodynError("a lower bound is above its upper bound")

    def headline(self) -> str:
        """Numbers of rows and cones."""
        rows, cones = count_of(self.size, "row"), count_of(len(self.cones), "cone")
        return f"ConeProblem: {rows}, {cones}"

    @cached_property
    def symbolic(self) -> bool:
        """Whether the problem is over symbols."""
        return is_symbolic(self.A, self.b)

    @cached_property
    def size(self) -> int:
        """Number of rows."""
        return int(self.b.shape[0] if is_symbolic(self.b) else np.shape(self.b)[-1])

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading shape; () for one problem."""
        return () if self.symbolic else np.shape(self.b)[:-1]

    @cached_property
    def bounded(self) -> tuple[int, ...]:
        """Rows that belong to no cone."""
        inside = {row for cone in self.cones for row in cone}
        return tuple(row for row in range(self.size) if row not in inside)

    def element(self, place: tuple[int, ...]) -> ConeProblem:
        """One problem of the batch."""
        return ConeProblem(
            self.A[place],
            self.b[place],
            self.cones,
            self.friction[place],
            self.lower[place],
            self.upper[place],
        )

    # -- entries, in the same way for numbers and symbols

    def entry(self, i: int, j: int) -> Array:
        """A_ij."""
        return self.A[i, j] if self.symbolic else self.A[..., i, j]

    def coefficient(self, k: int) -> Array:
        """Friction of cone k."""
        if self.symbolic:
            mu = self.friction
            return mu[k] if is_symbolic(mu) or np.ndim(mu) else mu
        return self.friction[..., k]

    def bounds(self, i: int) -> tuple[Array, Array]:
        """Lower and upper bound of row i."""
        if self.symbolic:
            low, high = (
                side[i] if is_symbolic(side) or np.ndim(side) else side
                for side in (self.lower, self.upper)
            )
            return low, high
        return self.lower[..., i], self.upper[..., i]

    def entries(self, x: Array) -> list[Array]:
        """A vector as its entries, each over the batch."""
        return [x[i] if is_symbolic(x) else x[..., i] for i in range(self.size)]

    def motion(self, force: Sequence[Array]) -> list[Array]:
        """The entries of w = A force + b."""
        b = self.entries(self.b)
        if not self.symbolic:
            change = np.einsum("...ij,j...->i...", self.A, np.array(force))
            return [b[i] + change[i] for i in range(self.size)]
        return [
            b[i] + sum((self.entry(i, j) * force[j] for j in range(self.size)), 0.0)
            for i in range(self.size)
        ]


@record
class ConeSolution(Record):
    """Forces, the resulting motion, and the violation of the law."""

    force: Array
    """(..., m)."""
    motion: Array
    """(..., m): w = A force + b."""
    residual: Array
    """(...): the largest violation of the law, in the unit of w."""
    iterations: Array
    """(...): pivots, sweeps or Newton steps."""
    status: Any
    """A `ConeStatus`, or an array of them over the batch; None over symbols."""

    @property
    def solved(self) -> bool:
        """Whether all problems of the batch reached the tolerance."""
        return bool(np.all(np.asarray(self.status) == ConeStatus.SOLVED))

    def headline(self) -> str:
        """Status and residual."""
        if isinstance(self.status, ConeStatus):
            return f"ConeSolution: {self.status.value}, residual {self.residual:.2g}"
        return "ConeSolution"


# -- elementwise functions of numbers and symbols


def maximum(a: Array, b: Array) -> Array:
    """The larger of two."""
    return ca.fmax(a, b) if is_symbolic(a, b) else np.maximum(a, b)


def minimum(a: Array, b: Array) -> Array:
    """The smaller of two."""
    return ca.fmin(a, b) if is_symbolic(a, b) else np.minimum(a, b)


def clip(x: Array, low: Array, high: Array) -> Array:
    """``x`` clipped to bounds; infinite bounds add nothing to a trace."""
    if is_symbolic(x):
        if is_symbolic(low) or low > -np.inf:
            x = ca.fmax(x, low)
        return ca.fmin(x, high) if is_symbolic(high) or high < np.inf else x
    return np.minimum(np.maximum(x, low), high)


def length(x: Sequence[Array]) -> Array:
    """Euclidean length of entries."""
    if len(x) == 1:
        return ca.fabs(x[0]) if is_symbolic(x[0]) else np.abs(x[0])
    square = sum(entry * entry for entry in x)
    return ca.sqrt(square) if is_symbolic(square) else np.sqrt(square)


def project_on_disc(x: Sequence[Array], radius: Array) -> list[Array]:
    """The point of a disc (or interval) of that radius nearest to x."""
    if len(x) == 1:
        return [clip(x[0], -radius, radius)]
    scale = minimum(1.0, radius / maximum(length(x), MIN_DIVISOR))
    return [entry * scale for entry in x]


# -- violation of the law


def row_scales(problem: ConeProblem) -> list[Array]:
    """Scale r of each row: A_ii, or for two tangents the larger eigenvalue of their block.

    Rows that no force moves have the scale 1.
    """
    scale: list[Any] = [problem.entry(i, i) for i in range(problem.size)]
    for cone in problem.cones:
        if len(cone) == 3:
            _, s, t = cone
            mean = (scale[s] + scale[t]) / 2
            half = (scale[s] - scale[t]) / 2
            scale[s] = scale[t] = mean + length([half, problem.entry(s, t)])
    if problem.symbolic:
        return [ca.if_else(x > 0, x, 1.0) for x in scale]
    return [np.where(x > 0, x, 1.0) for x in scale]


def violations(problem: ConeProblem, force: Array) -> Array:
    """Violation of the law by each row (in the unit of w), zero exactly at solutions.

    The natural residual: r (force - P(force - w / r)) with P the projection onto admissible forces
    and r of `row_scales`. The admissible forces of tangents are the disc of radius mu force_n.

    Args:
        problem: The problem.
        force: Forces, (..., m).

    Returns:
        (..., m).
    """
    f = problem.entries(force)
    w = problem.motion(f)
    r = row_scales(problem)
    out: list[Array] = [0.0] * problem.size
    for i in problem.bounded:
        out[i] = r[i] * (f[i] - clip(f[i] - w[i] / r[i], *problem.bounds(i)))
    for k, (n, *tangents) in enumerate(problem.cones):
        out[n] = r[n] * (f[n] - maximum(0.0, f[n] - w[n] / r[n]))
        targets = [f[t] - w[t] / r[t] for t in tangents]
        radius = problem.coefficient(k) * maximum(0.0, f[n])
        for t, projected in zip(tangents, project_on_disc(targets, radius), strict=True):
            out[t] = r[t] * (f[t] - projected)
    return join_entries(problem, out)


def residual(problem: ConeProblem, force: Array) -> Array:
    """The largest violation of the law.

    Args:
        problem: The problem.
        force: Forces, (..., m).

    Returns:
        (...,), in the unit of w.
    """
    each = violations(problem, force)
    if problem.symbolic:
        return ca.norm_inf(each) if problem.size else ca.SX(0)
    return np.abs(each).max(-1) if problem.size else np.zeros(problem.batch)


def join_entries(problem: ConeProblem, entries: Sequence[Array]) -> Array:
    """Entries as one vector."""
    if problem.symbolic:
        return ca.vertcat(ca.SX(0, 1), *entries)
    full = [np.broadcast_to(entry, problem.batch) for entry in entries]
    return np.stack(full, axis=-1) if full else np.zeros((*problem.batch, 0))


def absolute_tolerance(problem: ConeProblem, tolerance: float) -> Array:
    """A tolerance in the unit of w: the relative one times the largest entry of b."""
    return tolerance * np.maximum(np.abs(problem.b).max(-1, initial=0.0), MIN_DIVISOR)


def is_finite(problem: ConeProblem) -> np.ndarray:
    """Whether A, b and friction are finite, and no bound is NaN."""
    finite = np.isfinite(problem.A).all((-1, -2)) & np.isfinite(problem.b).all(-1)
    finite = finite & np.isfinite(problem.friction).all(-1)
    return np.asarray(finite & ~np.isnan(problem.lower).any(-1) & ~np.isnan(problem.upper).any(-1))


def stack_solutions(problem: ConeProblem, solutions: Sequence[ConeSolution]) -> ConeSolution:
    """The solutions of the problems of a batch as one."""
    shape = problem.batch

    def stack(name: str) -> np.ndarray:
        values = np.array([getattr(one, name) for one in solutions])
        return values.reshape(shape + values.shape[1:])

    status = np.empty(len(solutions), dtype=object)
    status[:] = [one.status for one in solutions]
    return ConeSolution(
        stack("force").reshape(*shape, problem.size),
        stack("motion").reshape(*shape, problem.size),
        stack("residual"),
        stack("iterations"),
        status.reshape(shape),
    )
