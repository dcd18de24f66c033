"""Projected Gauss-Seidel: solves one row or contact after the other, given the others.

A sweep has a fixed cost and no branches, so over symbols a number of sweeps is part of a kernel. It
converges for positive semidefinite A, slowly if masses differ much; from the forces of the step
before, a few sweeps are enough.
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
"""Sweeps between two evaluations of the residual."""


def gauss_seidel(
    problem: ConeProblem,
    *,
    start: Array | None = None,
    sweeps: int = 1000,
    tolerance: float = 1e-10,
) -> ConeSolution:
    """Forces by projected Gauss-Seidel with round friction cones.

    Args:
        problem: The problem, over numbers or symbols.
        start: Initial forces, (..., m); None for zero.
        sweeps: Maximum number of sweeps over numbers, exact number over symbols.
        tolerance: Residual relative to the largest entry of b at which sweeps over numbers end.

    Returns:
        Forces with their residual and status.
    """
    if problem.symbolic:
        force = ca.SX.zeros(problem.size) if start is None else ca.SX(start)
        force = _repeat_sweeps(problem, force, sweeps)
        motion = join_entries(problem, problem.motion(problem.entries(force)))
        return ConeSolution(force, motion, residual(problem, force), sweeps, None)
    finite = is_finite(problem)
    shape = (*problem.batch, problem.size)
    initial = np.zeros(shape) if start is None else np.broadcast_to(start, shape)
    entries: list[Any] = list(np.moveaxis(np.where(np.isfinite(initial), initial, 0.0), -1, 0))
    allowed = absolute_tolerance(problem, tolerance)
    count = 0
    iterations = np.zeros(problem.batch, int)
    remaining = residual(problem, join_entries(problem, entries))
    inverse = inverse_scales(problem)
    with np.errstate(invalid="ignore", over="ignore"):
        while count < sweeps and np.any(finite & (remaining > allowed)):
            active = finite & (remaining > allowed)
            for _ in range(min(SWEEPS_PER_CHECK, sweeps - count)):
                updated = sweep(problem, entries, inverse)
                # A solved problem keeps its bits, whatever else is in the batch.
                entries = [np.where(active, a, b) for a, b in zip(updated, entries, strict=True)]
                count += 1
            iterations = np.where(active, count, iterations)
            remaining = residual(problem, join_entries(problem, entries))
    force = join_entries(problem, entries)
    return final_solution(problem, force, remaining, iterations, allowed)


def inverse_scales(problem: ConeProblem) -> list[Array]:
    """1 / r of `row_scales`: products are much cheaper than divisions."""
    if problem.symbolic:
        return [(scale > 0) / scale for scale in row_scales(problem)]
    return [1.0 / scale for scale in row_scales(problem)]


def sweep(problem: ConeProblem, force: Sequence[Array], inverse: Sequence[Array]) -> list[Array]:
    """The forces after one sweep: bounded rows first, then contact by contact."""
    f: Any = list(force) if problem.symbolic else np.array(force)
    b, m = problem.entries(problem.b), problem.size

    def motion(i: int) -> Array:
        if not problem.symbolic:
            return b[i] + np.einsum("...j,j...->...", problem.A[..., i, :], f)
        # The force that changed last is added last: the processor then waits for one product.
        total = b[i]
        for j in (*range(i, m), *range(i)):
            total = total + problem.entry(i, j) * f[j]
        return total

    for i in problem.bounded:
        f[i] = clip(f[i] - motion(i) * inverse[i], *problem.bounds(i))
    for k, (n, *tangents) in enumerate(problem.cones):
        f[n] = maximum(0.0, f[n] - motion(n) * inverse[n])
        targets = [f[t] - motion(t) * inverse[t] for t in tangents]
        for t, projected in zip(
            tangents, project_on_disc(targets, problem.coefficient(k) * f[n]), strict=True
        ):
            f[t] = projected
    return list(f)


def _repeat_sweeps(problem: ConeProblem, force: ca.SX, sweeps: int) -> ca.SX:
    """Sweeps over symbols: one is traced and its graph repeated."""
    m, count = problem.size, len(problem.cones)
    A, b = ca.SX.sym("A", problem.A.sparsity()), ca.SX.sym("b", m)
    mu, f, inverse = ca.SX.sym("mu", count), ca.SX.sym("f", m), ca.SX.sym("r", m)
    sides = [ca.SX.sym("low", m), ca.SX.sym("high", m)]
    # Numeric bounds stay numbers: infinite ones add nothing to the graph.
    pairs = [problem.bounds(i) for i in range(m)]
    bounds = [
        [side[i] if is_symbolic(pair[k]) else pair[k] for i, pair in enumerate(pairs)]
        for k, side in enumerate(sides)
    ]
    values = [
        ca.vertcat(ca.SX(0, 1), *[pair[k] if is_symbolic(pair[k]) else 0.0 for pair in pairs])
        for k in range(2)
    ]
    copy = ConeProblem(A, b, problem.cones, mu, *bounds)
    result = join_entries(copy, sweep(copy, copy.entries(f), copy.entries(inverse)))
    graph = ca.Function("sweep", [A, b, mu, inverse, *sides, f], [result])
    coefficients = ca.vertcat(ca.SX(0, 1), *[problem.coefficient(k) for k in range(count)])
    inputs = [
        problem.A,
        problem.b,
        coefficients,
        join_entries(problem, inverse_scales(problem)),
        *values,
    ]
    for _ in range(sweeps):
        (force,) = graph.call([*inputs, force], True, False)
    return force


def final_solution(
    problem: ConeProblem, force: np.ndarray, remaining: Array, iterations: Array, allowed: Array
) -> ConeSolution:
    """A solution with its status; unsolved problems are tested for contradictions."""
    motion = np.einsum("...ij,...j->...i", problem.A, force) + problem.b
    status = np.full(problem.batch, ConeStatus.UNSOLVED, dtype=object)
    status[np.asarray(remaining <= allowed)] = ConeStatus.SOLVED
    status[np.asarray(~is_finite(problem))] = ConeStatus.INVALID
    for place in (
        zip(*np.nonzero(status == ConeStatus.UNSOLVED), strict=True) if problem.batch else ()
    ):
        if is_contradictory(problem.element(place)):
            status[place] = ConeStatus.INCONSISTENT
    if not problem.batch:
        only: Any = status[()]
        if only is ConeStatus.UNSOLVED and is_contradictory(problem):
            only = ConeStatus.INCONSISTENT
        return ConeSolution(force, motion, float(remaining), int(iterations), only)
    return ConeSolution(force, motion, remaining, iterations, status)
