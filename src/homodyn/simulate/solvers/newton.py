"""Newton's method on the law itself: which rows stick, slide or are open follows from each guess.

The natural residual F(f) = f - P(f - w / r) is piecewise smooth (Alart and Curnier 1991); a Newton
step solves the equations of the modes that hold at the guess. It ends at rounding error after a few
steps, one when the modes of the guess are right. Where a step does not bring the residual down,
sweeps of Gauss-Seidel find better modes.
"""

from __future__ import annotations

from math import hypot

import numpy as np

from homodyn.simulate.solvers.cone_problem import (
    MIN_DIVISOR,
    ConeProblem,
    ConeSolution,
    ConeStatus,
    absolute_tolerance,
    is_finite,
    row_scales,
    violations,
)
from homodyn.simulate.solvers.consistency import is_contradictory
from homodyn.simulate.solvers.gauss_seidel import inverse_scales
from homodyn.spatial import Array

INITIAL_SWEEPS = 8
"""Of Gauss-Seidel at the start without a guess, doubled whenever Newton's method is stuck."""
MAX_SWEEPS = 128


def newton(
    problem: ConeProblem,
    *,
    start: Array | None = None,
    steps: int = 60,
    tolerance: float = 1e-10,
) -> ConeSolution:
    """Forces by Newton's method with round friction cones, for numbers.

    ``steps`` bounds Newton steps and rounds of sweeps together. Forces of rows that depend on each
    other are not unique; each step is the shortest one.
    """
    if problem.batch:
        return _solve_each(problem, start, steps, tolerance)
    if not is_finite(problem):
        none = np.full(problem.size, np.nan)
        return ConeSolution(none, none, np.inf, 0, ConeStatus.INVALID)
    allowed = float(absolute_tolerance(problem, tolerance))
    scales = np.array(row_scales(problem), float)
    fresh = start is None or not np.isfinite(start).all()
    force = np.zeros(problem.size) if fresh else np.array(start, float)
    sweeps = INITIAL_SWEEPS
    if fresh:
        force = _sweep(problem, force, sweeps)
    left = _violation(problem, force, scales)
    best, best_left = force, _largest(left)
    taken = 0
    while best_left > allowed and taken < steps:
        taken += 1
        step = _step(problem, force, left / scales, scales)
        norm = np.linalg.norm(left)
        for fraction in (1.0, 0.5, 0.25, 0.0625):
            tried = force + fraction * step
            tried_left = _violation(problem, tried, scales)
            if np.linalg.norm(tried_left) < (1 - 0.1 * fraction) * norm:
                force, left = tried, tried_left
                break
        else:
            # Sweeps may raise the residual on the way to other modes: go on from there.
            force = _sweep(problem, force, sweeps)
            left = _violation(problem, force, scales)
            sweeps = min(2 * sweeps, MAX_SWEEPS)
        if _largest(left) < best_left:
            best, best_left = force, _largest(left)
        elif not np.isfinite(left).all():
            force, left = best, _violation(problem, best, scales)
    if best_left <= allowed:
        status = ConeStatus.SOLVED
    else:
        status = ConeStatus.INCONSISTENT if is_contradictory(problem) else ConeStatus.UNSOLVED
    return ConeSolution(best, problem.A @ best + problem.b, best_left, taken, status)


def _largest(left: np.ndarray) -> float:
    return float(np.abs(left).max(initial=0.0))


def _violation(problem: ConeProblem, f: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """`violations` of one problem in numbers, without a loop over rows."""
    if any(len(cone) == 2 for cone in problem.cones):
        return np.asarray(violations(problem, f))
    wished = f - (problem.A @ f + problem.b) / scales
    reached = np.minimum(np.maximum(wished, problem.lower), problem.upper)
    if problem.cones:
        rows = np.array(problem.cones)
        n, tangents = rows[:, 0], rows[:, 1:]
        reached[n] = np.maximum(wished[n], 0.0)
        y = wished[tangents]
        radius = problem.friction * np.maximum(f[n], 0.0)
        size = np.maximum(np.sqrt((y * y).sum(1)), MIN_DIVISOR)
        reached[tangents] = y * np.minimum(1.0, radius / size)[:, None]
    return scales * (f - reached)


def _sweep(problem: ConeProblem, force: np.ndarray, sweeps: int) -> np.ndarray:
    """`swept` of one problem in plain numbers, many times."""
    f, A, b = force.copy(), problem.A, problem.b
    inverse = [float(x) for x in inverse_scales(problem)]
    bounds = [(i, float(problem.lower[i]), float(problem.upper[i])) for i in problem.bounded]
    cones = list(zip(problem.cones, problem.friction.tolist(), strict=True))
    for _ in range(sweeps):
        for i, low, high in bounds:
            f[i] = min(max(f[i] - (A[i] @ f + b[i]) * inverse[i], low), high)
        for (n, *tangents), mu in cones:
            f[n] = max(0.0, f[n] - (A[n] @ f + b[n]) * inverse[n])
            wished = [f[t] - (A[t] @ f + b[t]) * inverse[t] for t in tangents]
            share = min(1.0, mu * f[n] / max(hypot(*wished), MIN_DIVISOR))
            for t, x in zip(tangents, wished, strict=True):
                f[t] = share * x
    return f


def _step(problem: ConeProblem, f: np.ndarray, F: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The shortest d with F'(f) d = -F(f) in the sense of least squares."""
    J = generalized_jacobian(problem, f, scales)
    d: np.ndarray = np.linalg.lstsq(J, -F, rcond=1e-12)[0]
    return d


def generalized_jacobian(problem: ConeProblem, f: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """dF/df with the modes that hold at f."""
    A, m = problem.A, problem.size
    wished = f - (A @ f + problem.b) / scales
    J = np.eye(m)
    moving = A / scales[:, None]
    for i in problem.bounded:
        if problem.lower[i] < wished[i] < problem.upper[i]:
            J[i] = moving[i]
    for k, (n, *tangents) in enumerate(problem.cones):
        if wished[n] > 0:
            J[n] = moving[n]
        radius = problem.friction[k] * max(f[n], 0.0)
        y = wished[tangents]
        size = float(np.linalg.norm(y))
        if size <= radius and radius > 0:
            J[tangents] = moving[tangents]
        elif radius > 0:
            along = y / size
            turned = (np.eye(len(y)) - np.outer(along, along)) * (radius / size)
            J[tangents] -= turned @ (np.eye(m)[tangents] - moving[tangents])
            J[tangents, n] -= problem.friction[k] * along
    return J


def _solve_each(
    problem: ConeProblem, start: Array | None, steps: int, tolerance: float
) -> ConeSolution:
    """One problem of a batch after the other."""
    shape = (*problem.batch, problem.size)
    guesses = None if start is None else np.broadcast_to(start, shape)
    force, motion = np.empty(shape), np.empty(shape)
    left, taken = np.empty(problem.batch), np.empty(problem.batch, int)
    status = np.empty(problem.batch, dtype=object)
    for place in np.ndindex(problem.batch):
        guess = None if guesses is None else guesses[place]
        one = newton(problem.element(place), start=guess, steps=steps, tolerance=tolerance)
        force[place], motion[place], left[place] = one.force, one.motion, one.residual
        taken[place], status[place] = one.iterations, one.status
    return ConeSolution(force, motion, left, taken, status)
