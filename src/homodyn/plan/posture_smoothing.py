"""Smoothing of a motion: least accelerations while targets and distances are kept.

The postures of all frames are unknowns of one problem, which is solved by Newton steps::

    min  w sum |(q[k+1] - 2 q[k] + q[k-1]) / dt^2|^2 + sum |cost (J[k] dq[k] - error[k])|^2

Distances and ranges of coordinates are rows of a quadratic penalty where they are violated. The
matrix is banded, with two frames beside the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from homodyn.control import ConfigurationLimit, VelocityLimit
from homodyn.control.ik_step import IkStep
from homodyn.plan.posture_batch import MAX_STEP
from homodyn.plan.target_schedule import TargetSchedule

ACCELERATION_WEIGHT = 3e-4
"""Weight of a squared acceleration (s4/rad2, s4/m2) of one frame."""
VIOLATION_PENALTY = 1e5
"""Weight of a squared violation (1/m2, 1/rad2)."""
NEWTON_STEPS = 5
ACTIVE_SET_ROUNDS = 4
"""Solutions of a linearized problem, each with the rows that the last one violates."""


@dataclass(frozen=True, eq=False)
class SmoothingProgram:
    """Quadratic costs of the steps (nv,) of all frames, with bounds of rows and of steps."""

    hessian: np.ndarray
    """(frames, nv, nv)."""
    linear: np.ndarray
    """(frames, nv)."""
    rows: np.ndarray
    """(frames, rows, nv)."""
    row_lower: np.ndarray
    """(frames, rows)."""
    lower: np.ndarray
    """(frames, nv)."""
    upper: np.ndarray
    """(frames, nv)."""


def smooth_postures(
    schedule: TargetSchedule, time: np.ndarray, phase: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Postures with least accelerations near given ones.

    Args:
        schedule: Targets.
        time: (frames,), s, evenly spaced.
        phase: (frames,).
        q: (frames, nq).

    Returns:
        (frames, nq); targets are kept approximately.
    """
    model = schedule.sequence.context.model
    step = float(np.mean(np.diff(time)))
    for _ in range(NEWTON_STEPS):
        program = frame_program(schedule, time, phase, q)
        ways = np.asarray(model.difference(np.broadcast_to(q[0], q.shape), q))
        q = np.asarray(model.integrate(q, solve_frames(program, ways, step)))
    return q


def frame_program(
    schedule: TargetSchedule, time: np.ndarray, phase: np.ndarray, q: np.ndarray
) -> SmoothingProgram:
    """The linearized problem of all frames at given postures.

    Args:
        schedule: Targets.
        time: (frames,), s.
        phase: (frames,).
        q: (frames, nq).
    """
    context = schedule.sequence.context
    model = context.model
    parts: dict[str, list[np.ndarray]] = {}
    for k in np.unique(phase):
        own = np.flatnonzero(phase == k)
        tasks = [
            replace(task, level=0, gain=0.0 if task.level else 1.0)
            for task in schedule.targets(int(k), time[own], q[own], follows=True).tasks(
                context.bodies
            )
        ]
        limits = (
            ConfigurationLimit(gain=1.0),
            VelocityLimit(np.full(model.nv, MAX_STEP)),
            context.limit(schedule.sequence.uses(int(k))),
        )
        step = IkStep.of(model, q[own], tasks, 1.0, limits, 1e-3)
        program = step.build(0, np.zeros(model.nv))
        rows, low, _ = program.constraint_bounds()
        used = np.isfinite(low)
        for name, value in (
            ("hessian", program.hessian),
            ("linear", program.linear),
            ("rows", np.where(used[..., None], rows, 0.0)),
            ("row_lower", low),
            ("lower", program.lower),
            ("upper", program.upper),
        ):
            parts.setdefault(name, []).append(value)
    return SmoothingProgram(**{name: np.concatenate(values) for name, values in parts.items()})


def solve_frames(program: SmoothingProgram, ways: np.ndarray, step: float) -> np.ndarray:
    """Steps of all frames that minimize costs, penalties and accelerations.

    Args:
        program: The linearized problem.
        ways: (frames, nv): postures relative to the first.
        step: Distance of frames, s.

    Returns:
        (frames, nv).
    """
    frames, nv = ways.shape
    x = np.zeros((frames, nv))
    for _ in range(ACTIVE_SET_ROUNDS):
        hessian, linear = program.hessian.copy(), program.linear.copy()
        value = (program.rows @ x[..., None])[..., 0]
        active = (value < program.row_lower).astype(float)
        target = np.where(active > 0, program.row_lower, 0.0)
        across = np.swapaxes(program.rows * active[..., None], -1, -2)
        hessian += VIOLATION_PENALTY * (across @ program.rows)
        linear -= VIOLATION_PENALTY * (across @ target[..., None])[..., 0]
        for bound, side in ((program.lower, x < program.lower), (program.upper, x > program.upper)):
            hessian[:, np.arange(nv), np.arange(nv)] += VIOLATION_PENALTY * side
            linear -= VIOLATION_PENALTY * np.where(side, bound, 0.0)
        new = _banded_solution(hessian, linear, ways, ACCELERATION_WEIGHT / step**4)
        if np.abs(new - x).max() < 1e-6:
            break
        x = new
    return np.asarray(np.clip(new, -MAX_STEP, MAX_STEP))


def _banded_solution(
    hessian: np.ndarray, linear: np.ndarray, ways: np.ndarray, weight: float
) -> np.ndarray:
    """Minimum of frame costs and squared second differences of ``ways + x``, (frames, nv)."""
    frames, nv = linear.shape
    band = np.zeros((2 * nv + 1, frames * nv))
    place = np.arange(frames)[:, None] * nv
    for j in range(nv):
        # Lower form: band[i - j, j] = a[i, j].
        rows = np.arange(nv - j)
        band[rows[None], place + j] += hessian[:, j:, j]
    stencil = np.zeros((3, frames))
    stencil[0, :-2] += 1.0
    stencil[0, 1:-1] += 4.0
    stencil[0, 2:] += 1.0
    stencil[1, :-2] -= 2.0
    stencil[1, 1:-1] -= 2.0
    stencil[2, :-2] += 1.0
    for d in range(3):
        band[d * nv] += weight * np.repeat(stencil[d], nv)
    second = ways[2:] - 2 * ways[1:-1] + ways[:-2]
    pull = np.zeros_like(linear)
    pull[:-2] += second
    pull[1:-1] -= 2 * second
    pull[2:] += second
    right = -(linear + weight * pull)
    found = scipy.linalg.solveh_banded(band, right.ravel(), lower=True, check_finite=False)
    return np.asarray(found.reshape(frames, nv))
