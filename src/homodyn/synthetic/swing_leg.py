"""The leg in swing: knee and direction of the leg go smoothly from the off to the next strike.

The line from hip to ankle is told by the flexion of the knee, which gives its length, and by its
angle with the vertical. Both are splines of fifth degree that leave and meet the standing leg with
the same values, speeds and accelerations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.interpolate import make_interp_spline

from homodyn.synthetic.foot_trajectory import FootTrajectory
from homodyn.synthetic.leg_angles import knee_flexion

STENCIL_STEP_STRIDES = 2e-3
"""Half the distance of instants for derivatives at the ends, in strides."""


def swing_ankle(
    plan: FootTrajectory,
    hip: Callable[[np.ndarray], np.ndarray],
    time: np.ndarray,
    *,
    legs: tuple[float, float],
    knee: Sequence[tuple[float, float]],
) -> np.ndarray:
    """Place of the ankle in swing, (instants, 3), m.

    ``hip`` gives the place of the hip at instants, ``legs`` are the lengths of thigh and shank,
    ``knee`` phases between off and strike with the flexion (rad) to be had there.
    """
    steps = plan.steps
    start = -steps.phase(plan.side, np.zeros(1))[0]
    ends = []
    for phase, strike, path in (
        (steps.stance, 0.0, plan.toe_rocker),
        (1.0, 1.0, plan.heel_rocker),
    ):
        instants = (start + phase + STENCIL_STEP_STRIDES * np.arange(-2, 3)) * steps.period
        line = path(instants, np.full(5, strike)) - hip(instants)
        angle = np.arctan2(line[:, 0], -line[:, 2])
        ends.append((phase, _flexion(line, legs), angle, line[:, 1]))
    (off, off_knee, off_angle, off_y), (on, on_knee, on_angle, on_y) = ends
    u = np.mod(steps.phase(plan.side, time), 1.0)
    *middle, (late, more) = knee
    bent = _spline([(off, off_knee), *middle, (late, on_knee[2] + more), (on, on_knee)], u)
    angle = _spline([(off, off_angle), (on, on_angle)], u)
    thigh, shank = legs
    place = hip(time)
    y = _spline([(off, off_y), (on, on_y)], u)
    length = np.sqrt(thigh**2 + shank**2 + 2 * thigh * shank * np.cos(bent) - y**2)
    return place + np.column_stack([length * np.sin(angle), y, -length * np.cos(angle)])


def _flexion(line: np.ndarray, legs: tuple[float, float]) -> np.ndarray:
    return knee_flexion(np.linalg.norm(line, axis=1), *legs)


def _spline(points: Sequence[tuple[float, np.ndarray | float]], u: np.ndarray) -> np.ndarray:
    """Through points, the first and last of which have five values around them for derivatives."""
    first, last = np.asarray(points[0][1]), np.asarray(points[-1][1])
    phases = [phase for phase, _ in points]
    values = [first[2], *(value for _, value in points[1:-1]), last[2]]
    conditions = tuple([(1, _first(end)), (2, _second(end))] for end in (first, last))
    return make_interp_spline(phases, values, k=5, bc_type=conditions)(u)


def _first(f: np.ndarray) -> float:
    return float((f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * STENCIL_STEP_STRIDES))


def _second(f: np.ndarray) -> float:
    return float(
        (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * STENCIL_STEP_STRIDES**2)
    )
