"""Activations of muscles whose force is not linear in the activation, as with compliant tendons.

The forces are linearized at the activations of the round before, and the convex programs are solved
again until activations no longer change: sequential quadratic programming. At the end, torques and
gradients are those of the forces themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from homodyn.muscle.redundancy.frame_solver import (
    OPTIMALITY_TOLERANCE,
    SharingSolution,
    solve_frames,
)
from homodyn.muscle.redundancy.sharing_problem import SharingProblem

MAX_ROUNDS = 60
"""Largest number of linearizations."""
CHANGE_TOLERANCE = 1e-7
"""Change of activations at which the rounds end."""
ACTIVATION_STEP = 1e-5
"""Of the differences that give the derivative of forces by activations."""
MIN_STEP_FRACTION = 0.05
"""Smallest part of a step that is taken where activations oscillate."""
MAX_COMPLIANT_RESIDUAL = 1e-4
"""Residual of torques, relative to the strongest muscle, at which a frame is solved."""

ForceFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Forces (rows, muscles), N, of activations (rows, muscles) in frames (rows,)."""


def solve_compliant(
    problem: SharingProblem, arms: np.ndarray, forces: ForceFunction
) -> SharingSolution:
    """Activations and reserves with forces that are any smooth functions of the activations.

    Args:
        problem: Bounds and costs; its loads are the torques that all forces produce, and its
            torques those of a first guess.
        arms: (frames, muscles, coordinates), m.
        forces: The forces; those of a muscle depend on its own activation.

    Returns:
        The solution; ``solved`` refers to the forces themselves.
    """
    activations = solve_frames(problem).activations.copy()
    frames = np.arange(len(activations))
    fraction, before = np.ones((len(activations), 1)), np.zeros_like(activations)
    rounds = np.zeros(len(activations), dtype=int)
    moving = frames
    for _ in range(MAX_ROUNDS):
        linear = _linearize(problem, arms, forces, activations, moving)
        change = solve_frames(linear).activations - activations[moving]
        # A change against the one before is an oscillation: half the step.
        turning = (change * before[moving]).sum(axis=1, keepdims=True) < 0
        part = np.where(
            turning, np.maximum(0.5 * fraction[moving], MIN_STEP_FRACTION), fraction[moving]
        )
        activations[moving] += part * change
        rounds[moving] += 1
        fraction[moving], before[moving] = part, change
        moving = moving[np.abs(change).max(axis=1) > CHANGE_TOLERANCE]
        if not len(moving):
            break
    linear = _linearize(problem, arms, forces, activations, frames)
    return _assess(linear, solve_frames(linear), arms, forces, problem, rounds)


def _linearize(
    problem: SharingProblem,
    arms: np.ndarray,
    forces: ForceFunction,
    activations: np.ndarray,
    frames: np.ndarray,
) -> SharingProblem:
    """The problem of some frames with forces that are linear in the change of activations."""
    lower = np.maximum(activations[frames] - ACTIVATION_STEP, problem.lower)
    upper = np.minimum(activations[frames] + ACTIVATION_STEP, problem.upper)
    low, high = forces(lower, frames), forces(upper, frames)
    slopes = (high - low) / (upper - lower)
    part = problem.take(frames)
    return replace(
        part,
        torques=slopes[:, :, None] * arms[frames],
        loads=part.loads - np.einsum("fmc,fm->fc", arms[frames], low - slopes * lower),
    )


def _assess(
    linear: SharingProblem,
    solution: SharingSolution,
    arms: np.ndarray,
    forces: ForceFunction,
    problem: SharingProblem,
    rounds: np.ndarray,
) -> SharingSolution:
    """Residuals of the forces themselves, instead of those of the linear ones."""
    everywhere = np.arange(len(arms))
    produced = np.einsum("fmc,fm->fc", arms, forces(solution.activations, everywhere))
    missing = problem.loads - produced
    reserves = np.where(problem.strength > 0, solution.reserves, missing)
    error = produced + solution.reserves - problem.loads
    relative = np.abs(error / linear.scales).max(axis=1)
    solved = (relative < MAX_COMPLIANT_RESIDUAL) & (solution.optimality <= OPTIMALITY_TOLERANCE)
    return replace(
        solution,
        reserves=reserves,
        residual=np.where(solution.infeasible, solution.residual, np.abs(error).max(axis=1)),
        solved=solved & ~solution.infeasible,
        iterations=rounds,
    )
