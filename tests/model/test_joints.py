"""Joint types: names, numbers and refusals."""

import pytest

from homodyn.errors import ModelError
from homodyn.model import joints
from homodyn.model.functions import Spline
from homodyn.model.joints import JointType, turn


def test_coordinates_are_named_after_the_joint():
    def names(kind: JointType) -> list[str]:
        return [c.name for c in kind.joint("hip", "a", "b").coordinates]

    assert names(joints.revolute("y")) == ["hip"]
    assert names(joints.euler("zxz")) == ["hip_rz", "hip_rx", "hip_rz2"]
    assert names(joints.planar("y")) == ["hip_tx", "hip_tz", "hip_ry"]
    assert names(joints.free()) == ["hip_tx", "hip_ty", "hip_tz", "hip_rx", "hip_ry", "hip_rz"]
    assert names(joints.universal((1, 1, 0), (0, 1, 1))) == ["hip_turn", "hip_turn2"]
    assert names(joints.universal("x", "y", names=("flexion", "twist"))) == ["flexion", "twist"]


def test_numbers_of_coordinates_are_for_all_or_one_each():
    joint = joints.euler("xyz", lower=[-1, -2, -3], upper=3, damping=0.5).joint("j", "a", "b")
    assert [c.lower for c in joint.coordinates] == [-1, -2, -3]
    assert [c.upper for c in joint.coordinates] == [3, 3, 3]
    assert isinstance(joint.coordinates[0].upper, float)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: joints.revolute("w"), "x, y, z, -x, -y, -z"),
        (lambda: joints.revolute((0, 0, 0)), "must not be zero"),
        (lambda: joints.revolute((1, 2)), "three numbers"),
        (lambda: joints.euler("xxz"), "different axes"),
        (lambda: joints.euler("xy"), "three letters of x, y, z"),
        (lambda: joints.revolute("x", stifness=3), "stiffness"),
        (lambda: joints.euler("xyz", lower=[1, 2]), "one number or 3"),
        (lambda: joints.free(names=("a", "b")), "6 coordinates"),
        (lambda: joints.custom(turn("x", 1)), "from 0"),
        (lambda: joints.revolute("x", lower="low"), "lower must be a number"),
        (lambda: Spline((0, 1, 1), (0, 1, 2)), "must increase"),
        (lambda: Spline((0, 1), (0, 1, 2)), "the same number of knots"),
    ],
)
def test_what_cannot_be_a_joint_is_refused_with_what_can(make, words):
    with pytest.raises(ModelError, match=words):
        make()
