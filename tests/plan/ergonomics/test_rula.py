"""RULA and REBA: worksheets by hand, published examples, and bounds of all tables."""

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.plan.ergonomics import (
    ArmAngles,
    PostureAngles,
    WorkConditions,
    reba_scores,
    rula_scores,
)
from homodyn.plan.ergonomics.worksheet_tables import (
    REBA_ARMS,
    REBA_BODY,
    REBA_GRAND,
    RULA_ARMS,
    RULA_BODY,
    RULA_GRAND,
    look_up,
)

ARM = {
    "elevation": 0.0,
    "abduction": 0.0,
    "elbow_flexion": 80.0,
    "wrist_flexion": 0.0,
    "wrist_deviation": 0.0,
    "twist_share": 0.0,
    "across": False,
}
BODY = {
    "trunk_flexion": 0.0,
    "trunk_bend": 0.0,
    "trunk_twist": 0.0,
    "neck_flexion": 0.0,
    "neck_bend": 0.0,
    "neck_twist": 0.0,
    "knee_flexion": 0.0,
    "both_feet": True,
}


def posture(arm: dict[str, float] | None = None, **changes: float) -> PostureAngles:
    """One frame with one arm."""
    own = {name: np.array([value]) for name, value in {**ARM, **(arm or {})}.items()}
    body = {name: np.array([value]) for name, value in {**BODY, **changes}.items()}
    right = ArmAngles(**own, reach=np.array([0.5]), arm_length=0.6)
    return PostureAngles(**body, arms={"right": right}, notes=())


def test_the_best_posture_has_the_least_scores() -> None:
    assert rula_scores(posture()).worst == 1
    assert reba_scores(posture()).worst == 1
    assert "acceptable" in rula_scores(posture()).action
    assert "negligible" in reba_scores(posture()).action


def test_reba_of_a_published_example() -> None:
    """Both sides of the example of the program ``ergonomics`` (2020): 4 with A 4 and B 3 or 2."""
    for wrist, expected in ((20.0, 2), (25.0, 2)):
        arm = {"elbow_flexion": 20.0, "wrist_flexion": wrist}
        found = reba_scores(posture(arm, neck_flexion=25.0, trunk_flexion=12.0, both_feet=False))
        parts = {name: int(value[0]) for name, value in found.parts.items()}
        assert parts["neck"] == parts["trunk"] == parts["legs"] == 2
        assert (parts["right upper arm"], parts["right lower arm"]) == (1, 2)
        assert (found.body_score[0], found.arm_scores["right"][0]) == (4, expected)
        assert found.worst == 4
    bent = {"elbow_flexion": 20.0, "wrist_flexion": 20.0, "wrist_deviation": 15.0}
    found = reba_scores(posture(bent, neck_flexion=25.0, trunk_flexion=12.0, both_feet=False))
    assert (found.body_score[0], found.arm_scores["right"][0], found.worst) == (4, 3, 4)


def test_rula_of_a_published_example() -> None:
    """Posture B of a bent and twisted trunk on both legs is 6; with static use it is 7 or 8."""
    found = rula_scores(
        posture(trunk_flexion=30.0, trunk_bend=20.0, trunk_twist=20.0),
        WorkConditions(static=True),
    )
    assert found.parts["trunk"][0] == 5
    assert found.body_score[0] == 6 + 1


def test_rula_by_hand() -> None:
    """A worksheet filled in by hand: raised arms, straight elbows, bent wrists, 5 kg, repeated."""
    arm = {"elevation": 100.0, "elbow_flexion": 30.0, "wrist_flexion": 20.0, "abduction": 30.0}
    found = rula_scores(
        posture(arm, trunk_flexion=25.0, neck_flexion=-10.0),
        WorkConditions(load=5.0, repeated=True),
    )
    parts = {name: int(value[0]) for name, value in found.parts.items()}
    assert parts == {
        "neck": 4,
        "trunk": 3,
        "legs": 1,
        "right upper arm": 5,
        "right lower arm": 2,
        "right wrist": 3,
        "right wrist twist": 1,
    }
    # Table A: 6; muscle use 1 and force 2. Table B: 6, and the same.
    assert found.arm_scores["right"][0] == 6 + 3
    assert found.body_score[0] == 6 + 3
    assert found.worst == 7
    assert "immediately" in found.action


def test_reba_by_hand() -> None:
    """Deep squat with a load of 12 kg, poor grip, both arms forward."""
    arm = {"elevation": 60.0, "elbow_flexion": 40.0}
    found = reba_scores(
        posture(arm, trunk_flexion=65.0, trunk_twist=20.0, knee_flexion=80.0),
        WorkConditions(load=12.0, coupling=2, shock=True, rapid_changes=True),
    )
    # Trunk 5, neck 1, legs 3: table A 7, load 2 and shock 1. Arms 3, 2, 1: table B 4, coupling 2.
    assert found.body_score[0] == 7 + 3
    assert found.arm_scores["right"][0] == 4 + 2
    assert found.score[0] == 11 + 1
    assert "very high" in found.action


def test_tables_rise_with_every_score() -> None:
    """No worse posture has a lower score."""
    for table in (RULA_ARMS, RULA_BODY, RULA_GRAND, REBA_ARMS, REBA_GRAND):
        for axis in range(table.ndim):
            assert (np.diff(table, axis=axis) >= 0).all()
    for axis in range(3):
        assert (np.diff(REBA_BODY, axis=axis) >= 0).all()
    assert (RULA_ARMS.max(), RULA_BODY.max(), RULA_GRAND.max()) == (9, 9, 7)
    assert (REBA_BODY.max(), REBA_ARMS.max(), REBA_GRAND.max()) == (9, 9, 12)


def test_scores_outside_of_a_table_count_as_its_last() -> None:
    assert look_up(RULA_GRAND, np.array([12, 0]), np.array([20, 1])).tolist() == [7, 1]


def test_wrong_conditions_are_refused() -> None:
    with pytest.raises(HomodynError, match="coupling"):
        WorkConditions(coupling=4)
    with pytest.raises(HomodynError, match="load"):
        WorkConditions(load=-1.0)
