"""References of the tasks over time: center of mass, feet, hands, root and posture of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from homodyn import dynamics
from homodyn.control import (
    ComTask,
    FrameTask,
    OrientationTask,
    PositionTask,
    PostureTask,
    TrackingTask,
)
from homodyn.plan.execution.execution_options import TrackingWeights
from homodyn.plan.motion_assembly import LinearPostures
from homodyn.plan.motion_plan import MotionPlan
from homodyn.plan.support_targets import support_bodies

CUTOFF_HZ = 10.0
"""Cutoff of the low-pass filter of references (Qiu 2012, section 6.4.1)."""
FILTER_ORDER = 2
MIN_FILTER_FRAMES = 16


@dataclass(frozen=True, eq=False)
class PlanReferences:
    """What a controller tracks at every instant of the execution of a plan."""

    plan: MotionPlan
    weights: TrackingWeights
    speed: float = 1.0
    """Part of the planned speed."""

    @cached_property
    def duration(self) -> float:
        """S: of the plan at this speed."""
        return self.plan.duration / self.speed

    @cached_property
    def feet(self) -> tuple[str, ...]:
        """Bodies that stand on soles."""
        bodies = support_bodies(self.plan.model, self.plan.scene)
        return tuple(name for name, body in bodies.items() if body.is_sole)

    @cached_property
    def grips(self) -> tuple[str, ...]:
        """Contacts of the bodies that grasp."""
        bodies = support_bodies(self.plan.model, self.plan.scene)
        return tuple(body.grip for body in bodies.values() if not body.is_sole and not body.is_seat)

    def planned_time(self, time: np.ndarray | float) -> np.ndarray:
        """Instants of the plan (s) at times of the execution; those of the ends beyond them.

        Args:
            time: (...), s.
        """
        return np.clip(np.asarray(time) * self.speed, 0.0, self.plan.duration)

    def center_of_mass(self, time: np.ndarray | float) -> np.ndarray:
        """Reference of the center of mass.

        Args:
            time: (...), s, of the execution.

        Returns:
            (..., 3), m.
        """
        return np.asarray(self._com(self.planned_time(time)))

    def tasks(self, time: float) -> Sequence[TrackingTask]:
        """The tasks with their references at a time of the execution.

        Args:
            time: S.
        """
        at = float(self.planned_time(time))
        moves = 0.0 < time < self.duration
        rate = self.speed if moves else 0.0
        w = self.weights
        found = [
            _tracking(
                ComTask(self._com(at), cost=w.com**0.5),
                w.com_stiffness,
                rate * self._com(at, 1),
                rate**2 * self._com(at, 2),
            )
        ]
        q = self._postures.at(np.array([at]))[0]
        for name in self.feet:
            cost = w.feet**0.5
            turn = dynamics.orientation(self.plan.model, q, name)
            path, turning = self._paths[name], self._rates[name]
            found.append(
                _tracking(
                    FrameTask(name, path(at), turn, cost, cost),
                    w.feet_stiffness,
                    rate * np.r_[path(at, 1), turning(at)],
                    rate**2 * np.r_[path(at, 2), np.zeros(3)],
                )
            )
        for name in self.grips:
            path = self._paths[name]
            found.append(
                _tracking(
                    PositionTask(name, path(at), cost=w.hands**0.5),
                    w.feet_stiffness,
                    rate * path(at, 1),
                    rate**2 * path(at, 2),
                )
            )
        root = self.plan.model.body_names[0]
        turn = dynamics.orientation(self.plan.model, q, root)
        found.append(
            _tracking(
                OrientationTask(root, turn, cost=w.root**0.5),
                w.root_stiffness,
                rate * self._rates[root](at),
            )
        )
        speeds = rate * self._speeds(at)[list(self.plan.model.actuated)]
        found.append(_tracking(PostureTask(q, cost=w.posture**0.5), w.posture_stiffness, speeds))
        return found

    def posture(self, time: float) -> np.ndarray:
        """Planned posture (nq,) at a time (s) of the execution."""
        return np.asarray(self._postures.at(np.array([self.planned_time(time)]))[0])

    @cached_property
    def _postures(self) -> LinearPostures:
        motion = self.plan.motion
        return LinearPostures(self.plan.model, np.asarray(motion.time), np.asarray(motion.q))

    @cached_property
    def _com(self) -> Callable[..., np.ndarray]:
        """Center of mass of the planned postures, smooth; their plan where it covers all phases."""
        plan = self.plan
        if plan.com is not None and abs(plan.com.spline.duration - plan.duration) < 1e-9:
            return plan.com.spline.at
        return self._smooth(dynamics.center_of_mass(plan.model, plan.motion.q))

    @cached_property
    def _paths(self) -> dict[str, CubicSpline]:
        plan = self.plan
        return {
            name: self._smooth(dynamics.position(plan.model, plan.motion.q, name))
            for name in (*self.feet, *self.grips)
        }

    @cached_property
    def _rates(self) -> dict[str, CubicSpline]:
        motion, model = self.plan.motion, self.plan.model
        return {
            name: self._smooth(dynamics.angular_velocity(model, motion.q, motion.v, name))
            for name in (*self.feet, model.body_names[0])
        }

    @cached_property
    def _speeds(self) -> CubicSpline:
        return self._smooth(np.asarray(self.plan.motion.v))

    def _smooth(self, values: np.ndarray) -> CubicSpline:
        """A curve through the frames, without what is faster than the cutoff."""
        time, values = np.asarray(self.plan.motion.time), np.asarray(values)
        rate = (len(time) - 1) / (time[-1] - time[0])
        if len(time) > MIN_FILTER_FRAMES and 0.45 * rate > CUTOFF_HZ:
            filter_ = butter(FILTER_ORDER, CUTOFF_HZ, fs=rate, output="sos")
            values = sosfiltfilt(filter_, values, axis=0)
        return CubicSpline(time, values)


def _tracking(
    task: ComTask | FrameTask | PositionTask | OrientationTask | PostureTask,
    stiffness: float,
    velocity: np.ndarray,
    acceleration: np.ndarray | None = None,
) -> TrackingTask:
    return TrackingTask(task, stiffness, 2 * stiffness**0.5, velocity, acceleration)
