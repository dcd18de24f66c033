"""REBA scores over time (Hignett and McAtamney 2000, Applied Ergonomics 31:201)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.plan.ergonomics.posture_angles import ArmAngles, PostureAngles
from homodyn.plan.ergonomics.rula import ABDUCTED_DEG, BENT_DEG, UPRIGHT_DEG
from homodyn.plan.ergonomics.work_conditions import WorkConditions
from homodyn.plan.ergonomics.worksheet_tables import REBA_ARMS, REBA_BODY, REBA_GRAND, look_up

LIGHT_LOAD_KG, HEAVY_LOAD_KG = 5.0, 10.0
RISK_LEVELS = (
    (1, "negligible risk, no action needed"),
    (3, "low risk, action may be needed"),
    (7, "medium risk, action needed"),
    (10, "high risk, action needed soon"),
    (15, "very high risk, action needed now"),
)
"""Largest score of each level, and what follows."""


@record
class RebaScores(Record):
    """Scores of all frames."""

    parts: Mapping[str, np.ndarray]
    """(frames,) by part of the body; arms have their side."""
    body_score: np.ndarray
    """Score of trunk, neck and legs, with the load."""
    arm_scores: Mapping[str, np.ndarray]
    """Score of the arm by side, with the coupling."""
    score: np.ndarray
    """(frames,): from 1 to 15, of the worse side, with the activity."""

    @property
    def worst(self) -> int:
        """Largest score."""
        return int(self.score.max())

    @property
    def action(self) -> str:
        """What follows from the largest score."""
        return next(text for most, text in RISK_LEVELS if self.worst <= most)

    def headline(self) -> str:
        """Largest score and what follows."""
        return f"REBA {self.worst} of 15: {self.action}"


def reba_scores(angles: PostureAngles, conditions: WorkConditions | None = None) -> RebaScores:
    """REBA scores of a movement.

    Raised shoulders are not measured; they add nothing.

    Args:
        angles: Angles of the posture.
        conditions: Load, repetition, grip and support.

    Returns:
        Scores of all frames.
    """
    conditions = conditions or WorkConditions()
    load = int(conditions.load >= LIGHT_LOAD_KG) + int(conditions.load > HEAVY_LOAD_KG)
    parts: dict[str, np.ndarray] = {
        "neck": _neck(angles),
        "trunk": _trunk(angles),
        "legs": _legs(angles),
    }
    body = look_up(REBA_BODY, parts["neck"], parts["trunk"], parts["legs"])
    body = body + load + int(conditions.shock)
    activity = int(conditions.static) + int(conditions.repeated) + int(conditions.rapid_changes)
    arms, scores = {}, []
    for side, arm in angles.arms.items():
        own = _arm_parts(arm, conditions)
        parts |= {f"{side} {name}": value for name, value in own.items()}
        arms[side] = look_up(REBA_ARMS, *own.values()) + conditions.coupling
        scores.append(look_up(REBA_GRAND, body, arms[side]) + activity)
    return RebaScores(parts, body, arms, np.max(scores, axis=0))


def _neck(angles: PostureAngles) -> np.ndarray:
    flexion = angles.neck_flexion
    score = np.where((flexion > 20) | (flexion < -UPRIGHT_DEG), 2, 1)
    return np.asarray(score + _bend_score(angles.neck_bend, angles.neck_twist))


def _trunk(angles: PostureAngles) -> np.ndarray:
    flexion = angles.trunk_flexion
    score = np.select(
        [flexion > 60, (flexion > 20) | (flexion < -20), np.abs(flexion) > UPRIGHT_DEG],
        [4, 3, 2],
        1,
    )
    return np.asarray(score + _bend_score(angles.trunk_bend, angles.trunk_twist))


def _legs(angles: PostureAngles) -> np.ndarray:
    knee = angles.knee_flexion
    return np.asarray(np.where(angles.both_feet, 1, 2) + np.select([knee > 60, knee > 30], [2, 1]))


def _arm_parts(arm: ArmAngles, conditions: WorkConditions) -> dict[str, np.ndarray]:
    raised = arm.elevation
    upper = np.select([raised > 90, raised > 45, raised > 20, raised < -20], [4, 3, 2, 2], 1)
    upper = upper + (arm.abduction > ABDUCTED_DEG) - int(conditions.arms_supported)
    elbow = arm.elbow_flexion
    wrist = np.where(np.abs(arm.wrist_flexion) > 15, 2, 1)
    wrist = wrist + (arm.wrist_deviation > BENT_DEG)
    return {
        "upper arm": np.maximum(upper, 1),
        "lower arm": np.where((elbow >= 60) & (elbow <= 100), 1, 2),
        "wrist": wrist,
    }


def _bend_score(bend: np.ndarray, twist: np.ndarray) -> np.ndarray:
    return np.asarray(((bend > BENT_DEG) | (twist > BENT_DEG)).astype(int))
