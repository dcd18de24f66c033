"""The ergonomic assessment of a movement: scores, reach, limits of angles, strength."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.capture.scaling.stature import stature
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.configuration import plain_entries
from homodyn.motion import Motion
from homodyn.motion.clinical import Reading, readings
from homodyn.plan.ergonomics.posture_angles import PostureAngles, posture_angles
from homodyn.plan.ergonomics.reba import RebaScores, reba_scores
from homodyn.plan.ergonomics.rula import RulaScores, rula_scores
from homodyn.plan.ergonomics.strength import (
    NEGATIVE_DIRECTIONS,
    POSITIVE_DIRECTIONS,
    StrengthProfile,
    joint_strength,
)
from homodyn.plan.ergonomics.work_conditions import WorkConditions

WORST_INSTANTS = 3
MIN_INSTANT_SPACING = 0.1
"""Share of the duration between two of the worst instants."""
DEFAULT_HEIGHT_M = 1.75
"""Height of a person whose model has no hips."""
EXTENT_PER_DEG = 1e-5
"""Weight of angles among instants of equal scores (1/degree)."""
NEAR_LIMIT_SHARE = 0.9
"""Share of a range, from its middle, beyond which a coordinate is near its limit."""


@record
class LimitUse(Record):
    """How a coordinate uses its range."""

    name: str
    largest_share: float
    """From the middle of the range: 1 at a limit, above 1 beyond it."""
    time: float
    """s: when."""
    near_limit: float
    """Share of the frames in which it is near a limit or beyond it."""


@record
class StrengthUse(Record):
    """How a joint uses its strength."""

    name: str
    direction: str
    source: str
    """Curve or limit that the strength is of."""
    largest_share: float
    """Torque over strength."""
    torque: float
    """N m, at that time."""
    strength: float
    """N m, at that time."""
    time: float
    """s."""


@record
class ErgonomicAssessment(Record):
    """Scores and loads of a movement."""

    motion: Motion
    angles: PostureAngles
    rula: RulaScores
    reba: RebaScores
    conditions: WorkConditions
    person: StrengthProfile
    limits: tuple[LimitUse, ...]
    """By coordinate, the most extreme first."""
    strengths: tuple[StrengthUse, ...]
    """By joint and direction, the most loaded first; empty where torques are not known."""
    worst_frames: tuple[int, ...]
    """Frames with the largest scores, in the order of time."""
    notes: tuple[str, ...]
    """What is not known and how it counts."""

    @property
    def reach(self) -> Mapping[str, tuple[float, float]]:
        """By side: largest distance of the hand from the shoulder (m), and as share of the arm."""
        return {
            side: (float(arm.reach.max()), float(arm.reach.max() / max(arm.arm_length, 1e-9)))
            for side, arm in self.angles.arms.items()
        }

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        time = self.motion.time[int(np.argmax(self.reba.score))]
        return (
            f"RULA is at most {self.rula.worst} of 7 ({self.rula.action}), REBA at most "
            f"{self.reba.worst} of 15 ({self.reba.action}), first at {time:.2f} s."
        )

    def headline(self) -> str:
        """The result in one sentence."""
        return f"ErgonomicAssessment: {self.sentence}"

    def to_summary(self) -> dict[str, object]:
        """Plain numbers (SI units, degrees)."""
        return {
            "sentence": self.sentence,
            "rula": {"worst": self.rula.worst, "mean": float(self.rula.score.mean())},
            "reba": {"worst": self.reba.worst, "mean": float(self.reba.score.mean())},
            "reach": {
                side: {"distance_m": x, "share_of_arm": share}
                for side, (x, share) in self.reach.items()
            },
            "limits": [use.to_dict() for use in self.limits[:10]],
            "strengths": [use.to_dict() for use in self.strengths[:10]],
            "worst_times_s": [float(self.motion.time[k]) for k in self.worst_frames],
            "notes": list(self.notes),
        }


def assess(
    motion: Motion,
    *,
    torques: np.ndarray | None = None,
    conditions: WorkConditions | None = None,
    person: StrengthProfile | None = None,
) -> ErgonomicAssessment:
    """Assess a movement: RULA and REBA scores, reach, limits of angles, strength.

    Args:
        motion: Any motion of a person or humanoid.
        torques: Joint torques, (frames, nv), N m; None: those of the motion, where it has some.
        conditions: Load, repetition and support.
        person: Whose strength; None: a young man of the mass and height of the model.

    Returns:
        The assessment.

    Raises:
        ModelError: The model has no trunk or no arm that is recognized by its joints.
        HomodynError: Torques have the wrong shape, or the motion has no frames.
    """
    if not motion.frames:
        raise HomodynError("a motion without frames cannot be assessed")
    conditions = conditions or WorkConditions()
    angles = posture_angles(motion)
    notes = list(angles.notes)
    if person is None:
        height = stature(motion.model) or DEFAULT_HEIGHT_M
        person = StrengthProfile(float(motion.model.mass), height)
        notes.append(
            f"Strength is that of a young man of {person.mass:.0f} kg and {person.height:.2f} m."
        )
    tau = motion.tau if torques is None else np.asarray(torques, dtype=float)
    strengths: tuple[StrengthUse, ...] = ()
    if np.size(tau):
        if np.shape(tau) != (motion.frames, motion.model.nv):
            raise HomodynError(
                f"torques are ({motion.frames}, {motion.model.nv}), got shape {np.shape(tau)}"
            )
        strengths = _strength_uses(motion, np.asarray(tau), person)
        notes.append(
            "Strength is known for hips, knees and ankles, and where the model has torque limits."
        )
    else:
        notes.append("Joint torques are not known: strength is not assessed.")
    rula, reba = rula_scores(angles, conditions), reba_scores(angles, conditions)
    return ErgonomicAssessment(
        motion,
        angles,
        rula,
        reba,
        conditions,
        person,
        _limit_uses(motion),
        strengths,
        _worst_frames(motion.time, reba.score / 15 + rula.score / 7 + _extent(angles)),
        tuple(notes),
    )


def _limit_uses(motion: Motion) -> tuple[LimitUse, ...]:
    model, found = motion.model, []
    entries, places = plain_entries(model)
    root = set(model.root.v)
    for k, place in zip(entries, places, strict=True):
        low, high = float(model.lower[k]), float(model.upper[k])
        if k in root or not (np.isfinite(low) and np.isfinite(high) and high > low):
            continue
        share = np.abs(motion.q[:, place] - (low + high) / 2) / ((high - low) / 2)
        worst = int(np.argmax(share))
        found.append(
            LimitUse(
                model.coordinate_names[k],
                float(share[worst]),
                float(motion.time[worst]),
                float((share > NEAR_LIMIT_SHARE).mean()),
            )
        )
    return tuple(sorted(found, key=lambda use: -use.largest_share))


def _strength_uses(
    motion: Motion, tau: np.ndarray, person: StrengthProfile
) -> tuple[StrengthUse, ...]:
    model, found = motion.model, []
    limits = np.asarray(model.max_force, dtype=float)
    for reading in readings(model):
        if reading.q is None or not reading.plane:
            continue
        torque = reading.sign * tau[:, reading.index]
        for sign, direction in ((1.0, "toward"), (-1.0, "away")):
            source, strength = _strength(model, reading, motion, sign, person, limits)
            if strength is None:
                continue
            share = np.maximum(sign * torque, 0.0) / np.maximum(strength, 1e-9)
            worst = int(np.argmax(share))
            name = (POSITIVE_DIRECTIONS if sign > 0 else NEGATIVE_DIRECTIONS).get(
                reading.joint, direction
            )
            found.append(
                StrengthUse(
                    reading.name,
                    name,
                    source,
                    float(share[worst]),
                    float(max(sign * torque[worst], 0.0)),
                    float(strength[worst]),
                    float(motion.time[worst]),
                )
            )
    return tuple(sorted(found, key=lambda use: -use.largest_share))


def _strength(
    model: Model,
    reading: Reading,
    motion: Motion,
    sign: float,
    person: StrengthProfile,
    limits: np.ndarray,
) -> tuple[str, np.ndarray | None]:
    """Strength of a coordinate in one direction, with its source."""
    if (
        reading.plane == "sagittal"
        and reading.joint in POSITIVE_DIRECTIONS
        and reading.q is not None
    ):
        direction = (POSITIVE_DIRECTIONS if sign > 0 else NEGATIVE_DIRECTIONS)[reading.joint]
        angle = reading.sign * motion.q[:, reading.q]
        speed = sign * reading.sign * motion.v[:, reading.index]
        return "Anderson 2007", joint_strength(reading.joint, direction, angle, speed, person)
    if np.isfinite(limits[reading.index]):
        return "limit of the model", np.full(motion.frames, limits[reading.index])
    return "", None


def _extent(angles: PostureAngles) -> np.ndarray:
    """(frames,): less than a step of a score; chooses among instants of equal scores."""
    raised = np.max([arm.elevation for arm in angles.arms.values()], axis=0)
    total = np.abs(angles.trunk_flexion) + np.abs(angles.neck_flexion) + raised
    return np.asarray(EXTENT_PER_DEG * total)


def _worst_frames(time: Sequence[float] | np.ndarray, score: np.ndarray) -> tuple[int, ...]:
    """Frames with the largest scores, apart from each other, in the order of time."""
    times = np.asarray(time)
    spacing = MIN_INSTANT_SPACING * float(times[-1] - times[0])
    chosen: list[int] = []
    for k in np.argsort(-score, kind="stable"):
        if all(abs(times[k] - times[other]) > spacing for other in chosen):
            chosen.append(int(k))
        if len(chosen) == WORST_INSTANTS:
            break
    return tuple(sorted(chosen))
