"""Semismooth Newton method on the natural residual of the contact law.

The natural residual F(f) = f - P(f - w / r) is piecewise smooth (Alart and Curnier 1991); a Newton
step solves the equations of the modes (open, sticking, sliding) at the guess. It converges to
rounding error in a few steps, in one if the modes of the guess are right. If a step does not reduce
the residual, sweeps of Gauss-Seidel find better modes.
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
    stack_solutions,
    violations,
)
from homodyn.simulate.solvers.consistency import is_contradictory
from homodyn.simulate.solvers.gauss_seidel import inverse_scales
from homodyn.spatial import Array

INITIAL_SWEEPS = 8
"""Sweeps of Gauss-Seidel at the start without a guess, doubled whenever Newton steps fail."""
MAX_SWEEPS = 128
STEP_FRACTIONS = (1.0, 0.5, 0.25, 0.0625)
"""Fractions of a Newton step that the line search tries."""


def newton(
    problem: ConeProblem,
    *,
    start: Array | None = None,
    steps: int = 60,
    tolerance: float = 1e-10,
) -> ConeSolution:
    """Forces by Newton's method with round friction cones, for numbers.

    Forces of dependent rows are not unique; each step is the one of smallest norm.

    Args:
        problem: The problem.
        start: Initial forces, (..., m); None for zero and some sweeps.
        steps: Maximum number of Newton steps and rounds of sweeps together.
        tolerance: Residual relative to the largest entry of b.

    Returns:
        Forces with their residual and status.
    """
    if problem.batch:
        return _solve_each(problem, start, steps, tolerance)
    if not is_finite(problem):
        invalid = np.full(problem.size, np.nan)
        return ConeSolution(invalid, invalid, np.inf, 0, ConeStatus.INVALID)
    allowed = float(absolute_tolerance(problem, tolerance))
    scales = np.array(row_scales(problem), float)
    without_guess = start is None or not np.isfinite(start).all()
    force = np.zeros(problem.size) if without_guess else np.array(start, float)
    sweeps = INITIAL_SWEEPS
    if without_guess:
        force = _sweep(problem, force, sweeps)
    violation = _violation(problem, force, scales)
    best, best_residual = force, _largest(violation)
    count = 0
    while best_residual > allowed and count < steps:
        count += 1
        step = _step(problem, force, violation / scales, scales)
        norm = np.linalg.norm(violation)
        for fraction in STEP_FRACTIONS:
            trial = force + fraction * step
            trial_violation = _violation(problem, trial, scales)
            if np.linalg.norm(trial_violation) < (1 - 0.1 * fraction) * norm:
                force, violation = trial, trial_violation
                break
        else:
            # Sweeps may increase the residual on the way to other modes: continue from there.
            force = _sweep(problem, force, sweeps)
            violation = _violation(problem, force, scales)
            sweeps = min(2 * sweeps, MAX_SWEEPS)
        if _largest(violation) < best_residual:
            best, best_residual = force, _largest(violation)
        elif not np.isfinite(violation).all():
            force, violation = best, _violation(problem, best, scales)
    if best_residual <= allowed:
        status = ConeStatus.SOLVED
    else:
        status = ConeStatus.INCONSISTENT if is_contradictory(problem) else ConeStatus.UNSOLVED
    return ConeSolution(best, problem.A @ best + problem.b, best_residual, count, status)


def _largest(violation: np.ndarray) -> float:
    return float(np.abs(violation).max(initial=0.0))


def _violation(problem: ConeProblem, f: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """`violations` of one problem in numbers, without a loop over rows."""
    if any(len(cone) == 2 for cone in problem.cones):
        return np.asarray(violations(problem, f))
    target = f - (problem.A @ f + problem.b) / scales
    projected = np.minimum(np.maximum(target, problem.lower), problem.upper)
    if problem.cones:
        rows = np.array(problem.cones)
        n, tangents = rows[:, 0], rows[:, 1:]
        projected[n] = np.maximum(target[n], 0.0)
        y = target[tangents]
        radius = problem.friction * np.maximum(f[n], 0.0)
        size = np.maximum(np.sqrt((y * y).sum(1)), MIN_DIVISOR)
        projected[tangents] = y * np.minimum(1.0, radius / size)[:, None]
    return scales * (f - projected)


def _sweep(problem: ConeProblem, force: np.ndarray, sweeps: int) -> np.ndarray:
    """Several sweeps of `gauss_seidel` for one problem in Python numbers."""
    f, A, b = force.copy(), problem.A, problem.b
    inverse = [float(x) for x in inverse_scales(problem)]
    bounds = [(i, float(problem.lower[i]), float(problem.upper[i])) for i in problem.bounded]
    cones = list(zip(problem.cones, problem.friction.tolist(), strict=True))
    for _ in range(sweeps):
        for i, low, high in bounds:
            f[i] = min(max(f[i] - (A[i] @ f + b[i]) * inverse[i], low), high)
        for (n, *tangents), mu in cones:
            f[n] = max(0.0, f[n] - (A[n] @ f + b[n]) * inverse[n])
            targets = [f[t] - (A[t] @ f + b[t]) * inverse[t] for t in tangents]
            scale = min(1.0, mu * f[n] / max(hypot(*targets), MIN_DIVISOR))
            for t, x in zip(tangents, targets, strict=True):
                f[t] = scale * x
    return f


def _step(problem: ConeProblem, f: np.ndarray, F: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """The d of smallest norm with F'(f) d = -F(f) in the sense of least squares."""
    J = generalized_jacobian(problem, f, scales)
    d: np.ndarray = np.linalg.lstsq(J, -F, rcond=1e-12)[0]
    return d


def generalized_jacobian(problem: ConeProblem, f: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """dF/df in the modes at f."""
    A, m = problem.A, problem.size
    target = f - (A @ f + problem.b) / scales
    J = np.eye(m)
    scaled = A / scales[:, None]
    for i in problem.bounded:
        if problem.lower[i] < target[i] < problem.upper[i]:
            J[i] = scaled[i]
    for k, (n, *tangents) in enumerate(problem.cones):
        if target[n] > 0:
            J[n] = scaled[n]
        radius = problem.friction[k] * max(f[n], 0.0)
        y = target[tangents]
        size = float(np.linalg.norm(y))
        if size <= radius and radius > 0:
            J[tangents] = scaled[tangents]
        elif radius > 0:
            along = y / size
            across = (np.eye(len(y)) - np.outer(along, along)) * (radius / size)
            J[tangents] -= across @ (np.eye(m)[tangents] - scaled[tangents])
            J[tangents, n] -= problem.friction[k] * along
    return J


def _solve_each(
    problem: ConeProblem, start: Array | None, steps: int, tolerance: float
) -> ConeSolution:
    """Solve the problems of a batch one after the other."""
    shape = (*problem.batch, problem.size)
    guesses = None if start is None else np.broadcast_to(start, shape)
    solutions = [
        newton(
            problem.element(place),
            start=None if guesses is None else guesses[place],
            steps=steps,
            tolerance=tolerance,
        )
        for place in np.ndindex(problem.batch)
    ]
    return stack_solutions(problem, solutions)
