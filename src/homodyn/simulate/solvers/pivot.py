"""Exact solution by pivoting: bounds and polyhedral friction cones as one Lemke problem.

Free rows are eliminated, bounds become pairs of complementary variables, and friction takes
directions d_k with forces beta_k and a slip speed gamma (Stewart and Trinkle 1996, Anitescu and
Potra 1997):

    beta_k >= 0  against  d_k . w_t + gamma >= 0,      gamma >= 0  against  mu f_n - sum beta >= 0

A round cone is met by turning one direction of each sliding contact against its slip until they
agree: the pyramid touches the cone there, and elsewhere lies inside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.simulate.solvers.cone_problem import (
    ConeProblem,
    ConeSolution,
    ConeStatus,
    absolute_tolerance,
    is_finite,
    residual,
)
from homodyn.simulate.solvers.consistency import is_contradictory
from homodyn.simulate.solvers.lemke import lemke
from homodyn.simulate.solvers.newton import newton

MAX_TURNS = 30
"""Times the directions of sliding contacts are turned at most."""


def pivot(
    problem: ConeProblem,
    *,
    facets: int = 4,
    round_cones: bool = True,
    pivots: int | None = None,
    tolerance: float = 1e-9,
) -> ConeSolution:
    """Forces by Lemke's algorithm, for numbers.

    With ``round_cones`` false cones with two tangents are pyramids of ``facets`` directions, the
    first along the first tangent, inscribed in the round cone; the residual, which measures against
    round cones, then tells the difference and the status only whether pivoting succeeded.
    """
    if facets < 3:
        raise ValueError("a pyramid has at least 3 facets")
    if problem.batch:
        ones = [
            pivot(
                problem.element(place),
                facets=facets,
                round_cones=round_cones,
                pivots=pivots,
                tolerance=tolerance,
            )
            for place in np.ndindex(problem.batch)
        ]
        return _stack_solutions(problem, ones)
    if not is_finite(problem):
        none = np.full(problem.size, np.nan)
        return ConeSolution(none, none, np.inf, 0, ConeStatus.INVALID)
    allowed = float(absolute_tolerance(problem, tolerance))
    angles = np.zeros(len(problem.cones))
    taken = 0
    for _ in range(MAX_TURNS if round_cones else 1):
        force, used, failed = _pyramid(problem, angles, facets, pivots)
        taken += used
        if failed is not None:
            return _failure(problem, failed, taken, tolerance)
        left = float(residual(problem, force))
        if left <= allowed or not round_cones:
            break
        motion = problem.A @ force + problem.b
        turned = angles.copy()
        for k, (_, *tangents) in enumerate(problem.cones):
            slip = motion[tangents]
            if len(tangents) == 2 and np.linalg.norm(slip) > allowed:
                turned[k] = np.arctan2(-slip[1], -slip[0])
        if np.abs(np.angle(np.exp(1j * (turned - angles)))).max(initial=0.0) < 1e-13:
            break
        angles = turned
    if left > allowed and round_cones:
        # The modes are known by now; what is left is rounding, or directions that turn slowly.
        polished = newton(problem, start=force, steps=12, tolerance=tolerance)
        if polished.residual < left:
            force, left = polished.force, float(polished.residual)
        taken += int(polished.iterations)
    met = left <= allowed or not round_cones
    status = ConeStatus.SOLVED if met else ConeStatus.UNSOLVED
    return ConeSolution(force, problem.A @ force + problem.b, left, taken, status)


@dataclass(frozen=True)
class _Standard:
    """force = offset + spread z, and rows of w that complement z: w_rows = pick (A force + b) + ...

    ``extra`` holds what stands beside it: slip speeds and bounds.
    """

    spread: np.ndarray
    offset: np.ndarray
    M: np.ndarray
    q: np.ndarray


def _pyramid(
    problem: ConeProblem, angles: np.ndarray, facets: int, pivots: int | None
) -> tuple[np.ndarray, int, ConeStatus | None]:
    """Forces with pyramids in these directions, the pivots it took, and what went wrong."""
    A, b, m = problem.A, problem.b, problem.size
    free = [
        i
        for i in problem.bounded
        if np.isneginf(problem.lower[i]) and np.isposinf(problem.upper[i])
    ]
    standard = _standard(problem, angles, facets, free)
    solved = lemke(standard.M, standard.q, pivots=pivots)
    if solved.z is None:
        failed = ConeStatus.INCONSISTENT if solved.finished else ConeStatus.UNSOLVED
        return np.zeros(m), solved.pivots, failed
    force = standard.offset + standard.spread @ solved.z
    if free:
        unmet = np.abs(A[free] @ force + b[free]).max()
        if unmet > 1e-7 * max(np.abs(b).max(), 1e-300):
            return np.zeros(m), solved.pivots, ConeStatus.INCONSISTENT
    return force, solved.pivots, None


def _standard(problem: ConeProblem, angles: np.ndarray, facets: int, free: list[int]) -> _Standard:
    A, b, m = problem.A, problem.b, problem.size
    columns: list[np.ndarray] = []  # how each z_k acts on the forces
    picks: list[np.ndarray] = []  # which combination of w complements it
    offset = np.zeros(m)
    coupled: list[tuple[int, int, float]] = []  # entries of M beside A
    constant: list[float] = []

    def variable(column: np.ndarray, pick: np.ndarray, value: float = 0.0) -> int:
        columns.append(column)
        picks.append(pick)
        constant.append(value)
        return len(columns) - 1

    unit, none = np.eye(m), np.zeros(m)
    for i in problem.bounded:
        low, high = problem.lower[i], problem.upper[i]
        if i in free:
            continue
        sign, offset[i] = (1.0, low) if np.isfinite(low) else (-1.0, high)
        x = variable(sign * unit[i], sign * unit[i])
        if np.isfinite(low) and np.isfinite(high):
            y = variable(none, none, high - low)
            coupled += [(x, y, 1.0), (y, x, -1.0)]
    for k, (n, *tangents) in enumerate(problem.cones):
        normal = variable(unit[n], unit[n])
        if problem.friction[k] == 0:
            continue
        if len(tangents) == 1:
            ways = [unit[tangents[0]], -unit[tangents[0]]]
        else:
            turns = angles[k] + 2 * np.pi * np.arange(facets) / facets
            ways = [np.cos(a) * unit[tangents[0]] + np.sin(a) * unit[tangents[1]] for a in turns]
        beta = [variable(way, way) for way in ways]
        slip = variable(none, none)
        coupled += [(k_beta, slip, 1.0) for k_beta in beta]
        coupled += [(slip, k_beta, -1.0) for k_beta in beta]
        coupled.append((slip, normal, float(problem.friction[k])))
    D = np.array(columns).reshape(len(columns), m).T
    E = np.array(picks).reshape(len(picks), m)
    if free:
        # f_free = -A_ff^+ (b_f + A_f f): free rows follow the others.
        back = -np.linalg.pinv(A[np.ix_(free, free)], rcond=1e-12)
        D[free] = back @ (A[free] @ D)
        offset[free] = back @ (b[free] + A[free] @ offset)
    M = E @ A @ D
    for i, j, value in coupled:
        M[i, j] += value
    q = E @ (A @ offset + b) + np.array(constant)
    return _Standard(D, offset, M, q)


def _failure(
    problem: ConeProblem, failed: ConeStatus, taken: int, tolerance: float
) -> ConeSolution:
    """No forces, and why; a ray that rounding led to is no contradiction."""
    if failed is ConeStatus.INCONSISTENT and not is_contradictory(problem):
        rescued = newton(problem, tolerance=tolerance)
        if rescued.status is ConeStatus.SOLVED:
            return ConeSolution(
                rescued.force,
                rescued.motion,
                rescued.residual,
                taken + int(rescued.iterations),
                ConeStatus.SOLVED,
            )
        failed = ConeStatus.UNSOLVED
    force = np.zeros(problem.size)
    return ConeSolution(force, problem.b, float(residual(problem, force)), taken, failed)


def _stack_solutions(problem: ConeProblem, ones: list[ConeSolution]) -> ConeSolution:
    shape = problem.batch

    def gathered(name: str) -> np.ndarray:
        values = np.array([getattr(one, name) for one in ones])
        return values.reshape(shape + values.shape[1:])

    status = np.empty(len(ones), dtype=object)
    status[:] = [one.status for one in ones]
    return ConeSolution(
        gathered("force").reshape(*shape, problem.size),
        gathered("motion").reshape(*shape, problem.size),
        gathered("residual"),
        gathered("iterations"),
        status.reshape(shape),
    )
