"""Ergonomics of any movement: RULA, REBA, reach, limits of angles and strength."""

from homodyn.plan.ergonomics.assessment import (
    ErgonomicAssessment,
    LimitUse,
    StrengthUse,
    assess,
)
from homodyn.plan.ergonomics.posture_angles import ArmAngles, PostureAngles, posture_angles
from homodyn.plan.ergonomics.reba import RebaScores, reba_scores
from homodyn.plan.ergonomics.rula import RulaScores, rula_scores
from homodyn.plan.ergonomics.strength import AgeGroup, Sex, StrengthProfile, joint_strength
from homodyn.plan.ergonomics.work_conditions import WorkConditions

__all__ = [
    "AgeGroup",
    "ArmAngles",
    "ErgonomicAssessment",
    "LimitUse",
    "PostureAngles",
    "RebaScores",
    "RulaScores",
    "Sex",
    "StrengthProfile",
    "StrengthUse",
    "WorkConditions",
    "assess",
    "joint_strength",
    "posture_angles",
    "reba_scores",
    "rula_scores",
]
