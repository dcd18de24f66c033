"""Projected Gauss-Seidel: one row or contact after the other, each put right given the others.

Fixed work a sweep and no branches, so over symbols a number of sweeps becomes part of a kernel.
Converges for positive semidefinite A, slowly where masses differ much; started from the forces of
the step before, a few sweeps do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from homodyn.simulate.solvers.cone_problem import (
    ConeProblem,
    ConeSolution,
    ConeStatus,
    absolute_tolerance,
    clip,
    is_finite,
    join_entries,
    maximum,
    project_on_disc,
    residual,
    row_scales,
)
from homodyn.simulate.solvers.consistency import is_contradictory
from homodyn.spatial import Array, is_symbolic

SWEEPS_PER_CHECK = 10
"""Sweeps between looks at the residual."""


def gauss_seidel(
    problem: ConeProblem,
    *,
    start: Array | None = None,
    sweeps: int = 1000,
    tolerance: float = 1e-10,
) -> ConeSolution:
    """Forces by projected Gauss-Seidel with round friction cones.

    Over numbers it sweeps until every problem of the batch is within ``tolerance`` (relative to the
    largest entry of b) or ``sweeps`` are done; over symbols it does exactly ``sweeps``, and the
    residual tells how far that came.
    """
    if problem.symbolic:
        found = ca.SX.zeros(problem.size) if start is None else ca.SX(start)
        found = _repeat_sweeps(problem, found, sweeps)
        motion = join_entries(problem, problem.motion(problem.entries(found)))
        return ConeSolution(found, motion, residual(problem, found), sweeps, None)
    fine = is_finite(problem)
    shape = (*problem.batch, problem.size)
    now = np.zeros(shape) if start is None else np.broadcast_to(start, shape)
    entries: list[Any] = list(np.moveaxis(np.where(np.isfinite(now), now, 0.0), -1, 0))
    allowed = absolute_tolerance(problem, tolerance)
    done = 0
    iterations = np.zeros(problem.batch, int)
    left = residual(problem, join_entries(problem, entries))
    inverse = inverse_scales(problem)
    with np.errstate(invalid="ignore", over="ignore"):
        while done < sweeps and np.any(fine & (left > allowed)):
            going = fine & (left > allowed)
            for _ in range(min(SWEEPS_PER_CHECK, sweeps - done)):
                moved = sweep(problem, entries, inverse)
                # A problem that is solved keeps its bits, whatever else is in the batch.
                entries = [np.where(going, a, b) for a, b in zip(moved, entries, strict=True)]
                done += 1
            iterations = np.where(going, done, iterations)
            left = residual(problem, join_entries(problem, entries))
    force = join_entries(problem, entries)
    return final_solution(problem, force, left, iterations, allowed, fine)


def inverse_scales(problem: ConeProblem) -> list[Array]:
    """1 / r of `row_scales`, as numbers to multiply with: a division costs many products."""
    if problem.symbolic:
        return [(scale > 0) / scale for scale in row_scales(problem)]
    return [1.0 / scale for scale in row_scales(problem)]


def sweep(problem: ConeProblem, force: Sequence[Array], inverse: Sequence[Array]) -> list[Array]:
    """The forces after one sweep: bounded rows first, then contact by contact."""
    f: Any = list(force) if problem.symbolic else np.array(force)
    b, m = problem.entries(problem.b), problem.size

    def moves(i: int) -> Array:
        if not problem.symbolic:
            return b[i] + np.einsum("...j,j...->...", problem.A[..., i, :], f)
        # What changed last is added last: the processor then waits for one product only.
        total = b[i]
        for j in (*range(i, m), *range(i)):
            total = total + problem.entry(i, j) * f[j]
        return total

    for i in problem.bounded:
        f[i] = clip(f[i] - moves(i) * inverse[i], *problem.bounds(i))
    for k, (n, *tangents) in enumerate(problem.cones):
        f[n] = maximum(0.0, f[n] - moves(n) * inverse[n])
        wished = [f[t] - moves(t) * inverse[t] for t in tangents]
        for t, reached in zip(
            tangents, project_on_disc(wished, problem.coefficient(k) * f[n]), strict=True
        ):
            f[t] = reached
    return list(f)


def _repeat_sweeps(problem: ConeProblem, force: ca.SX, sweeps: int) -> ca.SX:
    """Sweeps over symbols: one is traced, the rest are its graph repeated."""
    m, count = problem.size, len(problem.cones)
    A, b = ca.SX.sym("A", problem.A.sparsity()), ca.SX.sym("b", m)
    mu, f, inverse = ca.SX.sym("mu", count), ca.SX.sym("f", m), ca.SX.sym("r", m)
    sides = [ca.SX.sym("low", m), ca.SX.sym("high", m)]
    # Bounds that are numbers stay so: those at infinity cost nothing.
    own = [problem.bounds(i) for i in range(m)]
    bounds = [
        [side[i] if is_symbolic(pair[k]) else pair[k] for i, pair in enumerate(own)]
        for k, side in enumerate(sides)
    ]
    values = [
        ca.vertcat(ca.SX(0, 1), *[pair[k] if is_symbolic(pair[k]) else 0.0 for pair in own])
        for k in range(2)
    ]
    one = ConeProblem(A, b, problem.cones, mu, *bounds)
    done = join_entries(one, sweep(one, one.entries(f), one.entries(inverse)))
    graph = ca.Function("sweep", [A, b, mu, inverse, *sides, f], [done])
    coefficients = ca.vertcat(ca.SX(0, 1), *[problem.coefficient(k) for k in range(count)])
    given = [
        problem.A,
        problem.b,
        coefficients,
        join_entries(problem, inverse_scales(problem)),
        *values,
    ]
    for _ in range(sweeps):
        (force,) = graph.call([*given, force], True, False)
    return force


def final_solution(
    problem: ConeProblem,
    force: np.ndarray,
    left: Array,
    iterations: Array,
    allowed: Array,
    fine: Array,
) -> ConeSolution:
    """A solution with the status its residual earns; what was not solved is looked into."""
    motion = np.einsum("...ij,...j->...i", problem.A, force) + problem.b
    status = np.full(problem.batch, ConeStatus.UNSOLVED, dtype=object)
    status[np.asarray(left <= allowed)] = ConeStatus.SOLVED
    status[np.asarray(~fine)] = ConeStatus.INVALID
    for place in (
        zip(*np.nonzero(status == ConeStatus.UNSOLVED), strict=True) if problem.batch else ()
    ):
        if is_contradictory(problem.element(place)):
            status[place] = ConeStatus.INCONSISTENT
    if not problem.batch:
        only: Any = status[()]
        if only is ConeStatus.UNSOLVED and is_contradictory(problem):
            only = ConeStatus.INCONSISTENT
        return ConeSolution(force, motion, float(left), int(iterations), only)
    return ConeSolution(force, motion, left, iterations, status)
