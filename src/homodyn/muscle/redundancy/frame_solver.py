"""Activations and reserves of all frames, with the residuals of their optimality conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from homodyn.muscle.redundancy.sharing_problem import SharingProblem

TORQUE_TOLERANCE = 1e-7
"""Residual of torques, relative to the strongest muscle, at which a frame is solved."""
OPTIMALITY_TOLERANCE = 1e-5
"""Projected gradient, in activations, at which a frame is solved."""
SHORTAGE_COMPLIANCE = 1e-6
"""Compliance of the reserves that find the smallest missing torques, relative to that of the
strongest muscle."""
MIN_SHORTAGE = 1e-3
"""Missing torque, relative to the strongest muscle, that makes a frame infeasible."""


@dataclass(frozen=True)
class SharingSolution:
    """Activations of all frames and how well they satisfy the conditions of an optimum."""

    activations: np.ndarray
    """(frames, muscles)."""
    multipliers: np.ndarray
    """(frames, coordinates), 1/(N m): derivative of the objective by the load."""
    reserves: np.ndarray
    """(frames, coordinates), N m: torques of reserves, and missing torques without reserves."""
    residual: np.ndarray
    """(frames,), N m: largest deviation of a torque from its load."""
    optimality: np.ndarray
    """(frames,): largest step of an activation along the gradient within its bounds."""
    iterations: np.ndarray
    """(frames,)."""
    solved: np.ndarray
    """(frames,): True where residual and optimality are within the tolerances."""
    infeasible: np.ndarray
    """(frames,): True where muscles without reserves cannot produce the loads."""


Solver = Callable[[SharingProblem], SharingSolution]


def solve_frames(problem: SharingProblem) -> SharingSolution:
    """Solve every frame; frames that are infeasible get the smallest missing torques.

    Args:
        problem: Torques, bounds and costs.
    """
    scales = problem.scales
    solution = _solve(problem, (problem.strength / scales) ** 2 / 2)
    failed = np.flatnonzero(~solution.solved)
    if not len(failed) or (problem.strength > 0).all():
        return solution
    part = problem.take(failed)
    own = (part.strength / part.scales) ** 2 / 2
    least = _solve(part, np.where(part.strength > 0, own, SHORTAGE_COMPLIANCE))
    missing = np.where(part.strength > 0, 0.0, least.reserves / part.scales)
    short = np.abs(missing).max(axis=1) > MIN_SHORTAGE
    return _with_shortages(solution, least, failed[short], short)


def _with_shortages(
    solution: SharingSolution, least: SharingSolution, frames: np.ndarray, short: np.ndarray
) -> SharingSolution:
    """A solution whose infeasible frames are those with the smallest missing torques."""
    changes = {}
    for name in ("activations", "multipliers", "reserves", "optimality"):
        values = getattr(solution, name).copy()
        values[frames] = getattr(least, name)[short]
        changes[name] = values
    residual, infeasible = solution.residual.copy(), solution.infeasible.copy()
    residual[frames] = np.abs(least.reserves[short]).max(axis=1)
    infeasible[frames] = True
    return replace(solution, **changes, residual=residual, infeasible=infeasible)


def _solve(problem: SharingProblem, compliance: np.ndarray) -> SharingSolution:
    """The kernel on loads in units of the strongest muscle."""
    scales = problem.scales
    entries = problem.program.entries
    torques = (problem.torques / scales[:, None, :])[:, entries[0], entries[1]]
    activations, multipliers, iterations = problem.program.kernel()(
        torques,
        problem.loads / scales,
        compliance,
        problem.lower,
        problem.upper,
        problem.weight,
        problem.pull,
        problem.target,
    )
    produced = compliance * multipliers * scales
    return assess(problem, activations, multipliers / scales, produced, iterations)


def assess(
    problem: SharingProblem,
    activations: np.ndarray,
    multipliers: np.ndarray,
    reserves: np.ndarray,
    iterations: np.ndarray,
    coupling: np.ndarray | None = None,
) -> SharingSolution:
    """Residuals of the optimality conditions of given activations and multipliers.

    Args:
        problem: Torques, bounds and costs.
        activations: (frames, muscles).
        multipliers: (frames, coordinates), 1/(N m).
        reserves: (frames, coordinates), N m.
        iterations: (frames,).
        coupling: (frames, muscles): gradient of costs that couple frames.
    """
    error = problem.muscle_torques(activations) + reserves - problem.loads
    gradient = problem.gradient(activations) - np.einsum("fmc,fc->fm", problem.torques, multipliers)
    if coupling is not None:
        gradient = gradient + coupling
    moved = np.clip(activations - gradient, problem.lower, problem.upper)
    optimality = np.abs(moved - activations).max(axis=1)
    relative = np.abs(error / problem.scales).max(axis=1)
    solved = (relative <= TORQUE_TOLERANCE) & (optimality <= OPTIMALITY_TOLERANCE)
    missing = problem.loads - problem.muscle_torques(activations)
    return SharingSolution(
        activations=np.clip(activations, problem.lower, problem.upper),
        multipliers=multipliers,
        reserves=np.where(problem.strength > 0, reserves, missing),
        residual=np.abs(error).max(axis=1),
        optimality=optimality,
        iterations=iterations.astype(int),
        solved=solved,
        infeasible=np.zeros(len(solved), dtype=bool),
    )
