"""The step of a walk that synthesized steps are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from homodyn.catalog import mirror_map
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import enumerate_names
from homodyn.gait.contact_schedule import complete_steps
from homodyn.gait.events import find_events
from homodyn.gait.motion_similarity import Similarity
from homodyn.gait.synthesis.criteria import COMPARISON_SAMPLES, step_poses
from homodyn.gait.synthesis.problem import SPEED_BOUNDS_M_S
from homodyn.gait.synthesis.step_library import StoredStep
from homodyn.model import Model
from homodyn.motion import FOOT_OFF, Event, Motion, Side, motion_from_poses

PELVIS_TRANSLATION = ("Pelvis_TX", "Pelvis_TY")
PELVIS_ROTATION = ("Pelvis_RY", "Pelvis_RX", "Pelvis_RZ")
"""Rotations of the pelvis in the order in which they are carried out."""


@record
class ReferenceStep(Record):
    """Postures of a step on the right foot, from left foot off to right foot off."""

    name: str
    """Name of the walk."""
    q: np.ndarray
    """(samples, nv), rad and m: coordinates of `walking_model` at equal fractions of the step."""
    duration: float
    """s."""
    compared: tuple[bool, ...] = ()
    """Per coordinate, whether steps are compared in it: not where no marker of a recording shows
    it. Empty: in all."""

    def headline(self) -> str:
        """Name and duration."""
        return f"ReferenceStep {self.name!r}: {self.duration:.3f} s"

    @staticmethod
    def from_step(step: StoredStep, name: str | None = None) -> ReferenceStep:
        """A stored step as the reference.

        Args:
            step: The step.
            name: Its name; that of the step when left out.

        Returns:
            The reference.
        """
        times = np.linspace(0.0, step.duration, COMPARISON_SAMPLES)
        return ReferenceStep(name or step.name, step_poses(step, times), step.duration)

    @staticmethod
    def from_motion(
        motion: Motion,
        model: Model,
        *,
        name: str = "walk",
        events: Sequence[Event] | None = None,
    ) -> ReferenceStep:
        """The mean of the complete steps of a walk; those on the left foot are mirrored.

        The walk is turned into the direction in which the pelvis faces, and begins at the origin.

        Args:
            motion: A walk of a model with the coordinates of HeiMan.
            model: The model of the steps, `walking_model`.
            name: Name of the walk.
            events: Foot strikes and foot offs; found in the motion when left out.

        Returns:
            The reference.

        Raises:
            CaptureError: A coordinate is missing, there is no complete step, or the walk does not
                travel, as on a treadmill.
        """
        known = motion.model.coordinate_names
        absent = [n for n in model.coordinate_names if n not in known]
        if absent:
            raise CaptureError(
                f"the reference {name!r} has no coordinate {enumerate_names(absent, 3)}; steps are "
                "compared in the coordinates of heiman, so analyze the walk with that model"
            )
        events = find_events(motion) if events is None else events
        spans = [
            (begin, end)
            for begin, end in complete_steps(events)
            if motion.time[0] <= begin < end <= motion.time[-1]
        ]
        if not spans:
            raise CaptureError(
                f"the reference {name!r} has no complete step: a foot off, the strike of that "
                "foot and the foot off of the other"
            )
        q = motion.q[:, [motion.model.coordinate_index(n) for n in model.coordinate_names]]
        q = _turn_forward(model, q)
        forward = model.coordinate_index("Pelvis_TX")
        curve = scipy.interpolate.PchipInterpolator(motion.time, q)
        steps = []
        for begin, end in spans:
            step = curve(np.linspace(begin, end, COMPARISON_SAMPLES))
            step[:, :2] -= step[0, :2]
            steps.append(step if _stance(events, end) is Side.RIGHT else _mirror(model, step))
        mean = np.mean(steps, axis=0)
        duration = float(np.mean([end - begin for begin, end in spans]))
        if mean[-1, forward] < SPEED_BOUNDS_M_S[0] * duration:
            raise CaptureError(
                f"the reference {name!r} travels {mean[-1, forward]:.2f} m forward in a step: "
                "steps are compared with a walk over the ground, not with one on a treadmill"
            )
        compared = tuple(n not in motion.unobserved for n in model.coordinate_names)
        return ReferenceStep(name, mean, duration, compared)

    def similarity(self, step: StoredStep) -> Similarity:
        """The distance of a step, at equal fractions of both durations.

        Args:
            step: The step.

        Returns:
            The distance of the postures and of the durations.
        """
        poses = step_poses(step, np.linspace(0.0, step.duration, len(self.q)))
        errors = (poses - self.q) ** 2
        chosen = np.array(self.compared or (True,) * errors.shape[1])
        error = float(np.mean(errors[:, chosen]))
        return Similarity(error, (step.duration - self.duration) ** 2)

    def stride(self, model: Model) -> Motion:
        """The step and its mirror image in sequence.

        Args:
            model: The model of the coordinates, `walking_model`.

        Returns:
            The postures as a motion.
        """
        second = _mirror(model, self.q[1:])
        forward = model.coordinate_index("Pelvis_TX")
        second[:, forward] += self.q[-1, forward] - self.q[0, forward]
        time = np.linspace(0.0, 2 * self.duration, 2 * len(self.q) - 1)
        return motion_from_poses(model, time, np.vstack([self.q, second]), method=self.name)


def _stance(events: Sequence[Event], end: float) -> Side | None:
    """The foot that leaves the ground at the end of a step, on which it stood."""
    offs = [event for event in events if event.label == FOOT_OFF]
    return min(offs, key=lambda event: abs(event.time - end)).side


def _mirror(model: Model, q: np.ndarray) -> np.ndarray:
    return np.array(mirror_map(model).position(q))


def _turn_forward(model: Model, q: np.ndarray) -> np.ndarray:
    """The poses in axes whose first one is the mean direction in which the pelvis faces."""
    place = [model.coordinate_index(name) for name in PELVIS_TRANSLATION]
    angles = [model.coordinate_index(name) for name in PELVIS_ROTATION]
    rotation = scipy.spatial.transform.Rotation.from_euler("YXZ", q[:, angles])
    facing = rotation.apply([1.0, 0.0, 0.0]).mean(axis=0)
    heading = float(np.arctan2(facing[1], facing[0]))
    turn = scipy.spatial.transform.Rotation.from_euler("Z", -heading)
    turned = q.copy()
    cosine, sine = np.cos(heading), np.sin(heading)
    turned[:, place] = q[:, place] @ np.array([[cosine, -sine], [sine, cosine]])
    turned[:, angles] = (turn * rotation).as_euler("YXZ")
    return turned
