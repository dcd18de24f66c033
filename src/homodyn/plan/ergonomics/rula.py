"""RULA scores over time (McAtamney and Corlett 1993, Applied Ergonomics 24:91)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.plan.ergonomics.posture_angles import ArmAngles, PostureAngles
from homodyn.plan.ergonomics.work_conditions import WorkConditions
from homodyn.plan.ergonomics.worksheet_tables import RULA_ARMS, RULA_BODY, RULA_GRAND, look_up

UPRIGHT_DEG = 5.0
"""Angle that counts as zero: the worksheets give none."""
BENT_DEG = 10.0
"""Bend or twist from which "bent" and "twisted" count; the worksheets give none."""
ABDUCTED_DEG = 20.0
"""Abduction from which "abducted" counts; the worksheets give none."""
END_OF_RANGE_SHARE = 0.75
"""Pronation, as a share of its range, from which it is near the end of the range."""
LIGHT_LOAD_KG, HEAVY_LOAD_KG = 2.0, 10.0
ACTION_LEVELS = (
    (2, "acceptable if it is not kept or repeated for long"),
    (4, "further investigation, changes may be needed"),
    (6, "investigation and changes soon"),
    (7, "investigation and changes immediately"),
)
"""Largest score of each level, and what follows."""


@record
class RulaScores(Record):
    """Scores of all frames."""

    parts: Mapping[str, np.ndarray]
    """(frames,) by part of the body; arms have their side."""
    arm_scores: Mapping[str, np.ndarray]
    """Score of the arm by side, with muscle use and force."""
    body_score: np.ndarray
    """Score of neck, trunk and legs, with muscle use and force."""
    score: np.ndarray
    """(frames,): from 1 to 7, of the worse side."""

    @property
    def worst(self) -> int:
        """Largest score."""
        return int(self.score.max())

    @property
    def action(self) -> str:
        """What follows from the largest score."""
        return next(text for most, text in ACTION_LEVELS if self.worst <= most)

    def headline(self) -> str:
        """Largest score and what follows."""
        return f"RULA {self.worst} of 7: {self.action}"


def rula_scores(angles: PostureAngles, conditions: WorkConditions | None = None) -> RulaScores:
    """RULA scores of a movement.

    Raised shoulders and arms that work far out to the side are not measured; they add nothing.

    Args:
        angles: Angles of the posture.
        conditions: Load, repetition and support.

    Returns:
        Scores of all frames.
    """
    conditions = conditions or WorkConditions()
    extra = int(conditions.static or conditions.repeated) + _force_score(conditions)
    parts: dict[str, np.ndarray] = {
        "neck": _neck(angles),
        "trunk": _trunk(angles),
        "legs": np.where(angles.both_feet, 1, 2),
    }
    body = look_up(RULA_BODY, parts["neck"], parts["trunk"], parts["legs"]) + extra
    arms, scores = {}, []
    for side, arm in angles.arms.items():
        own = _arm_parts(arm, conditions)
        parts |= {f"{side} {name}": value for name, value in own.items()}
        arms[side] = look_up(RULA_ARMS, *own.values()) + extra
        scores.append(look_up(RULA_GRAND, arms[side], body))
    return RulaScores(parts, arms, body, np.max(scores, axis=0))


def _force_score(conditions: WorkConditions) -> int:
    if conditions.shock:
        return 3
    lasting = conditions.static or conditions.repeated
    if conditions.load < LIGHT_LOAD_KG:
        return 0
    if conditions.load < HEAVY_LOAD_KG:
        return 2 if lasting else 1
    return 3 if lasting else 2


def _neck(angles: PostureAngles) -> np.ndarray:
    flexion = angles.neck_flexion
    score = np.select([flexion < -UPRIGHT_DEG, flexion > 20, flexion > 10], [4, 3, 2], 1)
    return np.asarray(score + _bend_score(angles.neck_bend) + _bend_score(angles.neck_twist))


def _trunk(angles: PostureAngles) -> np.ndarray:
    flexion = np.abs(angles.trunk_flexion)
    score = np.select([flexion > 60, flexion > 20, flexion > UPRIGHT_DEG], [4, 3, 2], 1)
    return np.asarray(score + _bend_score(angles.trunk_bend) + _bend_score(angles.trunk_twist))


def _arm_parts(arm: ArmAngles, conditions: WorkConditions) -> dict[str, np.ndarray]:
    raised = arm.elevation
    upper = np.select([raised > 90, raised > 45, raised > 20, raised < -20], [4, 3, 2, 2], 1)
    upper = upper + (arm.abduction > ABDUCTED_DEG) - int(conditions.arms_supported)
    elbow = arm.elbow_flexion
    lower = np.where((elbow >= 60) & (elbow <= 100), 1, 2) + arm.across
    bend = np.abs(arm.wrist_flexion)
    wrist = np.select([bend > 15, bend > UPRIGHT_DEG], [3, 2], 1)
    wrist = wrist + (arm.wrist_deviation > BENT_DEG)
    twist = np.where(arm.twist_share > END_OF_RANGE_SHARE, 2, 1)
    return {
        "upper arm": np.maximum(upper, 1),
        "lower arm": lower,
        "wrist": wrist,
        "wrist twist": twist,
    }


def _bend_score(angle: np.ndarray) -> np.ndarray:
    return np.asarray((angle > BENT_DEG).astype(int))
