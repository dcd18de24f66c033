"""The convex program of all frames together, with a cost of the rates of activations.

The cost ``smoothness * sum over frames of ((a[f + 1] - a[f]) / step) ** 2`` couples each frame with
the next. The iterations are those of `interior_point`; their linear systems are block tridiagonal,
with one block of muscles and coordinates per frame, and are factorized block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.muscle.redundancy.frame_solver import SharingSolution, assess
from homodyn.muscle.redundancy.interior_point import (
    GAP_TOLERANCE,
    MAX_ITERATIONS,
    PROXIMAL_CURVATURE,
    RESIDUAL_TOLERANCE,
    START_FRACTION,
    START_MULTIPLIER,
    STEP_FRACTION,
)
from homodyn.muscle.redundancy.sharing_problem import SharingProblem

MIN_COMPLIANCE = 1e-14
"""Compliance of coordinates without a reserve, relative to that of the strongest muscle."""


@dataclass
class _Point:
    a: np.ndarray
    y: np.ndarray
    zl: np.ndarray
    zu: np.ndarray

    def advance(self, step: _Point, length: float) -> _Point:
        return _Point(
            self.a + length * step.a,
            self.y + length * step.y,
            self.zl + length * step.zl,
            self.zu + length * step.zu,
        )


def solve_smooth(problem: SharingProblem, smoothness: float, time: np.ndarray) -> SharingSolution:
    """Solve all frames with a cost of the rates of activations.

    Args:
        problem: Torques, bounds and costs.
        smoothness: Weight of squared rates, s2.
        time: (frames,), s.
    """
    scales = problem.scales
    program = _Program(problem, smoothness / np.diff(time) ** 2)
    frames, muscles = problem.weight.shape
    shape = (frames, muscles)
    start = problem.lower + START_FRACTION * (problem.upper - problem.lower)
    point = _Point(
        np.tile(start, (frames, 1)),
        np.zeros_like(problem.loads),
        np.full(shape, START_MULTIPLIER),
        np.full(shape, START_MULTIPLIER),
    )
    count = 0
    while count < MAX_ITERATIONS:
        count += 1
        after = program.advance(point)
        if not np.isfinite(after.a).all():
            break
        point = after
        if program.error(point) <= RESIDUAL_TOLERANCE and program.gap(point) <= GAP_TOLERANCE:
            break
    reserves = program.compliance * point.y * scales
    reserves[:, problem.strength == 0] = 0.0
    return assess(
        problem,
        point.a,
        point.y / scales,
        reserves,
        np.full(frames, count),
        program.coupling(point.a),
    )


class _Program:
    """The program in units of the strongest muscle of every coordinate."""

    def __init__(self, problem: SharingProblem, stiffness: np.ndarray) -> None:
        scales = problem.scales
        self.problem = problem
        self.torques = problem.torques / scales[:, None, :]
        self.loads = problem.loads / scales
        self.compliance = np.maximum((problem.strength / scales) ** 2 / 2, MIN_COMPLIANCE)
        self.stiffness = 2 * stiffness
        """Second derivative of the cost of a change from a frame to the next, (frames - 1,)."""

    def coupling(self, a: np.ndarray) -> np.ndarray:
        """Gradient of the cost of rates, (frames, muscles)."""
        pulled = self.stiffness[:, None] * np.diff(a, axis=0)
        result = np.zeros_like(a)
        result[:-1] -= pulled
        result[1:] += pulled
        return result

    def gap(self, point: _Point) -> float:
        """Mean complementarity."""
        below, above = self._distances(point)
        return float((below * point.zl).mean() + (above * point.zu).mean()) / 2

    def error(self, point: _Point) -> float:
        """Largest residual of gradient and torques."""
        return float(max(np.abs(self._dual(point)).max(), np.abs(self._primal(point)).max()))

    def advance(self, point: _Point) -> _Point:
        """The point after a step of Mehrotra's method."""
        below, above = self._distances(point)
        dual, primal, gap = self._dual(point), self._primal(point), self.gap(point)
        blocks = _factorize(self._diagonal(point), self.torques, self.compliance, self.stiffness)

        def step(low: np.ndarray, high: np.ndarray) -> _Point:
            right = low / below - high / above - dual
            a, y = _substitute(blocks, right, -primal, self.stiffness)
            return _Point(a, y, (low - point.zl * a) / below, (high + point.zu * a) / above)

        first = step(-point.zl * below, -point.zu * above)
        reached = point.advance(first, self._length(point, first, 1.0))
        center = (self.gap(reached) / gap) ** 3 * gap
        second = step(
            center - point.zl * below - first.a * first.zl,
            center - point.zu * above + first.a * first.zu,
        )
        return point.advance(second, self._length(point, second, STEP_FRACTION))

    def _distances(self, point: _Point) -> tuple[np.ndarray, np.ndarray]:
        return point.a - self.problem.lower, self.problem.upper - point.a

    def _dual(self, point: _Point) -> np.ndarray:
        gradient = self.problem.gradient(point.a) + self.coupling(point.a)
        return np.asarray(
            gradient - np.einsum("fmc,fc->fm", self.torques, point.y) - point.zl + point.zu
        )

    def _primal(self, point: _Point) -> np.ndarray:
        produced = np.einsum("fmc,fm->fc", self.torques, point.a)
        return np.asarray(produced + self.compliance * point.y - self.loads)

    def _diagonal(self, point: _Point) -> np.ndarray:
        power, weight = self.problem.power, self.problem.weight
        below, above = self._distances(point)
        curved = 0.0 if power == 1 else power * (power - 1) * weight * point.a ** (power - 2)
        bounds = point.zl / below + point.zu / above
        result = curved + 2 * self.problem.pull + PROXIMAL_CURVATURE + bounds
        result[:-1] += self.stiffness[:, None]
        result[1:] += self.stiffness[:, None]
        return np.asarray(result)

    def _length(self, point: _Point, step: _Point, part: float) -> float:
        below, above = self._distances(point)
        ratios = (-step.a / below, step.a / above, -step.zl / point.zl, -step.zu / point.zu)
        return float(part / max(part, *(one.max() for one in ratios)))


def _factorize(
    diagonal: np.ndarray, torques: np.ndarray, compliance: np.ndarray, stiffness: np.ndarray
) -> list[np.ndarray]:
    """Inverses of the blocks of every frame after the elimination of the frames before.

    A block is [D, -A^T; A, C]; neighbors are coupled by ``-stiffness`` on activations.
    """
    muscles = diagonal.shape[1]
    blocks: list[np.ndarray] = []
    for k, (own, part, soft) in enumerate(zip(diagonal, torques, compliance, strict=True)):
        block = np.block([[np.diag(own), -part], [part.T, np.diag(soft)]])
        if k:
            block[:muscles, :muscles] -= stiffness[k - 1] ** 2 * blocks[-1][:muscles, :muscles]
        blocks.append(np.linalg.inv(block))
    return blocks


def _substitute(
    blocks: list[np.ndarray], dual: np.ndarray, primal: np.ndarray, stiffness: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The solution of the block tridiagonal system for changes of activations and multipliers."""
    muscles = dual.shape[1]
    right = np.concatenate([dual, primal], axis=1)
    for k in range(1, len(right)):
        before = blocks[k - 1] @ right[k - 1]
        right[k, :muscles] += stiffness[k - 1] * before[:muscles]
    found = np.empty_like(right)
    found[-1] = blocks[-1] @ right[-1]
    for k in reversed(range(len(right) - 1)):
        right[k, :muscles] += stiffness[k] * found[k + 1, :muscles]
        found[k] = blocks[k] @ right[k]
    return found[:, :muscles], found[:, muscles:]
