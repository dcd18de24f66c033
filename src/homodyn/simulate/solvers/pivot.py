"""Solution by pivoting: bounds and polyhedral friction cones as one Lemke problem.

Free rows are eliminated, bounds become pairs of complementary variables, and friction takes
directions d_k with forces beta_k and a slip speed gamma (Stewart and Trinkle 1996, Anitescu and
Potra 1997):

    beta_k >= 0  against  d_k . w_t + gamma >= 0,      gamma >= 0  against  mu f_n - sum beta >= 0

A round cone is approximated by rotating one direction of each sliding contact against its slip
until they agree: the pyramid touches the cone there and lies inside it elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from homodyn.simulate.solvers.cone_problem import (
    ConeProblem,
    ConeSolution,
    ConeStatus,
    absolute_tolerance,
    is_finite,
    residual,
    stack_solutions,
)
from homodyn.simulate.solvers.consistency import is_contradictory
from homodyn.simulate.solvers.lemke import lemke
from homodyn.simulate.solvers.newton import newton

MAX_ROTATIONS = 30
"""Maximum number of rotations of the directions of sliding contacts."""
FIRST_REFINEMENT = 3
"""Rotations after which the modes are usually known, and Newton steps converge sooner; with forces
to start from, after one."""
MAX_NEWTON_STEPS = 12
"""Newton steps that refine the solution of round cones."""


def pivot(
    problem: ConeProblem,
    *,
    facets: int = 4,
    round_cones: bool = True,
    pivots: int | None = None,
    tolerance: float = 1e-9,
    start: np.ndarray | None = None,
) -> ConeSolution:
    """Forces by Lemke's algorithm, for numbers.

    Args:
        problem: The problem.
        facets: Directions of the friction pyramids, at least 3.
        round_cones: Whether to solve with round cones. Otherwise cones with two tangents are
            pyramids inscribed in the round cone, the first direction along the first tangent; the
            residual is then the difference to round cones.
        pivots: Maximum number of pivots; None for the default of `lemke`.
        tolerance: Residual relative to the largest entry of b.
        start: Forces, (..., m), along whose friction one direction of each pyramid is at first.

    Returns:
        Forces with their residual and status.

    Raises:
        ValueError: There are fewer than 3 facets.
    """
    if facets < 3:
        raise ValueError("a pyramid has at least 3 facets")
    if problem.batch:
        solutions = [
            pivot(
                problem.element(place),
                facets=facets,
                round_cones=round_cones,
                pivots=pivots,
                tolerance=tolerance,
                start=None if start is None else np.asarray(start)[place],
            )
            for place in np.ndindex(problem.batch)
        ]
        return stack_solutions(problem, solutions)
    if not is_finite(problem):
        invalid = np.full(problem.size, np.nan)
        return ConeSolution(invalid, invalid, np.inf, 0, ConeStatus.INVALID)
    allowed = float(absolute_tolerance(problem, tolerance))
    angles = _first_angles(problem, start if round_cones else None)
    first_refinement = FIRST_REFINEMENT if start is None else 1
    count = 0
    for rotation in range(MAX_ROTATIONS if round_cones else 1):
        force, used, failed = _pyramid(problem, angles, facets, pivots)
        count += used
        if failed is not None:
            return _failure(problem, failed, count, tolerance)
        remaining = float(residual(problem, force))
        if remaining <= allowed or not round_cones:
            break
        motion = problem.A @ force + problem.b
        rotated = angles.copy()
        for k, (_, *tangents) in enumerate(problem.cones):
            slip = motion[tangents]
            if len(tangents) == 2 and np.linalg.norm(slip) > allowed:
                rotated[k] = np.arctan2(-slip[1], -slip[0])
        if np.abs(np.angle(np.exp(1j * (rotated - angles)))).max(initial=0.0) < 1e-13:
            break
        angles = rotated
        if rotation + 1 == first_refinement:
            refined = newton(problem, start=force, steps=MAX_NEWTON_STEPS, tolerance=tolerance)
            if refined.residual <= allowed:
                return replace(refined, iterations=count + int(refined.iterations))
    if remaining > allowed and round_cones:
        # The modes are known; the residual is rounding, or directions that rotate slowly.
        refined = newton(problem, start=force, steps=MAX_NEWTON_STEPS, tolerance=tolerance)
        if refined.residual < remaining:
            force, remaining = refined.force, float(refined.residual)
        count += int(refined.iterations)
    solved = remaining <= allowed or not round_cones
    status = ConeStatus.SOLVED if solved else ConeStatus.UNSOLVED
    return ConeSolution(force, problem.A @ force + problem.b, remaining, count, status)


def _first_angles(problem: ConeProblem, start: np.ndarray | None) -> np.ndarray:
    """Angle of one direction of each pyramid: that of a given friction, or zero."""
    angles = np.zeros(len(problem.cones))
    if start is None:
        return angles
    for k, (_, *tangents) in enumerate(problem.cones):
        if len(tangents) == 2:
            along, across = start[tangents]
            angles[k] = np.arctan2(across, along)
    return angles


@dataclass(frozen=True)
class _StandardForm:
    """The complementarity problem w = M z + q, with force = offset + spread z."""

    spread: np.ndarray
    offset: np.ndarray
    M: np.ndarray
    q: np.ndarray


def _pyramid(
    problem: ConeProblem, angles: np.ndarray, facets: int, pivots: int | None
) -> tuple[np.ndarray, int, ConeStatus | None]:
    """Forces with pyramids in these directions, number of pivots, and a status after a failure."""
    A, b, m = problem.A, problem.b, problem.size
    free = [
        i
        for i in problem.bounded
        if np.isneginf(problem.lower[i]) and np.isposinf(problem.upper[i])
    ]
    form = _standard_form(problem, angles, facets, free)
    result = lemke(form.M, form.q, pivots=pivots)
    if result.z is None:
        failed = ConeStatus.INCONSISTENT if result.finished else ConeStatus.UNSOLVED
        return np.zeros(m), result.pivots, failed
    force = form.offset + form.spread @ result.z
    if free:
        violation = np.abs(A[free] @ force + b[free]).max()
        if violation > 1e-7 * max(np.abs(b).max(), 1e-300):
            return np.zeros(m), result.pivots, ConeStatus.INCONSISTENT
    return force, result.pivots, None


def _standard_form(
    problem: ConeProblem, angles: np.ndarray, facets: int, free: list[int]
) -> _StandardForm:
    A, b, m = problem.A, problem.b, problem.size
    columns: list[np.ndarray] = []  # effect of each z_k on the forces
    complements: list[np.ndarray] = []  # combination of w that complements it
    offset = np.zeros(m)
    couplings: list[tuple[int, int, float]] = []  # entries of M besides those of A
    constant: list[float] = []

    def variable(column: np.ndarray, complement: np.ndarray, value: float = 0.0) -> int:
        columns.append(column)
        complements.append(complement)
        constant.append(value)
        return len(columns) - 1

    unit, zero = np.eye(m), np.zeros(m)
    for i in problem.bounded:
        low, high = problem.lower[i], problem.upper[i]
        if i in free:
            continue
        sign, offset[i] = (1.0, low) if np.isfinite(low) else (-1.0, high)
        x = variable(sign * unit[i], sign * unit[i])
        if np.isfinite(low) and np.isfinite(high):
            y = variable(zero, zero, high - low)
            couplings += [(x, y, 1.0), (y, x, -1.0)]
    for k, (n, *tangents) in enumerate(problem.cones):
        normal = variable(unit[n], unit[n])
        if problem.friction[k] == 0:
            continue
        if len(tangents) == 1:
            directions = [unit[tangents[0]], -unit[tangents[0]]]
        else:
            turns = angles[k] + 2 * np.pi * np.arange(facets) / facets
            directions = [
                np.cos(a) * unit[tangents[0]] + np.sin(a) * unit[tangents[1]] for a in turns
            ]
        beta = [variable(direction, direction) for direction in directions]
        slip = variable(zero, zero)
        couplings += [(k_beta, slip, 1.0) for k_beta in beta]
        couplings += [(slip, k_beta, -1.0) for k_beta in beta]
        couplings.append((slip, normal, float(problem.friction[k])))
    D = np.array(columns).reshape(len(columns), m).T
    E = np.array(complements).reshape(len(complements), m)
    if free:
        # Free rows are eliminated: f_free = -A_ff^+ (b_f + A_f f).
        inverse = -np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-12)
        D[free] = inverse @ (A[free] @ D)
        offset[free] = inverse @ (b[free] + A[free] @ offset)
    M = E @ A @ D
    for i, j, value in couplings:
        M[i, j] += value
    q = E @ (A @ offset + b) + np.array(constant)
    return _StandardForm(D, offset, M, q)


def _failure(
    problem: ConeProblem, failed: ConeStatus, count: int, tolerance: float
) -> ConeSolution:
    """A solution without forces and its status; Newton's method is tried after rounding errors."""
    if failed is ConeStatus.INCONSISTENT and not is_contradictory(problem):
        solution = newton(problem, tolerance=tolerance)
        if solution.status is ConeStatus.SOLVED:
            return replace(solution, iterations=count + int(solution.iterations))
        failed = ConeStatus.UNSOLVED
    force = np.zeros(problem.size)
    return ConeSolution(force, problem.b, float(residual(problem, force)), count, failed)
