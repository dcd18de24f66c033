"""A whole trajectory at once: markers and smoothness weighed in one banded problem.

The sum over frames of the marker objective is joined by 1/2 sum_i c_i |jerk_i|^2 over the third
differences of the coordinates. For a coordinate whose markers give it the stiffness h (the median
diagonal of the normal matrices) c = h / (2 pi f)^6 makes f the frequency at which the answer to an
oscillation has fallen to one half, with a slope of 36 dB per octave beyond.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from scipy.linalg import solveh_banded

from homodyn.capture.least_squares import Fitted, MarkerProblem
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.model.configuration import difference, integrate, plain_entries
from homodyn.symbolic import Kernel, jacobian, kernel

ORDER = 3
"""Jerk: the third derivative."""
TOLERANCE = 1e-7
"""Largest entry of the last step (rad, m)."""
ITERATIONS = 60


def smoothed(problem: MarkerProblem, fitted: Fitted, rate: float, cutoff: float) -> Fitted:
    """The trajectory that weighs markers against jerk, from poses fitted frame by frame.

    Levenberg-Marquardt on all frames together; each step is one banded Cholesky factorisation.
    """
    if not 0 < cutoff < rate / 2:
        raise CaptureError(
            f"smooth={cutoff:g} Hz: a frequency between 0 and half the rate of the frames, "
            f"{rate / 2:g} Hz, is needed"
        )
    if problem.frames <= ORDER:
        raise CaptureError(f"smoothing takes more than {ORDER} frames, got {problem.frames}")
    model = problem.model
    matrices, _, _ = problem.equations(fitted.q)
    stiffness = np.median(np.diagonal(matrices, axis1=1, axis2=2), axis=0)
    penalty = stiffness * (rate / (2 * np.pi * cutoff)) ** (2 * ORDER)
    q, damping = problem.inside(fitted.q), 1e-9 * float(stiffness.max())
    cost = np.inf
    converged = False
    for _ in range(ITERATIONS):
        step, found, promised, blocked = _step(problem, q, penalty, damping)
        cost = found if not np.isfinite(cost) else cost
        while True:
            tried = problem.inside(integrate(model, q, step))
            total = _objective(problem, tried, penalty)
            if total <= cost * (1 + 1e-13) or damping > 1e6 * stiffness.max():
                break
            damping = 10 * damping
            step, found, promised, blocked = _step(problem, q, penalty, damping)
        moved = np.abs(model.difference(q, tried)).max()
        q, cost = tried, total
        damping = max(damping / 10, 1e-9 * float(stiffness.max()))
        if moved < TOLERANCE:
            converged = True
            break
    done = np.full(problem.frames, converged)
    return Fitted(q, np.full(problem.frames, cost), fitted.iterations, done, blocked)


def _objective(problem: MarkerProblem, q: np.ndarray, penalty: np.ndarray) -> float:
    cost = problem.equations(q)[2].sum()
    jerk = np.diff(problem.model.difference(q[:-1], q[1:]), n=ORDER - 1, axis=0)
    return float(cost + 0.5 * np.sum(penalty * jerk**2))


def _step(
    problem: MarkerProblem, q: np.ndarray, penalty: np.ndarray, damping: float
) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Step of all frames, objective, promised decrease, and where limits hold."""
    model, frames, size = problem.model, problem.frames, problem.model.nv
    matrices, descent, costs = problem.equations(q)
    along, here, there = _difference_jacobians(model, q)
    taps = _taps(ORDER - 1)
    jerk = sum(tap * along[k : k + frames - ORDER] for k, tap in enumerate(taps))
    parts = _jerk_blocks(here, there, taps, frames)
    width = (ORDER + 1) * size
    band = np.zeros((width, frames * size))
    blocks = {0: matrices.copy()}
    for offset in range(1, ORDER + 1):
        blocks[offset] = np.zeros((frames - offset, size, size))
    down = descent.copy()
    count = frames - ORDER
    for a, left in enumerate(parts):
        down[a : a + count] -= np.einsum("fki,fk->fi", left, penalty * jerk)
        for b in range(a, ORDER + 1):
            share = np.einsum("fki,k,fkj->fij", left, penalty, parts[b])
            blocks[b - a][a : a + count] += share
    blocked = _blocked(problem, q, down)
    moving = (problem.free > 0) & ~blocked
    gradient = np.where(moving, down, 0.0)
    for offset, block in blocks.items():
        ends = moving[: frames - offset, :, None] & moving[offset:, None, :]
        blocks[offset] = np.where(ends, block, 0.0)
    index = np.arange(size)
    blocks[0][:, index, index] += np.where(moving, damping, 1.0)
    for offset, block in blocks.items():
        # Lower band: row d of column j holds entry (j + d, j); blocks[o][f] couples f and f + o.
        for j in range(size):
            for i in range(size):
                d = offset * size + i - j
                if d >= 0:
                    columns = np.arange(frames - offset) * size + j
                    band[d, columns] = block[:, j, i]
    step = solveh_banded(band, gradient.ravel(), lower=True, check_finite=False)
    step = step.reshape(frames, size) * moving
    total = float(costs.sum() + 0.5 * np.sum(penalty * jerk**2))
    promised = 0.5 * float(np.sum(step * (gradient + damping * step)))
    return step, total, promised, blocked


def _taps(order: int) -> np.ndarray:
    """Coefficients of a forward difference, oldest first."""
    taps = np.ones(1)
    for _ in range(order):
        taps = np.convolve(taps, [-1.0, 1.0])
    return taps


def _jerk_blocks(
    here: np.ndarray, there: np.ndarray, taps: np.ndarray, frames: int
) -> list[np.ndarray]:
    """How each jerk changes with the steps of the frames it spans, (frames - order, nv, nv)."""
    count = frames - ORDER
    size = here.shape[-1]
    parts = [np.zeros((count, size, size)) for _ in range(ORDER + 1)]
    for k, tap in enumerate(taps):
        parts[k] += tap * here[k : k + count]
        parts[k + 1] += tap * there[k : k + count]
    return parts


def _difference_jacobians(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moves from frame to frame, and how they change with steps of the one and the other."""
    along = model.difference(q[:-1], q[1:])
    if model.nq == model.nv:
        eye = np.broadcast_to(np.eye(model.nv), (len(along), model.nv, model.nv))
        return along, -eye, eye
    key = "difference jacobians"
    if key not in model.kernels:
        model.kernels[key] = _jacobian_kernel(model)
    still = np.zeros(model.nv)
    here, there = model.kernels[key](q[:-1], q[1:], still, still)
    return along, here, there


def _jacobian_kernel(model: Model) -> Kernel:
    def move(q0: ca.SX, q1: ca.SX, d0: ca.SX, d1: ca.SX) -> ca.SX:
        return difference(model, integrate(model, q0, d0), integrate(model, q1, d1))

    size = model.nv
    traced = kernel(move, q0=model.nq, q1=model.nq, d0=size, d1=size)
    return jacobian(traced, wrt=["d0", "d1"])


def _blocked(problem: MarkerProblem, q: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Where a limit holds a coordinate against the descent."""
    entries, positions = plain_entries(problem.model)
    blocked = np.zeros(down.shape, dtype=bool)
    at, way = q[:, positions], down[:, entries]
    low, high = problem.lower[entries], problem.upper[entries]
    blocked[:, entries] = ((at <= low) & (way < 0)) | ((at >= high) & (way > 0))
    return blocked
