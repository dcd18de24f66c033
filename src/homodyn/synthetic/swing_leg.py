"""The leg in swing: smooth curves of knee flexion and leg direction from foot off to foot strike.

The line from hip to ankle is given by the knee flexion, which determines its length, and by its
angle from the vertical. Both are splines of fifth degree that continue the values, velocities and
accelerations of the stance leg at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from homodyn.synthetic.foot_trajectory import FootTrajectory
from homodyn.synthetic.leg_angles import knee_flexion

STENCIL_STEP_STRIDES = 2e-3
"""Step of the finite differences at both ends, in strides."""


def swing_ankle(
    plan: FootTrajectory,
    hip: Callable[[np.ndarray], np.ndarray],
    time: np.ndarray,
    *,
    legs: tuple[float, float],
    knee: Sequence[tuple[float, float]],
) -> np.ndarray:
    """Position of the ankle in swing, (times, 3), m.

    ``hip`` returns the position of the hip at given times, ``legs`` are the lengths of thigh and
    shank (m), and ``knee`` are pairs of a phase between foot off and foot strike and the knee
    flexion there (rad).
    """
    steps = plan.steps
    start = -steps.phase(plan.side, np.zeros(1))[0]
    ends = []
    for phase, strike, path in (
        (steps.stance, 0.0, plan.toe_rocker),
        (1.0, 1.0, plan.heel_rocker),
    ):
        stencil = (start + phase + STENCIL_STEP_STRIDES * np.arange(-2, 3)) * steps.period
        line = path(stencil, np.full(5, strike)) - hip(stencil)
        angle = np.arctan2(line[:, 0], -line[:, 2])
        ends.append((phase, _flexion(line, legs), angle, line[:, 1]))
    (off, off_knee, off_angle, off_y), (on, on_knee, on_angle, on_y) = ends
    u = np.mod(steps.phase(plan.side, time), 1.0)
    *middle, (late, more) = knee
    flexion = _spline([(off, off_knee), *middle, (late, on_knee[2] + more), (on, on_knee)], u)
    angle = _spline([(off, off_angle), (on, on_angle)], u)
    thigh, shank = legs
    hip_position = hip(time)
    y = _spline([(off, off_y), (on, on_y)], u)
    length = np.sqrt(thigh**2 + shank**2 + 2 * thigh * shank * np.cos(flexion) - y**2)
    return hip_position + np.column_stack([length * np.sin(angle), y, -length * np.cos(angle)])


def _flexion(line: np.ndarray, legs: tuple[float, float]) -> np.ndarray:
    return knee_flexion(np.linalg.norm(line, axis=1), *legs)


def _spline(points: Sequence[tuple[float, np.ndarray | float]], u: np.ndarray) -> np.ndarray:
    """A spline through points; the first and the last have five values each, for derivatives."""
    first, last = np.asarray(points[0][1]), np.asarray(points[-1][1])
    phases = [phase for phase, _ in points]
    values = [first[2], *(value for _, value in points[1:-1]), last[2]]
    conditions = tuple([(1, _first(end)), (2, _second(end))] for end in (first, last))
    return scipy.interpolate.make_interp_spline(phases, values, k=5, bc_type=conditions)(u)


def _first(f: np.ndarray) -> float:
    return float((f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * STENCIL_STEP_STRIDES))


def _second(f: np.ndarray) -> float:
    return float(
        (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * STENCIL_STEP_STRIDES**2)
    )
