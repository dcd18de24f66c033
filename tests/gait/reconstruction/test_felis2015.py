"""The stages of the step of Felis (2015), for stance on either foot."""

import pytest

import homodyn as hd
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.gait.reconstruction.felis2015 import (
    STAGES,
    felis2015_bounds,
    is_felis2015_step,
    stage_constraints,
    stance_side,
)
from homodyn.motion import Side


@pytest.fixture(scope="module")
def left_step():
    return [FootContactPhase(k, k + 1, swing, stance) for k, (stance, swing) in enumerate(STAGES)]


def test_a_step_on_the_left_foot_is_recognized(left_step):
    assert is_felis2015_step(left_step)
    assert stance_side(left_step) is Side.LEFT
    assert left_step[0].right is FootContact.SWING
    assert not is_felis2015_step(left_step[1:])


def test_bounds_of_a_left_step_are_mirrored():
    model = hd.catalog.heiman()
    right = felis2015_bounds(model, "reconstruction", Side.RIGHT)
    left = felis2015_bounds(model, "reconstruction", Side.LEFT)
    assert left["HipLeft_RX"] == (-right["HipRight_RX"][1], -right["HipRight_RX"][0])
    assert left["KneeLeft_RY"] == right["KneeRight_RY"]
    assert left["Pelvis_TY"] == (-0.1, 0.1)


def test_constraints_of_a_left_step_are_those_of_the_other_feet():
    swap = {"Right": "Left", "Left": "Right"}

    def mirror(label):
        return next(label.replace(a, b) for a, b in swap.items() if a in label)

    for stage in range(len(STAGES)):
        right, left = (stage_constraints(stage, side) for side in Side)
        assert [c.when for c in right] == [c.when for c in left]
        for one, two in zip(right, left, strict=True):
            names = one.labels if "velocity" not in one.name else (one.name,)
            others = two.labels if "velocity" not in two.name else (two.name,)
            assert tuple(map(mirror, names)) == others
