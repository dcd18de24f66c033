"""Smoothing of a motion: least accelerations and angular momentum while targets are kept.

The postures of all frames are unknowns of one problem, which is solved by Newton steps::

    min  w sum |(q[k+1] - 2 q[k] + q[k-1]) / dt^2|^2 + u sum |(h[k+1/2] - h[k-1/2]) / dt|^2
         + sum |cost (J[k] dq[k] - error[k])|^2

with the angular momentum ``h = A(q) dq/dt`` about the center of mass, whose rate is what a plan of
the center of mass leaves out. The motion is at rest before its first frame and after its last one.
Distances and ranges of coordinates are rows of a quadratic penalty where they are violated. The
matrix is banded, with two frames beside the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from homodyn import dynamics
from homodyn.control import ConfigurationLimit, VelocityLimit
from homodyn.control.ik_step import IkStep
from homodyn.model import Model
from homodyn.plan.body_targets import TARGET_COST
from homodyn.plan.posture_batch import MAX_STEP
from homodyn.plan.segment_postures import check_instants
from homodyn.plan.target_schedule import TargetSchedule

ACCELERATION_WEIGHT = 3e-4
"""Weight of a squared acceleration (s4/rad2, s4/m2) of one frame."""
MOMENTUM_WEIGHT = 3e-3
"""Weight of a squared rate of the angular momentum (1/(N m)2) of one frame."""
TARGET_STIFFNESS = 30.0
"""Costs of targets over those of single postures: smoothness may not move them."""
VIOLATION_PENALTY = 3e6
"""Weight of a squared violation (1/m2, 1/rad2)."""
NEWTON_STEPS = 30
ACTIVE_SET_ROUNDS = 4
"""Solutions of a linearized problem, each with the rows that the last one violates."""
START_DAMPING, MIN_DAMPING = 300.0, 1.0
"""Weight of squared steps (1/rad2, 1/m2): first, and least."""
TOLERATED_INCREASE = 4.0
"""Cost over the least one so far that is accepted: targets are curved, and the next step brings
postures back to them."""
ACCEPTED, REJECTED = 0.4, 6.0
"""Factors of the damping after steps that are taken and that are not."""
MIN_IMPROVEMENT, MAX_SMALL_STEPS = 0.05, 2
"""Share of the cost that a step saves, and steps in a row that save less, after which smoothing
ends."""
CLEARANCE_RESERVE_M = 1e-3
"""By which distances are kept beyond what is required, since penalties give way."""
COARSE_RATE_HZ = 20.0
"""Frames of the first problem, whose solution is the start of the one with all frames."""


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


@dataclass(frozen=True, eq=False)
class SmoothnessRows:
    """Accelerations and momentum rates of all frames as linear functions of the steps.

    Row block ``k`` depends on frames ``k - 1``, ``k`` and ``k + 1``; frames beyond the ends repeat
    those at the ends.
    """

    before: np.ndarray
    """(frames, rows, nv)."""
    own: np.ndarray
    """(frames, rows, nv)."""
    after: np.ndarray
    """(frames, rows, nv)."""
    value: np.ndarray
    """(frames, rows): at no step."""


def smooth_postures(
    schedule: TargetSchedule,
    time: np.ndarray,
    phase: np.ndarray,
    q: np.ndarray,
    damping: float = START_DAMPING,
) -> np.ndarray:
    """Postures with least accelerations near given ones.

    Args:
        schedule: Targets.
        time: (frames,), s, evenly spaced.
        phase: (frames,).
        q: (frames, nq).
        damping: Weight of squared steps, at first.

    Returns:
        (frames, nq); targets are kept to the accuracy of a penalty.
    """
    model = schedule.sequence.context.model
    step = float(np.mean(np.diff(time)))
    rows = smoothness_rows(model, q, step)
    current, valid = _merit(schedule, time, phase, q, rows)
    best = (not valid, current, q)
    small = 0
    for _ in range(NEWTON_STEPS):
        program = frame_program(schedule, time, phase, q)
        moved = np.asarray(model.integrate(q, solve_frames(program, rows, damping)))
        rougher = smoothness_rows(model, moved, step)
        merit, valid = _merit(schedule, time, phase, moved, rougher)
        if merit > TOLERATED_INCREASE * best[1]:
            # Back to the best postures, with shorter steps.
            damping *= REJECTED
            q = best[2]
            rows = smoothness_rows(model, q, step)
            continue
        q, rows = moved, rougher
        damping = max(ACCEPTED * damping, MIN_DAMPING)
        small = small + 1 if merit > (1 - MIN_IMPROVEMENT) * best[1] else 0
        if (not valid, merit) < best[:2]:
            best = (not valid, merit, q)
        if small >= MAX_SMALL_STEPS and not best[0]:
            break
    return best[2]


def _merit(
    schedule: TargetSchedule,
    time: np.ndarray,
    phase: np.ndarray,
    q: np.ndarray,
    rows: SmoothnessRows,
) -> tuple[float, bool]:
    """Roughness with squared errors and worst violations, and whether all frames are valid."""
    checked = check_instants(schedule, phase, time, q)
    missing = np.minimum(checked.clearance, 0.0)
    targets = (TARGET_STIFFNESS * TARGET_COST) ** 2 * checked.squared_error.sum()
    cost = (rows.value**2).sum() + targets + VIOLATION_PENALTY * (missing**2).sum()
    return float(cost), checked.solved


def smoothness_rows(model: Model, q: np.ndarray, step: float) -> SmoothnessRows:
    """Weighted accelerations and rates of the angular momentum.

    Args:
        model: The model.
        q: (frames, nq).
        step: Distance of frames, s.
    """
    frames, nv = len(q), model.nv
    ways = np.asarray(model.difference(q[:-1], q[1:]))
    middles = np.asarray(model.integrate(q[:-1], ways / 2))
    unit = np.broadcast_to(np.eye(nv), (frames - 1, nv, nv))
    at = np.broadcast_to(middles[:, None], (frames - 1, nv, middles.shape[1]))
    momentum = np.asarray(dynamics.momentum(model, np.ascontiguousarray(at), unit.copy()))[..., :3]
    rows = (
        np.concatenate(
            [
                np.sqrt(ACCELERATION_WEIGHT) * unit,
                np.sqrt(MOMENTUM_WEIGHT) * np.swapaxes(momentum, -1, -2),
            ],
            axis=1,
        )
        / step**2
    )
    before, after = np.zeros((2, frames, nv + 3, nv))
    before[1:], after[:-1] = rows, rows
    flow = np.zeros((frames + 1, nv + 3))
    flow[1:-1] = (rows @ ways[..., None])[..., 0]
    return SmoothnessRows(before, -(before + after), after, np.diff(flow, axis=0))


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
        targets = schedule.targets(int(k), time[own], q[own], follows=True)
        tasks = [
            replace(task, level=0, gain=0.0 if task.level else 1.0)
            for task in replace(targets, stiffness=TARGET_STIFFNESS).tasks(context.bodies)
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
            ("row_lower", low + limits[-1].gain * CLEARANCE_RESERVE_M),
            ("lower", program.lower),
            ("upper", program.upper),
        ):
            parts.setdefault(name, []).append(value)
    return SmoothingProgram(**{name: np.concatenate(values) for name, values in parts.items()})


def solve_frames(
    program: SmoothingProgram, smoothness: SmoothnessRows, damping: float = 0.0
) -> np.ndarray:
    """Steps of all frames that minimize costs, penalties and roughness.

    Args:
        program: The linearized problem.
        smoothness: Accelerations and rates of the angular momentum.
        damping: Weight of squared steps.

    Returns:
        (frames, nv).
    """
    frames, nv = program.linear.shape
    blocks, pull = _smoothness_blocks(smoothness)
    blocks[0][:, np.arange(nv), np.arange(nv)] += damping
    x = np.zeros((frames, nv))
    for _ in range(ACTIVE_SET_ROUNDS):
        hessian, linear = program.hessian + blocks[0], program.linear + pull
        value = (program.rows @ x[..., None])[..., 0]
        active = (value < program.row_lower).astype(float)
        target = np.where(active > 0, program.row_lower, 0.0)
        across = np.swapaxes(program.rows * active[..., None], -1, -2)
        hessian += VIOLATION_PENALTY * (across @ program.rows)
        linear -= VIOLATION_PENALTY * (across @ target[..., None])[..., 0]
        for bound, side in ((program.lower, x < program.lower), (program.upper, x > program.upper)):
            hessian[:, np.arange(nv), np.arange(nv)] += VIOLATION_PENALTY * side
            linear -= VIOLATION_PENALTY * np.where(side, bound, 0.0)
        new = _banded_solution((hessian, *blocks[1:]), linear)
        if np.abs(new - x).max() < 1e-6:
            break
        x = new
    return np.asarray(np.clip(new, -MAX_STEP, MAX_STEP))


def _smoothness_blocks(rows: SmoothnessRows) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Blocks of the matrix on the diagonal and on two below, and the gradient, of roughness."""
    parts = (rows.before, rows.own, rows.after)
    frames, _, nv = rows.own.shape
    blocks = tuple(np.zeros((frames, nv, nv)) for _ in range(3))
    pull = np.zeros((frames, nv))
    for i, first in enumerate(parts):
        # Part i of row block k belongs to frame k + i - 1.
        own = slice(max(0, 1 - i), frames - max(0, i - 1))
        frame = slice(own.start + i - 1, own.stop + i - 1)
        across = np.swapaxes(first[own], -1, -2)
        pull[frame] += (across @ rows.value[own][..., None])[..., 0]
        for j in range(i + 1):
            lower = slice(max(0, 1 - j), frames - max(0, i - 1))
            at = slice(lower.start + j - 1, lower.stop + j - 1)
            blocks[i - j][at] += np.swapaxes(first[lower], -1, -2) @ parts[j][lower]
    return blocks, pull


def _banded_solution(blocks: tuple[np.ndarray, ...], linear: np.ndarray) -> np.ndarray:
    """Minimum of a quadratic function whose blocks are given on and below the diagonal.

    Args:
        blocks: (frames, nv, nv) each: block ``[k + d, k]`` of the matrix at ``blocks[d][k]``.
        linear: (frames, nv): gradient.

    Returns:
        (frames, nv).
    """
    frames, nv = linear.shape
    band = np.zeros((3 * nv, frames * nv))
    column = np.arange(frames)[:, None] * nv
    for d, block in enumerate(blocks):
        for j in range(nv):
            # Lower form: band[i - j, j] = a[i, j].
            rows = np.arange(j if d == 0 else 0, nv)
            band[(d * nv + rows - j)[None], column + j] += block[:, rows, j]
    found = scipy.linalg.solveh_banded(band, -linear.ravel(), lower=True, check_finite=False)
    return np.asarray(found.reshape(frames, nv))
