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

ForceFunction = Callable[[np.ndarray], np.ndarray]
"""Forces (frames, muscles), N, of activations (frames, muscles)."""


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
    solution = solve_frames(problem)
    activations = solution.activations
    fraction, before = np.ones((len(activations), 1)), np.zeros_like(activations)
    moving = np.ones(len(activations), dtype=bool)
    rounds = np.zeros(len(activations), dtype=int)
    for _ in range(MAX_ROUNDS):
        linear = _linearize(problem, arms, forces, activations)
        solution = solve_frames(linear)
        change = solution.activations - activations
        # A change against the one before is an oscillation: half the step.
        turning = (change * before).sum(axis=1, keepdims=True) < 0
        fraction = np.where(turning, np.maximum(0.5 * fraction, MIN_STEP_FRACTION), fraction)
        activations = activations + fraction * change
        rounds += moving
        moving = np.abs(change).max(axis=1) > CHANGE_TOLERANCE
        if not moving.any():
            break
        before = change
    return _assess(linear, solution, arms, forces, problem, rounds)


def _linearize(
    problem: SharingProblem, arms: np.ndarray, forces: ForceFunction, activations: np.ndarray
) -> SharingProblem:
    """The problem with forces that are linear in the change of activations."""
    lower = np.maximum(activations - ACTIVATION_STEP, problem.lower)
    upper = np.minimum(activations + ACTIVATION_STEP, problem.upper)
    slopes = (forces(upper) - forces(lower)) / (upper - lower)
    offset = forces(activations) - slopes * activations
    return replace(
        problem,
        torques=slopes[:, :, None] * arms,
        loads=problem.loads - np.einsum("fmc,fm->fc", arms, offset),
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
    produced = np.einsum("fmc,fm->fc", arms, forces(solution.activations))
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
