"""Jerk-penalized fit of a whole trajectory: one banded least-squares problem over all frames.

The objective is the marker objective of all frames plus 1/2 sum_i c_i |jerk_i|^2 over the third
differences of the coordinates. With the stiffness h of a coordinate (the median diagonal of the
normal matrices), c = h / (2 pi f)^6 makes f the frequency at which the response is one half, with
a slope of 36 dB per octave beyond.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from homodyn.capture.filters.pose_derivatives import pose_differences
from homodyn.capture.kinematics.least_squares import MarkerProblem, PoseEstimate
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.model.configuration import difference, integrate, plain_entries
from homodyn.model.model_cache import ModelCache
from homodyn.symbolic import Kernel, jacobian, kernel

JERK_ORDER = 3
"""Order of the penalized derivative."""
SMOOTHING_TOLERANCE = 1e-7
"""Largest entry of the last step (rad, m)."""
MAX_SMOOTHING_ITERATIONS = 60
MAX_LIMIT_PASSES = 4
"""Times that a step is solved again because of limits."""
MIN_DAMPING = 1e-9
"""Smallest damping, as a share of the largest stiffness."""


def smooth_trajectory(
    problem: MarkerProblem, fitted: PoseEstimate, rate: float, cutoff: float
) -> PoseEstimate:
    """The trajectory that minimizes marker errors and jerk, from poses fitted frame by frame.

    Levenberg-Marquardt on all frames together; each step is one factorization of a sparse banded
    matrix, or a few where coordinates reach their limits.

    Args:
        problem: Targets, weights and limits of all frames.
        fitted: The result of a fit frame by frame.
        rate: Frames per second (Hz).
        cutoff: Frequency (Hz) at which the response is one half.

    Raises:
        CaptureError: The cutoff is not below half the rate, or there are too few frames.
    """
    if not 0 < cutoff < rate / 2:
        raise CaptureError(
            f"smooth is {cutoff:g} Hz; a frequency above 0 and below half the rate of the frames, "
            f"{rate / 2:g} Hz, is expected"
        )
    if problem.frames <= JERK_ORDER:
        raise CaptureError(f"smoothing needs more than {JERK_ORDER} frames, got {problem.frames}")
    model = problem.model
    matrices, _, _ = problem.equations(fitted.q)
    stiffness = np.median(np.diagonal(matrices, axis1=1, axis2=2), axis=0)
    penalty = stiffness * (rate / (2 * np.pi * cutoff)) ** (2 * JERK_ORDER)
    min_damping = MIN_DAMPING * float(stiffness.max())
    q, damping, converged = problem.clamp_to_limits(fitted.q), min_damping, False
    pinned = np.zeros((problem.frames, model.nv), dtype=int)
    for _ in range(MAX_SMOOTHING_ITERATIONS):
        equations = _equations(problem, q, penalty)
        while True:
            step, pinned = _step(problem, q, equations, damping, pinned)
            candidate = problem.clamp_to_limits(integrate(model, q, step))
            accepted = _objective(problem, candidate, penalty) <= equations.cost * (1 + 1e-13)
            if accepted or damping > 1e9 * min_damping:
                break
            damping = 10 * damping
        q = candidate
        damping = max(damping / 10, min_damping)
        if np.abs(step).max() < SMOOTHING_TOLERANCE:
            converged = True
            break
    cost = problem.equations(q)[2]
    all_converged = np.full(problem.frames, converged)
    return PoseEstimate(q, cost, fitted.iterations, all_converged, pinned != 0)


@dataclass(frozen=True)
class BandedEquations:
    """Normal equations of a trajectory: ``blocks[o][f]`` couples the frames f and f + o."""

    blocks: list[np.ndarray]
    descent: np.ndarray
    """(frames, nv)."""
    cost: float

    def multiply(self, step: np.ndarray) -> np.ndarray:
        """The product of the matrix with steps (frames, nv)."""
        result = np.einsum("fij,fj->fi", self.blocks[0], step)
        for offset, block in enumerate(self.blocks[1:], 1):
            result[:-offset] += np.einsum("fij,fj->fi", block, step[offset:])
            result[offset:] += np.einsum("fij,fi->fj", block, step[:-offset])
        return result

    def solve(self, right: np.ndarray, moving: np.ndarray, damping: float) -> np.ndarray:
        """Damped steps of the moving coordinates; zero for the others."""
        frames, size = right.shape
        rows, columns, entries = [], [], []
        for offset, block in enumerate(self.blocks):
            count = frames - offset
            kept = np.where(moving[:count, :, None] & moving[offset:, None, :], block, 0.0)
            if not offset:
                index = np.arange(size)
                kept[:, index, index] += np.where(moving, damping, 1.0)
            f, i, j = np.nonzero(kept)
            pair = [f * size + i, (f + offset) * size + j]
            for row, column in (pair, pair[::-1])[: 2 if offset else 1]:
                rows.append(row)
                columns.append(column)
                entries.append(kept[f, i, j])
        indices = (np.concatenate(rows), np.concatenate(columns))
        matrix = csc_matrix((np.concatenate(entries), indices), shape=(frames * size,) * 2)
        # SuperLU uses no BLAS threads, which would slow down bands as narrow as these.
        factor = splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return factor.solve(np.where(moving, right, 0.0).ravel()).reshape(frames, size)


def _objective(problem: MarkerProblem, q: np.ndarray, penalty: np.ndarray) -> float:
    cost = problem.equations(q)[2].sum()
    jerk = np.diff(pose_differences(problem.model, q[:-1], q[1:]), n=JERK_ORDER - 1, axis=0)
    return float(cost + 0.5 * np.sum(penalty * jerk**2))


def _equations(problem: MarkerProblem, q: np.ndarray, penalty: np.ndarray) -> BandedEquations:
    frames = problem.frames
    matrices, descent, costs = problem.equations(q)
    moves, by_first, by_second = _difference_jacobians(problem.model, q)
    taps = _difference_coefficients(JERK_ORDER - 1)
    jerk = sum(tap * moves[k : k + frames - JERK_ORDER] for k, tap in enumerate(taps))
    parts = _jerk_blocks(by_first, by_second, taps, frames)
    size, count = problem.model.nv, frames - JERK_ORDER
    blocks = [matrices, *(np.zeros((frames - o, size, size)) for o in range(1, JERK_ORDER + 1))]
    for a, left in enumerate(parts):
        weighted = left.transpose(0, 2, 1) * penalty
        descent[a : a + count] -= np.einsum("fik,fk->fi", weighted, jerk)
        for b in range(a, JERK_ORDER + 1):
            blocks[b - a][a : a + count] += weighted @ parts[b]
    total = float(costs.sum() + 0.5 * np.sum(penalty * jerk**2))
    return BandedEquations(blocks, descent, total)


def _step(
    problem: MarkerProblem,
    q: np.ndarray,
    equations: BandedEquations,
    damping: float,
    pinned: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Step of all frames within the limits, and the active limits: -1 lower, 1 upper.

    Primal-dual active set method for a quadratic problem with bounds (Hintermueller, Ito and
    Kunisch 2003): solve for the free coordinates, pin those that pass a limit, release those that
    move away from one, until the active set stays. ``pinned`` is the first guess of the set.
    """
    entries, positions = plain_entries(problem.model)
    low, high = (np.full((len(q), problem.model.nv), x) for x in (-np.inf, np.inf))
    low[:, entries] = problem.lower[entries] - q[:, positions]
    high[:, entries] = problem.upper[entries] - q[:, positions]
    free = problem.free > 0
    descent = equations.descent
    for _ in range(MAX_LIMIT_PASSES):
        known = np.where(pinned < 0, low, np.where(pinned > 0, high, 0.0))
        right = descent - equations.multiply(known) if known.any() else descent
        moving = free & (pinned == 0)
        step = np.where(moving, equations.solve(right, moving, damping), known)
        multiplier = descent - equations.multiply(step)
        still_active = np.where(pinned * multiplier > 0, pinned, 0)
        beyond = np.where(step < low, -1, np.where(step > high, 1, 0))
        active = np.where(moving, beyond, np.where(free, still_active, 0))
        if np.array_equal(active, pinned):
            break
        pinned = active
    return np.clip(step, low, high), pinned


def _difference_coefficients(order: int) -> np.ndarray:
    """Coefficients of a forward difference, oldest first."""
    taps = np.ones(1)
    for _ in range(order):
        taps = np.convolve(taps, [-1.0, 1.0])
    return taps


def _jerk_blocks(
    by_first: np.ndarray, by_second: np.ndarray, taps: np.ndarray, frames: int
) -> list[np.ndarray]:
    """Derivatives of each jerk by the poses of its frames, (frames - order, nv, nv) each."""
    count = frames - JERK_ORDER
    size = by_first.shape[-1]
    parts = [np.zeros((count, size, size)) for _ in range(JERK_ORDER + 1)]
    for k, tap in enumerate(taps):
        parts[k] += tap * by_first[k : k + count]
        parts[k + 1] += tap * by_second[k : k + count]
    return parts


def _difference_jacobians(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differences from frame to frame, and their derivatives by the first and the second pose."""
    moves = pose_differences(model, q[:-1], q[1:])
    if model.nq == model.nv:
        eye = np.broadcast_to(np.eye(model.nv), (len(moves), model.nv, model.nv))
        return moves, -eye, eye
    jacobians = _JACOBIAN_KERNELS.get(model, "", lambda: _jacobian_kernel(model))
    no_step = np.zeros(model.nv)
    by_first, by_second = jacobians(q[:-1], q[1:], no_step, no_step)
    return moves, by_first, by_second


_JACOBIAN_KERNELS: ModelCache[Kernel] = ModelCache("difference jacobians")


def _jacobian_kernel(model: Model) -> Kernel:
    def move(q0: ca.SX, q1: ca.SX, d0: ca.SX, d1: ca.SX) -> ca.SX:
        return difference(model, integrate(model, q0, d0), integrate(model, q1, d1))

    size = model.nv
    traced = kernel(move, q0=model.nq, q1=model.nq, d0=size, d1=size)
    return jacobian(traced, wrt=["d0", "d1"])
