"""A planned motion beside a recorded one: paths of the center of mass, timing, joint curves.

The recording has its own model and its own axes. It is turned about the vertical and shifted so
that its center of mass begins where that of the plan does and ends in the same direction.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from homodyn import dynamics
from homodyn.analysis.recorded_motion import RecordedMotion
from homodyn.balance import detect_contacts
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.motion import Motion
from homodyn.motion.clinical import clinical_names
from homodyn.plan import MotionPlan

CURVE_SAMPLES = 101
"""Samples of the curves over their normalized time."""
MIN_DIRECTION_M = 0.05
"""Way of the center of mass below which it has no direction; the axes then stay as they are."""


@record
class JointCurve(Record):
    """One joint angle of plan and recording over the duration of each."""

    title: str
    planned: np.ndarray
    """(samples,), degrees."""
    recorded: np.ndarray
    """(samples,), degrees."""

    @property
    def rms(self) -> float:
        """Root mean square of the difference, degrees."""
        return float(np.sqrt(np.mean((self.planned - self.recorded) ** 2)))


@record
class PhaseTiming(Record):
    """One phase of support."""

    supports: str
    start: float
    """s."""
    end: float
    """s."""


@record
class PlanComparison(Record):
    """A planned motion and a recorded one."""

    plan: MotionPlan
    recording: RecordedMotion

    def headline(self) -> str:
        """Durations, and the difference of the paths."""
        return (
            f"PlanComparison with {self.recording.name!r}: {self.plan.duration:.2f} s planned, "
            f"{self.recorded_duration:.2f} s recorded, centers of mass "
            f"{100 * self.com_distance:.0f} cm apart (rms)"
        )

    @property
    def recorded_duration(self) -> float:
        """S."""
        time = self.recording.motion.time
        return float(time[-1] - time[0])

    @cached_property
    def planned_com(self) -> np.ndarray:
        """(samples, 3), m, over normalized time."""
        return _com_path(self.plan.motion)

    @cached_property
    def recorded_com(self) -> np.ndarray:
        """(samples, 3), m, over normalized time, in the axes of the plan.

        It starts at the horizontal position of the plan; heights are those above the lowest foot.
        """
        path, plan = _com_path(self.recording.motion), self.planned_com
        turn = self.turn
        c, s = np.cos(turn), np.sin(turn)
        turned = path @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T
        shift = np.r_[(plan[0] - turned[0])[:2], 0.0]
        return np.asarray(turned + shift)

    @cached_property
    def turn(self) -> float:
        """Rad: turn about the vertical from the axes of the recording to those of the plan."""
        ways = [
            (path[-1] - path[0])[:2]
            for path in (_com_path(self.recording.motion), self.planned_com)
        ]
        if min(float(np.hypot(*way)) for way in ways) < MIN_DIRECTION_M:
            return 0.0
        angles = [float(np.arctan2(way[1], way[0])) for way in ways]
        return angles[1] - angles[0]

    @property
    def com_distance(self) -> float:
        """Root mean square of the distance of both centers of mass, m."""
        gap = np.linalg.norm(self.planned_com - self.recorded_com, axis=1)
        return float(np.sqrt(np.mean(gap**2)))

    @cached_property
    def joint_curves(self) -> tuple[JointCurve, ...]:
        """Joint angles that both models have, by clinical name."""
        motions = (self.plan.motion, self.recording.motion)
        known = [clinical_names(motion.model) for motion in motions]
        curves = []
        for name, entry in known[0].items():
            if name in known[1]:
                values = []
                for motion, names in zip(motions, known, strict=True):
                    k = motion.model.coordinate_names.index(names[name].coordinate)
                    angle = names[name].sign * np.degrees(np.asarray(motion.q)[:, k])
                    values.append(_resample(motion.time, angle))
                curves.append(JointCurve(entry.title, *values))
        return tuple(curves)

    @cached_property
    def planned_phases(self) -> tuple[PhaseTiming, ...]:
        """Phases of the plan."""
        instants = self.plan.instants
        return tuple(
            PhaseTiming(" + ".join(step.supports), float(instants[k]), float(instants[k + 1]))
            for k, step in enumerate(self.plan.scene.steps)
        )

    @cached_property
    def recorded_phases(self) -> tuple[PhaseTiming, ...]:
        """Phases of the recording by its feet, from its start; empty where no contact is known."""
        motion = self.recording.motion
        try:
            found = detect_contacts(motion)
        except HomodynError:
            return ()
        start = float(motion.time[0])
        return tuple(
            PhaseTiming(
                "in flight" if phase.stance is None else " + ".join(phase.stance.names),
                phase.start - start,
                phase.end - start,
            )
            for phase in found
        )


def _com_path(motion: Motion) -> np.ndarray:
    com = np.asarray(dynamics.center_of_mass(motion.model, motion.q))
    return np.stack([_resample(motion.time, com[:, k]) for k in range(3)], axis=1)


def _resample(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.interp(np.linspace(time[0], time[-1], CURVE_SAMPLES), time, values)
